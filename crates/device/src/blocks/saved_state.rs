//! The saved state of page-mapped blocks before the first request, as 32-bit words that can be
//! written and read.
//!
//! Invariants: every block is erased, open for plain data, or full; no time has passed; no page is
//! assigned to a die without a place there.

use super::block_table::{BlockState, Blocks};
use super::open_blocks::Opened;
use super::page_allocator::PageAllocator;
use super::words::{PutWords, TakeWords, halves, list, put_long, take_long, whole};
use crate::observe::operation::Source;
use crate::policy::stream_tag::StreamTag;
use fowler_units::{BlockId, Id, Nanos, PlaneId};

/// An open block, and the number of its pages taken since its erase.
type Open = (BlockId, u32);

impl PageAllocator {
    /// Saves the allocator's rotation over dies and planes, and the block table, through `put`,
    /// which writes 32-bit words.
    ///
    /// # Errors
    /// If `put` fails.
    pub fn save(&self, put: PutWords<'_>) -> Result<(), String> {
        let stream = self.open_blocks.stream(StreamTag::PLAIN);
        put(&[self.turn as u32])?;
        for stripe in self.stripes.as_slice() {
            debug_assert_eq!(stripe.pending, 0, "a page has no place yet");
            put(&[u32::from(stripe.turns[stream.index()])])?;
        }
        for plane in self.blocks.planes.ids() {
            for opened in self.opened_for_plain_data() {
                let open = self.open_blocks.opened(plane, opened);
                let used = if open.is_some() { self.blocks.written(open) } else { 0 };
                put(&[open.0, used])?;
            }
        }
        self.blocks.save(put)
    }

    /// Restores the saved state of the allocator on a fresh drive of this configuration, through
    /// `take`, which reads the 32-bit words of that state.
    ///
    /// # Errors
    /// The reason why the words are not such a state.
    pub fn restore(&mut self, take: TakeWords<'_>) -> Result<(), String> {
        let stream = self.open_blocks.stream(StreamTag::PLAIN);
        let mut word = [0];
        take(&mut word)?;
        self.turn = word[0] as usize;
        let mut turns = vec![0; self.stripes.len()];
        take(&mut turns)?;
        let planes_per_die = self.blocks.geometry.planes_per_die;
        if self.turn >= self.dies_in_turn() || turns.iter().any(|&turn| turn >= planes_per_die) {
            return Err("it is the turn of a die or a plane that is not there".into());
        }
        for (stripe, turn) in self.stripes.as_mut_slice().iter_mut().zip(turns) {
            stripe.turns[stream.index()] = turn as u8;
        }
        let mut open = Vec::new();
        for plane in self.blocks.planes.ids() {
            for opened in self.opened_for_plain_data() {
                let mut pair = [0; 2];
                take(&mut pair)?;
                let [block, used] = pair;
                if block == BlockId::NONE.0 {
                    continue;
                }
                let block = BlockId(block);
                self.blocks.use_erased(plane, block, used)?;
                self.open_blocks.reopen(plane, opened, block);
                open.push((block, used));
            }
        }
        self.blocks.restore(take, &open)
    }

    /// Returns the uses of the blocks that preconditioning opens: one for host data, and one for GC
    /// if GC has an open block of its own.
    fn opened_for_plain_data(&self) -> Vec<Opened> {
        let uses = [Source::Host, Source::Gc];
        let mut uses = uses.map(|by| self.open_blocks.opened_for(by, StreamTag::PLAIN)).to_vec();
        uses.dedup();
        uses
    }
}

impl Blocks {
    /// Writes as 32-bit words: erase counts and fill order of all blocks, erased and full blocks of
    /// each plane, and valid pages.
    fn save(&self, put: PutWords<'_>) -> Result<(), String> {
        let untimed = self.filled_at.as_slice().iter().all(|&at| at == Nanos::ZERO);
        debug_assert!(untimed, "preconditioning takes no time");
        put(self.erases.as_slice())?;
        put(&halves(self.filled))?;
        put_long(put, self.fill_order.as_slice())?;
        let pages = self.geometry.pages_per_block as usize;
        for (plane, columns) in self.planes.ids().zip(self.planes.as_slice()) {
            let buckets = &self.buckets[plane.index() * (pages + 1)..][..=pages];
            let full = buckets.iter().flat_map(|bucket| bucket.iter(&self.blocks));
            let free = columns.free.iter(&self.blocks);
            let lists: [Vec<u32>; 2] =
                [free.map(|block| block.0).collect(), full.map(|block| block.0).collect()];
            for list in lists {
                put(&[list.len() as u32])?;
                put(&list)?;
            }
            put(&[columns.lowest])?;
        }
        put_long(put, &self.bits)
    }

    /// Restores the saved block table through `take`, which reads 32-bit words. The blocks in
    /// `open` are open already; all others are erased.
    fn restore(&mut self, take: TakeWords<'_>, open: &[Open]) -> Result<(), String> {
        let all = self.geometry.blocks();
        let pages = self.geometry.pages_per_block;
        take(self.erases.as_mut_slice())?;
        let mut filled = [0; 2];
        take(&mut filled)?;
        self.filled = whole(filled[0], filled[1]);
        take_long(take, self.fill_order.as_mut_slice())?;
        if self.fill_order.as_slice().iter().any(|&at| at > self.filled) {
            return Err("a block became full after the last one did".into());
        }
        let mut planes = Vec::new();
        for plane in self.planes.ids() {
            let (free, full) = (list(take, all)?, list(take, all)?);
            let mut lowest = [0];
            take(&mut lowest)?;
            for &number in &full {
                self.use_erased(plane, BlockId(number), pages)?;
            }
            let free: Vec<BlockId> = free.into_iter().map(BlockId).collect();
            if !self.order_free(plane, &free) {
                return Err("a block is erased that cannot be".into());
            }
            planes.push((plane, full, lowest[0]));
        }
        take_long(take, &mut self.bits)?;
        for (plane, full, lowest) in planes {
            for &(block, used) in open {
                if self.plane_of(block) == plane {
                    self.count_valid(plane, block, used)?;
                }
            }
            // A bucket lists the block that came last first.
            for block in full.into_iter().rev().map(BlockId) {
                self.count_valid(plane, block, pages)?;
                self.set_full(plane, block);
            }
            let columns = &mut self.planes[plane];
            if lowest > columns.lowest {
                return Err("a block has fewer valid pages than the emptiest one".into());
            }
            columns.lowest = lowest;
            for block in self.geometry.blocks_of_plane(plane) {
                if self.state(block) == BlockState::Free {
                    self.count_valid(plane, block, 0)?;
                }
            }
        }
        Ok(())
    }

    /// Opens an erased block of a plane, of which `used` pages are taken.
    fn use_erased(&mut self, plane: PlaneId, block: BlockId, used: u32) -> Result<(), String> {
        if block.0 >= self.geometry.blocks()
            || self.plane_of(block) != plane
            || self.state(block) != BlockState::Free
            || used > self.geometry.pages_per_block
        {
            return Err("a block is open and full, or open twice, or in another plane".into());
        }
        self.open_this(block);
        self.skip(block, used);
        Ok(())
    }

    /// Sets the valid count of a block, whose valid pages must all be among the first `used`.
    fn count_valid(&mut self, plane: PlaneId, block: BlockId, used: u32) -> Result<(), String> {
        let words = &self.bits[block.index() * self.words_per_block..][..self.words_per_block];
        let mut valid = 0;
        for (first, &word) in (0..).step_by(64).zip(words) {
            let in_use = used.saturating_sub(first).min(64);
            if in_use < 64 && word >> in_use != 0 {
                return Err("a page is valid that has not been programmed".into());
            }
            valid += word.count_ones();
        }
        self.blocks[block].valid = valid;
        self.planes[plane].valid += valid;
        Ok(())
    }
}
