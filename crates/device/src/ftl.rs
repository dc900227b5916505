//! The translation layer: what the flash array's pages mean. Host pages come in through [`crate::host::front_end`],
//! collections run in [`crate::gc::collection`]; here programs get their pages and transactions end.

use crate::blocks::page_allocator::PageAllocator;
use crate::cache::buffer::{Buffer, Frame, Listed};
use crate::cells::mode::Voltage;
use crate::config::layout::Layout;
use crate::config::{Ack, Config, PartialWrites, ReadHot, UnwrittenReads};
use crate::flash::txn::{Op, Owner, Source, Txn};
use crate::flash::{Bind, Flash, Translation};
use crate::gc::collection::Gc;
use crate::gc::refresh::Refresher;
use crate::gc::strength_measurement::StrengthMeasurement;
use crate::host::front_end::Resuming;
use crate::host::link::Link;
use crate::host::request::Requests;
use crate::host::write_throttle::WriteThrottle;
use crate::mapping::page_map::{Location, PageMap};
use crate::observe::blame::Part;
use crate::policy::hotness::Hotness;
use crate::policy::redundancy::CachePower;
use crate::power::PowerOffs;
use crate::raid::Array;
use fowler_units::{
    DieId, FrameId, HostIo, HostOp, Id, IdVec, Locator, Lpn, Nanos, ParityId, Ppn, ReqId, TxnId,
};
use std::collections::VecDeque;

/// The translation layer and what it keeps.
#[derive(Clone, Debug)]
pub struct Ftl {
    pub(crate) layout: Layout,
    pub(crate) locator: Locator,
    pub(crate) map: PageMap,
    pub(crate) space: PageAllocator,
    pub(crate) buffer: Buffer,
    pub(crate) hotness: Hotness,
    /// Whether pages that were read stay in the buffer, and what becomes of those that leave clean.
    pub(crate) cache_reads: bool,
    pub(crate) read_hot: ReadHot,
    /// Where a page is read by how it left the buffer: the voltages it is taken to be programmed at.
    pub(crate) marks: Option<IdVec<Lpn, Voltage>>,
    /// The die that is asked next whether it is idle enough to program anew.
    pub(crate) rewriter: DieId,
    /// Where strengths are measured.
    pub(crate) measurer: Option<StrengthMeasurement>,
    pub(crate) collector: Gc,
    /// What protects the data, if anything does.
    pub(crate) array: Option<Box<Array>>,
    /// Where blocks are recycled before their data fades.
    pub(crate) recycler: Option<Box<Refresher>>,
    pub(crate) requests: Requests,
    pub(crate) link: Link,
    /// Who holds writes, if anyone does.
    pub(crate) holder: Option<Box<WriteThrottle>>,
    pub(crate) ack: Ack,
    pub(crate) unwritten: UnwrittenReads,
    pub(crate) partial: PartialWrites,
    /// In idle time a block is collected only with at most so many valid pages: as many as the average
    /// block has. Less gain is better waited for; it grows by itself.
    pub(crate) worth_moving: u32,
    pub(crate) reads_max: u32,
    pub(crate) writes_max: u32,
    /// Host page reads in flight, and page writes on their way to the flash.
    pub(crate) reads: u32,
    pub(crate) writes: u32,
    /// Requests whose next page waits for room, in order.
    pub(crate) held_reads: VecDeque<ReqId>,
    pub(crate) held_writes: VecDeque<ReqId>,
    pub(crate) resuming: Resuming,
    /// Programs that no die has room for at the moment.
    pub(crate) unplaced: VecDeque<TxnId>,
    /// Flushes that wait, with the epoch they wait for, in order.
    pub(crate) flushes: VecDeque<(u32, ReqId)>,
    /// Pages moved at no time, by collection and by wear levelling.
    pub(crate) untimed_moves: [u64; 2],
    /// When that is; and whether blocks are levelled then.
    pub(crate) untimed_clock: Nanos,
    pub(crate) untimed_wear_leveling: bool,
    /// What becomes of caches without power, and what that has come to.
    pub(crate) cache_power: CachePower,
    pub(crate) power_offs: PowerOffs,
    /// Requests that the host has its answer to and the probe has not seen yet.
    pub(crate) completed: Vec<ReqId>,
}

/// Valid pages of the average block of a full drive, rounded down.
fn average_valid(layout: &Layout) -> u32 {
    let pages = u64::from(layout.mapped_pages);
    (pages / u64::from(layout.geometry.blocks())) as u32
}

impl Ftl {
    /// The layer of a fresh drive.
    pub fn new(config: &Config, layout: &Layout) -> Self {
        let map = PageMap::new(layout.mapped_pages, layout.geometry.pages());
        let space = PageAllocator::new(config, layout);
        Self::with(config, layout, map, space, Gc::new(config, layout))
    }

    /// The layer of a drive with data, blocks and collection as `other` has them.
    pub fn with_data_of(config: &Config, layout: &Layout, other: &Ftl) -> Self {
        let (map, space) = (other.map.clone(), other.space.ruled_by(config));
        let new = Self::with(config, layout, map, space, other.collector.clone());
        Self { untimed_moves: other.untimed_moves, ..new }
    }

    fn with(
        config: &Config,
        layout: &Layout,
        map: PageMap,
        space: PageAllocator,
        collector: Gc,
    ) -> Self {
        let (depth, writes) = (config.queue.depth as usize, config.queue.max_writes as usize);
        let page_size = layout.geometry.page_size.0;
        let locator = Locator::new(&layout.geometry);
        Self {
            layout: *layout,
            locator,
            map,
            space,
            buffer: Buffer::new(
                &config.buffer,
                &config.replacement,
                layout.slots,
                page_size,
                depth,
            ),
            hotness: Hotness::new(&config.hotness, layout.geometry.page_size)
                .or_handed(config.policies.hotness.as_ref()),
            cache_reads: config.buffer.cache_reads,
            read_hot: config.buffer.read_hot,
            marks: Self::marks(config, layout),
            rewriter: DieId(0),
            measurer: None,
            collector,
            array: Array::new(config, layout),
            recycler: None,
            requests: Requests::with_capacity(config.queue.depth, &locator),
            link: Link::new(config.host),
            holder: None,
            ack: config.buffer.ack,
            unwritten: config.unwritten_reads,
            partial: config.partial_writes,
            worth_moving: average_valid(layout),
            reads_max: config.queue.max_reads,
            writes_max: config.queue.max_writes,
            reads: 0,
            writes: 0,
            held_reads: VecDeque::with_capacity(depth),
            held_writes: VecDeque::with_capacity(depth),
            resuming: Resuming::No,
            unplaced: VecDeque::with_capacity(writes),
            flushes: VecDeque::with_capacity(depth),
            untimed_moves: [0; 2],
            untimed_clock: Nanos::ZERO,
            untimed_wear_leveling: false,
            cache_power: config.redundancy.cache,
            power_offs: PowerOffs::default(),
            completed: Vec::with_capacity(depth),
        }
    }

    /// A request will come in soon: where its first page is will be looked up.
    #[inline]
    pub(crate) fn prefetch(&self, io: &HostIo) {
        self.map.prefetch(self.locator.page_at(io.offset));
    }

    /// Nearer its turn: the page that a write outdates lies in a block whose record will change.
    #[inline]
    pub(crate) fn prefetch_outdated(&self, io: &HostIo) {
        if let Some(old) = self.outdated_by(io) {
            self.space.blocks.prefetch(old);
        }
    }

    /// Nearer still: the block will change its place among the plane's blocks.
    #[inline]
    pub(crate) fn prefetch_neighbours(&self, io: &HostIo) {
        if let Some(old) = self.outdated_by(io) {
            self.space.blocks.prefetch_neighbours(old);
        }
    }

    /// As [`Ftl::prefetch_outdated`], for a read where errors are modelled: the age of its page and the wear of its
    /// block will be asked for.
    #[inline]
    pub(crate) fn prefetch_condition(&self, io: &HostIo, flash: &Flash) {
        if let Some(condition) = flash.condition()
            && io.op == HostOp::Read
            && let Some(page) = self.place_of(io)
        {
            condition.prefetch(page, self.locator.block_of(page));
        }
    }

    #[inline]
    fn outdated_by(&self, io: &HostIo) -> Option<Ppn> {
        if io.op == HostOp::Write { self.place_of(io) } else { None }
    }

    /// Where the first page of a request lies in the flash.
    #[inline]
    fn place_of(&self, io: &HostIo) -> Option<Ppn> {
        self.in_flash(self.locator.page_at(io.offset))
    }

    /// Where a page lies in the flash, if the drive has such a page and it lies there.
    #[inline]
    pub(crate) fn in_flash(&self, page: Lpn) -> Option<Ppn> {
        match self.map.place_if_any(page) {
            Location::Flash(old) => Some(old),
            Location::Buffer(_) | Location::Nowhere => None,
        }
    }

    // --- Programs of buffered data ------------------------------------------------------------------

    /// Sends a frame's data on its way to the flash, by way of the old page if it holds only part of
    /// the new one.
    #[inline]
    pub(crate) fn send(&mut self, flash: &mut Flash, slot: FrameId, program: TxnId) {
        self.writes += 1;
        let whole = self.buffer.is_whole(slot);
        let frame = self.buffer.get_mut(slot);
        let old = frame.ppn;
        frame.queued = program;
        frame.submitted = false;
        if whole || !old.is_some() {
            self.proceed(flash, program);
        } else {
            let asked = flash.txns.get(program).asked;
            self.read_for_merge(flash, slot, old, asked);
        }
    }

    fn read_for_merge(&mut self, flash: &mut Flash, slot: FrameId, old: Ppn, asked: Nanos) {
        let die = self.locator.die_of(old);
        let class = crate::flash::queue::TxnClass::BackgroundRead;
        flash.counters.merge_reads += 1;
        let (id, read) = flash.open(Op::Read, Source::Host, class, Owner::Merge(slot), die);
        read.ppn = old;
        read.asked = asked;
        flash.submit(id);
    }

    pub(crate) fn merged(&mut self, flash: &mut Flash, read: TxnId, slot: FrameId) {
        flash.txns.close(read);
        self.buffer.make_whole(slot);
        let program = self.buffer.get(slot).queued;
        flash.txns.get_mut(program).complete = flash.now();
        self.proceed(flash, program);
    }

    pub(crate) fn try_to_place(&mut self, flash: &mut Flash, id: TxnId) {
        if self.unplaced.is_empty()
            && let Some(die) = self.die_for(flash, id)
        {
            self.place(flash, id, die);
        } else {
            self.unplaced.push_back(id);
        }
    }

    /// The die for a program of buffered data or of parity, if one has room.
    #[inline]
    fn die_for(&mut self, flash: &Flash, id: TxnId) -> Option<DieId> {
        let txn = flash.txns.get(id);
        debug_assert!(txn.owner != Owner::Job, "what collection moves stays on its die");
        let page = match txn.owner {
            Owner::Frame(slot) => self.buffer.get(slot).lpn,
            _ => txn.lpn,
        };
        self.space.place(page)
    }

    fn place(&mut self, flash: &mut Flash, id: TxnId, die: DieId) {
        let txn = flash.txns.get_mut(id);
        txn.die = die;
        if let Owner::Frame(slot) = txn.owner {
            self.buffer.get_mut(slot).submitted = true;
        }
        flash.submit(id);
    }

    /// Room may have appeared for programs that no die had room for.
    pub(crate) fn place_waiting(&mut self, flash: &mut Flash) {
        while let Some(&id) = self.unplaced.front() {
            let Some(die) = self.die_for(flash, id) else { return };
            self.unplaced.pop_front();
            self.place(flash, id, die);
        }
    }

    /// Gives the buffered page of `id` the physical page `ppn`; its old copy is outdated from now on.
    #[inline]
    fn take_page(&mut self, flash: &mut Flash, id: TxnId, slot: FrameId, ppn: Ppn) {
        let txn = flash.txns.get_mut(id);
        txn.ppn = ppn;
        txn.mode = self.space.frontiers.mode_of(self.locator.block_of(ppn));
        self.space.arrived(txn.die);
        let frame = self.buffer.get_mut(slot);
        let (lpn, old) = (frame.lpn, frame.ppn);
        frame.ppn = ppn;
        frame.queued = TxnId::NONE;
        frame.programs += 1;
        self.map.set_owner(ppn, lpn);
        let plane = self.locator.plane_of(ppn);
        self.collector.host_wrote(plane);
        self.bound(flash, id, lpn, old, ppn);
        self.maybe_start(flash, plane);
        if !self.unplaced.is_empty() {
            self.place_waiting(flash);
        }
    }

    /// A physical page's data is outdated, if there is such a page.
    #[inline]
    pub(crate) fn outdate(&mut self, flash: &mut Flash, old: Ppn) {
        if old.is_some() {
            self.space.blocks.invalidate(old);
            let plane = self.locator.plane_of(old);
            if self.collector.is_starved(plane) {
                self.maybe_start(flash, plane);
                let die = self.locator.die_of_plane(plane);
                if flash.die(die).is_idle() {
                    self.on_die_idle(flash, die);
                }
            }
        }
    }

    fn bind_slot(&mut self, flash: &mut Flash, id: TxnId, slot: FrameId) -> Bind {
        let Frame { orphan, lpn, .. } = *self.buffer.get(slot);
        if orphan || self.comes_too_late(flash, id, lpn) {
            return Bind::Dropped;
        }
        let Some(ppn) = self.host_page(flash, id) else { return Bind::Blocked };
        self.take_page(flash, id, slot, ppn);
        Bind::Bound
    }

    #[cold]
    fn bind_in_array(&mut self, flash: &mut Flash, id: TxnId, owner: Owner) -> Bind {
        match owner {
            Owner::Parity(entry) => self.bind_parity(flash, id, entry),
            Owner::DegradedRead(number) => self.bind_rescued(flash, id, number),
            owner => unreachable!("{owner:?} programs nothing"),
        }
    }

    fn bind_parity(&mut self, flash: &mut Flash, id: TxnId, entry: ParityId) -> Bind {
        if self.is_outdated(entry) {
            return Bind::Dropped;
        }
        let Some(ppn) = self.host_page(flash, id) else { return Bind::Blocked };
        self.take_parity_page(flash, id, entry, ppn);
        Bind::Bound
    }

    /// A page for a program that takes the place of host data, if its die can give one now.
    #[inline(always)]
    pub(crate) fn host_page(&mut self, flash: &mut Flash, id: TxnId) -> Option<Ppn> {
        let collector = &self.collector;
        let Txn { die, tag, .. } = *flash.txns.get(id);
        let page = self.space.host_page(die, tag, |plane| collector.job(plane));
        if page.is_none() {
            // A collection that gave way to the host must not wait for it now.
            for plane in self.layout.geometry.planes_of_die(die) {
                self.maybe_start(flash, plane);
            }
        }
        page
    }

    /// A program of buffered data has ended, or has nothing to program any more.
    fn stored(&mut self, flash: &mut Flash, id: TxnId, slot: FrameId, dropped: bool) {
        if !dropped {
            self.close_block(flash, flash.txns.get(id).ppn);
            if !self.parks(flash, id, slot) {
                self.settled(flash, id, slot);
            }
            return;
        }
        self.dropped(flash, id, slot);
    }

    #[cold]
    fn dropped(&mut self, flash: &mut Flash, id: TxnId, slot: FrameId) {
        let Frame { lpn, orphan, .. } = *self.buffer.get(slot);
        if !orphan {
            return self.begin_anew(flash, id, slot);
        }
        self.uncover(flash, id, lpn);
        self.buffer.get_mut(slot).queued = TxnId::NONE;
        self.space.arrived(flash.txns.get(id).die);
        self.concluded(flash, id, slot);
        self.place_waiting(flash);
    }

    /// Buffered data is in the flash, and protected as it should be.
    #[inline]
    pub(crate) fn settled(&mut self, flash: &mut Flash, id: TxnId, slot: FrameId) {
        self.buffer.get_mut(slot).programs -= 1;
        self.concluded(flash, id, slot);
    }

    fn concluded(&mut self, flash: &mut Flash, id: TxnId, slot: FrameId) {
        let epoch = flash.txns.get(id).epoch;
        self.buffer.settled(epoch);
        self.answer_writes(flash, id);
        self.retire(slot);
        self.flushed(flash);
        self.resume_writes(flash);
        self.evict(flash);
    }

    /// Everyone who waited for a program has it now.
    fn answer_writes(&mut self, flash: &mut Flash, id: TxnId) {
        self.answer_write(flash, id, id);
        let mut joined = flash.txns.get(id).joined;
        while joined.is_some() {
            let next = flash.txns.get(joined).next;
            self.answer_write(flash, id, joined);
            flash.txns.close(joined);
            joined = next;
        }
        flash.txns.close(id);
    }

    #[inline]
    fn answer_write(&mut self, flash: &mut Flash, id: TxnId, waiter: TxnId) {
        self.writes -= 1;
        let req = flash.txns.get(waiter).req;
        if req.is_some() && flash.txns.get(id).overtook {
            self.requests.get_mut(req).overtook = true;
        }
        if req.is_some() && self.requests.page_done(req) {
            self.blame_write(flash, id, waiter);
            self.served(flash, req);
        }
    }

    fn blame_write(&mut self, flash: &Flash, id: TxnId, waiter: TxnId) {
        let Txn { req, buffer_wait, created, submitted, .. } = *flash.txns.get(waiter);
        let ready = self.requests.get(req).ready;
        let blame = self.requests.blame_anew(req);
        blame[Part::BufferFull] = buffer_wait;
        blame[Part::QueueFull] = (created - ready) - buffer_wait;
        // One that joined later waited for less of the reading of the old page, or for none.
        let complete = flash.txns.get(id).complete.max(created);
        blame[Part::Merge] = complete - created;
        let for_parity = flash.parity_wait(id).min(submitted - complete);
        blame[Part::Parity] = for_parity;
        blame[Part::NoSpace] = (submitted - complete) - for_parity;
        flash.service_blame(id, waiter, blame);
    }

    /// Nothing more may be wanted of a frame.
    #[inline]
    pub(crate) fn retire(&mut self, id: FrameId) {
        let Frame { lpn, ppn, programs, queued, listed, orphan, .. } = *self.buffer.get(id);
        if programs > 0 || queued.is_some() {
            return;
        }
        if orphan {
            self.buffer.release(id);
        } else if listed == Listed::Dirty {
            self.buffer.stay(id);
        } else if self.buffer.retains(id) {
            self.buffer.enlist(id, Listed::Clean);
        } else {
            self.map.set_flash(lpn, ppn);
            self.buffer.release(id);
        }
    }

    /// The last page of a block has been programmed: it may be collected.
    #[inline]
    pub(crate) fn close_block(&mut self, flash: &mut Flash, ppn: Ppn) {
        if self.locator.offset_in_block(ppn) + 1 == self.layout.geometry.pages_per_block {
            let block = self.locator.block_of(ppn);
            self.space.blocks.fill(block, flash.now());
            self.filled(flash, block);
            self.maybe_start(flash, self.locator.plane_of(ppn));
        }
    }

    // --- Moves --------------------------------------------------------------------------------------

    fn bind_move(&mut self, flash: &mut Flash, id: TxnId) -> Bind {
        let Txn { from, lpn, source, .. } = *flash.txns.get(id);
        if !self.space.blocks.is_valid(from) {
            return Bind::Dropped;
        }
        let plane = self.locator.plane_of(from);
        let tag = self.space.frontiers.tag_of_survivors(self.locator.block_of(from));
        let to = self.space.write(plane, source, tag);
        self.map.set_owner(to, lpn);
        let mode = self.space.frontiers.mode_of(self.locator.block_of(to));
        let txn = flash.txns.get_mut(id);
        (txn.ppn, txn.mode) = (to, mode);
        Bind::Bound
    }

    /// A moved page is in its new place. Until now reads went to the old one, which is intact; if the
    /// host wrote the page meanwhile, the move was for nothing.
    fn moved(&mut self, flash: &mut Flash, id: TxnId, dropped: bool) {
        let Txn { from, ppn, lpn, .. } = *flash.txns.get(id);
        flash.txns.close(id);
        let plane = self.locator.plane_of(from);
        if !dropped {
            if self.space.blocks.is_valid(from) {
                self.space.blocks.invalidate(from);
                if self.array.is_some() {
                    self.relocated(flash, lpn, from, ppn);
                } else {
                    self.relocate(lpn, ppn);
                }
            } else {
                self.space.blocks.invalidate(ppn);
            }
            self.close_block(flash, ppn);
            // While both copies existed the plane looked fuller than it is.
            self.place_waiting(flash);
        }
        self.step(flash, plane);
    }

    pub(crate) fn relocate(&mut self, lpn: Lpn, to: Ppn) {
        match self.map.place(lpn) {
            Location::Flash(_) => self.map.set_flash(lpn, to),
            Location::Buffer(slot) => self.buffer.get_mut(slot).ppn = to,
            Location::Nowhere => unreachable!("a valid page has an owner"),
        }
    }
}

impl Translation for Ftl {
    fn bind(&mut self, flash: &mut Flash, id: TxnId) -> Bind {
        match flash.txns.get(id).owner {
            Owner::Frame(slot) => self.bind_slot(flash, id, slot),
            Owner::Job => self.bind_move(flash, id),
            owner => self.bind_in_array(flash, id, owner),
        }
    }

    fn bind_beside(&mut self, flash: &mut Flash, first: TxnId, id: TxnId) -> bool {
        let owner = flash.txns.get(id).owner;
        if let Owner::Frame(slot) = owner {
            let Frame { orphan, lpn, .. } = *self.buffer.get(slot);
            if orphan || self.comes_too_late(flash, id, lpn) {
                return false;
            }
        }
        if let Owner::Parity(entry) = owner
            && self.is_outdated(entry)
        {
            return false;
        }
        if let Owner::DegradedRead(number) = owner
            && !self.wants_rebuilt(number)
        {
            return false;
        }
        let Txn { ppn, die, .. } = *flash.txns.get(first);
        let mut used = 0;
        let mut member = first;
        while member.is_some() {
            let its = flash.txns.get(member);
            let plane = self.locator.plane_of(its.ppn);
            used |= 1u32 << (plane.0 % self.layout.geometry.planes_per_die);
            member = its.next;
        }
        let collector = &self.collector;
        let offset = self.locator.offset_in_block(ppn);
        let tag = flash.txns.get(id).tag;
        let page = self.space.host_page_at(die, tag, offset, used, |plane| collector.job(plane));
        let Some(page) = page else { return false };
        match owner {
            Owner::Frame(slot) => self.take_page(flash, id, slot, page),
            Owner::Parity(entry) => self.take_parity_page(flash, id, entry, page),
            Owner::DegradedRead(_) => self.occupy(flash, id, page),
            _ => unreachable!("{owner:?} is no program of the host's pages"),
        }
        true
    }

    fn done(&mut self, flash: &mut Flash, id: TxnId, dropped: bool) {
        if self.array.is_some() && self.done_in_array(flash, id, dropped) {
            return;
        }
        let txn = flash.txns.get(id);
        match (txn.owner, txn.op) {
            (Owner::Request, _) => self.page_read(flash, id),
            (Owner::Frame(slot), _) => self.stored(flash, id, slot, dropped),
            (Owner::Merge(slot), _) => self.merged(flash, id, slot),
            (Owner::Measure, _) => self.measured(flash, id),
            (Owner::Job, Op::Read) => self.copied_out(flash, id),
            (Owner::Job, Op::Program) => self.moved(flash, id, dropped),
            (Owner::Job, Op::Erase) => self.erased(flash, id),
            (Owner::Parity(_) | Owner::DegradedRead(_), _) => {
                unreachable!("the array has seen to it")
            }
            (Owner::Raw(_), _) => unreachable!("raw commands do not reach a drive"),
        }
    }

    fn idle(&mut self, flash: &mut Flash, die: DieId) {
        self.on_die_idle(flash, die);
    }
}
