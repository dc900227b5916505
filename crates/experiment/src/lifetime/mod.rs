//! A whole life: a drive under a workload that is repeated until its target life ends, dilated, so
//! that one repetition stands for many (READY, FAST 2012, section 4.3).
//!
//! The room owns the life and what is recorded of it, and its checkpoint is the one file it writes
//! by itself. It is asked to live ([`live`]), and for the table, the JSON and the pictures of what
//! came of it.

mod checkpoint;
mod record;
mod report;
mod survey;

pub use record::{Record, Series};
pub use survey::Survey;

use crate::device::{self, DeviceSpec, Resolved};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::fan_out;
use crate::workload::{Control, Workload, WorkloadReport, WorkloadSpec};
use checkpoint::Checkpoint;
use fowler_device::endurance::Totals;
use fowler_device::policy::placement::PlacementKind;
use fowler_device::policy::redundancy::RedundancyKind;
use fowler_device::policy::step::StepKind;
use fowler_device::policy::throttle::{Predicted, State, ThrottleKind};
use fowler_device::policy::voltage::VoltageKind;
use fowler_device::{Config, Counters, LifetimeDrive, PreconditionedImage};
use fowler_units::{HostIo, Nanos, Span};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// What to live through.
#[derive(Clone, Debug)]
pub struct LifetimeSpec {
    /// The drive, its target life among its keys.
    pub device: DeviceSpec,
    /// The scheme on it; none leaves it as described.
    pub scheme: Option<String>,
    /// What is repeated.
    pub workload: WorkloadSpec,
    /// Requests of a repetition at most, from the first on.
    pub limit: Option<u64>,
    /// For how many repetitions one stands; none for the least at which a life takes a minute or
    /// two.
    pub dilation: Option<u32>,
    /// Whether the same is run at twice the dilation, to see what that changes.
    pub check: bool,
    /// From which moment of the second repetition, in the host's own time, and for how long it is
    /// also recorded second by second.
    pub close_up: Option<(Span, Span)>,
    /// Where what is done so far is saved, to resume from; none saves nothing.
    pub checkpoint: Option<PathBuf>,
    /// After how many pages of the host what is done so far is saved again.
    pub checkpoint_every: u64,
}

/// Pages that are programmed in a life at the least dilation that is chosen: measured to take about
/// a minute on one core, the life at twice the dilation included (docs/ready.md).
const PROGRAMS_MOST: f64 = 7e8;
/// What is taken for the write amplification when that is chosen: it is not known before.
const WAF_GUESSED: f64 = 2.2;

/// A drive that has lived.
#[derive(Clone, Debug)]
pub struct Lived {
    /// For how many repetitions one stood.
    pub dilation: u32,
    /// Repetitions that were begun.
    pub repetitions: u64,
    /// What the drive amounts to at the end of its target life.
    pub totals: Totals,
    /// What was counted.
    pub counters: Counters,
    /// Wear of the blocks, in cycles of the whole life.
    pub wear: Cycles,
    /// What the throttle has come to.
    pub throttle: State,
    /// How long the host had waited, in simulated time, whose write was not let in before the
    /// life ended.
    pub blocked_at_end: Span,
    /// Responses, delays and series.
    pub record: Record,
}

/// Cycles of the blocks of a drive.
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
    /// How long the drive lives at this rate of wear, in units of its target life: `C'_ssd /
    /// W_work`. None before the first page.
    pub fn lives(&self) -> Option<f64> {
        let Totals { programmed, achievable, .. } = self.totals;
        (programmed > 0.0).then(|| achievable / programmed)
    }

    /// Pages programmed for each page of the host.
    pub fn waf(&self) -> Option<f64> {
        self.counters.waf()
    }

    /// The share of epochs whose demand came as predicted.
    pub fn accuracy(&self) -> Option<f64> {
        let Predicted { epochs, right } = self.throttle.predicted;
        (epochs > 0).then(|| right as f64 / epochs as f64)
    }
}

/// What a life came to.
#[derive(Clone, Debug)]
pub struct Lifetime {
    /// The drive.
    pub drive: Resolved,
    /// What it had been through.
    pub precondition: String,
    /// The workload.
    pub workload: WorkloadReport,
    /// What a repetition has.
    pub survey: Survey,
    /// What of the drive a life leaves out.
    pub left_out: Vec<String>,
    /// At the dilation, and at twice that if that was wanted.
    pub lived: Vec<Lived>,
}

/// How it ended.
#[derive(Clone, Debug)]
pub enum Ended {
    /// The drive has lived.
    Lived(Box<Lifetime>),
    /// It was stopped.
    Stopped {
        /// Whether there is something to resume from.
        saved: bool,
    },
}

impl Lifetime {
    /// How long the drive was to live.
    pub fn target(&self) -> Span {
        self.drive.config.life.target
    }

    /// Bytes of a page.
    pub fn page(&self) -> f64 {
        self.drive.config.geometry.page_size.0 as f64
    }
}

/// Who watches a life.
#[derive(Clone, Copy)]
pub struct Watch<'a> {
    /// Set from outside to end it; what is done is saved, if there is a place for it.
    pub control: Control<'a>,
    /// Hears which share of all lives is over, from 0 to 1.
    pub share: &'a (dyn Fn(f64) + Sync),
    /// Hears what is to be known before it is over.
    pub warn: &'a (dyn Fn(&str) + Sync),
}

/// Lives a drive through its target life.
///
/// # Errors
/// Everything that is wrong with the drive, the workload or the checkpoint.
pub fn live(spec: &LifetimeSpec, watch: Watch<'_>) -> Result<Ended, Diagnostics> {
    let source = spec.device.source()?;
    let scheme = spec.device.scheme(spec.scheme.as_deref())?;
    let drive = device::resolve(&source, &scheme, &spec.device)?;
    whole(&drive)?;
    without_effect(&drive.config).or(())?;
    let control = watch.control;
    let workload = Workload::prepare(&spec.workload, &drive, None, control)?;
    let Some((survey, report)) = survey::survey(&workload, &drive, spec.limit, control)? else {
        return Ok(Ended::Stopped { saved: false });
    };
    let dilation = spec.dilation.unwrap_or_else(|| chosen(&drive.config, &survey));
    let dilations: Vec<u32> =
        if spec.check { vec![dilation, dilation.saturating_mul(2)] } else { vec![dilation] };
    let configs = dilations.iter().map(|&dilation| dilated(&drive, dilation));
    let configs: Vec<Config> = configs.collect::<Result<_, _>>()?;
    let mut checkpoint = Checkpoint::open(spec, &drive, dilation, watch)?;
    let Some((seasoned, precondition)) =
        season(&drive, &configs[0], (&workload, spec.limit), control)?
    else {
        return Ok(Ended::Stopped { saved: checkpoint.is_there() });
    };
    let lives: Vec<Life<'_>> = configs
        .iter()
        .map(|config| Life { spec, config, workload: &workload, survey: &survey, watch })
        .collect();
    let custom = drive.config.policies.labels().next().is_some();
    let lived = if spec.checkpoint.is_some() || custom {
        one_by_one(&lives, &seasoned, &mut checkpoint)?
    } else {
        side_by_side(&lives, &seasoned)?
    };
    let Some(lived) = lived else {
        return Ok(Ended::Stopped { saved: checkpoint.is_there() });
    };
    checkpoint.remove()?;
    let left_out = left_out(&drive.config);
    let life = Lifetime { drive, precondition, workload: report, survey, left_out, lived };
    Ok(Ended::Lived(Box::new(life)))
}

/// Lives one life after another, as long as none is stopped: what is done so far is saved in
/// between, and custom policies may have to wait for each other.
fn one_by_one(
    lives: &[Life<'_>],
    seasoned: &LifetimeDrive,
    checkpoint: &mut Checkpoint,
) -> Result<Option<Vec<Lived>>, Diagnostics> {
    let mut lived = checkpoint.take_finished();
    for (number, life) in lives.iter().enumerate().skip(lived.len()) {
        let share = |own: f64| (life.watch.share)((number as f64 + own) / lives.len() as f64);
        let one = life.live(seasoned, &lived, checkpoint, &share)?;
        let Some(one) = one else { return Ok(None) };
        lived.push(one);
    }
    Ok(Some(lived))
}

/// Lives all lives on as many cores as are free. They begin in their order, that at the least
/// dilation first, which is the longest. None if one of them was stopped.
fn side_by_side(
    lives: &[Life<'_>],
    seasoned: &LifetimeDrive,
) -> Result<Option<Vec<Lived>>, Diagnostics> {
    let shares = Mutex::new(vec![0.0; lives.len()]);
    let numbered: Vec<(usize, &Life<'_>)> = lives.iter().enumerate().collect();
    let lived = fan_out::each(&numbered, |&(number, life)| {
        let share = |own: f64| {
            let mut shares = shares.lock().unwrap_or_else(PoisonError::into_inner);
            shares[number] = own;
            // Told before the next is reckoned, so that nobody hears of less after more.
            (life.watch.share)(shares.iter().sum::<f64>() / shares.len() as f64);
        };
        life.live(seasoned, &[], &mut Checkpoint::nowhere(), &share)
    });
    let mut diagnostics = Diagnostics::default();
    let lived: Vec<_> = lived.into_iter().filter_map(|one| diagnostics.take(one)).collect();
    diagnostics.unique().or(lived.into_iter().collect())
}

/// The drive as long use by the workload leaves it: written with it until each of its pages has
/// been programmed as often as that takes. None if it was stopped.
fn season(
    drive: &Resolved,
    config: &Config,
    (workload, limit): (&Workload, Option<u64>),
    control: Control<'_>,
) -> Result<Option<(LifetimeDrive, String)>, Diagnostics> {
    let image = PreconditionedImage::new(config).map_err(|refusals| refused(drive, refusals))?;
    let mut seasoned = LifetimeDrive::new(&image, config).expect("its layout was looked at");
    let pages = u64::from(config.geometry.pages());
    let (mut left, mut rounds) = (SEASON * pages, 0);
    while left > 0 && !control.stopped() && rounds < SEASON_ROUNDS {
        let quiet = Control { stop: control.stop, progress: &|_| () };
        let mut done = 0;
        // Other rounds than those of the life.
        let round = u64::MAX - u64::from(rounds);
        workload.replay_round(round, 1.0, limit, quiet, |requests| {
            done = seasoned.season(requests, left)
        })?;
        left = left.saturating_sub(done);
        rounds += 1;
    }
    let times = (SEASON * pages - left) as f64 / pages as f64;
    let reported = format!(
        "{}, then the workload until each page was programmed {times:.1} times",
        image.preconditioned()
    );
    Ok((!control.stopped()).then_some((seasoned, reported)))
}

/// How often each page of a drive is programmed before its life, on average, and in how many
/// repetitions at most.
const SEASON: u64 = 5;
const SEASON_ROUNDS: u32 = 100;

/// The custom policies for what a life leaves out.
fn without_effect(config: &Config) -> Diagnostics {
    let idle = config.policies.labels().filter(|(key, _)| *key != "policy.throttle");
    let reported = |(key, label): (&str, &str)| {
        let what = format!("{label} would never be asked: no die is part of a life");
        Diagnostic::new(key, what)
            .hint("only a policy that admits writes has an effect here".to_string())
    };
    Diagnostics(idle.map(reported).collect())
}

/// What a drive has, and a life of it does not.
fn left_out(config: &Config) -> Vec<String> {
    let mut left_out = vec!["dies: no write waits for one".to_string()];
    if config.buffer.size.0 > 0 {
        let size = config.buffer.size;
        left_out
            .push(format!("the write buffer of {size}: rewrites that it absorbs reach the flash"));
    }
    if config.placement.name == PlacementKind::Streams {
        left_out.push("kinds of data: all is written to one stream".into());
    }
    if config.voltage.name != VoltageKind::Nominal || config.step.name != StepKind::Nominal {
        left_out.push(
            "voltages and steps: each program wears and takes as long as a nominal one".into(),
        );
    }
    left_out
}

/// The least dilation at which a life has about [`PROGRAMS_MOST`] programs: but at twice that each
/// life has a repetition still, by the host's own time, of which a throttled host has less.
fn chosen(config: &Config, survey: &Survey) -> u32 {
    let own = config.life.dilation;
    if own > 1 {
        return own;
    }
    let repetitions = config.life.target.0 as f64 / survey.span.0 as f64;
    let demand = repetitions * survey.pages as f64 * WAF_GUESSED;
    let pages = f64::from(config.geometry.pages());
    let programs = match config.throttle.name {
        ThrottleKind::Off => demand,
        ThrottleKind::FixedRate | ThrottleKind::Dynamic => demand.min(pages * config.life.cycles),
        ThrottleKind::Ready => {
            let endurance = config.life.endurance().expect("refused otherwise");
            demand.min(pages * endurance.sustained(config.life.cycles, config.life.target))
        }
    };
    let fewest = libm::ceil(programs / PROGRAMS_MOST);
    let most = libm::floor(repetitions * (programs / demand) / 2.0);
    fewest.min(most).max(1.0) as u32
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

/// One life.
struct Life<'a> {
    spec: &'a LifetimeSpec,
    config: &'a Config,
    workload: &'a Workload,
    survey: &'a Survey,
    watch: Watch<'a>,
}

/// Where a life is.
struct Standing {
    drive: LifetimeDrive,
    record: Record,
    /// Repetitions begun, and writes served of the one that runs.
    repetition: u64,
    served: u64,
}

impl Life<'_> {
    fn live(
        &self,
        seasoned: &LifetimeDrive,
        before: &[Lived],
        checkpoint: &mut Checkpoint,
        share: &dyn Fn(f64),
    ) -> Result<Option<Lived>, Diagnostics> {
        let fresh = seasoned.again(self.config);
        let mut standing = match checkpoint.take_standing(&fresh)? {
            Some(standing) => standing,
            None => Standing {
                record: Record::new(&fresh, self.spec.close_up),
                drive: fresh,
                repetition: 0,
                served: 0,
            },
        };
        loop {
            // A life that is over leaves nothing to resume from, whoever stops it then.
            if self.repeat(&mut standing, before, checkpoint, share)? {
                // Its last write may have come well before its end.
                share(1.0);
                return Ok(Some(self.lived(standing)));
            }
            if self.watch.control.stopped() {
                checkpoint.keep(before, &standing)?;
                return Ok(None);
            }
            (standing.repetition, standing.served) = (standing.repetition + 1, 0);
        }
    }

    /// One repetition, from where it stands. Returns whether the life is over.
    fn repeat(
        &self,
        standing: &mut Standing,
        before: &[Lived],
        checkpoint: &mut Checkpoint,
        share: &dyn Fn(f64),
    ) -> Result<bool, Diagnostics> {
        let begins = Span(self.survey.span.0 * standing.repetition);
        let first = self.survey.first;
        let moved = |io: HostIo| io.with_at(Nanos(io.at.0 - first.0) + begins);
        let ends = standing.drive.ends();
        let (mut alive, mut wrong) = (true, None);
        let control = Control { stop: self.watch.control.stop, progress: &|_| () };
        let (round, limit) = (standing.repetition, self.spec.limit);
        let (_, failed) = self.workload.replay_round(round, 1.0, limit, control, |requests| {
            let writes = requests.filter(survey::changes_data);
            let skipped = usize::try_from(standing.served).unwrap_or(usize::MAX);
            let mut writes = writes.skip(skipped).map(moved).peekable();
            while alive && wrong.is_none() && writes.peek().is_some() {
                let Standing { drive, record, served, .. } = standing;
                let mut pages = 0;
                let batch = writes.by_ref().take(BATCH);
                alive = drive.serve(batch, |drive, entered| {
                    record.note(drive, entered, begins);
                    (*served, pages) = (*served + 1, pages + u64::from(entered.pages));
                    true
                });
                share((drive.now().0 as f64 / ends.0 as f64).min(1.0));
                if alive && checkpoint.is_due(pages) {
                    wrong = checkpoint.keep(before, standing).err();
                }
            }
        })?;
        match wrong.or(failed) {
            Some(diagnostics) => Err(diagnostics),
            None => Ok(!alive),
        }
    }

    fn lived(&self, standing: Standing) -> Lived {
        let Standing { drive, record, repetition, .. } = standing;
        let dilation = self.config.life.dilation;
        let cycles = drive.cycles();
        let all = cycles.iter().map(|&count| f64::from(count)).sum::<f64>();
        let least = cycles.iter().min().copied().unwrap_or(0);
        let most = cycles.iter().max().copied().unwrap_or(0);
        let whole_life = |cycles: f64| cycles * f64::from(dilation);
        let wear = Cycles {
            least: whole_life(f64::from(least)),
            mean: whole_life(all / cycles.len() as f64),
            most: whole_life(f64::from(most)),
        };
        Lived {
            dilation,
            repetitions: repetition + 1,
            totals: drive.totals(drive.ends()),
            counters: *drive.counters(),
            wear,
            throttle: drive.throttle(),
            blocked_at_end: drive.blocked_at_end().total(),
            record,
        }
    }
}

/// A drive whose parity is not written would live longer than it does.
fn whole(drive: &Resolved) -> Result<(), Diagnostics> {
    if drive.config.redundancy.name == RedundancyKind::Unprotected {
        return Ok(());
    }
    let what = "a life is driven without the array: parity would wear nothing";
    let diagnostic =
        Diagnostic::new(drive.device.clone(), what).expected("policy.redundancy = \"none\"");
    Err(diagnostic.hint(Some("`fowler run` counts what parity writes".into())).into())
}

/// Writes between two looks at who watches.
const BATCH: usize = 1 << 14;

/// Everything that is wrong with what is to be lived through, as far as one look at it tells.
pub fn check(spec: &LifetimeSpec) -> Diagnostics {
    let schemes: Vec<String> = spec.scheme.iter().cloned().collect();
    let mut diagnostics = crate::run::check(&spec.device, &schemes, Some(&spec.workload));
    if spec.dilation == Some(0) {
        let what = "one repetition cannot stand for none";
        diagnostics.push(Diagnostic::new("--dilation", what).expected("at least 1"));
    }
    if spec.checkpoint.is_some() && !spec.device.policies.is_empty() {
        let what = "the state of a custom policy cannot be written down";
        diagnostics.push(Diagnostic::new("--checkpoint", what).hint("leave it out".to_string()));
    }
    diagnostics
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheme::Scheme;

    #[test]
    fn a_life_without_its_parity_is_refused() {
        let reported = |scheme: &str| {
            let spec = DeviceSpec { device: "da-raid5".into(), ..DeviceSpec::default() };
            let scheme = Scheme::load(scheme).unwrap();
            let drive = device::resolve(&spec.source().unwrap(), &scheme, &spec).unwrap();
            whole(&drive).err().map(|diagnostics| diagnostics.to_string()).unwrap_or_default()
        };
        assert!(reported("raid5").contains("parity would wear nothing"));
        assert_eq!(reported("nt"), "");
    }
}
