//! Blocks in which a program has failed: their data moves at once, and the empty blocks are
//! retired.
//!
//! 1. The program that fails is repeated in another block (`blocks/bad_blocks.rs`).
//! 2. The failed block is closed and removed from the candidates, because GC would gain nothing
//!    from it ([`Gc::note_failed_programs`]).
//! 3. A foreground job empties it as soon as its plane has no other job; a job in progress is
//!    promoted.
//! 4. The erase at the end of the job retires the block.

use super::Gc;
use crate::core::Core;
use crate::flash::Flash;
use crate::observe::operation::Source;
use fowler_units::{BlockId, Nanos, PlaneId, TxnId};

impl Gc {
    /// Records the blocks in which programs failed before a transaction's data found its page.
    #[cold]
    #[inline(never)]
    pub fn note_failed_programs(&mut self, core: &mut Core, flash: &mut Flash, id: TxnId) {
        let mut failed = 0;
        while let Some(block) = core.allocator.next_failed() {
            failed += 1;
            // The last program of the block has ended: a die programs one page of a block after
            // another.
            self.await_emptying(core, block, flash.now());
            let plane = core.locator.plane_of_block(block);
            if !self.empty_failed(core, flash, plane) {
                // The block waits for the job of its plane, which may be one that gives way to the
                // host.
                self.promote(core, flash, plane);
            }
        }
        flash.txns.get_mut(id).failed = failed;
    }

    /// Makes a failed block wait to be emptied. GC does not choose such a block, because its erase
    /// gains nothing.
    fn await_emptying(&mut self, core: &mut Core, block: BlockId, now: Nanos) {
        core.allocator.blocks.fill(block, now);
        core.allocator.blocks.collect(block);
        core.allocator.await_emptying(block);
    }

    /// Begins to empty a failed block of a plane, if there is one and the plane has no job. Returns
    /// true if a job has begun.
    #[inline]
    pub(super) fn empty_failed(
        &mut self,
        core: &mut Core,
        flash: &mut Flash,
        plane: PlaneId,
    ) -> bool {
        core.allocator.blocks_fail() && self.empty_a_failed_one(core, flash, plane)
    }

    #[cold]
    fn empty_a_failed_one(&mut self, core: &mut Core, flash: &mut Flash, plane: PlaneId) -> bool {
        if self.job(plane).is_some() {
            return false;
        }
        let Some(block) = core.allocator.take_waiting(plane) else { return false };
        self.empty(core, flash, plane, block, Source::Refresh, true);
        true
    }

    /// Records blocks whose programs have failed, in no simulated time.
    #[cold]
    #[inline(never)]
    pub(super) fn note_failed_programs_now(&mut self, core: &mut Core) {
        while let Some(block) = core.allocator.next_failed() {
            self.await_emptying(core, block, self.untimed.clock);
        }
    }

    /// Empties the failed blocks of a plane in no simulated time.
    #[cold]
    #[inline(never)]
    pub(super) fn empty_failed_now(&mut self, core: &mut Core, plane: PlaneId) {
        while let Some(block) = core.allocator.take_waiting(plane) {
            self.empty_collected_now(core, plane, block, Source::Refresh);
        }
    }
}
