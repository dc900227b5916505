//! Blocks that fail: what the drive does about them.
//!
//! 1. A program of data fails. The data is still in the controller and is programmed by the next
//!    command of its stream, right after the time that the failed program took. The die of the
//!    block programs nothing more in this superblock ([`super::gaps`]).
//! 2. The superblock is filled around the gap. Once it is full it is moved before any other that is
//!    due, as a part of it may soon be unreadable ([`super::renewals`]).
//! 3. An erase of one of its blocks fails, or it has been moved because of a failed program: the
//!    die drops out of the superblock, or the superblock is retired as a whole
//!    (`superblocks.retire`), also if less than half of it would be left.
//!
//! Exceptions:
//!
//! - A program of parity does not fail, nor one without which data on its way would have no place,
//!   or a stripe no parity: the erase that follows fails instead.
//! - A superblock that the drive cannot do without now is used once more (`bad_blocks.delayed`).
//! - A block whose loss would leave less room than the data of the host needs does not fail: the
//!   spare is used up, and no block fails any more (`bad_blocks.worn_out_s`).
//!
//! See docs/decisions/superblocks.md, "What becomes of a superblock with a bad block?".

use super::Superblocks;
use super::bad_blocks::{BadBlocks, SavedBadBlocks};
use super::commands::{Open, Stream};
use super::gaps::Gaps;
use crate::blocks::bad_blocks::BadBlockCounts;
use crate::blocks::block_table::BlockState;
use crate::config::Config;
use crate::event_loop::Device;
use crate::flash::Flash;
use crate::flash::txn::Owner;
use crate::policy::placement::StreamId;
use fowler_units::{BlockId, Id, Nanos, RuId};

impl Device<Superblocks> {
    /// Returns the counts of failing blocks; `None` if no block can fail.
    pub fn bad_blocks(&self) -> Option<BadBlockCounts> {
        self.layer.bad_blocks()
    }

    /// Resets the counts of block failures and their effects, except the drive's spare capacity and
    /// the time at which it wore out.
    pub fn count_failures_anew(&mut self) {
        if let Some(bad) = &mut self.layer.bad {
            let BadBlockCounts { spare, worn_out, .. } = bad.counts;
            bad.counts = BadBlockCounts { spare, worn_out, ..BadBlockCounts::default() };
        }
    }
}

impl Superblocks {
    /// Lets blocks fail from now on, if the drive is to have such blocks.
    pub(super) fn let_blocks_fail(&mut self, config: &Config) {
        self.bad = BadBlocks::new(config, &self.shape, self.map.erases()).map(Box::new);
        if self.bad.is_some() {
            self.map.keep_gaps();
        }
    }

    /// Lets no block fail any more.
    ///
    /// # Panics
    /// If a block has failed.
    pub(crate) fn let_no_block_fail(&mut self) {
        let failed = |superblock| self.gaps_of(superblock).is_some();
        assert!(!self.map.superblocks().any(failed), "blocks that have failed");
        self.bad = None;
    }

    /// Returns the counts of failing blocks; `None` if no block can fail.
    pub(crate) fn bad_blocks(&self) -> Option<BadBlockCounts> {
        self.bad.as_ref().filter(|bad| bad.fates.is_some()).map(|bad| bad.counts)
    }

    /// Returns the gaps of a superblock (program commands that store nothing because a block of
    /// their die has failed); `None` if no block of it has failed.
    #[inline]
    pub(super) fn gaps_of(&self, superblock: RuId) -> Option<&Gaps> {
        self.bad.as_ref()?.gaps(superblock)
    }

    /// Returns true if a command of a superblock programs something.
    #[inline]
    pub(super) fn uses(&self, superblock: RuId, command: u32) -> bool {
        self.gaps_of(superblock).is_none_or(|gaps| gaps.uses(command))
    }

    /// Returns true if a die, by its position in striping order, erases its part of a superblock:
    /// it has neither dropped out of that nor failed for good.
    pub(super) fn erases_of(&self, superblock: RuId, position: u32) -> bool {
        self.bad.as_ref().is_none_or(|bad| {
            let dropped = bad.gaps(superblock).is_some_and(|gaps| gaps.is_dropped(position));
            !dropped && !bad.is_dead(position)
        })
    }

    /// Returns the number of dies that erase a superblock.
    pub(super) fn dies_of(&self, superblock: RuId) -> u32 {
        (0..self.shape.dies).filter(|&at| self.erases_of(superblock, at)).count() as u32
    }

    /// Returns true if a die programs nothing after a command of a superblock, up to its end.
    pub(super) fn is_last_of_die(&self, superblock: RuId, command: u32) -> bool {
        let next = command + self.shape.dies;
        next >= self.shape.commands || !self.uses(superblock, next)
    }

    /// Returns the number of the first command of an open superblock, from `command` on, that is no
    /// gap left by a failed block but programs something; the number of commands if there is none.
    /// The unit numbers of the gaps before it are used up.
    pub(super) fn skip_gaps(&mut self, superblock: RuId, command: u32) -> u32 {
        let Some(gaps) = self.gaps_of(superblock) else { return command };
        let next = gaps.next_used(command);
        for _ in command..next {
            self.map.take_command(superblock);
        }
        next
    }

    /// Returns true if the stripe of the next command of an open superblock has begun: an earlier
    /// command of the stripe programs something.
    pub(super) fn has_begun_stripe(&self, open: Open) -> bool {
        let stripe = self.shape.stripe_of(open.command);
        (stripe.start..open.command).any(|command| self.uses(open.superblock, command))
    }

    /// Returns the command of a superblock that programs the parity of the stripe of `command`: the
    /// last command of the stripe on a die still in service; `None` if no command of the stripe is.
    pub(super) fn parity_of_stripe(&self, superblock: RuId, command: u32) -> Option<u32> {
        let stripe = self.shape.stripe_of(command);
        match self.gaps_of(superblock) {
            None => Some(stripe.end - 1),
            Some(gaps) => gaps.parity_of(stripe),
        }
    }

    /// Returns true if superblocks differ in size, because blocks of some have failed.
    #[inline]
    pub(super) fn is_uneven(&self) -> bool {
        self.bad.as_ref().is_some_and(|bad| bad.uneven)
    }

    /// Returns the number of data units that an erased superblock with parity can hold, without its
    /// parity and without commands of failed blocks.
    fn units_of_erased(&self, superblock: RuId) -> i64 {
        let units = match self.gaps_of(superblock) {
            None => self.shape.data_units(),
            Some(gaps) => gaps.data_commands_from(0, false) * self.shape.units_per_command,
        };
        units.into()
    }

    /// Returns the units of data that all erased superblocks together can hold.
    pub(super) fn erased_units(&self) -> i64 {
        self.map.erased_superblocks().map(|it| self.units_of_erased(it)).sum()
    }

    /// Returns true if the host, by taking an erased superblock, might leave less than collection
    /// needs: a whole one for each of its streams.
    #[inline]
    pub(super) fn leaves_too_little(&self) -> bool {
        self.is_uneven() && {
            let largest = self.map.erased_superblocks().map(|it| self.units_of_erased(it)).max();
            self.erased_units() - largest.unwrap_or(0) < self.units_kept()
        }
    }

    /// Returns the number of data units that erased superblocks must be able to hold, so that any
    /// superblock can be emptied.
    pub(super) fn units_kept(&self) -> i64 {
        i64::from(self.streams.kept()) * i64::from(self.shape.data_units())
    }

    /// Returns true if the program of the next command of a stream, which is to store data, fails.
    /// If so, its die programs nothing more in the superblock. The caller passes over the command.
    #[inline]
    pub(super) fn program_fails(&mut self, stream: Stream, open: Open, now: Nanos) -> bool {
        let Some(bad) = &self.bad else { return false };
        let erases = self.map.erases()[open.superblock.index()];
        let failing = bad.failing_programs(&self.shape, (open.superblock, open.command), erases);
        !failing.is_empty() && self.fail_program(stream, open, &failing, now)
    }

    #[cold]
    fn fail_program(
        &mut self,
        stream: Stream,
        open: Open,
        failing: &[BlockId],
        now: Nanos,
    ) -> bool {
        let Open { superblock, command } = open;
        let shape = self.shape;
        let Some(bad) = &mut self.bad else { return false };
        let mut gaps = bad.copy_of(&shape, superblock);
        let position = command % shape.dies;
        if bad.counts.worn_out.is_some() || !gaps.serves(position) {
            return false;
        }
        gaps.fail(&shape, position, Some(command));
        let lost = bad.lost(&shape, superblock, &gaps);
        if lost > bad.counts.spare {
            bad.counts.worn_out = Some(now);
            return false;
        }
        let before = bad.gaps(superblock).cloned();
        let begun = self.has_stripes(superblock) && self.has_begun_stripe(open);
        let Some(bad) = &mut self.bad else { return false };
        bad.set_gaps(superblock, Some(gaps));
        if !self.has_place_beside(stream, open, begun) {
            if let Some(bad) = &mut self.bad {
                bad.set_gaps(superblock, before);
            }
            return false;
        }
        if let Some(bad) = &mut self.bad {
            bad.counts.spare -= lost;
            bad.counts.programs += failing.len() as u64;
            bad.failed_programs = bad.failed_programs.saturating_add(1);
            bad.mark(failing);
        }
        self.keep_places(superblock);
        true
    }

    /// Returns true if the drive can do without the next command of a stream, whose program has
    /// failed: a stripe that has begun still gets its parity, and all units being moved still have
    /// a place.
    fn has_place_beside(&self, stream: Stream, open: Open, begun: bool) -> bool {
        let Open { superblock, command } = open;
        if begun {
            let parity = self.parity_of_stripe(superblock, command);
            if parity.is_none_or(|parity| parity < command) {
                return false;
            }
        }
        let moved = matches!(stream, Stream::Moved(_));
        let fits = |&into: &StreamId| self.collector.promised(into) <= self.room_for_moved(into);
        !moved || self.erased_units() >= self.units_kept() && self.streams.moved().iter().all(fits)
    }

    /// Skips the next command of a stream after its program has failed; the units that it should
    /// store go into a later command.
    pub(super) fn pass_over(&mut self, stream: Stream, open: Open, now: Nanos) {
        self.map.departed(open.superblock);
        self.advance(stream, open);
        self.land(open.superblock, now);
    }

    /// Sends the second program pass of a stream's commands whose die will program no later command
    /// in the superblock, because a block of the die has failed. A second pass otherwise waits for
    /// the first pass of the next command on its die. What waits for a die that has failed for good
    /// comes back from there.
    #[cold]
    pub(super) fn end_passes_before_gap(&mut self, flash: &mut Flash, stream: Stream) {
        for position in 0..self.shape.dies as usize {
            let Some(passes) = &self.commands.passes else { return };
            let Some(begun) = passes.begun[stream.index()][position] else { continue };
            if self.bad.as_ref().is_some_and(|bad| bad.is_dead(position as u32)) {
                continue;
            }
            let unit = self.commands.records[begun.number as usize].first_unit;
            if self.is_last_of_die(self.shape.superblock_of(unit), self.shape.command_of(unit)) {
                if let Some(passes) = &mut self.commands.passes {
                    passes.begun[stream.index()][position] = None;
                }
                let owner = Owner::Command(begun.number);
                self.submit_pass(flash, stream, begun.number, begun.source, owner);
            }
        }
    }

    /// Ends the erase of a superblock. Dies with a failed block drop out of it, or the whole
    /// superblock is retired; if the drive cannot do without them yet, they are used once more.
    /// Returns true if the superblock is retired.
    pub(super) fn end_erase(&mut self, superblock: RuId, now: Nanos) -> bool {
        if self.bad.is_some() && self.retires(superblock, now) {
            self.map.retired(superblock);
            return true;
        }
        self.map.erased(superblock);
        false
    }

    /// Returns true if a superblock whose erase ends is retired.
    #[cold]
    #[inline(never)]
    fn retires(&mut self, superblock: RuId, now: Nanos) -> bool {
        let failed = self.fail_erase(superblock, now);
        let shape = self.shape;
        let Some(gaps) = self.gaps_of(superblock).filter(|gaps| gaps.has_failed()) else {
            return false;
        };
        let Some(bad) = &self.bad else { return false };
        let (stays, mut after) = (bad.stays(&shape, gaps), gaps.clone());
        after.erased(&shape, |_| true);
        // A die that has failed for good cannot be used once more.
        let mut once_more = gaps.clone();
        once_more.erased(&shape, |position| bad.is_dead(position));
        let left =
            if stays { after.data_commands_from(0, false) * shape.units_per_command } else { 0 };
        let may = self.map.is_aside(superblock)
            || self.erased_units() + i64::from(left) >= self.units_kept();
        let aside = self.map.is_aside(superblock);
        let Some(bad) = &mut self.bad else { return false };
        if !may && once_more.data_commands_from(0, false) > 0 {
            bad.counts.delayed += failed;
            bad.set_gaps(superblock, Some(once_more));
            self.keep_places(superblock);
            return false;
        }
        bad.retire_parts(&shape, superblock, !stays);
        if !stays {
            bad.set_gaps(superblock, None);
            return true;
        }
        bad.set_gaps(superblock, Some(after));
        if !aside && !std::mem::replace(&mut bad.uneven, true) {
            self.keep_more_erased();
        }
        self.keep_places(superblock);
        false
    }

    /// Lets those blocks of a superblock fail whose erase fails. Returns their number.
    fn fail_erase(&mut self, superblock: RuId, now: Nanos) -> u64 {
        let (shape, erases) = (self.shape, self.map.erases()[superblock.index()]);
        let Some(bad) = &mut self.bad else { return 0 };
        let mut all = 0;
        for position in 0..shape.dies {
            let serves = bad.gaps(superblock).is_none_or(|gaps| gaps.serves(position));
            if !serves || bad.counts.worn_out.is_some() {
                continue;
            }
            let failing = bad.failing(&shape, (superblock, position), erases);
            if failing.is_empty() {
                continue;
            }
            let mut gaps = bad.copy_of(&shape, superblock);
            gaps.fail(&shape, position, None);
            let lost = bad.lost(&shape, superblock, &gaps);
            if lost > bad.counts.spare {
                bad.counts.worn_out = Some(now);
                continue;
            }
            bad.set_gaps(superblock, Some(gaps));
            bad.counts.spare -= lost;
            bad.counts.erases += failing.len() as u64;
            bad.mark(&failing);
            all += failing.len() as u64;
        }
        all
    }

    /// Superblocks differ in size from now on: collection keeps one more erased for each of its
    /// streams, as two that are smaller may have to take the data of one.
    pub(super) fn keep_more_erased(&mut self) {
        let more = self.streams.kept();
        self.collector.below += more;
        if let Some(cache) = &mut self.slc {
            cache.keep_more_erased(more);
        }
    }

    /// Returns true if a program of a superblock has failed since its erase. Dies that have failed
    /// for good do not count: what they held is rebuilt or lost.
    pub(super) fn has_failed_program(&self, superblock: RuId) -> bool {
        let Some(bad) = &self.bad else { return false };
        let in_service = |position| !bad.is_dead(position);
        bad.gaps(superblock).is_some_and(|gaps| gaps.has_failed_program(in_service))
    }

    /// Returns the state of failed blocks, to be saved with that of the drive.
    pub(super) fn save_bad_blocks(&self) -> Option<SavedBadBlocks> {
        let retired = |&it: &RuId| self.map.state(it) == BlockState::Retired;
        let retired = self.map.superblocks().filter(retired).collect();
        self.bad.as_ref().map(|bad| bad.save(retired))
    }

    /// Restores the saved state of failing blocks on a drive whose superblocks are all erased or
    /// open.
    ///
    /// # Errors
    /// The reason why the drive cannot be in that state.
    pub(super) fn resume_bad_blocks(
        &mut self,
        saved: Option<&SavedBadBlocks>,
    ) -> Result<(), String> {
        let wrong = || String::from("it is of a drive whose blocks fail otherwise");
        let (bad, saved) = match (&mut self.bad, saved) {
            (None, None) => return Ok(()),
            (Some(bad), Some(saved)) => (bad, saved),
            _ => return Err(wrong()),
        };
        let uneven = bad.uneven;
        if !bad.resume(&self.shape, saved) {
            return Err(wrong());
        }
        if bad.uneven && !uneven {
            self.keep_more_erased();
        }
        for &superblock in &saved.retired {
            if superblock.0 >= self.shape.superblocks
                || self.map.state(superblock) != BlockState::Free
                || self.gaps_of(superblock).is_some()
            {
                return Err(wrong());
            }
            self.map.retire_erased(superblock);
        }
        Ok(())
    }

    /// Checks that the capacity for data is what the drive needs plus the spare, that retired
    /// superblocks and commands on failed blocks hold nothing, and that a full superblock with a
    /// failed program is due to be moved.
    pub(super) fn check_bad_blocks(&self) -> Result<(), String> {
        let Some(bad) = &self.bad else { return Ok(()) };
        let retired = |superblock: RuId| self.map.state(superblock) == BlockState::Retired;
        let room = bad.room_of_all(&self.shape, retired);
        if room.max(bad.needed) != bad.needed + bad.counts.spare
            || room < bad.needed && !self.is_read_only()
        {
            return Err(format!("room for {room}, {} needed, {:?}", bad.needed, bad.counts));
        }
        for superblock in self.map.superblocks() {
            let gaps = self.gaps_of(superblock);
            let units = (0..self.shape.commands)
                .filter(|&command| !self.uses(superblock, command))
                .flat_map(|command| {
                    let first = self.shape.unit_of_command(superblock, command);
                    first.run(self.shape.numbers_per_command())
                });
            let held = units.filter(|&unit| self.map.valid_owner(unit).is_some()).count();
            if held > 0 || retired(superblock) && (gaps.is_some() || self.map.valid(superblock) > 0)
            {
                return Err(format!("superblock {superblock} holds {held} units in {gaps:?}"));
            }
            let full = self.map.state(superblock) == BlockState::Full;
            if full && self.has_failed_program(superblock) && !self.renewals.has(superblock) {
                return Err(format!(
                    "superblock {superblock} has a failed program and is not due to be moved"
                ));
            }
        }
        Ok(())
    }
}
