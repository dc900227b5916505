//! Garbage collection and wear levelling: a job empties one block of a plane, page by page, and
//! erases it. One job at a time for each plane.

use crate::blocks::block_table::BlockState;
use crate::config::layout::Layout;
use crate::config::{Config, GcConfig};
use crate::event::Event;
use crate::flash::Flash;
use crate::flash::queue::TxnClass;
use crate::flash::txn::{Op, Owner, Source, Txn};
use crate::ftl::Ftl;
use crate::policy::victim::{AnyVictim, Victim};
use crate::policy::wear::{AnyWear, Wear};
use fowler_agenda::Phase;
use fowler_units::{BlockId, DieId, IdVec, Nanos, PlaneId, TxnId};

/// The emptying of one block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Job {
    /// The block.
    pub victim: BlockId,
    /// On whose account.
    pub source: Source,
    /// Where to look for the next valid page.
    offset: u32,
    /// Pages that were valid when it began to compete with the host.
    pages: u32,
    /// Pages that its erase gains.
    gain: u32,
    /// Pages that the plane could spare then.
    surplus: u32,
    /// Pages that the host has written since.
    written: u32,
    /// It competes with the host; otherwise it gives way.
    foreground: bool,
    /// It waits for the die to be idle.
    parked: bool,
}

impl Job {
    /// Whether the host may write one more page of the plane while `left` pages are still to be moved.
    ///
    /// What the plane can spare is there for bursts. Beyond that the host has what the job gains, in
    /// step with its moves: a host that ran ahead would have to stand still for as long as a whole
    /// block, or several, takes to move.
    pub fn lets_host_write(&self, left: u32) -> bool {
        let moved = u64::from(self.pages.saturating_sub(left));
        let (pages, gain) = (u64::from(self.pages), u64::from(self.gain));
        let ahead = u64::from(self.written.saturating_sub(self.surplus));
        !self.foreground || ahead * pages <= gain * moved
    }
}

/// Who collects what, and when.
#[derive(Clone, Debug)]
pub struct Gc {
    rules: GcConfig,
    victim: AnyVictim,
    wear: AnyWear,
    jobs: IdVec<PlaneId, Option<Job>>,
    /// Planes that would collect if there were anything worth it.
    starved: IdVec<PlaneId, bool>,
    /// Dies with something to do in idle time, and when each is looked at next.
    wanting: IdVec<DieId, bool>,
    timed: IdVec<DieId, Nanos>,
}

impl Gc {
    /// No job anywhere.
    pub fn new(config: &Config, layout: &Layout) -> Self {
        let (planes, dies) = (layout.geometry.planes() as usize, layout.geometry.dies() as usize);
        Self {
            rules: config.gc,
            victim: AnyVictim::new(&config.victim, config.seed),
            wear: AnyWear::new(&config.wear, config.seed),
            jobs: IdVec::filled(None, planes),
            starved: IdVec::filled(false, planes),
            wanting: IdVec::filled(false, dies),
            timed: IdVec::filled(Nanos::NEVER, dies),
        }
    }

    /// The job of a plane.
    #[inline]
    pub fn job(&self, plane: PlaneId) -> Option<Job> {
        self.jobs[plane]
    }

    /// The host has written a page of the plane.
    #[inline]
    pub fn host_wrote(&mut self, plane: PlaneId) {
        if let Some(job) = &mut self.jobs[plane] {
            job.written += 1;
        }
    }

    /// Whether a plane waits for a page to become outdated.
    #[inline]
    pub fn is_starved(&self, plane: PlaneId) -> bool {
        self.starved[plane]
    }

    /// A die has something to do in idle time.
    pub fn want(&mut self, die: DieId) {
        self.wanting[die] = true;
    }

    /// Erased blocks, beside the last one, that a busy host leaves to collection: if the watermark
    /// allows, one that the moves may open and one that the host may open meanwhile.
    pub fn reserve(&self) -> u32 {
        (self.rules.foreground_below - 2).min(2)
    }

    /// The policies, whose state is all that collection has at rest.
    pub fn policies(&self) -> (&AnyVictim, &AnyWear) {
        (&self.victim, &self.wear)
    }

    /// Goes on with policies that were kept.
    pub fn resume(&mut self, victim: AnyVictim, wear: AnyWear) {
        (self.victim, self.wear) = (victim, wear);
    }

    /// The rules in force.
    pub fn rules(&self) -> &GcConfig {
        &self.rules
    }
}

impl Ftl {
    /// A plane's stock of erased blocks has changed: it may have to collect.
    #[inline]
    pub(crate) fn maybe_start(&mut self, flash: &mut Flash, plane: PlaneId) {
        let free = self.space.blocks.free_in(plane);
        if free < self.collector.rules.background_below {
            self.start_when_short(flash, plane, free);
        }
    }

    fn start_when_short(&mut self, flash: &mut Flash, plane: PlaneId, free: u32) {
        let die = self.locator.die_of_plane(plane);
        self.collector.wanting[die] = true;
        if free >= self.collector.rules.foreground_below {
            return;
        }
        match self.collector.jobs[plane] {
            Some(_) => self.promote(flash, plane),
            None => {
                self.collector.starved[plane] = !self.start(flash, plane, true);
            }
        }
    }

    /// The job of a plane gives way to the host no more.
    pub(crate) fn promote(&mut self, flash: &mut Flash, plane: PlaneId) {
        let Some(job) = self.collector.jobs[plane].filter(|job| !job.foreground) else { return };
        let promoted = Job { foreground: true, parked: false, ..job };
        self.collector.jobs[plane] = Some(self.competing(plane, promoted));
        if job.parked {
            self.step(flash, plane);
        }
    }

    /// Begins to collect a block, if any has an outdated page.
    fn start(&mut self, flash: &mut Flash, plane: PlaneId, foreground: bool) -> bool {
        let Some(victim) = self.choose(plane, flash.now()) else { return false };
        if !foreground && self.space.blocks.valid(victim) > self.worth_moving {
            // It is looked at again when one more page of the plane is outdated.
            self.collector.starved[plane] = true;
            return false;
        }
        flash.counters.collections[usize::from(!foreground)] += 1;
        self.begin(flash, plane, victim, Source::Gc, foreground);
        true
    }

    /// The victim that the policy picks, if collecting gains anything.
    pub(crate) fn choose(&mut self, plane: PlaneId, now: Nanos) -> Option<BlockId> {
        self.space.blocks.settle_lowest(plane);
        let candidates = self.space.blocks.candidates(plane);
        let best = candidates.fewest_valid()?;
        if candidates.valid(best) == candidates.pages_per_block() {
            return None;
        }
        self.collector.victim.pick(&candidates, now)
    }

    pub(crate) fn begin(
        &mut self,
        flash: &mut Flash,
        plane: PlaneId,
        victim: BlockId,
        source: Source,
        foreground: bool,
    ) {
        self.space.blocks.collect(victim);
        let job = Job {
            victim,
            source,
            offset: 0,
            pages: 0,
            gain: 0,
            surplus: 0,
            written: 0,
            foreground,
            parked: false,
        };
        self.collector.jobs[plane] = Some(self.competing(plane, job));
        self.step(flash, plane);
    }

    /// The job as it stands when it begins to compete with the host.
    fn competing(&self, plane: PlaneId, job: Job) -> Job {
        let pages = self.space.blocks.valid(job.victim);
        let pages_per_block = self.layout.geometry.pages_per_block;
        let reserve = self.collector.reserve() * pages_per_block;
        let room = self.space.room(plane).saturating_sub(reserve);
        if matches!(job.source, Source::Wear | Source::Refresh) {
            // A swap gains no room, nor does recycling: what the host writes beside it comes out of the reserve. One page
            // for every four moves is assumed, from no source: with one for two, swaps that follow
            // each other used the reserve up and the host stood still (`tests/pacing.rs`).
            return Job { pages, gain: pages / 4, surplus: room, written: 0, ..job };
        }
        let surplus = room.saturating_sub(pages);
        Job { pages, gain: pages_per_block - pages, surplus, written: 0, ..job }
    }

    /// The next page of a job, or its erase; a job of idle time gives way to the host.
    pub(crate) fn step(&mut self, flash: &mut Flash, plane: PlaneId) {
        let mut job = self.collector.jobs[plane].expect("a step belongs to a job");
        let die = self.locator.die_of_plane(plane);
        // Every step is progress for which the host may have waited.
        flash.unblock(die);
        let queue = &flash.die(die).queue;
        let host_waits =
            queue.head(TxnClass::HostRead).is_some() || queue.head(TxnClass::HostProgram).is_some();
        if !job.foreground && host_waits {
            job.parked = true;
            self.collector.jobs[plane] = Some(job);
            self.collector.wanting[die] = true;
            return;
        }
        let next = self.space.blocks.next_valid(job.victim, job.offset);
        let (op, class, ppn) = match next {
            Some(page) => {
                self.map.prefetch_owner(page);
                job.offset = self.locator.offset_in_block(page) + 1;
                (Op::Read, TxnClass::BackgroundRead, page)
            }
            None => (Op::Erase, TxnClass::Erase, self.layout.geometry.first_page(job.victim)),
        };
        self.collector.jobs[plane] = Some(job);
        let (id, txn) = flash.open(op, job.source, class, Owner::Job, die);
        txn.ppn = ppn;
        txn.worn = op == Op::Erase && self.counts_as_worn(job.victim);
        flash.submit(id);
    }

    /// A page of a victim lies in the controller: it goes to its new place, unless the host has
    /// written it meanwhile.
    #[inline(always)]
    pub(crate) fn copied_out(&mut self, flash: &mut Flash, id: TxnId) {
        let Txn { ppn: from, source, die, .. } = *flash.txns.get(id);
        flash.txns.close(id);
        if !self.space.blocks.is_valid(from) {
            let plane = self.locator.plane_of(from);
            return self.step(flash, plane);
        }
        let class = TxnClass::BackgroundProgram;
        let (id, txn) = flash.open(Op::Program, source, class, Owner::Job, die);
        txn.from = from;
        txn.lpn = self.map.owner(from);
        self.map.prefetch(txn.lpn);
        flash.submit(id);
    }

    /// A victim is erased: the job is done.
    pub(crate) fn erased(&mut self, flash: &mut Flash, id: TxnId) {
        let block = self.locator.block_of(flash.txns.get(id).ppn);
        flash.txns.close(id);
        let plane = self.locator.plane_of_block(block);
        let job = self.collector.jobs[plane].take().expect("an erase ends a job");
        debug_assert_eq!(job.victim, block);
        self.space.blocks.erase(block);
        flash.unblock(self.locator.die_of_plane(plane));
        self.refreshed(block);
        self.aged(flash, block);
        if job.source == Source::Gc && self.swap(flash, plane, block) {
            return;
        }
        self.maybe_start(flash, plane);
        self.recycle_after_job(flash, plane);
    }

    /// Asks whether cold data should move into the block that was just erased.
    fn swap(&mut self, flash: &mut Flash, plane: PlaneId, erased: BlockId) -> bool {
        let Some(cold) = self.coldest_for(plane, erased) else { return false };
        debug_assert_eq!(self.space.blocks.state(cold), BlockState::Full);
        if !self.space.open_for_swap(erased) {
            return false;
        }
        self.begin(flash, plane, cold, Source::Wear, true);
        true
    }

    /// The block whose data should move into `erased`, if any.
    pub(crate) fn coldest_for(&mut self, plane: PlaneId, erased: BlockId) -> Option<BlockId> {
        let candidates = self.space.blocks.candidates(plane);
        self.collector.wear.swap(&candidates, erased)
    }

    // --- Idle time ----------------------------------------------------------------------------------

    /// A die has nothing to do. If it stays so for long enough, it collects.
    pub(crate) fn on_die_idle(&mut self, flash: &mut Flash, die: DieId) {
        let ripe = flash.die(die).idle_since + self.collector.rules.idle_after;
        let at = match &self.measurer {
            _ if self.collector.wanting[die] || self.buffer.rewrites() > 0 => Some(ripe),
            Some(measurer) => Some(ripe.max(measurer.due(die))),
            None => self.next_look().map(|look| ripe.max(look)),
        };
        if let Some(at) = at {
            self.look_at_rest(flash, die, at.max(flash.now()));
        }
    }

    /// A die is looked at then, unless it is earlier. An event that comes later than is wanted is let pass when it
    /// comes.
    fn look_at_rest(&mut self, flash: &mut Flash, die: DieId, at: Nanos) {
        if at < self.collector.timed[die] {
            self.collector.timed[die] = at;
            flash.agenda.schedule(at, Phase::Decision, Event::Idle(die));
        }
    }

    /// A die may have been idle for long enough.
    pub fn idle_event(&mut self, flash: &mut Flash, die: DieId) {
        if self.collector.timed[die] != flash.now() {
            return; // An earlier one has been asked for since.
        }
        self.collector.timed[die] = Nanos::NEVER;
        if !flash.die(die).is_idle() {
            return; // It will rest again.
        }
        let ripe = flash.die(die).idle_since + self.collector.rules.idle_after;
        if ripe > flash.now() {
            return self.on_die_idle(flash, die);
        }
        self.collector.wanting[die] = false;
        self.look_at_ages(flash);
        for plane in self.layout.geometry.planes_of_die(die) {
            let short = self.space.blocks.free_in(plane) < self.collector.rules.background_below;
            match &mut self.collector.jobs[plane] {
                Some(job) if job.parked => {
                    job.parked = false;
                    self.step(flash, plane);
                }
                Some(_) => {}
                None => {
                    if !(short && self.start(flash, plane, false)) {
                        self.recycle_in_idle_time(flash, plane);
                    }
                }
            }
        }
        let idle = flash.die(die).is_idle();
        if idle && self.buffer.rewrites() > 0 && self.rewrite(flash, die) {
            return;
        }
        if !idle || self.measure(flash, die) {
            return;
        }
        // What could not be done now is not asked for again at once: whatever makes it possible says so.
        let due = self.measurer.as_ref().map(|its| its.due(die));
        let looks = [due, self.next_look()].into_iter().flatten();
        if let Some(at) = looks.min().filter(|&at| at > flash.now()) {
            self.look_at_rest(flash, die, at);
        }
    }
}
