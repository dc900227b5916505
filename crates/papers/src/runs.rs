//! The results of a study's runs, by workload and run name.

use crate::column::Column;
use crate::run_folder::Results;
use crate::run_summary::{Latencies, RunSummary};
use fowler_experiment::tables::Cell;

/// The results of all runs on whole drives.
pub(crate) struct Runs {
    pub columns: Vec<Column>,
    results: Results<RunSummary>,
}

impl Runs {
    /// Returns the results of the runs of `columns`.
    pub fn new(columns: Vec<Column>, results: Results<RunSummary>) -> Runs {
        Runs { columns, results }
    }

    /// Returns the stand-ins, over which a paper's means are taken.
    pub fn stand_ins(&self) -> impl Iterator<Item = &Column> {
        self.columns.iter().filter(|column| column.is_stand_in())
    }

    /// Returns every result with its name.
    pub fn all(&self) -> &Results<RunSummary> {
        &self.results
    }

    /// Returns a run's summary.
    pub fn summary(&self, run: &str) -> Option<&RunSummary> {
        self.results.get(run)
    }

    /// Returns a number of a run.
    pub fn number(&self, run: &str, of: impl Fn(&RunSummary) -> Option<f64>) -> Option<f64> {
        of(self.summary(run)?)
    }

    /// Returns a number of a run relative to the same number of another.
    pub fn ratio(
        &self,
        run: &str,
        base: &str,
        of: impl Fn(&RunSummary) -> Option<f64>,
    ) -> Option<f64> {
        let number = |run| self.number(run, &of);
        Some(number(run)? / number(base)?).filter(|ratio| ratio.is_finite())
    }

    /// Returns a description of a workload and a run of it: name, source, requests, share of reads.
    pub fn asked(&self, column: &Column, run: &str) -> Vec<Cell> {
        let run = self.summary(run);
        vec![
            column.name.as_str().into(),
            column.source.as_str().into(),
            Cell::number(run.map(|run| run.requests)),
            Cell::share(run.map(|run| run.read.count / run.requests)),
        ]
    }

    /// Returns the mean sizes of its reads and writes, in KiB.
    pub fn sizes(&self, run: &str) -> [Cell; 2] {
        let run = self.summary(run);
        let size = |of: fn(&RunSummary) -> &Latencies| {
            Cell::number(run.map(of).map(|its| its.bytes / its.count / 1024.0))
        };
        [size(|run| &run.read), size(|run| &run.write)]
    }

    /// Returns a number of each stand-in, in the order of the paper; `None` if one is missing.
    pub fn each(&self, of: impl Fn(&str) -> Option<f64>) -> Option<Vec<f64>> {
        self.stand_ins().map(|column| of(&column.name)).collect()
    }

    /// Returns the mean over the stand-ins.
    pub fn average(&self, of: impl Fn(&str) -> Option<f64>) -> Option<f64> {
        mean(&self.each(of)?)
    }
}

/// Returns the mean of numbers; `None` if there are none.
pub(crate) fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}
