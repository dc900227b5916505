//! The ablation's tables and pictures.

use super::effects::{Scale, effect, first_and_last};
use super::plan::{Age, Evidence, Metric, run_name};
use crate::runs::mean;
use crate::studies::interval;
use fowler_experiment::tables::{Cell, Sheet};
use fowler_figures::{Figure, Panel, Series};

/// Formats an effect as a cell: a share, or a difference in the metric's own unit.
fn cell(metric: Metric, value: Option<f64>) -> Cell {
    match metric.scale() {
        Scale::Ratio => Cell::share(value),
        Scale::Difference if metric.is_share() => Cell::share(value),
        Scale::Difference => Cell::number(value),
    }
}

/// A quantity derived from the values of all subsets.
type Reading<'a> = dyn Fn(&[Option<f64>], Scale) -> Option<f64> + 'a;

/// A value over the seeds: its mean, and half the width of its 95 % confidence interval if there
/// are enough seeds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Estimate {
    mean: Option<f64>,
    half: Option<f64>,
}

impl Estimate {
    /// Returns the estimate from the values of all seeds; `None` if one has none.
    fn of(values: impl Iterator<Item = Option<f64>>) -> Estimate {
        let Some(values) = values.collect::<Option<Vec<f64>>>() else { return Estimate::default() };
        let half = interval(&values).map(|it| it.half_width);
        Estimate { mean: mean(&values), half }
    }
}

/// Adds a row of estimates, and one of their intervals if there are several seeds.
fn add(sheet: &mut Sheet, lead: [&str; 3], seeds: usize, of: impl Fn(Metric) -> Estimate) {
    let all = Metric::ALL.map(|metric| (metric, of(metric)));
    let mut row = |what: String, part: fn(Estimate) -> Option<f64>| {
        let mut cells: Vec<Cell> = vec![lead[0].into(), lead[1].into(), what.into()];
        cells.extend(all.map(|(metric, estimate)| cell(metric, part(estimate))));
        sheet.row(cells);
    };
    row(lead[2].into(), |it| it.mean);
    if seeds > 1 {
        row(format!("{} ±", lead[2]), |it| it.half);
    }
}

impl Evidence {
    /// Returns the mean over all workloads of what `of` returns for each, over those that have it.
    /// The mean of ratios is geometric.
    fn over(
        &self,
        age: &Age,
        metric: Metric,
        of: impl Fn(&[Option<f64>]) -> Option<f64>,
    ) -> Estimate {
        let scale = metric.scale();
        Estimate::of(self.seeds.iter().map(|runs| {
            let each = self.columns.iter();
            let known = each.filter_map(|column| of(&self.all(runs, &column.name, age, metric)));
            let known: Vec<f64> = known.filter_map(|effect| scale.addend(effect)).collect();
            mean(&known).map(|sum| scale.down(sum))
        }))
    }

    /// Describes how values come from the seeds.
    fn spread(&self) -> String {
        match self.seeds.len() {
            1 => "one seed".into(),
            count => format!("means over {count} seeds; ± is half the 95 % confidence interval"),
        }
    }

    /// Returns the effect of each factor, on average over workloads, by age: the answer in one
    /// table.
    pub(super) fn worth(&self) -> Sheet {
        let mut heads = vec!["factor", "age", "what"];
        heads.extend(Metric::ALL.map(Metric::name));
        let title = format!(
            "Effect of each factor: on average over all combinations of the others, alone, and as the last of five; \
             mean over the workloads with a result (shares; writes in us); {}",
            self.spread()
        );
        let mut sheet = Sheet::new("worth", title, &heads);
        for (bit, factor) in self.plan.factor.iter().enumerate() {
            for age in &self.plan.age {
                let mut row = |what: &str, of: &Reading<'_>| {
                    let lead = [factor.name.as_str(), age.name.as_str(), what];
                    add(&mut sheet, lead, self.seeds.len(), |metric| {
                        self.over(age, metric, |all| of(all, metric.scale()))
                    });
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

    /// Returns the interaction of each pair: by how much more one factor does beside the other, on
    /// average over workloads.
    pub(super) fn interactions(&self) -> Sheet {
        let mut heads = vec!["pair", "age", "what"];
        heads.extend(Metric::ALL.map(Metric::name));
        let title = format!(
            "Interaction of two factors, beyond their own effects: above zero they cost or cancel, below zero they \
             help (for life, the reverse); mean over the workloads (shares; writes in us); {}",
            self.spread()
        );
        let mut sheet = Sheet::new("interactions", title, &heads);
        for (which, name) in self.pairs() {
            for age in &self.plan.age {
                let lead = [name.as_str(), age.name.as_str(), "together"];
                add(&mut sheet, lead, self.seeds.len(), |metric| {
                    self.over(age, metric, |all| effect(all, which, metric.scale()))
                });
            }
        }
        sheet
    }

    /// Every effect under every workload.
    pub(super) fn effects(&self) -> Sheet {
        let mut heads = vec!["workload", "age", "effect of"];
        heads.extend(Metric::ALL.map(Metric::name));
        let title =
            format!("Every effect under every workload (shares; writes in us); {}", self.spread());
        let mut sheet = Sheet::new("effects", title, &heads);
        let singles = self.plan.factor.iter().enumerate();
        let mut all: Vec<(usize, String)> =
            singles.map(|(bit, factor)| (1 << bit, factor.name.clone())).collect();
        all.extend(self.pairs());
        for column in &self.columns {
            for age in &self.plan.age {
                for (which, name) in &all {
                    let lead = [column.name.as_str(), age.name.as_str(), name.as_str()];
                    add(&mut sheet, lead, self.seeds.len(), |metric| {
                        Estimate::of(self.seeds.iter().map(|runs| {
                            let values = self.all(runs, &column.name, age, metric);
                            effect(&values, *which, metric.scale())
                        }))
                    });
                }
            }
        }
        sheet
    }

    /// Every run of the study's own seed.
    pub(super) fn each_run(&self) -> Sheet {
        let mut heads = vec!["workload", "source", "age", "scheme"];
        heads.extend(Metric::ALL.map(Metric::name));
        heads.extend(["blocks erased", "pages moved by GC"]);
        let mut sheet = Sheet::new("runs", "Every run", &heads);
        let Some(runs) = self.seeds.first() else { return sheet };
        for column in &self.columns {
            for age in &self.plan.age {
                for subset in 0..self.plan.subsets() {
                    let scheme = self.plan.scheme(subset).unwrap_or_else(|| "none".into());
                    let mut cells: Vec<Cell> = vec![
                        column.name.as_str().into(),
                        column.source.as_str().into(),
                        age.name.as_str().into(),
                        scheme.into(),
                    ];
                    let column = column.name.as_str();
                    cells.extend(Metric::ALL.map(|metric| {
                        Cell::number(self.number(runs, (column, age), subset, metric))
                    }));
                    let run = runs.summary(&run_name(column, &age.name, subset));
                    cells.push(Cell::number(run.and_then(|run| run.get("erases"))));
                    cells.push(Cell::number(run.and_then(|run| run.get("counters.programs.gc"))));
                    sheet.row(cells);
                }
            }
        }
        sheet
    }

    /// Draws the effect of each factor as bars.
    pub(super) fn picture(&self) -> Figure {
        let metrics = [Metric::Read, Metric::Read999, Metric::Write999, Metric::Wear];
        let panels = metrics.map(|metric| {
            let (factor, unit) = match metric.scale() {
                Scale::Ratio => (100.0, "change (%)"),
                Scale::Difference => (1e-3, "change (ms)"),
            };
            let series = self.plan.age.iter().map(|age| {
                let estimates: Vec<Estimate> = (0..self.plan.factor.len())
                    .map(|bit| self.over(age, metric, |all| effect(all, 1 << bit, metric.scale())))
                    .collect();
                let interval = |it: &Estimate| {
                    let (mean, half) = (it.mean?, it.half?);
                    Some((factor * (mean - half), factor * (mean + half)))
                };
                let repeated = estimates.iter().filter(|_| self.seeds.len() > 1);
                let spread = repeated.map(interval).collect();
                let means = estimates.iter().map(|it| it.mean.map(|mean| factor * mean));
                Series { spread, ..Series::values(&age.name, means) }
            });
            let title = metric.name().split(" (").next().unwrap_or_default();
            let groups = self.plan.factor.iter().map(|it| short(&it.name));
            Panel::columns(title, unit, groups, series)
        });
        let title =
            "Effect of each of the five on a drive, averaged over combinations of the others";
        let caption = format!(
            "Mean effect over all pairs of runs that differ only in this factor, and over {} workloads. Negative means less.",
            self.columns.len()
        );
        Figure::new("worth", title, panels).caption(caption).columns(2)
    }
}

/// The name of a factor's system: the text in brackets.
fn short(name: &str) -> &str {
    name.split_once('(').map_or(name, |(_, system)| system.trim_end_matches(')'))
}
