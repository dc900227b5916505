//! Pages that no sensing level reads: pages whose reads have failed, and pages whose reads would
//! fail now. A read of a page gives the same result whenever it is repeated at the same moment, so
//! this module reads nothing.

use super::condition::{Condition, Curves};
use crate::cells::program_mode::Voltage;
use fowler_units::{BlockId, Bytes, Column, Geometry, Id, Nanos, Ppn};

/// The pages whose reads have failed, one bit each. A copy of such a page has the bit, too: moving
/// the page does not restore its data.
#[derive(Clone, Debug)]
pub struct FailedReads {
    pages: Column<u64>,
    /// True if a read has ever failed on this drive; on most drives only this flag is needed.
    any: bool,
}

fn bit(page: Ppn) -> (usize, u64) {
    (page.index() / 64, 1 << (page.index() % 64))
}

impl FailedReads {
    /// Creates the record of pages whose reads have failed, for a drive of `pages` physical pages
    /// before its first read.
    pub fn new(pages: usize) -> Self {
        Self { pages: Column::filled(0, pages.div_ceil(64)), any: false }
    }

    /// Returns the memory that one bit for every page takes on the simulating machine.
    pub fn bytes(geometry: &Geometry) -> Bytes {
        Bytes::of::<u64>(u64::from(geometry.pages()).div_ceil(64))
    }

    /// Returns true if a read of a page, or of the page that it is a copy of, has failed.
    pub fn has(&self, page: Ppn) -> bool {
        let (word, mask) = bit(page);
        self.pages[word] & mask != 0
    }

    /// Records that a read of a page has failed.
    pub fn add(&mut self, page: Ppn) {
        let (word, mask) = bit(page);
        self.pages[word] |= mask;
        self.any = true;
    }

    /// Returns true if a read has ever failed on this drive.
    #[inline]
    pub fn any(&self) -> bool {
        self.any
    }

    /// Records that the data read from the page `from` has been programmed to the page `to`.
    pub fn copied(&mut self, from: Ppn, to: Ppn) {
        if self.has(from) {
            self.add(to);
        }
    }

    /// Clears the record of failed reads for the physical pages `pages` of a block that has been
    /// erased: reads of them count as successful again.
    pub fn erased(&mut self, pages: std::ops::Range<u32>) {
        for (word, mask) in pages.map(|page| bit(Ppn(page))) {
            self.pages[word] &= !mask;
        }
    }
}

/// The readability of the pages of a block at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Block {
    /// It is not yet determined whether pages of the block can be read.
    Unknown,
    /// Reads of the oldest and of the youngest page of the block both fail (`fail`) or both
    /// succeed, and so do reads of all pages between them.
    Alike { fail: bool },
    /// Some pages of the block cannot be read and others can.
    Mixed,
}

/// Decides if a read of a page would fail at one moment, without reading it: no clock moves, no
/// read is counted, and no cell is disturbed.
#[derive(Debug)]
pub struct Judge<'a> {
    condition: &'a Condition,
    /// A copy of the model of sensing levels. The model caches its results in itself, and the
    /// drive's own must not change.
    curves: Curves,
    now: Nanos,
    blocks: Vec<Block>,
}

impl<'a> Judge<'a> {
    /// Creates the judge of the readability of pages at the time `now`.
    pub fn new(condition: &'a Condition, now: Nanos) -> Self {
        let blocks = vec![Block::Unknown; condition.blocks().len()];
        Self { condition, curves: condition.curves().clone(), now, blocks }
    }

    /// Returns true if reads of every page of a block would succeed, whatever the page's age.
    pub fn reads_all(&mut self, block: BlockId) -> bool {
        self.pages_of(block) == Block::Alike { fail: false }
    }

    /// Returns true if no sensing level reads a page, by the same model as [`Condition::find_out`].
    pub fn fails(&mut self, page: Ppn, block: BlockId, read_as: Option<Voltage>) -> bool {
        if read_as.is_none()
            && let Block::Alike { fail } = self.pages_of(block)
        {
            return fail;
        }
        let Judge { condition, curves, now, .. } = self;
        condition.would_fail(curves, block, condition.age_read(page, block, *now), read_as)
    }

    /// Returns the readability of the pages of a block, which is determined on the first call.
    fn pages_of(&mut self, block: BlockId) -> Block {
        let Judge { condition, curves, now, blocks } = self;
        if blocks[block.index()] == Block::Unknown {
            let (youngest, oldest) = condition.ages(block, *now);
            let fail = condition.would_fail(curves, block, oldest, None);
            let alike = fail == condition.would_fail(curves, block, youngest, None);
            blocks[block.index()] = if alike { Block::Alike { fail } } else { Block::Mixed };
        }
        blocks[block.index()]
    }
}
