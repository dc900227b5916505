//! The replay speed of requests, and the search for the speed at which a drive idles for a given
//! share of the time.
//!
//! The P/E suspension paper compresses its traces in time until the idle share falls from 98 % to
//! about 70 %. The factor is not printed and depends on the drive, so it is searched for. If
//! requests arrived independently and overlapped freely, the idle share would fall as `exp(-busy *
//! factor)`: with logarithms on both sides that is a straight line of slope one. Real drives are
//! close enough to a line for the secant method to converge within a few runs.

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::progress::Progress;
use crate::workload::Control;
use fowler_device::Pacing;
use fowler_workload::{Short, TimeScale};
use std::sync::{Mutex, PoisonError};

/// Tolerance of the idle share in the search for a replay speed, relative to the target's busy
/// share: for a target of 99.9 % idle, an absolute error of 1 % would be ten times the load.
const TOLERANCE: f64 = 0.02;
/// Largest absolute tolerance of the idle share in the search for a replay speed.
const TOLERANCE_MOST: f64 = 0.01;
/// Most test runs of a search for a replay speed.
pub const MAX_RUNS: usize = 12;
/// Range of the factors by which a search for a replay speed may divide times.
const FACTORS: std::ops::RangeInclusive<f64> = 0.001..=1e6;

/// Replay speed: the times at which requests are issued.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum ReplaySpeed {
    /// Requests are issued at the recorded times, or at those of the generator.
    #[default]
    AsRecorded,
    /// Requests are issued at the recorded times divided by a factor.
    Speed(f64),
    /// Requests are issued at the recorded times divided by the factor at which the drive idles for
    /// this share of the time.
    Idle(f64),
    /// A new request is issued as soon as fewer than this many are outstanding (closed loop).
    Closed(u32),
}

impl ReplaySpeed {
    /// Returns the number of copies of a drive that a run holds in memory: a speed search saves
    /// one, with which each test run begins.
    pub fn copies(self) -> u64 {
        if matches!(self, ReplaySpeed::Idle(_)) { 2 } else { 1 }
    }

    /// Returns how requests are issued. `depth` is the queue depth of a workload without arrival
    /// times.
    pub(crate) fn pacing(self, depth: Option<u32>) -> Pacing {
        let depth = match self {
            ReplaySpeed::Closed(depth) => Some(depth),
            ReplaySpeed::AsRecorded => depth,
            ReplaySpeed::Speed(_) | ReplaySpeed::Idle(_) => None,
        };
        depth.map_or(Pacing::Open, |depth| Pacing::Closed { depth })
    }
}

/// The factor by which a replay divides times, and how it was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Found {
    /// Factor by which the times of requests are divided.
    pub factor: f64,
    /// The search for an idle share that found the replay speed factor; `None` if the user set the
    /// factor, or the search was stopped.
    pub search: Option<Search>,
}

/// Result of a search for the replay speed at which the drive idles for a share of the time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Search {
    /// Share of the time that the drive should idle, which the search aims at, 0 to 1.
    pub target: f64,
    /// Share of the time that the drive idles at the replay speed found, 0 to 1.
    pub reached: f64,
    /// Number of test runs that the search for the replay speed took.
    pub runs: usize,
}

/// Returns the absolute tolerance of a search for a replay speed with this target idle share.
pub fn tolerance(target: f64) -> f64 {
    (TOLERANCE * (1.0 - target)).min(TOLERANCE_MOST)
}

/// Checks the factor, idle share or queue depth of a replay speed.
pub fn check(replay_speed: ReplaySpeed) -> Result<(), Diagnostics> {
    match replay_speed {
        ReplaySpeed::AsRecorded | ReplaySpeed::Closed(_) => Ok(()),
        ReplaySpeed::Speed(factor) => TimeScale::new(factor).map(drop),
        ReplaySpeed::Idle(target) if target > 0.0 && target < 1.0 => Ok(()),
        ReplaySpeed::Idle(target) => {
            let diagnostic =
                Diagnostic::new("--idle", format!("{} is not a share of idle time", Short(target)));
            Err(diagnostic.expected("a number between 0 and 1, such as 0.7").into())
        }
    }
}

/// Searches the replay speed factor at which the drives idle for the share `target` of the time,
/// beginning with the factor `first`. `idle_at` makes a test run on each of `drives` drives at a
/// factor, reports progress to the control that it gets, and returns the idle share, 0 to 1.
pub(crate) fn search(
    target: f64,
    first: f64,
    drives: usize,
    control: Control<'_>,
    mut idle_at: impl FnMut(f64, Control<'_>) -> Result<f64, Diagnostics>,
) -> Result<Found, Diagnostics> {
    let mut tried: Vec<(f64, f64)> = Vec::new();
    let mut factor = first;
    for runs in 1..=MAX_RUNS {
        let served = Mutex::new(0.0);
        let follow = |step| {
            if let Progress::Served { of_a_part, .. } = step {
                let mut served = served.lock().unwrap_or_else(PoisonError::into_inner);
                *served += of_a_part / drives as f64;
                // Report under the lock, so that progress never goes backwards.
                let share = f64::min(*served, 1.0);
                (control.progress)(Progress::Searching { run: runs, share });
            }
        };
        let reached = idle_at(factor, Control { progress: &follow, ..control })?;
        if control.stopped() {
            return Ok(Found { factor, search: None });
        }
        if (reached - target).abs() <= tolerance(target) {
            return Ok(Found { factor, search: Some(Search { target, reached, runs }) });
        }
        tried.push((factor, reached));
        factor = next_factor(&tried, target);
    }
    let tried: Vec<String> = tried
        .iter()
        .map(|(factor, share)| format!("{factor:.4}: {:.2} %", share * 100.0))
        .collect();
    let what = format!(
        "found no speed at which the drive idles {} % of the time within {MAX_RUNS} runs",
        target * 100.0
    );
    Err(Diagnostic::new("--idle", what)
        .text(tried.join(", "))
        .hint(
            "choose another share of idle time, or set the speed factor itself with --speed"
                .to_string(),
        )
        .into())
}

/// Returns the speed factor to try next: the one at which the line through the last two tries meets
/// the target, if that lies between the nearest tries above and below; otherwise the midpoint of
/// those two.
fn next_factor(tried: &[(f64, f64)], target: f64) -> f64 {
    let level = |share: f64| libm::log(-libm::log(share.clamp(1e-9, 1.0 - 1e-9)));
    let point = |&(factor, share): &(f64, f64)| (libm::log(factor), level(share));
    let Some((x, y)) = tried.last().map(point) else { return 1.0 };
    let previous = tried.len().checked_sub(2).map(|index| point(&tried[index]));
    let slope = previous.map_or(1.0, |(x1, y1)| (y - y1) / (x - x1));
    // If the share hardly moves, or moves the wrong way, the line is useless.
    let slope = if slope.is_finite() { slope.clamp(0.1, 10.0) } else { 1.0 };
    let guess = libm::exp(x + (level(target) - y) / slope);
    // If the drive idles more than the target, the factor is too small.
    let (slow, fast) = tried.iter().fold((*FACTORS.start(), *FACTORS.end()), |(slow, fast), it| {
        if it.1 > target { (slow.max(it.0), fast) } else { (slow, fast.min(it.0)) }
    });
    if guess > slow && guess < fast { guess } else { (slow * fast).sqrt() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;

    fn runs_needed(target: f64, idle_at: impl Fn(f64) -> f64) -> (usize, f64) {
        let mut runs = 0;
        let found = search(target, 1.0, 1, Control::UNWATCHED, |factor, _| {
            runs += 1;
            Ok(idle_at(factor))
        })
        .unwrap();
        let reached = idle_at(found.factor);
        assert!((reached - target).abs() <= 0.02 * (1.0 - target));
        assert_eq!(found.search, Some(Search { target, reached, runs }));
        (runs, found.factor)
    }

    #[test]
    fn the_case_of_the_paper_needs_four_runs() {
        // From 98 % idle to a target of 70 %, one request at a time: 15 times as fast.
        let (runs, factor) = runs_needed(0.7, |factor| 1.0 - 0.02 * factor);
        assert_eq!(runs, 4);
        assert!((factor - 15.0).abs() < 0.5);
    }

    #[test]
    fn overlap_and_saturation_are_dealt_with() {
        for (busy, target) in [(0.001, 0.7), (0.02, 0.1), (3.0, 0.7), (0.5, 0.95), (0.1, 0.3)] {
            let (runs, _) = runs_needed(target, |factor: f64| (-busy * factor).exp());
            assert!(runs <= 3);
            let (runs, _) = runs_needed(target, |factor: f64| (1.0 - busy * factor).max(0.0));
            assert!(runs <= MAX_RUNS);
            let (runs, _) =
                runs_needed(target, |factor: f64| 1.0 / (1.0 + (busy * factor).powi(2)));
            assert!(runs <= MAX_RUNS);
        }
    }

    #[test]
    fn a_search_tells_how_far_each_of_its_runs_is() {
        let (stop, told) = (AtomicBool::new(false), Mutex::new(Vec::new()));
        let control = Control { stop: &stop, progress: &|step| told.lock().unwrap().push(step) };
        let mut reached = [0.9, 0.7].into_iter();
        search(0.7, 1.0, 2, control, |_, control| {
            // Each of two drives serves its requests in two steps.
            for _ in 0..4 {
                (control.progress)(Progress::Served { requests: 1, of_a_part: 0.5 });
            }
            Ok(reached.next().unwrap())
        })
        .unwrap();
        let steps = [1, 2]
            .into_iter()
            .flat_map(|run| [0.25, 0.5, 0.75, 1.0].map(|share| Progress::Searching { run, share }));
        assert_eq!(told.into_inner().unwrap(), steps.collect::<Vec<_>>());
    }

    #[test]
    fn the_impossible_is_said() {
        let diagnostics = search(0.7, 1.0, 1, Control::UNWATCHED, |_, _| Ok(0.2)).unwrap_err();
        assert!(diagnostics.to_string().contains("within 12 runs"));
        for replay_speed in [
            ReplaySpeed::Idle(0.0),
            ReplaySpeed::Idle(1.0),
            ReplaySpeed::Idle(f64::NAN),
            ReplaySpeed::Speed(0.0),
            ReplaySpeed::Speed(-1.0),
        ] {
            assert!(check(replay_speed).is_err(), "{replay_speed:?}");
        }
    }
}
