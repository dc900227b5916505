//! The choice among combinations of systems: the best by each objective, with ties, and the Pareto
//! front over metrics and prices.
//!
//! Two combinations are compared by the difference of their effects, seed by seed. With several
//! seeds, a difference within its 95 % confidence interval counts as none. See
//! docs/decisions/together.md, "When is one combination better than another?".

use super::combination::Combination;
use super::plan::{Age, Evidence, Metric};
use super::price::{KIB, totals};
use super::tables::{Estimate, Group, cell, file_name};
use crate::runs::mean;
use crate::studies::interval;
use fowler_experiment::tables::{Cell, Sheet};
use fowler_figures::{Axis, Figure, Panel, Series};
use std::cmp::Ordering;

/// A goal by which a combination of systems is chosen: a metric, and the better end of it.
struct Objective {
    metric: Metric,
    /// True if a lower value of the metric is better.
    lower: bool,
    name: &'static str,
}

const OBJECTIVES: [Objective; 5] = [
    Objective { metric: Metric::Read, lower: true, name: "lowest mean read" },
    Objective { metric: Metric::Read999, lower: true, name: "lowest p99.9 read" },
    Objective { metric: Metric::Write, lower: true, name: "lowest mean write" },
    Objective { metric: Metric::Wear, lower: true, name: "least wear per host byte" },
    Objective { metric: Metric::Life, lower: false, name: "longest projected life" },
];

/// Objectives of the two fronts, by their place in [`OBJECTIVES`]: mean and p99.9 of reads, and
/// wear or life.
const FRONTS: [(&str, [usize; 3]); 2] = [("with wear", [0, 1, 3]), ("with life", [0, 1, 4])];

/// A combination of systems that can be built, with its price and its effects.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    pub of: Combination,
    /// Bytes that the combination needs in each kind of memory.
    pub price: [f64; 3],
    /// For each objective, the effect under each seed against a drive without systems, as a number
    /// that can be summed; `None` where the metric is not reported.
    pub effects: Vec<Vec<Option<f64>>>,
}

/// Compares two effects seed by seed: `Less` if the first is measurably lower. `None` if one is
/// unknown.
pub(super) fn compared(one: &[Option<f64>], other: &[Option<f64>]) -> Option<Ordering> {
    let apart = |(one, other): (&Option<f64>, &Option<f64>)| Some((*one)? - (*other)?);
    let apart = one.iter().zip(other).map(apart).collect::<Option<Vec<f64>>>()?;
    let mean = mean(&apart)?;
    let half = interval(&apart).map_or(0.0, |it| it.half_width);
    Some(if mean.abs() <= half { Ordering::Equal } else { mean.total_cmp(&0.0) })
}

/// Compares two candidates by an objective: `Less` if the first is measurably better.
fn by(objective: usize, one: &Candidate, other: &Candidate) -> Option<Ordering> {
    let order = compared(&one.effects[objective], &other.effects[objective])?;
    Some(if OBJECTIVES[objective].lower { order } else { order.reverse() })
}

/// Returns true if the first candidate beats the second: it is measurably worse in none of the
/// objectives, needs no more of any kind of memory, and is better in one of all these.
fn beats(objectives: &[usize], one: &Candidate, other: &Candidate) -> bool {
    let is_cheap = one.price.iter().zip(&other.price).all(|(one, other)| one <= other);
    let orders: Option<Vec<Ordering>> = objectives.iter().map(|it| by(*it, one, other)).collect();
    let Some(orders) = orders.filter(|_| is_cheap) else { return false };
    let is_better = one.price != other.price || orders.contains(&Ordering::Less);
    is_better && !orders.contains(&Ordering::Greater)
}

/// Returns, for each candidate, the index of the first one that beats it by the objectives and the
/// price; `None` for the candidates on the Pareto front. Objectives that are unknown for a
/// candidate are left out for all.
pub(super) fn beaten(candidates: &[Candidate], objectives: &[usize]) -> Vec<Option<usize>> {
    let is_known = |it: &&usize| {
        candidates.iter().all(|candidate| candidate.effects[**it].iter().all(Option::is_some))
    };
    let known: Vec<usize> = objectives.iter().filter(is_known).copied().collect();
    let winner = |it: &Candidate| candidates.iter().position(|other| beats(&known, other, it));
    candidates.iter().map(winner).collect()
}

/// Returns the best candidate by an objective, and the candidates that are not measurably worse,
/// from the simplest on: fewest systems, then least flash, then least memory. `None` if no
/// candidate has a value.
pub(super) fn best(candidates: &[Candidate], objective: usize) -> Option<(usize, Vec<usize>)> {
    let value = |it: &Candidate| {
        let value = mean(&it.effects[objective].iter().copied().collect::<Option<Vec<f64>>>()?)?;
        Some(if OBJECTIVES[objective].lower { value } else { -value })
    };
    let known = candidates.iter().enumerate().filter_map(|(at, it)| Some((at, value(it)?)));
    let (best, _) = known.min_by(|one, other| one.1.total_cmp(&other.1))?;
    let is_tied = |it: &usize| {
        by(objective, &candidates[best], &candidates[*it]).is_some_and(|it| it == Ordering::Equal)
    };
    let mut ties: Vec<usize> = (0..candidates.len()).filter(is_tied).collect();
    let simple = |it: &usize| {
        let [dram, flash, dies] = candidates[*it].price;
        (candidates[*it].of.subset.count_ones(), [flash, dram, dies].map(|it| it as u64))
    };
    ties.sort_by_key(simple);
    Some((best, ties))
}

impl Evidence {
    /// Returns the combinations of systems that can be built, with their effects on a group of
    /// drives at one age, or as mean over the ages.
    fn candidates(&self, group: &Group, age: Option<&Age>) -> Vec<Candidate> {
        let factors = &self.plan.factor;
        let is_real = |of: Combination| {
            of.replacement(factors).is_none_or(|(_, other)| other.imaginary.is_none())
        };
        let real = self.prices.iter().filter(|(of, _)| is_real(*of));
        let candidate = |(of, items): &(Combination, Vec<_>)| {
            let effects = OBJECTIVES.iter().map(|it| match age {
                Some(age) => self.gained(group, (age, it.metric), [Combination::from(0), *of]),
                None => {
                    let ages = self.plan.age.iter();
                    let each = ages
                        .map(|age| {
                            self.gained(group, (age, it.metric), [Combination::from(0), *of])
                        })
                        .collect::<Vec<_>>();
                    let over_ages = |seed: usize| {
                        mean(&each.iter().map(|it| it[seed]).collect::<Option<Vec<f64>>>()?)
                    };
                    (0..self.seeds.len()).map(over_ages).collect()
                }
            });
            Candidate { of: *of, price: totals(items), effects: effects.collect() }
        };
        real.map(candidate).collect()
    }

    /// Returns the ages of the drive for tables of choices: each of them, and all together.
    fn lives(&self) -> impl Iterator<Item = (&str, Option<&Age>)> {
        let each = self.plan.age.iter().map(|age| (age.name.as_str(), Some(age)));
        std::iter::once((ALL_AGES, None)).chain(each)
    }

    /// Returns the effect of a candidate by an objective, with the interval over the seeds.
    fn shown(&self, candidate: &Candidate, objective: usize) -> Estimate {
        let scale = OBJECTIVES[objective].metric.scale();
        let effects = candidate.effects[objective].iter();
        Estimate::of(effects.map(|it| it.map(|it| scale.down(it))))
    }

    /// Returns the table of choices: by each objective, the best combination of systems, those that
    /// cannot be told from it, and the price of the simplest. `None` if the study makes no choice.
    pub(super) fn choices(&self) -> Option<Sheet> {
        self.prices.first()?;
        let mut heads = if self.plan.drive.len() > 1 { vec!["drive"] } else { Vec::new() };
        heads.extend(["age", "for the", "best", "against none", "±", "simplest of the ties"]);
        heads.extend(["against none, simplest", PRICES[0], PRICES[1], PRICES[2], "ties"]);
        let title = format!(
            "What to build by objective: the best combination, and all that cannot be told from it (ties), from the \
             simplest on (fewest systems, then least flash and memory); effect against a drive without any system, as a \
             share, of writes in us; {}",
            self.spread()
        );
        let mut sheet = Sheet::new("choices", title, &heads);
        for group in self.groups() {
            for (name, age) in self.lives() {
                let candidates = self.candidates(&group, age);
                for (number, objective) in OBJECTIVES.iter().enumerate() {
                    let Some((best, ties)) = best(&candidates, number) else { continue };
                    let named = |it: &usize| candidates[*it].of.named(&self.plan.factor);
                    let estimate = self.shown(&candidates[best], number);
                    let simplest = &candidates[*ties.first()?];
                    let mut cells: Vec<Cell> =
                        group.name.iter().map(|it| it.as_str().into()).collect();
                    cells.extend([name, objective.name, &named(&best)].map(Cell::from));
                    cells.extend(
                        [estimate.mean, estimate.half].map(|it| cell(objective.metric, it)),
                    );
                    cells.push(named(&ties[0]).into());
                    cells.push(cell(objective.metric, self.shown(simplest, number).mean));
                    cells.extend(simplest.price.map(|it| Cell::number(Some(it / KIB))));
                    cells.push(ties.iter().map(named).collect::<Vec<_>>().join("; ").into());
                    sheet.row(cells);
                }
            }
        }
        Some(sheet)
    }

    /// Returns the table of the Pareto fronts: every combination with its effects and its price,
    /// and for each front either that it is on it or the combination that beats it. `None` if the
    /// study makes no choice.
    pub(super) fn pareto(&self) -> Option<Sheet> {
        self.prices.first()?;
        let mut heads = if self.plan.drive.len() > 1 { vec!["drive"] } else { Vec::new() };
        heads.extend(["age", "combination"]);
        heads.extend(OBJECTIVES.map(|it| it.metric.name()));
        heads.extend(PRICES);
        let fronts = FRONTS.map(|(name, _)| format!("front {name}"));
        heads.extend(fronts.iter().map(String::as_str));
        let title = format!(
            "Pareto fronts over mean and p99.9 of reads, wear or life, and the price: a combination is on a front unless \
             another is measurably worse in none of these and better in one; effects against a drive without any system \
             (as a share; of writes in us); {}",
            self.spread()
        );
        let mut sheet = Sheet::new("pareto", title, &heads);
        for group in self.groups() {
            for (name, age) in self.lives() {
                let candidates = self.candidates(&group, age);
                let fronts = FRONTS.map(|(_, objectives)| beaten(&candidates, &objectives));
                for (at, candidate) in candidates.iter().enumerate() {
                    let named = |it: usize| candidates[it].of.named(&self.plan.factor);
                    let mut cells: Vec<Cell> =
                        group.name.iter().map(|it| it.as_str().into()).collect();
                    cells.extend([name, &named(at)].map(Cell::from));
                    cells.extend(
                        OBJECTIVES.iter().enumerate().map(|(number, it)| {
                            cell(it.metric, self.shown(candidate, number).mean)
                        }),
                    );
                    cells.extend(candidate.price.map(|it| Cell::number(Some(it / KIB))));
                    cells.extend(fronts.iter().map(|beaten| match beaten[at] {
                        None => Cell::from(ON_FRONT),
                        Some(other) => Cell::from(format!("beaten by {}", named(other))),
                    }));
                    sheet.row(cells);
                }
            }
        }
        Some(sheet)
    }

    /// Returns a picture of the Pareto fronts for each drive, as means over the ages; none if the
    /// study makes no choice.
    pub(super) fn fronts(&self) -> Vec<Figure> {
        if self.prices.is_empty() {
            return Vec::new();
        }
        let picture = |group: &Group| {
            let candidates = self.candidates(group, None);
            let panels = FRONTS.map(|(_, objectives)| self.front(&candidates, objectives));
            let (id, drive) = match &group.name {
                Some(name) => (format!("pareto-{}", file_name(name)), name.as_str()),
                None => ("pareto".into(), "a drive"),
            };
            let title = format!("Combinations of systems on {drive}, and the Pareto fronts");
            let caption = "Effect against a drive without any system, mean over the ages and the workloads. Left is \
                           faster; below is less wear, above is longer life. The fronts take the price and the other \
                           read latency into account as well, so a combination may be on a front although the picture \
                           shows a better one. pareto.csv names each.";
            Figure::new(id, title, panels).caption(caption).columns(2)
        };
        self.groups().iter().map(picture).collect()
    }

    /// Returns the panel of one front: mean or p99.9 of reads against wear or life.
    fn front(&self, candidates: &[Candidate], objectives: [usize; 3]) -> Panel {
        let beaten = beaten(candidates, &objectives);
        let last = objectives[2];
        let first = if OBJECTIVES[last].lower { objectives[0] } else { objectives[1] };
        let percent = |it: &Candidate, objective| {
            let share = self.shown(it, objective).mean;
            share.map(|share| 100.0 * share)
        };
        let of = |name: &str, is_of: &dyn Fn(usize) -> bool| {
            let all = candidates.iter().enumerate().filter(|(at, _)| is_of(*at));
            let points = all.filter_map(|(_, it)| Some((percent(it, first)?, percent(it, last)?)));
            Series::line(name, points).scattered()
        };
        let is_none = |at: usize| candidates[at].of.subset == 0;
        let series = [
            of("on the front", &|at| beaten[at].is_none() && !is_none(at)),
            of("beaten by another", &|at| beaten[at].is_some() && !is_none(at)),
            of("no system", &is_none),
        ];
        let axis = |objective: usize| {
            let name = OBJECTIVES[objective].metric.name();
            let name = name.split(" (").next().unwrap_or_default();
            Axis::linear(format!("{name}: change (%)"))
        };
        Panel::lines("", axis(first), axis(last), series)
    }
}

/// Name, in tables, of the mean over the ages of the drive.
const ALL_AGES: &str = "all ages";
/// Entry of a table for a combination on the Pareto front.
const ON_FRONT: &str = "on it";
/// Heads of the columns with the price of a combination.
const PRICES: [&str; 3] = ["controller memory (KiB)", "flash (KiB)", "buffers in the dies (KiB)"];
