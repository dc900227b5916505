//! Decides whether a run erased enough blocks for its write amplification to represent steady use
//! of the drive.

use super::Outcome;
use crate::numbers::{counted, percent};
use fowler_device::{Counters, Layout, Source};

/// Smallest number of erased blocks, or superblocks if GC works on these, for which write
/// amplification is reported. Assumed: if the valid pages of single victims scatter by 20 %, the
/// mean of ten is within 6 %.
pub const FEWEST_ERASED: u64 = 10;
/// Smallest ratio of erases to programs at which write amplification is reported (assumed). In
/// steady use the ratio is 1; below a half, the drive is still filling up.
const LEAST_ERASED: f64 = 0.5;

/// The reason why reports leave out the write amplification of a run: too little was erased for it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Withheld {
    /// No block was erased in the time considered.
    NoneErased,
    /// Garbage collection has moved pages, and has not emptied a block yet.
    NoneEmptied,
    /// Too few blocks, or superblocks, were erased (less than [`FEWEST_ERASED`]): the number of
    /// erases, and the word for a block or superblock.
    FewErased(u64, &'static str),
    /// The drive is still filling up: the pages it erased are only this share (0 to 0.5) of those
    /// it programmed.
    Filling(f64),
}

/// The unit in which a drive erases: a block, or a superblock where the drive collects these.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct EraseUnit {
    /// Number of pages in a block, or in a superblock where the drive collects these.
    pages: f64,
    /// Number of block erases that the drive counts when it erases this unit once: more than 1 for
    /// a superblock.
    erases: u32,
    noun: &'static str,
}

impl EraseUnit {
    /// Returns the unit in which a drive of this layout erases.
    pub fn of(layout: &Layout) -> EraseUnit {
        EraseUnit {
            pages: layout.pages() as f64 / f64::from(layout.reclaim_units),
            erases: layout.erases_of_reclaim_unit,
            noun: if layout.erases_of_reclaim_unit > 1 { "superblock" } else { "block" },
        }
    }
}

impl Withheld {
    /// Returns the reason for not reporting the write amplification of a period in which the drive
    /// programmed `programs` pages and erased `erases` blocks; `moved` is true if some of these
    /// pages were moved, by GC for example. `None` if write amplification is reported.
    pub fn of(programs: u64, moved: bool, erases: u64, unit: EraseUnit) -> Option<Withheld> {
        let erased = erases / u64::from(unit.erases.max(1));
        let share = erased as f64 * unit.pages / programs as f64;
        match erased {
            0 if erases == 0 && !moved => Some(Withheld::NoneErased),
            0 => Some(Withheld::NoneEmptied),
            1..FEWEST_ERASED => Some(Withheld::FewErased(erased, unit.noun)),
            _ => (share < LEAST_ERASED).then_some(Withheld::Filling(share)),
        }
    }

    /// Returns the reason for not reporting the write amplification of these counters; `None` if it
    /// is reported, or if the host programmed nothing.
    pub fn of_counters(counters: &Counters, unit: EraseUnit) -> Option<Withheld> {
        let programs = &counters.programs;
        if programs[Source::Host] == 0 {
            return None;
        }
        let moved = programs.sum() > programs[Source::Host] + programs[Source::Parity];
        Withheld::of(programs.sum(), moved, counters.erases.sum(), unit)
    }

    /// Returns the reason for withholding write amplification, as the end of a sentence.
    pub fn reason(self) -> String {
        match self {
            Withheld::NoneErased => "no block was erased".into(),
            Withheld::NoneEmptied => {
                "garbage collection has moved pages, but erased no block yet".into()
            }
            Withheld::FewErased(1, what) => format!("only 1 {what} was erased"),
            Withheld::FewErased(count, what) => {
                format!("only {} were erased", counted(count, what))
            }
            Withheld::Filling(share) => {
                format!(
                    "the drive erased only {} of the pages it programmed: it is still filling up",
                    percent(share)
                )
            }
        }
    }
}

impl Outcome {
    /// Returns the reason for not reporting the run's write amplification; `None` if it is
    /// reported, or if the host programmed nothing.
    pub fn withheld(&self) -> Option<Withheld> {
        Withheld::of_counters(&self.counters, EraseUnit::of(&self.drive.layout))
    }

    /// Returns the pages programmed per host page in the run; `None` if write amplification is
    /// withheld.
    pub fn waf(&self) -> Option<f64> {
        self.counters.waf().filter(|_| self.withheld().is_none())
    }
}
