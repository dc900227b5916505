//! The figures of a comparison, and the page that shows them.

use super::{Metric, Score, ScoredRow};
use crate::measured::Kind;
use fowler_experiment::diagnostic::Diagnostics;
use fowler_figures::{Axis, BarSeries, Bars, Figure, LineSeries, Lines, Panel, Reference};
use fowler_report::figures_folder::{self, Named, Written};
use fowler_report::pages;
use std::path::Path;

/// The most patterns in a picture: more could not be read.
const PATTERNS_MOST: usize = 40;

impl Score {
    /// Writes the tables, the figures and a page with both to a folder. Returns the files, and the
    /// figures that could not be drawn.
    ///
    /// # Errors
    /// If the folder cannot be written.
    pub fn write(&self, folder: &Path) -> Result<(Vec<String>, Vec<String>), Diagnostics> {
        let sheets = self.sheets();
        let Written { mut files, warnings, drawings } =
            figures_folder::write(&sheets, &self.figures(), folder)?;
        let mut lead = vec![
            "Diamonds are measured, lines and bars are simulated; whiskers are 95 % intervals of the \
             simulation."
                .to_string(),
        ];
        lead.extend(self.refused.iter().map(|(row, why)| format!("Not simulated: {row}: {why}")));
        lead.extend(warnings.iter().map(|warning| format!("Note: {warning}")));
        let title = format!("{} against measured drives", self.drive.0);
        let page = pages::of_study(&title, lead, &sheets, drawings);
        pages::write(&folder.join(pages::REPORT), &page)?;
        files.push(pages::REPORT.into());
        Ok((files, warnings))
    }

    fn figures(&self) -> Vec<Named> {
        let mut figures = Vec::new();
        for (model, sample, rows) in self.by_drive() {
            let name = format!("{model}{}", sample.map_or(String::new(), |it| format!(" {it}")));
            let stem = |what: &str| format!("{what}-{}", file_name(&name));
            let of = |kind: Kind| -> Vec<&ScoredRow> {
                rows.iter().copied().filter(|row| row.kind == kind).collect()
            };
            let latency = of(Kind::LatencyUnderLoad);
            if !latency.is_empty() {
                figures.push((stem("latency"), under_load(&name, &latency)));
            }
            let in_use = of(Kind::OverProvisioning);
            if !in_use.is_empty() {
                figures.push((stem("in-use"), against_use(&name, &in_use)));
            }
            let mut patterns = of(Kind::WritePatterns);
            patterns.extend(of(Kind::InitialState));
            if !patterns.is_empty() {
                figures.push((stem("patterns"), by_pattern(&name, &patterns)));
            }
            let depth: Vec<&ScoredRow> = [of(Kind::ReadsByDepth), of(Kind::DepthGrid)].concat();
            if !depth.is_empty() {
                figures.push((stem("depth"), by_depth(&name, &depth)));
            }
            let beside = of(Kind::Interference);
            if !beside.is_empty() {
                figures.push((stem("interference"), beside_writes(&name, &beside)));
            }
        }
        figures
    }

    /// Returns the rows of each sample of each model, in order.
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

/// Returns a series of a number over a key of the rows.
fn series(
    rows: &[&ScoredRow],
    name: &str,
    x: impl Fn(&ScoredRow) -> Option<f64>,
    metric: &str,
) -> LineSeries {
    let mut points: Vec<(f64, &Metric)> =
        rows.iter().filter_map(|row| Some((x(row)?, find(row, metric)?))).collect();
    points.retain(|(x, metric)| *x > 0.0 && metric.simulated.value > 0.0);
    points.sort_by(|one, other| one.0.total_cmp(&other.0));
    LineSeries {
        name: name.into(),
        points: points.iter().map(|(x, it)| (*x, it.simulated.value)).collect(),
        published: points
            .iter()
            .filter(|(_, it)| it.measured > 0.0)
            .map(|(x, it)| (*x, it.measured))
            .collect(),
        spread: points
            .iter()
            .map(|(_, it)| it.simulated.interval.filter(|(low, _)| *low > 0.0))
            .collect(),
        ..LineSeries::default()
    }
}

fn lines(title: &str, x: Axis, y: Axis, mut series: Vec<LineSeries>) -> Panel {
    series.retain(|series| !series.points.is_empty());
    Panel::lines(title, Lines { x, y, series, ..Lines::default() })
}

fn figure(title: String, panels: Vec<Panel>) -> Figure {
    let caption = "Lines and bars: simulated. Diamonds: measured.".to_string();
    Figure { caption: Some(caption), panels, ..Figure::new(title) }
}

fn under_load(name: &str, rows: &[&ScoredRow]) -> Figure {
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
    figure(format!("{name}: latency of a probe under load"), vec![panel("read"), panel("write")])
}

fn against_use(name: &str, rows: &[&ScoredRow]) -> Figure {
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
    figure(format!("{name}: uniform writes to a part of the drive"), panels)
}

fn by_pattern(name: &str, rows: &[&ScoredRow]) -> Figure {
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
    let bars = |y: &str, metric: &str| {
        let of = |pick: fn(&Metric) -> f64| -> Vec<Option<f64>> {
            rows.iter().map(|row| find(row, metric).map(pick)).collect()
        };
        Bars {
            y: y.into(),
            groups: rows.iter().map(label).collect(),
            series: vec![BarSeries {
                name: "simulated".into(),
                values: of(|it| it.simulated.value),
                published: of(|it| it.measured),
                ..BarSeries::default()
            }],
            reference: None,
        }
    };
    let mut panels = vec![Panel::bars("steady throughput", bars("MB/s", "steady_mb_s"))];
    if rows.iter().any(|row| find(row, "ratio_to_uniform").is_some()) {
        let mut ratio = bars("relative to uniform", "ratio_to_uniform");
        ratio.reference = Some(Reference { at: 1.0, name: "uniform".into() });
        panels.push(Panel::bars("relative to uniform", ratio));
    }
    Figure { columns: Some(1), ..figure(format!("{name}: writes by pattern"), panels) }
}

fn by_depth(name: &str, rows: &[&ScoredRow]) -> Figure {
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
    figure(format!("{name}: by queue depth"), panels)
}

fn beside_writes(name: &str, rows: &[&ScoredRow]) -> Figure {
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
    figure(format!("{name}: reads beside sequential writes"), panels)
}
