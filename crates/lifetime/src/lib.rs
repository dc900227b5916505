//! Simulates the whole lifetime of a drive under a repeated workload, dilated so that each
//! simulated repetition stands for many real ones (READY, FAST 2012, section 4.3).
//!
//! The crate owns the lifetime and its records. [`live`] runs one; its result gives the table, the
//! JSON and the figures. Checkpoints are the only files that the crate writes on its own.

mod checkpoint;
mod days;
mod dilation;
pub mod fleet;
mod json;
mod life;
#[cfg(feature = "pages")]
mod pictures;
mod record;
mod repetition;
mod report;
mod saved_life;
mod season;
mod steady;
mod survey;

#[doc(hidden)]
pub use checkpoint::reread;
pub use checkpoint::{SaveTo, check as check_checkpoint, of_life};
pub use days::{Day, DaysSpec, days};
pub use dilation::Dilated;
pub use json::schema;
pub use record::{Record, Series};
pub use season::write_amplification;
pub use steady::{SteadyLane, SteadySpec, steady};

use checkpoint::Checkpoint;
use fowler_device::endurance::Totals;
use fowler_device::policy::hotness::Detector;
use fowler_device::policy::redundancy::RedundancyKind;
use fowler_device::policy::scrub::ScrubKind;
use fowler_device::policy::step::StepKind;
use fowler_device::policy::throttle::{Predicted, State, ThrottleKind};
use fowler_device::{AccessClass, BadBlockCounts, Config, Counters, LifetimeDrive, ReadHot};
use fowler_experiment::device::{self, DeviceSpec, Resolved};
use fowler_experiment::diagnostic::{Diagnostic, Diagnostics};
use fowler_experiment::fan_out;
use fowler_experiment::life_estimate::{self, Estimate, Survey};
use fowler_experiment::memory;
use fowler_experiment::workload::{Control, Workload, WorkloadReport, WorkloadSpec};
use fowler_units::Span;
use life::Life;
use repetition::Repetition;
use season::season;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::AtomicU64;
use std::sync::{Mutex, PoisonError};

/// A hash of the sources that simulate lives, in 64 hexadecimal digits. Saved lives of different
/// sources are told apart by it, as other results are by
/// [`fowler_experiment::provenance::FINGERPRINT`].
const FINGERPRINT: &str = env!("FOWLER_LIVES_FINGERPRINT");

/// The specification of a lifetime.
#[derive(Clone, Debug)]
pub struct LifetimeSpec {
    /// The drive; its keys include the target lifetime.
    pub device: DeviceSpec,
    /// The scheme; `None` leaves the drive as described.
    pub scheme: Option<String>,
    /// The workload to repeat.
    pub workload: WorkloadSpec,
    /// The most requests of a repetition, from the start of the workload.
    pub limit: Option<u64>,
    /// How many real repetitions a simulated one stands for; `None` chooses the lowest value at
    /// which a lifetime takes a minute or two.
    pub dilation: Option<u32>,
    /// Whether to run a second lifetime at twice the dilation, to see what that changes.
    pub check: bool,
    /// When in the second repetition, in the host's own time, to start recording second by second,
    /// and for how long.
    pub close_up: Option<(Span, Span)>,
    /// Where its checkpoint is, to resume from.
    pub checkpoint: SaveTo,
    /// How many host pages are written between two checkpoints.
    pub checkpoint_every: u64,
}

/// Programs in a lifetime at the dilation chosen by default: they take about a minute on one core,
/// including the lifetime at twice the dilation (docs/ready.md).
const PROGRAMS_MOST: f64 = 7e8;
/// The write amplification assumed for that choice, since it is not known in advance.
const WAF_GUESSED: f64 = 2.2;

/// A drive at the end of its lifetime.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Lived {
    /// How many real repetitions a simulated one stood for.
    pub dilation: u32,
    /// Repetitions that were started.
    pub repetitions: u64,
    /// The capacity and wear of the drive at the end of its target lifetime.
    pub totals: Totals,
    /// The counters of the device.
    pub counters: Counters,
    /// Wear of the blocks, in P/E cycles of the whole lifetime.
    pub wear: Cycles,
    /// The final state of the throttle.
    pub throttle: State,
    /// How long, in simulated time, a write of the host had been waiting when the lifetime ended.
    pub blocked_at_end: Span,
    /// What has become of failing blocks; none if no block fails.
    pub bad_blocks: Option<BadBlockCounts>,
    /// Responses, delays and series.
    pub record: Record,
}

/// The P/E cycles of the blocks of a drive.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cycles {
    /// Of the least worn one.
    pub least: f64,
    /// On average.
    pub mean: f64,
    /// Of the most worn one.
    pub most: f64,
}

impl Lived {
    /// Returns the lifetime at this rate of wear, in units of the target lifetime: `C'_ssd /
    /// wear of W_work`. `None` before the first page.
    pub fn lives(&self) -> Option<f64> {
        let Totals { worn, achievable, .. } = self.totals;
        (worn > 0.0).then(|| achievable / worn)
    }

    /// Returns the mean wear of a program, 1 at nominal voltages; `None` where all are nominal.
    pub fn wearing_weight(&self) -> Option<f64> {
        let Totals { programmed, worn, .. } = self.totals;
        (worn != programmed).then(|| worn / programmed)
    }

    /// Returns the pages programmed per host page.
    pub fn waf(&self) -> Option<f64> {
        self.counters.waf()
    }

    /// Returns the share of epochs whose demand was predicted correctly.
    pub fn accuracy(&self) -> Option<f64> {
        let Predicted { epochs, right } = self.throttle.predicted;
        (epochs > 0).then(|| right as f64 / epochs as f64)
    }
}

/// The result of a lifetime.
#[derive(Clone, Debug)]
pub struct Lifetime {
    /// The drive.
    pub drive: Resolved,
    /// Its state at the start.
    pub precondition: String,
    /// The workload.
    pub workload: WorkloadReport,
    /// The contents of a repetition.
    pub survey: Survey,
    /// The parts of the drive that a lifetime does not simulate.
    pub left_out: Vec<String>,
    /// The drives at the dilation and, if requested, at twice the dilation.
    pub lived: Vec<Lived>,
    /// Drives like it, if there is a fleet.
    pub fleet: Option<fleet::Fleet>,
    checkpoints: Vec<PathBuf>,
}

/// How it ended.
#[derive(Clone, Debug)]
pub enum Ended {
    /// It ran to the end.
    Lived(Box<Lifetime>),
    /// It was stopped.
    Stopped {
        /// Whether there is a checkpoint to resume from.
        saved: bool,
    },
}

impl Lifetime {
    /// Returns the target lifetime.
    pub fn target(&self) -> Span {
        self.drive.config.life.target
    }

    /// Bytes of a page.
    pub fn page(&self) -> f64 {
        self.drive.config.geometry.page_size.0 as f64
    }
}

/// What is known of a result before the end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Early {
    /// Before anything is simulated: the bounds.
    Bounds(Estimate),
    /// So far, at the rate of wear until now.
    SoFar {
        /// The effective lifetime, in years.
        years: f64,
        /// Pages programmed for each host page.
        waf: f64,
    },
    /// The life is over, and so many drives of a fleet are drawn from here on.
    Drawing {
        /// How many.
        drives: usize,
    },
}

/// Lets the caller watch a lifetime.
#[derive(Clone, Copy)]
pub struct Watch<'a> {
    /// Set by the caller to end it; the state is saved if there is a checkpoint file.
    pub control: Control<'a>,
    /// Called with the finished share of the work that takes the longest, from 0 to 1: the time
    /// left follows from it.
    pub share: &'a (dyn Fn(f64) + Sync),
    /// Called with what is known of the result before the end.
    pub early: &'a (dyn Fn(Early) + Sync),
    /// Called with notes that matter before the end.
    pub warn: &'a (dyn Fn(&str) + Sync),
}

/// Runs a drive through its target lifetime.
///
/// # Errors
/// Everything that is wrong with the drive, the workload or the checkpoint.
pub fn live(spec: &LifetimeSpec, watch: Watch<'_>) -> Result<Ended, Diagnostics> {
    let source = spec.device.source()?;
    let scheme = spec.device.scheme(spec.scheme.as_deref())?;
    let drive = device::resolve(&source, &scheme, &spec.device)?.page_mapped("a lifetime")?;
    whole(&drive)?;
    without_effect(&drive.config).or(())?;
    let control = watch.control;
    let early = Ended::Stopped { saved: spec.checkpoint.is_there() };
    let prepared = Workload::prepare(&spec.workload, &drive, None, control).map(Some);
    let Some(workload) = unless_stopped(prepared, control)? else { return Ok(early) };
    let surveyed = survey::survey(&workload, &drive, (1.0, spec.limit), control);
    let Some((survey, report)) = unless_stopped(surveyed, control)? else { return Ok(early) };
    let times = if spec.check { 2 } else { 1 };
    (watch.early)(Early::Bounds(life_estimate::first(&drive, &survey)));
    // Beside a drive: the state that preconditioning leaves, or a season, and those of the lives.
    memory::refuse(&drive, |memory| {
        memory.most() + memory.data * (1 + u64::from(times)) + Repetition::MEMORY
    })?;
    let dilation = spec.dilation.unwrap_or_else(|| chosen(&drive.config, &survey, times));
    let dilations: Vec<u32> = (1..=times).map(|times| dilation.saturating_mul(times)).collect();
    let configs = dilations.iter().map(|&dilation| dilated(&drive, dilation));
    let configs: Vec<Config> = configs.collect::<Result<_, _>>()?;
    too_few_repetitions(&drive.config, &survey, (dilation, times))?;
    let mut checkpoints = Checkpoint::open(spec, &drive, dilation, watch)?;
    let saved = |all: &[Checkpoint<'_>]| all.iter().any(Checkpoint::is_there);
    let repetition = Repetition::in_memory(&workload, spec.limit, control).map(Some);
    let Some(repetition) = unless_stopped(repetition, control)? else {
        return Ok(Ended::Stopped { saved: saved(&checkpoints) });
    };
    let seasoned = season(&drive, &configs[0], &repetition, control);
    let Some((seasoned, precondition)) = unless_stopped(seasoned, control)? else {
        return Ok(Ended::Stopped { saved: saved(&checkpoints) });
    };
    let told = AtomicU64::new(0);
    let lives: Vec<Life<'_>> = configs
        .iter()
        .map(|config| Life {
            spec,
            config,
            workload: &repetition,
            survey: &survey,
            watch,
            told: (config.life.dilation == dilation).then_some(&told),
        })
        .collect();
    // An earlier run may have left one of a check that this run does not make.
    let unused = checkpoints.split_off(lives.len());
    let custom = drive.config.policies.labels().next().is_some();
    let (lived, checkpoints) = if custom {
        (one_by_one(&lives, &seasoned)?, checkpoints)
    } else {
        side_by_side(&lives, &seasoned, checkpoints)?
    };
    let Some(lived) = lived else {
        return Ok(Ended::Stopped { saved: saved(&checkpoints) });
    };
    let all = checkpoints.into_iter().chain(unused);
    let life = Lifetime {
        left_out: left_out(&drive.config),
        drive,
        precondition,
        workload: report,
        survey,
        lived,
        fleet: None,
        checkpoints: all.filter_map(Checkpoint::of_this_life).collect(),
    };
    Ok(Ended::Lived(Box::new(life)))
}

/// Returns the result; nothing if it was stopped, which may also be why it failed.
fn unless_stopped<T>(
    result: Result<Option<T>, Diagnostics>,
    control: Control<'_>,
) -> Result<Option<T>, Diagnostics> {
    if control.stopped() { Ok(None) } else { result }
}

/// Runs the lifetimes one after another until one is stopped, because custom policies may block
/// each other. Their state cannot be saved.
fn one_by_one(
    lives: &[Life<'_>],
    seasoned: &LifetimeDrive,
) -> Result<Option<Vec<Lived>>, Diagnostics> {
    let mut lived = Vec::new();
    for (number, life) in lives.iter().enumerate() {
        let share = |own: f64| {
            let done = |other: usize| f64::from(u8::from(other < number));
            let shares =
                (0..lives.len()).map(|other| if other == number { own } else { done(other) });
            (life.watch.share)(of_work(lives, shares));
        };
        let one = life.live(seasoned, &mut Checkpoint::nowhere(), &share)?;
        let Some(one) = one else { return Ok(None) };
        lived.push(one);
    }
    Ok(Some(lived))
}

/// Returns the share of the work of all lives that is done. A life at twice the dilation is half
/// the work.
fn of_work(lives: &[Life<'_>], shares: impl Iterator<Item = f64>) -> f64 {
    let work = |life: &Life<'_>| 1.0 / f64::from(life.config.life.dilation.max(1));
    let all: f64 = lives.iter().map(work).sum();
    let done: f64 = lives.iter().zip(shares).map(|(life, share)| work(life) * share).sum();
    // Rounding must not leave the last bit undone.
    if done >= all * (1.0 - 1e-12) { 1.0 } else { done / all }
}

/// Runs all lifetimes on free cores, each with its checkpoint. They start in order; the first has
/// the lowest dilation and takes the longest. `None` if any was stopped.
fn side_by_side<'a>(
    lives: &[Life<'_>],
    seasoned: &LifetimeDrive,
    checkpoints: Vec<Checkpoint<'a>>,
) -> Result<(Option<Vec<Lived>>, Vec<Checkpoint<'a>>), Diagnostics> {
    let done = |it: &Checkpoint<'_>| f64::from(u8::from(it.is_finished()));
    let shares = Mutex::new(checkpoints.iter().map(done).collect::<Vec<f64>>());
    let with = |(number, checkpoint)| (number, &lives[number], Mutex::new(checkpoint));
    let numbered: Vec<_> = checkpoints.into_iter().enumerate().map(with).collect();
    let has_a_core_each = rayon::current_num_threads() >= lives.len();
    let lived = fan_out::each(&numbered, |(number, life, checkpoint)| {
        let share = |own: f64| {
            let mut shares = shares.lock().unwrap_or_else(PoisonError::into_inner);
            shares[*number] = own;
            // All is done when the slowest is. Report under the lock, so that progress never goes
            // backwards.
            (life.watch.share)(match has_a_core_each {
                true => shares.iter().copied().fold(1.0, f64::min),
                false => of_work(lives, shares.iter().copied()),
            });
        };
        let mut checkpoint = checkpoint.lock().unwrap_or_else(PoisonError::into_inner);
        life.live(seasoned, &mut checkpoint, &share)
    });
    let mut diagnostics = Diagnostics::default();
    let lived: Vec<_> = lived.into_iter().filter_map(|one| diagnostics.take(one)).collect();
    let own = |(_, _, checkpoint): (_, _, Mutex<_>)| {
        checkpoint.into_inner().unwrap_or_else(PoisonError::into_inner)
    };
    let checkpoints = numbered.into_iter().map(own).collect();
    diagnostics.unique().or((lived.into_iter().collect(), checkpoints))
}

/// Rejects custom policies for what a lifetime does not simulate.
fn without_effect(config: &Config) -> Diagnostics {
    const ASKED: [&str; 3] = ["policy.throttle", "policy.victim", "policy.placement"];
    let idle = config.policies.labels().filter(|(key, _)| !ASKED.contains(key));
    let reported = |(key, label): (&str, &str)| {
        let what = format!("{label} would never be used: a lifetime does not simulate dies");
        Diagnostic::new(key, what).hint(format!("a lifetime asks only {}", ASKED.join(", ")))
    };
    Diagnostics(idle.map(reported).collect())
}

/// Lists the parts of a drive that a lifetime does not simulate.
fn left_out(config: &Config) -> Vec<String> {
    let mut left_out = vec!["dies: writes never wait for one".to_string()];
    if config.buffer.size.0 > 0 {
        let size = config.buffer.size;
        left_out.push(format!(
            "the write buffer of {size}: rewrites that it would absorb reach the flash"
        ));
    }
    if config.hotness.uses(Detector::RequestSize) {
        left_out.push("sizes of requests: data of small ones goes with all other".into());
    }
    if config.hotness.uses(Detector::BufferHits) {
        left_out.push(
            "hits after a write: a page is of the class that its hits have by the time it is written".into(),
        );
    }
    if config.buffer.read_hot == ReadHot::RewriteOnIdle {
        left_out.push("idle time: no page that is read hot is programmed again".into());
    }
    if config.scrub.name != ScrubKind::Off {
        left_out.push("scrubbing: nothing is read or moved in idle time".into());
    }
    if config.step.name != StepKind::Nominal {
        left_out.push("steps: every program takes time as a nominal one does".into());
    }
    if config.precondition.access_class != AccessClass::Mixed {
        left_out
            .push("what older data was used for: a life begins with data of the workload".into());
    }
    if config.precondition.warm_up > 0 {
        left_out.push("the warm-up: a life begins after long use anyway".into());
    }
    left_out
}

/// The fewest repetitions of its workload that a dilated lifetime must have: with fewer, what
/// differs from one part of the workload to the next decides the result.
const REPETITIONS_FEWEST: u32 = 3;

/// Returns how many repetitions of the workload the host of an undilated life gets through, in its
/// own time, if a host page costs `waf` pages: a throttled host gets through fewer than the clock.
fn repetitions(config: &Config, survey: &Survey, waf: f64) -> f64 {
    let repetitions = config.life.target.0 as f64 / survey.span.0 as f64;
    let demand = repetitions * survey.pages as f64 * waf;
    repetitions * (allowed(config, demand) / demand)
}

/// Returns how many pages of a demand the throttle lets the drive program in its life.
fn allowed(config: &Config, demand: f64) -> f64 {
    let pages = f64::from(config.geometry.pages());
    match config.throttle.name {
        ThrottleKind::Off => demand,
        ThrottleKind::FixedRate | ThrottleKind::Dynamic => demand.min(pages * config.life.cycles),
        ThrottleKind::Ready => {
            let endurance = config.life.endurance().expect("refused otherwise");
            demand.min(pages * endurance.sustained(config.life.cycles, config.life.target))
        }
    }
}

/// Returns the lowest dilation at which a lifetime has about [`PROGRAMS_MOST`] programs. It is
/// limited so that even at `times` the dilation a lifetime has [`REPETITIONS_FEWEST`] repetitions
/// in the host's own time.
fn chosen(config: &Config, survey: &Survey, times: u32) -> u32 {
    let own = config.life.dilation;
    if own > 1 {
        return own;
    }
    let demand =
        config.life.target.0 as f64 / survey.span.0 as f64 * survey.pages as f64 * WAF_GUESSED;
    let fewest = libm::ceil(allowed(config, demand) / PROGRAMS_MOST);
    let least = f64::from(REPETITIONS_FEWEST * times);
    let most = libm::floor(repetitions(config, survey, WAF_GUESSED) / least);
    fewest.min(most).max(1.0) as u32
}

/// Refuses a dilation that leaves fewer than [`REPETITIONS_FEWEST`] repetitions of the workload,
/// in the check too. A life that is not dilated is as long as it is.
fn too_few_repetitions(
    config: &Config,
    survey: &Survey,
    (dilation, times): (u32, u32),
) -> Result<(), Diagnostics> {
    let whole = config.life.target.0 as f64 / survey.span.0 as f64;
    let left = whole / f64::from(dilation) / f64::from(times);
    if dilation == 1 || left >= f64::from(REPETITIONS_FEWEST) {
        return Ok(());
    }
    let check = if times > 1 { " in the check at twice that" } else { "" };
    let what = format!(
        "a dilation of {dilation} leaves {left:.1} repetitions of the workload{check}: what differs \
         from one part of it to the next would decide the result"
    );
    let most = libm::floor(whole / f64::from(REPETITIONS_FEWEST * times)).max(1.0);
    let expected = format!("at most {most}, which leaves three");
    let hint = (times > 1).then(|| "without the check twice as much is allowed".to_string());
    Err(Diagnostic::new("lifetime.dilation", what).expected(expected).hint(hint).into())
}

fn dilated(drive: &Resolved, dilation: u32) -> Result<Config, Diagnostics> {
    let mut config = drive.config.clone();
    config.life.dilation = dilation;
    config.layout().map_err(|refusals| refused(drive, refusals))?;
    Ok(config)
}

fn refused(drive: &Resolved, refusals: Vec<fowler_device::Refusal>) -> Diagnostics {
    device::refused(&drive.device, &BTreeMap::new(), refusals)
}

/// Returns why the life of a drive is not simulated; `None` if it is.
pub fn why_not(drive: &Resolved) -> Option<String> {
    let refused = drive.clone().page_mapped("a lifetime").and_then(|drive| whole(&drive));
    refused.err().and_then(|why| why.0.first().map(|it| it.what.clone()))
}

/// Rejects parity: without parity writes, the drive would seem to live longer than it does.
fn whole(drive: &Resolved) -> Result<(), Diagnostics> {
    if drive.config.redundancy.name == RedundancyKind::Unprotected {
        return Ok(());
    }
    let what = "a lifetime does not simulate parity writes, so parity would cause no wear";
    let diagnostic =
        Diagnostic::new(drive.device.clone(), what).expected("policy.redundancy = \"none\"");
    Err(diagnostic.hint(Some("`fowler run` simulates parity writes".into())).into())
}

/// Checks the specification of a lifetime, without a full pass over the workload.
pub fn check(spec: &LifetimeSpec) -> Diagnostics {
    let schemes: Vec<String> = spec.scheme.iter().cloned().collect();
    let mut diagnostics =
        fowler_experiment::run::check(&spec.device, &schemes, Some(&spec.workload), &[]);
    if spec.dilation == Some(0) {
        let what = "the dilation must not be 0";
        diagnostics.push(Diagnostic::new("--dilation", what).expected("at least 1"));
    }
    if spec.checkpoint.is_anywhere() && !spec.device.policies.is_empty() {
        let what = "a checkpoint cannot save the state of a custom policy";
        diagnostics.push(Diagnostic::new("--checkpoint", what).hint("leave it out".to_string()));
    }
    diagnostics
}

/// Checks the specification of a fleet, before the life of one drive is simulated.
pub fn check_fleet(spec: &LifetimeSpec, fleet: &fleet::FleetSpec) -> Diagnostics {
    let mut diagnostics = fleet::check(fleet);
    let drive = spec.device.source().and_then(|source| {
        let scheme = spec.device.scheme(spec.scheme.as_deref())?;
        device::resolve(&source, &scheme, &spec.device)
    });
    // What is wrong with the drive itself is said elsewhere.
    if let Ok(drive) = drive {
        diagnostics.take(fleet::suits(&drive.config));
    }
    diagnostics
}

#[cfg(test)]
mod tests {
    use super::*;
    use fowler_experiment::scheme::Scheme;

    #[test]
    fn a_life_without_its_parity_is_refused() {
        let reported = |scheme: &str| {
            let spec = DeviceSpec { device: "da-raid5".into(), ..DeviceSpec::default() };
            let scheme = Scheme::load(scheme).unwrap();
            let drive = device::resolve(&spec.source().unwrap(), &scheme, &spec).unwrap();
            whole(&drive).err().map(|diagnostics| diagnostics.to_string()).unwrap_or_default()
        };
        assert!(reported("raid5").contains("parity would cause no wear"));
        assert_eq!(reported("nt"), "");
    }
}
