//! Slot: patrol scrub. The rule sets the period in which all data is read in the background, and
//! selects the blocks that move because of the errors found.
//!
//! Contract. `period` is asked once, when the drive is created. `judge` is called after each page
//! that was read in the background, and decides about its block, or about its superblock. The
//! device schedules the reads (`gc/scrub.rs`, `superblocks/scrubbing.rs`), moves the block, and
//! rebuilds pages that cannot be read.

use crate::policy::registry::slot;
use fowler_units::Span;

slot! { $
    /// The scrubbing a device was configured with.
    pub enum AnyScrub, named ScrubKind, match by each_scrub {
        "off" => off::Off needs Nothing, "nothing is read that nobody asks for";
        "patrol" => patrol::Patrol needs Nothing, "all data is read once in each period, and blocks with many errors are moved";
    }
}

/// Parameters of every scrubbing policy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Params {
    /// Name of the selected scrubbing policy.
    pub name: ScrubKind,
    /// The time in which every block that holds data is read once.
    pub period: Span,
    /// The bit errors of a page from which on its block is moved, as a share of the errors that the
    /// code corrects at its strongest level; in (0, 1].
    pub margin: f64,
    /// True if a stripe is compared with its parity whenever the parity is read; needs versions.
    pub stripes: bool,
}

impl Default for Params {
    /// Returns the parameters of a drive that does not scrub. Their period, 30 days, is assumed: a
    /// third of the three months for which JESD218 lets an enterprise drive keep its data without
    /// power, so that data is read three times while it fades. Their margin, 0.7, is assumed: no
    /// paper prints one. See docs/decisions/gc.md.
    fn default() -> Self {
        Self {
            name: ScrubKind::Off,
            period: Span(30 * 86_400_000_000_000),
            margin: 0.7,
            stripes: false,
        }
    }
}

/// The bit errors of a page that was read, as a share of the errors that the code corrects at its
/// strongest level; 1 or more if the page could not be corrected.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Errors {
    /// Share of the correctable bit errors that the page has at present.
    pub now: f64,
    /// Share of the correctable bit errors that the page would have if its block had just been
    /// programmed.
    pub fresh: f64,
}

impl Errors {
    /// Returns the bit errors of a page that was read, from the shares of correctable errors that
    /// the error model gives for the present and for just after a program. `failed` is true if no
    /// sensing level could correct the page. Its share then is at least 1; the model may give less,
    /// because levels are chosen with a margin.
    pub fn found((now, fresh): (f64, f64), failed: bool) -> Errors {
        Errors { now: if failed { now.max(1.0) } else { now }, fresh }
    }
}

/// A scrubbing policy's decision to move a block or not, after a page of the block was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The page has few errors, and the block stays.
    Stays,
    /// The page has many errors, and the block moves.
    Moves,
    /// The page has many errors, but the block stays: the page would have as many if the block had
    /// just been programmed.
    GainsNothing,
}

/// A policy that sets the period of scrubbing, and selects the blocks that move because of the
/// errors found.
pub trait Scrub {
    /// Returns the time in which every block that holds data is read once; none if none is read.
    fn period(&self) -> Option<Span>;

    /// Returns the scrubbing policy's decision to move a block, or not, after one of its pages was
    /// read with these bit errors.
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
