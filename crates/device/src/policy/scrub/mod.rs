//! Slot: patrol scrub: how often is all data read in the background, and which blocks move because
//! of what such a read finds?
//!
//! Contract. `period` is asked once, when the drive is created. `judge` is called after each page
//! that was read in the background, and decides about its block. The device says when a page is
//! read (`gc/scrub.rs`), moves the block, and rebuilds what cannot be read.

use crate::policy::registry::slot;
use fowler_units::Span;

slot! { $
    /// The scrubbing a device was configured with.
    pub enum AnyScrub, named ScrubKind, match by each_scrub {
        "off" => off::Off needs Nothing, "nothing is read that nobody asks for";
        "patrol" => patrol::Patrol needs PageErrors, "all data is read once in each period, and blocks with many errors are moved";
    }
}

/// Parameters of every policy of this slot.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Params {
    /// The policy.
    pub name: ScrubKind,
    /// The time in which every block that holds data is read once.
    pub period: Span,
    /// The bit errors of a page from which on its block is moved, as a share of those that the code
    /// corrects at its strongest level; in (0, 1].
    pub margin: f64,
    /// Whether a stripe is compared with its parity whenever that is read; needs versions.
    pub stripes: bool,
}

impl Default for Params {
    /// Off. The period is assumed: a third of the three months for which JESD218 lets an enterprise
    /// drive keep its data without power, so that data is read three times while it fades. The
    /// margin is assumed: no paper prints one. See docs/decisions/gc.md.
    fn default() -> Self {
        Self {
            name: ScrubKind::Off,
            period: Span(30 * 86_400_000_000_000),
            margin: 0.7,
            stripes: false,
        }
    }
}

/// The bit errors of a page that was read, as a share of those that the code corrects at its
/// strongest level; 1 or more if it could not be corrected.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Errors {
    /// As it is.
    pub now: f64,
    /// As it would be if its block had just been programmed.
    pub fresh: f64,
}

/// What becomes of a block, after a page of it was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It has few errors, and stays.
    Stays,
    /// It has many errors, and moves.
    Moves,
    /// It has many errors and stays: it would have as many if it had just been programmed.
    GainsNothing,
}

/// A rule of scrubbing.
pub trait Scrub {
    /// Returns the time in which every block that holds data is read once; none if none is read.
    fn period(&self) -> Option<Span>;

    /// Returns what becomes of the block of a page that was read.
    fn judge(&mut self, errors: Errors) -> Verdict;
}

impl Scrub for AnyScrub {
    fn period(&self) -> Option<Span> {
        each_scrub!(self, policy => policy.period())
    }

    fn judge(&mut self, errors: Errors) -> Verdict {
        each_scrub!(self, policy => policy.judge(errors))
    }
}
