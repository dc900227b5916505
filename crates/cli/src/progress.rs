//! Progress on standard error while work takes its time: hidden unless that is a terminal.

use fowler_experiment::progress::Progress;
#[cfg(feature = "papers")]
use fowler_papers::Step;
use indicatif::{HumanCount, ProgressBar, ProgressStyle};
#[cfg(any(feature = "papers", feature = "parquet"))]
use std::path::Path;
#[cfg(feature = "parquet")]
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// How often a bar is drawn, even where nothing is reported.
const TICK: Duration = Duration::from_millis(200);
/// Units of a bar to one part of the work.
const PART: f64 = 1e6;

fn bar(quiet: bool, length: u64, template: &str) -> ProgressBar {
    if quiet {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(length);
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style.progress_chars("=> "));
    }
    bar.enable_steady_tick(TICK);
    bar
}

/// The bar of runs: first how far a drive is preconditioned, then how far the runs are, requests so
/// far and per second, and the time left.
pub(crate) struct Requests {
    bar: ProgressBar,
    so_far: Mutex<SoFar>,
}

#[derive(Default)]
struct SoFar {
    /// Parts that are done, whole ones and shares.
    parts: f64,
    requests: u64,
    /// When the first request was served, by the clock of the bar.
    began: Option<Duration>,
}

impl Requests {
    /// A bar of nothing yet: runs say how many there are.
    pub fn new(quiet: bool) -> Requests {
        // A bar of length zero would be full.
        Requests { bar: bar(quiet, 1, "{spinner} {msg}"), so_far: Mutex::default() }
    }

    /// Follows a step of the work.
    pub fn follow(&self, step: Progress) {
        let mut so_far = self.so_far.lock().unwrap_or_else(PoisonError::into_inner);
        match step {
            Progress::Planned(parts) => self.bar.inc_length((parts as f64 * PART) as u64),
            Progress::Preconditioning(share) => {
                if so_far.began.is_none() {
                    let percent = (100.0 * share) as u32;
                    self.bar.set_message(format!("preconditioning the drive: {percent} %"));
                }
            }
            Progress::Served { requests, of_a_part } => {
                let now = self.bar.elapsed();
                let began = *so_far.began.get_or_insert_with(|| {
                    // Preconditioning says nothing about how long requests take.
                    let served = "[{bar:16}] {percent:>3} %  {msg}, {eta} left";
                    if let Ok(style) = ProgressStyle::with_template(served) {
                        self.bar.set_style(style.progress_chars("=> "));
                    }
                    self.bar.reset_eta();
                    now
                });
                so_far.parts += of_a_part;
                so_far.requests += requests;
                self.bar.set_position((so_far.parts * PART) as u64);
                let seconds = now.saturating_sub(began).as_secs_f64().max(1e-3);
                let rate = HumanCount((so_far.requests as f64 / seconds) as u64);
                let requests = HumanCount(so_far.requests);
                self.bar.set_message(format!("{requests} requests, {rate}/s"));
            }
        }
    }

    /// Takes the bar away.
    pub fn clear(&self) {
        self.bar.finish_and_clear();
    }
}

/// How much of whole runs is done.
#[cfg(any(feature = "papers", feature = "parquet"))]
const RUNS: &str = "[{bar:16}] {percent:>3} %  {pos} of {len} runs{msg}, {elapsed}, {eta} left";

/// A bar of runs, of which there are more as they are planned.
#[cfg(feature = "papers")]
pub(crate) fn runs(quiet: bool) -> ProgressBar {
    bar(quiet, 0, RUNS)
}

/// A bar of a sweep's points.
#[cfg(feature = "parquet")]
pub(crate) fn points(quiet: bool, count: usize) -> ProgressBar {
    bar(quiet, count as u64, RUNS)
}

/// Lets a bar of points count each, and those that failed.
#[cfg(feature = "parquet")]
pub(crate) fn count(bar: &ProgressBar) -> impl Fn(bool) + Sync + '_ {
    let failed = AtomicUsize::new(0);
    move |its| {
        if its {
            let failed = failed.fetch_add(1, Ordering::Relaxed) + 1;
            bar.set_message(format!(", {failed} failed"));
        }
        bar.inc(1);
    }
}

/// A bar of shares of a whole, in thousandths.
pub(crate) fn shares(quiet: bool) -> ProgressBar {
    bar(quiet, 1000, "[{bar:24}] {percent:>3} %  {elapsed}, {eta} left")
}

/// Lets a bar follow a study.
#[cfg(feature = "papers")]
pub(crate) fn follow(bar: &ProgressBar) -> impl Fn(Step) + Sync + '_ {
    |step| match step {
        Step::Planned(more) => bar.inc_length(more as u64),
        Step::Finished => bar.inc(1),
    }
}

/// What to say when work of many runs was stopped.
#[cfg(any(feature = "papers", feature = "parquet"))]
pub(crate) fn resumes_from(folder: &Path) -> String {
    let folder = folder.display();
    format!("stopped: finished runs are saved in {folder}, and the same command resumes from there")
}
