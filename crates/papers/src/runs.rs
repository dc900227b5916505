//! The results of a study's runs, by workload and by the names of the runs.

use super::column::Column;
use super::run_folder::Results;
use fowler_experiment::tables::Cell;
use serde_json::Value;

/// Mean read latency, in a run's summary.
pub(crate) const READ: &str = "/read/mean_us";
/// Mean write latency, in a run's summary.
pub(crate) const WRITE: &str = "/write/mean_us";

/// Everything that was measured on whole drives.
pub(crate) struct Runs {
    pub columns: Vec<Column>,
    results: Results,
}

impl Runs {
    /// What came out.
    pub fn new(columns: Vec<Column>, results: Results) -> Runs {
        Runs { columns, results }
    }

    /// The stand-ins, which a paper's means are taken over.
    pub fn stand_ins(&self) -> impl Iterator<Item = &Column> {
        self.columns.iter().filter(|column| column.is_stand_in())
    }

    /// Every result with its name.
    pub fn all(&self) -> &Results {
        &self.results
    }

    /// A run's summary.
    pub fn summary(&self, run: &str) -> Option<&Value> {
        self.results.get(run)
    }

    /// A number of a run's summary, by its JSON pointer.
    pub fn number(&self, run: &str, pointer: &str) -> Option<f64> {
        self.summary(run)?.pointer(pointer)?.as_f64()
    }

    /// A number of a run relative to the same number of another.
    pub fn ratio(&self, run: &str, base: &str, pointer: &str) -> Option<f64> {
        let number = |run| self.number(run, pointer);
        Some(number(run)? / number(base)?).filter(|ratio| ratio.is_finite())
    }

    /// What a workload is and what a run of it was asked: its name, its source, requests, and the share of reads.
    pub fn asked(&self, column: &Column, run: &str) -> Vec<Cell> {
        let of = |pointer: &str| self.number(run, pointer);
        let (reads, all) = (of("/read/count"), of("/requests"));
        vec![
            column.name.as_str().into(),
            column.source.as_str().into(),
            Cell::number(all),
            Cell::share(reads.zip(all).map(|(reads, all)| reads / all)),
        ]
    }

    /// The mean sizes of its reads and writes, in KiB.
    pub fn sizes(&self, run: &str) -> [Cell; 2] {
        ["read", "write"].map(|kind| {
            let of = |what: &str| self.number(run, &format!("/{kind}/{what}"));
            let size = || Some(of("bytes")? / of("count")? / 1024.0);
            Cell::number(size())
        })
    }

    /// A number of each stand-in, in the order of the paper; nothing if one is missing.
    pub fn each(&self, of: impl Fn(&str) -> Option<f64>) -> Option<Vec<f64>> {
        self.stand_ins().map(|column| of(&column.name)).collect()
    }

    /// The mean over the stand-ins.
    pub fn average(&self, of: impl Fn(&str) -> Option<f64>) -> Option<f64> {
        mean(&self.each(of)?)
    }
}

/// The mean of numbers; nothing of none.
pub(crate) fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}
