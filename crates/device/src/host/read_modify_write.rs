//! Read-modify-write, for a frame that holds only part of its page.
//!
//! 1. The old copy of the page is read from the flash, as a background read with the deadline of
//!    the write.
//! 2. The frame then holds the whole page, and its program continues. A write to the frame in the
//!    meantime is merged into it.
//!
//! If the old copy cannot be read, the page is programmed all the same, and `from` names the copy
//! whose failure the new page inherits.

use super::Ftl;
use super::redundancy_hooks::RedundancyHooks;
use crate::flash::Flash;
use crate::flash::queue::TxnClass;
use crate::flash::txn::{Owner, Txn};
use crate::observe::operation::{Op, Source};
use fowler_units::{FrameId, TxnId, UnitId};

impl Ftl {
    /// Reads the old page for a partial write.
    /// See docs/decisions/host.md, "What does a partial-page write cost?".
    pub(super) fn read_for_merge(
        &mut self,
        flash: &mut Flash,
        frame_id: FrameId,
        old: UnitId,
        program: TxnId,
    ) {
        let Txn { asked, deadline, .. } = *flash.txns.get(program);
        let die = self.core.locator.die_of(old);
        let class = TxnClass::BackgroundRead;
        flash.counters.merge_reads += 1;
        let (id, read) = flash.open(Op::Read, Source::Host, class, Owner::Merge(frame_id), die);
        read.unit = old;
        (read.asked, read.deadline) = (asked, deadline);
        flash.submit(id);
    }

    pub fn merged<R: RedundancyHooks>(
        &mut self,
        flash: &mut Flash,
        read: TxnId,
        frame_id: FrameId,
        raid: &mut R,
    ) {
        let Txn { unit: old, level, needed, .. } = *flash.txns.get(read);
        flash.txns.close(read);
        self.core.buffer.make_whole(frame_id);
        let program = self.core.buffer.get(frame_id).queued;
        let now = flash.now();
        let txn = flash.txns.get_mut(program);
        if needed > level {
            // The rest of the page cannot be read: the page is programmed without it.
            txn.from = old;
        }
        txn.merged_at = now;
        raid.proceed(self, flash, program);
    }
}
