//! The table of alternatives: rivals of the studied systems, and other readings of them, each in
//! place of its system.

use super::combination::{Combination, short};
use super::effects::change;
use super::plan::Evidence;
use super::tables::add;
use fowler_experiment::tables::Sheet;

impl Evidence {
    /// Returns the table of alternatives: what each is worth alone and as the last, and what is
    /// gained or lost by having it in place of its system. `None` if the study has none.
    pub(super) fn alternatives(&self) -> Option<Sheet> {
        self.plan.alternatives().next()?;
        let heads = self.heads(&["system", "alternative", "age", "what"]);
        let title = format!(
            "Alternatives to a system: effect alone, and added to the other four (as the last); and in place of the \
             system (against the same drive with the system), alone and beside the other four; mean over the workloads \
             with a result under every seed (as a share; of writes in us); {}",
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
                            self.estimate(self.places_of(&group, age), metric, |runs, place| {
                                let of = pair.map(|it| self.number(runs, place, it, metric));
                                change(of, metric.scale())
                            })
                        });
                    }
                }
            }
        }
        Some(sheet)
    }
}
