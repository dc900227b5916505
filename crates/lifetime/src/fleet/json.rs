//! A fleet as JSON, and the schema of that.

use super::{Alive, Fleet, Interval, Replaced};
use crate::Lifetime;
use fowler_experiment::json_schema::nullable;
use fowler_experiment::json_schema::output::{self, Fact, all_written, list_of, written};
use serde_json::Value;

/// Returns the JSON field with the fleet of a lifetime; null if there is none.
pub(crate) fn fact() -> Fact<Lifetime> {
    let about = "A fleet of drives of this kind that differ in cells, early failures and loads; \
        null without a fleet.";
    let fleet = |it: &Lifetime| it.fleet.as_ref().map_or(Value::Null, |it| written(&facts(), it));
    Fact::new("fleet", about, fleet).like(nullable(output::schema(&facts())))
}

/// Returns the JSON fields of a fleet's assumptions (such as the spread of the drives' loads) and
/// of the drives' target lifetime.
fn of_spec() -> Vec<Fact<Fleet>> {
    type It = Fleet;
    vec![
        Fact::new("drives", "Number of drives in the fleet.", |it: &It| it.spec.drives),
        Fact::new(
            "load_spread",
            "Standard deviation of the logarithm of the drives' loads.",
            |it: &It| it.spec.load_spread,
        ),
        Fact::new(
            "early_share",
            "Share of drives that fail early in the first year.",
            |it: &It| it.spec.early_share,
        ),
        Fact::new("early_shape", "The Weibull shape of early failures.", |it: &It| {
            it.spec.early_shape
        }),
        Fact::new("worn_blocks", "Share of worn-out blocks at which a drive ends.", |it: &It| {
            it.spec.worn_blocks
        }),
        Fact::new(
            "bad_blocks_share",
            "Share of blocks that fail within the rated cycles; null if no block fails.",
            |it: &It| it.bad_blocks.map(|law| law.share),
        ),
        Fact::new("confidence", "Probability covered by each interval.", |it: &It| {
            it.spec.confidence
        }),
        Fact::new("years", "The years over which the fleet is followed.", |it: &It| it.horizon),
        Fact::new("dilation_share", "Share by which dilation may change the lives.", |it: &It| {
            it.dilation_error
        }),
    ]
}

fn facts() -> Vec<Fact<Fleet>> {
    type It = Fleet;
    let mut facts = of_spec();
    let list = |interval: Interval| [interval.low, interval.value, interval.high];
    for (name, share) in
        [("years_p01", 0.01), ("years_p10", 0.1), ("years_p50", 0.5), ("years_p90", 0.9)]
    {
        let about = "Years after which that share of drives is replaced: low, value, high.";
        facts.push(Fact::new(name, about, move |it: &It| list(it.years_at(share))));
    }
    for (name, share) in [("tbw_p01", 0.01), ("tbw_p10", 0.1), ("tbw_p50", 0.5), ("tbw_p90", 0.9)] {
        let about = "Terabytes (10^12 bytes) that the host has written until that share of drives \
            is replaced: low, value, high.";
        facts.push(Fact::new(name, about, move |it: &It| list(it.tbw_at(share))));
    }
    facts.extend([
        Fact::new(
            "early_failures",
            "Share of early failures among first replacements.",
            |it: &It| it.early(),
        ),
        Fact::new(
            "spare_used_up",
            "Share of drives whose spare was used up by failed blocks among first replacements; null \
                if no block fails.",
            |it: &It| it.out_of_spare(),
        ),
        Fact::new(
            "beyond_simulated_loss",
            "Share of first drives that lose more spare than the simulated life, beyond which their \
                write amplification is that of its end; null if no block fails.",
            |it: &It| it.beyond_simulated(),
        ),
        Fact::new("replaced", "Number of drives replaced in all years together.", |it: &It| {
            it.all.count
        }),
        Fact::new(
            "replacement_rate",
            "Drives replaced per drive and year: low, value, high.",
            move |it: &It| list(it.rate(it.all, it.horizon)),
        ),
        Fact::new("spares", "Number of spare drives that suffices for all years.", |it: &It| {
            it.spares(it.all)
        }),
        Fact::new(
            "survival",
            "Share of first drives alive at points in time, with its interval.",
            |it: &It| all_written(&of_alive(), &it.survival()),
        )
        .like(list_of(output::schema(&of_alive()))),
        Fact::new("by_year", "Replacements year by year.", |it: &It| {
            all_written(&of_year(), &it.years())
        })
        .like(list_of(output::schema(&of_year()))),
    ]);
    facts
}

fn of_alive() -> Vec<Fact<Alive>> {
    vec![
        Fact::new("years", "The moment.", |it: &Alive| it.years),
        Fact::new("low", "Lower bound of the share.", |it: &Alive| it.share.low),
        Fact::new("alive", "Share of first drives still alive.", |it: &Alive| it.share.value),
        Fact::new("high", "Upper bound of the share.", |it: &Alive| it.share.high),
    ]
}

/// The drives of a fleet that were replaced in one year.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Year {
    /// Number of the year of the fleet, from 1.
    pub number: usize,
    /// Length of a year of the fleet in years: 1, or less for the last one.
    pub length: f64,
    /// Counts of the drives of a fleet that were replaced in one year.
    pub replaced: Replaced,
    /// Number of drives replaced per slot of the fleet (each holds one drive at a time) and year,
    /// with its confidence interval.
    pub rate: Interval,
    /// Number of spare drives that suffice to replace the drives of one year, with the probability
    /// that the specification of the fleet states.
    pub spares: u64,
}

fn of_year() -> Vec<Fact<Year>> {
    vec![
        Fact::new("year", "Which year.", |it: &Year| it.number),
        Fact::new("replaced", "Drives replaced.", |it: &Year| it.replaced.count),
        Fact::new("rate", "Replacements per drive and year: low, value, high.", |it: &Year| {
            [it.rate.low, it.rate.value, it.rate.high]
        }),
        Fact::new("spares", "Number of spare drives that suffices for the year.", |it: &Year| {
            it.spares
        }),
    ]
}

impl Fleet {
    /// Returns the replaced drives of each year of the fleet.
    pub fn years(&self) -> Vec<Year> {
        let of = |(number, &replaced): (usize, &Replaced)| {
            let length = (self.horizon - number as f64).min(1.0);
            Year {
                number: number + 1,
                length,
                replaced,
                rate: self.rate(replaced, length),
                spares: self.spares(replaced),
            }
        };
        self.by_year.iter().enumerate().map(of).collect()
    }
}
