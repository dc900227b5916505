//! The GC job that empties a block, as far as the page allocator needs to know it: the host must
//! not write faster than the job moves pages, or it would stall while a whole block is moved.
//!
//! Invariant: while a foreground job runs, the host has written at most `surplus` pages to the
//! plane, and beyond them no more than the share of `gain` that the moves so far have earned
//! ([`Job::lets_host_write`]).

use crate::blocks::open_blocks::Opened;
use crate::observe::operation::Source;
use crate::policy::stream_tag::StreamTag;
use fowler_units::BlockId;

/// A GC job that empties one block. Padded to a power of two, because every page move looks one up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(align(8))]
pub struct Job {
    /// The block that the GC job empties.
    pub victim: BlockId,
    /// Cause of the GC job, to which its reads, programs and erase are charged.
    pub source: Source,
    /// Stream tag under which the block's data is rewritten; it selects the open block that takes
    /// the data.
    pub tag: StreamTag,
    /// Kind of the open block that takes the data of the GC victim: a block for host data, for data
    /// moved by GC, or for swapped data.
    pub into: Opened,
    /// The position in the block from which the next valid page is searched.
    pub offset: u32,
    /// Number of valid pages of the GC victim when the GC job began to compete with the host.
    pub pages: u32,
    /// Number of pages that the erase of the GC victim gains.
    pub gain: u32,
    /// Number of erased pages of the plane beyond GC's reserve and the pages to be moved, when the
    /// GC job began to compete with the host. The host may fill them at once.
    pub surplus: u32,
    /// Number of pages that the host has written to the plane since the GC job began to compete
    /// with the host.
    pub written: u32,
    /// True if the job competes with the host (foreground GC); false if it gives way to it.
    pub foreground: bool,
    /// True while the GC job waits for the die to be idle.
    pub paused: bool,
}

impl Job {
    /// Returns true if the host may write one more page to the plane while `left` pages of the GC
    /// victim are still to be moved.
    ///
    /// The host may write `surplus` pages at once, in bursts. Beyond them it gets the pages that
    /// the job gains, in step with its moves: a host that ran ahead would stall while a whole
    /// block, or several, are moved. See docs/decisions/gc.md, "How does foreground GC keep pace
    /// with the host?".
    pub fn lets_host_write(&self, left: u32) -> bool {
        let moved = u64::from(self.pages.saturating_sub(left));
        let (pages, gain) = (u64::from(self.pages), u64::from(self.gain));
        let ahead = u64::from(self.written.saturating_sub(self.surplus));
        !self.foreground || ahead * pages <= gain * moved
    }
}
