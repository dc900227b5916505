//! The ablation's tables and pictures.

use super::effects::{Scale, effect, first_and_last};
use super::plan::{Age, Evidence, Metric};
use crate::runs::mean;
use fowler_experiment::tables::{Cell, Sheet};
use fowler_figures::{BarSeries, Bars, Figure, Panel};

/// Formats an effect as a cell: a share, or a difference in the metric's own unit.
fn cell(metric: Metric, value: Option<f64>) -> Cell {
    match metric.scale() {
        Scale::Ratio => Cell::share(value),
        Scale::Difference => Cell::number(value),
    }
}

/// A quantity derived from the values of all subsets.
type Reading<'a> = dyn Fn(&[Option<f64>], Scale) -> Option<f64> + 'a;

impl Evidence {
    /// The mean over all workloads of what `of` says of each; of those that have it. That of ratios
    /// is geometric.
    fn over(
        &self,
        age: &Age,
        metric: Metric,
        of: impl Fn(&[Option<f64>]) -> Option<f64>,
    ) -> Option<f64> {
        let scale = metric.scale();
        let each = self.runs.columns.iter();
        let known = each.filter_map(|column| of(&self.all(&column.name, age, metric)));
        let known: Vec<f64> = known.filter_map(|effect| scale.addend(effect)).collect();
        mean(&known).map(|sum| scale.down(sum))
    }

    /// What each factor does, on average over workloads, by age: the answer in one table.
    pub(super) fn worth(&self) -> Sheet {
        let mut heads = vec!["factor", "age", "what"];
        heads.extend(Metric::ALL.map(Metric::name));
        let title = "Effect of each factor: on average over all combinations of the others, alone, and as the last of five; \
                     mean over the workloads with a result (shares; writes in us)";
        let mut sheet = Sheet::new("worth", title, &heads);
        for (bit, factor) in self.plan.factor.iter().enumerate() {
            for age in &self.plan.age {
                let mut row = |what: &str, of: &Reading<'_>| {
                    let mut cells: Vec<Cell> =
                        vec![factor.name.as_str().into(), age.name.as_str().into(), what.into()];
                    cells.extend(Metric::ALL.map(|metric| {
                        cell(metric, self.over(age, metric, |all| of(all, metric.scale())))
                    }));
                    sheet.row(cells);
                };
                row("on average", &|all, scale| effect(all, 1 << bit, scale));
                row("alone", &|all, scale| first_and_last(all, 1 << bit, scale)[0]);
                row("as the last", &|all, scale| first_and_last(all, 1 << bit, scale)[1]);
            }
        }
        sheet
    }

    fn pairs(&self) -> Vec<(usize, String)> {
        let names: Vec<&str> = self.plan.factor.iter().map(|it| short(&it.name)).collect();
        let mut pairs = Vec::new();
        for first in 0..names.len() {
            for second in first + 1..names.len() {
                let name = format!("{} + {}", names[first], names[second]);
                pairs.push(((1 << first) | (1 << second), name));
            }
        }
        pairs
    }

    /// By how much more one does beside another, on average over workloads.
    pub(super) fn interactions(&self) -> Sheet {
        let mut heads = vec!["pair", "age"];
        heads.extend(Metric::ALL.map(Metric::name));
        let title = "Interaction of two factors, beyond their own effects: above zero they cost or cancel, below zero they \
                     help (for life, the reverse); mean over the workloads (shares; writes in us)";
        let mut sheet = Sheet::new("interactions", title, &heads);
        for (which, name) in self.pairs() {
            for age in &self.plan.age {
                let mut cells: Vec<Cell> = vec![name.as_str().into(), age.name.as_str().into()];
                cells.extend(Metric::ALL.map(|metric| {
                    cell(metric, self.over(age, metric, |all| effect(all, which, metric.scale())))
                }));
                sheet.row(cells);
            }
        }
        sheet
    }

    /// Every effect under every workload.
    pub(super) fn effects(&self) -> Sheet {
        let mut heads = vec!["workload", "age", "effect of"];
        heads.extend(Metric::ALL.map(Metric::name));
        let title = "Every effect under every workload (shares; writes in us)";
        let mut sheet = Sheet::new("effects", title, &heads);
        let singles = self.plan.factor.iter().enumerate();
        let mut all: Vec<(usize, String)> =
            singles.map(|(bit, factor)| (1 << bit, factor.name.clone())).collect();
        all.extend(self.pairs());
        for column in &self.runs.columns {
            for age in &self.plan.age {
                for (which, name) in &all {
                    let mut cells: Vec<Cell> = vec![
                        column.name.as_str().into(),
                        age.name.as_str().into(),
                        name.as_str().into(),
                    ];
                    cells.extend(Metric::ALL.map(|metric| {
                        let values = self.all(&column.name, age, metric);
                        cell(metric, effect(&values, *which, metric.scale()))
                    }));
                    sheet.row(cells);
                }
            }
        }
        sheet
    }

    /// Every run.
    pub(super) fn each_run(&self) -> Sheet {
        let mut heads = vec!["workload", "source", "age", "scheme"];
        heads.extend(Metric::ALL.map(Metric::name));
        let mut sheet = Sheet::new("runs", "Every run", &heads);
        for column in &self.runs.columns {
            for age in &self.plan.age {
                for subset in 0..self.plan.subsets() {
                    let scheme = self.plan.scheme(subset).unwrap_or_else(|| "none".into());
                    let mut cells: Vec<Cell> = vec![
                        column.name.as_str().into(),
                        column.source.as_str().into(),
                        age.name.as_str().into(),
                        scheme.into(),
                    ];
                    cells.extend(Metric::ALL.map(|metric| {
                        Cell::number(self.number(&column.name, age, subset, metric))
                    }));
                    sheet.row(cells);
                }
            }
        }
        sheet
    }

    /// What each factor does, as bars.
    pub(super) fn picture(&self) -> (String, Figure) {
        let mut figure = Figure::new(
            "Effect of each of the five on a drive, averaged over combinations of the others",
        );
        figure.caption = Some(format!(
            "Mean effect over all pairs of runs that differ only in this factor, and over {} workloads. Negative means less.",
            self.runs.columns.len()
        ));
        figure.columns = Some(2);
        for metric in [Metric::Read, Metric::Read999, Metric::Write999, Metric::Wear] {
            let (factor, unit) = match metric.scale() {
                Scale::Ratio => (100.0, "change (%)"),
                Scale::Difference => (1e-3, "change (ms)"),
            };
            let series = self.plan.age.iter().map(|age| BarSeries {
                name: age.name.clone(),
                values: (0..self.plan.factor.len())
                    .map(|bit| {
                        let all =
                            self.over(age, metric, |all| effect(all, 1 << bit, metric.scale()));
                        all.map(|value| value * factor)
                    })
                    .collect(),
                ..BarSeries::default()
            });
            let bars = Bars {
                y: unit.into(),
                groups: self.plan.factor.iter().map(|it| short(&it.name).to_string()).collect(),
                series: series.collect(),
                reference: None,
            };
            let title = metric.name().split(" (").next().unwrap_or_default();
            figure.panels.push(Panel::bars(title, bars));
        }
        ("worth".into(), figure)
    }
}

/// The name of a factor's system: what stands in brackets.
fn short(name: &str) -> &str {
    name.split_once('(').map_or(name, |(_, system)| system.trim_end_matches(')'))
}
