//! The effects of a failed die on the host side.
//!
//! 1. A program whose die has failed is *displaced* ([`Ftl::displace`]): it keeps its data, which
//!    the controller still has, loses its page, and is assigned to another die as in `programs.rs`.
//! 2. The other die gives it a page, unless the host has written or trimmed the logical page
//!    meanwhile ([`Ftl::bind_displaced`]).
//! 3. When it ends, the mapping is changed only if the page it stands for is still the valid one
//!    ([`Ftl::displaced`]).
//!
//! If the remaining dies cannot hold the capacity of the drive, its [`Service`] ends step by step:
//! a read-only drive refuses writes and trims, also those that wait for room
//! ([`Ftl::become_read_only`]); an offline one refuses everything ([`Ftl::go_offline`]). See
//! docs/decisions/blocks.md, "What happens to a die that fails?".

use super::Ftl;
use super::redundancy_hooks::RedundancyHooks;
use super::request::Request;
use crate::cache::buffer::{Frame, Listed};
use crate::flash::queue::TxnClass;
use crate::flash::txn::{Owner, Txn};
use crate::flash::{Bind, Flash};
use crate::observe::operation::{Op, Source};
use fowler_units::{DieId, FrameId, HostOp, Id, Lpn, ReqId, TxnId, UnitId};

/// The requests that a drive with failed dies still serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Service {
    /// The drive serves every request.
    Whole,
    /// The drive refuses writes and trims, because its remaining dies cannot hold its capacity.
    ReadOnly,
    /// The drive refuses every request, because its remaining dies cannot even hold the data that
    /// was in its controller.
    Offline,
}

impl Ftl {
    /// Assigns a program whose die has failed to another die. If the die had begun the program, the
    /// controller still has the data.
    pub fn displace(&mut self, flash: &mut Flash, id: TxnId) {
        let Txn { owner, unit, from, die, lpn, .. } = *flash.txns.get(id);
        let blocks = &mut self.core.allocator.blocks;
        let (mut owner, mut from) = (owner, from);
        match owner {
            Owner::Frame(frame_id) if unit.is_some() => {
                (owner, from) = (Owner::Displaced(frame_id), unit);
            }
            Owner::Job => {
                let block = self.core.locator.block_of(from);
                let tag = self.core.allocator.open_blocks.tag_of_survivors(block);
                flash.txns.get_mut(id).tag = tag;
                owner = Owner::Displaced(FrameId::NONE);
                if unit.is_some() {
                    blocks.invalidate(unit);
                }
            }
            _ if unit.is_some() => {
                blocks.invalidate(unit);
            }
            // The program was assigned to the die, and not begun.
            _ => self.core.allocator.arrived(die),
        }
        let txn = flash.txns.get_mut(id);
        (txn.owner, txn.unit, txn.from) = (owner, UnitId::NONE, from);
        (txn.die, txn.class, txn.lpn) = (DieId::NONE, TxnClass::HostProgram, lpn);
        txn.group = txn.group.max(1);
        self.try_to_place(flash, id);
    }

    /// Programs the data of a page of a failed die on another die. The controller has the data.
    pub fn program_copy(&mut self, flash: &mut Flash, from: UnitId, lpn: Lpn) {
        let block = self.core.locator.block_of(from);
        let tag = self.core.allocator.open_blocks.tag_of_survivors(block);
        let (class, owner) = (TxnClass::HostProgram, Owner::Displaced(FrameId::NONE));
        let (id, txn) = flash.open(Op::Program, Source::Parity, class, owner, DieId::NONE);
        (txn.from, txn.lpn, txn.tag, txn.group) = (from, lpn, tag, 1);
        self.try_to_place(flash, id);
    }

    /// Assigns a page to the data of a program that a failed die did not complete, unless the
    /// logical page was written or trimmed meanwhile.
    pub fn bind_displaced(&mut self, flash: &mut Flash, id: TxnId) -> Bind {
        let from = flash.txns.get(id).from;
        if !self.core.allocator.blocks.is_valid(from) {
            return Bind::Dropped;
        }
        let Some(page) = self.host_page(flash, id) else { return Bind::Blocked };
        self.occupy(flash, id, page);
        Bind::Bound
    }

    /// Handles the end of a program on another die that replaces a program which a failed die did
    /// not complete. `dropped` is true if nothing was programmed, because the data was no longer
    /// needed.
    pub fn displaced<R: RedundancyHooks>(
        &mut self,
        flash: &mut Flash,
        id: TxnId,
        frame_id: FrameId,
        dropped: bool,
        raid: &mut R,
    ) {
        let Txn { from, unit, lpn, die, .. } = *flash.txns.get(id);
        if dropped {
            self.core.allocator.arrived(die);
        } else if self.core.allocator.blocks.is_valid(from) {
            self.core.allocator.blocks.invalidate(from);
            raid.relocated(self, flash, lpn, (from, unit));
        } else {
            self.core.allocator.blocks.invalidate(unit);
        }
        if !frame_id.is_some() {
            if !dropped {
                self.page_programmed(flash, unit);
            }
            flash.txns.close(id);
        } else {
            flash.txns.get_mut(id).owner = Owner::Frame(frame_id);
            match dropped {
                true => self.settled(flash, id, frame_id, raid),
                false => self.stored(flash, id, frame_id, false, raid),
            }
        }
        self.place_waiting(flash);
    }

    /// Refuses a request if the drive no longer serves its kind. Returns true if it was refused.
    #[cold]
    #[inline(never)]
    pub(super) fn refuses(&mut self, flash: &mut Flash, id: ReqId) -> bool {
        let op = self.front.requests.get(id).io.op;
        let writes = matches!(op, HostOp::Write | HostOp::Trim);
        let refused = writes || self.service == Service::Offline;
        if refused {
            self.refuse(flash, id);
        }
        refused
    }

    /// Completes a request that is refused.
    fn refuse(&mut self, flash: &mut Flash, id: ReqId) {
        self.core.allocator.failed_dies_mut().refused += 1;
        self.front.requests.get_mut(id).left = 0;
        self.answer_at_once(flash, id);
    }

    /// Makes the drive read-only. Writes that have entered and wait for room are refused; a write
    /// that has begun ends with the pages that it has issued.
    pub fn become_read_only<R: RedundancyHooks>(&mut self, flash: &mut Flash, raid: &mut R) {
        self.service = Service::ReadOnly;
        while let Some(id) = self.front.line.pop_write() {
            let request = self.front.requests.get_mut(id);
            match request.io.op {
                HostOp::Write => {
                    request.left -= request.end - request.next;
                    request.next = request.end;
                    if request.left == 0 {
                        self.refuse(flash, id);
                    } else {
                        self.release_stall(flash, id);
                        self.core.allocator.failed_dies_mut().refused += 1;
                    }
                }
                _ => self.refuse(flash, id),
            }
        }
        self.resume_writes(flash, raid);
    }

    /// Takes the drive offline: refuses every request in the drive.
    pub fn go_offline(&mut self, flash: &mut Flash) {
        self.service = Service::Offline;
        let queues = &mut self.queues;
        let mut open: Vec<ReqId> = queues.flushes.drain(..).map(|(_, id)| id).collect();
        queues.unplaced.clear();
        while let Some(id) = self.front.line.pop_write() {
            if self.front.requests.get(id).io.op == HostOp::Trim {
                open.push(id);
            }
        }
        self.front.line.forget_reads();
        let unfinished = |request: &Request| {
            matches!(request.io.op, HostOp::Read | HostOp::Write) && request.left > 0
        };
        open.extend(self.front.requests.open_ids(unfinished));
        open.into_iter().for_each(|id| self.refuse(flash, id));
    }

    /// Returns the number of pages in the controller that may still need a place in the flash:
    /// those of its buffer and of the parity cache.
    fn to_place(&self) -> u64 {
        let unwritten = |frame: &Frame| frame.listed == Listed::Dirty || frame.queued.is_some();
        let frames = self.core.buffer.used().filter(|(_, frame)| unwritten(frame)).count();
        frames as u64 + u64::from(self.core.layout.parities) + 1
    }

    /// Returns true if the remaining dies can hold all data that is in the controller.
    pub fn holds_what_it_has(&self) -> bool {
        self.core.allocator.slack() >= self.to_place()
    }

    /// Returns true if the controller may rebuild an unreadable page: in full service, or on a
    /// read-only drive whose dies have room for all data that waits in the controller.
    pub fn has_room_to_rebuild(&self) -> bool {
        self.service == Service::Whole
            || self.service == Service::ReadOnly && self.holds_what_it_has()
    }

    /// Returns true if a program is no longer needed, because its page was trimmed.
    pub fn is_orphan(&self, flash: &Flash, id: TxnId) -> bool {
        let Txn { owner, op, unit, .. } = *flash.txns.get(id);
        let Owner::Frame(frame_id) = owner else { return false };
        op == Op::Program && !unit.is_some() && self.core.buffer.get(frame_id).orphan
    }
}
