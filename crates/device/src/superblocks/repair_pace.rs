//! The rate of repair, and when the next page may be read. [`super::repairs`] has the steps.

use crate::config::Config;
use fowler_units::{ByteRate, Nanos, RuId};

/// The rate of repair, and the time at which its next page may be read.
#[derive(Clone, Debug)]
pub(super) struct RepairPace {
    rate: ByteRate,
    /// Size of a mapping unit in bytes.
    unit: u64,
    /// Earliest time at which the next page may be read for a repair.
    pub next: Nanos,
    /// Time of the event at which the repair continues; `NEVER` without one.
    pub looks: Nanos,
    /// Superblocks whose repair has made way for garbage collection, and has neither begun again
    /// nor become needless with an erase.
    pub made_way: Vec<RuId>,
}

impl RepairPace {
    /// Creates the pace of repair; `None` if it has no limit.
    pub fn new(config: &Config) -> Option<RepairPace> {
        let rate = config.redundancy.rebuild_rate;
        (rate > ByteRate(0)).then_some(RepairPace {
            rate,
            unit: config.unit().0,
            next: Nanos::ZERO,
            looks: Nanos::NEVER,
            made_way: Vec::new(),
        })
    }

    /// Records that `units` units are read at `now` to be moved: the next page may be read when the
    /// rate allows them.
    pub fn read(&mut self, now: Nanos, units: u32) {
        self.next = now + self.rate.time(self.unit * u64::from(units));
    }
}
