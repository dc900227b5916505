//! Views of the blocks of a plane for other modules: the candidates for GC, and the valid pages of
//! a block.

use super::block_table::{BlockState, Blocks};
use fowler_units::{BlockId, Id, Nanos, Pile, PlaneId, UnitId};

impl Blocks {
    /// Returns a walk over the valid pages of a block, in order of page number.
    pub fn valid_pages(&self, block: BlockId) -> ValidPages {
        ValidPages { block, index: 0, word: self.bits[block.index() * self.words_per_block] }
    }

    /// Counts the blocks of a plane that are in the bucket of their valid count.
    pub fn bucketed(&self, plane: PlaneId) -> u32 {
        let pages = self.geometry.pages_per_block;
        let first = plane.index() * (pages as usize + 1);
        let mut found = 0;
        for valid in 0..=pages {
            let in_bucket = self.buckets[first + valid as usize].iter(&self.blocks);
            found += in_bucket.take_while(|&block| self.valid(block) == valid).count() as u32;
        }
        found
    }

    /// Returns the full blocks of a plane, which are the candidates for GC.
    pub fn candidates(&self, plane: PlaneId) -> Candidates<'_> {
        Candidates { blocks: self, plane }
    }
}

/// A walk over the valid pages of a block. It borrows nothing, so pages can be moved during it;
/// meanwhile no page of the block itself may become valid or invalid.
#[derive(Clone, Debug)]
pub struct ValidPages {
    block: BlockId,
    /// Index in the block of the current word of valid bits; `word` holds the bits of that word not
    /// yet visited.
    index: usize,
    word: u64,
}

impl ValidPages {
    /// Returns the next valid page of the block; `None` after the last one.
    #[inline]
    pub fn next(&mut self, blocks: &Blocks) -> Option<UnitId> {
        while self.word == 0 {
            if self.index + 1 >= blocks.words_per_block {
                return None;
            }
            self.index += 1;
            self.word = blocks.bits[self.block.index() * blocks.words_per_block + self.index];
        }
        let offset = self.index as u32 * 64 + self.word.trailing_zeros();
        self.word &= self.word - 1;
        Some(blocks.locator.unit(self.block, offset))
    }
}

/// The full blocks of a plane, as a victim or wear policy sees them. On a drive with superblocks,
/// these are the blocks of one plane.
pub struct Candidates<'a> {
    blocks: &'a Blocks,
    plane: PlaneId,
}

impl Candidates<'_> {
    /// Returns the plane whose full blocks are the candidates for GC.
    pub fn plane(&self) -> PlaneId {
        self.plane
    }

    /// Returns the number of candidates for GC.
    pub fn count(&self) -> u32 {
        self.blocks.planes[self.plane].full
    }

    /// Returns the number of pages that take data after a candidate is erased: the pages of a
    /// block, or the data units of a superblock, without parity. A superblock in SLC mode holds
    /// fewer.
    pub fn capacity(&self) -> u32 {
        self.blocks.capacity
    }

    /// Returns the block with the number `index` in the plane, whether it may be a GC victim or
    /// not; `index` is below [`Candidates::slots`], the number of blocks in the plane.
    pub fn slot(&self, index: u32) -> BlockId {
        BlockId(self.blocks.of_plane(self.plane).start + index)
    }

    /// Returns the number of blocks in the plane, candidates or not.
    pub fn slots(&self) -> u32 {
        self.blocks.of_plane(self.plane).len() as u32
    }

    /// Returns true if a block of the plane has not been retired.
    pub fn is_in_use(&self, block: BlockId) -> bool {
        self.blocks.state(block) != BlockState::Retired
    }

    /// Returns true if a block is a candidate for GC: a full block of the plane.
    pub fn contains(&self, block: BlockId) -> bool {
        let range = self.blocks.of_plane(self.plane);
        range.contains(&block.0) && self.blocks.state(block) == BlockState::Full
    }

    /// Iterates over the candidates for GC in order of block number.
    pub fn iter(&self) -> impl Iterator<Item = BlockId> + '_ {
        self.blocks.of_plane(self.plane).map(BlockId).filter(|&block| self.contains(block))
    }

    /// Returns the GC candidate of the plane with the fewest valid pages: the head of the first
    /// nonempty list of full blocks by valid pages or, on a drive with superblocks, the first one
    /// that a scan of the table finds.
    pub fn fewest_valid(&self) -> Option<BlockId> {
        if self.blocks.is_scanned() {
            return self.blocks.emptiest(self.plane);
        }
        let pages = self.blocks.geometry.pages_per_block as usize;
        let buckets = &self.blocks.buckets[self.plane.index() * (pages + 1)..][..=pages];
        let lowest = self.blocks.planes[self.plane].lowest as usize;
        buckets.get(lowest..)?.iter().find_map(Pile::front)
    }

    /// Returns the number of pages of a GC candidate's capacity that its erase does not free: valid
    /// pages, and pages that cannot hold data (those of a failed block, or of parity that other
    /// superblocks do without).
    pub fn valid(&self, block: BlockId) -> u32 {
        self.blocks.not_gained(block)
    }

    /// Returns a candidate's position in the order in which blocks became full.
    pub fn fill_order(&self, block: BlockId) -> u64 {
        self.blocks.fill_order[block]
    }

    /// Returns the time at which a candidate for GC became full.
    pub fn filled_at(&self, block: BlockId) -> Nanos {
        self.blocks.filled_at[block]
    }

    /// Returns the erase count of any block of the plane.
    pub fn erases(&self, block: BlockId) -> u32 {
        self.blocks.erases[block]
    }
}
