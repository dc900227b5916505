//! The table of alternatives: rivals of the studied systems, and other readings of them, each in
//! place of its system.

use super::combination::{Combination, short};
use super::effects::change;
use super::plan::{Age, Evidence, Metric};
use super::tables::{Estimate, Group, add};
use fowler_experiment::tables::Sheet;

impl Evidence {
    /// Returns the effect on a metric of going from one combination of systems to another, as mean
    /// over the drives of a group and over the workloads that have the metric, with the interval
    /// over seeds.
    fn step(
        &self,
        group: &Group,
        (age, metric): (&Age, Metric),
        pair: [Combination; 2],
    ) -> Estimate {
        let sums = self.gained(group, (age, metric), pair);
        Estimate::of(sums.into_iter().map(|sum| sum.map(|sum| metric.scale().down(sum))))
    }

    /// Returns that effect under each seed, as a number that can be summed.
    pub(super) fn gained(
        &self,
        group: &Group,
        (age, metric): (&Age, Metric),
        [from, to]: [Combination; 2],
    ) -> Vec<Option<f64>> {
        let scale = metric.scale();
        self.averaged(&group.drives, age, scale, |runs, place| {
            let of = |it| self.number(runs, place, it, metric);
            change([of(from), of(to)], scale)
        })
    }

    /// Returns the table of alternatives: what each is worth alone and as the last, and what is
    /// gained or lost by having it in place of its system. `None` if the study has none.
    pub(super) fn alternatives(&self) -> Option<Sheet> {
        self.plan.alternatives().next()?;
        let heads = self.heads(&["factor", "alternative", "age", "what"]);
        let title = format!(
            "Alternatives to a system: effect alone, and added to the other four (as the last); and in place of the \
             system (against the same drive with the system), alone and beside the other four; mean over the workloads \
             with a result (as a share; of writes in us); {}",
            self.spread()
        );
        let mut sheet = Sheet::new("alternatives", title, &heads);
        let (factors, subsets) = (&self.plan.factor, self.plan.subsets());
        for group in self.groups() {
            for alone in self.plan.alternatives() {
                let Some((factor, other)) = alone.replacement(factors) else { continue };
                let (last, name) = (alone.as_last(subsets), other.shown_name());
                let bit = alone.subset;
                let (system, all) = (Combination::from(bit), Combination::from(subsets - 1));
                let instead = format!("in place of {}", short(&factor.name));
                let rows = [
                    ("alone".into(), [Combination::from(0), alone]),
                    ("as the last".into(), [Combination::from((subsets - 1) & !bit), last]),
                    (format!("{instead}, alone"), [system, alone]),
                    (format!("{instead}, as the last"), [all, last]),
                ];
                for age in &self.plan.age {
                    for (what, pair) in &rows {
                        let mut lead: Vec<&str> = group.name.as_deref().into_iter().collect();
                        lead.extend([short(&factor.name), &name, &age.name, what]);
                        add(&mut sheet, &lead, self.seeds.len(), |metric| {
                            self.step(&group, (age, metric), *pair)
                        });
                    }
                }
            }
        }
        Some(sheet)
    }
}
