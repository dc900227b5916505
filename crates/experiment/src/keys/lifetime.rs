//! The keys of a drive's life: how long it is to be, what rested cells endure, and by what numbers
//! a throttle keeps it.

use super::{Key, at, optional, words};
use crate::field::{Access, Field, Word};
use fowler_device::Config;
use fowler_device::endurance::Recovery;
use fowler_physics::recovery::Reading;
use fowler_units::Span;

const DAY: Span = Span(86_400_000_000_000);
const LIVES: std::ops::RangeInclusive<Span> = Span::ms(1)..=Span(36_500 * DAY.0);
const SOME: std::ops::RangeInclusive<Span> = Span::us(1)..=Span(3650 * DAY.0);
const IDLE: std::ops::RangeInclusive<Span> = Span::ZERO..=Span(36_500 * DAY.0);

#[rustfmt::skip]
pub(super) fn all() -> Vec<Key<Config>> {
    vec![
        optional("lifetime.target", "how long the drive is to live",
            Field::Time(LIVES, at!(life.target))),
        optional("lifetime.cycles", "P/E cycles that cells endure without recovery",
            Field::Real(0.0..=1e9, at!(life.cycles))),
        optional("lifetime.recovery", "what rest between two cycles does to cells (docs/ready.md)",
            words!(life.recovery,
                "spread" => Recovery::Model(Reading::Spread), "READY's model; time is that over which all cycles are spread";
                "refit" => Recovery::Model(Reading::Refit), "READY's model as printed, constants fitted to its Table 2";
                "literal" => Recovery::Model(Reading::Literal), "READY's model as printed";
                "table" => Recovery::Table, "what lifetime.table says: another technology";
            )),
        optional("lifetime.dilation", "for how many repetitions one stands: wear and life go by so much faster",
            Field::Count(1..=1_000_000, at!(life.dilation as u32))),
        optional("lifetime.window", "window in which write demand is counted, and the shortest epoch",
            Field::Time(SOME, at!(throttle.window))),
        optional("lifetime.period", "a stopped host may resume in the next period",
            Field::Time(SOME, at!(throttle.period))),
        optional("lifetime.spare", "share of the later epochs' capacity that an epoch may borrow",
            Field::Real(0.0..=1.0, at!(throttle.spare))),
        optional("lifetime.miss", "share by which demand may differ from the prediction",
            Field::Real(0.0..=1000.0, at!(throttle.miss))),
        optional("lifetime.streak", "misses one after another until the epoch's length is chosen anew",
            Field::Count(1..=1_000_000, at!(throttle.streak as u32))),
        optional("lifetime.history", "how far back demand is remembered",
            Field::Time(SOME, at!(throttle.history))),
        optional("lifetime.table.idle", "table: mean idle times between two cycles, rising",
            Field::Spans(IDLE, Access {
                get: |config| config.life.table.0.clone(),
                set: |config, value| config.life.table.0 = value,
            })),
        optional("lifetime.table.cycles", "table: P/E cycles that cells endure with so much idle time",
            Field::Reals(0.0..=1e9, Access {
                get: |config| config.life.table.1.clone(),
                set: |config, value| config.life.table.1 = value,
            })),
    ]
}
