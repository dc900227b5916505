//! Reads that find a unit which cannot be read.
//!
//! 1. A page has been read, for the host, for a frame or to move its units. If its cells have more
//!    errors than any try corrects, or a check finds that it holds other data, its units fail
//!    ([`super::faults`]).
//! 2. If some of the units wanted have failed and can be recovered, the read waits, and the page at
//!    the same place in every other command of the stripe is read
//!    ([`Superblocks::waits_for_recovery`]). Pages whose data is in the controller are not read.
//! 3. When the last of them has been read, the units are known, and the read resumes
//!    ([`Superblocks::member_read`]).
//!
//! At most [`crate::config::stripes::AT_ONCE`] reads are recovered at a time, of which
//! `policy.redundancy.rebuild_at_once` may move units; the others wait.

use super::contents::Contents;
use super::recoveries::Recovery;
use super::shape::in_txn;
use super::{Superblocks, submit_read};
use crate::flash::Flash;
use crate::flash::queue::TxnClass;
use crate::flash::txn::{Owner, Txn};
use crate::observe::blame::Blame;
use crate::observe::operation::{Op, Source};
use crate::raid::losses::Failure;
use fowler_units::{TxnId, UnitId};

impl Superblocks {
    /// Handles the end of a flash read. Returns true if the read waits until units of it have been
    /// recovered from parity.
    #[cold]
    #[inline(never)]
    pub(super) fn waits_for_recovery(&mut self, flash: &mut Flash, id: TxnId) -> bool {
        let read = *flash.txns.get(id);
        let Txn { owner, from: first, needed, level, epoch, failed, .. } = read;
        if failed > 0 {
            self.strike(flash, vec![read.unit_read(failed - 1)], Failure::Cells);
        } else if needed > level {
            let page = UnitId(first.0 - first.0 % self.shape.units_per_page);
            let units = page.run(self.shape.units_per_page);
            let programmed = |unit: &UnitId| self.is_programmed(*unit);
            let units: Vec<UnitId> = units.filter(programmed).collect();
            self.strike(flash, units, Failure::Cells);
        }
        let of_recovery = matches!(owner, Owner::DegradedRead(_));
        let checked = if of_recovery { epoch } else { self.wanted(flash, id) };
        for unit in bits(checked).map(|at| first.plus(at)) {
            let found = |it: &&mut Box<Contents>| it.integrity.silent.is_found(unit);
            if let Some(contents) = self.contents.as_mut().filter(found) {
                contents.integrity.silent.found(unit);
                self.strike(flash, vec![unit], Failure::Wrong);
            }
        }
        // A page that is scrubbed is wanted by nobody: its superblock is due to be moved.
        if of_recovery || matches!(owner, Owner::Scrub | Owner::StripeCheck(_)) {
            return false;
        }
        let wanted = self.wanted(flash, id);
        let fails = |bit: &u32| {
            self.contents.as_ref().is_some_and(|contents| !contents.reads(first.plus(*bit)))
        };
        let which = bits(wanted).filter(fails).fold(0, |all, at| all | 1 << at);
        // Without stripes, a valid unit that has failed is in the controller, or it would be lost.
        if which == 0 || !self.has_stripes(self.shape.superblock_of(first)) {
            self.note_read(flash, id, wanted);
            return false;
        }
        let mut blame = Blame::default();
        if owner == Owner::Request && flash.was_handed_back(id) {
            flash.wait_blame(id, id, &mut blame);
        } else if owner == Owner::Request {
            flash.packed_service_blame(id, id, &mut blame);
        }
        let since = flash.now();
        flash.txns.get_mut(id).dispatched = since;
        let moves = matches!(owner, Owner::Superblock(_));
        self.recover(flash, Recovery { read: id, moves, first, which, left: 0, since, blame });
        true
    }

    /// Returns true if a unit has been programmed since the erase of its superblock, or is being
    /// programmed.
    pub(super) fn is_programmed(&self, unit: UnitId) -> bool {
        let superblock = self.shape.superblock_of(unit);
        let command = self.shape.command_of(unit);
        command < self.commands_taken(superblock)
            && self.uses(superblock, command)
            && self.shape.is_slc(unit) == self.is_in_slc_mode(superblock)
    }

    /// Returns the units that a read is for and that are still the newest copies: one bit each,
    /// from the first unit of the read on.
    fn wanted(&self, flash: &Flash, id: TxnId) -> u32 {
        let Txn { owner, from, lpn, parts, epoch, .. } = *flash.txns.get(id);
        match owner {
            Owner::Request => {
                let is_of =
                    |bit: &u32| self.map.valid_owner(from.plus(*bit)) == Some(lpn.plus(*bit));
                (0..parts.into()).filter(is_of).fold(0, |all, at| all | 1 << at)
            }
            Owner::Merge(_) => u32::from(self.map.valid_owner(from).is_some()),
            Owner::Superblock(_) | Owner::Scrub | Owner::StripeCheck(_) => {
                let valid = |bit: &u32| self.map.valid_owner(from.plus(*bit)).is_some();
                bits(epoch).filter(valid).fold(0, |all, at| all | 1 << at)
            }
            _ => 0,
        }
    }

    /// Counts the lost and the silently wrong units that a flash read brings to a host request. If
    /// the read completes a partly written frame of the write buffer, also notes whether that frame
    /// now holds wrong data.
    fn note_read(&mut self, flash: &Flash, id: TxnId, wanted: u32) {
        let Txn { owner, from, lpn, parts, .. } = *flash.txns.get(id);
        let Some(contents) = &mut self.contents else { return };
        match owner {
            Owner::Request => {
                for at in 0..u32::from(parts) {
                    let lost = contents.integrity.lost(lpn.plus(at)).is_some();
                    let wrong = wanted & 1 << at != 0
                        && contents.integrity.silent.reads_wrong(from.plus(at));
                    contents.integrity.ledger.failed_reads += u64::from(lost);
                    contents.integrity.silent.ledger.returned += u64::from(wrong);
                }
            }
            Owner::Merge(frame) => contents.merged(frame, from),
            _ => {}
        }
    }

    /// Begins to recover unreadable units from the other units of their stripe, or queues them if
    /// too many recoveries are in progress.
    fn recover(&mut self, flash: &mut Flash, recovery: Recovery) {
        let Recovery { first, which, .. } = recovery;
        let Some(contents) = &mut self.contents else { return };
        let Some(number) = contents.recoveries.begin(recovery) else { return };
        let low = which.trailing_zeros();
        let unit = first.plus(low);
        let at_hand = self.at_hand();
        let superblock = self.shape.superblock_of(unit);
        let taken = self.commands_taken(superblock);
        let mut left = 0;
        for other in self.shape.line_of(unit).iter().filter(|&other| other != unit) {
            let command = self.shape.command_of(other);
            let programmed = command < taken && self.uses(superblock, command);
            let known = |bit: u32| at_hand.binary_search(&other.plus(bit)).is_ok();
            if !programmed || bits(which >> low).all(known) {
                continue;
            }
            let (die, place) = self.shape.place(other);
            let (class, owner) = (TxnClass::BackgroundRead, Owner::DegradedRead(number));
            let (id, txn) = flash.open(Op::Read, Source::Parity, class, owner, die);
            (txn.unit, txn.from, txn.epoch) = (in_txn(place), other, which >> low);
            submit_read(flash, id, which.count_ones());
            left += 1;
        }
        if let Some(contents) = &mut self.contents {
            contents.recoveries.get_mut(number).left = left;
        }
        if left == 0 {
            self.recovered(flash, number);
        }
    }

    /// Handles the end of a read of one page for a recovery: it holds other units of the stripe,
    /// from which the unreadable ones are computed.
    pub(super) fn member_read(&mut self, flash: &mut Flash, id: TxnId, number: u32) {
        let Some(contents) = &mut self.contents else { return };
        let recovery = contents.recoveries.get_mut(number);
        recovery.left -= 1;
        let (left, read) = (recovery.left, recovery.read);
        if flash.is_watched() {
            let done = *flash.txns.get(id);
            flash.note_awaited(&done, read);
        }
        flash.txns.close(id);
        if left == 0 {
            self.recovered(flash, number);
        }
    }

    /// All that a recovery needs has been read: its read resumes, and the next recovery begins.
    fn recovered(&mut self, flash: &mut Flash, number: u32) {
        let Some(contents) = &mut self.contents else { return };
        let recovery = contents.recoveries.end(number);
        for at in bits(recovery.which) {
            self.bring_back(recovery.first.plus(at));
        }
        self.resume_read(flash, &recovery);
        while let Some(next) =
            self.contents.as_mut().and_then(|contents| contents.recoveries.next_waiting())
        {
            let wanted = self.wanted(flash, next.read);
            let fails = |bit: &u32| {
                self.contents
                    .as_ref()
                    .is_some_and(|contents| !contents.reads(next.first.plus(*bit)))
            };
            let which = bits(wanted & next.which).filter(fails).fold(0, |all, at| all | 1 << at);
            if which != 0 {
                return self.recover(flash, Recovery { which, ..next });
            }
            self.resume_read(flash, &Recovery { which, ..next });
        }
    }

    /// Recovers a unit that cannot be read from its line (the units at the same place in the other
    /// commands of its stripe), and checks the result against the version of the unit. Does nothing
    /// if the unit is no longer valid.
    fn bring_back(&mut self, unit: UnitId) {
        let valid = self.map.valid_owner(unit).is_some();
        let superblock = self.shape.superblock_of(unit);
        let line = self.shape.line_of(unit);
        let parity = self.parity_of_stripe(superblock, self.shape.command_of(unit));
        let written = parity.is_none_or(|it| it < self.commands_taken(superblock));
        let Some(contents) = &mut self.contents else { return };
        if !valid || contents.reads(unit) {
            return;
        }
        let others = contents.sum(line.iter().filter(|&other| other != unit));
        // Until its parity is programmed, that of a stripe is in the controller.
        let stream = super::commands::Stream::all().find(|&stream| {
            !written && self.commands.open_of(stream).is_some_and(|it| it.superblock == superblock)
        });
        let running = stream.map(|it| contents.running(it, self.shape.slot_of(unit)));
        let tag = running.map_or(others, |running| others ^ running);
        contents.integrity.bring_back(unit, tag);
    }

    /// Resumes a flash read whose unreadable units have all been recovered from parity, or declared
    /// lost.
    fn resume_read(&mut self, flash: &mut Flash, recovery: &Recovery) {
        let Recovery { read, which, since, blame, .. } = *recovery;
        let wanted = self.wanted(flash, read);
        self.note_read(flash, read, wanted);
        match flash.txns.get(read).owner {
            Owner::Request => {
                if let Some(contents) = &mut self.contents {
                    let ledger = &mut contents.integrity.ledger;
                    ledger.degraded_reads += u64::from((which & wanted).count_ones());
                }
                self.answer_read(flash, read, Some((blame, since)));
            }
            Owner::Merge(frame) => self.merged(flash, read, frame),
            Owner::Superblock(number) => self.copied_out(flash, read, number),
            owner => unreachable!("{owner:?} does not wait for a recovery"),
        }
    }
}

/// Returns the numbers of the bits that are set in `which`, the lowest first.
fn bits(mut which: u32) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let at = (which != 0).then(|| which.trailing_zeros())?;
        which &= which - 1;
        Some(at)
    })
}
