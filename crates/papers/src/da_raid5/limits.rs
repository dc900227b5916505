//! Figure 2: the longest retention and the most reads that the paper's code can correct, by P/E
//! cycles. The text prints one point of its curves, T_p. Through that point goes the growth of the
//! error rate that RHIO publishes (`policy.redundancy.limit_growth`); the drives refresh by the
//! same limits, and the loss of data over a life follows from the same error rate (`life.rs`).

use super::claims::config;
use crate::claim::Measured;
use fowler_device::Config;
use fowler_experiment::diagnostic::Diagnostics;
use fowler_experiment::tables::{Cell, Sheet};

/// P/E cycles between two points of a curve of retention or read limits.
const STEP: u32 = 1000;
/// P/E cycles at the last point of the curves of longest retention and most reads: the axis of the
/// DA-RAID-5 paper's Figure 2 ends there.
const MOST: u32 = 20_000;
/// Length of a day in nanoseconds.
const DAY: f64 = 86_400e9;

/// The longest retention and the most reads after which the code still corrects data in a block
/// with a number of P/E cycles.
#[derive(Clone, Copy, Debug)]
struct Limits {
    cycles: u32,
    /// The longest retention of data that is not read, in days.
    retention: f64,
    /// The largest number of reads of a block after which fresh data in the block can still be
    /// corrected.
    reads: f64,
}

fn limits(config: &Config, cycles: u32) -> Limits {
    let redundancy = &config.redundancy;
    let longer = redundancy.limits_at(f64::from(cycles));
    let retention = redundancy.retention.0 as f64 * longer / DAY;
    Limits { cycles, retention, reads: f64::from(redundancy.reads) * longer }
}

fn all(config: &Config) -> Vec<Limits> {
    (0..=MOST / STEP).map(|turn| limits(config, turn * STEP)).collect()
}

/// Returns the longest retention and the most reads of a block at T_p (the P/E cycles above which a
/// block counts as worn), with the directions that both fall over the whole range of P/E cycles.
pub(super) fn measured(config: &Config) -> Measured {
    let all = all(config);
    let falls = |of: fn(&Limits) -> f64| all.windows(2).all(|pair| of(&pair[1]) < of(&pair[0]));
    let at = limits(config, config.redundancy.worn_above);
    Measured::of([("T_read at T_p", at.reads), ("T_retention at T_p (days)", at.retention)])
        .direction("T_read falls with cycles", falls(|it| it.reads))
        .direction("T_retention falls with cycles", falls(|it| it.retention))
}

/// Returns the table of the longest retention (days) and the most reads of a block that the code
/// can correct, by P/E cycles.
pub(super) fn sheet() -> Result<Sheet, Diagnostics> {
    let heads = ["cycles", "T_retention (days)", "T_read"];
    let title = "Figure 2: limits through the one point that the paper prints, with the growth of RHIO's cells (assumed)";
    let mut sheet = Sheet::new("figure2", title, &heads);
    for it in all(&config()?) {
        sheet.row(vec![
            Cell::Number(it.cycles.into()),
            Cell::Number(it.retention),
            Cell::Number(it.reads),
        ]);
    }
    Ok(sheet)
}

#[cfg(test)]
mod tests {
    use super::super::life;
    use super::*;

    /// The retention and read limits follow from the error rate at which data is lost: at each
    /// limit the code corrects 99.9 % of words.
    #[test]
    fn the_code_corrects_what_the_limits_allow() {
        let config = config().unwrap();
        let printed = config.redundancy.retention.0 as f64 / DAY;
        for limit in all(&config) {
            let cells = life::cells(&config, f64::from(limit.cycles), limit.retention / printed);
            assert!((cells / 5.84297e-4 - 1.0).abs() < 1e-5, "{limit:?}: {cells}");
        }
        let at_worn = all(&config)[15];
        assert_eq!((at_worn.retention, at_worn.reads), (381.0, 46_000.0));
    }

    /// The claim that the limits fall with P/E cycles is rejected for cells whose error rate does
    /// not grow.
    #[test]
    fn limits_that_do_not_fall_are_noticed() {
        let mut config = config().unwrap();
        let fall = |config: &Config| {
            measured(config).directions.into_iter().map(|(_, falls)| falls).collect::<Vec<_>>()
        };
        assert_eq!(fall(&config), [true, true]);
        config.redundancy.limit_growth = 0.0;
        assert_eq!(fall(&config), [false, false]);
    }
}
