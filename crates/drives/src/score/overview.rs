//! The score of a drive: for each kind of number, the median and the worst distance between
//! simulated and measured values over all rows.

use super::{Metric, Score, ScoredRow};
use fowler_experiment::tables::{Cell, Sheet};
use serde_json::{Value, json};

/// Distance between simulated and measured values of one kind of number over all rows of a measured
/// drive; numbers that the drive was fitted to are counted apart.
#[derive(Clone, Debug, PartialEq)]
pub struct Overview {
    /// Model of the measured drive, with its sample.
    pub drive: String,
    /// Name of the file that has the measured rows.
    pub file: String,
    /// Key, in the measured rows, of the number that is compared between the real and the simulated
    /// drive.
    pub metric: String,
    /// True if the drive was fitted to measured values of this number, such as `read_us.p99`.
    pub used_in_fit: bool,
    /// Number of measured rows in which this number, such as `read_us.p99`, was measured and is
    /// compared with the simulation.
    pub rows: usize,
    /// Median distance between simulated and measured values, relative to the smaller of the two.
    pub median_off: f64,
    /// Ratio of simulated to measured value that is farthest from 1, and the conditions of the
    /// measured row in which it occurs, in words.
    pub worst: (f64, String),
}

/// Returns the distance of a ratio from 1, relative to the smaller value: 1 both for a half and for
/// two.
pub(super) fn off(ratio: f64) -> f64 {
    libm::exp(libm::log(ratio).abs()) - 1.0
}

impl Score {
    /// Returns the distances between simulated and measured values: one entry for each kind of
    /// number of each measured drive, in the order of the rows.
    pub fn overview(&self) -> Vec<Overview> {
        let mut lines: Vec<(Overview, Vec<(f64, &ScoredRow)>)> = Vec::new();
        for row in &self.rows {
            for metric in &row.metrics {
                let Some(ratio) = metric.ratio().filter(|ratio| *ratio > 0.0) else { continue };
                let line = Overview::of(row, metric);
                match lines.iter_mut().find(|(other, _)| *other == line) {
                    Some((_, ratios)) => ratios.push((ratio, row)),
                    None => lines.push((line, vec![(ratio, row)])),
                }
            }
        }
        lines.into_iter().map(|(line, ratios)| line.filled(ratios)).collect()
    }

    /// Returns the table of the distances between simulated and measured values.
    pub(super) fn overview_sheet(&self) -> Sheet {
        let heads =
            ["drive", "file", "number", "fit", "rows", "off in median", "worst ratio", "worst row"];
        let title =
            format!("{}: distance of each simulated number from the measured one", self.drive.0);
        let mut sheet = Sheet::new("overview", title, &heads);
        for line in self.overview() {
            sheet.row(vec![
                Cell::Text(line.drive),
                Cell::Text(line.file),
                Cell::Text(line.metric),
                Cell::Text(if line.used_in_fit { "fitted".into() } else { String::new() }),
                Cell::Number(line.rows as f64),
                Cell::share(Some(line.median_off)),
                Cell::number(Some(line.worst.0)),
                Cell::Text(line.worst.1),
            ]);
        }
        sheet
    }

    pub(super) fn overview_json(&self) -> Vec<Value> {
        let line = |it: Overview| {
            json!({
                "drive": it.drive, "file": it.file, "metric": it.metric,
                "used_in_fit": it.used_in_fit, "rows": it.rows, "median_off": it.median_off,
                "worst_ratio": it.worst.0, "worst_row": it.worst.1,
            })
        };
        self.overview().into_iter().map(line).collect()
    }
}

impl Overview {
    fn of(row: &ScoredRow, metric: &Metric) -> Overview {
        Overview {
            drive: row.drive(),
            file: row.file.clone(),
            metric: metric.name.clone(),
            used_in_fit: metric.used_in_fit,
            rows: 0,
            median_off: 0.0,
            worst: (1.0, String::new()),
        }
    }

    fn filled(mut self, mut ratios: Vec<(f64, &ScoredRow)>) -> Overview {
        ratios.sort_by(|one, other| off(one.0).total_cmp(&off(other.0)));
        self.rows = ratios.len();
        // Of an even number of ratios, the one that is farther off.
        self.median_off = ratios.get(ratios.len() / 2).map_or(0.0, |it| off(it.0));
        if let Some((ratio, row)) = ratios.last() {
            self.worst = (*ratio, row.setup());
        }
        self
    }
}
