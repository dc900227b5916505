//! The results of a study's runs, by workload and run name.

use crate::claim::View;
use crate::column::Column;
use crate::run_folder::Results;
use crate::run_summary::RunSummary;
use fowler_experiment::tables::Cell;
use fowler_figures::Series;

/// The results of all runs of a paper's study under a workload, by workload and name of the run.
pub(crate) struct Runs {
    pub columns: Vec<Column>,
    results: Results<RunSummary>,
    /// View through which claims read a study's runs: in a control measurement without the paper's
    /// system, runs of other schemes or variants of the drive are read.
    pub view: View,
}

impl Runs {
    /// Returns the results of a study's runs; `columns` are the workloads of the study.
    pub fn new(columns: Vec<Column>, results: Results<RunSummary>) -> Runs {
        Runs { columns, results, view: View::default() }
    }

    /// Returns the stand-in traces over which a paper's means are taken: all of them, or those to
    /// which means are restricted at present.
    pub fn stand_ins(&self) -> impl Iterator<Item = &Column> {
        self.columns.iter().filter(|it| it.is_stand_in() && self.view.has(&it.name))
    }

    /// Returns the summaries of all runs of a paper's study, by name of the run.
    pub fn all(&self) -> &Results<RunSummary> {
        &self.results
    }

    /// Returns the summary of the run named `run`; `None` if there is no such run.
    pub fn summary(&self, run: &str) -> Option<&RunSummary> {
        self.results.get(run)
    }

    /// Returns a metric (from `of`) of the study's run with the name `run`; `None` if the study has
    /// no such run or the run no such metric.
    pub fn number(&self, run: &str, of: impl Fn(&RunSummary) -> Option<f64>) -> Option<f64> {
        of(self.summary(run)?)
    }

    /// Returns the metric `of` of the study's run named `run` divided by that of the run named
    /// `base`.
    pub fn ratio(
        &self,
        run: &str,
        base: &str,
        of: impl Fn(&RunSummary) -> Option<f64>,
    ) -> Option<f64> {
        let number = |run| self.number(run, &of);
        Some(number(run)? / number(base)?).filter(|ratio| ratio.is_finite())
    }

    /// Returns four cells that describe a workload and one run of it: name, source, number of
    /// requests, share of reads.
    pub fn asked(&self, column: &Column, run: &str) -> Vec<Cell> {
        let run = self.summary(run);
        vec![
            column.name.as_str().into(),
            column.source.as_str().into(),
            Cell::number(run.and_then(|run| run.get("requests"))),
            Cell::share(run.and_then(|run| Some(run.get("read.count")? / run.get("requests")?))),
        ]
    }

    /// Returns two cells: the mean sizes of the reads and of the writes of a run, in KiB.
    pub fn sizes(&self, run: &str) -> [Cell; 2] {
        let run = self.summary(run);
        ["read", "write"].map(|kind| {
            let number = |what| run?.get(&format!("{kind}.{what}"));
            Cell::number(
                number("bytes").zip(number("count")).map(|(all, count)| all / count / 1024.0),
            )
        })
    }

    /// Returns the metric that `of` gives for a workload, for each stand-in trace, in the order of
    /// the paper's workloads; `None` if one of them has no value.
    pub fn each(&self, of: impl Fn(&str) -> Option<f64>) -> Option<Vec<f64>> {
        self.stand_ins().map(|column| of(&column.name)).collect()
    }

    /// Returns a list for the groups of bars in a study's figure: `of` for each stand-in trace,
    /// then `mean`, then `of` for each real trace. The mean is next to the stand-in traces that it
    /// covers; a group without a bar sets the real traces apart.
    pub fn ordered<'a, T: Default>(&'a self, of: impl Fn(&'a Column) -> T, mean: T) -> Vec<T> {
        let (stand_ins, reals): (Vec<&Column>, Vec<&Column>) =
            self.columns.iter().partition(|column| column.is_stand_in());
        let mut all: Vec<T> = stand_ins.into_iter().map(&of).collect();
        all.push(mean);
        if !reals.is_empty() {
            all.push(T::default());
        }
        all.extend(reals.into_iter().map(&of));
        all
    }

    /// Returns the names of the groups of bars in a figure, from left to right.
    pub fn groups(&self) -> impl Iterator<Item = &str> {
        self.ordered(|column| column.name.as_str(), "mean").into_iter()
    }

    /// Returns a series of bars for a figure: one number for each group, in the order of the
    /// groups.
    pub fn bars(&self, name: &str, of: impl Fn(&str) -> Option<f64>) -> Series {
        Series::values(name, self.ordered(|column| of(&column.name), self.average(&of)))
    }

    /// Returns the mean, over the stand-in traces of the study's workloads, of the metric that `of`
    /// gives for a workload; `None` if one of them has no value.
    pub fn average(&self, of: impl Fn(&str) -> Option<f64>) -> Option<f64> {
        mean(&self.each(of)?)
    }
}

/// Returns the mean of the numbers in `values`, such as ratios by workload; `None` if there are
/// none.
pub(crate) fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Returns Spearman's rank correlation of two lists of numbers; ties share their mean rank. `None`
/// if all numbers of one list are equal.
pub(crate) fn spearman(one: &[f64], other: &[f64]) -> Option<f64> {
    let ranks = |values: &[f64]| -> Vec<f64> {
        let rank = |mine: &f64| {
            let below = values.iter().filter(|value| *value < mine).count();
            let same = values.iter().filter(|value| *value == mine).count();
            below as f64 + (same as f64 - 1.0) / 2.0
        };
        values.iter().map(rank).collect()
    };
    let (one, other) = (ranks(one), ranks(other));
    let (mean_one, mean_other) = (mean(&one)?, mean(&other)?);
    let product = |a: &[f64], mean_a: f64, b: &[f64], mean_b: f64| {
        a.iter().zip(b).map(|(a, b)| (a - mean_a) * (b - mean_b)).sum::<f64>()
    };
    let both = product(&one, mean_one, &other, mean_other);
    let alone = product(&one, mean_one, &one, mean_one);
    let beside = product(&other, mean_other, &other, mean_other);
    Some(both / (alone * beside).sqrt()).filter(|rank| rank.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;
    use fowler_experiment::device_spec::Source;
    use fowler_experiment::workload::WorkloadSpec;

    /// In the order of a figure's bars, real traces come after the mean of the stand-in traces,
    /// which does not include them.
    #[test]
    fn the_mean_stands_behind_what_it_covers() {
        let column = |name: &str, place| Column {
            name: name.into(),
            source: String::new(),
            spec: WorkloadSpec::Generated(Source { name: name.into(), text: String::new() }),
            place,
        };
        let columns = vec![column("F1", Some(0)), column("F2", Some(1)), column("F1 real", None)];
        let runs = Runs::new(columns, Results::new());
        assert_eq!(runs.groups().collect::<Vec<_>>(), ["F1", "F2", "mean", "", "F1 real"]);
        let bars = runs.bars("", |name| (name != "F1 real").then_some(name.len() as f64));
        assert_eq!(bars.y, [Some(2.0), Some(2.0), Some(2.0), None, None]);
    }

    #[test]
    fn ranks_are_correlated_with_ties() {
        assert_eq!(spearman(&[1.0, 2.0, 3.0], &[10.0, 20.0, 99.0]), Some(1.0));
        assert_eq!(spearman(&[1.0, 2.0, 3.0], &[3.0, 2.0, 1.0]), Some(-1.0));
        // By hand: ranks 0, 1.5, 1.5, 3 and 0, 1, 2, 3: 4.5 / sqrt(4.5 x 5).
        let tied = spearman(&[1.0, 2.0, 2.0, 4.0], &[1.0, 2.0, 3.0, 4.0]).unwrap();
        assert!((tied - (4.5f64 / 5.0).sqrt()).abs() < 1e-12);
        assert_eq!(spearman(&[0.0, 0.0], &[1.0, 2.0]), None);
    }
}
