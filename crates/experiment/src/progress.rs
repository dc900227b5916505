//! Progress of long work, from which a progress bar is drawn, and a way to stop the work.

use fowler_units::Nanos;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// Lets the caller watch a run and end it early.
#[derive(Clone, Copy)]
pub struct Control<'a> {
    /// Set by the caller to end the run; requests in flight are still completed.
    pub stop: &'a AtomicBool,
    /// Called every few thousand requests, with the progress since the last call.
    pub progress: &'a (dyn Fn(Progress) + Sync),
}

/// A stop flag that is never set.
static NEVER: AtomicBool = AtomicBool::new(false);

impl Control<'static> {
    /// A control for work that reports its progress to nobody and is never stopped.
    pub const UNWATCHED: Control<'static> = Control { stop: &NEVER, progress: &|_| () };
}

impl Control<'_> {
    /// Returns true if the run should end.
    pub fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Reports that `requests` more requests were served, without any advance within a run: for
    /// work whose progress bar counts whole finished runs.
    pub fn served(&self, requests: u64) {
        (self.progress)(Progress::Served { requests, of_a_part: 0.0 });
    }
}

/// A report of progress in the work of a command, such as its runs, to a progress bar. Reports come
/// from any thread; they add up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Progress {
    /// Number of parts added to the work: runs, or expectations of a paper to check.
    Planned(u64),
    /// Progress of the passes over a trace before its first request, 0 to 1.
    Reading(f64),
    /// Progress of preconditioning a drive, 0 to 1.
    Preconditioning(f64),
    /// Progress of the search for a replay speed, which makes test runs.
    Searching {
        /// Number of the test run, from 1, that the search for a replay speed makes now. Their
        /// total is not known in advance.
        run: usize,
        /// Share done, from 0 to 1, of the test run that the search for a replay speed makes now.
        share: f64,
    },
    /// Progress of one run: requests served since the run's last report of progress.
    Served {
        /// Number of requests that the run has served since it last reported its progress.
        requests: u64,
        /// Share by which one part of the work advanced, 0 to 1.
        of_a_part: f64,
    },
}

/// Typical number of test runs in a search for a replay speed; used only for progress.
const SEARCH_RUNS: f64 = 4.0;

/// Progress of one part of the work, such as a run, from 0 to 1. A part may consist of several
/// runs, and may fail.
#[derive(Debug, Default)]
pub struct Part(Mutex<Done>);

#[derive(Clone, Copy, Debug, Default)]
struct Done {
    /// Share of the search for a replay speed that is done, from 0 to 1.
    searched: f64,
    /// Share of the runs after the search for a replay speed that is done, from 0; above 1 counts
    /// as 1.
    served: f64,
}

impl Done {
    fn share(self) -> f64 {
        self.searched + (1.0 - self.searched) * self.served.min(1.0)
    }
}

impl Part {
    /// Adds a reported step of progress. Returns the share (0 to 1) by which it advances this part
    /// of the work, such as a run; all shares of a part add up to at most 1.
    pub fn advanced(&self, step: Progress) -> f64 {
        let mut done = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let before = done.share();
        match step {
            Progress::Searching { run, share } => {
                let runs = (run.saturating_sub(1) as f64 + share).min(SEARCH_RUNS);
                // The run at the speed that is found comes after the search.
                done.searched = done.searched.max(runs / (SEARCH_RUNS + 1.0));
            }
            Progress::Served { of_a_part, .. } => done.served += of_a_part,
            Progress::Planned(_) | Progress::Reading(_) | Progress::Preconditioning(_) => {}
        }
        done.share() - before
    }

    /// Returns the share of this part of the work, such as a run, that is still to do, from 0 to 1.
    pub fn rest(&self) -> f64 {
        1.0 - self.0.lock().unwrap_or_else(PoisonError::into_inner).share()
    }
}

/// The length of a source of requests, as far as it is known in advance.
#[derive(Clone, Debug)]
pub(crate) enum Length {
    /// The length of the source of requests is not known.
    Unknown,
    /// The number of requests that the workload holds is known.
    Requests(u64),
    /// The latest possible arrival time of the last request is known.
    Until(Nanos),
    /// The workload is a trace file; the share of the file that has been read so far is known.
    File(fowler_workload::ReadSoFar),
}

impl Length {
    /// Returns the share of the workload's requests that have been issued, from 0 to 1: `given`
    /// requests so far, the last of which arrived at `at`.
    pub fn share(&self, given: u64, at: Nanos) -> f64 {
        match self {
            Length::Unknown => 0.0,
            Length::Requests(all) => given as f64 / (*all).max(1) as f64,
            Length::Until(end) => at.0 as f64 / end.0.max(1) as f64,
            Length::File(file) => file.share(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_done_once_however_many_runs_it_takes() {
        let served = |of_a_part| Progress::Served { requests: 9, of_a_part };
        let part = Part::default();
        assert_eq!(part.advanced(Progress::Preconditioning(0.5)), 0.0);
        assert_eq!(part.advanced(served(0.25)), 0.25);
        assert_eq!(part.advanced(served(0.75)) + part.rest(), 0.75);
        assert_eq!(part.advanced(served(1.0)), 0.0);
        // A search, of however many runs, and the run after it.
        let part = Part::default();
        let mut done = 0.0;
        for run in 1..=7 {
            for share in [0.5, 1.0] {
                let more = part.advanced(Progress::Searching { run, share });
                assert_eq!(more > 0.0, run <= 4, "{run}");
                done += more;
            }
        }
        assert!((done - 0.8_f64).abs() < 1e-9);
        done += part.advanced(served(0.5));
        assert!((done - 0.9).abs() < 1e-9 && (part.rest() - 0.1).abs() < 1e-9);
    }

    #[test]
    fn a_share_is_of_what_is_known() {
        assert_eq!(Length::Requests(200).share(50, Nanos(7)), 0.25);
        assert_eq!(Length::Until(Nanos(1_000)).share(50, Nanos(500)), 0.5);
        assert_eq!(Length::Unknown.share(50, Nanos(500)), 0.0);
        assert_eq!(Length::Requests(0).share(0, Nanos(0)), 0.0);
    }
}
