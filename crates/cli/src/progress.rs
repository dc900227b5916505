//! Progress on standard error while work takes its time: a bar on a terminal, a line a minute
//! elsewhere.

use crate::console;
use fowler_experiment::progress::Progress;
#[cfg(feature = "papers")]
use fowler_papers::Step;
use indicatif::{HumanCount, HumanDuration, ProgressBar, ProgressState, ProgressStyle};
use std::fmt;
use std::io::IsTerminal;
use std::ops::Deref;
#[cfg(any(feature = "papers", feature = "parquet"))]
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Time between two drawings of a progress bar, even where nothing is reported.
const TICK: Duration = Duration::from_millis(200);
/// Number of units by which a progress bar advances for one whole part of the work, such as a run.
const PART: f64 = 1e6;

/// Template of a progress bar for work whose amount is not known yet.
const UNKNOWN: &str = "{spinner} {msg}";
/// Template of a progress bar: the share of the work that is done, its description, and the time
/// left.
const DONE: &str = "[{bar:16}] {percent:>3} %  {msg}, {left}";

/// Template of a progress bar for work that takes long: the share that is done, the description,
/// the time since the work began, and the time left.
#[cfg(any(feature = "papers", feature = "parquet"))]
const RUNS: &str = "[{bar:16}] {percent:>3} %  {msg}, {elapsed}, {left}";
/// Template of a progress bar for work whose parts are not counted: the share that is done, the
/// time since the work began, the time left, and the description.
const SHARES: &str = "[{bar:24}] {percent:>3} %  {elapsed}, {prefix}  {msg}";

/// Time between two progress lines where there is no terminal: the log of a job that takes hours
/// shows that it continues, and one of seconds stays empty.
const LINE: Duration = Duration::from_secs(60);

/// A progress bar and, where no terminal shows it, the time at which the next line is due.
struct Bar {
    bar: ProgressBar,
    next_line: Option<Mutex<Duration>>,
}

impl Deref for Bar {
    type Target = ProgressBar;

    fn deref(&self) -> &ProgressBar {
        &self.bar
    }
}

impl Bar {
    fn new(quiet: bool, length: u64, template: &str) -> Bar {
        if quiet {
            return Bar { bar: ProgressBar::hidden(), next_line: None };
        }
        let bar = ProgressBar::new(length);
        draw_as(&bar, template);
        // The ticker is a thread of its own, which a bar that nobody sees does not need.
        if !bar.is_hidden() {
            bar.enable_steady_tick(TICK);
        }
        let lines = !std::io::stderr().is_terminal();
        Bar { bar, next_line: lines.then(|| Mutex::new(LINE)) }
    }

    /// Returns the time left, in words, at the recent rate of the work.
    fn left(&self) -> String {
        let share = self.position() as f32 / self.length().unwrap_or(0).max(1) as f32;
        words((self.per_sec() > 0.0).then(|| self.eta()), share)
    }

    /// Prints a progress line if one is due and no terminal shows the bar.
    fn tell(&self, left: impl FnOnce() -> String) {
        let Some(next) = &self.next_line else { return };
        if let Some(text) = self.line(&mut locked(next), self.elapsed(), left) {
            console::note(&text);
        }
    }

    /// Returns the progress line of a moment, if one is due, and the time at which the next one is.
    fn line(
        &self,
        next: &mut Duration,
        now: Duration,
        left: impl FnOnce() -> String,
    ) -> Option<String> {
        if now < *next {
            return None;
        }
        *next = now + LINE;
        let (done, length) = (self.position(), self.length().unwrap_or(0));
        if done == 0 || length == 0 {
            return Some(self.message());
        }
        let percent = 100 * u128::from(done) / u128::from(length);
        let behind = if self.message().is_empty() { "" } else { ", " };
        Some(format!("{percent} %, {}{behind}{}", left(), self.message()))
    }
}

fn draw_as(bar: &ProgressBar, template: &str) {
    if let Ok(style) = ProgressStyle::with_template(template) {
        let left = |state: &ProgressState, into: &mut dyn fmt::Write| {
            let known = state.per_sec() > 0.0;
            let _grows = into.write_str(&words(known.then(|| state.eta()), state.fraction()));
        };
        bar.set_style(style.progress_chars("=> ").with_key("left", left));
    }
}

/// Longest estimate of the time left that a bar states, 100 days. The estimate grows without bound
/// while no progress is reported.
const LONGEST_LEFT: Duration = Duration::from_secs(100 * 24 * 3600);

/// Returns the time left in words: unknown before anything is done, and above [`LONGEST_LEFT`]. The
/// work after the last share takes time as well, so no bar says that no time is left.
fn words(left: Option<Duration>, share: f32) -> String {
    match left {
        _ if share >= 1.0 => "finishing".into(),
        Some(left) if left <= LONGEST_LEFT => {
            format!("{:#} left", HumanDuration(left.max(Duration::from_secs(1))))
        }
        _ => "time left unknown".into(),
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Describes a step of the work before the first request; `None` for the serving of requests.
fn before_requests(step: Progress) -> Option<String> {
    let percent = |share: f64| (100.0 * share) as u32;
    match step {
        Progress::Reading(share) => Some(format!("reading the trace: {} %", percent(share))),
        Progress::Preconditioning(share) => {
            Some(format!("preconditioning the drive: {} %", percent(share)))
        }
        Progress::Searching { run, share } => {
            Some(format!("finding the replay speed: test run {run}, {} %", percent(share)))
        }
        Progress::Planned(_) | Progress::Served { .. } => None,
    }
}

/// The progress bar of runs: first how far a trace is read, a drive preconditioned or a speed
/// found, then the share of the runs that is done, requests so far and per second, and the time
/// left.
pub(crate) struct Requests {
    bar: Bar,
    so_far: Mutex<SoFar>,
}

#[derive(Default)]
struct SoFar {
    /// Number of runs that are done, with the shares of those in progress.
    parts: f64,
    requests: u64,
    /// Time from the creation of the progress bar to the first served request; `None` before it.
    began: Option<Duration>,
}

impl Requests {
    /// Creates a progress bar without runs; runs report their number later.
    pub fn new(quiet: bool) -> Requests {
        // A bar of length zero would be full.
        Requests { bar: Bar::new(quiet, 1, UNKNOWN), so_far: Mutex::default() }
    }

    /// Updates the progress bar by a step of the work.
    pub fn follow(&self, step: Progress) {
        let mut so_far = locked(&self.so_far);
        match step {
            Progress::Planned(parts) => self.bar.inc_length((parts as f64 * PART) as u64),
            Progress::Reading(_) | Progress::Preconditioning(_) | Progress::Searching { .. } => {
                if let (None, Some(message)) = (so_far.began, before_requests(step)) {
                    self.bar.set_message(message);
                }
            }
            Progress::Served { requests, of_a_part } => {
                let now = self.bar.elapsed();
                let began = *so_far.began.get_or_insert_with(|| {
                    // Earlier work says nothing about the time that requests take.
                    draw_as(&self.bar, DONE);
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
        self.bar.tell(|| self.bar.left());
    }

    /// Removes the progress bar.
    pub fn clear(&self) {
        self.bar.finish_and_clear();
    }
}

/// The progress bar of many runs: how many are finished, the share of all planned work that is
/// done, runs in progress included, and the time left.
#[cfg(any(feature = "papers", feature = "parquet"))]
pub(crate) struct Runs {
    bar: Bar,
    so_far: Mutex<RunsSoFar>,
}

#[cfg(any(feature = "papers", feature = "parquet"))]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct RunsSoFar {
    planned: u64,
    finished: u64,
    failed: u64,
    /// Number of runs that are done, with the shares of those in progress.
    done: f64,
}

#[cfg(any(feature = "papers", feature = "parquet"))]
impl fmt::Display for RunsSoFar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} runs", self.finished, self.planned)?;
        if self.failed > 0 { write!(f, ", {} failed", self.failed) } else { Ok(()) }
    }
}

#[cfg(any(feature = "papers", feature = "parquet"))]
impl Runs {
    /// Creates a progress bar without runs.
    pub fn new(quiet: bool) -> Runs {
        // A bar of length zero would be full.
        let bar = Bar::new(quiet, 1, UNKNOWN);
        bar.set_message("planning the runs");
        Runs { bar, so_far: Mutex::default() }
    }

    /// Adds runs that are to be done to the progress bar.
    pub fn plan(&self, more: usize) {
        let mut so_far = locked(&self.so_far);
        if so_far.planned == 0 {
            draw_as(&self.bar, RUNS);
        }
        so_far.planned += more as u64;
        self.draw(*so_far);
    }

    /// Advances the progress bar by a share of one run in progress.
    pub fn advance(&self, share: f64) {
        let mut so_far = locked(&self.so_far);
        so_far.done += share;
        self.draw(*so_far);
    }

    /// Counts a finished run in the progress bar.
    pub fn finish(&self, failed: bool) {
        let mut so_far = locked(&self.so_far);
        so_far.finished += 1;
        so_far.failed += u64::from(failed);
        self.draw(*so_far);
    }

    /// Updates the progress bar by a step of a single run.
    pub fn follow(&self, step: Progress) {
        match step {
            Progress::Served { of_a_part, .. } => self.advance(of_a_part),
            step => {
                if let (0, Some(message)) = (locked(&self.so_far).planned, before_requests(step)) {
                    self.bar.set_message(message);
                    self.bar.tell(|| self.bar.left());
                }
            }
        }
    }

    /// Updates the progress bar by a step of a study.
    #[cfg(feature = "papers")]
    pub fn follow_study(&self, step: Step) {
        match step {
            Step::Planned(more) => self.plan(more),
            Step::Advanced(share) => self.advance(share),
            Step::Finished(rest) => {
                self.advance(rest);
                self.finish(false);
            }
            Step::Found => {
                self.advance(1.0);
                self.finish(false);
                // A saved run says nothing about the time that others take.
                self.bar.reset_eta();
            }
        }
    }

    fn draw(&self, so_far: RunsSoFar) {
        self.bar.set_length((so_far.planned as f64 * PART) as u64);
        self.bar.set_position((so_far.done * PART) as u64);
        self.bar.set_message(so_far.to_string());
        self.bar.tell(|| self.bar.left());
    }

    /// Removes the progress bar.
    pub fn clear(&self) {
        self.bar.finish_and_clear();
    }
}

/// The progress bar of work of which shares are reported, from 0 to 1.
pub(crate) struct Shares {
    bar: Bar,
    /// Time from the creation of the progress bar to the first report of progress, and the share of
    /// the work (0 to 1) that was done by then.
    began: Mutex<Option<(Duration, f64)>>,
    /// Text, such as an early result, that is shown to the right of the progress bar as soon as the
    /// bar appears.
    behind: Mutex<String>,
}

/// Returns the time left at the average rate since `began` (a time and a share); `None` before any
/// progress. The average is steadier than the recent rate, which other programs disturb.
fn time_left(began: (Duration, f64), now: Duration, share: f64) -> Option<Duration> {
    let done = share - began.1;
    let elapsed = now.saturating_sub(began.0).as_secs_f64();
    let left = elapsed * (1.0 - share).max(0.0) / done;
    (done > 0.0).then(|| Duration::try_from_secs_f64(left).unwrap_or(Duration::MAX))
}

impl Shares {
    /// Creates a progress bar at zero; `message` names the first work.
    pub fn new(quiet: bool, message: &'static str) -> Shares {
        let bar = Bar::new(quiet, PART as u64, UNKNOWN);
        bar.set_message(message);
        Shares { bar, began: Mutex::default(), behind: Mutex::default() }
    }

    /// Shows a step of the work (such as reading a trace) that precedes the first report of a
    /// share.
    pub fn follow(&self, step: Progress) {
        if let (None, Some(message)) = (*locked(&self.began), before_requests(step)) {
            self.bar.set_message(message);
            self.bar.tell(String::new);
        }
    }

    /// Sets the share of the work that is done, from 0 to 1.
    pub fn set(&self, share: f64) {
        let now = self.bar.elapsed();
        let began = *locked(&self.began).get_or_insert_with(|| {
            // Earlier work says nothing about the time that the whole takes.
            draw_as(&self.bar, SHARES);
            self.bar.set_message(locked(&self.behind).clone());
            (now, share)
        });
        self.bar.set_position((share * PART) as u64);
        let left = words(time_left(began, now, share), share as f32);
        self.bar.set_prefix(left.clone());
        self.bar.tell(|| left);
    }

    /// Starts a new progress bar; `message` names the work.
    pub fn restart(&self, message: &str) {
        *locked(&self.began) = None;
        *locked(&self.behind) = message.to_string();
        draw_as(&self.bar, UNKNOWN);
        self.bar.set_message(message.to_string());
    }

    /// Shows a text, such as an early result, behind the progress bar.
    pub fn say(&self, text: String) {
        if locked(&self.began).is_some() {
            self.bar.set_message(text);
        }
    }

    /// Writes a line above the progress bar.
    pub fn note(&self, text: &str) {
        self.bar.suspend(|| console::note(text));
    }

    /// Removes the progress bar.
    pub fn clear(&self) {
        self.bar.finish_and_clear();
    }
}

/// Returns the message that is shown when the user has stopped a series of runs: where the same
/// command resumes them from.
#[cfg(any(feature = "papers", feature = "parquet"))]
pub(crate) fn resumes_from(folder: &Path) -> String {
    let folder = folder.display();
    format!("stopped: finished runs are saved in {folder}, and the same command resumes from there")
}

#[cfg(test)]
mod time_left_tests {
    use super::*;
    use indicatif::ProgressDrawTarget;

    #[test]
    fn a_log_has_a_line_a_minute() {
        let hidden = ProgressBar::with_draw_target(Some(200), ProgressDrawTarget::hidden());
        let bar = Bar { bar: hidden, next_line: None };
        let (s, mut next) = (Duration::from_secs, LINE);
        bar.set_message("reading the trace");
        let left = || "2m left".to_string();
        assert_eq!(bar.line(&mut next, s(59), left), None);
        assert_eq!(bar.line(&mut next, s(61), left).unwrap(), "reading the trace");
        bar.set_position(50);
        bar.set_message("7 requests");
        assert_eq!(bar.line(&mut next, s(120), left), None);
        assert_eq!(bar.line(&mut next, s(121), left).unwrap(), "25 %, 2m left, 7 requests");
        bar.set_message("");
        assert_eq!(bar.line(&mut next, s(300), left).unwrap(), "25 %, 2m left");
    }

    #[test]
    fn no_bar_says_that_no_time_is_left() {
        let words = |left, share| words(Some(Duration::from_millis(left)), share);
        assert_eq!(words(90_000, 0.5), "2m left");
        assert_eq!(words(200, 0.99), "1s left");
        assert_eq!(words(0, 1.0), "finishing");
        assert_eq!(super::words(None, 0.0), "time left unknown");
        assert_eq!(words(u64::MAX, 0.5), "time left unknown");
    }

    #[test]
    fn the_time_left_is_that_of_the_average_since_the_beginning() {
        let s = Duration::from_secs;
        assert_eq!(time_left((s(10), 0.0), s(20), 0.1), Some(s(90)));
        // A life that was resumed in the middle.
        assert_eq!(time_left((s(10), 0.5), s(20), 0.75), Some(s(10)));
        assert_eq!(time_left((s(10), 0.5), s(10), 0.5), None);
        assert_eq!(time_left((s(0), 0.0), s(60), 1.0), Some(s(0)));
        assert!(time_left((s(0), 0.0), s(u64::MAX), 1e-300).is_some());
    }
}

#[cfg(all(test, feature = "papers"))]
mod tests {
    use super::*;

    #[test]
    fn a_bar_of_runs_moves_with_those_in_progress() {
        let runs = Runs::new(true);
        runs.follow_study(Step::Planned(3));
        runs.follow_study(Step::Found);
        runs.follow_study(Step::Advanced(0.25));
        runs.follow(Progress::Served { requests: 9, of_a_part: 0.25 });
        let so_far = *locked(&runs.so_far);
        assert_eq!(so_far, RunsSoFar { planned: 3, finished: 1, failed: 0, done: 1.5 });
        assert_eq!(so_far.to_string(), "1 of 3 runs");
        runs.follow_study(Step::Finished(0.5));
        runs.advance(1.0);
        runs.finish(true);
        let so_far = *locked(&runs.so_far);
        assert_eq!(so_far.to_string(), "3 of 3 runs, 1 failed");
        assert_eq!((runs.bar.position(), runs.bar.length()), (3_000_000, Some(3_000_000)));
    }

    #[test]
    fn what_comes_before_the_first_request_is_named() {
        let said = |step| before_requests(step).unwrap();
        assert_eq!(said(Progress::Reading(0.25)), "reading the trace: 25 %");
        assert_eq!(said(Progress::Preconditioning(1.0)), "preconditioning the drive: 100 %");
        let searching = Progress::Searching { run: 3, share: 0.5 };
        assert_eq!(said(searching), "finding the replay speed: test run 3, 50 %");
        assert_eq!(before_requests(Progress::Planned(1)), None);
    }
}
