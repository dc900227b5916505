//! The parity of superblocks over the life of the drive: which superblocks have it, and what
//! becomes of the others when the rules change (DA-RAID-5, section III-B).
//!
//! 1. A superblock that is opened gets parity if the rules protect it, which may depend on the wear
//!    of its blocks ([`super::coverage`]).
//! 2. An erase wears its blocks. The drive may reach the next stage of life thereby.
//! 3. While the rules say so, superblocks whose data is old or was read often become due to be
//!    moved ([`super::limits`]).
//! 4. At a new stage, the bare superblocks that the new rules protect become due to be moved: their
//!    data gets parity in the superblocks that it is moved to.

use super::Superblocks;
use super::commands::Stream;
use super::limits::SavedLimits;
use super::map::Map;
use super::shape::{Shape, page_of};
use super::slc_cache::{Mode, SlcCache};
use crate::blocks::block_table::BlockState;
use crate::event::Event;
use crate::flash::Flash;
use crate::policy::redundancy::Stage;
use crate::raid::Protection;
use fowler_agenda::Phase;
use fowler_units::{Id, Nanos, Ppn, RuId, TxnId};

impl Superblocks {
    /// Returns true if a superblock, which is open or full, has no parity.
    #[inline]
    pub(super) fn is_bare(&self, superblock: RuId) -> bool {
        self.coverage.as_ref().is_some_and(|coverage| coverage.bare[superblock])
    }

    /// Returns true if a command of a superblock programs parity.
    #[inline]
    pub(super) fn is_parity(&self, superblock: RuId, command: u32) -> bool {
        let parity = match self.gaps_of(superblock) {
            None => self.shape.is_parity(command),
            Some(gaps) => gaps.is_parity(command),
        };
        parity && !self.is_bare(superblock)
    }

    /// Returns the units of a superblock, which is open or full, that hold data.
    pub(super) fn data_units_of(&self, superblock: RuId) -> u32 {
        self.data_units_from(superblock, 0)
    }

    /// Returns the units of a superblock, which is full, that hold data after its next erase: on a
    /// drive with dies that have failed for good, without those that drop out then.
    pub(super) fn units_after_erase(&self, superblock: RuId) -> u32 {
        let failed = self.gaps_of(superblock).filter(|gaps| self.dies.any() && gaps.has_failed());
        let Some(gaps) = failed else { return self.data_units_of(superblock) };
        let mut after = gaps.clone();
        after.erased(&self.shape, |_| true);
        let commands = after.data_commands_from(0, self.is_bare(superblock));
        commands * self.shape.units_per_command
    }

    /// Returns the units that hold data in a command of a superblock, which is open or full, and in
    /// the commands after it.
    pub(super) fn data_units_from(&self, superblock: RuId, command: u32) -> u32 {
        let bare = self.is_bare(superblock);
        match self.gaps_of(superblock) {
            None => self.shape.data_units_from(command, bare),
            Some(gaps) => gaps.data_commands_from(command, bare) * self.shape.units_per_command,
        }
    }

    /// Records how many units of a superblock hold no data: its parity units, if superblocks
    /// without parity can exist on the drive, and the units on dies with failed blocks.
    pub(super) fn keep_places(&mut self, superblock: RuId) {
        let data = self.data_units_of(superblock);
        self.map.keep_from_data(superblock, data);
    }

    /// Returns the superblocks without parity, in ascending order; none on a drive that never uses
    /// parity.
    pub(super) fn bare_superblocks(&self) -> Vec<RuId> {
        self.map.superblocks().filter(|&superblock| self.is_bare(superblock)).collect()
    }

    /// Decides, when a superblock is opened for a stream, if it has parity.
    pub(super) fn cover(&mut self, superblock: RuId, stream: Stream, now: Nanos) {
        let Some(coverage) = &mut self.coverage else { return };
        let erases = self.map.erases()[superblock.index()];
        if let Some(limits) = &mut self.limits {
            limits.opened(superblock, now, coverage.cycles_of(superblock, erases));
        }
        coverage.opened(superblock, erases, stream == Stream::Slc);
        self.keep_places(superblock);
        let open = self.open_with_parity();
        if let Some(coverage) = &mut self.coverage {
            coverage.open_most = coverage.open_most.max(open);
        }
    }

    /// Returns the number of open superblocks that have parity.
    fn open_with_parity(&self) -> u32 {
        let open = Stream::all().filter_map(|stream| self.commands.open_of(stream));
        let protected = open.filter(|open| !self.is_bare(open.superblock));
        if self.shape.stripes() > 0 { protected.count() as u32 } else { 0 }
    }

    /// Resets the maximum number of open superblocks with parity to their present number, so that
    /// preconditioning does not count.
    pub(super) fn count_open_anew(&mut self) {
        let open = self.open_with_parity();
        if let Some(coverage) = &mut self.coverage {
            coverage.open_most = open;
        }
    }

    /// Records the erase of a superblock, which wears its blocks.
    #[inline]
    pub(super) fn erased_of_coverage(&mut self, superblock: RuId, now: Nanos) {
        if self.coverage.is_some() {
            self.wear_coverage(superblock, now);
        }
    }

    fn wear_coverage(&mut self, superblock: RuId, now: Nanos) {
        let Some(coverage) = &mut self.coverage else { return };
        coverage.erased(superblock, self.map.erases()[superblock.index()]);
        if let Some(limits) = &mut self.limits {
            limits.erased(superblock);
        }
        if coverage.look_at_age(now) {
            self.want_parity();
        }
    }

    /// Sets the ages of the data of a drive that has just been filled, and schedules, at once, the
    /// first check for superblocks whose data is too old.
    pub(super) fn begin_limits(&mut self, flash: &mut Flash) {
        let (Some(coverage), Some(limits)) = (&self.coverage, &mut self.limits) else { return };
        let erases = self.map.erases();
        let cycles = |it: RuId| coverage.cycles_of(it, erases[it.index()]);
        limits.filled(&self.map, cycles);
        limits.check_at = flash.now();
        flash.agenda.schedule(flash.now(), Phase::Decision, Event::Deadline);
    }

    /// Makes superblocks whose data has reached the limit of age or of reads due for refresh (to be
    /// moved), and schedules the next check of these limits.
    pub(super) fn check_limits(&mut self, flash: &mut Flash) {
        if self.limits.as_ref().is_some_and(|limits| flash.now() < limits.check_at) {
            return;
        }
        if let Some(next) = self.check_limits_at(flash.now()) {
            flash.agenda.schedule(next, Phase::Decision, Event::Deadline);
        }
        self.collect(flash);
    }

    /// Makes superblocks whose data has reached the limit of age or of reads due for refresh (to be
    /// moved). Returns the time of the next check; `None` if the redundancy policy refreshes
    /// nothing in this stage of life.
    pub(super) fn check_limits_at(&mut self, now: Nanos) -> Option<Nanos> {
        let (coverage, limits) = (self.coverage.as_ref()?, self.limits.as_mut()?);
        if !coverage.rules.refreshes {
            return None;
        }
        let erases = self.map.erases();
        let cycles = |it: RuId| coverage.cycles_of(it, erases[it.index()]);
        for superblock in self.map.superblocks() {
            if can_be_refreshed(&self.map, self.slc.as_deref(), superblock)
                && limits.is_over(superblock, now, cycles(superblock))
            {
                self.renewals.add(superblock);
            }
        }
        limits.check_at = limits.next_check(now, cycles);
        Some(limits.check_at)
    }

    /// Counts a flash read, which may bring the block to its limit of reads.
    #[inline]
    pub(super) fn count_read(&mut self, flash: &mut Flash, id: TxnId) {
        if self.count_read_of(page_of(flash.txns.get(id).unit)) {
            self.collect(flash);
        }
    }

    /// Counts a read of a flash page, which may bring its block to its limit of reads. Returns true
    /// if its superblock is due for a refresh.
    pub(super) fn count_read_of(&mut self, page: Ppn) -> bool {
        let Some(superblock) = self.limits.as_mut().and_then(|limits| limits.read(page)) else {
            return false;
        };
        let refreshes = self.coverage.as_ref().is_some_and(|coverage| coverage.rules.refreshes);
        let due = refreshes && can_be_refreshed(&self.map, self.slc.as_deref(), superblock);
        if due {
            self.renewals.add(superblock);
        }
        due
    }

    /// Handles the end of a program command of a superblock.
    #[inline]
    pub(super) fn land(&mut self, superblock: RuId, now: Nanos) {
        if self.map.landed(superblock, now) {
            self.filled(superblock);
        }
    }

    /// Handles a superblock that has just become full: it is due to be moved if a unit or a program
    /// in it has failed, or if it has no parity and its present wear requires some.
    #[cold]
    fn filled(&mut self, superblock: RuId) {
        self.renew_if_spoilt(superblock);
        let erases = self.map.erases()[superblock.index()];
        let lacks =
            |it: &super::coverage::Coverage| it.bare[superblock] && it.protects(superblock, erases);
        if self.coverage.as_deref().is_some_and(lacks) {
            self.renewals.add(superblock);
        }
    }

    /// Makes superblocks due to be moved that have no parity although the rules of the present
    /// stage of life give them parity.
    pub(super) fn want_parity(&mut self) {
        let Some(coverage) = &self.coverage else { return };
        for superblock in self.map.superblocks() {
            let erases = self.map.erases()[superblock.index()];
            if coverage.bare[superblock] && coverage.protects(superblock, erases) {
                self.renewals.add(superblock);
            }
        }
    }

    /// Takes over, from a saved life, the superblocks without parity (`bare`) and the stage of
    /// life.
    ///
    /// # Errors
    /// The reason why the state is that of another drive.
    pub(super) fn resume_bare(&mut self, bare: &[RuId], stage: u8) -> Result<(), String> {
        let stages = [Stage::First, Stage::Second, Stage::Third];
        let Some(coverage) = &mut self.coverage else {
            let none = bare.is_empty() && stage == 0;
            return if none { Ok(()) } else { Err("it is of a drive with parity".into()) };
        };
        let stage = stages.get(usize::from(stage)).ok_or("it is at no stage of life")?;
        let in_use = |superblock| {
            !matches!(self.map.state(superblock), BlockState::Free | BlockState::Retired)
        };
        coverage.resume((*stage, bare), self.map.erases(), in_use)?;
        for superblock in self.map.superblocks() {
            self.keep_places(superblock);
        }
        Ok(())
    }

    /// Takes over the ages and read counts of superblocks from a saved state.
    ///
    /// # Errors
    /// The reason why they are those of another drive.
    pub(super) fn resume_limits(&mut self, saved: Option<SavedLimits>) -> Result<(), String> {
        let same = match (&self.coverage, &mut self.limits, saved) {
            (Some(coverage), Some(limits), Some(saved)) => {
                let erases = self.map.erases();
                limits.resume(saved, |it| coverage.cycles_of(it, erases[it.index()]))
            }
            (_, limits, saved) => limits.is_none() && saved.is_none(),
        };
        if same {
            Ok(())
        } else {
            Err("it is of a drive with other limits of age and reads".into())
        }
    }

    /// Returns the present protection of the drive's data by parity: stripes, stage of life, wear
    /// and open superblocks; `None` on a drive without parity.
    pub(crate) fn protection(&self) -> Option<Protection> {
        let coverage = self.coverage.as_ref()?;
        let Shape { superblocks, pages_per_command, .. } = self.shape;
        let lacks = |&superblock: &RuId| {
            let erases = self.map.erases()[superblock.index()];
            coverage.bare[superblock] && coverage.protects(superblock, erases)
        };
        let exposed = |stream: &Stream| {
            let Some(open) = self.commands.open_of(*stream) else { return false };
            self.shape.stripes() > 0
                && self.has_begun_stripe(open)
                && !coverage.bare[open.superblock]
        };
        let exposed = Stream::all().filter(exposed).count() as u32;
        Some(Protection {
            stripes: superblocks * coverage.stripes,
            stage: coverage.stage,
            changes: coverage.changes.clone(),
            age: coverage.age(),
            bare: self.map.superblocks().filter(lacks).count() as u32 * coverage.stripes,
            exposed: exposed * pages_per_command,
            exposed_most: coverage.open_most * pages_per_command,
        })
    }
}

/// Returns true if a superblock is full and not in SLC mode. Data in SLC mode is never refreshed,
/// because folding moves it.
fn can_be_refreshed(map: &Map, slc: Option<&SlcCache>, superblock: RuId) -> bool {
    map.state(superblock) == BlockState::Full
        && slc.is_none_or(|cache| cache.mode(superblock) == Mode::Usual)
}
