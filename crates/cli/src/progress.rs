//! A line on standard error while a run takes its time.

#[cfg(feature = "papers")]
use fowler_papers::Step;
use indicatif::{ProgressBar, ProgressStyle};
use std::path::Path;
#[cfg(feature = "parquet")]
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// A counter of requests; hidden unless standard error is a terminal.
pub(crate) fn bar(quiet: bool) -> ProgressBar {
    if quiet {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new_spinner();
    if let Ok(style) =
        ProgressStyle::with_template("{spinner} {human_pos} requests, {per_sec}, {elapsed}")
    {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

/// A bar of runs, of which there are more as they are planned; hidden unless standard error is a
/// terminal.
#[cfg(feature = "papers")]
pub(crate) fn runs(quiet: bool) -> ProgressBar {
    if quiet {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(0);
    if let Ok(style) =
        ProgressStyle::with_template("{bar:40} {pos} of {len} runs, {elapsed}, {eta} to go")
    {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

/// A bar of a sweep's points; hidden unless standard error is a terminal.
#[cfg(feature = "parquet")]
pub(crate) fn points(quiet: bool, count: usize) -> ProgressBar {
    if quiet {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(count as u64);
    let template = "{bar:40} {pos} of {len} runs{msg}, {elapsed}, {eta} to go";
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

/// Lets a bar of points hear of each, and of whether it failed.
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

/// A bar of shares of a whole, in thousandths; hidden unless standard error is a terminal.
pub(crate) fn shares(quiet: bool) -> ProgressBar {
    if quiet {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(1000);
    if let Ok(style) = ProgressStyle::with_template("{bar:40} {percent} %, {elapsed}, {eta} to go")
    {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
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
    format!(
        "stopped: what is finished is saved in {folder}, and the same command resumes from there"
    )
}
