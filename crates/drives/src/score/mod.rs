//! The distance of a simulated drive from a measured one: every row is simulated as it was
//! measured, and each of its numbers is given with its measured and its simulated value, and
//! whether the drive was fitted to it.
//!
//! **Owns** the comparison. **May touch** drives that it makes itself, and with `--out` the folder
//! that it is given.
//!
//! - this file: a row, simulated and compared. `overview.rs`: median and worst distance over all
//!   rows.
//! - `prediction.rs`: the interval of a predicted number.
//! - `summary.rs`: the table, the JSON. `pictures.rs`: the figures.

mod overview;
#[cfg(feature = "pages")]
mod pictures;
mod prediction;
mod summary;
#[cfg(test)]
mod tests;

use crate::fitting::{CalibrateTable, measured};
use crate::measurements::{self as files, Filter, Kind, Pick, Row};
use crate::protocol::{self, Bench, Effort, Estimate, Rows};
use fowler_experiment::device_spec::{self, DeviceSpec, Resolved};
use fowler_experiment::diagnostic::{Diagnostic, Diagnostics};
use fowler_experiment::numbers::counted;
use fowler_experiment::progress::{Control, Progress};
use fowler_experiment::scheme::Scheme;
use serde_json::{Map, Value};
use std::path::PathBuf;

pub use overview::Overview;

/// The specification of a comparison: a drive, and the measured rows.
#[derive(Clone, Debug)]
pub struct ScoreSpec {
    /// Drive that is compared with the measurements.
    pub drive: DeviceSpec,
    /// Name of the scheme on the drive; `None` leaves the drive as described.
    pub scheme: Option<String>,
    /// Paths of the files of measurements.
    pub files: Vec<PathBuf>,
    /// Filters for the rows to compare; a row is compared if at least one filter wants it, and all
    /// rows are if there is none.
    pub filters: Vec<Filter>,
    /// Amount of simulation spent on each measured row.
    pub effort: Effort,
    /// Number of drives with other parameters that are simulated for the intervals of predictions:
    /// drawn from the covariance of the fit. With zero, predictions have no interval.
    pub draws: usize,
}

/// Result of comparing a drive with measured rows.
#[derive(Clone, Debug)]
pub struct Score {
    /// Name of the drive, and the hash of its configuration.
    pub drive: (String, String),
    /// Name of the scheme on the drive.
    pub scheme: String,
    /// Model that the drive was fitted to, if no file has rows of that model; `None` otherwise.
    pub of_another: Option<String>,
    /// The rows that were simulated, with measured and simulated numbers.
    pub rows: Vec<ScoredRow>,
    /// Rows that could not be simulated, each with the reason.
    pub refused: Vec<(String, String)>,
    /// True if every row was simulated; false if the comparison was stopped.
    pub complete: bool,
}

/// A measured row with its simulated numbers.
#[derive(Clone, Debug)]
pub struct ScoredRow {
    /// Place of the measured row: file, drive and number, for messages.
    pub place: String,
    /// Kind of protocol by which the row was measured.
    pub kind: Kind,
    /// Name of the file that has the measured row.
    pub file: String,
    /// Model of the measured drive.
    pub model: String,
    /// Sample of the measured drive, if the file has several of the model.
    pub sample: Option<String>,
    /// Keys and values of the measured row.
    pub values: Map<String, Value>,
    /// Initial state of the simulated drive, in words.
    pub state: String,
    /// Capacity of the simulated drive in bytes.
    pub capacity: u64,
    /// Factors by which the simulated drive has fewer blocks, and fewer pages per block, than the
    /// described one.
    pub scale: (f64, f64),
    /// Number of requests simulated for the row.
    pub requests: u64,
    /// Simulated time of the row's run, in seconds.
    pub simulated_s: f64,
    /// Drive writes, throughput (10^6 bytes per second) and write amplification over the run; empty
    /// if the row has no such curve.
    pub curve: Vec<[f64; 3]>,
    /// Numbers of the row that are compared with the measurement.
    pub metrics: Vec<Metric>,
    /// Numbers of the row that are not compared, each with the reason.
    pub left_out: Vec<(String, String)>,
}

/// A number of a measured row, with its measured and its simulated value.
#[derive(Clone, Debug, PartialEq)]
pub struct Metric {
    /// Key of the compared number in the measured row.
    pub name: String,
    /// Measured value of the compared number.
    pub measured: f64,
    /// Simulated value of the compared number, with its confidence interval.
    pub simulated: Estimate,
    /// 90 % interval of the prediction: what the simulation as a sample and the uncertainty of the
    /// fitted parameters leave open. `None` without drawn drives.
    pub predicted: Option<(f64, f64)>,
    /// True if the drive was fitted to this number.
    pub used_in_fit: bool,
}

impl Metric {
    /// Returns the simulated divided by the measured value; `None` if the measured value is zero.
    pub fn ratio(&self) -> Option<f64> {
        (self.measured != 0.0).then(|| self.simulated.value / self.measured)
    }
}

/// Seed of the parameters of drawn drives.
const SEED: u64 = 1;
/// Number of points of a throughput curve, the same as in files of measurements.
const CURVE: u32 = 12;

/// Compares a drive with measured rows. If it is stopped, the result has the rows whose jobs had
/// ended.
///
/// # Errors
/// Everything that is wrong with the drive, the files or the filters; if no row can be simulated,
/// the reasons.
pub fn score(spec: &ScoreSpec, control: Control<'_>) -> Result<Score, Diagnostics> {
    let mut wrong = Diagnostics::default();
    let source = wrong.take(spec.drive.source());
    let drive = source.as_ref().and_then(|source| {
        let scheme = wrong.take(spec.scheme.as_deref().map(Scheme::load).transpose())?;
        wrong.take(device_spec::resolve(source, &scheme.unwrap_or_else(Scheme::none), &spec.drive))
    });
    let declared = source.as_ref().and_then(|source| wrong.take(CalibrateTable::read(source)));
    let read: Vec<_> = spec.files.iter().filter_map(|path| wrong.take(files::read(path))).collect();
    wrong.or(())?;
    let (Some(drive), Some(declared)) = (drive, declared) else {
        return Err(Diagnostic::of("there is no drive").into());
    };
    let drawn = match spec.draws {
        0 => Vec::new(),
        draws => declared.drawn(&drive, draws, SEED)?,
    };
    let rows = Rows::of(files::pick(&read, &declared.filters(&spec.filters, &read))?);
    let images = protocol::images();
    let bench = Bench::new(&drive, spec.effort, &images);
    (control.progress)(Progress::Planned((rows.count().1 * (1 + drawn.len())) as u64));
    let results = rows.run(&bench, control);
    let place = |(pick, why): &(Pick<'_>, String)| (pick.place(), why.clone());
    let mut refused: Vec<(String, String)> = rows.refused.iter().map(place).collect();
    let (mut scored, mut measured_rows) = (Vec::new(), Vec::new());
    let mut ended = 0;
    for done in rows.done(&results) {
        ended += 1;
        match (done.simulated, done.findings) {
            (Ok(simulated), Some(findings)) => {
                let mut row = of_row(&done.pick, findings, &declared, &simulated);
                row.left_out = left_out(&done.pick, done.left_out, &row.metrics);
                scored.push(row);
                measured_rows.push(std::ptr::from_ref(done.pick.row));
            }
            (Err(why), _) => refused.push((done.pick.place(), why)),
            (Ok(_), None) => {}
        }
    }
    if scored.is_empty() && !control.stopped() {
        return Err(nothing(&refused).into());
    }
    let simulated = |drive: &Resolved| -> Numbers {
        let results = rows.run(&Bench::new(drive, spec.effort, &images), control);
        let done = rows.done(&results);
        done.filter_map(|it| Some((std::ptr::from_ref(it.pick.row), it.simulated.ok()?))).collect()
    };
    let others: Vec<Numbers> = drawn.iter().map(simulated).collect();
    // Of drives that were drawn, all count or none.
    let has_intervals = !drawn.is_empty() && !control.stopped();
    if has_intervals {
        for (row, measured) in scored.iter_mut().zip(&measured_rows) {
            predict(row, *measured, &others);
        }
    }
    Ok(Score {
        drive: (drive.device, drive.hash),
        scheme: drive.scheme,
        of_another: declared.model.clone().filter(|_| declared.is_of_others(&read)),
        rows: scored,
        refused,
        complete: ended == rows.count().0 && (drawn.is_empty() || has_intervals),
    })
}

/// Returns an error for rows none of which could be simulated, with the most frequent reasons.
fn nothing(refused: &[(String, String)]) -> Diagnostic {
    const SHOWN: usize = 3;
    let mut reasons: Vec<(usize, &str, &str)> = Vec::new();
    for (place, why) in refused {
        match reasons.iter_mut().find(|(_, _, other)| other == why) {
            Some((rows, ..)) => *rows += 1,
            None => reasons.push((1, place, why)),
        }
    }
    reasons.sort_by_key(|(rows, ..)| std::cmp::Reverse(*rows));
    let more = reasons.len().saturating_sub(SHOWN);
    let line = |(rows, place, why): &(usize, &str, &str)| match rows {
        1 => format!("{place}: {why}"),
        _ => format!("{}, such as {place}: {why}", counted(*rows as u64, "row")),
    };
    let mut lines: Vec<String> = reasons.iter().take(SHOWN).map(line).collect();
    if more > 0 {
        lines.push(counted(more as u64, "more reason"));
    }
    let rows = counted(refused.len() as u64, "measured row");
    Diagnostic::of(format!("nothing is simulated of {rows}")).hint(lines.join("; "))
}

/// Simulated numbers of a drive: for each measured row, by its place in memory.
type Numbers = Vec<(*const Row, Vec<protocol::Simulated>)>;

/// Adds to each number of a scored row the 90 % interval of its prediction. `measured` is the row
/// that was measured, and `drawn` has the numbers of each drawn drive.
fn predict(row: &mut ScoredRow, measured: *const Row, drawn: &[Numbers]) {
    for metric in &mut row.metrics {
        let value = |rows: &Numbers| {
            let (_, simulated) = rows.iter().find(|(row, _)| *row == measured)?;
            Some(simulated.iter().find(|it| it.metric == metric.name)?.estimate.value)
        };
        let values: Vec<Option<f64>> = drawn.iter().map(value).collect();
        metric.predicted = prediction::interval(metric.simulated, &values);
    }
}

fn of_row(
    pick: &Pick<'_>,
    findings: &protocol::Findings,
    declared: &CalibrateTable,
    simulated: &[protocol::Simulated],
) -> ScoredRow {
    let metric = |it: &protocol::Simulated| {
        let measured = measured(pick, &it.metric)?;
        let name = format!("{}: {}", pick.identity(), it.metric);
        Some(Metric {
            name: it.metric.clone(),
            measured,
            simulated: it.estimate,
            predicted: None,
            used_in_fit: declared.fitted.contains(&name),
        })
    };
    ScoredRow {
        place: pick.place(),
        kind: pick.file.kind,
        file: pick.file.stem(),
        model: pick.drive.model.clone(),
        sample: pick.drive.sample.clone(),
        values: pick.row.values.clone(),
        state: findings.state.clone(),
        capacity: findings.capacity,
        scale: findings.scale,
        requests: findings.requests,
        simulated_s: findings.simulated_s,
        curve: match pick.row.values.contains_key("curve") {
            true => findings.curve(CURVE),
            false => Vec::new(),
        },
        metrics: simulated.iter().filter_map(metric).collect(),
        left_out: Vec::new(),
    }
}

/// Returns the numbers of a row that are not compared, with the reason: numbers that the protocol
/// leaves out, and percentiles that rest on too few requests.
fn left_out(
    pick: &Pick<'_>,
    known: &[(&'static str, &'static str)],
    metrics: &[Metric],
) -> Vec<(String, String)> {
    let mut left: Vec<(String, String)> = Vec::new();
    for (key, _) in pick.row.numbers() {
        if metrics.iter().any(|metric| metric.name == key) {
            continue;
        }
        let reason = known.iter().find(|(begins, _)| key.starts_with(begins));
        let is_percentile = key.rsplit(['.', '_']).any(|part| {
            part.strip_prefix('p')
                .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
        });
        let (key, why) = match reason {
            Some((begins, why)) => ((*begins).to_string(), *why),
            None if is_percentile => (key.to_string(), "too few requests were beyond it"),
            None => continue,
        };
        if !left.iter().any(|(other, _)| *other == key) {
            left.push((key, why.into()));
        }
    }
    left
}
