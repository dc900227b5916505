//! The flash array: the choice of the transaction that each die serves next, transfers over the
//! bus, suspension and resumption.
//!
//! 1. The layer submits a transaction (`txn.rs`): it joins the queue of its die (`queue.rs`,
//!    `ranks.rs`), which is marked. Nothing else happens yet, so nothing recurses.
//! 2. When everything that ends or arrives at one nanosecond has done so, the marked dies decide in
//!    the order of their marks (S15; `marked_dies.rs`).
//! 3. An idle die starts the transaction that the die order picks: `reads.rs`, `program_erase.rs`.
//! 4. The end of each activity is an event. After a transfer the channel goes to the next die in
//!    line (`channel.rs`).
//! 5. The last activity hands the transaction back to the layer ([`Translation::done`]).
//!
//! Exceptions: a busy die may suspend its command for a read (`suspend.rs`); a program without a
//! page blocks the host programs of its die ([`Bind::Blocked`]); a page that needs another level is
//! sensed again (`read_retry.rs`); a die with a cache register transfers while its cells work
//! (`cache_operations.rs`); a die that has failed hands everything back (`failed_die.rs`).
//!
//! **Owns** dies, channels, agenda, and the transactions in flight. **May touch** the cells. Knows
//! blocks and pages only as numbers. `progress.rs`: the progress of a transaction.
//! `time_accounting.rs`: the time of each transaction by cause; `flash_trace.rs`: every step.

mod cache_operations;
pub mod cache_register;
mod channel;
pub mod die;
mod failed_die;
pub mod flash_trace;
pub mod indexed_heap;
pub mod marked_dies;
mod program_erase;
mod progress;
pub mod queue;
mod ranks;
pub mod raw_die;
mod read_retry;
mod reads;
mod suspend;
mod time_accounting;
mod trace_steps;
pub mod txn;
#[cfg(test)]
mod worked_example_tests;

use crate::cells::condition::Condition;
use crate::cells::random_failures::RandomFailures;
use crate::cells::reliability::{Ladder, LevelTimes, ModelKind, RetryCost};
use crate::cells::unreadable_pages::FailedReads;
use crate::config::{Config, FlashConfig, ProgramErase};
use crate::event::Event;
use crate::flash::cache_register::Holds;
use crate::flash::die::{Cells, Channel, Die, State};
use crate::flash::marked_dies::Marked;
use crate::flash::queue::{DieQueue, RankedQueue, TxnClass, View};
use crate::flash::txn::{Owner, Txn, Txns, Wait};
use crate::observe::counters::Counters;
use crate::observe::ledger::Doing;
use crate::observe::operation::{Op, Source};
use crate::policy::die_order::{AnyDieOrder, DieOrder};
use crate::policy::suspension::{self, AnySuspension};
use flash_trace::FlashStep;
use fowler_agenda::{Agenda, Ticket};
use fowler_nand::Timing;
use fowler_units::{
    BlockId, Bytes, ChannelId, DieId, Geometry, Id, Locator, Nanos, Span, Table, TxnId, UnitId,
};
use read_retry::ReadRetry;
pub use read_retry::Tries;

/// Result of binding a program to a page of the flash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bind {
    /// The program has a page: the transaction's `unit` is set.
    Bound,
    /// The program has no data left to write.
    Dropped,
    /// No page is available for the program until a GC job ends.
    Blocked,
}

/// The translation layer above the flash, which binds programs to pages and is called when
/// transactions end.
pub trait Translation {
    /// True if a page of the layer holds several units, each with a transfer of its own
    /// ([`Txn::parts`]), and program commands come with all their pages. A constant, so that drives
    /// whose layer has neither pay for neither.
    const PACKED: bool = false;
    /// Binds a program to a page. This happens as late as possible, so that the pages of a block
    /// are programmed in order, in whatever order the queue is served. See docs/decisions/flash.md,
    /// "When does a program get its page?".
    fn bind(&mut self, flash: &mut Flash, id: TxnId) -> Bind;
    /// Binds a further host program to a page at the same offset as that of `first`, on a plane
    /// that takes no part yet. Returns true if there was such a page.
    fn bind_beside(&mut self, flash: &mut Flash, first: TxnId, id: TxnId) -> bool;
    /// Returns the second page program of a command whose pages are submitted together, if the
    /// layer is [`Translation::PACKED`]. The others are chained to the second. Only the first page
    /// program of the command waits for the die.
    fn rest_of(&self, _first: &Txn) -> TxnId {
        TxnId::NONE
    }
    /// Returns the tries that a read of a page takes now, if the layer is [`Translation::PACKED`]
    /// and its data ages.
    fn tries(&mut self, _page: UnitId, _now: Nanos) -> Tries {
        unreachable!("the data of this drive does not age")
    }
    /// Returns true if no random failure can strike a mapping unit of a [`Translation::PACKED`]
    /// layer: its data is in the controller, it has none, or it has failed before.
    fn cannot_fail(&self, _unit: UnitId) -> bool {
        unreachable!("random failures of this drive strike whole pages")
    }
    /// Called when a transaction, still open, is done or was dropped; the layer closes it.
    fn done(&mut self, flash: &mut Flash, id: TxnId, dropped: bool);
    /// Called when a read is done. Reads are the most frequent transactions, so a layer may handle
    /// them apart from the others.
    fn read_done(&mut self, flash: &mut Flash, id: TxnId) {
        self.done(flash, id, false);
    }
    /// Called for each transaction of a die that has failed for good, at what was its turn.
    fn handed_back(&mut self, _flash: &mut Flash, id: TxnId) {
        unreachable!("the die of transaction {} has not failed", id.0)
    }
    /// Called when a die has nothing left to do.
    fn idle(&mut self, flash: &mut Flash, die: DieId);
    /// Returns the erase pulse of a block if it differs from the nominal one.
    fn erase_pulse(&self, _block: BlockId) -> Option<Span> {
        None
    }
}

/// Numbers of host transactions that wait for a die, counted in two ways.
#[derive(Clone, Copy, Debug)]
pub struct Queued {
    /// Host transactions counted in the queue in order of submission.
    pub by_the_host: usize,
    /// Host transactions counted in the ranked queue, if the die has one.
    pub ranked: Option<usize>,
}

/// The flash array: dies, channels, their queues, and the agenda.
#[derive(Clone, Debug)]
pub struct Flash {
    /// The simulated clock, and the future events.
    pub agenda: Agenda<Event>,
    /// Flash transactions in flight.
    pub txns: Txns,
    /// Counters of the run so far: numbers of events, and sums of times.
    pub counters: Counters,
    geometry: Geometry,
    locator: Locator,
    timing: Timing,
    /// Time of one ISPP iteration of a program ([`Timing::iteration`]).
    iteration: Span,
    levels: LevelTimes,
    retry: RetryCost,
    /// Limits and cost of repeated reads of aged data, if the layer is [`Translation::PACKED`].
    read_retry: ReadRetry,
    ladder: Ladder,
    /// True if read errors are modeled by sensing level.
    errs: bool,
    /// True if a page with too many errors is read again at the references of a retry table.
    ages: bool,
    /// True if a read may take more than its nominal time: errors are modeled, or strike at a rate,
    /// or data ages.
    may_err: bool,
    unknown_level: u8,
    /// Condition of the cells; `None` unless errors are modeled.
    condition: Option<Box<Condition>>,
    /// Read failures that strike at a given rate; `None` without any.
    random_failures: Option<Box<RandomFailures>>,
    /// The pages whose reads have failed. `None` if reads cannot fail, or if versions detect lost
    /// data.
    failed_reads: Option<Box<FailedReads>>,
    dies: Table<DieId, Die>,
    channels: Table<ChannelId, Channel>,
    /// True if every die has a channel of its own.
    channels_owned: bool,
    order: AnyDieOrder,
    /// True if the die order serves each class in order of submission.
    in_order: bool,
    suspension: AnySuspension,
    rules: suspension::Params,
    registers: FlashConfig,
    marked: Marked,
    /// Time of every program on the cells, if all take the same time, nothing is ever interrupted,
    /// and no probe observes; `None` otherwise.
    plain_program: Option<Span>,
    /// True if programs of the same page may take different times: at different steps, because they
    /// fail and are repeated, or in two passes.
    programs_differ: bool,
    /// True if programs may fail and are repeated.
    programs_fail: bool,
    /// ISPP iterations of the first of two passes, if they differ from those of the second.
    first_pass: Option<u32>,
    /// True if a probe observes all steps.
    watched: bool,
    /// Steps recorded so far; `None` if no probe wants any.
    trace: Option<Vec<FlashStep>>,
}

/// Returns the first transaction of the only waiting class, not counting host programs; `None` if
/// several classes wait.
#[inline]
fn only_beside_host_programs(queue: &DieQueue) -> Option<TxnId> {
    let mut others = queue.classes().filter(|&class| class != TxnClass::HostProgram);
    let class = others.next()?;
    if others.next().is_none() { queue.head(class) } else { None }
}

impl Flash {
    /// Returns the memory that a flash array of this geometry takes on the simulating machine.
    pub fn bytes(config: &Config, geometry: &Geometry, capacity: usize) -> Bytes {
        let (errs, uber) = (config.reliability.model != ModelKind::Off, config.reliability.uber);
        let by_page = !errs && uber > 0.0 && !config.ftl.has_superblocks();
        let if_any = |any: bool, bytes: Bytes| if any { bytes } else { Bytes(0) };
        Txns::bytes(capacity)
            + Bytes::of::<Die>(geometry.dies().into())
            + Bytes::of::<RankedQueue>(geometry.dies().into())
            + if_any(errs, Condition::bytes(geometry))
            + if_any(by_page, FailedReads::bytes(geometry))
    }

    /// Creates an idle flash array of this geometry, with room for `capacity` transactions.
    pub fn new(config: &Config, geometry: Geometry, capacity: usize) -> Self {
        let timing = config.effective_timing();
        let errs = config.reliability.model != ModelKind::Off;
        let random_failures = RandomFailures::new(config);
        let (order, custom) = (config.die_order, &config.policies);
        let ranked = || order.ranks().then(|| Box::new(RankedQueue::new(order.deadline)));
        let dies = geometry.dies() as usize;
        let channel = Channel::new(geometry.dies_per_channel() as usize);
        let marked = Marked::new(dies);
        let agenda = Agenda::with_capacity(4 * dies + 1024);
        let dies = (0..dies)
            .map(|die| Die::new(geometry.channel_of_die(DieId::new(die)), ranked(), &timing))
            .collect();
        // SAFETY: dies are looked up by the ids of events, of transactions, of the locator, and of
        // the geometry's count. Events name dies that were looked up before. No queue names a
        // transaction before `submit_to` has asserted that its die exists. The locator asserts its
        // dies. A program without a die yet has `DieId::NONE`, which is never looked up. Ids from
        // outside the crate are checked (`Device::die_times`). The channel of each die is the
        // geometry's.
        #[allow(unsafe_code, reason = "see `Table`")]
        let (dies, channels) =
            unsafe { (Table::new(dies), Table::new(vec![channel; geometry.channels as usize])) };
        let mut flash = Self {
            agenda,
            txns: Txns::with_capacity(capacity),
            counters: Counters::default(),
            geometry,
            locator: Locator::new(&geometry),
            levels: LevelTimes::of_drive(config),
            retry: config.reliability.retry,
            read_retry: ReadRetry::new(&config.aging),
            ladder: Ladder::of(config),
            errs,
            ages: config.aging.is_on(),
            unknown_level: 0,
            condition: None,
            may_err: errs || random_failures.is_some() || config.aging.is_on(),
            // Drives with superblocks keep what they lose with the versions of data.
            failed_reads: ((errs || random_failures.is_some())
                && !config.redundancy.has_versions()
                && !config.ftl.has_superblocks())
            .then(|| Box::new(FailedReads::new(geometry.pages() as usize))),
            random_failures,
            dies,
            iteration: timing.iteration(),
            timing,
            channels,
            channels_owned: geometry.dies_per_channel() == 1 && !config.flash.caches(),
            in_order: custom.die_order.is_none() && order.keeps_order(),
            order: AnyDieOrder::custom_or_new(custom.die_order.as_ref(), &order, config.seed),
            suspension: AnySuspension::custom_or_new(
                custom.suspension.as_ref(),
                &config.suspension,
                config.seed,
            ),
            rules: config.suspension,
            registers: config.flash,
            marked,
            plain_program: None,
            programs_differ: false,
            programs_fail: config.blocks_fail(),
            first_pass: (config.program_erase == ProgramErase::Nominal)
                .then_some(config.flash.first_pass_iterations),
            watched: false,
            trace: None,
        };
        flash.programs_differ = flash.ladder.has_rungs() || flash.registers.program_passes > 1;
        flash.plain_program = flash.plain_program();
        flash
    }

    /// Computes the value of the field `plain_program`.
    fn plain_program(&self) -> Option<Span> {
        let &[iterations] = self.timing.program_iterations.values() else { return None };
        let alike = !(self.programs_differ || self.programs_fail);
        // With a minimum progress, a die looks again for reads once its cells run.
        let undisturbed = self.never_interrupts() && self.rules.min_progress == Span::ZERO;
        let plain = alike && undisturbed && !self.watched && !self.registers.cache_program;
        plain.then(|| self.iteration * u64::from(iterations))
    }

    /// Sets the sensing level at which pages of unknown condition are read.
    pub fn read_unknown_at(&mut self, level: u8) {
        self.unknown_level = level;
    }

    /// Makes reads depend on the condition of the cells from now on.
    pub fn wear(&mut self, condition: Condition) {
        self.condition = Some(Box::new(condition));
    }

    /// Returns the condition of the cells; `None` unless errors are modeled.
    #[inline]
    pub fn condition(&self) -> Option<&Condition> {
        self.condition.as_deref()
    }

    /// Returns the pages whose reads have failed; `None` unless these are counted.
    pub fn failed_reads(&self) -> Option<&FailedReads> {
        self.failed_reads.as_deref()
    }

    /// Returns the condition of the cells for modification; see [`Flash::condition`].
    pub fn condition_mut(&mut self) -> Option<&mut Condition> {
        self.condition.as_deref_mut()
    }

    /// Returns the ladder of ISPP steps at which the drive programs.
    pub fn ladder(&self) -> &Ladder {
        &self.ladder
    }

    /// Returns the current simulated time.
    #[inline]
    pub fn now(&self) -> Nanos {
        self.agenda.now()
    }

    /// Returns the state of a die.
    #[inline]
    pub fn die(&self, die: DieId) -> &Die {
        &self.dies[die]
    }

    /// Returns the states of all dies.
    pub fn dies(&self) -> &Table<DieId, Die> {
        &self.dies
    }

    /// Returns the state of a channel.
    pub(crate) fn channel(&self, channel: ChannelId) -> &Channel {
        &self.channels.as_slice()[channel.index()]
    }

    /// Returns the number of host transactions that wait for a die, counted in two ways. For checks
    /// only.
    pub fn queued(&self, die: DieId) -> Queued {
        let count = |class| self.dies[die].queue.iter(class, &self.txns).count();
        Queued {
            by_the_host: count(TxnClass::HostRead) + count(TxnClass::HostProgram),
            ranked: self.dies[die].ranked.as_deref().map(RankedQueue::len),
        }
    }

    /// Returns the transfer time, summed over all channels.
    pub fn channel_busy(&self) -> Span {
        self.channels.as_slice().iter().fold(Span::ZERO, |sum, channel| sum + channel.carried)
    }

    /// Opens a transaction, which waits for its die once it is submitted.
    #[inline]
    pub fn open(
        &mut self,
        op: Op,
        source: Source,
        class: TxnClass,
        owner: Owner,
        die: DieId,
    ) -> (TxnId, &mut Txn) {
        let now = self.now();
        self.txns.open(op, source, class, owner, die, now)
    }

    /// Puts a transaction into the queue of its die, which starts its wait.
    #[inline(never)]
    pub fn submit(&mut self, id: TxnId) {
        let Txn { die, joined, .. } = *self.txns.get(id);
        self.submit_to(id, die, joined.is_some());
    }

    /// Puts a read or program of GC into the queue of its die. Inlined: no page write ever joins
    /// these transactions, and the caller knows their die and class.
    #[inline(always)]
    pub fn submit_alone(&mut self, id: TxnId, die: DieId, class: TxnClass) {
        let txn = self.txns.get_mut(id);
        // GC opens all transactions of a job on the die of its plane.
        debug_assert!(txn.die == die && !txn.joined.is_some());
        // The record has this class already. Storing it again makes it a constant for the compiler.
        txn.class = class;
        self.submit_to(id, die, false);
    }

    /// Puts a transaction into the queue of a die: the part of [`Flash::submit`] that every
    /// transaction needs. The rare rest is a call at the end, so that this part saves no registers
    /// for it.
    #[inline(always)]
    fn submit_to(&mut self, id: TxnId, die_id: DieId, joined: bool) {
        let now = self.now();
        let txn = self.txns.get_mut(id);
        txn.submitted = now;
        txn.wait = Wait::InLog;
        assert!(die_id.index() < self.dies.len(), "submitted to a die that does not exist");
        let die = &mut self.dies[die_id];
        die.queue.push(id, &mut self.txns);
        // If nothing can be interrupted, a die that is busy until later has nothing to decide.
        let busy = matches!(self.suspension, AnySuspension::Never(_)) && die.until > now;
        if !busy {
            die.mark(die_id, &mut self.marked);
        }
        if joined {
            self.submit_joined(id, die_id);
        } else if die.ranked.is_some() {
            self.rank(id, die_id);
        }
    }

    /// Starts the waits of the page writes that have joined a program, as the rest of
    /// [`Flash::submit`].
    #[inline(never)]
    fn submit_joined(&mut self, id: TxnId, die: DieId) {
        let mut joined = self.txns.get(id).joined;
        while joined.is_some() {
            self.join_at(joined, die);
            joined = self.txns.get(joined).next;
        }
        if self.dies[die].ranked.is_some() {
            self.rank(id, die);
        }
    }

    /// Starts the wait of a page write that joins a waiting program.
    pub fn join_at(&mut self, id: TxnId, die: DieId) {
        let now = self.now();
        let txn = self.txns.get_mut(id);
        txn.submitted = now;
        txn.wait = Wait::Noted;
        *self.txns.waits_mut(id) = self.dies[die].account.read_at(now);
    }

    /// Lets a die try its host programs again, because there may be flash pages for them now.
    pub fn unblock(&mut self, die: DieId) {
        let state = &mut self.dies[die];
        if state.blocked {
            state.blocked = false;
            state.mark(die, &mut self.marked);
        }
    }

    #[inline]
    fn mark(&mut self, die: DieId) {
        self.dies[die].mark(die, &mut self.marked);
    }

    /// Returns true if any die is marked to decide.
    #[inline]
    pub fn has_marked(&self) -> bool {
        !self.marked.is_empty()
    }

    /// Lets every marked die decide. Called when everything that ends at this nanosecond has ended,
    /// and everything that arrives has arrived (S15).
    #[inline]
    pub fn settle(&mut self, layer: &mut impl Translation) {
        // No die is marked after half of all events.
        if !self.marked.is_empty() {
            self.attend_to_marked(layer);
        }
    }

    fn attend_to_marked(&mut self, layer: &mut impl Translation) {
        let mut next = 0;
        while let Some(die) = self.marked.get(next) {
            next += 1;
            self.attend(die, layer);
        }
        self.marked.clear();
    }

    #[inline]
    fn attend<L: Translation>(&mut self, id: DieId, layer: &mut L) {
        let die = &mut self.dies[id];
        die.marked = false;
        match die.state {
            State::Idle => {
                self.take_up(id, layer);
                if self.dies[id].offered {
                    self.pass_channel_on::<L>(id);
                }
            }
            // If nothing is ever interrupted, a busy die has nothing to decide.
            _ if matches!(self.suspension, AnySuspension::Never(_)) => {}
            State::Loaded => self.leave_or_start(id),
            State::Running => self.consider_suspending(id),
            State::TransferIn | State::AwaitIn | State::Refill => self.consider_displacing(id),
            State::Sensing
            | State::AwaitOut
            | State::TransferOut
            | State::AwaitCache
            | State::Suspending
            | State::Abandoned => {}
        }
        if L::PACKED && self.caches_programs() {
            self.load_ahead(id);
        }
    }

    /// Returns true if programs and erases always run to their end.
    #[inline]
    fn never_interrupts(&self) -> bool {
        matches!(self.suspension, AnySuspension::Never(_))
    }

    /// Ends the current activity of a die.
    #[inline]
    pub fn die_event<L: Translation>(&mut self, id: DieId, ticket: Ticket, layer: &mut L) {
        let die = &self.dies[id];
        if die.ticket != ticket {
            // Stale, because the operation was suspended, or of the cache register.
            if L::PACKED {
                self.cache_event(id, ticket, layer);
            }
            return;
        }
        let channel = die.channel;
        match die.state {
            State::Sensing if L::PACKED && self.caches_reads() => {
                return self.sensed_beside_cache(id);
            }
            State::Sensing => return self.sensed(id),
            State::Running => return self.completed(id, layer),
            State::Suspending => return self.park(id),
            State::TransferOut => self.transferred_out(id, layer),
            State::TransferIn => {
                self.transferred_in(id);
                if L::PACKED && self.caches_programs() {
                    self.mark(id); // The command may be on the cells already.
                }
            }
            State::Refill => self.refilled(id),
            State::Abandoned => self.abandoned(id),
            state @ (State::Idle
            | State::AwaitOut
            | State::AwaitCache
            | State::AwaitIn
            | State::Loaded) => {
                unreachable!("die {} has no event in state {state:?}", id.0)
            }
        }
        // The event was the end of a transfer.
        if L::PACKED {
            self.enqueue_for_cache(id);
        }
        self.release_channel::<L>(channel);
    }

    /// Marks a die to choose its next transaction again: its running program or erase may have
    /// made the progress after which it can be suspended.
    pub fn reconsider(&mut self, id: DieId) {
        self.mark(id);
    }

    /// Returns the transaction that a die should serve next, if any.
    #[inline]
    fn pick(&mut self, id: DieId) -> Option<TxnId> {
        let die = &self.dies[id];
        // Usually one class waits. If that class is served in order of submission, there is no
        // choice.
        if self.in_order {
            let head = match die.blocked {
                false => die.queue.only_head(),
                true => only_beside_host_programs(&die.queue),
            };
            if head.is_some() {
                return head;
            }
        }
        match die.queue.is_empty() {
            true => None,
            false if self.in_order => self.pick_among(id),
            false => self.pick_by_rank(id),
        }
    }

    /// Returns the transaction that a die serves next, when there are several to choose from.
    #[inline(never)]
    fn pick_among(&mut self, id: DieId) -> Option<TxnId> {
        let die = &self.dies[id];
        let ranked = die.ranked.as_deref();
        let view = View::new(&die.queue, ranked, &self.txns, self.agenda.now(), die.blocked);
        let mut candidate = self.order.pick(&view)?;
        if let AnyDieOrder::Custom(_) = self.order {
            candidate = self.checked_choice(id, candidate);
        }
        // An erase never overtakes a read of its block, which would find the data erased.
        let erases = die.queue.head(TxnClass::Erase).is_some();
        if erases && self.txns.get(candidate).op == Op::Erase {
            return Some(self.read_of_block(id, candidate).unwrap_or(candidate));
        }
        Some(candidate)
    }

    /// Returns a waiting read of the block that `erase` erases. The erase of a superblock covers
    /// one block on each plane, so a read of any of these blocks counts. See
    /// docs/decisions/flash.md, "Does an erase wait for reads of its block?".
    fn read_of_block(&self, id: DieId, erase: TxnId) -> Option<TxnId> {
        let Txn { unit, owner, .. } = *self.txns.get(erase);
        let of_superblock = matches!(owner, Owner::Superblock(_));
        let which = |unit| {
            let block = self.locator.block_of(unit);
            if of_superblock { self.locator.place_in_plane(block) } else { block.0 }
        };
        let erased = which(unit);
        [TxnClass::HostRead, TxnClass::BackgroundRead].into_iter().find_map(|class| {
            self.dies[id].queue.iter(class, &self.txns).find(|&read| {
                let unit = self.txns.get(read).unit;
                unit.is_some() && which(unit) == erased
            })
        })
    }

    /// Begins the next transaction of an idle die, if any waits.
    #[inline]
    fn take_up<L: Translation>(&mut self, id: DieId, layer: &mut L) {
        if self.dies[id].cells >= Cells::Suspended {
            return self.take_up_otherwise(id, layer);
        }
        if L::PACKED && self.dies[id].cache.holds != Holds::Nothing {
            return self.take_up_beside_cache(id, layer);
        }
        loop {
            let Some(txn) = self.pick(id) else {
                self.rest(id, layer);
                return;
            };
            let op = self.txns.get(txn).op;
            match op {
                Op::Read => self.start_read(id, txn, layer),
                Op::Erase => self.start_erase(id, txn, layer),
                Op::Program => {
                    if !self.start_program(id, txn, layer) {
                        continue;
                    }
                }
            }
            return;
        }
    }

    /// Begins the next transaction of a die whose program or erase is suspended, or that has
    /// failed.
    #[inline(never)]
    fn take_up_otherwise<L: Translation>(&mut self, id: DieId, layer: &mut L) {
        if self.has_failed(id) {
            return self.hand_back(id, layer);
        }
        let overdue = self.rules.overdue(self.now(), self.dies[id].command.started);
        match self.pick(id).filter(|&txn| !overdue && self.may_suspend(txn)) {
            Some(read) => self.start_read(id, read, layer),
            // The suspended command resumes when the data of all reads has left.
            None if L::PACKED && self.dies[id].cache.has_read() => {}
            None => self.resume(id),
        }
    }

    /// Reports to the layer that a die found nothing to do.
    #[inline]
    fn rest(&mut self, id: DieId, layer: &mut impl Translation) {
        let now = self.now();
        let die = &mut self.dies[id];
        self.channels[die.channel].withdraw(id, die);
        if die.account.doing() != Doing::IDLE {
            die.enter(now, State::Idle, Doing::IDLE, &mut self.txns);
            die.idle_since = now;
        }
        layer.idle(self, id);
    }
}
