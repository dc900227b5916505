//! Dies that fail for good.
//!
//! 1. A spare die takes the place of a failed one while there are any, empty, as for a plane
//!    ([`super::faults`]). After that a failed die stays failed ([`Superblocks::fail_dies`]).
//! 2. Nothing goes to it any more: erased superblocks go without it at once, open ones from their
//!    next command on, and all others from their next erase on ([`super::gaps`]). What it had begun
//!    and what waits for it comes back ([`super::returned_commands`]).
//! 3. Its units fail, as by any other fault. Superblocks with parity are moved before all others;
//!    the data of the die is rebuilt thereby, on the dies that are left.
//! 4. If the superblocks that are left have less room than the drive needs, or if a superblock that
//!    has to be emptied fits nowhere, the drive becomes read-only ([`super::read_only`]).
//!
//! Exception: if the only command left in a stripe that has begun is on the die, it is sent there
//! all the same and comes back. Its units count as failed, so that the stripe has lost one command
//! and not its parity without notice.
//!
//! See docs/decisions/superblocks.md, "What happens to a die that fails?".

use super::Superblocks;
use super::commands::{Open, Stream};
use super::map::Emptied;
use crate::blocks::block_table::BlockState;
use crate::blocks::failed_dies::FailedDieCounts;
use crate::event_loop::Device;
use crate::flash::txn::Owner;
use crate::flash::{Flash, Translation};
use crate::observe::blame::Blame;
use crate::observe::operation::Op;
use crate::raid::fault_kinds::Fault;
use fowler_units::{DieId, Geometry, Id, Nanos, RuId, TxnId};

impl Device<Superblocks> {
    /// Returns the numbers of failed and replaced dies, and the effects of their failures so far,
    /// with the stripes that wait for repair now; `None` if no die has failed.
    pub fn failed_dies(&self) -> Option<FailedDieCounts> {
        let counts = self.layer.dies.counts;
        (counts.failed + counts.replaced > 0)
            .then(|| FailedDieCounts { degraded_stripes: self.layer.degraded_stripes(), ..counts })
    }

    /// Returns true if the drive has become read-only although its superblocks have room for what
    /// it needs, because data of the host found no place and nothing could change that.
    pub fn stands_still(&self) -> bool {
        let layer = &self.layer;
        let retired = |superblock: RuId| layer.map.state(superblock) == BlockState::Retired;
        layer.is_read_only()
            && layer
                .bad
                .as_ref()
                .is_some_and(|bad| bad.room_of_all(&layer.shape, retired) >= bad.needed)
    }
}

impl Superblocks {
    /// Returns true if a die of the flash has failed for good.
    pub(super) fn is_dead(&self, die: DieId) -> bool {
        self.dies.any()
            && self.bad.as_ref().is_some_and(|bad| {
                let at = (0..self.shape.dies).find(|&at| self.shape.die_at(at) == die);
                at.is_some_and(|at| bad.is_dead(at))
            })
    }

    /// Returns true if every die has failed for good.
    pub(super) fn has_no_dies(&self) -> bool {
        self.dies.any()
            && self.bad.as_ref().is_some_and(|bad| (0..self.shape.dies).all(|at| bad.is_dead(at)))
    }

    /// Returns the number of stripes of pages with a valid unit that cannot be read.
    fn degraded_stripes(&self) -> u32 {
        let Some(contents) = &self.contents else { return 0 };
        let mut stripes = 0;
        for superblock in self.map.superblocks() {
            if contents.unreadable_in(superblock) == 0 || !self.has_stripes(superblock) {
                continue;
            }
            let first = self.shape.first_unit(superblock);
            let fails = first
                .run(self.shape.units)
                .filter(|&unit| !contents.reads(unit) && self.map.valid_owner(unit).is_some());
            let stripe = |unit| {
                let page = self.shape.slot_of(unit) / self.shape.units_per_page;
                (self.shape.stripe_of(self.shape.command_of(unit)).start, page)
            };
            let mut degraded: Vec<(u32, u32)> = fails.map(stripe).collect();
            degraded.sort_unstable();
            degraded.dedup();
            stripes += degraded.len() as u32;
        }
        stripes
    }

    /// Fails the dies that a fault strikes, except those that a spare die replaces, before their
    /// units fail. The data of commands that the failed dies had begun waits for other dies.
    /// Returns the superblocks that they were erasing.
    pub(super) fn fail_dies(
        &mut self,
        flash: &mut Flash,
        fault: Fault,
        configured: &Geometry,
    ) -> Vec<RuId> {
        // Independent planes are simulated as dies; there, a die that fails has all its planes.
        let each = self.shape.dies / configured.dies();
        let mut dead = Vec::new();
        for die in fault.dies(configured) {
            let parts = die * each..(die + 1) * each;
            if !self.is_dead(DieId(parts.start)) && !self.dies.replaces() {
                self.dies.counts.failed += 1;
                dead.extend(parts.map(DieId));
            }
        }
        if dead.is_empty() {
            return Vec::new();
        }
        self.begin_gaps();
        let mut positions: Vec<u32> = (0..self.shape.dies).collect();
        positions.retain(|&at| dead.contains(&self.shape.die_at(at)));
        if let Some(bad) = &mut self.bad {
            positions.iter().for_each(|&at| bad.die_fails(at, fault.failure()));
        }
        positions.into_iter().for_each(|at| self.leave_die(flash.now(), at));
        let begun = dead.into_iter().flat_map(|die| flash.fail_die(die)).collect();
        let erased = self.return_begun(flash, begun);
        self.return_between_passes(flash);
        if self.commands.passes.is_some() {
            // A stripe with one command left has become a gap on a living die, too.
            Stream::all().for_each(|stream| self.end_passes_before_gap(flash, stream));
        }
        self.look_at_room(flash);
        erased
    }

    /// Begins to record gaps, if the drive has no record of them yet, and to expect superblocks of
    /// different sizes.
    fn begin_gaps(&mut self) {
        if let Some(gaps) = self.dies.gaps.take() {
            self.bad = Some(gaps);
            self.map.keep_gaps();
        }
        let Some(bad) = &mut self.bad else { return };
        if !std::mem::replace(&mut bad.uneven, true) {
            self.keep_more_erased();
        }
    }

    /// Lets the die at a position of the striping order drop out of every superblock: erased ones
    /// at once, open ones from the next command on, all others when they are erased.
    fn leave_die(&mut self, now: Nanos, position: u32) {
        for superblock in self.map.superblocks() {
            match self.map.state(superblock) {
                BlockState::Retired => {}
                BlockState::Free => self.leave_die_of_erased(superblock, position),
                _ => self.leave_die_of_used(superblock, position, now),
            }
        }
    }

    fn leave_die_of_erased(&mut self, superblock: RuId, position: u32) {
        let shape = self.shape;
        let Some(bad) = &mut self.bad else { return };
        let mut gaps = bad.copy_of(&shape, superblock);
        if gaps.is_dropped(position) {
            return;
        }
        gaps.fail(&shape, position, None);
        let stays = bad.stays(&shape, &gaps);
        // Another die, with a failed block, may be in use once more.
        gaps.erased(&shape, |at| bad.is_dead(at));
        if stays {
            bad.set_gaps(superblock, Some(gaps));
            self.keep_places(superblock);
        } else {
            bad.retire_parts(&shape, superblock, true);
            bad.set_gaps(superblock, None);
            self.map.retire_erased(superblock);
        }
    }

    fn leave_die_of_used(&mut self, superblock: RuId, position: u32, now: Nanos) {
        let shape = self.shape;
        let open = Stream::all().find_map(|stream| {
            let open = self.commands.open_of(stream)?;
            (open.superblock == superblock).then_some((stream, open))
        });
        let from = open.and_then(|(_, open)| self.first_to_leave_out(open, position));
        let Some(bad) = &mut self.bad else { return };
        let mut gaps = bad.copy_of(&shape, superblock);
        if gaps.is_dropped(position) {
            return;
        }
        gaps.fail(&shape, position, None);
        if let (Some(from), Some((_, open))) = (from, open) {
            gaps.cut(&shape, position, (from, open.command));
        }
        bad.set_gaps(superblock, Some(gaps));
        self.keep_places(superblock);
        if let Some((stream, open)) = open {
            self.step_over_gaps(stream, open, now);
        }
    }

    /// Returns the first command of an open superblock that the die at a position of the striping
    /// order leaves out: its next one, or the one after the only command left in a stripe that has
    /// begun. `None` if it has no such command.
    fn first_to_leave_out(&self, open: Open, position: u32) -> Option<u32> {
        let shape = &self.shape;
        let Open { superblock, command } = open;
        let next = (command..shape.commands).find(|it| it % shape.dies == position)?;
        if !self.has_stripes(superblock) || !self.has_begun_stripe(open) {
            return Some(next);
        }
        let mut gaps = self.bad.as_ref()?.copy_of(shape, superblock);
        let parity = gaps.parity_of(shape.stripe_of(command));
        gaps.cut(shape, position, (next, command));
        let left = gaps.parity_of(shape.stripe_of(command));
        if left.is_some_and(|left| left >= command) {
            return Some(next);
        }
        let after = parity? + shape.dies;
        (after < shape.commands).then_some(after)
    }

    /// Moves a stream past commands that have just become gaps. A superblock of which no command is
    /// left is closed.
    fn step_over_gaps(&mut self, stream: Stream, open: Open, now: Nanos) {
        let Open { superblock, command } = open;
        let next = self.skip_gaps(superblock, command);
        if next == command {
            return;
        }
        let left = next < self.shape.commands;
        self.commands.set_open(stream, left.then_some(Open { superblock, command: next }));
        // It is full if nothing of it is in flight either.
        self.map.departed(superblock);
        self.land(superblock, now);
    }

    /// Makes the drive read-only if what is left of its superblocks has less room than it needs.
    fn look_at_room(&mut self, flash: &mut Flash) {
        let retired = |superblock: RuId| self.map.state(superblock) == BlockState::Retired;
        let Some(bad) = &mut self.bad else { return };
        if !bad.count_spare(&self.shape, retired) {
            self.become_read_only(flash);
        }
    }

    /// Makes the drive read-only if data of the host can never find a place: no superblock that
    /// could be emptied fits somewhere, and nothing is in flight that could change that. A command
    /// between its two passes changes nothing: it waits for the next one on its die.
    #[cold]
    pub(super) fn look_for_standstill(&mut self, flash: &mut Flash) {
        let (_, reads) = self.collector.in_flight();
        let page = self.shape.units_per_page;
        let waits = self.collector.job.is_some() && self.collector.has_room_for(page);
        let resting = self.commands.free.len() + self.commands.between_passes();
        let flying = resting < self.commands.records.len();
        let rests = !flying && !waits && reads == 0;
        if !rests || self.is_read_only() || !self.host_lacks_superblock() {
            return;
        }
        let units = if self.flushes.force() { 1 } else { self.shape.least_units };
        let waits = |queue| self.buffer.waiting(queue) >= units;
        let open = |queue| self.commands.open_of(Stream::Host(queue)).is_some();
        let erased = |it| matches!(self.map.traffic(it).emptied, Emptied::Erased(_));
        if self.streams.of_host().any(waits)
            && !self.streams.of_host().any(|queue| waits(queue) && open(queue))
            && !self.map.superblocks().any(erased)
        {
            self.become_read_only(flash);
        }
    }

    /// Checks that dies which have failed for good are out of service in every superblock, in
    /// erased ones at once, and hold nothing that can be read.
    pub(super) fn check_failed_dies(&self, flash: &Flash) -> Result<(), String> {
        // Commands that wait for a failed die come back before time advances.
        let at_hand = self.at_hand();
        for position in 0..self.shape.dies {
            let die = self.shape.die_at(position);
            let dead = self.is_dead(die);
            if dead != flash.has_failed(die) {
                return Err(format!("die {} has failed: {dead}, in the flash not so", die.0));
            }
            for superblock in self.map.superblocks().filter(|_| dead) {
                let state = self.map.state(superblock);
                let out = self.gaps_of(superblock).is_some_and(|gaps| match state {
                    BlockState::Free => gaps.is_dropped(position),
                    _ => !gaps.serves(position),
                });
                if !out && state != BlockState::Retired {
                    return Err(format!("{state:?} superblock {superblock} uses die {}", die.0));
                }
                let commands =
                    (position..self.commands_taken(superblock)).step_by(self.shape.dies as usize);
                let slc = self.is_in_slc_mode(superblock);
                for unit in commands.flat_map(|it| self.shape.units_of_command(superblock, it, slc))
                {
                    let reads = self.contents.as_ref().is_some_and(|contents| contents.reads(unit));
                    let held = reads && self.map.valid_owner(unit).is_some();
                    if held && at_hand.binary_search(&unit).is_err() {
                        return Err(format!("unit {unit} of die {} can be read", die.0));
                    }
                }
            }
        }
        Ok(())
    }

    /// Ends the erase of superblocks of which no die is left to do so.
    pub(super) fn end_erases_of_none(&mut self, flash: &mut Flash) {
        while let Some(superblock) = self.dies.without_dies.pop() {
            self.end_erase_of_all(flash, superblock);
        }
    }

    /// Handles a transaction that a failed die has handed back.
    #[cold]
    pub(super) fn take_back(&mut self, flash: &mut Flash, id: TxnId) {
        let txn = flash.txns.get(id);
        match (txn.op, txn.owner) {
            (Op::Program, _) => {
                let rest = self.rest_of(txn);
                let mut all = vec![id];
                let mut member = rest;
                while member.is_some() {
                    all.push(member);
                    member = flash.txns.get(member).next;
                }
                let erased = self.return_begun(flash, all);
                debug_assert!(erased.is_empty(), "programs were handed back");
            }
            (Op::Erase, Owner::Superblock(superblock)) => {
                flash.txns.close(id);
                self.erased_one(flash, superblock);
                return;
            }
            (Op::Erase, owner) => unreachable!("{owner:?} owns no erase of this drive"),
            (Op::Read, _) => return self.end_unserved_read(flash, id),
        }
        self.collect(flash);
        self.drain(flash);
        self.resume(flash);
    }

    /// Handles the end of a read that a failed die has handed back: it has only waited.
    fn end_unserved_read(&mut self, flash: &mut Flash, id: TxnId) {
        let owner = flash.txns.get(id).owner;
        if matches!(owner, Owner::Scrub | Owner::StripeCheck(_)) {
            flash.txns.close(id);
            return self.patrol_after_read(flash);
        }
        if self.waits_for_recovery(flash, id) {
            return;
        }
        match owner {
            Owner::Request => {
                let mut blame = Blame::default();
                flash.wait_blame(id, id, &mut blame);
                self.answer_read(flash, id, Some((blame, flash.now())));
            }
            Owner::Merge(frame) => self.merged(flash, id, frame),
            Owner::Superblock(number) => self.copied_out(flash, id, number),
            Owner::DegradedRead(number) => self.member_read(flash, id, number),
            owner => unreachable!("{owner:?} owns no read of this drive"),
        }
    }
}
