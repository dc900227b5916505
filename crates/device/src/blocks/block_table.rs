//! Per-block columns, the erased blocks of each plane, and buckets of full blocks by valid count,
//! so that greedy GC never scans.
//!
//! On a drive with superblocks a *block* is a superblock, its *pages* are mapping units, and there
//! is one *plane*, with a second one for the superblocks set aside for the SLC cache. Such a drive
//! has a few hundred superblocks, which are scanned: buckets would be relinked at every
//! invalidation.
//!
//! Invariants: a block is erased, open, full, being collected, or retired; it has as many valid
//! bits as `valid` says, and no more than pages taken; the counts of a plane are the sums over its
//! blocks; a full block is in the bucket of its valid count, and no bucket below `lowest` has a
//! member.

pub use super::block_state::BlockState;
use super::block_state::{BLOCK_MOST, Progress};
use fowler_units::{
    BlockId, Bytes, Column, DieId, Geometry, Id, IdVec, Link, Linked, List, Locator, Nanos, Pile,
    PlaneId, UnitId, prefetch,
};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// The record of a block that every write and every page invalidation accesses: four records to a
/// cache line.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Block {
    pub(super) valid: u32,
    pub(super) progress: Progress,
    /// The block's neighbours in its list: that of full blocks with as many valid pages, or that of
    /// the plane's erased blocks.
    link: Link<BlockId>,
}

impl Block {
    #[inline]
    pub(super) fn set_state(&mut self, state: BlockState) {
        self.progress = Progress::new(state, self.progress.written());
    }
}

impl Linked<BlockId> for Block {
    #[inline]
    fn link(&self) -> &Link<BlockId> {
        &self.link
    }
    #[inline]
    fn link_mut(&mut self) -> &mut Link<BlockId> {
        &mut self.link
    }
}

/// The states of all blocks. Superblocks are scanned instead of sorted into buckets by valid count:
/// neither the valid pages nor the lowest nonempty bucket of a plane is maintained for them.
#[derive(Clone, Debug)]
pub struct Blocks {
    pub(super) geometry: Geometry,
    pub(super) locator: Locator,
    pub(super) words_per_block: usize,
    /// True if the valid bits of a block fill whole words: a mapping unit's number is then also the
    /// number of its valid bit.
    packed: bool,
    pub(super) blocks: IdVec<BlockId, Block>,
    pub(super) erases: IdVec<BlockId, u32>,
    /// For each block, its position in the order in which blocks of the drive became full.
    pub(super) fill_order: IdVec<BlockId, u64>,
    pub(super) filled_at: IdVec<BlockId, Nanos>,
    pub(super) bits: Column<u64>,
    pub(super) buckets: Column<Pile<BlockId>>,
    pub(super) planes: IdVec<PlaneId, PlaneBlocks>,
    /// Number of pages of a block that hold data: all pages, or for a superblock, those without
    /// parity and without the places that SLC mode leaves unused.
    pub(super) capacity: u32,
    /// For each superblock, the number of pages within its capacity that hold no data; empty if all
    /// superblocks are alike.
    pub(super) kept: IdVec<BlockId, u32>,
    /// Number of the first superblock reserved for the SLC cache; `NONE` if none is reserved.
    /// Reserved superblocks are listed and counted apart from the others, as if they were a plane
    /// of their own.
    aside: BlockId,
    pub(super) filled: u64,
}

/// Lists of the erased blocks of a plane, and the numbers of its full blocks and valid pages.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct PlaneBlocks {
    /// Erased blocks of the plane, the longest-waiting first.
    pub(super) free: List<BlockId>,
    pub(super) full: u32,
    pub(super) valid: u32,
    /// Largest number of valid pages that the plane may hold.
    limit: u32,
    /// A number of valid pages that no full block of the plane falls below. Full blocks are listed
    /// in buckets by valid count, and all buckets below this one are empty.
    pub(super) lowest: u32,
}

/// Result of programming the next page of an open block.
#[derive(Clone, Copy, Debug)]
pub struct Programmed {
    /// The page or mapping unit of an open block that was programmed.
    pub unit: UnitId,
    /// True if the unit programmed was the last one of its block, which is now full.
    pub last: bool,
    /// Number of erased blocks left in the plane of the block.
    pub free: u32,
}

/// A snapshot of the state of all blocks that cannot be derived from the mapping.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct BlocksSnapshot {
    blocks: IdVec<BlockId, Block>,
    erases: IdVec<BlockId, u32>,
    fill_order: IdVec<BlockId, u64>,
    filled_at: IdVec<BlockId, Nanos>,
    buckets: Column<Pile<BlockId>>,
    planes: IdVec<PlaneId, PlaneBlocks>,
    filled: u64,
}

/// Returns the index of the bucket for a plane's full blocks with `valid` valid pages.
#[inline]
fn bucket(geometry: &Geometry, plane: PlaneId, valid: u32) -> usize {
    plane.index() * (geometry.pages_per_block as usize + 1) + valid as usize
}

impl Blocks {
    /// Returns the memory that the block table takes on the simulating machine.
    pub fn bytes(geometry: &Geometry) -> Bytes {
        let (blocks, planes) = (u64::from(geometry.blocks()), u64::from(geometry.planes()));
        let pages = u64::from(geometry.pages_per_block);
        Bytes::of::<Block>(blocks)
            + Bytes::of::<u32>(blocks)
            + Bytes::of::<u64>(blocks)
            + Bytes::of::<Nanos>(blocks)
            + Bytes::of::<u64>(blocks * pages.div_ceil(64))
            + Bytes::of::<Pile<BlockId>>(planes * (pages + 1))
            + Bytes::of::<PlaneBlocks>(planes)
    }

    /// Creates the blocks of a fresh drive: all erased, with no P/E cycles. A plane may hold at
    /// most `limit` valid pages.
    pub fn new(geometry: Geometry, limit: u32) -> Self {
        Self::with(geometry, limit, geometry.planes(), BlockId::NONE, true)
    }

    pub(super) fn with(
        geometry: Geometry,
        limit: u32,
        planes: u32,
        aside: BlockId,
        bucketed: bool,
    ) -> Self {
        assert!(geometry.pages_per_block <= BLOCK_MOST, "a block of too many pages");
        let count = geometry.blocks() as usize;
        let words_per_block = (geometry.pages_per_block as usize).div_ceil(64);
        let plane = PlaneBlocks {
            free: List::EMPTY,
            full: 0,
            valid: 0,
            limit,
            lowest: geometry.pages_per_block + 1,
        };
        let progress = Progress::new(BlockState::Collecting, 0);
        let block = Block { valid: 0, progress, link: Link::NONE };
        let buckets = if bucketed { planes * (geometry.pages_per_block + 1) } else { 0 };
        let mut blocks = Self {
            geometry,
            locator: Locator::new(&geometry),
            words_per_block,
            packed: geometry.pages_per_block.is_multiple_of(64),
            blocks: IdVec::filled(block, count),
            erases: IdVec::filled(0, count),
            fill_order: IdVec::filled(0, count),
            filled_at: IdVec::filled(Nanos::ZERO, count),
            bits: Column::filled(0, count * words_per_block),
            buckets: Column::filled(Pile::EMPTY, buckets as usize),
            planes: IdVec::filled(plane, planes as usize),
            capacity: geometry.pages_per_block,
            kept: IdVec::filled(0, 0),
            aside,
            filled: 0,
        };
        for block in blocks.blocks.ids() {
            blocks.append_free(block);
        }
        blocks
    }

    /// Returns the geometry of the drive.
    #[inline]
    pub fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// Returns the number of erased blocks of a plane.
    #[inline]
    pub fn free_in(&self, plane: PlaneId) -> u32 {
        self.planes[plane].free.len()
    }

    /// Returns the number of valid pages of a plane.
    #[inline]
    pub fn valid_in(&self, plane: PlaneId) -> u32 {
        self.planes[plane].valid
    }

    /// Returns true if a plane holds as many valid pages as it may.
    #[inline]
    pub fn is_full(&self, plane: PlaneId) -> bool {
        let plane_blocks = &self.planes[plane];
        plane_blocks.valid >= plane_blocks.limit
    }

    /// Returns the maximum number of valid pages of a plane.
    pub fn limit_of(&self, plane: PlaneId) -> u32 {
        self.planes[plane].limit
    }

    /// Lowers the maximum number of valid pages of a plane.
    pub fn lower_limit(&mut self, plane: PlaneId, by: u32) {
        self.planes[plane].limit -= by;
    }

    /// Returns the number of valid pages of a die.
    #[inline]
    pub fn valid_on(&self, die: DieId) -> u32 {
        // A plain loop: an iterator sum has a setup cost, and most dies have one plane.
        let planes = self.geometry.planes_per_die;
        let first = PlaneId(die.0 * planes);
        let mut valid = self.valid_in(first);
        for plane in first.0 + 1..first.0 + planes {
            valid += self.valid_in(PlaneId(plane));
        }
        valid
    }

    /// Returns the number of valid pages of a block.
    #[inline]
    pub fn valid(&self, block: BlockId) -> u32 {
        self.blocks[block].valid
    }

    /// Counts the set valid bits of a block. A law checks that this equals [`Blocks::valid`].
    pub fn marked(&self, block: BlockId) -> u32 {
        let first = block.index() * self.words_per_block;
        self.bits[first..first + self.words_per_block].iter().map(|word| word.count_ones()).sum()
    }

    /// Returns the number of pages of a block programmed since its erase.
    #[inline]
    pub fn written(&self, block: BlockId) -> u32 {
        self.blocks[block].progress.written()
    }

    /// Returns the state of a block.
    #[inline]
    pub fn state(&self, block: BlockId) -> BlockState {
        self.blocks[block].progress.state()
    }

    /// Returns a full block's position in the order in which blocks became full.
    pub fn fill_order(&self, block: BlockId) -> Option<u64> {
        (self.state(block) == BlockState::Full).then(|| self.fill_order[block])
    }

    /// Returns the number of times that any block of the drive has become full.
    pub fn filled(&self) -> u64 {
        self.filled
    }

    /// Returns a snapshot of the state of all blocks that cannot be derived from the mapping.
    pub fn snapshot(&self) -> BlocksSnapshot {
        BlocksSnapshot {
            blocks: self.blocks.clone(),
            erases: self.erases.clone(),
            fill_order: self.fill_order.clone(),
            filled_at: self.filled_at.clone(),
            buckets: self.buckets.clone(),
            planes: self.planes.clone(),
            filled: self.filled,
        }
    }

    /// Restores the blocks from a snapshot, with no page marked as valid yet. Returns true if the
    /// snapshot has the right number of blocks.
    pub fn resume(&mut self, snapshot: BlocksSnapshot) -> bool {
        let same = snapshot.blocks.len() == self.blocks.len()
            && snapshot.erases.len() == self.erases.len()
            && snapshot.fill_order.len() == self.fill_order.len()
            && snapshot.filled_at.len() == self.filled_at.len()
            && snapshot.buckets.len() == self.buckets.len()
            && snapshot.planes.len() == self.planes.len();
        if same {
            (self.blocks, self.erases) = (snapshot.blocks, snapshot.erases);
            (self.fill_order, self.filled_at) = (snapshot.fill_order, snapshot.filled_at);
            (self.buckets, self.planes, self.filled) =
                (snapshot.buckets, snapshot.planes, snapshot.filled);
            self.bits.fill(0);
        }
        same
    }

    /// Marks a page that was valid in the snapshot as valid. The valid counts already include it.
    pub fn validate(&mut self, unit: UnitId) {
        let (word, bit) = self.bit_of(unit);
        self.bits[word] |= 1 << (bit % 64);
    }

    /// Returns the position of a page's valid bit: the index of its word, and the number of the
    /// bit, of which only the value modulo 64 matters.
    #[inline(always)]
    pub(super) fn bit_of(&self, unit: UnitId) -> (usize, u32) {
        if self.packed { (unit.index() / 64, unit.0) } else { self.bit_by_block(unit) }
    }

    /// Returns the position of a page's valid bit in the bitmap of all blocks (index of the 64-bit
    /// word, number of the bit in it), if the number of pages per block is no multiple of 64.
    #[inline(never)]
    fn bit_by_block(&self, unit: UnitId) -> (usize, u32) {
        let (block, place) = self.locator.block_and_place(unit);
        (block.index() * self.words_per_block + place as usize / 64, place)
    }

    /// Returns the number of pages programmed since the drive was made: those of all completed P/E
    /// cycles, and those of the current cycles.
    pub fn programmed(&self) -> u64 {
        let pages = u64::from(self.geometry.pages_per_block);
        let cycles: u64 = self.erases.as_slice().iter().map(|&count| u64::from(count)).sum();
        let written =
            self.blocks.as_slice().iter().map(|block| u64::from(block.progress.written()));
        cycles * pages + written.sum::<u64>()
    }

    /// Returns the number of times that a block was erased.
    #[inline]
    pub fn erases(&self, block: BlockId) -> u32 {
        self.erases[block]
    }

    /// Returns the number of erases of every block.
    pub fn erase_counts(&self) -> &[u32] {
        self.erases.as_slice()
    }

    /// Opens the longest-waiting erased block of a plane.
    pub fn open(&mut self, plane: PlaneId) -> Option<BlockId> {
        let block = self.planes[plane].free.pop_front(&mut self.blocks)?;
        self.blocks[block].set_state(BlockState::Open);
        Some(block)
    }

    /// Opens the erased block of a plane with the smallest `key`; among equals, the longest-waiting
    /// one.
    pub fn open_least(&mut self, plane: PlaneId, key: impl Fn(BlockId) -> u8) -> Option<BlockId> {
        let least = self.planes[plane].free.iter(&self.blocks).min_by_key(|&block| key(block))?;
        self.open_this(least);
        Some(least)
    }

    /// Opens the erased block `block`, which receives the data of a wear-leveling swap.
    pub fn open_this(&mut self, block: BlockId) {
        assert_eq!(self.state(block), BlockState::Free);
        let plane = self.plane_of(block);
        self.planes[plane].free.remove(&mut self.blocks, block);
        self.blocks[block].set_state(BlockState::Open);
    }

    fn append_free(&mut self, block: BlockId) {
        let plane = self.plane_of(block);
        self.planes[plane].free.push_back(&mut self.blocks, block);
        self.blocks[block].progress = Progress::new(BlockState::Free, 0);
    }

    /// Programs the next page of an open block of a plane. The pages of a block are programmed in
    /// order, each once between erases.
    #[inline(always)]
    pub fn program(&mut self, plane: PlaneId, block: BlockId) -> Programmed {
        let record = &mut self.blocks[block];
        let (offset, pages) = (record.progress.0, self.geometry.pages_per_block);
        assert!(offset < pages, "a page of a block that is not open, or programmed twice");
        record.progress.0 += 1;
        record.valid += 1;
        let plane_blocks = &mut self.planes[plane];
        plane_blocks.valid += 1;
        let free = plane_blocks.free.len();
        let unit = self.locator.unit(block, offset);
        let (word, bit) = self.bit_of(unit);
        *self.bits.entry_mut(word) |= 1 << (bit % 64);
        Programmed { unit, last: offset + 1 == pages, free }
    }

    /// Programs the next `count` mapping units of an open block, all with valid data. Returns the
    /// first of them.
    pub fn program_run(&mut self, block: BlockId, count: u32) -> UnitId {
        let offset = self.take(block, count);
        self.blocks[block].valid += count;
        let plane = self.plane_of(block);
        self.planes[plane].valid += count;
        let words = &mut self.bits[block.index() * self.words_per_block..][..self.words_per_block];
        let (mut at, end) = (offset, offset + count);
        while at < end {
            let upto = end.min((at / 64 + 1) * 64);
            words[at as usize / 64] |= (u64::MAX >> (64 - (upto - at))) << (at % 64);
            at = upto;
        }
        self.locator.unit(block, offset)
    }

    /// Takes the next `count` pages of an open block, without binding data to them. Returns the
    /// offset of the first in the block.
    #[inline]
    pub fn take(&mut self, block: BlockId, count: u32) -> u32 {
        assert_eq!(self.state(block), BlockState::Open);
        let progress = &mut self.blocks[block].progress;
        let offset = progress.written();
        assert!(count <= self.geometry.pages_per_block - offset, "page programmed twice");
        progress.0 += count;
        offset
    }

    /// Marks a physical page, just allocated in its open block, as holding valid data.
    #[inline]
    pub fn bind(&mut self, unit: UnitId, block: BlockId) {
        debug_assert_eq!(self.locator.block_of(unit), block);
        debug_assert!(self.valid(block) < self.written(block), "more valid pages than taken");
        self.blocks[block].valid += 1;
        self.validate(unit);
    }

    /// Returns the block that a mapping unit lies in.
    #[inline]
    pub fn block_of(&self, unit: UnitId) -> BlockId {
        self.locator.block_of(unit)
    }

    /// Returns true if every page of a block has been taken since its last erase.
    #[inline]
    pub fn is_taken(&self, block: BlockId) -> bool {
        self.written(block) == self.geometry.pages_per_block
    }

    /// Returns the numbers of the blocks of a plane.
    #[inline]
    pub(super) fn of_plane(&self, plane: PlaneId) -> Range<u32> {
        let per_plane = self.geometry.blocks_per_plane;
        match plane.0 {
            1 if self.aside.is_some() => self.aside.0..self.geometry.blocks(),
            plane => plane * per_plane..((plane + 1) * per_plane).min(self.aside.0),
        }
    }

    /// Returns true if GC victims are found by a scan of all blocks, as on drives with superblocks;
    /// false if by lists of full blocks, one list (bucket) per number of valid pages.
    #[inline]
    pub(super) fn is_scanned(&self) -> bool {
        self.buckets.is_empty()
    }

    /// Returns the plane of a block.
    #[inline]
    pub(super) fn plane_of(&self, block: BlockId) -> PlaneId {
        if block.0 >= self.aside.0 { PlaneId(1) } else { self.locator.plane_of_block(block) }
    }

    /// Records that the last page of a block has been programmed, which makes it a candidate for
    /// GC.
    pub fn fill(&mut self, block: BlockId, now: Nanos) {
        assert_eq!(self.state(block), BlockState::Open);
        assert!(self.is_taken(block), "a block with pages left");
        self.filled += 1;
        self.fill_order[block] = self.filled;
        self.filled_at[block] = now;
        self.set_full(self.plane_of(block), block);
    }

    /// Makes a block of a plane a candidate for GC.
    pub(super) fn set_full(&mut self, plane: PlaneId, block: BlockId) {
        self.blocks[block].set_state(BlockState::Full);
        self.planes[plane].full += 1;
        self.link(block, plane);
    }

    /// Skips the remaining pages of an open block: they count as programmed but hold no data.
    pub fn pass_over_rest(&mut self, block: BlockId) {
        assert_eq!(self.state(block), BlockState::Open);
        self.blocks[block].progress =
            Progress::new(BlockState::Open, self.geometry.pages_per_block);
    }

    /// Skips the first pages of a block that was just opened: they count as programmed but hold no
    /// data.
    pub fn skip(&mut self, block: BlockId, pages: u32) {
        assert_eq!(self.state(block), BlockState::Open);
        assert_eq!(self.written(block), 0, "pages of a block in use are skipped");
        self.blocks[block].progress = Progress::new(BlockState::Open, pages);
    }

    /// Fills an erased block of a plane at once. `valid` is called with the size of each run of
    /// pages, at most 64, and returns their validity as bits, the first page in the lowest bit.
    pub fn load(&mut self, plane: PlaneId, mut valid: impl FnMut(u32) -> u64) -> BlockId {
        let block = self.open(plane).expect("an erased block");
        let pages = self.geometry.pages_per_block;
        let words = &mut self.bits[block.index() * self.words_per_block..][..self.words_per_block];
        let (mut left, mut count) = (pages, 0);
        for word in words {
            *word = valid(left.min(64));
            left = left.saturating_sub(64);
            count += word.count_ones();
        }
        self.blocks[block].progress = Progress::new(BlockState::Open, pages);
        self.blocks[block].valid = count;
        self.planes[plane].valid += count;
        self.fill(block, Nanos::ZERO);
        block
    }

    /// Prefetches, into the processor's cache, the entries of the block table that invalidating a
    /// page needs.
    #[inline]
    pub fn prefetch(&self, unit: UnitId) {
        let block = self.locator.block_of(unit);
        self.blocks.prefetch(block);
        prefetch(&self.bits, self.bit_of(unit).0);
    }

    /// Prefetches into the processor's cache the blocks before and after a unit's block in the list
    /// of its valid count, and the first one of the next lower count, where the block goes when a
    /// page of it becomes invalid.
    #[inline]
    pub fn prefetch_neighbours(&self, unit: UnitId) {
        let block = self.locator.block_of(unit);
        let Some(record) = self.blocks.get(block).filter(|it| it.progress.is(BlockState::Full))
        else {
            return;
        };
        self.blocks.prefetch(record.link.prev);
        self.blocks.prefetch(record.link.next);
        let plane = self.plane_of(block);
        let bucket = bucket(&self.geometry, plane, record.valid);
        if let Some(head) = self.buckets.get(bucket.wrapping_sub(1)).and_then(Pile::front) {
            self.blocks.prefetch(head);
        }
    }

    /// Marks a valid page as invalid. Returns the page's plane.
    #[inline(always)]
    pub fn invalidate(&mut self, unit: UnitId) -> PlaneId {
        assert!(self.clear(unit), "page invalidated twice");
        let block = self.locator.block_of(unit);
        let plane = self.locator.plane_of_block(block);
        self.lose_page(block, plane);
        plane
    }

    /// Marks a page of a plane as invalid. Returns true if it was valid.
    #[inline(always)]
    pub fn invalidate_if_valid(&mut self, unit: UnitId, plane: PlaneId) -> bool {
        let was_valid = self.clear(unit);
        if was_valid {
            self.lose_page(self.locator.block_of(unit), plane);
        }
        was_valid
    }

    /// Clears a page's valid bit. Returns true if it was valid.
    #[inline(always)]
    pub(super) fn clear(&mut self, unit: UnitId) -> bool {
        let (word, bit) = self.bit_of(unit);
        let word = self.bits.entry_mut(word);
        let before = *word;
        *word = before & !(1 << (bit % 64));
        before & (1 << (bit % 64)) != 0
    }

    /// Decrements the valid count of a block of a plane.
    #[inline(always)]
    fn lose_page(&mut self, block: BlockId, plane: PlaneId) {
        let plane_blocks = &mut self.planes[plane];
        plane_blocks.valid -= 1;
        let record = &mut self.blocks[block];
        let valid = record.valid - 1;
        record.valid = valid;
        if record.progress.is(BlockState::Full) {
            plane_blocks.lowest = plane_blocks.lowest.min(valid);
            let below = bucket(&self.geometry, plane, valid);
            let [to, from] = self.buckets[below..].first_chunk_mut().expect("two buckets");
            from.remove(&mut self.blocks, block);
            to.push_front(&mut self.blocks, block);
        }
    }

    /// Returns true if a page holds current data.
    #[inline]
    pub fn is_valid(&self, unit: UnitId) -> bool {
        let (word, bit) = self.bit_of(unit);
        self.bits.entry(word) & (1 << (bit % 64)) != 0
    }

    /// Returns the position of the first valid page of a block at or after `offset`.
    #[inline]
    pub fn next_valid(&self, block: BlockId, offset: u32) -> Option<u32> {
        let first = block.index() * self.words_per_block;
        let (mut at, end) = (first + offset as usize / 64, first + self.words_per_block);
        if at == end {
            return None;
        }
        let mut word = self.bits.entry(at) & (u64::MAX << (offset % 64));
        while word == 0 {
            at += 1;
            if at == end {
                return None;
            }
            word = self.bits[at];
        }
        Some((at - first) as u32 * 64 + word.trailing_zeros())
    }

    /// Makes a full block a GC victim.
    pub fn collect(&mut self, block: BlockId) {
        let Block { progress, valid, .. } = self.blocks[block];
        assert_eq!(progress.state(), BlockState::Full);
        let plane = self.plane_of(block);
        self.unlink(block, bucket(&self.geometry, plane, valid));
        self.planes[plane].full -= 1;
        self.blocks[block].set_state(BlockState::Collecting);
    }

    /// Marks all pages of a GC victim as invalid, after all valid ones have been moved.
    pub fn vacate(&mut self, block: BlockId) {
        assert_eq!(self.state(block), BlockState::Collecting);
        let valid = std::mem::take(&mut self.blocks[block].valid);
        let plane = self.plane_of(block);
        self.planes[plane].valid -= valid;
        self.bits[block.index() * self.words_per_block..][..self.words_per_block].fill(0);
    }

    /// Records that a GC victim has been erased.
    pub fn erase(&mut self, block: BlockId) {
        assert_eq!(self.state(block), BlockState::Collecting);
        assert_eq!(self.blocks[block].valid, 0, "a valid page would be erased");
        self.erases[block] += 1;
        self.append_free(block);
    }

    /// Records that a GC victim has failed and is retired.
    pub fn retire(&mut self, block: BlockId) {
        assert_eq!(self.state(block), BlockState::Collecting);
        assert_eq!(self.blocks[block].valid, 0, "a valid page would be lost");
        self.erases[block] += 1;
        self.blocks[block].progress = Progress::new(BlockState::Retired, 0);
    }

    /// Retires all blocks of a plane whose die has failed. Their valid pages stay valid until the
    /// data has another copy or is no longer wanted.
    pub fn abandon(&mut self, plane: PlaneId) {
        while self.planes[plane].free.pop_front(&mut self.blocks).is_some() {}
        for block in self.geometry.blocks_of_plane(plane) {
            let Block { progress, valid, .. } = self.blocks[block];
            if progress.is(BlockState::Full) {
                self.unlink(block, bucket(&self.geometry, plane, valid));
            }
            self.blocks[block].set_state(BlockState::Retired);
        }
        let plane_blocks = &mut self.planes[plane];
        (plane_blocks.full, plane_blocks.limit) = (0, 0);
    }

    /// Puts a full block of a plane into the bucket of its valid count.
    #[inline]
    pub(super) fn link(&mut self, block: BlockId, plane: PlaneId) {
        if self.is_scanned() {
            return;
        }
        let valid = self.blocks[block].valid;
        self.buckets[bucket(&self.geometry, plane, valid)].push_front(&mut self.blocks, block);
        let lowest = &mut self.planes[plane].lowest;
        *lowest = (*lowest).min(valid);
    }

    /// Removes a block from a bucket: the list of full blocks of a plane with one number of valid
    /// pages.
    #[inline]
    fn unlink(&mut self, block: BlockId, bucket: usize) {
        if !self.is_scanned() {
            self.buckets[bucket].remove(&mut self.blocks, block);
        }
    }

    /// Raises the plane's lower bound on the valid pages of its GC victims to the smallest number
    /// of valid pages for which the plane has a full block.
    pub fn settle_lowest(&mut self, plane: PlaneId) {
        let pages = self.geometry.pages_per_block;
        let first = plane.index() * (pages as usize + 1);
        let columns = &mut self.planes[plane];
        while columns.lowest <= pages && self.buckets[first + columns.lowest as usize].is_empty() {
            columns.lowest += 1;
        }
    }
}
