//! A comparison as tables and as JSON.

use super::overview::off;
use super::{Metric, Score, ScoredRow};
use crate::measurements::{Kind, SETUP};
use crate::protocol::Estimate;
use fowler_experiment::numbers::real;
use fowler_experiment::tables::{Cell, Sheet};
use serde_json::{Value, json};

/// Returns the keys of a measured row that describe the conditions of a measurement of this kind,
/// and the key that says whether the drive kept up with the offered load.
fn setup_keys(kind: Kind) -> impl Iterator<Item = &'static str> {
    let (first, others) = SETUP.split_at(1);
    let all = first.iter().chain(&["saturated"]).chain(others).copied();
    all.filter(move |key| *key == "saturated" || kind.is_condition(key))
}

impl ScoredRow {
    /// Returns the model of the measured drive, with the sample if there are several.
    pub fn drive(&self) -> String {
        let sample = self.sample.as_ref().map_or(String::new(), |it| format!(" ({it})"));
        format!("{}{sample}", self.model)
    }

    /// Returns the conditions under which the row was measured as text, from the keys of the row.
    pub fn setup(&self) -> String {
        let part = |key: &str| {
            let value = self.values.get(key)?;
            let text = match value {
                Value::String(text) => text.clone(),
                Value::Array(_) => "...".into(),
                other => other.to_string(),
            };
            Some(format!("{key}={text}"))
        };
        setup_keys(self.kind).filter_map(part).collect::<Vec<_>>().join(" ")
    }
}

impl Score {
    /// Returns a table for each file of measurements, with a line for each number of each measured
    /// row: measured and simulated value; then a table of the median and largest distance between
    /// these two for each kind of number.
    pub fn sheets(&self) -> Vec<Sheet> {
        let mut sheets: Vec<Sheet> = Vec::new();
        for row in &self.rows {
            if sheets.last().is_none_or(|sheet| sheet.name != row.file) {
                let title = format!("{} against {}", self.drive.0, row.file);
                let heads = [
                    "drive",
                    "row",
                    "number",
                    "measured",
                    "simulated",
                    "+-",
                    "ratio",
                    "fit",
                    "90 %",
                ];
                let heads =
                    if self.has_intervals() { &heads[..] } else { &heads[..heads.len() - 1] };
                sheets.push(Sheet::new(&row.file, title, heads));
            }
            let Some(sheet) = sheets.last_mut() else { continue };
            for metric in &row.metrics {
                let mut cells = vec![
                    Cell::Text(row.drive()),
                    Cell::Text(row.setup()),
                    Cell::Text(metric.name.clone()),
                    Cell::number(Some(metric.measured)),
                    Cell::number(Some(metric.simulated.value)),
                    Cell::share(metric.simulated.relative()),
                    Cell::number(metric.ratio()),
                    Cell::Text(if metric.used_in_fit { "fitted".into() } else { String::new() }),
                ];
                if self.has_intervals() {
                    let ends = metric.predicted.map_or(String::new(), |(low, high)| {
                        format!("{} to {}", real(low), real(high))
                    });
                    cells.push(Cell::Text(ends));
                }
                sheet.row(cells);
            }
        }
        if !sheets.is_empty() {
            sheets.push(self.overview_sheet());
        }
        sheets
    }

    /// Returns the median relative distance between simulated and measured values, over the numbers
    /// that the drive was fitted to or else over those it was not; `None` if there are none.
    pub fn median_off(&self, used_in_fit: bool) -> Option<f64> {
        let mut off: Vec<f64> = self
            .metrics()
            .filter(|metric| metric.used_in_fit == used_in_fit)
            .filter_map(|metric| metric.ratio().filter(|ratio| *ratio > 0.0))
            .map(off)
            .collect();
        off.sort_by(f64::total_cmp);
        off.get(off.len() / 2).copied()
    }

    /// Returns true if some predicted number of the drive has a 90 % interval.
    fn has_intervals(&self) -> bool {
        self.metrics().any(|metric| metric.predicted.is_some())
    }

    /// Returns how many measured numbers lie within the 90 % interval of their prediction, and how
    /// many predictions have an interval; numbers that the drive was fitted to are left out.
    pub fn within(&self) -> (usize, usize) {
        let predicted = self.metrics().filter(|metric| !metric.used_in_fit);
        let held: Vec<bool> = predicted.filter_map(Metric::is_within).collect();
        (held.iter().filter(|it| **it).count(), held.len())
    }

    /// Returns every number that was compared between real and simulated drive, over all measured
    /// rows.
    pub fn metrics(&self) -> impl Iterator<Item = &Metric> {
        self.rows.iter().flat_map(|row| &row.metrics)
    }

    /// Returns the comparison of simulated with measured rows as a JSON object.
    pub fn json(&self) -> Value {
        let pairs = |all: &[(String, String)], key: &str| -> Vec<Value> {
            all.iter().map(|(what, why)| json!({ key: what, "reason": why })).collect()
        };
        json!({
            "drive": self.drive.0,
            "config_hash": self.drive.1,
            "scheme": self.scheme,
            "fitted_to_another": self.of_another,
            "complete": self.complete,
            "rows": self.rows.iter().map(|row| json!({
                "row": row.place,
                "file": row.file,
                "model": row.model,
                "sample": row.sample,
                "protocol": row.kind.name(),
                "setup": setup_json(row),
                "metrics": row.metrics.iter().map(metric_json).collect::<Vec<_>>(),
                "left_out": pairs(&row.left_out, "metric"),
                "curve": row.curve,
                "state": row.state,
                "capacity_bytes": row.capacity,
                "fewer_blocks": row.scale.0,
                "shorter_blocks": row.scale.1,
                "requests": row.requests,
                "simulated_s": row.simulated_s,
            })).collect::<Vec<_>>(),
            "overview": self.overview_json(),
            "not_simulated": pairs(&self.refused, "row"),
        })
    }
}

fn setup_json(row: &ScoredRow) -> Value {
    let kept = row.values.iter().filter(|(key, _)| setup_keys(row.kind).any(|it| it == *key));
    Value::Object(kept.map(|(key, value)| (key.clone(), value.clone())).collect())
}

fn metric_json(metric: &Metric) -> Value {
    let Estimate { value, interval } = metric.simulated;
    json!({
        "metric": metric.name,
        "measured": metric.measured,
        "simulated": value,
        "interval": interval.map(|(low, high)| [low, high]),
        "ratio": metric.ratio(),
        "predicted_interval": metric.predicted.map(|(low, high)| [low, high]),
        "used_in_fit": metric.used_in_fit,
    })
}
