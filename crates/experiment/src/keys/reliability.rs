//! The keys of the cells: the bit error model and its constants.

use super::key::{Key, at, optional, words};
use super::needs;
use crate::field::{Access, Field, Word};
use fowler_device::Config;
use fowler_device::reliability::{ModelKind, References, RetryCost, StrengthSource};
use fowler_physics::parameters::CONSTANTS;
use fowler_units::Span;

pub(super) fn all() -> Vec<Key<Config>> {
    [model(), table(), cells()].into_iter().flatten().collect()
}

const AGES: std::ops::RangeInclusive<Span> = Span::ZERO..=Span(1827 * 86_400_000_000_000);

#[rustfmt::skip]
fn model() -> Vec<Key<Config>> {
    vec![
        optional("reliability.model", "model of raw bit errors",
            words!(reliability.model,
                "off" => ModelKind::Off, "no bit errors: every read takes its nominal time";
                "analytic" => ModelKind::Analytic, "computed from threshold voltages (docs/physics.md)";
                "by_voltage" => ModelKind::ByVoltage, "sensing level set by the programming \
                    voltage alone, as in HIRE's Table 1";
                "table" => ModelKind::Table, "bit error rate looked up in reliability.table; \
                    covers the nominal ISPP step only";
            )),
        optional("reliability.references", "data age for which the read reference voltages are \
            set (superblocks only)",
            words!(reliability.references,
                "fixed" => References::Fixed, "references for just-written data, whatever the age \
                    of the data";
                "tracked" => References::Tracked, "references for the age of the data: the \
                    controller knows how far its threshold voltages have fallen";
            )).needs(&[&needs::WORD_LINES_BY_LEVEL]),
        optional("reliability.levels", "number of soft-sensing levels, in the order of 3, 9 and 21 reference voltages",
            Field::Count(1..=3, at!(reliability.levels as u32))),
        optional("reliability.retry", "reference voltages sensed and transferred in a retry at \
            the next level",
            words!(reliability.retry,
                "whole" => RetryCost::Whole, "all reference voltages of the next level";
                "increment" => RetryCost::Increment, "only those not sensed at the previous level \
                    (progressive sensing)";
            )),
        optional("reliability.uber", "uncorrectable errors per bit read (UBER), independent of \
            the age and wear of the page; each makes its page, or its mapping unit on drives with superblocks, unreadable for good",
            Field::Real(0.0..=1e-6, at!(reliability.uber))),
        optional("reliability.cycles", "P/E cycles that every block has before preconditioning",
            Field::Count(0..=1_000_000, at!(reliability.cycles as u32))),
        optional("reliability.cycles_spread", "largest number of additional P/E cycles before \
            preconditioning; each block draws a random number up to it",
            Field::Count(0..=1_000_000, at!(reliability.cycles_spread as u32))),
        optional("reliability.oldest", "age, at the start, of the data that was written first",
            Field::Time(AGES, at!(reliability.oldest))),
        optional("reliability.strength", "source of the controller's knowledge of block strength",
            words!(reliability.strength,
                "oracle" => StrengthSource::Oracle, "the controller knows the exact strength";
                "measured" => StrengthSource::Measured, "the controller counts the bits corrected \
                    in pages that it reads in idle time, and in one scan before the run";
            )),
        optional("reliability.risk", "measured: accepted probability that a block is weaker than estimated",
            Field::Real(1e-6..=0.999, at!(reliability.risk))),
        optional("reliability.measure_every", "measured: period in which every block is scanned once",
            Field::Time(Span::ms(1)..=Span(3650 * 86_400_000_000_000), at!(reliability.measure_every))),
    ]
}

/// Creates the getter and setter of a configuration value that is a list in the struct.
macro_rules! list {
    ($($place:ident).+) => {
        Access {
            get: |config| config.$($place).+.clone(),
            set: |config, value| config.$($place).+ = value,
        }
    };
}

#[rustfmt::skip]
fn table() -> Vec<Key<Config>> {
    vec![
        optional("reliability.table.cycles", "table: P/E cycles of an average block, ascending",
            Field::Reals(0.0..=1e9, list!(reliability.table.cycles))),
        optional("reliability.table.ages", "table: retention ages, ascending",
            Field::Spans(AGES, list!(reliability.table.ages))),
        optional("reliability.table.rates", "table: bit error rates, above 0 and below 0.5; one row per entry of cycles, one column per entry of ages",
            Field::Rows(0.0..=0.5, list!(reliability.table.rates))),
    ]
}

/// Returns the description of a constant of the cell model, with its unit.
fn constant(name: &str) -> String {
    let entry = CONSTANTS.iter().find(|entry| entry.name == name).expect("a constant of the cells");
    let about = entry.about.trim_end_matches('.');
    if entry.unit.is_empty() { about.into() } else { format!("{about} ({})", entry.unit) }
}

/// Creates a configuration key for each constant of the cell model, except for times, which the
/// drive sets (`timing`).
macro_rules! constants {
    ($($name:ident)+) => {
        vec![$(optional(
            concat!("reliability.cells.", stringify!($name)),
            constant(stringify!($name)),
            Field::Real(0.0..=1e9, at!(reliability.cells.$name)),
        )),+]
    };
}

fn cells() -> Vec<Key<Config>> {
    constants! {
        growth_mean growth_sd growth_bound rber_unworn erased programmed_1 programmed_2 programmed_3
        step erased_sd retention_charge retention_shift retention_spread retention_onset
        retention_shift_power retention_spread_power disturb_slope disturb_cycles disturb_power
        correctable_3 correctable_9 correctable_21 end_cycles end_age end_reads
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_constant_of_the_cells_has_its_key() {
        let keys: Vec<&str> = cells().iter().map(|key| key.path).collect();
        let constants: Vec<String> =
            CONSTANTS.iter().map(|it| format!("reliability.cells.{}", it.name)).collect();
        let is_time = |name: &&String| name.ends_with("_us");
        let others: Vec<&String> = constants.iter().filter(|name| !is_time(name)).collect();
        assert_eq!(keys, others);
        assert!(cells().iter().all(|key| !key.about.is_empty()));
    }
}
