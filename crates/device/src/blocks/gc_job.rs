//! The emptying of a block, as far as whoever hands out pages must know of it: a host that ran
//! ahead of it would have to stand still for as long as a whole block takes to move.

use crate::blocks::open_blocks::Opened;
use crate::observe::operation::Source;
use crate::policy::stream_tag::StreamTag;
use fowler_units::BlockId;

/// The emptying of one block. Padded to a power of two, because every page move looks one up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(align(8))]
pub struct Job {
    /// The block.
    pub victim: BlockId,
    /// On whose behalf.
    pub source: Source,
    /// What the data of the block is taken for, and the open block of its plane that takes it.
    pub tag: StreamTag,
    pub into: Opened,
    /// Where to look for the next valid page.
    pub offset: u32,
    /// Pages that were valid when it began to compete with the host.
    pub pages: u32,
    /// Pages that its erase gains.
    pub gain: u32,
    /// Pages that the plane could spare then.
    pub surplus: u32,
    /// Pages that the host has written since.
    pub written: u32,
    /// It competes with the host; otherwise it gives way.
    pub foreground: bool,
    /// It waits for the die to be idle.
    pub paused: bool,
}

impl Job {
    /// Whether the host may write one more page of the plane while `left` pages are still to be
    /// moved.
    ///
    /// What the plane can spare is there for bursts. Beyond that the host has what the job gains,
    /// in step with its moves: a host that ran ahead would have to stand still for as long as a
    /// whole block, or several, takes to move. See docs/decisions/gc.md, "How does foreground
    /// GC keep pace with the host?".
    pub fn lets_host_write(&self, left: u32) -> bool {
        let moved = u64::from(self.pages.saturating_sub(left));
        let (pages, gain) = (u64::from(self.pages), u64::from(self.gain));
        let ahead = u64::from(self.written.saturating_sub(self.surplus));
        !self.foreground || ahead * pages <= gain * moved
    }
}
