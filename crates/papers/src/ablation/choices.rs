//! The choice among combinations of systems: the best by each objective, with ties, and the Pareto
//! front over metrics and prices.
//!
//! Two combinations are compared by the difference of their effects, seed by seed. With several
//! seeds, a difference within its 95 % confidence interval counts as none. See
//! docs/decisions/together.md, "When is one combination better than another?".

use super::combination::Combination;
use super::effects::change;
use super::plan::{Age, Evidence, Metric};
use super::price::{KIB, Price, total};
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

/// Metrics of reliability. No combination is chosen by them, but they stand beside every choice.
const RISKS: [Metric; 2] = [Metric::Failed, Metric::Bare];

/// Objectives of the two fronts, by their place in [`OBJECTIVES`]: mean and p99.9 of reads, and
/// wear or life.
const FRONTS: [(&str, [usize; 3]); 2] = [("with wear", [0, 1, 3]), ("with life", [0, 1, 4])];

/// Returns the metric with this number among the effects of a candidate: of an objective, or of
/// reliability.
fn metric(number: usize) -> Metric {
    let risk = || RISKS[number - OBJECTIVES.len()];
    OBJECTIVES.get(number).map_or_else(risk, |it| it.metric)
}

/// A combination of systems that can be built, with its price and its effects.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    pub of: Combination,
    pub price: Price,
    /// For each objective and then each metric of reliability, the effect under each seed against a
    /// drive without systems, as a number that can be summed. All candidates are measured by the
    /// same workloads; `None` where no workload has the metric for all of them.
    pub effects: Vec<Option<Vec<f64>>>,
}

impl Candidate {
    fn estimate(&self, number: usize) -> Estimate {
        let sums = self.effects[number].as_ref();
        sums.map_or_else(Estimate::default, |it| Estimate::of_sums(it, metric(number).scale()))
    }

    /// Returns the cell of a table with the mean effect on one of the metrics.
    fn mean_cell(&self, number: usize) -> Cell {
        cell(metric(number), self.estimate(number).mean)
    }

    /// Returns the cells of a table with the mean effects on the metrics of reliability.
    fn risk_cells(&self) -> impl Iterator<Item = Cell> {
        (OBJECTIVES.len()..self.effects.len()).map(|it| self.mean_cell(it))
    }

    fn price_cells(&self) -> [Cell; 3] {
        self.price.0.map(|it| Cell::number(Some(it / KIB)))
    }
}

/// Compares two effects seed by seed: `Less` if the first is measurably lower. `None` without a
/// seed.
fn compared(one: &[f64], other: &[f64]) -> Option<Ordering> {
    let apart: Vec<f64> = one.iter().zip(other).map(|(one, other)| one - other).collect();
    let mean = mean(&apart)?;
    let half = interval(&apart).map_or(0.0, |it| it.half_width);
    Some(if mean.abs() <= half { Ordering::Equal } else { mean.total_cmp(&0.0) })
}

/// Compares two candidates by an objective: `Less` if the first is measurably better. `None` if an
/// effect is unknown.
fn by(objective: usize, one: &Candidate, other: &Candidate) -> Option<Ordering> {
    let [one, other] = [one, other].map(|it| it.effects[objective].as_deref());
    let order = compared(one?, other?)?;
    Some(if OBJECTIVES[objective].lower { order } else { order.reverse() })
}

/// Returns true if the first candidate beats the second: it is measurably worse in none of the
/// objectives, needs no more of any kind of memory that is paid for, and is better in one of these.
fn beats(objectives: &[usize], one: &Candidate, other: &Candidate) -> bool {
    let [own, others] = [one, other].map(|it| it.price.paid());
    let is_cheap = own.iter().zip(&others).all(|(own, other)| own <= other);
    let orders: Option<Vec<Ordering>> = objectives.iter().map(|it| by(*it, one, other)).collect();
    let Some(orders) = orders.filter(|_| is_cheap) else { return false };
    let is_better = own != others || orders.contains(&Ordering::Less);
    is_better && !orders.contains(&Ordering::Greater)
}

/// Returns, for each candidate, the index of the first one on the Pareto front that beats it by the
/// objectives and the price; `None` for those on the front. A candidate is off the front only if
/// one that is on it beats it. `None` in place of the list if an objective is unknown for some
/// candidate.
pub(super) fn beaten(candidates: &[Candidate], objectives: &[usize]) -> Option<Vec<Option<usize>>> {
    let is_known = |it: &Candidate| objectives.iter().all(|at| it.effects[*at].is_some());
    if !candidates.iter().all(is_known) {
        return None;
    }
    let beats_each = |one| candidates.iter().map(|other| beats(objectives, one, other)).collect();
    let beats: Vec<Vec<bool>> = candidates.iter().map(beats_each).collect();
    let (mut front, mut open) = (Vec::new(), (0..candidates.len()).collect::<Vec<usize>>());
    while !open.is_empty() {
        front.extend(leaders(&open, &beats));
        let is_off = |it: usize| front.iter().any(|winner: &usize| beats[*winner][it]);
        open.retain(|it| !front.contains(it) && !is_off(*it));
    }
    front.sort_unstable();
    let winner = |it: usize| {
        let is_off = !front.contains(&it);
        front.iter().copied().find(|winner| is_off && beats[*winner][it])
    };
    Some((0..candidates.len()).map(winner).collect())
}

/// Returns the candidates in `open` that none of the others beats, directly or through others,
/// unless they beat it in turn. Such circles exist because ties are not transitive; all members of
/// one have the same price. `beats[a][b]` is true if `a` beats `b`.
fn leaders(open: &[usize], beats: &[Vec<bool>]) -> Vec<usize> {
    let mut is_above = beats.to_vec();
    for by in open {
        for one in open {
            for other in open {
                is_above[*one][*other] |= is_above[*one][*by] && is_above[*by][*other];
            }
        }
    }
    let leads = |it: &&usize| open.iter().all(|one| !is_above[*one][**it] || is_above[**it][*one]);
    open.iter().filter(leads).copied().collect()
}

/// Returns the best candidate by an objective, and the candidates that are not measurably worse,
/// from the simplest on: fewest systems, then least controller memory, then least buffers in the
/// dies. `None` if the candidates have no value.
pub(super) fn best(candidates: &[Candidate], objective: usize) -> Option<(usize, Vec<usize>)> {
    let value = |it: &Candidate| {
        let value = mean(it.effects[objective].as_ref()?)?;
        Some(if OBJECTIVES[objective].lower { value } else { -value })
    };
    let known = candidates.iter().enumerate().filter_map(|(at, it)| Some((at, value(it)?)));
    let (best, _) = known.min_by(|one, other| one.1.total_cmp(&other.1))?;
    let is_tied = |it: &usize| {
        by(objective, &candidates[best], &candidates[*it]).is_some_and(|it| it == Ordering::Equal)
    };
    let mut ties: Vec<usize> = (0..candidates.len()).filter(is_tied).collect();
    let simple = |it: &usize| {
        let Candidate { of, price, .. } = &candidates[*it];
        (of.subset.count_ones(), price.paid().map(|it| it as u64))
    };
    ties.sort_by_key(simple);
    Some((best, ties))
}

/// Returns the candidates with the means of their effects over the ages of the drive, from the
/// candidates at each age. An effect that is unknown at one age is unknown.
fn over_ages(ages: &[Vec<Candidate>]) -> Vec<Candidate> {
    let over = |at: usize, number: usize| {
        let of_ages = ages.iter().map(|it| it[at].effects[number].as_deref());
        let of_ages = of_ages.collect::<Option<Vec<&[f64]>>>()?;
        let seeds = of_ages.first()?.len();
        let of_seed = |seed| mean(&of_ages.iter().map(|it| it[seed]).collect::<Vec<_>>());
        (0..seeds).map(of_seed).collect()
    };
    let first = ages.first().into_iter().flatten();
    let candidate = |(at, it): (usize, &Candidate)| {
        let effects = (0..it.effects.len()).map(|number| over(at, number)).collect();
        Candidate { effects, ..it.clone() }
    };
    first.enumerate().map(candidate).collect()
}

/// The candidates on a group of drives at one age, or over all ages.
struct Case<'a> {
    /// Name of the group of drives; `None` if the study has only one drive.
    drive: Option<String>,
    age: &'a str,
    candidates: Vec<Candidate>,
}

impl Case<'_> {
    /// Returns the first cells of a row: the drive if there are several, and the age.
    fn lead(&self) -> Vec<Cell> {
        let drive = self.drive.iter().map(|it| it.as_str().into());
        drive.chain([self.age.into()]).collect()
    }
}

/// All candidates of a study, from which it chooses.
pub(super) struct Choice<'a> {
    evidence: &'a Evidence,
    cases: Vec<Case<'a>>,
}

impl Evidence {
    /// Returns the candidates of the study on each group of drives, over all ages and at each age;
    /// `None` if the study makes no choice.
    pub(super) fn choice(&self) -> Option<Choice<'_>> {
        self.prices.first()?;
        let mut cases = Vec::new();
        for group in self.groups() {
            let ages = self.plan.age.iter().map(|age| self.candidates(&group, age));
            let ages: Vec<Vec<Candidate>> = ages.collect();
            let all = (ALL_AGES, over_ages(&ages));
            let each = self.plan.age.iter().map(|it| it.name.as_str()).zip(ages);
            cases.extend(std::iter::once(all).chain(each).map(|(age, candidates)| {
                let drive = group.name.clone();
                Case { drive, age, candidates }
            }));
        }
        Some(Choice { evidence: self, cases })
    }

    /// Returns the combinations of systems that can be built, with their effects on a group of
    /// drives at one age.
    fn candidates(&self, group: &Group, age: &Age) -> Vec<Candidate> {
        let prices = self.prices.iter().filter(|(of, _)| of.is_real(&self.plan.factor));
        let real: Vec<_> = prices.map(|(of, items)| (*of, total(items))).collect();
        let effects = (0..OBJECTIVES.len() + RISKS.len()).map(|number| {
            let metric = metric(number);
            self.averaged(self.places_of(group, age), metric.scale(), |runs, place| {
                let value = |of: Combination| self.number(runs, place, of, metric);
                let none = value(Combination::from(0));
                let effect =
                    |(of, _): &(Combination, Price)| change([none, value(*of)], metric.scale());
                real.iter().map(effect).collect()
            })
        });
        let effects: Vec<Option<Vec<Vec<f64>>>> = effects.collect();
        let candidate = |(at, (of, price)): (usize, &(Combination, Price))| {
            let own = effects.iter().map(|it| it.as_ref().map(|all| all[at].clone()));
            Candidate { of: *of, price: *price, effects: own.collect() }
        };
        real.iter().enumerate().map(candidate).collect()
    }
}

impl Choice<'_> {
    fn named(&self, candidate: &Candidate) -> String {
        candidate.of.named(&self.evidence.plan.factor)
    }

    /// Returns the table of choices: by each objective, the best combination of systems, those that
    /// cannot be told from it, and the price of the simplest.
    pub(super) fn choices(&self) -> Sheet {
        let mut heads = self.evidence.lead_heads(&["age", "for the", "best", "against none", "±"]);
        let [of_best, of_simplest] = ["best", "simplest"]
            .map(|which| RISKS.map(|metric| format!("{}, {which}", metric.name())));
        heads.extend(of_best.iter().map(String::as_str));
        heads.extend(["simplest of the ties", "against none, simplest"]);
        heads.extend(of_simplest.iter().map(String::as_str));
        heads.extend(PRICES);
        heads.push("ties");
        let title = format!(
            "What to build by objective: the best combination, and all that cannot be told from it (ties), from the \
             simplest on (fewest systems, then least memory); effect against a drive without any system, as a share, of \
             writes in us; {COMMON}; empty if there is none; {}",
            self.evidence.spread()
        );
        let mut sheet = Sheet::new("choices", title, &heads);
        for case in &self.cases {
            for (number, objective) in OBJECTIVES.iter().enumerate() {
                let mut cells = case.lead();
                cells.push(objective.name.into());
                if let Some((best, ties)) = best(&case.candidates, number) {
                    let ties: Vec<&Candidate> =
                        ties.iter().map(|it| &case.candidates[*it]).collect();
                    let (best, simplest) = (&case.candidates[best], ties[0]);
                    cells.extend([self.named(best).into(), best.mean_cell(number)]);
                    cells.push(cell(objective.metric, best.estimate(number).half));
                    cells.extend(best.risk_cells());
                    cells.extend([self.named(simplest).into(), simplest.mean_cell(number)]);
                    cells.extend(simplest.risk_cells());
                    cells.extend(simplest.price_cells());
                    let names: Vec<String> = ties.iter().map(|it| self.named(it)).collect();
                    cells.push(names.join("; ").into());
                }
                cells.resize(heads.len(), Cell::Nothing);
                sheet.row(cells);
            }
        }
        sheet
    }

    /// Returns the table of the Pareto fronts: every combination with its effects and its price,
    /// and for each front either that it is on it or a combination on it that beats it.
    pub(super) fn pareto(&self) -> Sheet {
        let mut heads = self.evidence.lead_heads(&["age", "combination"]);
        heads.extend((0..OBJECTIVES.len() + RISKS.len()).map(|it| metric(it).name()));
        heads.extend(PRICES);
        let fronts = FRONTS.map(|(name, _)| format!("front {name}"));
        heads.extend(fronts.iter().map(String::as_str));
        let title = format!(
            "Pareto fronts over mean and p99.9 of reads, wear or life, and the price in memory: a combination is on a \
             front unless one on the front is measurably worse in none of these and better in one; effects against a \
             drive without any system (as a share; of writes in us); {COMMON}; a front is empty if there is none; {}",
            self.evidence.spread()
        );
        let mut sheet = Sheet::new("pareto", title, &heads);
        for case in &self.cases {
            let fronts = FRONTS.map(|(_, objectives)| beaten(&case.candidates, &objectives));
            for (at, candidate) in case.candidates.iter().enumerate() {
                let mut cells = case.lead();
                cells.push(self.named(candidate).into());
                cells.extend((0..candidate.effects.len()).map(|it| candidate.mean_cell(it)));
                cells.extend(candidate.price_cells());
                cells.extend(fronts.iter().map(|beaten| match beaten.as_ref().map(|it| it[at]) {
                    None => Cell::Nothing,
                    Some(None) => ON_FRONT.into(),
                    Some(Some(other)) => {
                        format!("beaten by {}", self.named(&case.candidates[other])).into()
                    }
                }));
                sheet.row(cells);
            }
        }
        sheet
    }

    /// Returns a picture of the Pareto fronts for each drive, as means over the ages.
    pub(super) fn fronts(&self) -> Vec<Figure> {
        let picture = |case: &Case<'_>| {
            let panels = FRONTS.map(|(_, objectives)| front(&case.candidates, objectives));
            let (id, drive) = match &case.drive {
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
        self.cases.iter().filter(|it| it.age == ALL_AGES).map(picture).collect()
    }
}

/// Returns the panel of one front: mean or p99.9 of reads against wear or life.
fn front(candidates: &[Candidate], objectives: [usize; 3]) -> Panel {
    let beaten = beaten(candidates, &objectives);
    let last = objectives[2];
    let first = if OBJECTIVES[last].lower { objectives[0] } else { objectives[1] };
    let percent = |it: &Candidate, number| it.estimate(number).mean.map(|share| 100.0 * share);
    let of = |name: &str, is_of: &dyn Fn(usize, Option<usize>) -> bool| {
        let all = candidates.iter().zip(beaten.iter().flatten()).enumerate();
        let all = all.filter(|(at, (_, beaten))| is_of(*at, **beaten));
        let points = all.filter_map(|(_, (it, _))| Some((percent(it, first)?, percent(it, last)?)));
        Series::line(name, points).scattered()
    };
    let is_none = |at: usize| candidates[at].of.subset == 0;
    let series = [
        of("on the front", &|at, beaten| beaten.is_none() && !is_none(at)),
        of("beaten by another", &|at, beaten| beaten.is_some() && !is_none(at)),
        of("no system", &|at, _| is_none(at)),
    ];
    let axis = |objective: usize| {
        let name = OBJECTIVES[objective].metric.name();
        let name = name.split(" (").next().unwrap_or_default();
        Axis::linear(format!("{name}: change (%)"))
    };
    Panel::lines("", axis(first), axis(last), series)
}

/// Name, in tables, of the mean over the ages of the drive.
const ALL_AGES: &str = "all ages";
/// Entry of a table for a combination on the Pareto front.
const ON_FRONT: &str = "on it";
/// Heads of the columns with the memory that a combination takes.
const PRICES: [&str; 3] =
    ["controller memory (KiB)", "spare capacity taken (KiB)", "buffers in the dies (KiB)"];
/// Part of a title that says over which workloads combinations are compared.
const COMMON: &str =
    "each metric over the workloads that report it for all combinations under every seed";
