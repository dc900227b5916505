//! Figure 2 with our cell model: the longest retention and the most reads that the paper's code can
//! correct, by P/E cycles. The constants are those of the drive's preset. None is fitted to the
//! figure, because the text does not print its curves.

use super::claims::config;
use crate::claim::Measured;
use fowler_device::Config;
use fowler_experiment::diagnostic::Diagnostics;
use fowler_experiment::tables::{Cell, Sheet};
use fowler_physics::bch::Bch;
use fowler_physics::rber::{Block, Reliability};
use fowler_physics::vth::Setting;
use fowler_units::Span;

/// Cycles between two points, and the last point: the axis of Figure 2 ends at 20,000.
const STEP: u32 = 1000;
const MOST: u32 = 20_000;
/// Longer than any data is kept: 100 years.
const LONGEST: u64 = 100 * 365 * 86_400_000_000_000;

/// The limits of cells after a number of cycles.
#[derive(Clone, Copy, Debug)]
struct Limits {
    cycles: u32,
    /// The longest retention of unread data; `None` if the code cannot even correct fresh data.
    retention: Option<Span>,
    /// The most reads of a block with fresh data.
    reads: Option<u32>,
}

/// Returns the largest number up to `most` for which a monotone condition holds; `None` if it fails
/// at zero.
fn last(most: u64, holds: impl Fn(u64) -> bool) -> Option<u64> {
    if !holds(0) {
        return None;
    }
    if holds(most) {
        return Some(most);
    }
    let (mut low, mut high) = (0, most);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if holds(middle) { low = middle } else { high = middle }
    }
    Some(low)
}

fn limits(model: &Reliability, cycles: u32) -> Limits {
    // At which 99.9 % of words are corrected (equation (3)).
    let worst = Bch::DA_RAID_5.worst_cells(1e-3);
    let setting = Setting { scale: 1.0, step: model.parameters().step };
    let block: Block<'_> = model.block(f64::from(cycles));
    let retention = last(LONGEST, |age| block.rber(Span(age), 0, setting) <= worst).map(Span);
    let reads = |reads: u64| block.rber(Span::ZERO, reads as u32, setting) <= worst;
    Limits { cycles, retention, reads: last(u32::MAX.into(), reads).map(|it| it as u32) }
}

fn all(config: &Config) -> Option<Vec<Limits>> {
    let model = config.reliability.model().ok()?;
    Some((0..=MOST / STEP).map(|turn| limits(&model, turn * STEP)).collect())
}

/// Whether a limit falls from each point to the next until nothing can be corrected, with at least
/// one fall.
fn falls<T: PartialOrd>(limits: impl Iterator<Item = Option<T>>) -> bool {
    let limits: Vec<Option<T>> = limits.collect();
    let borne = limits.iter().take_while(|it| it.is_some()).count();
    borne > 1
        && limits[..borne].windows(2).all(|pair| pair[1] < pair[0])
        && limits[borne..].iter().all(Option::is_none)
}

/// Returns 1 for each limit that falls.
pub(super) fn measured(config: &Config) -> Option<Measured> {
    let all = all(config)?;
    let one = |label: &str, falls: bool| (label.to_string(), f64::from(u8::from(falls)));
    let values = vec![
        one("T_read falls", falls(all.iter().map(|it| it.reads))),
        one("T_retention falls", falls(all.iter().map(|it| it.retention))),
    ];
    let holds = values.iter().all(|(_, value)| *value == 1.0);
    Some(Measured::held(values, holds))
}

/// Returns the limits by cycles.
pub(super) fn sheet() -> Result<Sheet, Diagnostics> {
    let heads = ["cycles", "T_retention (days)", "T_read"];
    let title = "Figure 2 with our cells: limits that the code of equation (3) can correct, up to 100 years and 2^32 - 1 reads; empty: not even fresh data";
    let mut sheet = Sheet::new("figure2", title, &heads);
    for it in all(&config()?).unwrap_or_default() {
        sheet.row(vec![
            Cell::Number(it.cycles.into()),
            Cell::number(it.retention.map(|it| it.0 as f64 / 86_400e9)),
            Cell::number(it.reads.map(f64::from)),
        ]);
    }
    Ok(sheet)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without charge loss and disturb, the limits do not fall: either check can fail.
    #[test]
    fn each_limit_is_looked_at() {
        let fall = |config: &Config| {
            let values = measured(config).unwrap().values;
            values.iter().map(|it| it.1).collect::<Vec<f64>>()
        };
        let config = config().unwrap();
        assert_eq!(fall(&config), [1.0, 1.0]);
        let mut undisturbed = config.clone();
        undisturbed.reliability.cells.disturb_slope = 0.0;
        assert_eq!(fall(&undisturbed), [0.0, 1.0]);
        let mut keeps = config.clone();
        (keeps.reliability.cells.retention_shift, keeps.reliability.cells.retention_spread) =
            (0.0, 0.0);
        keeps.reliability.cells.retention_charge = 0.0;
        assert_eq!(fall(&keeps), [1.0, 0.0]);
    }

    /// The code corrects data at the limit, and fails with one more read.
    #[test]
    fn limits_are_where_the_code_gives_up() {
        let config = config().unwrap();
        let model = config.reliability.model().unwrap();
        let worst = Bch::DA_RAID_5.worst_cells(1e-3);
        let setting = Setting { scale: 1.0, step: model.parameters().step };
        let its = limits(&model, 2000);
        let (age, reads) = (its.retention.unwrap(), its.reads.unwrap());
        let rber = |age: Span, reads: u32| model.block(2000.0).rber(age, reads, setting);
        assert!(rber(Span::ZERO, reads) <= worst && rber(Span::ZERO, reads + 1) > worst);
        assert!(rber(age, 0) <= worst && rber(Span(age.0 + age.0 / 1000), 0) > worst);
    }
}
