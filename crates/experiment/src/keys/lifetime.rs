//! The keys of a drive's lifetime: the blocks and dies that fail, its target, the endurance of
//! cells that rest, and the constants of the write throttle.

use super::key::{Key, at, optional, words};
use super::needs;
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
        optional("bad_blocks.share", "share of blocks that have failed when all have reached lifetime.cycles; 0: no block fails",
            Field::Real(0.0..=0.5, at!(bad_blocks.share))),
        optional("bad_blocks.shape", "Weibull shape of block failures; 1: constant failure rate; \
            above 1: failure rate rises with wear",
            Field::Real(0.1..=20.0, at!(bad_blocks.shape))).needs(&[&needs::BAD_BLOCKS]),
        optional("bad_blocks.erases", "share of block failures that an erase reports; a program \
            reports the others, unless its page is not programmed in that cycle",
            Field::Real(0.0..=1.0, at!(bad_blocks.erases))).needs(&[&needs::BAD_BLOCKS]),
        optional("failed_dies.spare", "spare dies, each of which takes the place of a failed one; a die that fails after that stays failed",
            Field::Count(0..=1 << 24, at!(failed_dies.spare as u32))),
        optional("lifetime.target", "target lifetime of the drive",
            Field::Time(LIVES, at!(life.target))),
        optional("lifetime.cycles", "endurance of the cells in P/E cycles, without recovery",
            Field::Real(0.0..=1e9, at!(life.cycles))),
        optional("lifetime.recovery", "model of the recovery of cells between two P/E cycles \
            (docs/ready.md)",
            words!(life.recovery,
                "spread" => Recovery::Model(Reading::Spread), "READY's model, with the total time \
                    over which the cycles are spread";
                "refit" => Recovery::Model(Reading::Refit), "READY's model with the printed \
                    constants, constants fitted to its Table 2";
                "literal" => Recovery::Model(Reading::Literal), "READY's model with the printed \
                    constants";
                "table" => Recovery::Table, "endurance looked up in lifetime.table, for other technologies";
            )),
        optional("lifetime.temperature", "temperature of the cells while they rest, in degrees Celsius: \
            warm cells recover faster (activation energy of 1.1 eV, assumed)",
            Field::Real(0.0..=70.0, at!(life.temperature))).needs(&[&needs::RECOVERY_MODEL]),
        optional("lifetime.dilation", "number of real repetitions that each simulated one stands for; scales wear and time",
            Field::Count(1..=1_000_000, at!(life.dilation as u32))),
        optional("lifetime.window", "window over which write demand is measured, and the shortest epoch",
            Field::Time(SOME, at!(throttle.window))),
        optional("lifetime.period", "length of a throttling period; a host stopped in one period \
            may resume in the next",
            Field::Time(SOME, at!(throttle.period))),
        optional("lifetime.spare", "share of the write budget of later epochs that an epoch may \
            borrow",
            Field::Real(0.0..=1.0, at!(throttle.spare))),
        optional("lifetime.miss", "relative error beyond which a prediction of write demand \
            counts as wrong",
            Field::Real(0.0..=1000.0, at!(throttle.miss))),
        optional("lifetime.streak", "consecutive wrong predictions of write demand before the \
            throttle chooses a new epoch length",
            Field::Count(1..=1_000_000, at!(throttle.streak as u32))),
        optional("lifetime.miss_step", "amount by which lifetime.miss falls while predictions have long \
            been right, and rises while they have long been wrong by more; 0: lifetime.miss is constant",
            Field::Real(0.0..=1000.0, at!(throttle.miss_step))),
        optional("lifetime.smoothing", "weight of an epoch's write demand in the predicted demand of \
            the next; the earlier prediction has the rest of the weight. 1: the last epoch alone",
            Field::Real(0.01..=1.0, at!(throttle.smoothing))),
        optional("lifetime.history", "length of the history of write demand that predictions use",
            Field::Time(SOME, at!(throttle.history))),
        optional("lifetime.table.idle", "table: mean idle times between two cycles, ascending",
            Field::Spans(IDLE, Access {
                get: |config| config.life.table.0.clone(),
                set: |config, value| config.life.table.0 = value,
            })),
        optional("lifetime.table.cycles", "table: endurance in P/E cycles at each idle time of \
            the table",
            Field::Reals(0.0..=1e9, Access {
                get: |config| config.life.table.1.clone(),
                set: |config, value| config.life.table.1 = value,
            })),
    ]
}
