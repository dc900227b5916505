//! The logs of a process: `write_bw_log`, `write_iops_log`, `write_lat_log`, `write_hist_log` and
//! `write_iolog`, in fio's formats.
//!
//! Lines are written as the run goes on, into files that appear when they are complete. Processes
//! that share a name (`per_job_logs=0`) write into one file, in the order of time.

use super::plan::{Direction, Logs, Plan, RequestKind};
use super::stats::{Buckets, Samples, Stage, Stats, Times, Window};
use super::unit::Unit;
use fowler_experiment::atomic_file::{AtomicFile, remove_abandoned};
use fowler_experiment::diagnostic::{Diagnostic, Diagnostics};
use fowler_units::{Nanos, Span};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Largest number of log files: each is open during the whole run.
pub(super) const MOST: usize = 512;

/// A log file that several processes may write.
type Shared = Arc<Mutex<AtomicFile>>;

/// Log files of all processes of a run.
#[derive(Debug, Default)]
pub(super) struct LogFiles(BTreeMap<PathBuf, Shared>);

impl LogFiles {
    fn open(&mut self, folder: &Path, name: &str) -> Result<Shared, Diagnostics> {
        let path = folder.join(name);
        if let Some(file) = self.0.get(&path) {
            return Ok(file.clone());
        }
        if self.0.is_empty() {
            remove_abandoned(folder)?;
        }
        let file = Arc::new(Mutex::new(AtomicFile::create(&path)?));
        self.0.insert(path, file.clone());
        Ok(file)
    }

    /// Completes all log files of the run once every process is gone. Returns their paths.
    ///
    /// # Errors
    /// Every file that could not be written.
    pub fn finish(self) -> Result<Vec<PathBuf>, Diagnostics> {
        let (mut paths, mut diagnostics) = (Vec::new(), Diagnostics::default());
        for (path, file) in self.0 {
            let file = Arc::into_inner(file).expect("the processes are gone");
            let file = file.into_inner().unwrap_or_else(PoisonError::into_inner);
            diagnostics.take(file.finish());
            paths.push(path);
        }
        diagnostics.or(paths)
    }
}

/// Returns the names of the files that a process writes, with their kinds.
pub(super) fn names(plan: &Plan) -> Vec<(Kind, String)> {
    let Logs { bandwidth, iops, latency, histogram, per_job, iolog, .. } = &plan.logs;
    let number = if *per_job { format!(".{}", plan.number) } else { String::new() };
    let name = |start: &str, what: &str| format!("{start}_{what}{number}.log");
    let mut all = Vec::new();
    all.extend(bandwidth.iter().map(|prefix| (Kind::Bandwidth, name(prefix, "bw"))));
    all.extend(iops.iter().map(|prefix| (Kind::Iops, name(prefix, "iops"))));
    for prefix in latency.iter() {
        all.extend(Stage::ALL.map(|stage| (Kind::Latency(stage), name(prefix, stage.name()))));
    }
    all.extend(histogram.iter().map(|(prefix, _)| (Kind::Histogram, name(prefix, "clat_hist"))));
    all.extend(iolog.iter().map(|file| (Kind::Requests, file.clone())));
    all
}

/// Contents of a log file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Bandwidth,
    Iops,
    Latency(Stage),
    Histogram,
    Requests,
}

/// Mean and maximum of the values in a window of a log.
#[derive(Clone, Copy, Debug, Default)]
struct Mean {
    sum: u128,
    count: u64,
    max: u64,
}

/// Log of latencies of one kind: a line for each request, or one for each window.
struct LatencyLog {
    file: Shared,
    stage: Stage,
    until: Nanos,
    windows: [Mean; 3],
}

/// Log of completion latencies as histograms, a line for each window.
struct HistogramLog {
    file: Shared,
    width: Span,
    until: Nanos,
    windows: [(Buckets, u32); 3],
}

/// Logs that a process writes.
#[derive(Default)]
pub(super) struct Logbook {
    how: Logs,
    from: Nanos,
    /// Time at which the process began: the origin of its iolog's times.
    began: Nanos,
    rates: Vec<(Kind, Shared, Option<Samples>)>,
    latencies: Vec<LatencyLog>,
    histogram: Option<HistogramLog>,
    requests: Option<Shared>,
    /// Names of the files that the process accesses.
    files: Vec<String>,
    line: String,
}

impl Logbook {
    /// Opens the logs of a process in `folder`.
    ///
    /// # Errors
    /// If a file cannot be written, or there are more than [`MOST`].
    pub fn open(plan: &Plan, folder: &Path, files: &mut LogFiles) -> Result<Logbook, Diagnostics> {
        let (how, files_of_job) = (plan.logs.clone(), plan.files.clone());
        let mut book = Logbook { how, files: files_of_job, ..Logbook::default() };
        let mut diagnostics = Diagnostics::default();
        for (kind, name) in names(plan) {
            let Some(file) = diagnostics.take(files.open(folder, &name)) else { continue };
            match kind {
                Kind::Bandwidth | Kind::Iops => book.rates.push((kind, file, None)),
                Kind::Latency(stage) => {
                    let windows = Default::default();
                    book.latencies.push(LatencyLog { file, stage, until: Nanos::ZERO, windows });
                }
                Kind::Histogram => {
                    let width = plan.logs.histogram.as_ref().map_or(Span::ms(1), |it| it.1);
                    let windows = Default::default();
                    let until = Nanos::ZERO;
                    book.histogram = Some(HistogramLog { file, width, until, windows });
                }
                Kind::Requests => book.requests = Some(file),
            }
        }
        if files.0.len() > MOST {
            let what = format!("the jobs write too many log files: {}", files.0.len());
            let hint = "per_job_logs=0 lets clones share a file".to_string();
            let expected = format!("at most {MOST} log files");
            diagnostics.push(Diagnostic::of(what).expected(expected).hint(hint));
        }
        diagnostics.or(book)
    }

    /// Starts the logs of a process that begins at `at` and is measured from `from` on.
    pub fn begin(&mut self, plan: &Plan, at: Nanos, from: Nanos) {
        self.began = at;
        self.count_from(from);
        if let Some(file) = &self.requests {
            put(file, "fio version 3 iolog\n");
            for action in ["add", "open"] {
                plan.files.iter().for_each(|name| put(file, &format!("0 {name} {action}\n")));
            }
        }
    }

    /// Sets time zero of the process's logs: the times in log lines and the sampling windows begin
    /// at `from`.
    pub fn count_from(&mut self, from: Nanos) {
        self.from = from;
        let window = self.how.window;
        for (_, _, samples) in &mut self.rates {
            *samples = window.map(|width| Samples::new(width, from));
        }
        for log in &mut self.latencies {
            log.until = from + window.unwrap_or(Span::ZERO);
            log.windows = Default::default();
        }
        if let Some(log) = &mut self.histogram {
            log.until = from + log.width;
            log.windows = Default::default();
        }
    }

    /// Writes a request (of data, or a flush) into the process's log of requests.
    #[inline]
    pub fn request(&mut self, unit: &Unit) {
        let Some(file) = &self.requests else { return };
        let us = (unit.start.0 - self.began.0) / 1_000;
        let action = match unit.op.what {
            RequestKind::Data(direction) => direction.name(),
            RequestKind::Sync => "sync",
            RequestKind::DataSync => "datasync",
        };
        self.line.clear();
        let name = self.files.get(unit.op.file).map_or("", String::as_str);
        let (offset, length) = (unit.op.offset, unit.op.length);
        writeln!(self.line, "{us} {name} {action} {offset} {length}").expect("text grows");
        put(file, &self.line);
    }

    /// Writes the latencies of a collected request into the process's logs.
    #[inline]
    pub fn latencies(&mut self, direction: Direction, unit: &Unit, times: &Times) {
        let (now, from) = (times.collected, self.from);
        for log in &mut self.latencies {
            let Some(latency) = times.latency(log.stage) else { continue };
            let Some(width) = self.how.window else {
                line(&mut self.line, (ms(now, from), latency.0), direction, unit, &self.how);
                put(&log.file, &self.line);
                continue;
            };
            log.pass(now, (from, width), &self.how);
            let window = &mut log.windows[direction as usize];
            window.sum += u128::from(latency.0);
            window.count += 1;
            window.max = window.max.max(latency.0);
        }
        if let Some(log) = &mut self.histogram {
            log.pass(now, from, self.how.coarseness);
            let (buckets, block) = &mut log.windows[direction as usize];
            buckets.record(times.latency(Stage::Completion).unwrap_or_default().0);
            *block = unit.op.length;
        }
        for (kind, file, samples) in &self.rates {
            if samples.is_some() {
                continue;
            }
            let value = match kind {
                Kind::Bandwidth => {
                    let ns = times.latency(Stage::Total).unwrap_or_default().0.max(1);
                    u64::from(unit.op.length) * 1_000_000_000 / ns / 1024
                }
                _ => 1,
            };
            line(&mut self.line, (ms(now, from), value), direction, unit, &self.how);
            put(file, &self.line);
        }
    }

    /// Writes the bandwidth and IOPS of the windows that have ended by `now` into the logs of one
    /// process.
    #[inline]
    pub fn rates(&mut self, now: Nanos, stats: &Stats) {
        let from = self.from;
        for (kind, file, samples) in &mut self.rates {
            if let Some(samples) = samples {
                samples.until(now, stats, &mut |window| {
                    put(file, &of_window(*kind, &window, from, &self.how));
                });
            }
        }
    }

    /// Writes the samples that are left and closes the log files of the process.
    pub fn end(&mut self, now: Nanos, plan: &Plan, stats: &Stats) {
        let from = self.from;
        self.rates(now, stats);
        for (kind, file, samples) in &mut self.rates {
            let Some(samples) = samples else { continue };
            samples.end(now, stats, &mut |window| {
                put(file, &of_window(*kind, &window, from, &self.how));
            });
        }
        for log in &mut self.latencies {
            if let Some(width) = self.how.window {
                log.pass(now, (from, width), &self.how);
                log.flush(ms(now, from), &self.how);
            }
        }
        if let Some(log) = &mut self.histogram {
            log.pass(now, from, self.how.coarseness);
            log.flush(ms(now, from), self.how.coarseness);
        }
        if let Some(file) = &self.requests {
            // A process that ends before its start delay is over has an empty log.
            let us = now.0.saturating_sub(self.began.0) / 1_000;
            plan.files.iter().for_each(|name| put(file, &format!("{us} {name} close\n")));
        }
        *self = Logbook::default();
    }
}

/// Ends the averaging windows of a fio log (`log_avg_msec`). `until` is the end of the current
/// window: if `now` has reached it, returns it, and moves `until` to the end of the window that
/// contains `now`.
fn passed(until: &mut Nanos, width: Span, now: Nanos) -> Option<Nanos> {
    (now >= *until).then(|| {
        let ended = *until;
        *until = ended + width * ((now - ended).0 / width.0.max(1) + 1);
        ended
    })
}

impl LatencyLog {
    /// Writes the windows of the latency log that have ended by `now`.
    fn pass(&mut self, now: Nanos, (from, width): (Nanos, Span), how: &Logs) {
        if let Some(ended) = passed(&mut self.until, width, now) {
            self.flush(ms(ended, from), how);
        }
    }

    fn flush(&mut self, at: u64, how: &Logs) {
        for direction in Direction::ALL {
            let Mean { sum, count, max } = std::mem::take(&mut self.windows[direction as usize]);
            if count > 0 {
                let value = if how.maximum { max } else { (sum / u128::from(count)) as u64 };
                put(&self.file, &averaged(at, value, direction, how));
            }
        }
    }
}

impl HistogramLog {
    fn pass(&mut self, now: Nanos, from: Nanos, coarseness: u32) {
        if let Some(ended) = passed(&mut self.until, self.width, now) {
            self.flush(ms(ended, from), coarseness);
        }
    }

    fn flush(&mut self, at: u64, coarseness: u32) {
        for direction in Direction::ALL {
            let (buckets, block) = std::mem::take(&mut self.windows[direction as usize]);
            if buckets.counts().is_empty() {
                continue;
            }
            let mut text = format!("{at}, {}, {block}", direction as u8);
            for pair in buckets.counts().chunks(1 << coarseness.min(6)) {
                write!(text, ", {}", pair.iter().sum::<u64>()).expect("text grows");
            }
            text.push('\n');
            put(&self.file, &text);
        }
    }
}

fn ms(at: Nanos, from: Nanos) -> u64 {
    at.0.saturating_sub(from.0) / 1_000_000
}

/// Formats the log line of a request: time, value, direction, block size, optional offset, and
/// priority, which is always 0.
fn line(into: &mut String, (at, value): (u64, u64), direction: Direction, unit: &Unit, how: &Logs) {
    into.clear();
    let (kind, size) = (direction as u8, unit.op.length);
    let grows = match how.offset {
        true => writeln!(into, "{at}, {value}, {kind}, {size}, {}, 0", unit.op.offset),
        false => writeln!(into, "{at}, {value}, {kind}, {size}, 0"),
    };
    grows.expect("text grows");
}

/// Formats the log line of a window, which has no block size and no offset.
fn averaged(at: u64, value: u64, direction: Direction, how: &Logs) -> String {
    let offset = if how.offset { " 0," } else { "" };
    format!("{at}, {value}, {}, 0,{offset} 0\n", direction as u8)
}

fn of_window(kind: Kind, window: &Window, from: Nanos, how: &Logs) -> String {
    let value = match kind {
        Kind::Bandwidth => window.bytes_per_s / 1024,
        _ => window.iops,
    };
    averaged(ms(window.until, from), value, window.direction, how)
}

/// Writes text to a log. A failure is remembered and reported when the file is completed.
fn put(file: &Shared, text: &str) {
    let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
    let _remembered = file.write_all(text.as_bytes());
}
