//! The life of a drive: how long it is to be, what its cells endure, and what of that is left
//! (READY, FAST 2012, sections 2 and 3.1). Wear is that of the blocks of the drive, page by page.

use crate::blocks::block_table::Blocks;
use crate::config::Config;
use crate::config::layout::Refusal;
use crate::policy::throttle::{EpochRule, ThrottleKind};
use fowler_physics::recovery::{CYCLES, Endurance, Reading, RecoveryTable};
use fowler_units::{Nanos, Span};
use serde::{Deserialize, Serialize};

/// A life, as it is described.
#[derive(Clone, Debug, PartialEq)]
pub struct Params {
    /// How long it is to be.
    pub target: Span,
    /// P/E cycles that cells endure without recovery.
    pub cycles: f64,
    /// What rest does to them.
    pub recovery: Recovery,
    /// [`Recovery::Table`]: idle times, rising, and the cycles that cells endure with so much
    /// between two cycles.
    pub table: (Vec<Span>, Vec<f64>),
    /// For how many repetitions one stands: so much faster do wear and life go by.
    pub dilation: u32,
}

/// Five years of 365 days (READY, section 3.1).
const FIVE_YEARS: Span = Span(5 * 365 * 86_400_000_000_000);

impl Default for Params {
    fn default() -> Self {
        Self {
            target: FIVE_YEARS,
            cycles: CYCLES,
            recovery: Recovery::Model(Reading::Spread),
            table: (Vec::new(), Vec::new()),
            dilation: 1,
        }
    }
}

/// What rest does to cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovery {
    /// What READY's model says under a reading.
    Model(Reading),
    /// What a table says.
    Table,
}

impl Params {
    /// What says how many cycles the cells endure.
    ///
    /// # Errors
    /// What is wrong with the table.
    pub fn endurance(&self) -> Result<Endurance, Vec<String>> {
        match self.recovery {
            Recovery::Model(reading) => Ok(Endurance::Model(reading)),
            Recovery::Table => RecoveryTable::new(&self.table.0, &self.table.1)
                .map(Endurance::Table)
                .map_err(|wrong| wrong.iter().map(ToString::to_string).collect()),
        }
    }
}

impl Config {
    /// Why a drive cannot live as it is to.
    pub(crate) fn refuse_life(&self) -> Vec<Refusal> {
        let mut refusals = Vec::new();
        let mut refuse = |keys: &[&'static str], what: String, hint: Option<&str>| {
            let hint = hint.map(str::to_string);
            refusals.push(Refusal { keys: keys.to_vec(), what, hint });
        };
        let (life, throttle) = (&self.life, &self.throttle);
        if !(life.cycles > 0.0 && life.cycles <= 1e9) {
            let what =
                format!("cells that endure {} cycles: there is no capacity to write", life.cycles);
            refuse(&["lifetime.cycles"], what, None);
        }
        for wrong in life.endurance().err().into_iter().flatten() {
            refuse(&["lifetime.table.idle", "lifetime.table.cycles"], wrong, None);
        }
        if let (Recovery::Table, Ok(Endurance::Table(table))) = (life.recovery, life.endurance())
            && table.least() < life.cycles
        {
            let what = format!(
                "cells that endure {} cycles without rest endure {} with some: rest does not wear them",
                life.cycles,
                table.least()
            );
            refuse(&["lifetime.cycles", "lifetime.table.cycles"], what, None);
        }
        if throttle.spare >= 1.0 {
            let what = format!(
                "an epoch that may borrow a share of {} leaves the later ones nothing",
                throttle.spare
            );
            refuse(&["lifetime.spare"], what, Some("a share below 1; the paper has 0.1"));
        }
        let (key, epoch) = match throttle.epoch {
            EpochRule::Auto => ("lifetime.window", throttle.window),
            EpochRule::Fixed => ("policy.throttle.epoch_length", throttle.epoch_length),
        };
        let k = life.dilation.max(1);
        let dilated = Span(life.target.0 / u64::from(k));
        if dilated < epoch {
            let what = format!(
                "a life of {} in which one repetition stands for {k} is shorter than an epoch of {epoch}",
                life.target
            );
            let hint = "a longer life, a shorter epoch, or less dilation";
            refuse(&["lifetime.target", key, "lifetime.dilation"], what, Some(hint));
        }
        if throttle.name == ThrottleKind::Off && self.policies.throttle.is_some() {
            let what = "a policy that admits writes takes the place of a throttle, which this drive does not have";
            let hint = "policy.throttle = \"fixed_rate\", or a scheme that has one, such as st";
            refuse(&["policy.throttle"], what.into(), Some(hint));
        }
        if throttle.name != ThrottleKind::Off && epoch < throttle.period {
            let what =
                format!("an epoch of {epoch} is shorter than a period of {}", throttle.period);
            refuse(&[key, "lifetime.period"], what, None);
        }
        refusals
    }
}

/// A life as it goes by. Time and pages are those of the simulation: with dilation both the life
/// and its capacity are shorter by so much, so that their ratio is that of the whole life.
#[derive(Clone, Debug)]
pub struct Life {
    params: Params,
    endurance: Endurance,
    /// Pages of the drive, and those programmed before the life began.
    pages: f64,
    before: u64,
    /// The most pages that can be programmed in it and endured at its end.
    sustained: f64,
}

impl Life {
    /// The life of a drive that begins now.
    ///
    /// # Panics
    /// If the configuration is one that is refused.
    pub(crate) fn new(config: &Config, blocks: &Blocks) -> Self {
        Self::of(config.life.clone(), f64::from(blocks.geometry().pages()), blocks.programmed())
    }

    pub(crate) fn of(params: Params, pages: f64, before: u64) -> Self {
        let endurance = params.endurance().expect("refused otherwise");
        let sustained = endurance.sustained(params.cycles, params.target) * pages;
        Self { params, endurance, pages, before, sustained }
    }

    /// See docs/decisions/lifetime.md, "What does dilation scale?".
    fn dilation(&self) -> f64 {
        f64::from(self.params.dilation.max(1))
    }

    /// When it ends.
    pub fn ends(&self) -> Nanos {
        Nanos(self.params.target.0 / u64::from(self.params.dilation.max(1)))
    }

    /// Pages programmed in it so far, for as many repetitions as each stands for.
    pub(crate) fn programmed(&self, blocks: &Blocks) -> f64 {
        (blocks.programmed() - self.before) as f64 * self.dilation()
    }

    /// The mean idle time between two cycles of a block: the time that has gone by over the mean
    /// cycles so far. None before the first page.
    fn idle(&self, programmed: f64, now: Nanos) -> Option<Span> {
        let elapsed = now.0 as f64 * self.dilation();
        (programmed > 0.0).then(|| Span((elapsed / (programmed / self.pages)) as u64))
    }

    /// What the drive amounts to after it has been programmed with so many pages until `now`.
    pub(crate) fn totals(&self, programmed: f64, now: Nanos) -> Totals {
        let idle = self.idle(programmed, now);
        let rated = self.params.cycles;
        // Before the first cycle nothing has rested.
        let healed = idle.map_or(rated, |idle| self.endurance.achievable(rated, idle));
        Totals { programmed, idle, rated: rated * self.pages, achievable: healed * self.pages }
    }

    /// What the drive amounts to.
    pub(crate) fn stand(&self, blocks: &Blocks, now: Nanos) -> Totals {
        self.totals(self.programmed(blocks), now)
    }

    /// Pages of the simulation that may still be programmed.
    pub(crate) fn left(&self, blocks: &Blocks, now: Nanos, healed: bool) -> f64 {
        self.left_of(self.programmed(blocks), now, healed)
    }

    /// The same after so many pages. What cells endure that have rested until now is not what they
    /// will endure when it has been written, for that takes their rest away: no more is left than
    /// can be endured when the life ends.
    pub(crate) fn left_of(&self, programmed: f64, now: Nanos, healed: bool) -> f64 {
        let most = if healed {
            self.totals(programmed, now).achievable.min(self.sustained)
        } else {
            self.params.cycles * self.pages
        };
        (most - programmed) / self.dilation()
    }
}

/// What a drive amounts to at a moment of its life, in pages.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Totals {
    /// Programmed so far, for any source: `W_work`.
    pub programmed: f64,
    /// The mean idle time between two cycles of a block; none before the first page.
    pub idle: Option<Span>,
    /// What its cells endure without recovery: `C_ssd`.
    pub rated: f64,
    /// What they endure with the rest that they have had: `C'_ssd`.
    pub achievable: f64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use fowler_units::{Bytes, Geometry};

    const YEAR: f64 = 365.0 * 86_400e9;

    fn life(gb: u64, recovery: Reading, dilation: u32) -> Life {
        let params = Params { recovery: Recovery::Model(recovery), dilation, ..Params::default() };
        Life::of(params, (gb << 18) as f64, 0)
    }

    /// Pages of 4 KiB in a binary terabyte.
    const TB: f64 = (1u64 << 28) as f64;

    /// READY, section 3.1 and Table 2: 128 GB of 3,000 cycles are 375 TB, 32 GB 93.75; with 1,918.8
    /// TB written in five years the 128 GB endure 949.3.
    #[test]
    fn capacities_are_those_of_table_2() {
        for (gb, rated) in [(128, 375.0), (32, 93.75)] {
            let totals = life(gb, Reading::Spread, 1).totals(0.0, Nanos::ZERO);
            assert_eq!((totals.rated / TB, totals.achievable / TB), (rated, rated));
        }
        for (gb, written, achievable) in
            [(128, 1918.8, 949.3), (32, 54.2, 403.4), (128, 374.4, 1387.3)]
        {
            for dilation in [1, 400] {
                let life = life(gb, Reading::Spread, dilation);
                let totals = life.totals(written * TB, life.ends());
                let endures = totals.achievable / TB;
                assert!((endures / achievable - 1.0).abs() < 0.0075, "{written}: {endures}");
            }
        }
        // B_static: 2.494 and 0.6234 MB/s (binary), by the rated capacity over five years.
        let rate = |gb: u64| {
            life(gb, Reading::Spread, 1).totals(0.0, Nanos::ZERO).rated / (5.0 * YEAR / 1e9)
        };
        assert!((rate(128) / 256.0 - 2.494).abs() < 0.001, "{}", rate(128) / 256.0);
        assert!((rate(32) / 256.0 - 0.6234).abs() < 0.0001, "{}", rate(32) / 256.0);
    }

    #[test]
    fn wear_is_that_of_the_blocks() {
        let geometry = Geometry {
            channels: 1,
            chips_per_channel: 1,
            dies_per_chip: 1,
            planes_per_die: 2,
            blocks_per_plane: 3,
            pages_per_block: 4,
            page_size: Bytes(4096),
        };
        let mut blocks = Blocks::new(geometry);
        assert_eq!(blocks.programmed(), 0);
        let block = blocks.open(fowler_units::PlaneId(0)).unwrap();
        for _ in 0..4 {
            blocks.program(fowler_units::PlaneId(0), block);
        }
        blocks.fill(block, Nanos::ZERO);
        assert_eq!(blocks.programmed(), 4);
        blocks.collect(block);
        blocks.vacate(block);
        blocks.erase(block);
        assert_eq!((blocks.programmed(), blocks.erase_counts()[0]), (4, 1));
    }
}
