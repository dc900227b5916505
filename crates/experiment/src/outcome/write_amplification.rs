//! Decides whether a run erased enough blocks for its write amplification to represent steady use
//! of the drive.

use super::Outcome;
use crate::numbers::{counted, percent};
use fowler_device::Source;

/// The fewest erases of a block, or of a superblock where the drive collects these, on which write
/// amplification is reported (assumed: the valid pages of ten victims average to some 6 % if those
/// of one scatter by 20 %).
pub const FEWEST_ERASED: u64 = 10;
/// Smallest ratio of erases to programs at which write amplification is reported (assumed). In
/// steady use the ratio is 1; below a half, the drive is still filling up.
const LEAST_ERASED: f64 = 0.5;

/// The reason why write amplification is withheld.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Withheld {
    /// No block was erased.
    NoneErased,
    /// Garbage collection has moved pages, and has not emptied a block yet.
    NoneEmptied,
    /// Fewer than [`FEWEST_ERASED`] erases of a block: the number, and the kind of block.
    FewErased(u64, &'static str),
    /// The drive erased only this share of the pages it programmed.
    Filling(f64),
}

impl Withheld {
    /// Returns the reason, as the end of a sentence.
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
        let programs = &self.counters.programs;
        if programs[Source::Host] == 0 {
            return None;
        }
        let erases = self.counters.erases.sum();
        let collected = programs.sum() > programs[Source::Host] + programs[Source::Parity];
        let layout = &self.drive.layout;
        let erased = erases / u64::from(layout.erases_of_reclaim_unit);
        let pages = erased as f64 * layout.pages() as f64 / f64::from(layout.reclaim_units);
        let share = pages / programs.sum() as f64;
        match erased {
            0 if erases == 0 && !collected => Some(Withheld::NoneErased),
            0 => Some(Withheld::NoneEmptied),
            1..FEWEST_ERASED => {
                Some(Withheld::FewErased(erased, self.drive.config.ftl.reclaim_unit.noun()))
            }
            _ => (share < LEAST_ERASED).then_some(Withheld::Filling(share)),
        }
    }

    /// Returns pages programmed per host page; `None` if withheld.
    pub fn waf(&self) -> Option<f64> {
        self.counters.waf().filter(|_| self.withheld().is_none())
    }
}
