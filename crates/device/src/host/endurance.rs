//! The lifetime of a drive: its target, the endurance of its cells, and the endurance left (READY,
//! FAST 2012, sections 2 and 3.1).
//!
//! Invariants: time and pages are those of the simulation, in which dilation divides the lifetime
//! and its write capacity by the same factor; wear is that of the drive's blocks, counted page by
//! page since `before`; idle time never reduces the endurance of cells, which the configuration is
//! checked for.

use crate::blocks::block_table::Blocks;
use crate::config::Config;
pub use crate::config::endurance::{Params, Recovery};
use crate::config::layout::Refusal;
use crate::policy::throttle::{EpochRule, ThrottleKind};
use fowler_physics::recovery::Endurance;
use fowler_physics::voltage::{ByVoltage, Voltage};
use fowler_units::{Nanos, Span};
use serde::{Deserialize, Serialize};

/// Maximum number of time windows for which a write throttle stores the write demand. It bounds
/// memory (one number for each window) and time: the search for the best epoch length tries every
/// number of windows.
const WINDOWS_MOST: u64 = 100_000;

impl Config {
    /// Returns the reasons why the lifetime parameters cannot work.
    pub(crate) fn refuse_life(&self) -> Vec<Refusal> {
        let mut refusals = Vec::new();
        let mut refuse = |keys: &[&'static str], what: String, hint: Option<&str>| {
            let hint = hint.map(str::to_string);
            refusals.push(Refusal { keys: keys.to_vec(), what, hint });
        };
        let (life, throttle) = (&self.life, &self.throttle);
        if !(life.cycles > 0.0 && life.cycles <= 1e9) {
            let what =
                format!("an endurance of {} cycles; expected above 0 and at most 1e9", life.cycles);
            refuse(&["lifetime.cycles"], what, None);
        }
        for wrong in life.endurance().err().into_iter().flatten() {
            refuse(&["lifetime.table.idle", "lifetime.table.cycles"], wrong, None);
        }
        if let (Recovery::Table, Ok(Endurance::Table(table))) = (life.recovery, life.endurance())
            && table.least() < life.cycles
        {
            let what = format!(
                "cells endure {} cycles without idle time, but {} with it: idle time cannot reduce endurance",
                life.cycles,
                table.least()
            );
            refuse(&["lifetime.cycles", "lifetime.table.cycles"], what, None);
        }
        if throttle.spare >= 1.0 {
            let what = format!(
                "a spare of {} lets an epoch of the write throttle borrow the write capacity of \
                 all later ones: it leaves later epochs no capacity",
                throttle.spare
            );
            refuse(
                &["lifetime.spare"],
                what,
                Some("use a share below 1; READY, a lifetime throttle, uses 0.1"),
            );
        }
        let (key, epoch) = match throttle.epoch {
            EpochRule::Auto => ("lifetime.window", throttle.window),
            EpochRule::Fixed => ("policy.throttle.epoch_length", throttle.epoch_length),
        };
        let k = life.dilation.max(1);
        let dilated = Span(life.target.0 / u64::from(k));
        if dilated < epoch {
            let what = format!(
                "a target lifetime of {}, divided by a dilation of {k} (lifetime.dilation), is \
                 shorter than one throttle epoch of {epoch}",
                life.target
            );
            let hint = "use a longer target lifetime, a shorter epoch, or less dilation";
            refuse(&["lifetime.target", key, "lifetime.dilation"], what, Some(hint));
        }
        refusals.extend(self.refuse_throttle((key, epoch)));
        refusals
    }

    /// Returns the reasons why a write throttle cannot work with epochs of this length, which the
    /// named key sets.
    fn refuse_throttle(&self, (key, epoch): (&'static str, Span)) -> Vec<Refusal> {
        let mut refusals = Vec::new();
        let mut refuse = |keys: &[&'static str], what: String, hint: Option<&str>| {
            let hint = hint.map(str::to_string);
            refusals.push(Refusal { keys: keys.to_vec(), what, hint });
        };
        let throttle = &self.throttle;
        let windows = throttle.history.0 / throttle.window.0.max(1);
        if windows > WINDOWS_MOST {
            let (history, window) = (throttle.history, throttle.window);
            let what = format!(
                "the write throttle would store the write demand of {windows} windows, a history \
                 of {history} by windows of {window}; it can store at most {WINDOWS_MOST} windows"
            );
            let hint = "use a shorter history, or a longer window";
            refuse(&["lifetime.history", "lifetime.window"], what, Some(hint));
        }
        if throttle.name == ThrottleKind::Off && self.policies.throttle.is_some() {
            let what =
                "a custom throttle takes the place of a built-in one, and policy.throttle is off";
            let hint = "set policy.throttle = \"fixed_rate\", or use a scheme such as st";
            refuse(&["policy.throttle"], what.into(), Some(hint));
        }
        if throttle.name != ThrottleKind::Off && epoch < throttle.period {
            let what = format!(
                "the write throttle divides epochs into periods, but its epoch of {epoch} is \
                 shorter than a throttle period of {}",
                throttle.period
            );
            refuse(&[key, "lifetime.period"], what, None);
        }
        refusals
    }
}

/// A drive's lifetime in progress. Time and pages are those of the simulation: with dilation, the
/// lifetime and its write capacity are both reduced by that factor, so that their ratio is
/// preserved.
#[derive(Clone, Debug)]
pub struct Life {
    params: Params,
    endurance: Endurance,
    /// Number of physical pages of the drive.
    pages: f64,
    /// Program count of the block table, in pages, at which the drive's simulated lifetime began:
    /// only later programs use up the lifetime's write capacity.
    before: u64,
    /// Largest number of pages that can be programmed during the lifetime, given the endurance of
    /// the cells at its end.
    sustained: f64,
    /// Wear of all programs so far minus that of as many programs at nominal voltages, in page
    /// programs at nominal voltages; negative if most programs were at lower voltages.
    more: f64,
    /// Ratio of existing pages to page numbers: 1, or less with an SLC cache, for which each word
    /// line has one number more than pages (for its single page in SLC mode).
    share: f64,
}

impl Life {
    /// Creates the lifetime of a drive, starting now.
    ///
    /// # Panics
    /// If the configuration is invalid.
    pub(crate) fn new(config: &Config, blocks: &Blocks) -> Self {
        let numbers = f64::from(blocks.geometry().pages());
        let superblocks = config.ftl.has_superblocks();
        let pages = if superblocks { config.superblock_sizes().pages() as f64 } else { numbers };
        let life = Self::of(config.life.clone(), pages, blocks.programmed());
        Self { share: pages / numbers, ..life }
    }

    pub(crate) fn of(params: Params, pages: f64, before: u64) -> Self {
        let endurance = params.endurance().expect("the table was checked before");
        let sustained = endurance.sustained(params.cycles, params.target) * pages;
        Self { params, endurance, pages, before, sustained, more: 0.0, share: 1.0 }
    }

    /// Returns the dilation of a lifetime simulation: the number of real repetitions of the
    /// workload for which one simulated repetition stands. See docs/decisions/lifetime.md, "What
    /// does dilation scale?".
    pub(crate) fn dilation(&self) -> f64 {
        f64::from(self.params.dilation.max(1))
    }

    /// Returns the simulated time at which the lifetime ends.
    pub fn ends(&self) -> Nanos {
        Nanos(self.params.target.0 / u64::from(self.params.dilation.max(1)))
    }

    /// Returns the number of pages programmed in the lifetime so far. A simulated repetition of the
    /// workload counts as all the real repetitions that it stands for (the dilation).
    pub(crate) fn programmed(&self, blocks: &Blocks) -> f64 {
        blocks.programmed().wrapping_sub(self.before) as f64 * self.share * self.dilation()
    }

    /// Returns the number of pages programmed since the drive was made.
    pub(crate) fn pages_programmed(&self, blocks: &Blocks) -> u64 {
        (blocks.programmed() as f64 * self.share) as u64
    }

    /// Returns a copy of the drive's lifetime for a simulation that continues it on the block table
    /// `blocks`, after `so_far` programmed pages. Programs that `blocks` has counted until now
    /// count as these `so_far`, which may be more or fewer (the difference is taken modulo 2^64).
    pub(crate) fn moved_to(&self, blocks: &Blocks, so_far: u64) -> Self {
        Self { before: blocks.programmed().wrapping_sub(so_far), ..self.clone() }
    }

    /// Sets the number of pages programmed so far by voltage. A program wears in proportion to its
    /// voltages (HIRE, section 2.1).
    pub(crate) fn programs_at(&mut self, programs_at: &ByVoltage<u64>) {
        let more = |(voltage, &pages): (Voltage, &u64)| (voltage.scale() - 1.0) * pages as f64;
        self.more = programs_at.iter().map(more).sum();
    }

    /// Returns the wear of the programs so far, in programs at nominal voltages.
    fn worn(&self, blocks: &Blocks) -> f64 {
        self.programmed(blocks) + self.more * self.dilation()
    }

    /// Returns the mean idle time between two P/E cycles of a block: the elapsed time divided by
    /// the mean P/E cycles so far. `None` before the first program of the drive.
    fn idle(&self, programmed: f64, now: Nanos) -> Option<Span> {
        let elapsed = now.0 as f64 * self.dilation();
        (programmed > 0.0).then(|| Span((elapsed / (programmed / self.pages)) as u64))
    }

    /// Returns the number of pages that the drive can program in its life, as rated and with the
    /// recovery of cells in idle time, if it has programmed `programmed` pages by the time `now`.
    pub(crate) fn totals(&self, programmed: f64, now: Nanos) -> Totals {
        let idle = self.idle(programmed, now);
        let rated = self.params.cycles;
        // Before the first cycle there is no idle time to recover in.
        let healed = idle.map_or(rated, |idle| self.endurance.achievable(rated, idle));
        let (rated, achievable) = (rated * self.pages, healed * self.pages);
        Totals { programmed, worn: programmed, idle, rated, achievable }
    }

    /// Returns the number of pages that the drive can program in its life, as rated and with the
    /// recovery of cells in idle time, and its programs and wear up to the time `now`.
    pub(crate) fn stand(&self, blocks: &Blocks, now: Nanos) -> Totals {
        let worn = self.worn(blocks);
        Totals { worn, ..self.totals(self.programmed(blocks), now) }
    }

    /// Returns the number of simulated pages (real ones divided by the dilation) that can still be
    /// programmed at nominal voltages. With `healed`, includes pages gained because cells recover
    /// in the idle time between P/E cycles, which is the elapsed time divided by the mean number of
    /// cycles.
    pub(crate) fn left(&self, blocks: &Blocks, now: Nanos, healed: bool) -> f64 {
        self.left_of(self.programmed(blocks), now, healed) - self.more
    }

    /// Returns the number of simulated pages (real ones divided by the dilation) that can still be
    /// programmed at nominal voltages after `programmed` real ones. With `healed`, includes pages
    /// gained because cells recover in idle time, but at most as many as the cells endure if all
    /// programs are spread evenly over the target lifetime.
    pub(crate) fn left_of(&self, programmed: f64, now: Nanos, healed: bool) -> f64 {
        let most = if healed {
            self.totals(programmed, now).achievable.min(self.sustained)
        } else {
            self.params.cycles * self.pages
        };
        (most - programmed) / self.dilation()
    }
}

/// Write capacity of a drive (rated, and with the recovery of cells in idle time), and the part
/// used up, at a moment of its lifetime; all in pages.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Totals {
    /// Number of pages programmed so far, for any source: `W_work` of READY.
    pub programmed: f64,
    /// Wear of the programs so far, in equivalent programs at nominal voltages.
    pub worn: f64,
    /// Mean idle time between two P/E cycles of a block; `None` before the first program of the
    /// drive.
    pub idle: Option<Span>,
    /// Write capacity in pages without recovery of cells in idle time: `C_ssd` of READY, a lifetime
    /// throttle.
    pub rated: f64,
    /// Write capacity in pages if cells recover in idle time, at the mean idle time between P/E
    /// cycles so far: `C'_ssd` of READY, a lifetime throttle.
    pub achievable: f64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use fowler_physics::recovery::Reading;
    use fowler_units::{Bytes, Geometry};

    const YEAR: f64 = 365.0 * 86_400e9;

    fn life(gb: u64, recovery: Reading, dilation: u32) -> Life {
        let params = Params { recovery: Recovery::Model(recovery), dilation, ..Params::default() };
        Life::of(params, (gb << 18) as f64, 0)
    }

    /// Number of 4 KiB pages in a binary terabyte.
    const TB: f64 = (1u64 << 28) as f64;

    /// Write capacities agree with READY, section 3.1 and Table 2: 128 GB with 3,000 cycles have a
    /// capacity of 375 TB, 32 GB of 93.75 TB; with 1,918.8 TB written in five years, the 128 GB
    /// endure 949.3 TB.
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
        // B_static: 2.494 and 0.6234 MB/s (binary), the rated capacity over five years.
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
        let mut blocks = Blocks::new(geometry, geometry.pages());
        assert_eq!(blocks.programmed(), 0);
        let block = blocks.open(fowler_units::PlaneId(0)).unwrap();
        for _ in 0..4 {
            blocks.program(fowler_units::PlaneId(0), block);
        }
        blocks.fill(block, Nanos::ZERO);
        assert_eq!(blocks.programmed(), 4);
        // Four programs at reduced voltages wear like 3.2 at nominal ones, and so leave room for
        // 0.8 more.
        let mut life = life(1, Reading::Spread, 1);
        let left = |life: &Life| life.left(&blocks, Nanos(1_000_000_000), true);
        let nominal = left(&life);
        life.programs_at(&ByVoltage::from([0, 0, 4]));
        assert!((left(&life) - nominal - 0.8).abs() < 1e-3);
        blocks.collect(block);
        blocks.vacate(block);
        blocks.erase(block);
        assert_eq!((blocks.programmed(), blocks.erase_counts()[0]), (4, 1));
    }
}
