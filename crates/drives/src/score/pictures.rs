//! The figures of a comparison, and the page that shows them.

use super::{Metric, Score, ScoredRow};
use crate::measurements::Kind;
use fowler_experiment::diagnostic::Diagnostics;
use fowler_figures::{Axis, Figure, Panel, Series};
use fowler_report::figures_folder;
use std::path::Path;

/// Largest number of address patterns in one figure; more could not be read.
const PATTERNS_MOST: usize = 40;

impl Score {
    /// Writes the tables and figures of the comparison of simulated with measured rows, and a page
    /// with both, to a folder. Returns the names of the files, and of the figures that could not be
    /// drawn.
    ///
    /// # Errors
    /// If the folder cannot be written.
    pub fn write(&self, folder: &Path) -> Result<(Vec<String>, Vec<String>), Diagnostics> {
        let mut lead = vec![
            "Diamonds are measured, lines and bars are simulated; whiskers are 95 % intervals of the \
             simulation."
                .to_string(),
        ];
        lead.extend(self.refused.iter().map(|(row, why)| format!("Not simulated: {row}: {why}")));
        let title = format!("{} against measured drives", self.drive.0);
        let shown = (&self.sheets()[..], &self.figures()[..]);
        figures_folder::publish(folder, &title, lead, shown, None)
    }

    fn figures(&self) -> Vec<Figure> {
        /// A figure of the comparison between simulation and measurements: the kinds of measurement
        /// that it shows, its name, and the function that draws it.
        type Picture = (&'static [Kind], &'static str, fn(String, &str, &[&ScoredRow]) -> Figure);
        const PICTURES: [Picture; 5] = [
            (&[Kind::LatencyUnderLoad], "latency", under_load),
            (&[Kind::OverProvisioning], "in-use", against_use),
            (&[Kind::WritePatterns, Kind::InitialState], "patterns", by_pattern),
            (&[Kind::ReadsByDepth, Kind::DepthGrid], "depth", by_depth),
            (&[Kind::Interference], "interference", beside_writes),
        ];
        let mut figures = Vec::new();
        for (model, sample, rows) in self.by_drive() {
            let name = format!("{model}{}", sample.map_or(String::new(), |it| format!(" {it}")));
            for (kinds, what, draw) in PICTURES {
                let of = |kind: &'static Kind| rows.iter().copied().filter(|row| row.kind == *kind);
                let rows: Vec<&ScoredRow> = kinds.iter().flat_map(of).collect();
                if !rows.is_empty() {
                    figures.push(draw(format!("{what}-{}", file_name(&name)), &name, &rows));
                }
            }
        }
        figures
    }

    /// Returns the rows grouped by measured drive (model and sample), in order.
    fn by_drive(&self) -> Vec<(&str, Option<&str>, Vec<&ScoredRow>)> {
        let mut drives: Vec<(&str, Option<&str>, Vec<&ScoredRow>)> = Vec::new();
        for row in &self.rows {
            let (model, sample) = (row.model.as_str(), row.sample.as_deref());
            match drives.iter_mut().find(|it| it.0 == model && it.1 == sample) {
                Some((.., rows)) => rows.push(row),
                None => drives.push((model, sample, vec![row])),
            }
        }
        drives
    }
}

fn file_name(name: &str) -> String {
    let letter = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    name.chars().map(letter).collect()
}

fn find<'a>(row: &'a ScoredRow, name: &str) -> Option<&'a Metric> {
    row.metrics.iter().find(|metric| metric.name == name)
}

fn value(row: &ScoredRow, key: &str) -> Option<f64> {
    row.values.get(key)?.as_f64()
}

/// Returns the points of two curves, measured and simulated, of one number (`metric`) of the
/// measured rows over another (`x`).
fn series(
    rows: &[&ScoredRow],
    name: &str,
    x: impl Fn(&ScoredRow) -> Option<f64>,
    metric: &str,
) -> Series {
    let mut points: Vec<(f64, &Metric)> =
        rows.iter().filter_map(|row| Some((x(row)?, find(row, metric)?))).collect();
    points.retain(|(x, metric)| *x > 0.0 && metric.simulated.value > 0.0);
    points.sort_by(|one, other| one.0.total_cmp(&other.0));
    let simulated = Series::line(name, points.iter().map(|(x, it)| (*x, it.simulated.value)));
    let measured = points.iter().filter(|(_, it)| it.measured > 0.0);
    let spread =
        points.iter().map(|(_, it)| it.simulated.interval.filter(|(low, _)| *low > 0.0)).collect();
    Series { spread, ..simulated.published_at(measured.map(|(x, it)| (*x, it.measured))) }
}

fn lines(title: &str, x: Axis, y: Axis, mut series: Vec<Series>) -> Panel {
    series.retain(|series| !series.y.is_empty());
    Panel::lines(title, x, y, series)
}

fn figure(id: String, title: String, panels: Vec<Panel>) -> Figure {
    Figure::new(id, title, panels).caption("Lines and bars: simulated. Diamonds: measured.")
}

fn under_load(id: String, name: &str, rows: &[&ScoredRow]) -> Figure {
    let panel = |of: &str| {
        let percentiles = ["p50", "p90", "p99", "p99.9"].map(|percentile| {
            let load = |row: &ScoredRow| value(row, "offered_write_iops");
            series(rows, percentile, load, &format!("{of}_us.{percentile}"))
        });
        lines(
            &format!("{of}s"),
            Axis::log10("offered writes per second"),
            Axis::log10("latency (us)"),
            percentiles.into(),
        )
    };
    figure(
        id,
        format!("{name}: latency of a probe under load"),
        vec![panel("read"), panel("write")],
    )
}

fn against_use(id: String, name: &str, rows: &[&ScoredRow]) -> Figure {
    let used = |row: &ScoredRow| value(row, "used_gib");
    let panel = |title: &str, y: &str, metric: &str| {
        lines(
            title,
            Axis::linear("in use (GiB)"),
            Axis::linear(y),
            vec![series(rows, title, used, metric)],
        )
    };
    let panels = vec![
        panel("write amplification", "bytes programmed per byte", "counted_waf"),
        panel("throughput", "MB/s", "steady_mb_s"),
    ];
    figure(id, format!("{name}: uniform writes to a part of the drive"), panels)
}

fn by_pattern(id: String, name: &str, rows: &[&ScoredRow]) -> Figure {
    let rows = &rows[..rows.len().min(PATTERNS_MOST)];
    let label = |row: &&ScoredRow| {
        let text = |key: &str| match row.values.get(key) {
            Some(serde_json::Value::String(text)) => text.clone(),
            Some(serde_json::Value::Number(number)) => number.to_string(),
            _ => String::new(),
        };
        let share = row.values.get("zones").and_then(|zones| zones.get(0)?.get("size")?.as_f64());
        let share = share.map_or(String::new(), |share| format!("{share}"));
        let parts = [text("pattern"), text("init"), text("theta"), share, text("active_zones")];
        let mut parts: Vec<String> = parts.into();
        parts.push(text("zone_gib"));
        parts.retain(|part| !part.is_empty());
        parts.join(" ")
    };
    let columns = |title: &str, y: &str, metric: &str| {
        let of = |pick: fn(&Metric) -> f64| rows.iter().map(move |row| find(row, metric).map(pick));
        let series = Series::values("simulated", of(|it| it.simulated.value));
        let series = series.published(of(|it| it.measured));
        Panel::columns(title, y, rows.iter().map(label), [series])
    };
    let mut panels = vec![columns("steady throughput", "MB/s", "steady_mb_s")];
    if rows.iter().any(|row| find(row, "ratio_to_uniform").is_some()) {
        let title = "relative to uniform";
        panels.push(columns(title, title, "ratio_to_uniform").reference(1.0, "uniform"));
    }
    figure(id, format!("{name}: writes by pattern"), panels).columns(1)
}

fn by_depth(id: String, name: &str, rows: &[&ScoredRow]) -> Figure {
    let depth = |row: &ScoredRow| Some(value(row, "jobs")? * value(row, "qd_per_job")?);
    let ops: Vec<(&str, Vec<&ScoredRow>)> = ["randread", "randwrite"]
        .into_iter()
        .map(|op| {
            let of = |row: &&&ScoredRow| {
                row.values.get("op").and_then(|it| it.as_str()).unwrap_or("randread") == op
            };
            (op, rows.iter().filter(of).copied().collect())
        })
        .collect();
    let panel = |title: &str, y: &str, metrics: &[(&str, &str)]| {
        let all = ops.iter().flat_map(|(op, rows)| {
            metrics.iter().map(move |(label, metric)| {
                series(rows, format!("{op} {label}").trim(), depth, metric)
            })
        });
        lines(title, Axis::log2("requests in flight"), Axis::log10(y), all.collect())
    };
    let panels = vec![
        panel("throughput", "requests per second", &[("", "iops")]),
        panel("latency", "us", &[("p50", "p50_us"), ("p99.9", "p99.9_us")]),
    ];
    figure(id, format!("{name}: by queue depth"), panels)
}

fn beside_writes(id: String, name: &str, rows: &[&ScoredRow]) -> Figure {
    let mut limits: Vec<f64> =
        rows.iter().filter_map(|row| value(row, "write_limit_mb_s")).collect();
    limits.sort_by(f64::total_cmp);
    limits.dedup();
    let depth = |row: &ScoredRow| value(row, "read_qd");
    let panel = |title: &str, y: &str, metric: &str| {
        let all = limits.iter().map(|&limit| {
            let of = |row: &&&ScoredRow| value(row, "write_limit_mb_s") == Some(limit);
            let rows: Vec<&ScoredRow> = rows.iter().filter(of).copied().collect();
            series(&rows, &format!("beside {limit} MiB/s"), depth, metric)
        });
        lines(title, Axis::log2("reads in flight"), Axis::log10(y), all.collect())
    };
    let panels = vec![
        panel("median", "us", "read.p50_us"),
        panel("p99.9", "us", "read.p99.9_us"),
        panel("throughput", "reads per second", "read.iops"),
    ];
    figure(id, format!("{name}: reads beside sequential writes"), panels)
}
