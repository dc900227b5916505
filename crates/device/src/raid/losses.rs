//! Losses: the causes for which unreadable pages could not be recovered, and the ledger of all
//! losses.
//!
//! Invariants, checked by `laws.rs`: every data page that became unreadable was rebuilt, rewritten
//! or lost, or still waits for one of these (lost writes are not among them, because they never
//! were in the flash); `wrong` and `unread` are zero.

use fowler_units::{Nanos, Span};
use std::fmt;

/// Reason why an unreadable page could not be recovered from its stripe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Reason {
    /// The stripe had no parity: it should have none, or had none yet.
    Unprotected,
    /// More pages of the stripe were unreadable than its parity can recover.
    BeyondParity,
    /// Power was lost: the parity of the stripe was in a cache that lost power, or the page itself
    /// in a buffer that did.
    Power,
}

impl Reason {
    /// All reasons for the loss of a page.
    pub const ALL: [Reason; 3] = [Reason::Unprotected, Reason::BeyondParity, Reason::Power];

    /// Returns the name of the reason for a loss in JSON and tables.
    pub fn name(self) -> &'static str {
        ["unprotected", "beyond_parity", "power"][self as usize]
    }
}

fowler_units::enumerated! {
    Reason:
    /// Table of one value for each reason why a page can be lost.
    pub ByReason
}

/// The kind of failure that made a physical page unreadable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Failure {
    /// No sensing level corrects the bit errors of the page.
    Cells,
    /// The page failed alone, not with a larger unit.
    Page,
    /// The whole block of the page failed.
    Block,
    /// The whole plane of the page failed.
    Plane,
    /// The whole die of the page failed.
    Die,
    /// The whole chip of the page failed.
    Chip,
    /// The whole channel of the page failed.
    Channel,
    /// Power was lost while the page, or a later page of its word line, was being programmed.
    Torn,
    /// A check of the page failed: the page does not hold the data written to it.
    Wrong,
}

impl Failure {
    /// All kinds of failure that make a page unreadable.
    pub const ALL: [Failure; 9] = [
        Failure::Cells,
        Failure::Page,
        Failure::Block,
        Failure::Plane,
        Failure::Die,
        Failure::Chip,
        Failure::Channel,
        Failure::Torn,
        Failure::Wrong,
    ];

    /// Returns the name, in JSON and tables, of the kind of failure that made a page unreadable.
    pub fn name(self) -> &'static str {
        ["cells", "page", "block", "plane", "die", "chip", "channel", "torn", "wrong"]
            [self as usize]
    }
}

/// The cause of the loss of a page: the page's own failure, and the failures in its stripe beyond
/// the stripe's protection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Loss {
    /// Reason why the page could not be recovered.
    pub reason: Reason,
    /// Failure of the lost page's own copy in the flash, as opposed to failures of other pages of
    /// its stripe.
    pub failure: Failure,
    /// Number of pages of the lost page's stripe that were unreadable, the lost page and parity
    /// included, plus pages that were lost since the stripe's parity was last complete.
    pub failed: u8,
    /// Number of unreadable pages that the parity of the lost page's stripe can recover; smaller
    /// than `failed`, the number that were unreadable: otherwise, no page would have been lost.
    pub given_back: u8,
}

impl Loss {
    /// Returns the cause of loss of a page whose stripe has no parity and whose copy in the flash
    /// failed with `failure`.
    pub fn unprotected(failure: Failure) -> Self {
        Loss { reason: Reason::Unprotected, failure, failed: 1, given_back: 0 }
    }
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Loss { reason, failure, failed, given_back } = *self;
        let pages = if failed == 1 { "page" } else { "pages" };
        match reason {
            Reason::Unprotected => write!(f, "a page without parity")?,
            Reason::BeyondParity => {
                write!(f, "{failed} {pages} of a stripe whose parity gives back {given_back}")?;
            }
            Reason::Power => {
                write!(f, "{failed} {pages} of a stripe whose parity was lost with the power")?;
            }
        }
        write!(f, " ({})", failure.name())
    }
}

/// Counts of unreadable and lost pages over a run: pages that have been read, or that a fault has
/// struck. [`crate::Census`] counts the pages that are lost at one moment, read or not. All counts
/// are of data pages only; parity pages hold no host data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LossLedger {
    /// Number of faults that struck the drive.
    pub faults: u64,
    /// Number of data pages that became unreadable.
    pub unreadable: u64,
    /// Number of unreadable pages that were recovered from their stripes and reprogrammed.
    pub rebuilt: u64,
    /// Number of unreadable pages that the host rewrote or trimmed before they were rebuilt.
    pub rewritten: u64,
    /// Number of lost pages by [`Reason`]; acknowledged writes lost with the power are counted
    /// under [`Reason::Power`].
    pub lost: ByReason<u64>,
    /// Number of acknowledged writes that were lost with the power before they were programmed;
    /// included in `lost`.
    pub lost_writes: u64,
    /// Number of parity pages that became unreadable.
    pub parity_unreadable: u64,
    /// Number of stripes whose only parity was in a cache that lost power.
    pub parity_lost: u64,
    /// Number of pages whose recovered data differed from the data written: always zero (a law of
    /// [`crate::Device::check`]).
    pub wrong: u64,
    /// Number of parity pages written to the flash that do not match the data read and cached for
    /// them: always zero (a law of [`crate::Device::check`]).
    pub unread: u64,
    /// Number of host reads whose data was recovered from the other pages of a stripe.
    pub degraded_reads: u64,
    /// Number of host reads of pages that were lost.
    pub failed_reads: u64,
    /// Counts of silently corrupted pages.
    pub silent: SilentLedger,
    /// Total time during which some page was waiting to be rebuilt.
    pub at_risk: Span,
    /// Time since which some page has been waiting to be rebuilt; `None` if none is.
    pub since: Option<Nanos>,
}

impl LossLedger {
    /// Returns the number of data pages lost for any reason.
    pub fn lost_in_all(&self) -> u64 {
        self.lost.sum()
    }

    /// Returns the number of unreadable data pages that still wait to be rebuilt.
    pub fn waiting(&self) -> u64 {
        // Lost writes never were in the flash.
        self.unreadable + self.lost_writes - self.rebuilt - self.rewritten - self.lost_in_all()
    }
}

/// Counts of silently corrupted pages over a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SilentLedger {
    /// Number of host pages whose copy in the flash a fault has silently corrupted.
    pub made: u64,
    /// Number of parity pages, and of replaced pages that parity still needs, that a fault has
    /// silently corrupted.
    pub parity_made: u64,
    /// Number of wrong pages found by the check of a read, parity pages included.
    pub by_versions: u64,
    /// Number of wrong host pages found by the check of a read and rebuilt from their stripes.
    pub corrected: u64,
    /// Number of pages that host reads returned with wrong data.
    pub returned: u64,
    /// Number of comparisons of stripes with their parity by scrubbing that gave a result.
    pub stripes_compared: u64,
    /// Number of comparisons of stripes without a result: a page could not be read, or the stripe
    /// was rewritten meanwhile.
    pub stripes_undecided: u64,
    /// Number of stripes found not to match their parity. A stripe counts once until it matches
    /// again.
    pub by_parity: u64,
}

impl SilentLedger {
    /// Returns the number of pages of any kind that faults have corrupted.
    pub fn made_in_all(&self) -> u64 {
        self.made + self.parity_made
    }
}
