//! A drive as built since about 2015: the map points at units of 4 KiB, several of which share a
//! flash page, and all pages of a word line are programmed at once. The drive opens, fills,
//! collects and erases whole *superblocks*: one block of every plane of every die.
//!
//! 1. A request takes its turn, and each of its units a frame of the write buffer. A write is
//!    answered when its last unit has one (`host.rs`).
//! 2. When the units of a stream fill a command, the command takes the next word line of the open
//!    superblock of the stream (`streams.rs`, `programs.rs`). A buffer that evicts lazily lets
//!    units join their stream only when room is needed (`residents.rs`).
//! 3. When the command has ended, the map points at its units, their old copies become invalid, and
//!    the frames are free.
//! 4. When too few superblocks are erased, the valid units of a victim are moved, a command at a
//!    time, and the victim is erased (`collection.rs`, `collection_jobs.rs`).
//!
//! **Owns** the map of units, the superblocks, the write buffer and the requests. **May touch** the
//! flash, which it receives as an argument. **Called by** the loop to admit a request, and by the
//! flash when a command ends. It is a second translation beside the page-mapped one
//! ([`crate::event_loop::controller::Controller`]); a drive has one or the other
//! ([`crate::config::ReclaimUnit`]). Dies, channels, die order and suspension are the same for
//! both.
//!
//! A write is acknowledged as soon as its data is in the write buffer, which survives a loss of
//! power unless `policy.redundancy.cache` says otherwise.
//!
//! - `shape.rs`: the number of units, pages and commands of a superblock, and the place of each.
//! - `map.rs`: the place of each unit, and the state of each superblock.
//! - `buffer.rs`: the frames of the write buffer. `residents.rs`, `eviction.rs`: those that
//!   stay until room is needed.
//! - `pace.rs`: the pace at which units enter the buffer.
//! - `host.rs`: reads, writes and trims. Those that wait stand in the line of every drive
//!   (`host/line.rs`).
//! - `commands.rs`, `programs.rs`: open superblocks, and the program commands that fill them.
//! - `passes.rs`, `second_passes.rs`: commands that are programmed in two passes.
//! - `streams.rs`: the data that shares superblocks.
//! - `collection.rs`: garbage collection, in step with the host. `top_up.rs`: the units that fill
//!   the last command of a superblock that gains little.
//! - `wear_leveling.rs`, `swaps.rs`: cold data that moves into worn superblocks.
//! - `slc_cache.rs`: superblocks in SLC mode, which the host's data goes to first.
//! - `aging.rs`, `read_errors.rs`: reads of old data, which are repeated at other references.
//! - `renewals.rs`, `refresh.rs`: superblocks that are moved although their space is not needed.
//! - `coverage.rs`, `stages.rs`: the superblocks that have parity, at each stage of life.
//!   `limits.rs`: the age and the reads at which superblocks are refreshed.
//! - `patrol.rs`, `scrubbing.rs`: pages read in the background. `stripe_comparisons.rs`: stripes
//!   compared with their parity there.
//! - `contents.rs`, `versions.rs`: the data in units, on a drive that notices losses.
//!   `faults.rs`, `power_loss.rs`: the effects of faults. `recoveries.rs`, `degraded_reads.rs`:
//!   reads that need the rest of a stripe. `flushes.rs`: flushes that wait. `census.rs`: a count
//!   of all that cannot be read.
//! - `bad_blocks.rs`, `failed_blocks.rs`: blocks that fail, and what the drive does about them.
//!   `gaps.rs`: the commands that a superblock lacks for them. `failing_parts.rs`: what a life
//!   without data needs to know of them.
//! - `failed_dies.rs`, `die_failures.rs`: dies that fail for good, and what the drive does about
//!   them. `returned_commands.rs`: the commands that come back from them. `read_only.rs`: a drive
//!   with too few dies. `repair_pace.rs`, `repairs.rs`: the rate of repair.
//! - `modes.rs`: the step and voltages at which superblocks are programmed, and their strengths.
//! - `untimed_requests.rs`, `saved_life.rs`: requests in no time, for a whole life, and the state
//!   in the middle of one.
//! - `filling.rs`: the state before the first request. `saved_state.rs`: that state as words.
//! - `refusals.rs`: the sizes of such a drive, and why a configuration of one cannot work.
//!   `aging_refusals.rs`, `stream_refusals.rs`: the reasons that concern its cells and its
//!   streams.
//! - `check.rs`: the laws of the drive.

mod aging;
mod aging_refusals;
#[cfg(test)]
mod aging_tests;
#[cfg(test)]
mod bad_block_tests;
mod bad_blocks;
mod buffer;
#[cfg(test)]
mod cases;
mod census;
mod check;
mod collection;
mod collection_jobs;
mod commands;
mod contents;
mod coverage;
#[cfg(test)]
mod coverage_tests;
mod degraded_reads;
mod die_failures;
#[cfg(test)]
mod erase_tests;
mod eviction;
mod failed_blocks;
#[cfg(test)]
mod failed_die_tests;
mod failed_dies;
mod failing_parts;
#[cfg(test)]
mod fault_tests;
mod faults;
mod filling;
mod flushes;
mod gaps;
#[cfg(test)]
mod golden_tests;
mod host;
mod limits;
mod map;
mod modes;
#[cfg(test)]
mod modes_tests;
mod no_effect;
mod pace;
mod passes;
#[cfg(test)]
mod passes_tests;
mod patrol;
mod power_loss;
mod programs;
mod read_errors;
mod read_only;
mod recoveries;
mod refresh;
mod refusals;
#[cfg(test)]
mod register_tests;
mod renewals;
mod repair_pace;
#[cfg(test)]
mod repair_pace_tests;
mod repairs;
mod residents;
#[cfg(test)]
mod residents_tests;
mod returned_commands;
mod saved_life;
mod saved_state;
#[cfg(test)]
mod scrub_tests;
mod scrubbing;
mod second_passes;
mod shape;
mod slc_cache;
#[cfg(test)]
mod slc_tests;
mod stages;
mod stream_refusals;
mod streams;
#[cfg(test)]
mod streams_tests;
mod stripe_comparisons;
mod swaps;
#[cfg(test)]
mod theory_tests;
mod top_up;
#[cfg(test)]
mod top_up_tests;
#[cfg(test)]
mod trim_tests;
#[cfg(test)]
mod units_tests;
mod untimed_requests;
#[cfg(test)]
mod untimed_tests;
mod versions;
mod wear_leveling;
#[cfg(test)]
mod wear_tests;

use crate::blocks::block_table::Blocks;
use crate::config::layout::{Layout, Refusal};
use crate::config::{Config, PartialWrites, UnwrittenReads};
use crate::event_loop::fault_schedule::FaultSchedule;
use crate::event_loop::power_offs::PowerOffs;
use crate::event_loop::{Device, Faulty, Layer};
use crate::flash::txn::{Owner, Txn};
use crate::flash::{Bind, Flash, Translation, Tries};
use crate::host::FrontEnd;
use crate::host::endurance::Totals;
use crate::host::write_throttle::{Throttleable, WriteThrottle};
use crate::observe::operation::Op;
use crate::policy::throttle::{State, Throttled};
use crate::policy::victim::AnyVictim;
use crate::precondition::{Preconditioned, Watch};
use crate::raid::Protection;
use aging::Aging;
use bad_blocks::BadBlocks;
use buffer::UnitBuffer;
use collection::Collector;
use commands::Commands;
use contents::Contents;
use coverage::Coverage;
use failed_dies::FailedDies;
use flushes::{Flushes, Survives};
use fowler_units::{
    BlockId, Bytes, DieId, Geometry, HostIo, Id, Locator, Nanos, RuId, Span, TxnId, UnitId,
};
use limits::Limits;
use map::Map;
use modes::Modes;
use pace::Pace;
use patrol::{PATROL, Patrol};
pub use read_errors::AgedReads;
use renewals::Renewals;
use repair_pace::RepairPace;
pub(crate) use saved_life::SavedLife;
use shape::{Shape, page_of};
use slc_cache::{HOST, SlcCache};
use streams::Streams;
use wear_leveling::WearLeveling;

/// Translation layer of a drive that maps data to superblocks.
#[derive(Clone, Debug)]
pub struct Superblocks {
    shape: Shape,
    /// Finds units from byte addresses: the pages of this locator are units.
    units: Locator,
    layout: Layout,
    front: FrontEnd,
    map: Map,
    buffer: UnitBuffer,
    pace: Pace,
    commands: Commands,
    streams: Streams,
    /// The policy that chooses the superblock to empty for its space.
    victim: AnyVictim,
    collector: Collector,
    slc: Option<Box<SlcCache>>,
    leveling: Option<Box<WearLeveling>>,
    aging: Option<Box<Aging>>,
    /// Superblocks that are due for a refresh.
    renewals: Renewals,
    /// The scrubbing of the drive, once it is at time zero; none if nothing is scrubbed.
    patrol: Option<Box<Patrol>>,
    /// The rules of parity; none on a drive without redundancy.
    coverage: Option<Box<Coverage>>,
    /// The blocks that fail; none on a drive on which none can.
    bad: Option<Box<BadBlocks>>,
    /// The dies that have failed, and the spare ones.
    dies: FailedDies,
    /// The pace of repair; none if it has no limit.
    repair_pace: Option<Box<RepairPace>>,
    /// The limits of age and of reads; none on a drive whose policy never refreshes.
    limits: Option<Box<Limits>>,
    modes: Option<Box<Modes>>,
    throttle: Option<Box<WriteThrottle>>,
    /// The data in the units of the flash; none on a drive that notices no losses.
    contents: Option<Box<Contents>>,
    /// The parts of the controller that survive a loss of power, and the flushes that wait for the
    /// rest.
    survives: Survives,
    flushes: Flushes,
    /// Faults at times known in advance, if there are any.
    faults: Option<Box<FaultSchedule>>,
    /// Totals over all spans without power: their number, duration and effects.
    power_offs: PowerOffs,
    rules: Rules,
    preconditioned: Preconditioned,
}

/// The rules for writes of part of a unit, and for reads of units that were never written.
#[derive(Clone, Copy, Debug)]
struct Rules {
    partial: PartialWrites,
    unwritten: UnwrittenReads,
}

impl Superblocks {
    /// Creates the translation of `config`, preconditioned; none if `watch` stopped that.
    ///
    /// # Errors
    /// Every reason why the configuration cannot work.
    ///
    /// # Panics
    /// If the drive of `config` has no superblocks.
    pub fn preconditioned_for(
        config: &Config,
        watch: Watch<'_>,
    ) -> Result<Option<Superblocks>, Vec<Refusal>> {
        assert!(config.ftl.has_superblocks(), "another kind of drive");
        config.layout()?;
        let mut layer = Superblocks::empty(config);
        let Some(done) = filling::fill(&mut layer, config, watch) else { return Ok(None) };
        layer.preconditioned = done;
        Ok(Some(layer))
    }

    /// Returns the translation of `config` with the data of this translation, which has served no
    /// request.
    ///
    /// # Errors
    /// Every reason why the configuration cannot work.
    ///
    /// # Panics
    /// If preconditioning places data otherwise under `config`.
    pub fn with_data_for(&self, config: &Config) -> Result<Superblocks, Vec<Refusal>> {
        let layout = config.layout()?;
        assert_eq!(layout.logical_pages, self.map.logical(), "the image of another drive");
        let mut layer = Superblocks {
            map: self.map.clone(),
            victim: self.victim.clone(),
            coverage: self.coverage.clone(),
            renewals: self.renewals.clone(),
            ..Superblocks::empty(config)
        };
        for (from, to) in self.streams.of_filling().into_iter().zip(layer.streams.of_filling()) {
            layer.commands.set_open(to, self.commands.open_of(from));
        }
        if let (Some(aging), Some(filled)) = (&mut layer.aging, &self.aging) {
            aging.filled_as(filled, &layer.map);
        }
        layer.preconditioned = self.preconditioned;
        Ok(layer)
    }

    /// Creates the translation layer of a drive that holds no data.
    fn empty(config: &Config) -> Superblocks {
        let shape = Shape::new(config);
        let layout = config.superblock_sizes();
        let streams = Streams::new(config, shape.superblocks);
        let (count, moved) = (streams.count(), streams.kept());
        let collector = Collector::new(config, &shape, streams.moved());
        let units = Locator::new(&Geometry { page_size: config.unit(), ..layout.geometry });
        Superblocks {
            shape,
            layout,
            front: FrontEnd::new(config, &units),
            units,
            map: Map::new(&shape, layout.logical_pages, config.slc.fixed, config.parity_varies()),
            buffer: UnitBuffer::new(config, &shape, layout.frames, count),
            pace: Pace::new(&config.buffer, layout.frames),
            commands: Commands::new(&config.flash, &shape, layout.frames, moved),
            victim: AnyVictim::bounded_or_new(
                config.policies.victim.as_ref(),
                &config.victim,
                config.seed,
            ),
            collector,
            streams,
            leveling: WearLeveling::new(config).map(Box::new),
            slc: SlcCache::new(&config.slc, &shape).map(Box::new),
            aging: Aging::new(config, &shape).map(Box::new),
            renewals: Renewals::new(shape.superblocks),
            patrol: None,
            coverage: Coverage::new(config, &shape).map(Box::new),
            limits: Limits::new(config, &shape).map(Box::new),
            bad: None,
            dies: FailedDies::new(config, &shape),
            repair_pace: RepairPace::new(config).map(Box::new),
            modes: None,
            throttle: None,
            contents: None,
            survives: Survives::new(config),
            flushes: Flushes::new(!Survives::new(config).all()),
            faults: None,
            power_offs: PowerOffs::default(),
            rules: Rules { partial: config.partial_writes, unwritten: config.unwritten_reads },
            preconditioned: Preconditioned::none(config.precondition.pattern),
        }
    }

    /// Returns the memory that the translation of such a drive takes.
    pub(crate) fn bytes(config: &Config) -> Bytes {
        let shape = Shape::new(config);
        let layout = config.superblock_sizes();
        Map::bytes(&shape, layout.logical_pages)
            + UnitBuffer::bytes(config, layout.frames, config.stream_limits().streams)
            + Commands::bytes(&config.flash, &shape, layout.frames, config.moved_superblocks())
            + Streams::bytes(config, shape.superblocks)
            + SlcCache::bytes(&config.slc, &shape)
            + Aging::bytes(config, &shape)
            + Coverage::bytes(config, &shape)
            + BadBlocks::bytes(config, &shape)
            + FailedDies::bytes(config, &shape)
            + Limits::bytes(config, &shape)
            + Patrol::bytes(config, &shape)
            + Modes::bytes(config, &shape)
            + Contents::bytes(config, &shape, &layout)
    }

    /// Returns the history of the drive before the first request.
    pub fn preconditioned(&self) -> &Preconditioned {
        &self.preconditioned
    }

    /// Returns the sizes of the drive (logical and mapped units, write buffer frames, reserve).
    pub(crate) fn sizes(&self) -> &Layout {
        &self.layout
    }

    /// Returns the locator that finds the mapping units of byte addresses.
    pub(crate) fn unit_locator(&self) -> &Locator {
        &self.units
    }

    /// Returns the superblocks.
    pub(crate) fn blocks(&self) -> &Blocks {
        self.map.blocks()
    }

    /// Returns how often each superblock has been erased, preconditioning included.
    pub fn erase_counts(&self) -> &[u32] {
        self.map.erases()
    }
}

impl Device<Superblocks> {
    /// Returns the present protection of the data; `None` on a drive without redundancy.
    pub fn protection(&self) -> Option<Protection> {
        self.layer.protection()
    }

    /// Creates a preconditioned drive at time zero; none if `watch` stopped it.
    ///
    /// # Errors
    /// Every reason why the configuration cannot work.
    ///
    /// # Panics
    /// If the drive of `config` has no superblocks.
    pub fn with_superblocks(
        config: &Config,
        watch: Watch<'_>,
    ) -> Result<Option<Device<Superblocks>>, Vec<Refusal>> {
        let layer = Superblocks::preconditioned_for(config, watch)?;
        Ok(layer.map(|layer| Device::over(config, layer)))
    }

    /// Creates the drive of `config` at time zero over its translation.
    pub fn over(config: &Config, mut layer: Superblocks) -> Device<Superblocks> {
        layer.throttle = WriteThrottle::of(config, layer.map.blocks());
        let Layout { geometry, transactions, .. } = layer.layout;
        let mut flash = Flash::new(config, geometry, transactions);
        layer.streams.class_filled(&layer.map, config.precondition.access_class);
        let data = (&layer.map, &layer.streams);
        layer.modes = Modes::new(config, &layer.shape, data, &mut flash).map(Box::new);
        layer.count_open_anew();
        layer.begin_limits(&mut flash);
        layer.contents = Contents::new(config, &layer.shape).map(Box::new);
        layer.begin_contents();
        layer.let_blocks_fail(config);
        layer.begin_patrol(&mut flash, Patrol::new(config, &layer.shape));
        Device::on(flash, layer)
    }

    /// Returns the state of the throttle and the life left to the drive; `None` without a throttle.
    pub fn life(&self) -> Option<(State, Totals)> {
        let (blocks, now) = (self.layer.map.blocks(), self.now());
        self.layer.throttle.as_ref().map(|throttle| throttle.state(blocks, now))
    }

    /// Returns the superblock translation layer of the drive.
    pub fn superblocks(&self) -> &Superblocks {
        &self.layer
    }
}

impl Translation for Superblocks {
    const PACKED: bool = true;

    /// The pages of a command are known when it is submitted: superblocks are filled in order.
    fn bind(&mut self, _flash: &mut Flash, _id: TxnId) -> Bind {
        Bind::Bound
    }

    fn bind_beside(&mut self, _flash: &mut Flash, _first: TxnId, _id: TxnId) -> bool {
        false
    }

    fn rest_of(&self, first: &Txn) -> TxnId {
        match first.owner {
            Owner::Command(number) => self.commands.rest_of(number),
            Owner::FirstPass(number) => self.commands.rest_of_first_pass(number),
            _ => TxnId::NONE,
        }
    }

    fn tries(&mut self, page: UnitId, now: Nanos) -> Tries {
        self.aged_tries(page_of(page), now)
    }

    fn cannot_fail(&self, unit: UnitId) -> bool {
        let failed = self.contents.as_ref().is_some_and(|contents| !contents.reads(unit));
        // A read of a unit never written senses any unit of the drive.
        failed || !self.is_programmed(unit) || self.at_hand().binary_search(&unit).is_ok()
    }

    fn done(&mut self, flash: &mut Flash, id: TxnId, _dropped: bool) {
        match flash.txns.get(id).owner {
            Owner::Command(number) => {
                flash.txns.close(id);
                if self.commands.page_done(number) {
                    self.command_done(flash, number);
                }
            }
            Owner::FirstPass(number) => {
                flash.txns.close(id);
                if self.commands.first_pass_page_done(number) {
                    self.first_pass_done(flash, number);
                }
            }
            Owner::Superblock(number) => {
                flash.txns.close(id);
                self.erased_one(flash, number);
            }
            owner => unreachable!("{owner:?} owns no program or erase of this drive"),
        }
    }

    fn read_done(&mut self, flash: &mut Flash, id: TxnId) {
        let txn = flash.txns.get(id);
        if txn.level | txn.first_level > 0 && self.aging.is_some() {
            return self.read_by_age(flash, id);
        }
        self.end_read(flash, id);
    }

    fn handed_back(&mut self, flash: &mut Flash, id: TxnId) {
        self.take_back(flash, id);
    }

    fn idle(&mut self, _flash: &mut Flash, _die: DieId) {}

    fn erase_pulse(&self, block: BlockId) -> Option<Span> {
        let coverage = self.coverage.as_ref()?;
        let superblock = RuId(block.0 % self.shape.superblocks);
        coverage.erase_pulse(superblock, self.map.erases()[superblock.index()])
    }
}

impl Layer for Superblocks {
    fn front(&self) -> &FrontEnd {
        &self.front
    }

    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn front_mut(&mut self) -> &mut FrontEnd {
        &mut self.front
    }

    fn admit(&mut self, flash: &mut Flash, io: HostIo, ready: Nanos, throttled: Span) {
        self.admit_request(flash, io, ready, throttled);
    }

    #[inline]
    fn may_delay_writes(&self) -> bool {
        self.throttle.is_some()
    }

    fn delay(&mut self, flash: &mut Flash, io: &HostIo, now: Nanos) -> Throttled {
        let Some(throttle) = &mut self.throttle else { return Throttled::default() };
        let (blocks, frames) = (self.map.blocks(), self.layout.frames);
        throttle.delay(Throttleable { locator: &self.units, blocks, frames }, flash, io, now)
    }

    /// The next step of scrubbing is due, or the host may have been idle for long enough to empty
    /// the SLC cache: nothing here is done when a die is idle.
    fn idle_event(&mut self, flash: &mut Flash, which: DieId) {
        match which {
            PATROL => self.patrol_event(flash),
            HOST | DieId(_) => self.host_may_be_idle(flash),
        }
    }

    /// Handles the deadline at which some data may have reached its limit of age.
    fn deadline_event(&mut self, flash: &mut Flash) {
        self.check_limits(flash);
    }

    fn fault_event(&mut self, flash: &mut Flash) {
        self.strike_next(flash);
    }

    /// Handles the moment at which the pace of the write buffer admits the next unit, or that of
    /// repair the next page; or at which the drive has just become read-only, or erases a
    /// superblock of which no die is left.
    fn paced_event(&mut self, flash: &mut Flash) {
        if self.is_read_only() {
            self.refuse_waiting(flash);
        }
        self.end_erases_of_none(flash);
        if self.repair_pace.is_some() {
            self.collect(flash);
        }
        self.resume(flash);
    }

    #[inline]
    fn prefetch(&self, io: &HostIo) {
        self.map.prefetch(self.units.page_at(io.offset));
    }
}

impl Superblocks {
    /// Handles the end of a flash read.
    #[inline]
    fn end_read(&mut self, flash: &mut Flash, id: TxnId) {
        if self.limits.is_some() {
            self.count_read(flash, id);
        }
        if self.contents.is_some() && self.waits_for_recovery(flash, id) {
            return;
        }
        match flash.txns.get(id).owner {
            Owner::Request => self.host_read_done(flash, id),
            Owner::Merge(frame) => self.merged(flash, id, frame),
            Owner::Superblock(number) => self.copied_out(flash, id, number),
            owner => self.end_rare_read(flash, id, owner),
        }
    }
}

impl Superblocks {
    /// Handles the end of a flash read for the recovery of another page or for scrubbing.
    #[cold]
    fn end_rare_read(&mut self, flash: &mut Flash, id: TxnId, owner: Owner) {
        match owner {
            Owner::DegradedRead(number) => self.member_read(flash, id, number),
            Owner::Scrub => self.scrubbed(flash, id),
            Owner::StripeCheck(_) => self.page_compared(flash, id),
            owner => unreachable!("{owner:?} owns no read of this drive"),
        }
    }
}

/// Submits a read of `parts` units of a flash page.
fn submit_read(flash: &mut Flash, id: TxnId, parts: u32) {
    let txn = flash.txns.get_mut(id);
    debug_assert_eq!(txn.op, Op::Read);
    txn.parts = parts as u8;
    flash.submit(id);
}
