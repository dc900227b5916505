//! Superblocks in the block table: a *block* is a superblock, and its *pages* are mapping units.
//! Superblocks are scanned for a victim instead of bucketed, because a drive has only some hundreds
//! of them.

use super::block_table::{Block, BlockState, Blocks, PlaneBlocks};
use fowler_units::{BlockId, Bytes, Geometry, IdVec, Nanos, PlaneId, UnitId};

impl Blocks {
    /// Returns the memory that the superblocks of a drive take on the simulating machine.
    pub fn bytes_scanned(geometry: &Geometry) -> Bytes {
        let blocks = u64::from(geometry.blocks());
        let pages = u64::from(geometry.pages_per_block);
        Bytes::of::<(Block, u32, u64, Nanos)>(blocks)
            + Bytes::of::<u64>(blocks * pages.div_ceil(64))
            + Bytes::of::<PlaneBlocks>(2)
    }

    /// Creates the block table of a fresh drive with superblocks, each of which holds `capacity`
    /// pages of data. GC victims are found by a scan of the table, not by lists of blocks with
    /// equally many valid pages. Superblocks from `aside` on are reserved for the SLC cache.
    pub fn scanned(geometry: Geometry, capacity: u32, aside: BlockId) -> Self {
        let mut blocks = Self::with(geometry, geometry.pages(), 2, aside, false);
        blocks.capacity = capacity;
        blocks
    }

    /// Returns this block table of superblocks; with `keeps` true, the table also counts, for each
    /// superblock, the pages that hold no data and that an erase does not gain (such as those of a
    /// failed block).
    #[must_use]
    pub fn keeping(mut self, keeps: bool) -> Self {
        let count = if keeps { self.blocks.len() } else { 0 };
        self.kept = IdVec::filled(0, count);
        self
    }

    /// Begins to count, for each superblock, the pages that hold no data and that an erase does not
    /// gain, such as those of a failed block. The counts start at 0.
    pub fn keep_some(&mut self) {
        if !self.keeps() {
            self.kept = IdVec::filled(0, self.blocks.len());
        }
    }

    /// Retires an open block that holds nothing.
    pub fn retire_open(&mut self, block: BlockId) {
        assert_eq!((self.state(block), self.written(block)), (BlockState::Open, 0));
        self.blocks[block].set_state(BlockState::Retired);
    }

    /// Returns true if superblocks may have pages within their capacity that hold no data.
    pub fn keeps(&self) -> bool {
        !self.kept.is_empty()
    }

    /// Sets the number of pages of a superblock that hold no data and that an erase does not gain,
    /// such as those of a failed block. Without effect if the block table does not count such
    /// pages.
    pub fn keep(&mut self, block: BlockId, pages: u32) {
        if self.keeps() {
            self.kept[block] = pages;
        }
    }

    /// Returns the number of pages within a block's capacity that its erase does not gain: valid
    /// pages, and pages that hold no data.
    #[inline]
    pub(super) fn not_gained(&self, block: BlockId) -> u32 {
        self.valid(block) + self.kept.get(block).copied().unwrap_or(0)
    }

    /// Returns the full block of a plane with the fewest valid pages, the first one found by a
    /// scan; `None` if there is no full block.
    pub(super) fn emptiest(&self, plane: PlaneId) -> Option<BlockId> {
        let numbers = self.of_plane(plane);
        let all = &self.blocks.as_slice()[numbers.start as usize..numbers.end as usize];
        let (mut least, mut found) = (u32::MAX, None);
        let kept = self.kept.as_slice();
        for (number, block) in numbers.zip(all) {
            let kept = kept.get(number as usize).copied().unwrap_or(0);
            if block.valid + kept < least && block.progress.is(BlockState::Full) {
                (least, found) = (block.valid + kept, Some(BlockId(number)));
            }
        }
        found
    }

    /// Marks a page of a superblock as invalid. Returns true if it was valid.
    #[inline]
    pub fn release(&mut self, unit: UnitId, block: BlockId) -> bool {
        debug_assert_eq!(self.locator.block_of(unit), block);
        debug_assert!(self.is_scanned(), "its bucket would not be the right one");
        let was_valid = self.clear(unit);
        self.blocks[block].valid -= u32::from(was_valid);
        was_valid
    }

    /// Returns the validity of up to 32 consecutive pages of a block, from `first` on: one bit per
    /// page, the first in the lowest bit, set if the page is valid.
    #[inline]
    pub fn valid_among(&self, first: UnitId, count: u32) -> u32 {
        debug_assert!((1..=32).contains(&count), "{count} pages");
        let (word, bit) = self.bit_of(first);
        let bits = self.bits.entry(word) >> (bit % 64);
        let rest = 64 - bit % 64;
        let next = if rest < count { self.bits.entry(word + 1) << rest } else { 0 };
        (bits | next) as u32 & (u32::MAX >> (32 - count))
    }

    /// Returns a GC victim to the candidates, with some of its pages still valid. It keeps its
    /// place in the order of filling.
    pub fn give_back(&mut self, block: BlockId) {
        assert_eq!(self.state(block), BlockState::Collecting);
        self.set_full(self.plane_of(block), block);
    }

    /// Sets the order in which the erased blocks of a plane will be opened. `order` must name no
    /// block twice. Returns true if `order` names exactly the erased blocks of the plane.
    pub fn order_free(&mut self, plane: PlaneId, order: &[BlockId]) -> bool {
        let mut left = self.planes[plane].free.len();
        for &block in order {
            let record = self.blocks.get(block);
            if !record.is_some_and(|it| it.progress.is(BlockState::Free))
                || self.plane_of(block) != plane
            {
                return false;
            }
            self.planes[plane].free.remove(&mut self.blocks, block);
            self.planes[plane].free.push_back(&mut self.blocks, block);
            left = left.wrapping_sub(1);
        }
        left == 0
    }

    /// Returns the erased blocks of a plane, the longest-waiting first.
    pub fn free_blocks(&self, plane: PlaneId) -> impl Iterator<Item = BlockId> {
        self.planes[plane].free.iter(&self.blocks)
    }

    /// Returns the time at which each block last became full.
    pub fn filled_times(&self) -> &[Nanos] {
        self.filled_at.as_slice()
    }

    /// Sets the time at which each block last became full.
    pub fn set_filled_times(&mut self, times: &[Nanos]) {
        self.filled_at.as_mut_slice().copy_from_slice(times);
    }

    /// Sets the positions of full blocks in the order in which blocks became full, from 1, and the
    /// number of times that any block has become full. A block that was erased since is not in
    /// `order`, but counts. Returns false if an order cannot be that of these blocks.
    pub fn set_fill_order(&mut self, order: &[(BlockId, u64)], filled: u64) -> bool {
        let mut last = 0;
        for &(block, at) in order {
            if at <= last || at > filled || self.state(block) != BlockState::Full {
                return false;
            }
            self.fill_order[block] = at;
            last = at;
        }
        self.filled = filled;
        true
    }

    /// Sets the erase count of every block.
    pub fn set_erases(&mut self, erases: &[u32]) {
        self.erases.as_mut_slice().copy_from_slice(erases);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a table of three blocks of `pages` pages each, every third of which is valid.
    fn blocks(pages: u32) -> Blocks {
        let geometry = Geometry {
            channels: 1,
            chips_per_channel: 1,
            dies_per_chip: 1,
            planes_per_die: 1,
            blocks_per_plane: 3,
            pages_per_block: pages,
            page_size: Bytes(4096),
        };
        let mut blocks = Blocks::scanned(geometry, pages, BlockId(2));
        for _ in 0..2 {
            let block = blocks.open(PlaneId(0)).expect("an erased one");
            blocks.take(block, pages);
            for place in (0..pages).filter(|place| place % 3 == 0 || place % 7 == 1) {
                blocks.bind(UnitId(block.0 * pages + place), block);
            }
        }
        blocks
    }

    #[test]
    fn valid_pages_are_those_of_the_bits() {
        for pages in [33, 64, 100, 128, 130] {
            let blocks = blocks(pages);
            for count in [1, 2, 3, 4, 31, 32] {
                for first in (0..2).flat_map(|block| {
                    (0..=pages - count).map(move |place| UnitId(block * pages + place))
                }) {
                    let valid = |at: &u32| blocks.is_valid(UnitId(first.0 + at));
                    let expected = (0..count).filter(valid).map(|at| 1 << at).sum::<u32>();
                    let found = blocks.valid_among(first, count);
                    assert_eq!(found, expected, "{count} of {first:?}, blocks of {pages}");
                }
            }
        }
    }

    #[test]
    fn an_order_of_erased_blocks_names_each_of_the_plane() {
        let mut blocks = Blocks::scanned(*blocks(64).geometry(), 64, BlockId(2));
        assert!(blocks.order_free(PlaneId(0), &[BlockId(1), BlockId(0)]));
        assert_eq!(blocks.free_blocks(PlaneId(0)).collect::<Vec<_>>(), [BlockId(1), BlockId(0)]);
        assert!(!blocks.order_free(PlaneId(0), &[BlockId(1)]), "one is missing");
        assert!(!blocks.order_free(PlaneId(0), &[BlockId(1), BlockId(2)]), "of another plane");
        assert!(!blocks.order_free(PlaneId(0), &[BlockId(1), BlockId(9)]), "beyond the drive");
    }
}
