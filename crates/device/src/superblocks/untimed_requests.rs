//! Requests in no simulated time, for simulating a whole life: the same map, buffer, streams,
//! victims, pace of collection, padding, SLC cache and refresh as in a run. Each program command,
//! read and erase ends at the moment at which it is submitted, so no die and no event is involved.
//!
//! 1. If the host was idle for long enough before the request, the SLC cache is emptied
//!    ([`Superblocks::serve_now`]).
//! 2. Each unit of a write takes a frame; each unit of a trim leaves the map; a read only counts
//!    towards refresh.
//! 3. When the units of a stream fill a command, it is programmed at once, and its frames are free.
//! 4. Collection then moves as many units as the pace allows: each goes straight to the next place
//!    of the command that its stream has begun ([`super::collection::Collector::begun`]); a run
//!    copies them into memory first. A superblock whose valid units have all been moved is erased
//!    at once.
//! 5. When no superblock is being emptied, the rest of a command that has been begun is padded, or
//!    filled with units of the next emptiest superblock ([`super::top_up`]), by the rule of a run.
//! 6. Superblocks that have become due are refreshed.
//!
//! The write buffer holds what does not fill a command yet. A rewrite of such a unit is absorbed,
//! as in a run; one of a unit whose program would still be on its way there is not.

use super::Superblocks;
use super::collection::EmptyingJob;
use super::commands::{Open, Stream};
use super::map::Emptied;
use crate::config::{Config, PartialWrites};
use crate::host::request::Request;
use crate::mapping::page_map::Location;
use crate::observe::counters::Counters;
use crate::observe::operation::Source;
use crate::policy::placement::StreamId;
use crate::policy::stream_tag::StreamTag;
use fowler_units::{HostIo, HostOp, Id, Lpn, Nanos, RuId, Span, UnitId};

impl Superblocks {
    /// Returns true if a life of this drive depends on its reads: they show how far data has aged,
    /// or they end the pauses in which the SLC cache is emptied.
    pub(crate) fn hears_reads(&self) -> bool {
        self.slc.is_some()
            || self.limits.is_some()
            || self.aging.as_ref().is_some_and(|aging| aging.refreshes())
    }

    /// Begins a life of the drive of `config` at time zero, in which each erase stands for
    /// `lifetime.dilation` erases.
    pub(crate) fn begin_life(&mut self, config: &Config) {
        let dilation = config.life.dilation;
        self.let_blocks_fail(config);
        if let Some(aging) = &mut self.aging {
            aging.begin_life(dilation, &self.map);
        }
        if let Some(coverage) = &mut self.coverage {
            coverage.begin_life(dilation, self.map.erases());
            if let Some(limits) = &mut self.limits {
                let erases = self.map.erases();
                limits.filled(&self.map, |it| coverage.cycles_of(it, erases[it.index()]));
                limits.check_at = Nanos::ZERO;
            }
        }
        if let Some(leveling) = &mut self.leveling {
            leveling.begin_life(dilation);
        }
    }

    /// Serves a request at `now`, in no simulated time, after the host has been idle for `pause`.
    #[inline]
    pub(crate) fn serve_now(
        &mut self,
        io: &HostIo,
        (now, pause): (Nanos, Span),
        counters: &mut Counters,
    ) {
        if self.slc.is_some() {
            self.rest_now(pause, now, counters);
        }
        let request = Request::new(*io, now, &self.units);
        match io.op {
            HostOp::Write => self.write_now(&request, now, counters),
            HostOp::Trim => self.trim_now(&request, counters),
            HostOp::Read => self.read_now(&request, now),
            HostOp::Flush => {}
        }
        if self.limits.as_ref().is_some_and(|limits| now >= limits.check_at) {
            self.check_limits_at(now);
        }
        if !self.renewals.due.is_empty() {
            self.collect_now(now, counters);
        }
    }

    fn write_now(&mut self, request: &Request, now: Nanos, counters: &mut Counters) {
        let Request { io, next, end, pages, .. } = *request;
        let tag = match self.streams.count() {
            1 => StreamTag::PLAIN,
            _ => self.streams.tag_of_write(pages, io.placement),
        };
        let stream = self.streams.of(tag);
        let whole = request.covers_whole_pages(&self.units);
        for page in (next..end).map(Lpn) {
            let place = self.map.place(page);
            if let Location::Buffer(frame) = place
                && self.buffer.overwrite(frame, (stream, tag))
            {
                counters.buffer_write_hits += 1;
                continue;
            }
            let copy = match place {
                Location::Nowhere => UnitId::NONE,
                Location::Flash(unit) => unit,
                Location::Buffer(old) => self.buffer.unit(old),
            };
            let frame = self.buffer.take(page, copy, (stream, tag));
            let frame = frame.expect("programs take no time");
            if let Location::Buffer(old) = place {
                self.buffer.give_up(old);
            }
            self.map.buffer(page, frame);
            self.buffer.complete(frame);
            if let Location::Flash(unit) = place
                && !(whole || self.covers(request, page))
                && self.rules.partial == PartialWrites::ReadModifyWrite
            {
                counters.merge_reads += 1;
                self.read_unit_now(unit, now);
            }
            if self.buffer.waiting(stream) >= self.shape.least_units {
                self.drain_now(now, counters);
            }
        }
    }

    /// Returns true if a request covers all of a unit.
    fn covers(&self, request: &Request, page: Lpn) -> bool {
        let size = self.units.page_size();
        request.within(page, size) == (0, size)
    }

    fn trim_now(&mut self, request: &Request, counters: &mut Counters) {
        for page in (request.next..request.end).map(Lpn) {
            let copy = match self.map.place(page) {
                Location::Nowhere => continue,
                Location::Buffer(frame) => {
                    let copy = self.buffer.unit(frame);
                    self.buffer.give_up(frame);
                    copy
                }
                Location::Flash(unit) => unit,
            };
            self.map.leave(page, copy);
            counters.pages_trimmed += 1;
        }
    }

    fn read_now(&mut self, request: &Request, now: Nanos) {
        for page in (request.next..request.end).map(Lpn) {
            if let Location::Flash(unit) = self.map.place(page) {
                self.read_unit_now(unit, now);
            }
        }
    }

    /// Counts the read of a unit of the flash, whose superblock may become due for a refresh.
    fn read_unit_now(&mut self, unit: UnitId, now: Nanos) {
        if self.aging.is_none() && self.limits.is_none() {
            return;
        }
        let (_, page) = self.shape.place(unit);
        self.count_read_of(page);
        let Some(aging) = &mut self.aging else { return };
        let victim = self.collector.victim().map(|(victim, _)| victim);
        aging.read_now((&self.map, &mut self.renewals), victim, page, now);
    }

    /// Programs units that wait in the buffer, a whole command at a time.
    fn drain_now(&mut self, now: Nanos, counters: &mut Counters) {
        loop {
            while self.program_now(now, counters) {}
            // The host waits for a superblock: collection goes on without it.
            let waits = self
                .streams
                .of_host()
                .any(|queue| self.buffer.waiting(queue) >= self.shape.least_units);
            if !(waits && self.host_lacks_superblock() && self.collect_now(now, counters)) {
                return;
            }
        }
    }

    /// Programs the next command of host data that waits in the write buffer. Returns false if too
    /// little data waits, or if no superblock can take the command.
    fn program_now(&mut self, now: Nanos, counters: &mut Counters) -> bool {
        let Some((queue, stream, units)) = self.next_to_program() else { return false };
        let Some(open) = self.position_now(stream, Superblocks::tag_to_open, now, counters) else {
            return false;
        };
        let first = match stream {
            Stream::Slc => self.shape.slc_unit_of_command(open.superblock, open.command),
            _ => self.shape.unit_of_command(open.superblock, open.command),
        };
        self.take_now(stream, open);
        for unit in first.run(units) {
            let frame = self.buffer.next(queue).expect("counted");
            let page = self.buffer.page(frame);
            debug_assert!(self.map.is_in(page, frame), "no program is on its way");
            self.map.settle(page, self.buffer.unit(frame), (unit, open.superblock));
            self.buffer.release(frame);
        }
        counters.programs[Source::Host] += u64::from(units);
        if stream == Stream::Slc {
            counters.slc.cached += u64::from(units);
        }
        self.collector.host_wrote(units);
        self.land(open.superblock, now);
        self.collect_now(now, counters);
        true
    }

    /// Assigns the next command of a stream to the next place in its open superblock. The command
    /// counts as in flight until [`Superblocks::land`] records the end of its program.
    fn take_now(&mut self, stream: Stream, open: Open) {
        self.map.departed(open.superblock);
        self.advance(stream, open);
    }

    /// Returns where the next command of a stream that stores data goes, after the parity that is
    /// due before it. `None` if that needs a superblock, and there is none to take.
    fn position_now(
        &mut self,
        stream: Stream,
        tag_of_first: impl Fn(&Superblocks, Stream) -> StreamTag,
        now: Nanos,
        counters: &mut Counters,
    ) -> Option<Open> {
        loop {
            let Some(open) = self.commands.open_of(stream) else {
                self.open_for(stream, &tag_of_first, now)?;
                continue;
            };
            if !self.is_parity(open.superblock, open.command) {
                if self.program_fails(stream, open, now) {
                    self.pass_over(stream, open, now);
                    continue;
                }
                return Some(open);
            }
            let slc = stream == Stream::Slc;
            let units = if slc { self.shape.slc_units } else { self.shape.units_per_command };
            counters.programs[Source::Parity] += u64::from(units);
            self.take_now(stream, open);
            self.land(open.superblock, now);
        }
    }

    /// Continues garbage collection, folding and refresh as far as the pace of the host allows.
    /// Returns true if a superblock was or is being emptied.
    fn collect_now(&mut self, now: Nanos, counters: &mut Counters) -> bool {
        let mut empties = false;
        while self.collector.job.is_some() || self.begin_job(now, counters) {
            empties = true;
            if !self.empty_now(now, counters) {
                break;
            }
        }
        if self.collector.job.is_none() {
            for at in 0..self.streams.moved().len() {
                let stream = self.streams.moved()[at];
                self.end_command_now(stream, now, counters);
            }
        }
        empties
    }

    /// Moves valid units of the superblock being emptied in no simulated time, without getting
    /// ahead of the host's writes by more than allowed. Returns true if all have been moved and the
    /// superblock is erased.
    fn empty_now(&mut self, now: Nanos, counters: &mut Counters) -> bool {
        let Some(mut job) = self.collector.job else { return false };
        let page = self.shape.units_per_page;
        let urgent = self.is_urgent();
        while job.next < job.end {
            if !(urgent || job.keeps_step()) {
                self.collector.job = Some(job);
                return false;
            }
            let moved = self.move_page_now(&job, page, now, counters);
            job.moved += i64::from(moved);
            job.next = job.next.plus(page);
        }
        self.collector.job = None;
        self.collector.carry(&job);
        self.erase_now(job.victim, now, counters);
        true
    }

    /// Moves the valid units of the next flash page of the superblock being emptied. Returns their
    /// number.
    fn move_page_now(
        &mut self,
        job: &EmptyingJob,
        page: u32,
        now: Nanos,
        counters: &mut Counters,
    ) -> u32 {
        let EmptyingJob { victim, next, into, .. } = *job;
        let which = self.map.valid_among(next, page);
        if which != 0 {
            self.prefetch_moves(next.plus(8 * page), page);
            self.count_emptied(counters, victim, which.count_ones());
            self.move_units_now((victim, next, which), into, now, counters);
        }
        which.count_ones()
    }

    /// Prefetches the map entries of the host units in a page of the flash, whose first unit is
    /// `first`, into the cache of the simulating machine.
    #[inline]
    fn prefetch_moves(&self, first: UnitId, count: u32) {
        for unit in first.run(count) {
            self.map.prefetch_owner(unit);
        }
    }

    /// Moves units of a page of a superblock, those of the bits of `which`, into a stream.
    fn move_units_now(
        &mut self,
        (superblock, first, mut which): (RuId, UnitId, u32),
        into: StreamId,
        now: Nanos,
        counters: &mut Counters,
    ) {
        while which != 0 {
            let from = first.plus(which.trailing_zeros());
            which &= which - 1;
            let to = self.place_of_moved(superblock, into, now, counters);
            let page = self.map.valid_owner(from).expect("a valid unit");
            let places = [(from, superblock), (to, self.shape.superblock_of(to))];
            if let Some(frame) = self.map.relocate(page, places) {
                self.buffer.set_unit(frame, to);
            }
            if self.collector.left_of_command(into) == 0 {
                self.land_command(into, now);
            }
        }
    }

    /// Returns the new location of the next unit that is moved out of the superblock `from` into a
    /// stream: the next free unit of the program command that the stream is filling.
    #[inline]
    fn place_of_moved(
        &mut self,
        from: RuId,
        into: StreamId,
        now: Nanos,
        counters: &mut Counters,
    ) -> UnitId {
        let (next, end) = match self.collector.begun[into.index()] {
            Some(begun) => begun,
            None => self.begin_command_now(from, into, now, counters),
        };
        self.collector.begun[into.index()] = Some((next.plus(1), end));
        next
    }

    /// Begins a program command of moved units, the first of which come from the superblock `from`.
    /// Returns the number of the command's first unit, and the unit number after its last.
    fn begin_command_now(
        &mut self,
        from: RuId,
        into: StreamId,
        now: Nanos,
        counters: &mut Counters,
    ) -> (UnitId, UnitId) {
        let stream = Stream::Moved(into);
        let tag = |drive: &Superblocks, _| drive.streams.tag_of_survivors(from);
        let open = self.position_now(stream, tag, now, counters);
        let open = open.expect("no more units are moved than fit");
        let units = self.shape.units_per_command;
        counters.programs[self.source_of(from)] += u64::from(units);
        self.take_now(stream, open);
        let first = self.shape.unit_of_command(open.superblock, open.command);
        (first, first.plus(units))
    }

    /// Ends the command that a stream of moved units has begun.
    fn land_command(&mut self, into: StreamId, now: Nanos) {
        if let Some((_, end)) = self.collector.begun[into.index()].take() {
            self.land(self.shape.superblock_of(UnitId(end.0 - 1)), now);
        }
    }

    /// Ends an incomplete program command of moved units, because no more will come, and pads the
    /// places left. If the superblock just emptied gained little space, units of the superblocks
    /// with the fewest valid ones fill these places first ([`super::top_up`]).
    fn end_command_now(&mut self, stream: StreamId, now: Nanos, counters: &mut Counters) {
        while self.collector.gained_little && self.collector.left_of_command(stream) > 0 {
            let emptiest = self.map.emptiest().filter(|&(_, valid)| valid > 0);
            let Some((superblock, _)) = emptiest else { break };
            if self.streams.of_survivors(superblock) != stream {
                break;
            }
            self.lend_now(superblock, stream, now, counters);
        }
        self.land_command(stream, now);
    }

    /// Moves some units of a superblock, which is not erased, into the places that are left in the
    /// program command of a stream.
    fn lend_now(&mut self, superblock: RuId, into: StreamId, now: Nanos, counters: &mut Counters) {
        self.map.empty(superblock);
        let page = self.shape.units_per_page;
        let first = self.shape.first_unit(superblock);
        for at in (0..self.shape.units).step_by(page as usize) {
            let places = self.collector.left_of_command(into);
            if places == 0 {
                break;
            }
            let first = first.plus(at);
            let mut which = self.map.valid_among(first, page);
            while which.count_ones() > places {
                which ^= 1 << which.ilog2();
            }
            self.count_emptied(counters, superblock, which.count_ones());
            self.collector.carried += i64::from(which.count_ones());
            self.move_units_now((superblock, first, which), into, now, counters);
        }
        self.map.give_back(superblock);
    }

    /// Erases a superblock whose units have all been moved.
    fn erase_now(&mut self, superblock: RuId, now: Nanos, counters: &mut Counters) {
        self.map.set_emptied(superblock, Emptied::Drained);
        counters.erases[self.source_of(superblock)] += u64::from(self.dies_of(superblock));
        if self.slc.is_some() {
            self.erased_in_cache(counters, superblock);
        }
        if !self.map.is_aside(superblock) {
            self.collector.leaving -= 1;
        }
        let refreshed = self.is_refreshed(superblock);
        self.renewals.erased(superblock);
        let retired = self.end_erase(superblock, now);
        self.erased_of_coverage(superblock, now);
        self.erased_by_wear(superblock, refreshed || retired);
    }

    /// Handles idle time of the host, `pause` long, in no simulated time: if `pause` is at least
    /// `slc.fold_after`, the SLC cache is emptied.
    fn rest_now(&mut self, pause: Span, now: Nanos, counters: &mut Counters) {
        let begins = |cache: &mut super::slc_cache::SlcCache| cache.begin_pause(pause, now);
        if !self.slc.as_deref_mut().is_some_and(begins) {
            return;
        }
        self.collect_now(now, counters);
        if let Some(cache) = self.slc.as_deref_mut() {
            cache.end_pause();
        }
    }

    /// Prefetches the map entry of a host unit into the cache of the simulating machine.
    #[inline]
    pub(crate) fn prefetch_unit(&self, page: Lpn) {
        self.map.prefetch(page);
    }

    /// Prefetches the entries of the superblock table that a write of a host unit changes, as its
    /// old copy becomes invalid, into the cache of the simulating machine.
    #[inline]
    pub(crate) fn prefetch_old(&self, page: Lpn) {
        if let Location::Flash(unit) = self.map.place(page) {
            self.map.blocks().prefetch(unit);
        }
    }
}
