//! The SLC cache: superblocks that take host writes with one bit to a cell. A word line then holds
//! one page instead of two to four, which is programmed and read faster.
//!
//! 1. The host fills a superblock in SLC mode: one of those set aside for the cache (`slc.static`),
//!    or an erased one (`slc.dynamic`), as long as more than `slc.keep_erased` are erased
//!    ([`Superblocks::open_slc`]).
//! 2. When the cache is full, writes go past it or wait (`slc.when_full`;
//!    [`Superblocks::stream_of_host`]).
//! 3. A full superblock is *folded*: its valid units are read and programmed where garbage
//!    collection moves data to, with all bits of a cell ([`Superblocks::begin_folding`]). That
//!    happens in idle time, when no request has been in the drive for `slc.fold_after`, until one
//!    comes; and when the cache is full, in step with the host that waits for it.
//! 4. The erase returns the superblock to normal mode ([`Superblocks::erased_in_cache`]).
//!
//! Exceptions: whenever too few superblocks are erased, those of the cache are victims like any
//! other, and as they hold little they are usually the first. Those set aside are not: nothing else
//! can use them. If writes go past a full cache, only superblocks without valid units are folded
//! for its sake.
//!
//! Invariants, which `check.rs` checks: valid units in SLC mode lie in superblocks in that mode,
//! and no others do; `dynamic` and `folded` count the superblocks of their kind; at most
//! [`FOLDED_MOST`] are being folded. See docs/decisions/superblocks.md, "What is the SLC cache?".

use super::Superblocks;
use super::collection::Why;
use super::commands::Stream;
use super::map::{Emptied, Map};
use super::shape::Shape;
use crate::blocks::block_table::BlockState;
use crate::config::{SlcConfig, WhenFull};
use crate::event::Event;
use crate::flash::Flash;
use crate::observe::counters::Counters;
use crate::policy::placement::StreamId;
use fowler_agenda::Phase;
use fowler_units::{Bytes, DieId, IdVec, Nanos, RuId, Span};

/// Number that takes the place of a die in the event that checks if the host is idle, and tells
/// that event from one of scrubbing.
pub(super) const HOST: DieId = DieId(0);

/// The most superblocks folded at a time, from the first read to the end of the erase.
pub(super) const FOLDED_MOST: u32 = 2;

/// Number of bits per cell with which a superblock is programmed: all bits (normal), or one (SLC).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// Normal mode: a cell stores all of its bits. Erased superblocks are in this mode, too.
    Usual,
    /// One bit to a cell, and the superblock is not being folded. Garbage collection may be
    /// emptying it for its space.
    Slc,
    /// One bit to a cell, and the superblock is being folded, in idle time or because the cache is
    /// full.
    Folded,
}

/// The SLC cache of a drive.
#[derive(Clone, Debug)]
pub(super) struct SlcCache {
    config: SlcConfig,
    pub(super) modes: IdVec<RuId, Mode>,
    /// The superblocks in SLC mode, in the order in which they were opened.
    pub(super) held: Vec<RuId>,
    /// Number of superblocks in SLC mode that are not reserved for the SLC cache, at most
    /// `slc.dynamic`.
    pub dynamic: u32,
    /// The number of superblocks being folded, 0 to [`FOLDED_MOST`].
    pub folded: u32,
    /// The number of units that a superblock holds in SLC mode.
    units: u32,
    /// Time since which the SLC cache is being emptied because the host is idle; none if it is not.
    idle_since: Option<Nanos>,
    /// True while an event is on the agenda that will check if the host is idle.
    scheduled: bool,
}

impl SlcCache {
    /// Returns the empty SLC cache of a drive; `None` if the configuration has none.
    pub fn new(config: &SlcConfig, shape: &Shape) -> Option<SlcCache> {
        config.is_on().then(|| SlcCache {
            config: *config,
            modes: IdVec::filled(Mode::Usual, shape.superblocks as usize),
            held: Vec::new(),
            dynamic: 0,
            folded: 0,
            units: shape.slc_data_units(),
            idle_since: None,
            scheduled: false,
        })
    }

    /// Returns the memory that the state of the SLC cache takes on the simulating machine.
    pub fn bytes(config: &SlcConfig, shape: &Shape) -> Bytes {
        let superblocks = if config.is_on() { shape.superblocks } else { 0 };
        Bytes::of::<(Mode, u32)>(superblocks.into())
    }

    /// Returns true if the SLC cache may open an erased superblock that is not reserved for it: it
    /// holds fewer than `slc.dynamic` of these, and more than `slc.keep_erased` are erased.
    fn may_grow(&self, map: &Map) -> bool {
        self.dynamic < self.config.dynamic && map.free_count() > self.config.keep_erased
    }

    /// Returns true if the SLC cache may open another superblock.
    fn may_open(&self, map: &Map) -> bool {
        map.free_aside_count() > 0 || self.may_grow(map)
    }

    /// Returns the full superblock in SLC mode with the fewest valid units, and their number.
    fn emptiest(&self, map: &Map) -> Option<(RuId, u32)> {
        let full = |&&number: &&RuId| {
            self.modes[number] == Mode::Slc && map.state(number) == BlockState::Full
        };
        let all = self.held.iter().filter(full);
        let valid = |&number: &RuId| (map.valid(number), number);
        all.map(valid).min().map(|(valid, number)| (number, valid))
    }

    /// Returns true if the SLC cache holds a superblock that can be folded: one that is or will be
    /// full, or of which folding was stopped.
    fn has_some_to_fold(&self, map: &Map) -> bool {
        let full =
            |&number: &RuId| map.is_whole(number) || map.traffic(number).emptied == Emptied::Paused;
        self.held.iter().any(full)
    }

    /// Raises by `more` the number of erased superblocks that the dynamic SLC cache leaves to
    /// garbage collection.
    pub(super) fn keep_more_erased(&mut self, more: u32) {
        self.config.keep_erased += more;
    }

    /// Clears the record of superblocks in SLC mode, before a saved state of the SLC cache is
    /// restored.
    pub(super) fn clear(&mut self) {
        self.modes.as_mut_slice().fill(Mode::Usual);
        self.held.clear();
        (self.dynamic, self.folded, self.idle_since) = (0, 0, None);
    }

    /// Records, in a lifetime simulation, that the host is idle for `pause` from `now` on. Returns
    /// false if that is too short to empty the SLC cache. Operations take no time in this
    /// simulation.
    pub(super) fn begin_pause(&mut self, pause: Span, now: Nanos) -> bool {
        let begins = pause >= self.config.fold_after;
        self.idle_since = begins.then_some(now);
        begins
    }

    /// Records that the idle time of the host has ended.
    pub(super) fn end_pause(&mut self) {
        self.idle_since = None;
    }

    /// Returns the mode in which a superblock is programmed: with all bits of a cell, or with one
    /// bit in the SLC cache, being folded or not.
    pub fn mode(&self, superblock: RuId) -> Mode {
        self.modes[superblock]
    }

    /// Returns true if a superblock is in SLC mode.
    pub fn is_used_by(&self, superblock: RuId) -> bool {
        self.mode(superblock) != Mode::Usual
    }

    /// Returns the superblocks in SLC mode.
    pub fn held(&self) -> &[RuId] {
        &self.held
    }

    /// Schedules an event that checks if the host is idle, unless one is scheduled already.
    fn look_again(&mut self, flash: &mut Flash, at: Nanos) {
        if !self.scheduled {
            self.scheduled = true;
            // The host is idle, not a die. Such a drive tells events of this kind apart by number.
            flash.agenda.schedule(at, Phase::Decision, Event::Idle(HOST));
        }
    }
}

impl Superblocks {
    /// Returns the stream of the host's next command; none if the host waits for room in the SLC
    /// cache.
    #[inline]
    pub(super) fn stream_of_host(&self) -> Option<Stream> {
        match &self.slc {
            None => Some(Stream::Host(StreamId(0))),
            Some(cache) => self.stream_beside(cache),
        }
    }

    fn stream_beside(&self, cache: &SlcCache) -> Option<Stream> {
        if self.commands.open_of(Stream::Slc).is_some() || cache.may_open(&self.map) {
            Some(Stream::Slc)
        } else if cache.config.when_full == WhenFull::Wait && !cache.held.is_empty() {
            None
        } else {
            Some(Stream::Host(StreamId(0)))
        }
    }

    /// Opens a superblock in SLC mode: one of those set aside, if one is erased, or another if the
    /// cache may grow. None if neither is possible.
    pub(super) fn open_slc(&mut self) -> Option<RuId> {
        let cache = self.slc.as_mut()?;
        let superblock = match self.map.open_aside() {
            Some(aside) => aside,
            None if cache.may_grow(&self.map) => {
                cache.dynamic += 1;
                self.map.open()?
            }
            None => return None,
        };
        cache.modes[superblock] = Mode::Slc;
        cache.held.push(superblock);
        Some(superblock)
    }

    /// Looks, after a command has gone to the SLC cache, for a full superblock there: if the host
    /// then stays idle for `slc.fold_after`, its data may be folded into normal mode.
    pub(super) fn look_for_idle_time(&mut self, flash: &mut Flash) {
        let full = self.commands.open_of(Stream::Slc).is_none();
        if let Some(cache) = self.slc.as_mut().filter(|_| full) {
            let at = flash.now() + cache.config.fold_after;
            cache.look_again(flash, at);
        }
    }

    /// Begins to fold a superblock of the SLC cache into normal mode if the cache is full or the
    /// host is idle. Returns true if it has begun. Called only while garbage collection need not
    /// free space.
    pub(super) fn begin_folding(&mut self, counters: &mut Counters) -> bool {
        let Some(cache) = &self.slc else { return false };
        if cache.folded == FOLDED_MOST {
            return false;
        }
        let full = !cache.may_open(&self.map);
        let why = match cache.idle_since {
            Some(_) => Why::Idle,
            None if full => Why::CacheFull,
            None => return false,
        };
        let Some((victim, valid)) = cache.emptiest(&self.map) else { return false };
        // If writes go past a full cache, only superblocks without valid units are emptied.
        let past = why == Why::CacheFull && cache.config.when_full == WhenFull::Direct;
        let gain = cache.units;
        if (past && valid > 0) || !self.begin_emptying(victim, valid, |_| gain, why) {
            return false;
        }
        if !self.map.is_aside(victim) {
            self.collector.leaving += 1;
        }
        let cache = self.slc.as_mut().expect("it holds the victim");
        cache.folded += 1;
        debug_assert!(cache.folded <= FOLDED_MOST, "more superblocks are folded than may be");
        cache.modes[victim] = Mode::Folded;
        match why {
            Why::Idle => counters.collections.background += 1,
            _ => counters.collections.foreground += 1,
        }
        true
    }

    /// Empties the SLC cache if the host has been idle for `slc.fold_after`.
    pub(super) fn host_may_be_idle(&mut self, flash: &mut Flash) {
        let busy = self.front.requests.open_count() > 0;
        let answered = self.front.requests.last_answered();
        let Some(cache) = &mut self.slc else { return };
        cache.scheduled = false;
        if cache.idle_since.is_some() || !cache.has_some_to_fold(&self.map) {
            return;
        }
        let now = flash.now();
        let due = if busy { now } else { answered } + cache.config.fold_after;
        if due > now {
            return cache.look_again(flash, due);
        }
        cache.idle_since = Some(now);
        self.collect(flash);
    }

    /// Returns true if the SLC cache is being emptied because the host is idle.
    #[inline]
    pub(super) fn folds_in_idle_time(&self) -> bool {
        self.slc.as_ref().is_some_and(|cache| cache.idle_since.is_some())
    }

    /// Stops folding in idle time if a request has come since.
    pub(super) fn stop_if_host_is_back(&mut self, flash: &mut Flash) {
        let busy = self.front.requests.open_count() > 0;
        let answered = self.front.requests.last_answered();
        let Some(cache) = &mut self.slc else { return };
        let Some(since) = cache.idle_since else { return };
        if !busy && answered <= since {
            return;
        }
        cache.idle_since = None;
        let at = flash.now() + cache.config.fold_after;
        cache.look_again(flash, at);
        self.stop_job_in_idle_time(flash);
    }

    /// Handles a superblock of which all units read so far have been programmed elsewhere after its
    /// emptying was interrupted: it is full again. Folding is interrupted because the host came
    /// back; a repair, because garbage collection goes first.
    pub(super) fn paused(&mut self, superblock: RuId) {
        self.map.give_back(superblock);
        self.renew_if_spoilt(superblock);
        if let Some(cache) = &mut self.slc
            && cache.modes[superblock] == Mode::Folded
        {
            cache.modes[superblock] = Mode::Slc;
            cache.folded -= 1;
        }
    }

    /// Adds `units` to the counter of units folded out of the SLC cache, if the superblock from
    /// which they are read is in SLC mode.
    pub(super) fn count_emptied(&self, counters: &mut Counters, superblock: RuId, units: u32) {
        if self.slc.as_ref().is_some_and(|cache| cache.mode(superblock) != Mode::Usual) {
            counters.slc.folded += u64::from(units);
        }
    }

    /// Records the erase of a superblock in SLC mode, which returns to normal mode.
    pub(super) fn erased_in_cache(&mut self, counters: &mut Counters, superblock: RuId) {
        let aside = self.map.is_aside(superblock);
        let Some(cache) = &mut self.slc else { return };
        let mode = std::mem::replace(&mut cache.modes[superblock], Mode::Usual);
        if mode == Mode::Usual {
            return;
        }
        counters.slc.erased += 1;
        cache.folded -= u32::from(mode == Mode::Folded);
        cache.dynamic -= u32::from(!aside);
        cache.held.retain(|&held| held != superblock);
    }
}

/// The shortest `slc.fold_after`: the interval at which a busy drive is checked for idle time.
pub(super) const IDLE_LEAST: Span = Span::us(100);
