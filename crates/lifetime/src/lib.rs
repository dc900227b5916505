//! Simulates the whole lifetime of a drive under a repeated workload, dilated so that each
//! simulated repetition stands for many real ones (READY, FAST 2012, section 4.3).
//!
//! 1. Drive and workload are checked; what a lifetime leaves out is listed (`scope.rs`).
//! 2. One repetition of the workload is surveyed: its span, its writes (`survey.rs`).
//! 3. The dilation is chosen from these, unless it is given (`factor.rs`). With the check, a second
//!    life at twice the dilation shows the error that dilation causes (`dilation.rs`).
//! 4. The drive is brought into the state of long use by its own workload (`season.rs`).
//! 5. The workload is repeated until the target life is over, without dies and queues
//!    ([`fowler_device::LifetimeDrive`], `life.rs`); the lives run side by side.
//! 6. The result gives the table, the JSON and the figures. A fleet is drawn from it (`fleet`), and
//!    single days of the life can be simulated on the whole drive (`days.rs`).
//!
//! Exceptions: a life that is stopped saves its state, and resumes from it (`checkpoint.rs`). Lives
//! with custom policies run one by one and cannot be saved.
//!
//! The crate owns the lifetime and its records. [`live`] runs one. Checkpoints are the only files
//! that the crate writes on its own.

mod checkpoint;
mod days;
mod dilation;
mod end_of_life;
mod factor;
pub mod fleet;
mod json;
mod life;
#[cfg(feature = "pages")]
mod pictures;
mod record;
mod repetition;
mod report;
mod result;
mod saved_life;
mod scope;
mod season;
mod spec;
mod steady_lives;
mod survey;
mod watch;

pub use checkpoint::check as check_checkpoint;
#[doc(hidden)]
pub use checkpoint::reread;
pub use days::{Day, DaysSpec, days};
pub use dilation::Dilated;
pub use end_of_life::{Cycles, EndOfLife};
pub use json::schema;
pub use record::{Record, Series, SparePart};
pub use result::{Ended, Lifetime};
pub use scope::why_not;
pub use season::write_amplification;
pub use spec::{LifetimeSpec, SaveTo, of_life};
pub use steady_lives::{SteadyLane, SteadySpec, steady_lives};
pub use watch::{Early, Watch};

use checkpoint::Checkpoint;
use factor::{chosen, dilated, too_few_repetitions};
use fowler_device::{Config, LifetimeDrive};
use fowler_experiment::device_spec;
use fowler_experiment::diagnostic::{Diagnostic, Diagnostics};
use fowler_experiment::fan_out;
use fowler_experiment::life_estimate;
use fowler_experiment::memory;
use fowler_experiment::workload::{Control, Workload};
use life::Life;
use repetition::Repetition;
use scope::{left_out, whole, without_effect};
use season::season;
use std::sync::atomic::AtomicU64;
use std::sync::{Mutex, PoisonError};

/// Simulates a drive through its target lifetime.
///
/// # Errors
/// All errors in the drive, the workload or the checkpoint.
pub fn live(spec: &LifetimeSpec, watch: Watch<'_>) -> Result<Ended, Diagnostics> {
    let source = spec.device.source()?;
    let scheme = spec.device.scheme(spec.scheme.as_deref())?;
    let drive = device_spec::resolve(&source, &scheme, &spec.device)?;
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

/// Returns `Ok(None)` if the caller stopped the simulation, even where `result` is an error;
/// otherwise returns `result`.
fn unless_stopped<T>(
    result: Result<Option<T>, Diagnostics>,
    control: Control<'_>,
) -> Result<Option<T>, Diagnostics> {
    if control.stopped() { Ok(None) } else { result }
}

/// Simulates lives with custom policies one after another, until one is stopped: in parallel, the
/// policies could block each other. No checkpoints are saved, because they cannot hold the state of
/// custom policies.
fn one_by_one(
    lives: &[Life<'_>],
    seasoned: &LifetimeDrive,
) -> Result<Option<Vec<EndOfLife>>, Diagnostics> {
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

/// Returns the share of the work of all lives that is done, from 0 to 1. A life at twice the
/// dilation is half the work.
fn of_work(lives: &[Life<'_>], shares: impl Iterator<Item = f64>) -> f64 {
    let work = |life: &Life<'_>| 1.0 / f64::from(life.config.life.dilation.max(1));
    let all: f64 = lives.iter().map(work).sum();
    let done: f64 = lives.iter().zip(shares).map(|(life, share)| work(life) * share).sum();
    // Rounding must not leave the last bit undone.
    if done >= all * (1.0 - 1e-12) { 1.0 } else { done / all }
}

/// Simulates a life at each dilation (real repetitions of the workload per simulated one) in
/// parallel, each with its own checkpoint. They start in order; the first has the lowest dilation
/// and takes the longest. `None` if any was stopped.
fn side_by_side<'a>(
    lives: &[Life<'_>],
    seasoned: &LifetimeDrive,
    checkpoints: Vec<Checkpoint<'a>>,
) -> Result<(Option<Vec<EndOfLife>>, Vec<Checkpoint<'a>>), Diagnostics> {
    let done = |it: &Checkpoint<'_>| f64::from(u8::from(it.is_finished()));
    let shares = Mutex::new(checkpoints.iter().map(done).collect::<Vec<f64>>());
    let with = |(number, checkpoint)| (number, &lives[number], Mutex::new(checkpoint));
    let numbered: Vec<_> = checkpoints.into_iter().enumerate().map(with).collect();
    let has_a_core_each = rayon::current_num_threads() >= lives.len();
    let lived = fan_out::each(&numbered, |(number, life, checkpoint)| {
        let share = |own: f64| {
            let mut shares = shares.lock().unwrap_or_else(PoisonError::into_inner);
            shares[*number] = own;
            // The lives are done when the slowest is. Report under the lock, so that progress never
            // goes backwards.
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

/// Checks the specification of a lifetime, without a full pass over the workload.
pub fn check(spec: &LifetimeSpec) -> Diagnostics {
    let schemes: Vec<String> = spec.scheme.iter().cloned().collect();
    let mut diagnostics =
        fowler_experiment::run::check(&spec.device, &schemes, Some(&spec.workload), &[]);
    if spec.dilation == Some(0) {
        let what =
            "the dilation (real repetitions of the workload for each simulated one) must not be 0";
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
        device_spec::resolve(&source, &scheme, &spec.device)
    });
    // Errors of the drive itself are reported elsewhere.
    if let Ok(drive) = drive {
        diagnostics.take(fleet::suits(&drive.config));
    }
    diagnostics
}
