//! Losses: the reasons why pages that could not be read did not come back, and the ledger of all
//! losses.

use fowler_units::{Nanos, Span};
use std::fmt;

/// The reason why a page was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Reason {
    /// The stripe had no parity: it should have none, or had none yet.
    Unprotected,
    /// More pages of the stripe could not be read than its parity gives back.
    BeyondParity,
    /// The power: the parity of the stripe was in a cache that lost power, or the page itself in a
    /// buffer that did.
    Power,
}

impl Reason {
    /// Every reason.
    pub const ALL: [Reason; 3] = [Reason::Unprotected, Reason::BeyondParity, Reason::Power];

    /// Returns the name of the reason in JSON and tables.
    pub fn name(self) -> &'static str {
        ["unprotected", "beyond_parity", "power"][self as usize]
    }
}

fowler_units::enumerated! {
    Reason:
    /// A value for each reason.
    pub ByReason
}

/// The kind of failure that made a physical page unreadable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Failure {
    /// The cells: no sensing level corrects the errors of the page.
    Cells,
    /// The page failed alone.
    Page,
    /// The page failed with its block.
    Block,
    /// The page failed with its plane.
    Plane,
    /// The page failed with its die.
    Die,
    /// The page failed with its chip.
    Chip,
    /// The page failed with its channel.
    Channel,
    /// The power failed while the page, or a later page of its word line, was being programmed.
    Torn,
    /// A check of the page failed: the page does not hold the data written to it.
    Wrong,
}

impl Failure {
    /// Every kind of failure.
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

    /// Returns the name of the failure in JSON and tables.
    pub fn name(self) -> &'static str {
        ["cells", "page", "block", "plane", "die", "chip", "channel", "torn", "wrong"]
            [self as usize]
    }
}

/// The cause of the loss of a page: the page's own failure, and the failures in its stripe beyond
/// the stripe's protection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Loss {
    /// The reason why the page did not come back.
    pub reason: Reason,
    /// The failure that made the page itself unreadable.
    pub failure: Failure,
    /// Pages of the stripe that could not be read, this page and parity included, and pages that
    /// were lost since the stripe's parity was last complete.
    pub failed: u8,
    /// The number of failed pages that the parity of the stripe gives back: fewer than `failed`, or
    /// none would be lost.
    pub given_back: u8,
}

impl Loss {
    /// The loss of a page without any parity.
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

/// The fate of pages that could not be read, over a run: pages that somebody has read, or that a
/// fault has struck. [`crate::Census`] counts the pages that are lost at one moment, read or not.
/// All counts are of data pages only; parity pages hold no host data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LossLedger {
    /// Faults that struck.
    pub faults: u64,
    /// Data pages that became unreadable.
    pub unreadable: u64,
    /// Unreadable pages that were recovered from their stripes and reprogrammed.
    pub rebuilt: u64,
    /// Unreadable pages that the host rewrote or trimmed before they were rebuilt.
    pub rewritten: u64,
    /// Lost pages, by [`Reason`]; acknowledged writes lost with the power are counted under
    /// [`Reason::Power`].
    pub lost: ByReason<u64>,
    /// Acknowledged writes that were lost with the power before they were programmed; included in
    /// `lost`.
    pub lost_writes: u64,
    /// Parity pages that became unreadable.
    pub parity_unreadable: u64,
    /// Stripes whose only parity was in a cache that lost power.
    pub parity_lost: u64,
    /// Pages whose recovered data differs from the data written: always zero (a law of
    /// [`crate::Device::check`]).
    pub wrong: u64,
    /// Parity pages written to the flash that do not match the data read and cached for them:
    /// always zero (a law of [`crate::Device::check`]).
    pub unread: u64,
    /// Host reads answered from the rest of a stripe.
    pub degraded_reads: u64,
    /// Host reads of pages that were lost.
    pub failed_reads: u64,
    /// The fate of silent corruption.
    pub silent: SilentLedger,
    /// Time during which some page was waiting to be rebuilt.
    pub at_risk: Span,
    /// The time since which some page has been waiting to be rebuilt.
    pub since: Option<Nanos>,
}

impl LossLedger {
    /// Returns the number of data pages lost for any reason.
    pub fn lost_in_all(&self) -> u64 {
        self.lost.sum()
    }
}

/// The fate of silent corruption, over a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SilentLedger {
    /// Host pages whose copy in the flash a fault has corrupted unnoticed.
    pub made: u64,
    /// Parity pages, and replaced pages that parity still needs, that a fault has corrupted
    /// unnoticed.
    pub parity_made: u64,
    /// Wrong pages found by the check of a read, parity pages included.
    pub by_versions: u64,
    /// Wrong host pages found by the check of a read and rebuilt from their stripes.
    pub corrected: u64,
    /// Pages that host reads returned wrong.
    pub returned: u64,
    /// Comparisons of stripes with their parity by scrubbing, with a result.
    pub stripes_compared: u64,
    /// Comparisons without a result: a page could not be read, or the stripe was rewritten
    /// meanwhile.
    pub stripes_undecided: u64,
    /// Stripes that did not match their parity. A stripe counts once until it matches again.
    pub by_parity: u64,
}

impl SilentLedger {
    /// Returns the number of pages of any kind that faults have corrupted.
    pub fn made_in_all(&self) -> u64 {
        self.made + self.parity_made
    }
}
