//! Tables and pictures of an ablation study.

use super::combination::short;
use super::effects::{Scale, against_none, effect, first_and_last};
use super::plan::{Age, Evidence, Metric, Place};
use crate::runs::{Runs, mean};
use crate::studies::interval;
use fowler_experiment::tables::{Cell, Sheet};
use fowler_figures::{Figure, Panel, Series};

/// Returns a table's cell with the effect that turning a studied system (such as PES suspension) on
/// has on a metric: in percent, or as a difference in the metric's own unit.
pub(super) fn cell(metric: Metric, value: Option<f64>) -> Cell {
    match metric.scale() {
        Scale::Ratio => Cell::share(value),
        Scale::Difference if metric.is_share() => Cell::share(value),
        Scale::Difference => Cell::number(value),
    }
}

/// A function that derives a number, such as the effect of a system, from the values of a metric
/// with all subsets of an ablation study's systems.
type Reading<'a> = dyn Fn(&[Option<f64>], Scale) -> Option<f64> + 'a;

/// A value estimated over the seeds: its mean, and half the width of its 95 % confidence interval
/// if there are enough seeds for one.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Estimate {
    pub mean: Option<f64>,
    pub half: Option<f64>,
}

impl Estimate {
    /// Returns the mean of a metric over the seeds of an ablation study with its confidence
    /// interval; empty if one seed has no value.
    pub fn of(values: impl Iterator<Item = Option<f64>>) -> Estimate {
        let values = values.collect::<Option<Vec<f64>>>();
        values.map_or_else(Estimate::default, |it| Estimate::of_sums(&it, Scale::Difference))
    }

    /// Returns the estimate of an effect from its values under the seeds, as numbers that can be
    /// summed (see [`Scale::addend`]). Mean and interval are those of these numbers, converted
    /// back; empty without a seed.
    pub fn of_sums(sums: &[f64], scale: Scale) -> Estimate {
        let Some(middle) = mean(sums) else { return Estimate::default() };
        let ends = interval(sums).map(|it| [middle - it.half_width, middle + it.half_width]);
        let half =
            ends.map(|ends| ends.map(|it| scale.down(it))).map(|[low, high]| (high - low) / 2.0);
        Estimate { mean: Some(scale.down(middle)), half }
    }
}

/// Adds to a table of the ablation study a row of estimates and, with several seeds, a row of their
/// confidence intervals. The last text in `lead` names the estimated quantity.
pub(super) fn add(sheet: &mut Sheet, lead: &[&str], seeds: usize, of: impl Fn(Metric) -> Estimate) {
    let all = Metric::ALL.map(|metric| (metric, of(metric)));
    let (what, lead) = lead.split_last().expect("a row says what it is of");
    let mut row = |what: String, part: fn(Estimate) -> Option<f64>| {
        let mut cells: Vec<Cell> = lead.iter().map(|it| (*it).into()).collect();
        cells.push(what.into());
        cells.extend(all.map(|(metric, estimate)| cell(metric, part(estimate))));
        sheet.row(cells);
    };
    row((*what).into(), |it| it.mean);
    if seeds > 1 {
        row(format!("{what} ±"), |it| it.half);
    }
}

/// Drives of an ablation study over which a table takes means, with their name in tables; the name
/// is `None` if the study has only one drive.
pub(super) struct Group {
    pub name: Option<String>,
    pub drives: Vec<usize>,
    /// File name, without its ending, of the picture of the drives whose mean a table shows
    /// together.
    picture: String,
}

impl Evidence {
    /// Returns the groups of drives that tables of an ablation study show: first all drives that
    /// were measured well enough to count in means, together; then each drive alone. Drives that
    /// are one drive under different settings are shown alone only.
    pub(super) fn groups(&self) -> Vec<Group> {
        let drives = &self.plan.drive;
        let means = (0..drives.len()).filter(|it| drives[*it].mark.is_none()).collect();
        let picture = String::from("worth");
        if drives.len() == 1 {
            return vec![Group { name: None, drives: means, picture }];
        }
        let each = drives.iter().enumerate().map(|(number, drive)| Group {
            name: Some(drive.shown_name()),
            drives: vec![number],
            picture: format!("worth-{}", file_name(&drive.name)),
        });
        if self.plan.apart {
            return each.collect();
        }
        let all = Group { name: Some("all drives".into()), drives: means, picture };
        std::iter::once(all).chain(each).collect()
    }

    /// Returns a group for each drive that enters no mean over drives, because it was fitted to too
    /// few measurements.
    fn marked_groups(&self) -> Vec<Group> {
        let is_marked = |it: &Group| match it.drives[..] {
            [drive] => self.plan.drive[drive].mark.is_some(),
            _ => false,
        };
        self.groups().into_iter().filter(is_marked).collect()
    }

    /// Returns the heads of a table's columns: the drive if there are several, then `lead`, then
    /// the metrics.
    pub(super) fn heads<'a>(&self, lead: &[&'a str]) -> Vec<&'a str> {
        let mut heads = self.lead_heads(lead);
        heads.extend(Metric::ALL.map(Metric::name));
        heads
    }

    /// Returns the heads of the columns that name a row: the drive if there are several, then
    /// `lead`.
    pub(super) fn lead_heads<'a>(&self, lead: &[&'a str]) -> Vec<&'a str> {
        let drive = (self.plan.drive.len() > 1).then_some("drive");
        drive.into_iter().chain(lead.iter().copied()).collect()
    }

    /// Returns the mean, over all drives of a group and all workloads, of a number such as a
    /// system's effect, which `of` derives from a metric's values for all subsets of the systems.
    /// Workloads without that number under some seed are left out. The mean of ratios is geometric.
    fn over(
        &self,
        group: &Group,
        age: &Age,
        metric: Metric,
        of: impl Fn(&[Option<f64>]) -> Option<f64>,
    ) -> Estimate {
        let all = |runs: &Runs, place: Place<'_>| of(&self.all(runs, place, metric));
        self.estimate(self.places_of(group, age), metric, all)
    }

    /// Returns the mean over `places` of the effect on a metric that `of` derives from the runs of
    /// a seed, with the interval over the seeds.
    pub(super) fn estimate<'a>(
        &self,
        places: impl Iterator<Item = Place<'a>>,
        metric: Metric,
        of: impl Fn(&Runs, Place<'_>) -> Option<f64>,
    ) -> Estimate {
        let scale = metric.scale();
        let sums = self.averaged(places, scale, |runs, place| vec![of(runs, place)]);
        sums.map_or_else(Estimate::default, |it| Estimate::of_sums(&it[0], scale))
    }

    /// Returns the means over `places` of effects on `scale`, which `of` derives from the runs of a
    /// seed: for each effect and each seed a number that can be summed (see [`Scale::addend`]). All
    /// are means over the same places, those at which every effect is known under every seed;
    /// `None` if there is none.
    pub(super) fn averaged<'a>(
        &self,
        places: impl Iterator<Item = Place<'a>>,
        scale: Scale,
        of: impl Fn(&Runs, Place<'_>) -> Vec<Option<f64>>,
    ) -> Option<Vec<Vec<f64>>> {
        let known = places.filter_map(|place| {
            let of_seed = |runs| {
                let effects = of(runs, place).into_iter();
                effects.map(|it| scale.addend(it?)).collect::<Option<Vec<f64>>>()
            };
            self.seeds.iter().map(of_seed).collect::<Option<Vec<_>>>()
        });
        let known: Vec<Vec<Vec<f64>>> = known.collect();
        let effects = known.first()?.first()?.len();
        let over_places = |effect: usize, seed: usize| {
            mean(&known.iter().map(|place| place[seed][effect]).collect::<Vec<_>>())
        };
        let of_seeds =
            |effect| (0..self.seeds.len()).map(|seed| over_places(effect, seed)).collect();
        (0..effects).map(of_seeds).collect()
    }

    /// Returns every workload on each drive of a group at one age.
    pub(super) fn places_of<'a>(
        &'a self,
        group: &'a Group,
        age: &'a Age,
    ) -> impl Iterator<Item = Place<'a>> {
        group.drives.iter().flat_map(move |drive| {
            let drive = *drive;
            self.columns.iter().map(move |it| Place { drive, age, column: &it.name })
        })
    }

    /// Returns a sentence that says how the values in a table are estimated from the runs of
    /// several seeds.
    pub(super) fn spread(&self) -> String {
        match self.seeds.len() {
            1 => "one seed".into(),
            count => format!(
                "means over {count} seeds (of ratios: geometric); ± is half the 95 % confidence interval"
            ),
        }
    }

    /// Returns the end of a table's title that says over which drives the means are taken; empty if
    /// all drives count in means.
    pub(super) fn of_all(&self) -> &'static str {
        match self.marked_groups()[..] {
            [] => "",
            _ => "; all drives: those without a mark",
        }
    }

    /// Returns the main table of an ablation study: the effect of each system, averaged over the
    /// workloads, by age.
    pub(super) fn worth(&self) -> Sheet {
        let heads = self.heads(&["factor", "age", "what"]);
        let title = format!(
            "Effect of each system on a metric: on average over all combinations of the others, alone, and added to \
             the other four; mean over the workloads with a result under every seed (as a share; of writes in us); {}{}",
            self.spread(),
            self.of_all()
        );
        let mut sheet = Sheet::new("worth", title, &heads);
        for group in self.groups() {
            for (bit, factor) in self.plan.factor.iter().enumerate() {
                for age in &self.plan.age {
                    let mut row = |what: &str, of: &Reading<'_>| {
                        let mut lead: Vec<&str> = group.name.as_deref().into_iter().collect();
                        lead.extend([factor.name.as_str(), age.name.as_str(), what]);
                        add(&mut sheet, &lead, self.seeds.len(), |metric| {
                            self.over(&group, age, metric, |all| of(all, metric.scale()))
                        });
                    };
                    row("on average", &|all, scale| effect(all, 1 << bit, scale));
                    row("alone", &|all, scale| first_and_last(all, 1 << bit, scale)[0]);
                    row("as the last", &|all, scale| first_and_last(all, 1 << bit, scale)[1]);
                }
            }
        }
        sheet
    }

    /// Returns the table of the drives that enter no mean, because too little was measured of them:
    /// the effect of each studied system alone and of all together, averaged over the workloads, by
    /// age. `None` if there is no such drive.
    pub(super) fn marked(&self) -> Option<Sheet> {
        let groups = self.marked_groups();
        let first = groups.first()?.drives[0];
        let mark = self.plan.drive[first].mark.as_deref().unwrap_or_default();
        let heads = self.heads(&["factor", "age", "what"]);
        let title = format!(
            "Drives {mark}, which are in no mean over drives: effect of each system on a metric, alone, and of all five \
             together; mean over the workloads with a result under every seed (as a share; of writes in us); {}",
            self.spread()
        );
        let mut sheet = Sheet::new("marked", title, &heads);
        let names = self.plan.factor.iter().map(|it| it.name.as_str());
        let each = names.enumerate().map(|(bit, name)| (1 << bit, name, "alone"));
        let subsets: Vec<(usize, &str, &str)> =
            each.chain([(self.plan.subsets() - 1, "all five", "together")]).collect();
        for group in &groups {
            for (subset, factor, what) in &subsets {
                for age in &self.plan.age {
                    let mut lead: Vec<&str> = group.name.as_deref().into_iter().collect();
                    lead.extend([factor, age.name.as_str(), what]);
                    add(&mut sheet, &lead, self.seeds.len(), |metric| {
                        self.over(group, age, metric, |all| {
                            against_none(all, *subset, metric.scale())
                        })
                    });
                }
            }
        }
        Some(sheet)
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

    /// Returns the table of interactions: for each pair of systems, how much larger the effect of
    /// one is with the other than without it, averaged over the workloads.
    pub(super) fn interactions(&self) -> Sheet {
        let heads = self.heads(&["pair", "age", "what"]);
        let title = format!(
            "Interaction of two systems: the effect of one on a metric with the other, less that without. Above zero \
             they hinder, below zero they help each other (for life, the reverse); mean over the workloads (as a \
             share; of writes in us); {}{}",
            self.spread(),
            self.of_all()
        );
        let mut sheet = Sheet::new("interactions", title, &heads);
        for group in self.groups() {
            for (which, name) in self.pairs() {
                for age in &self.plan.age {
                    let mut lead: Vec<&str> = group.name.as_deref().into_iter().collect();
                    lead.extend([name.as_str(), age.name.as_str(), "together"]);
                    add(&mut sheet, &lead, self.seeds.len(), |metric| {
                        self.over(&group, age, metric, |all| effect(all, which, metric.scale()))
                    });
                }
            }
        }
        sheet
    }

    /// Returns the table of the effect of every system under every workload.
    pub(super) fn effects(&self) -> Sheet {
        let heads = self.heads(&["workload", "age", "effect of"]);
        let title = format!(
            "Effects of systems and of pairs of systems on metrics by workload, below zero if less (as a share; of writes \
             in us); {}",
            self.spread()
        );
        let mut sheet = Sheet::new("effects", title, &heads);
        let singles = self.plan.factor.iter().enumerate();
        let mut all: Vec<(usize, String)> =
            singles.map(|(bit, factor)| (1 << bit, factor.name.clone())).collect();
        all.extend(self.pairs());
        for place in self.places() {
            let drive = self.drive_name(place);
            for (which, name) in &all {
                let mut lead: Vec<&str> = drive.as_deref().into_iter().collect();
                lead.extend([place.column, place.age.name.as_str(), name.as_str()]);
                add(&mut sheet, &lead, self.seeds.len(), |metric| {
                    self.estimate(std::iter::once(place), metric, |runs, place| {
                        effect(&self.all(runs, place, metric), *which, metric.scale())
                    })
                });
            }
        }
        sheet
    }

    /// Returns every combination of drive, workload and age in the study, in the order of tables.
    fn places(&self) -> impl Iterator<Item = Place<'_>> {
        (0..self.plan.drive.len()).flat_map(move |drive| {
            self.columns.iter().flat_map(move |column| {
                let column = column.name.as_str();
                self.plan.age.iter().map(move |age| Place { drive, age, column })
            })
        })
    }

    /// Returns the name in tables of the drive on which a run took place, with the warning if too
    /// little was measured of that drive; `None` if the study has only one drive.
    fn drive_name(&self, place: Place<'_>) -> Option<String> {
        let drives = &self.plan.drive;
        (drives.len() > 1).then(|| drives[place.drive].shown_name())
    }

    /// Returns the table of every run with the ablation study's own seed.
    pub(super) fn each_run(&self) -> Sheet {
        let mut heads = self.heads(&["workload", "source", "age", "scheme"]);
        heads.extend(["blocks erased", "pages moved by GC"]);
        let mut sheet = Sheet::new("runs", "Every run", &heads);
        let Some(runs) = self.seeds.first() else { return sheet };
        for place in self.places() {
            let source = self.columns.iter().find(|it| it.name == place.column);
            let source = source.map_or("", |it| it.source.as_str());
            for of in self.plan.combinations() {
                let scheme = of.shown(&self.plan.factor);
                let mut cells: Vec<Cell> =
                    self.drive_name(place).into_iter().map(Into::into).collect();
                cells.extend::<[Cell; 4]>([
                    place.column.into(),
                    source.into(),
                    place.age.name.as_str().into(),
                    scheme.into(),
                ]);
                cells.extend(
                    Metric::ALL.map(|metric| Cell::number(self.number(runs, place, of, metric))),
                );
                let run = self.run(runs, place, of);
                cells.push(Cell::number(run.and_then(|run| run.get("erases"))));
                cells.push(Cell::number(run.and_then(|run| run.get("counters.programs.gc"))));
                sheet.row(cells);
            }
        }
        sheet
    }

    /// Returns bar charts of the effect of each system: one over all drives, and one for each drive
    /// if there are several.
    pub(super) fn pictures(&self) -> Vec<Figure> {
        self.groups().iter().map(|group| self.picture(group)).collect()
    }

    fn picture(&self, group: &Group) -> Figure {
        let metrics = [Metric::Read, Metric::Read999, Metric::Write999, Metric::Wear];
        let panels = metrics.map(|metric| {
            let (factor, unit) = match metric.scale() {
                Scale::Ratio => (100.0, "change (%)"),
                Scale::Difference => (1e-3, "change (ms)"),
            };
            let series = self.plan.age.iter().map(|age| {
                let effects = (0..self.plan.factor.len()).map(|bit| {
                    self.over(group, age, metric, |all| effect(all, 1 << bit, metric.scale()))
                });
                let estimates: Vec<Estimate> = effects.collect();
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
        let drives = group.name.as_deref();
        let title = format!(
            "Effect of each system on {}, averaged over combinations of the other systems",
            drives.unwrap_or("a drive")
        );
        let caption = format!(
            "Mean effect of a system on the metric, over all pairs of runs that differ only in the system, and over {} workloads. Negative means less.",
            self.columns.len()
        );
        Figure::new(&group.picture, title, panels).caption(caption).columns(2)
    }
}

/// Returns the name of a drive with a hyphen for every space and comma, for names of files.
pub(super) fn file_name(name: &str) -> String {
    let words = name.split([' ', ',']).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("-")
}
