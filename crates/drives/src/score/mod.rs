//! The distance of a simulated drive from a measured one: every row simulated as it was measured,
//! and for each of its numbers the measured and the simulated value, and whether the drive was
//! fitted to it.
//!
//! **Owns** the comparison. **May touch** drives that it makes itself, and with `--out` the folder
//! that it is given.
//!
//! - this file: a row, simulated and compared. `overview.rs`: how far off a drive is over all rows.
//! - `summary.rs`: the table, the JSON. `pictures.rs`: the figures.

mod overview;
#[cfg(feature = "pages")]
mod pictures;
mod summary;
#[cfg(test)]
mod tests;

use crate::fitting::{CalibrateTable, measured};
use crate::measurements::{self as files, Filter, Kind, Pick};
use crate::protocol::{self, Bench, Effort, Estimate, Rows};
use fowler_experiment::device_spec::{self, DeviceSpec};
use fowler_experiment::diagnostic::{Diagnostic, Diagnostics};
use fowler_experiment::progress::{Control, Progress};
use fowler_experiment::scheme::Scheme;
use serde_json::{Map, Value};
use std::path::PathBuf;

pub use overview::Overview;

/// The specification of a comparison.
#[derive(Clone, Debug)]
pub struct ScoreSpec {
    /// The drive.
    pub drive: DeviceSpec,
    /// The scheme on the drive; `None` leaves the drive as described.
    pub scheme: Option<String>,
    /// The measured files.
    pub files: Vec<PathBuf>,
    /// The rows, each wanted by at least one filter; all without one.
    pub filters: Vec<Filter>,
    /// Amount of simulation for each row.
    pub effort: Effort,
}

/// The comparison.
#[derive(Clone, Debug)]
pub struct Score {
    /// The drive, and the hash of its description.
    pub drive: (String, String),
    /// Name of the scheme on the drive.
    pub scheme: String,
    /// The model that the drive was fitted to, if none of the files has that model.
    pub of_another: Option<String>,
    /// The rows that were simulated.
    pub rows: Vec<ScoredRow>,
    /// The rows that were not, and why.
    pub refused: Vec<(String, String)>,
    /// True if every row has its result, because nobody stopped the comparison.
    pub complete: bool,
}

/// A row.
#[derive(Clone, Debug)]
pub struct ScoredRow {
    /// Place of the row: file, drive and number.
    pub place: String,
    /// The protocol.
    pub kind: Kind,
    /// The file of the row, and the model and sample of its drive.
    pub file: String,
    /// See [`ScoredRow::file`].
    pub model: String,
    /// See [`ScoredRow::file`].
    pub sample: Option<String>,
    /// The row as measured.
    pub values: Map<String, Value>,
    /// The state of the simulated drive before, in words.
    pub state: String,
    /// Capacity of the simulated drive in bytes, and the factors by which it had fewer and shorter
    /// blocks.
    pub capacity: u64,
    /// See [`ScoredRow::capacity`].
    pub scale: (f64, f64),
    /// Requests simulated, and the time that they took the drive.
    pub requests: u64,
    /// See [`ScoredRow::requests`].
    pub simulated_s: f64,
    /// Throughput and write amplification over the run, where the row has such a curve.
    pub curve: Vec<[f64; 3]>,
    /// The numbers.
    pub metrics: Vec<Metric>,
    /// Numbers of the row that are not compared, and why.
    pub left_out: Vec<(String, String)>,
}

/// A number of a row.
#[derive(Clone, Debug, PartialEq)]
pub struct Metric {
    /// Key of the number.
    pub name: String,
    /// Value as measured.
    pub measured: f64,
    /// Value as simulated.
    pub simulated: Estimate,
    /// True if the drive was fitted to the number.
    pub used_in_fit: bool,
}

impl Metric {
    /// Returns simulated over measured; `None` if zero was measured.
    pub fn ratio(&self) -> Option<f64> {
        (self.measured != 0.0).then(|| self.simulated.value / self.measured)
    }
}

/// The points of a curve, as measured files have them.
const CURVE: u32 = 12;

/// Compares a drive with measured rows. Rows whose jobs had ended when it was stopped are kept.
///
/// # Errors
/// Everything that is wrong with the drive, the files or the filters.
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
    let rows = Rows::of(files::pick(&read, &declared.filters(&spec.filters, &read))?);
    let images = protocol::images();
    let bench = Bench::new(&drive, spec.effort, &images);
    (control.progress)(Progress::Planned(rows.count().1 as u64));
    let results = rows.run(&bench, control);
    let place = |(pick, why): &(Pick<'_>, String)| (pick.place(), why.clone());
    let mut refused: Vec<(String, String)> = rows.refused.iter().map(place).collect();
    let mut scored = Vec::new();
    let mut ended = 0;
    for done in rows.done(&results) {
        ended += 1;
        match (done.simulated, done.findings) {
            (Ok(simulated), Some(findings)) => {
                let mut row = of_row(&done.pick, findings, &declared, &simulated);
                row.left_out = left_out(&done.pick, done.left_out, &row.metrics);
                scored.push(row);
            }
            (Err(why), _) => refused.push((done.pick.place(), why)),
            (Ok(_), None) => {}
        }
    }
    Ok(Score {
        drive: (drive.device, drive.hash),
        scheme: drive.scheme,
        of_another: declared.model.clone().filter(|_| declared.is_of_others(&read)),
        rows: scored,
        refused,
        complete: ended == rows.count().0,
    })
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

/// Returns the numbers of the row that are not compared: those that the protocol leaves out, and
/// percentiles that rest on too few requests.
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
