//! Progress on standard error while work takes its time: hidden unless that is a terminal.

use fowler_experiment::progress::Progress;
#[cfg(feature = "papers")]
use fowler_papers::Step;
use indicatif::{HumanCount, ProgressBar, ProgressStyle};
#[cfg(any(feature = "papers", feature = "parquet"))]
use std::path::Path;
use std::sync::OnceLock;
#[cfg(feature = "parquet")]
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::{AtomicU64, Ordering};
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

/// The bar of runs: how far they are, requests so far and per second, and the time left.
pub(crate) struct Requests {
    bar: ProgressBar,
    /// Millionths of a part that have been done.
    done: AtomicU64,
    served: AtomicU64,
    /// When the first request was served, by the clock of the bar.
    began: OnceLock<Duration>,
}

impl Requests {
    /// A bar of nothing yet: runs say how many there are.
    pub fn new(quiet: bool) -> Requests {
        let template = "[{bar:24}] {percent:>3} %  {msg}  {elapsed} gone, {eta} left";
        Requests {
            // A bar of length zero would be full.
            bar: bar(quiet, 1, template),
            done: AtomicU64::new(0),
            served: AtomicU64::new(0),
            began: OnceLock::new(),
        }
    }

    /// Follows a step of the work.
    pub fn follow(&self, step: Progress) {
        match step {
            Progress::Planned(parts) => self.bar.inc_length((parts as f64 * PART) as u64),
            Progress::Preconditioning(share) => {
                if self.served.load(Ordering::Relaxed) == 0 {
                    let percent = (100.0 * share) as u32;
                    self.bar.set_message(format!("preconditioning the drive: {percent} %"));
                }
            }
            Progress::Served { requests, of_a_part } => {
                let began = self.began.get_or_init(|| {
                    // Preconditioning says nothing about how long requests take.
                    self.bar.reset_eta();
                    self.bar.elapsed()
                });
                let more = (of_a_part * PART) as u64;
                let done = self.done.fetch_add(more, Ordering::Relaxed) + more;
                let served = self.served.fetch_add(requests, Ordering::Relaxed) + requests;
                self.bar.set_position(done);
                let rate = served as f64 / (self.bar.elapsed() - *began).as_secs_f64().max(1e-3);
                let (served, rate) = (HumanCount(served), HumanCount(rate as u64));
                self.bar.set_message(format!("{served} requests, {rate} per second"));
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
const RUNS: &str =
    "[{bar:24}] {percent:>3} %  {pos} of {len} runs{msg}  {elapsed} gone, {eta} left";

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
    bar(quiet, 1000, "[{bar:24}] {percent:>3} %  {elapsed} gone, {eta} left")
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
