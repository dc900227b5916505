//! The hooks through which the host side calls the redundancy. A drive without redundancy uses the
//! defaults, which are compiled away.
//!
//! 1. A page is written into a frame ([`RedundancyHooks::written`]), used, and evicted
//!    ([`RedundancyHooks::evict`]).
//! 2. Its program may wait before it is sent to a die ([`RedundancyHooks::proceed`]).
//! 3. When the program gets its page, the old copy is passed to [`RedundancyHooks::bound`].
//! 4. The end of a transaction is passed to [`RedundancyHooks::done`] first; a completion may be
//!    deferred ([`RedundancyHooks::defers_answer`]).
//! 5. Moves and erases are reported ([`RedundancyHooks::relocated`], [`RedundancyHooks::erased`]).
//!
//! The trait is defined here because the host side calls it; [`crate::raid`] implements it.

use super::Ftl;
use super::request::Stall;
use crate::blocks::page_allocator::Taken;
use crate::cache::buffer::Frame;
use crate::flash::{Bind, Flash};
use crate::observe::blame::Blame;
use fowler_units::{BlockId, FrameId, Lpn, ReqId, Span, TxnId, UnitId};

/// The hooks by which redundancy takes part in host requests. Pages are those of the mapping unless
/// stated otherwise.
pub trait RedundancyHooks: Sized {
    /// Returns the logical page under which the mapping stores a host page. On a drive with
    /// stripes, parity pages are numbered among the data pages, so the number differs from the
    /// host's.
    #[inline]
    fn stored_page(&self, host: Lpn) -> Lpn {
        host
    }

    /// Returns the host page that the mapping stores under a logical page; the inverse of
    /// `stored_page`, for pages of data.
    #[inline]
    fn host_page_of(&self, page: Lpn) -> Lpn {
        page
    }

    /// Returns true if a page may lie on any die, not only on the die of its address.
    #[inline]
    fn lies_anywhere(&self) -> bool {
        true
    }

    /// Writes the next page of a request, or several pages that must be written together.
    ///
    /// # Errors
    /// The reason why the request must wait.
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

    /// Sends a page of a write that bypasses the buffer to the flash immediately.
    fn write_past(&mut self, ftl: &mut Ftl, flash: &mut Flash, id: ReqId, frame_id: FrameId) {
        ftl.write_back(flash, id, frame_id, self);
    }

    /// Called when the host has written a page into a frame of the write buffer; `whole` is true if
    /// it wrote the whole page.
    #[inline]
    fn written(&mut self, _page: Lpn, _frame: &mut Frame, _whole: bool) {}

    /// Called when the host reads a page from a frame of the write buffer.
    #[inline]
    fn frame_read(&mut self, _ftl: &Ftl, _slot: FrameId) {}

    /// Returns true if the data read from a flash page is wrong and nobody notices it.
    #[inline]
    fn reads_wrong(&self, _unit: UnitId) -> bool {
        false
    }

    /// Called when the host reads an unmapped page. Returns true if the page is lost.
    #[inline]
    fn reads_lost(&mut self, _page: Lpn) -> bool {
        false
    }

    /// Called when a dirty frame of the write buffer is read or written again.
    #[inline]
    fn frame_used(&mut self, _ftl: &mut Ftl, _slot: FrameId) {}

    /// Evicts a dirty frame of the write buffer: its data is programmed. If `room` is true, the
    /// frame then becomes free.
    #[inline]
    fn evict(&mut self, ftl: &mut Ftl, flash: &mut Flash, frame_id: FrameId, room: bool) {
        ftl.take_out(flash, frame_id, room);
        ftl.send_out(flash, frame_id, self);
    }

    /// Sends a program whose data is complete to a die.
    #[inline(always)]
    fn proceed(&mut self, ftl: &mut Ftl, flash: &mut Flash, id: TxnId) {
        ftl.try_to_place(flash, id);
    }

    /// Returns true if a program that waits for its die must be assigned anew, because its page now
    /// needs parity and did not when the program was sent there.
    #[inline]
    fn comes_too_late(&self, _ftl: &Ftl, _flash: &Flash, _id: TxnId, _page: Lpn) -> bool {
        false
    }

    /// Called when buffered data is bound to a page in the flash, `new` in place of `old`.
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

    /// Called when a program of buffered data is dropped.
    #[inline]
    fn given_up(&mut self, _ftl: &mut Ftl, _flash: &mut Flash, _id: TxnId, _page: Lpn) {}

    /// Called when buffered data is in the flash. Returns true if the completion of its write must
    /// wait.
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

    /// Returns the time for which a program waited before it was sent to a die.
    #[inline]
    fn wait_before_die(&self, _flash: &Flash, _id: TxnId) -> Span {
        Span::ZERO
    }

    /// Adds the time of a transaction since its submission to the causes of latency in `blame`.
    /// `waiter` is that transaction or a write that joined it.
    #[inline(always)]
    fn service_blame(&self, flash: &Flash, id: TxnId, waiter: TxnId, blame: &mut Blame) {
        flash.service_blame(id, waiter, blame);
    }

    /// Returns true if a page may be trimmed now; otherwise the trim waits.
    #[inline]
    fn may_trim(&mut self, _ftl: &mut Ftl, _flash: &mut Flash, _page: Lpn) -> bool {
        true
    }

    /// Called when a page is trimmed; `old` is its copy in the flash.
    #[inline]
    fn trimmed(&mut self, ftl: &mut Ftl, flash: &mut Flash, _page: Lpn, old: UnitId) {
        ftl.invalidate(flash, old);
    }

    /// Called when a page without data is trimmed.
    #[inline]
    fn trimmed_nothing(&mut self, _page: Lpn) {}

    /// Called when a page has been moved to `to`.
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

    /// Called when a block has been erased.
    #[inline]
    fn erased(&mut self, _ftl: &mut Ftl, _flash: &mut Flash, _block: BlockId) {}

    /// Called at the end of a transaction. Returns true if the caller has nothing more to do: the
    /// transaction read or programmed for parity or a rebuild, or is a read that failed.
    #[inline]
    fn done(&mut self, _ftl: &mut Ftl, _flash: &mut Flash, _id: TxnId, _dropped: bool) -> bool {
        false
    }

    /// Binds a program of parity, or of a rebuilt page, to a physical page.
    fn bind(&mut self, _ftl: &mut Ftl, _flash: &mut Flash, id: TxnId) -> Bind {
        unreachable!("no redundancy owns transaction {}", id.0)
    }

    /// Returns true if a waiting program of parity, or of a rebuilt page, is still needed, because
    /// its data has not been superseded.
    fn wants(&self, _ftl: &Ftl, _flash: &Flash, id: TxnId) -> bool {
        unreachable!("no redundancy owns transaction {}", id.0)
    }

    /// Adds a program of parity, or of a rebuilt page, to a multi-plane program on its die. `_page`
    /// is the physical page allocated for it.
    fn take_page(&mut self, _ftl: &mut Ftl, _flash: &mut Flash, id: TxnId, _page: Taken) {
        unreachable!("no redundancy owns transaction {}", id.0)
    }

    /// Returns true if the data last written to a page is that at `unit`, as far as can be
    /// determined.
    fn same_as_flash(&self, _page: Lpn, _unit: UnitId) -> bool {
        true
    }

    /// Called when the data last written to a page was lost with the power: the page now holds the
    /// older data at `unit`.
    fn frame_lost(&mut self, _page: Lpn, _unit: UnitId) {}

    /// Returns the erase pulse of a block; `None` if it is the nominal one.
    #[inline]
    fn erase_pulse(&self, _ftl: &Ftl, _block: BlockId) -> Option<Span> {
        None
    }
}

/// No redundancy: a page that cannot be read is lost.
#[derive(Clone, Copy, Debug)]
pub struct NoRedundancy;

impl RedundancyHooks for NoRedundancy {}
