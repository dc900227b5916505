//! What the host's ways ask of redundancy. A drive without any answers with the defaults, which are
//! compiled away: there is no trace of parity on its ways.
//!
//! The hooks stand here because the host asks them; [`crate::raid`] answers them.

use super::Ftl;
use super::request::Stall;
use crate::blocks::page_allocator::Taken;
use crate::flash::{Bind, Flash};
use crate::observe::blame::Blame;
use fowler_units::{BlockId, FrameId, Lpn, ReqId, Span, TxnId, UnitId};

/// See the module. Pages are those of the mapping unless they are said to be the host's.
pub trait RedundancyHooks: Sized {
    /// The page of the mapping that holds a page of the host.
    #[inline]
    fn stored_page(&self, host: Lpn) -> Lpn {
        host
    }

    /// The page of the host that a page of the mapping holds.
    #[inline]
    fn host_page_of(&self, page: Lpn) -> Lpn {
        page
    }

    /// Whether a page may lie on any die, and not on that of its address alone.
    #[inline]
    fn lies_anywhere(&self) -> bool {
        true
    }

    /// Writes the next page of a request, or more if they go together.
    ///
    /// # Errors
    /// Why it must wait.
    #[inline]
    fn write(
        &mut self,
        ftl: &mut Ftl,
        flash: &mut Flash,
        id: ReqId,
        page: Lpn,
    ) -> Result<(), Stall> {
        ftl.write_page(flash, id, page, false, self)
    }

    /// A page of a write that passes the buffer by goes to the flash at once.
    fn write_past(&mut self, ftl: &mut Ftl, flash: &mut Flash, id: ReqId, frame_id: FrameId) {
        ftl.write_back(flash, id, frame_id, self);
    }

    /// The host has written a page.
    #[inline]
    fn written(&mut self, _page: Lpn) {}

    /// The host reads a page that is nowhere. Returns whether it is lost.
    #[inline]
    fn reads_lost(&mut self, _page: Lpn) -> bool {
        false
    }

    /// A dirty frame was used.
    #[inline]
    fn frame_used(&mut self, _ftl: &mut Ftl, _slot: FrameId) {}

    /// A dirty frame leaves the buffer; with `room` its frame is wanted free.
    #[inline]
    fn evict(&mut self, ftl: &mut Ftl, flash: &mut Flash, frame_id: FrameId, room: bool) {
        ftl.take_out(flash, frame_id, room);
        ftl.send_out(flash, frame_id, self);
    }

    /// The data of a program is whole: it goes to a die.
    #[inline(always)]
    fn proceed(&mut self, ftl: &mut Ftl, flash: &mut Flash, id: TxnId) {
        ftl.try_to_place(flash, id);
    }

    /// Whether a program must go back although it has a die: it was not to be covered by parity
    /// when it was sent there.
    #[inline]
    fn comes_too_late(&self, _ftl: &Ftl, _flash: &Flash, _id: TxnId, _page: Lpn) -> bool {
        false
    }

    /// Buffered data gets its place in the flash, `new` for `old`.
    #[inline]
    fn bound(
        &mut self,
        ftl: &mut Ftl,
        flash: &mut Flash,
        _id: TxnId,
        _page: Lpn,
        (old, _new): (UnitId, UnitId),
    ) {
        ftl.invalidate(flash, old);
    }

    /// A program of buffered data is given up.
    #[inline]
    fn given_up(&mut self, _ftl: &mut Ftl, _flash: &mut Flash, _id: TxnId, _page: Lpn) {}

    /// Buffered data is in the flash. Returns whether its answer must wait.
    #[inline]
    fn defers_answer(
        &mut self,
        _ftl: &mut Ftl,
        _flash: &mut Flash,
        _id: TxnId,
        _slot: FrameId,
    ) -> bool {
        false
    }

    /// How long a program waited before it asked for a die.
    #[inline]
    fn wait_before_die(&self, _flash: &Flash, _id: TxnId) -> Span {
        Span::ZERO
    }

    /// Where the time of a transaction went since its submission, for it or one that joined it.
    #[inline(always)]
    fn service_blame(&self, flash: &Flash, id: TxnId, waiter: TxnId, blame: &mut Blame) {
        flash.service_blame(id, waiter, blame);
    }

    /// Whether a page may be trimmed now; if not, the trim waits.
    #[inline]
    fn may_trim(&mut self, _ftl: &mut Ftl, _flash: &mut Flash, _page: Lpn) -> bool {
        true
    }

    /// A page is trimmed: `old` is what lay in the flash.
    #[inline]
    fn trimmed(&mut self, ftl: &mut Ftl, flash: &mut Flash, _page: Lpn, old: UnitId) {
        ftl.invalidate(flash, old);
    }

    /// A page is trimmed that held nothing.
    #[inline]
    fn trimmed_nothing(&mut self, _page: Lpn) {}

    /// A page that was moved lies at `to` now.
    #[inline]
    fn relocated(
        &mut self,
        ftl: &mut Ftl,
        _flash: &mut Flash,
        page: Lpn,
        (_from, to): (UnitId, UnitId),
    ) {
        ftl.core.relocate(page, to);
    }

    /// A block has been erased.
    #[inline]
    fn erased(&mut self, _ftl: &mut Ftl, _flash: &mut Flash, _block: BlockId) {}

    /// A transaction is done. Returns whether that was all: it was redundancy's own, or a read that
    /// failed.
    #[inline]
    fn done(&mut self, _ftl: &mut Ftl, _flash: &mut Flash, _id: TxnId, _dropped: bool) -> bool {
        false
    }

    /// Gives a program of redundancy's own its page.
    fn bind(&mut self, _ftl: &mut Ftl, _flash: &mut Flash, id: TxnId) -> Bind {
        unreachable!("transaction {} programs nothing", id.0)
    }

    /// Whether such a program is still wanted.
    fn wants(&self, _ftl: &Ftl, _flash: &Flash, id: TxnId) -> bool {
        unreachable!("transaction {} programs nothing", id.0)
    }

    /// Such a program takes a page beside others.
    fn take_page(&mut self, _ftl: &mut Ftl, _flash: &mut Flash, id: TxnId, _page: Taken) {
        unreachable!("transaction {} programs nothing", id.0)
    }

    /// Whether what the host wrote last of a page is what lies at `unit`, as far as anybody can
    /// tell.
    fn same_as_flash(&self, _page: Lpn, _unit: UnitId) -> bool {
        true
    }

    /// What the host wrote last of a page was lost with the power: the page holds what lies at
    /// `unit`.
    fn frame_lost(&mut self, _page: Lpn, _unit: UnitId) {}

    /// How long the erase pulse of a block is, where it is not that of any other.
    #[inline]
    fn erase_pulse(&self, _ftl: &Ftl, _block: BlockId) -> Option<Span> {
        None
    }
}

/// No redundancy: a page that cannot be read is lost.
#[derive(Clone, Copy, Debug)]
pub struct NoRedundancy;

impl RedundancyHooks for NoRedundancy {}
