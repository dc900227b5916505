//! The laws of a drive with superblocks, to be checked at any event.

use super::Superblocks;
use super::buffer::State as FrameState;
use super::collection::Why;
use super::commands::{SWAPPED, Stream};
use super::map::{Emptied, Traffic};
use super::residents::Residents;
use super::slc_cache::{FOLDED_MOST, Mode, SlcCache};
use crate::blocks::block_table::BlockState;
use crate::event_loop::Device;
use crate::flash::Flash;
use crate::flash::cache_register::Holds;
use crate::flash::txn::Owner;
use crate::mapping::page_map::Location;
use crate::observe::counters::SlcCounts;
use crate::observe::law::Violation;
use crate::observe::operation::Source;
use crate::policy::placement::StreamId;
use fowler_units::{DieId, Id, IdVec, Nanos, RuId, UnitId};

/// Returns an error with the given message from a check unless a condition holds.
macro_rules! law {
    ($holds:expr, $($what:tt)+) => {
        if !$holds {
            return Err(format!($($what)+));
        }
    };
}

impl Device<Superblocks> {
    /// Checks the invariants of a drive with superblocks, which hold between any two events of a
    /// run.
    ///
    /// # Errors
    /// The first law that is broken.
    pub fn check_superblocks(&self) -> Result<(), Violation> {
        let counters = &self.flash.counters;
        let SlcCounts { cached, folded, .. } = counters.slc;
        let (erased, most) = (counters.erases[Source::Refresh], counters.aged.refreshed);
        if erased > most * u64::from(self.layer.shape.dies) {
            return Err(Violation(format!("{erased} erases of {most} refreshed superblocks")));
        }
        let read = counters.reads[Source::Refresh];
        let scrubbed = self.layer.patrol.as_ref().map_or(0, |patrol| patrol.units);
        if read < scrubbed {
            return Err(Violation(format!(
                "{read} units read for refresh and scrubbing, fewer than the {scrubbed} scrubbed"
            )));
        }
        let moved = read - scrubbed + counters.programs[Source::Refresh];
        if most == 0 && moved > 0 {
            return Err(Violation(format!(
                "{moved} units moved for refresh, but no superblock was refreshed"
            )));
        }
        let leveled = counters.programs[Source::Wear] + counters.reads[Source::Wear];
        if leveled > 0 && self.layer.leveling.is_none() {
            return Err(Violation(format!(
                "{leveled} units read or programmed for wear leveling, which this drive lacks"
            )));
        }
        let flow = self.layer.check().and_then(|()| self.layer.check_flow(cached, folded));
        let modes = || self.layer.check_modes(&self.flash);
        let patrol = || self.layer.check_patrol(&self.flash);
        let dead = || self.layer.check_failed_dies(&self.flash);
        let service = flow.and_then(|()| self.check_service());
        let rest = service.and_then(|()| self.check_reads()).and_then(|()| modes());
        rest.and_then(|()| patrol()).and_then(|()| dead()).map_err(Violation)
    }

    /// Checks that as many flash reads for the host are counted as are in flight. A read that waits
    /// for the rest of its stripe is one of them.
    fn check_reads(&self) -> Result<(), String> {
        let reads = self.flash.txns.iter().filter(|(_, txn)| txn.owner == Owner::Request).count();
        let counted = self.layer.front.reads.count();
        law!(counted as usize == reads, "{counted} reads of the host counted, {reads} in flight");
        Ok(())
    }

    /// Checks that the time accounting of every die adds up to the simulated time, and that each
    /// idle die has been busy for the total duration of its operations.
    fn check_service(&self) -> Result<(), String> {
        for id in self.flash.dies().ids() {
            let die = self.flash.die(id);
            let account = die.account.read_at(self.now());
            law!(account.total().0 == self.now().0, "die {}: {}", id.0, account.total());
            let at_rest = die.is_idle() && !die.marked && die.cache.holds == Holds::Nothing;
            let (busy, served) = (account.busy(), die.served);
            law!(!at_rest || busy == served, "die {} busy for {busy}, served {served}", id.0);
        }
        Ok(())
    }
}

impl Superblocks {
    pub(super) fn check(&self) -> Result<(), String> {
        let open = self.front.requests.open_count();
        self.front.line.check(open, !self.front.reads.are_full())?;
        self.check_map()?;
        self.check_superblocks()?;
        if let Some(cache) = &self.slc {
            self.check_cache(cache)?;
        }
        self.check_passes()?;
        self.check_refresh()?;
        self.check_coverage()?;
        self.check_bad_blocks()?;
        self.check_swap()?;
        self.check_contents()?;
        self.check_frames()
    }

    /// Every unit of the host is in one place, and has at most one valid copy in the flash, which
    /// points back at the unit, is in SLC mode exactly if its superblock is, and lies where no
    /// parity does; counts of valid units agree with the map.
    fn check_map(&self) -> Result<(), String> {
        let mut valid = IdVec::filled(0, self.map.count() as usize);
        for page in self.map.pages() {
            let copy = match self.map.place(page) {
                Location::Nowhere => UnitId::NONE,
                Location::Flash(unit) => unit,
                Location::Buffer(frame) => {
                    law!(self.buffer.page(frame) == page, "frame {} is not of {page}", frame.0);
                    self.buffer.unit(frame)
                }
            };
            if copy.is_some() {
                let unit = copy;
                law!(self.map.valid_owner(unit) == Some(page), "unit {unit} is not of {page}");
                let superblock = self.shape.superblock_of(unit);
                valid[superblock] += 1;
                if let Some(cache) = &self.slc {
                    let (slc, mode) = (self.shape.is_slc(unit), cache.mode(superblock));
                    law!(
                        slc == (mode != Mode::Usual),
                        "unit {unit}, superblock {superblock} is {mode:?}"
                    );
                }
            }
        }
        for number in valid.ids() {
            let (valid, counted) = (valid[number], self.map.valid(number));
            law!(counted == valid, "superblock {number}: {counted} counted, {valid} valid");
            let marked = self.map.marked(number);
            law!(marked == valid, "superblock {number}: {marked} marked, {valid} valid");
            let slc = self.is_in_slc_mode(number);
            for command in (0..self.shape.commands).filter(|&it| self.is_parity(number, it)) {
                let mut units = self.shape.units_of_command(number, command, slc);
                let held = units.find(|&unit| self.map.valid_owner(unit).is_some());
                law!(held.is_none(), "superblock {number}: {held:?} is valid, where parity is");
            }
        }
        Ok(())
    }

    fn check_superblocks(&self) -> Result<(), String> {
        let mut unused = self.commands.free.clone();
        unused.sort_unstable();
        let twice = unused.windows(2).find(|pair| pair[0] == pair[1]);
        law!(twice.is_none(), "command {twice:?} is in the list of unused ones twice");
        let (mut free, mut leaving) = (0, 0);
        for number in self.map.superblocks() {
            let (state, traffic) = (self.map.state(number), self.map.traffic(number));
            let Traffic { flying, leaving: leaves, emptied } = *traffic;
            if let Some(passes) = &self.commands.passes {
                let unfinished = passes.unfinished_in(&self.shape, number);
                law!(unfinished <= flying, "{number}: {traffic:?}, {unfinished} unfinished");
            }
            leaving += leaves;
            free += u32::from(state == BlockState::Free);
            if state == BlockState::Free || matches!(emptied, Emptied::Erased(_)) {
                let empty = (self.map.valid(number), flying, leaves) == (0, 0, 0);
                law!(empty, "superblock {number} is erased and holds {traffic:?}");
            }
            let collected = state == BlockState::Collecting;
            law!(collected == (emptied != Emptied::No), "{number} is {state:?}: {traffic:?}");
            law!(state != BlockState::Full || flying == 0, "{number} is full: {traffic:?}");
        }
        let counted = self.map.free_count() + self.map.free_aside_count();
        law!(free == counted, "{free} erased, {counted} counted");
        let (moving, _) = self.collector.in_flight();
        law!(leaving == moving, "{leaving} units leave superblocks, {moving} are moving");
        for &stream in self.streams.moved() {
            let (promised, room) = (self.collector.promised(stream), self.room_for_moved(stream));
            // A die that fails takes room that is promised already.
            law!(
                promised <= room || self.dies.any(),
                "{promised} units go to stream {}, where {room} fit",
                stream.0
            );
        }
        Ok(())
    }

    /// Checks that a superblock in SLC mode holds no more units than fit; that superblocks reserved
    /// for the SLC cache are used in no other mode; and that the counters of superblocks agree.
    fn check_cache(&self, cache: &SlcCache) -> Result<(), String> {
        let (mut dynamic, mut folded, mut held) = (0, 0, 0);
        for number in self.map.superblocks() {
            let (state, mode) = (self.map.state(number), cache.mode(number));
            let aside = self.map.is_aside(number);
            if mode == Mode::Usual {
                let used = !matches!(state, BlockState::Free | BlockState::Retired);
                law!(!aside || !used, "superblock {number} is set aside: {state:?}");
                continue;
            }
            held += 1;
            dynamic += u32::from(!aside);
            folded += u32::from(mode == Mode::Folded);
            law!(state != BlockState::Free, "superblock {number} is erased and {mode:?}");
            law!(cache.held().contains(&number), "superblock {number} is not held");
            let (valid, most) = (self.map.valid(number), self.shape.slc_data_units());
            law!(valid <= most, "superblock {number} holds {valid} of {most}");
            let paused = self.map.traffic(number).emptied == Emptied::Paused;
            law!(
                !paused || mode == Mode::Folded || self.repair_pace.is_some(),
                "superblock {number} is paused and {mode:?}"
            );
        }
        law!(held == cache.held().len(), "{held} in SLC mode, {} held", cache.held().len());
        law!(dynamic == cache.dynamic, "{dynamic} of them dynamic, {} counted", cache.dynamic);
        law!(folded == cache.folded, "{folded} of them folded, {} counted", cache.folded);
        law!(folded <= FOLDED_MOST, "{folded} are folded at once");
        if let Some((victim, why)) = self.collector.victim() {
            let mode = cache.mode(victim);
            let usual = matches!(why, Why::Space | Why::Refresh | Why::Wear);
            law!(usual || mode == Mode::Folded, "{victim} is {mode:?}, job of {why:?}");
        }
        if let Some(open) = self.commands.open_of(Stream::Slc) {
            law!(cache.mode(open.superblock) == Mode::Slc, "{open:?} is not in SLC mode");
        }
        for stream in [Stream::Host, Stream::Moved].map(|of| of(StreamId(0))) {
            let open = self.commands.open_of(stream);
            let usual = open.is_none_or(|open| cache.mode(open.superblock) == Mode::Usual);
            law!(usual, "{stream:?} fills {open:?}, which is in SLC mode");
        }
        Ok(())
    }

    /// Checks that a second pass that has not been sent waits for a later command on its die. What
    /// waits for a die that has just failed comes back.
    fn check_passes(&self) -> Result<(), String> {
        let begun = self.commands.passes.iter().flat_map(|passes| passes.begun.iter().flatten());
        for begun in begun.flatten() {
            let unit = self.commands.records[begun.number as usize].first_unit;
            let superblock = self.shape.superblock_of(unit);
            let last = self.is_last_of_die(superblock, self.shape.command_of(unit));
            let dead = self.is_dead(self.shape.place(unit).0);
            law!(!last || dead, "a second pass of superblock {superblock} waits for nothing");
        }
        Ok(())
    }

    /// Checks that at most one superblock is being refreshed, and that it is being read, emptied or
    /// erased.
    fn check_refresh(&self) -> Result<(), String> {
        let renewals = &self.renewals;
        if let Some(moving) = renewals.moving {
            let state = self.map.traffic(moving).emptied;
            let job = self.collector.victim() == Some((moving, Why::Refresh));
            let way = job || matches!(state, Emptied::Drained | Emptied::Erased(_));
            law!(way && renewals.has(moving), "superblock {moving} is refreshed and {state:?}");
        }
        if let Some((victim, Why::Refresh)) = self.collector.victim() {
            law!(renewals.moving == Some(victim), "superblock {victim} is refreshed as well");
        }
        Ok(())
    }

    /// Scrubbing reads one page at a time, or has its next step scheduled, and superblocks that it
    /// has found to have many errors are due to be moved.
    fn check_patrol(&self, flash: &Flash) -> Result<(), String> {
        let owned = |owner| matches!(owner, Owner::Scrub | Owner::StripeCheck(_));
        let reads = flash.txns.iter().filter(|(_, txn)| owned(txn.owner)).count();
        let Some(patrol) = &self.patrol else {
            law!(reads == 0, "{reads} reads of scrubbing, which is off");
            return Ok(());
        };
        law!(reads == usize::from(patrol.reading.is_some()), "{reads} reads: {patrol:?}");
        let waits = patrol.at != Nanos::NEVER;
        law!(waits == patrol.reading.is_none() && patrol.at >= flash.now(), "idle: {patrol:?}");
        let forgotten = patrol.found.iter().find(|&&found| !self.renewals.has(found));
        law!(forgotten.is_none(), "superblock {forgotten:?} was found and is not due");
        Ok(())
    }

    /// A drive whose rules of parity never change has all superblocks with parity, or none; where
    /// they may change, every superblock in use that the rules protect has parity or is due to get
    /// it, and the count of those that are worn is right.
    fn check_coverage(&self) -> Result<(), String> {
        let Some(coverage) = &self.coverage else { return Ok(()) };
        let mut worn = 0;
        for superblock in self.map.superblocks() {
            let state = self.map.state(superblock);
            let full = state == BlockState::Full;
            if matches!(state, BlockState::Free | BlockState::Retired) {
                law!(!self.is_bare(superblock), "superblock {superblock} is erased and bare");
                continue;
            }
            let erases = self.map.erases()[superblock.index()];
            worn += u32::from(coverage.is_worn(superblock, erases));
            let slc = self.slc.as_ref().is_some_and(|it| it.mode(superblock) != Mode::Usual);
            let bare = self.is_bare(superblock);
            law!(!(bare && slc), "superblock {superblock} is bare and in SLC mode");
            let lacks = bare && coverage.protects(superblock, erases);
            let due = self.renewals.has(superblock);
            law!(!(full && lacks) || due, "superblock {superblock} lacks parity and is not due");
        }
        let (counted, stripes) = (coverage.age().worn_stripes, coverage.stripes);
        law!(counted == worn * stripes, "{worn} worn superblocks of {stripes}: {counted} stripes");
        Ok(())
    }

    /// Checks that static wear leveling, which swaps cold data into a worn superblock, empties at
    /// most one superblock at a time, whose units are being read, have been read, or are being
    /// erased. On a drive without wear leveling, no stream for such data is open.
    fn check_swap(&self) -> Result<(), String> {
        let open = self.commands.open_of(Stream::Moved(SWAPPED));
        let moving = self.leveling.as_ref().and_then(|leveling| leveling.moving);
        law!(open.is_none() || self.leveling.is_some(), "{open:?} takes swapped data");
        if let Some(moving) = moving {
            let state = self.map.traffic(moving).emptied;
            let job = self.collector.victim() == Some((moving, Why::Wear));
            let way = job || matches!(state, Emptied::Drained | Emptied::Erased(_));
            law!(way, "superblock {moving} is swapped and {state:?}");
        }
        if let Some((victim, Why::Wear)) = self.collector.victim() {
            law!(moving == Some(victim), "superblock {victim} is swapped as well");
        }
        Ok(())
    }

    /// Checks that units in the SLC cache and units read out of it are together no more than have
    /// come into it. Units that are being read out count as both, so the limit is higher by their
    /// number.
    fn check_flow(&self, cached: u64, folded: u64) -> Result<(), String> {
        let Some(cache) = &self.slc else { return Ok(()) };
        let (mut inside, mut leaving) = (0, 0);
        for &number in cache.held() {
            inside += u64::from(self.map.valid(number));
            leaving += u64::from(self.map.traffic(number).leaving);
        }
        law!(inside + folded <= cached + leaving, "{inside} of {cached} inside, {folded} out");
        Ok(())
    }

    /// Every frame is free or holds a unit of the host; commands in flight store exactly the frames
    /// that are leaving. A clean frame holds the data of its unit's valid copy in the flash. Those
    /// that stay until room is needed are in their lists.
    fn check_frames(&self) -> Result<(), String> {
        let mut flying: Vec<_> = self.commands.frames().collect();
        flying.sort_unstable();
        let (mut held, mut dirty, mut clean) = (0, 0, 0);
        for (frame, page, state) in self.buffer.held() {
            held += 1;
            let in_command = flying.binary_search(&frame).is_ok();
            law!(in_command == (state == FrameState::Leaving), "frame {} is {state:?}", frame.0);
            law!(page.0 < self.map.logical(), "frame {} holds page {page}", frame.0);
            dirty += u32::from(state == FrameState::Dirty);
            clean += u32::from(state == FrameState::Clean);
            if matches!(state, FrameState::Dirty | FrameState::Clean) {
                law!(self.map.is_in(page, frame), "frame {} is stale and {state:?}", frame.0);
            }
            if state == FrameState::Clean {
                let copy = self.buffer.unit(frame);
                law!(copy.is_some(), "frame {} is clean and holds the only copy", frame.0);
            }
        }
        let listed = self.buffer.residents().map_or((0, 0), Residents::counts);
        law!(listed == (dirty, clean), "{dirty} dirty, {clean} clean, listed: {listed:?}");
        let leaving = flying.len() as u32;
        law!(leaving == self.buffer.leaving(), "{leaving} frames leave");
        let all = held + self.buffer.free_count();
        law!(all == self.buffer.len(), "{all} of {} frames", self.buffer.len());
        Ok(())
    }

    /// Checks that the blocks of full superblocks were programmed in SLC mode, or at the ISPP step
    /// and voltages chosen for their die, and that no step is coarser than its block tolerates.
    fn check_modes(&self, flash: &Flash) -> Result<(), String> {
        let (Some(modes), Some(condition)) = (&self.modes, flash.condition()) else {
            return Ok(());
        };
        let full = |&number: &RuId| self.map.state(number) == BlockState::Full;
        for superblock in self.map.superblocks().filter(full) {
            let dies = self.shape.dies;
            let commands = |first: u32| (first..self.shape.commands).step_by(dies as usize);
            let used = |&first: &u32| commands(first).any(|it| self.uses(superblock, it));
            let alive = |die: &DieId| !self.is_dead(*die);
            let dies = (0..dies).filter(used).map(|first| self.shape.die_at(first));
            for die in dies.filter(alive) {
                let mode = modes.of(superblock, die);
                for block in self.shape.blocks_on(superblock, die) {
                    let found = condition.block(block).mode;
                    let same = found.one_bit || found == mode;
                    law!(same, "block {}: {found:?}, not {mode:?}", block.0);
                    let bears = modes.bears_mode(condition.class_of(block), mode);
                    law!(bears, "block {} does not bear {mode:?}", block.0);
                }
            }
        }
        Ok(())
    }
}
