//! The flash array at work: what each die serves next, its way over the bus, suspension and
//! resumption.
//!
//! **Owns** dies, channels, what waits for them, the agenda, and the transactions in flight. **May
//! touch** the cells, which say at what level a page is read. Knows blocks and pages as numbers
//! only: what they mean is the business of the layer above, reached through [`Translation`]. **Is
//! asked** to open and submit transactions.
//!
//! Nothing here recurses: submitting marks the die, and marked dies decide, in the order in which
//! they were marked, when all that ends or arrives at the same nanosecond has done so (S15).
//!
//! - `die.rs`, `queue.rs`, `indexed_heap.rs`: a die, and what waits for it, in order of submission
//!   or by rank.
//! - `ranks.rs`: submitting to a die that ranks what waits, and asking it for the only one.
//! - `txn.rs`: the transactions. `reads.rs`, `program_erase.rs`: reads; programs and erases.
//! - `suspend.rs`: off the cells and back. `channel.rs`: who transfers when.
//! - `time_accounting.rs`: where the time of each transaction went. `flash_trace.rs`: every step,
//!   if anybody watches.
//! - `raw_die.rs`: one die under raw commands.

mod channel;
pub mod die;
pub mod flash_trace;
pub mod indexed_heap;
pub mod marked;
mod program_erase;
pub mod queue;
mod ranks;
pub mod raw_die;
mod reads;
mod suspend;
mod time_accounting;
pub mod txn;
#[cfg(test)]
mod worked_example_tests;

use crate::cells::condition::Condition;
use crate::cells::reliability::{Ladder, LevelTimes, ModelKind};
use crate::config::Config;
use crate::event::Event;
use crate::flash::die::{Cells, Channel, Die, State};
use crate::flash::marked::Marked;
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
use fowler_units::{BlockId, ChannelId, DieId, Geometry, Id, Locator, Nanos, Span, Table, TxnId};

/// What binding a program to a page comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bind {
    /// The transaction's `unit` is set.
    Bound,
    /// There is nothing to program any more.
    Dropped,
    /// No page can be had until a GC job ends.
    Blocked,
}

/// The layer above: gives programs their pages at the last moment and hears when things are done.
pub trait Translation {
    /// Gives a program its page, as late as possible, so that pages of a block are programmed in
    /// order whatever order the queue is served in. See docs/decisions/flash.md, "When does a
    /// program get its page?".
    fn bind(&mut self, flash: &mut Flash, id: TxnId) -> Bind;
    /// Gives a further host program a page at the same offset as that of `first`, on a plane that
    /// takes no part yet. Returns whether it could.
    fn bind_beside(&mut self, flash: &mut Flash, first: TxnId, id: TxnId) -> bool;
    /// A transaction is done (or was dropped). It is still open; the layer closes it.
    fn done(&mut self, flash: &mut Flash, id: TxnId, dropped: bool);
    /// As [`Translation::done`], of a read: what ends most often.
    fn read_done(&mut self, flash: &mut Flash, id: TxnId) {
        self.done(flash, id, false);
    }
    /// A die has nothing left to do.
    fn idle(&mut self, flash: &mut Flash, die: DieId);
    /// How long the erase pulse of a block is, where it is not that of any other.
    fn erase_pulse(&self, _block: BlockId) -> Option<Span> {
        None
    }
}

/// See [`Flash::queued`].
#[derive(Clone, Copy, Debug)]
pub struct Queued {
    /// In order of submission.
    pub by_the_host: usize,
    /// By rank, where they are ranked.
    pub ranked: Option<usize>,
}

/// Dies, channels, what waits for them, and the agenda.
#[derive(Clone, Debug)]
pub struct Flash {
    /// What happens next.
    pub agenda: Agenda<Event>,
    /// Transactions in flight.
    pub txns: Txns,
    /// Sums over the run.
    pub counters: Counters,
    geometry: Geometry,
    locator: Locator,
    timing: Timing,
    /// [`Timing::iteration`].
    iteration: Span,
    levels: LevelTimes,
    ladder: Ladder,
    /// Whether errors are modelled, and the level at which a page is read of which nothing is
    /// known.
    errs: bool,
    unknown_level: u8,
    /// Where errors are modelled, what the cells have been through.
    condition: Option<Box<Condition>>,
    dies: Table<DieId, Die>,
    channels: Table<ChannelId, Channel>,
    /// Every die has a channel of its own.
    channels_owned: bool,
    order: AnyDieOrder,
    /// Of one class it takes the one that was submitted first.
    in_order: bool,
    suspension: AnySuspension,
    rules: suspension::Params,
    marked: Marked,
    /// How long every program is on the cells, where all take as long, nothing is interrupted and
    /// nobody watches.
    plain_program: Option<Span>,
    /// What happened, step by step, where somebody watches.
    trace: Option<Vec<FlashStep>>,
}

/// The first of the only class of which something waits, whatever host programs do.
#[inline]
fn only_beside_host_programs(queue: &DieQueue) -> Option<TxnId> {
    let mut others = queue.classes().filter(|&class| class != TxnClass::HostProgram);
    let class = others.next()?;
    if others.next().is_none() { queue.head(class) } else { None }
}

impl Flash {
    /// An idle array of the shape of `geometry`, with room for `capacity` transactions.
    pub fn new(config: &Config, geometry: Geometry, capacity: usize) -> Self {
        let timing = config.effective_timing();
        let errs = config.reliability.model != ModelKind::Off;
        let ranks = config.die_order.ranks();
        let dies = geometry.dies() as usize;
        let channel = Channel::new(geometry.dies_per_channel() as usize);
        let marked = Marked::new(dies);
        let agenda = Agenda::with_capacity(4 * dies + 1024);
        let dies = (0..dies)
            .map(|die| Die::new(geometry.channel_of_die(DieId::new(die)), ranks, &timing))
            .collect();
        // SAFETY: a die is looked up by the id of an event, of a transaction that it serves or that
        // waits for it, by the locator's answer, or by the geometry's count. Events name dies that
        // were looked up before; a transaction is submitted to a die of the drive (`submit` asserts
        // it) and named by no die's queue before; the locator asserts its answers. A program that
        // has no die yet says `DieId::NONE`, which nobody looks up. Whoever asks from outside is
        // checked (`Device::die_times`). The channel of each die is the geometry's.
        #[allow(unsafe_code, reason = "see `Table`")]
        let (dies, channels) =
            unsafe { (Table::new(dies), Table::new(vec![channel; geometry.channels as usize])) };
        let mut flash = Self {
            agenda,
            txns: Txns::with_capacity(capacity),
            counters: Counters::default(),
            geometry,
            locator: Locator::new(&geometry),
            levels: if errs {
                LevelTimes::new(&timing, &config.reliability.ldpc())
            } else {
                LevelTimes::nominal(&timing)
            },
            ladder: Ladder::of(config),
            errs,
            unknown_level: 0,
            condition: None,
            dies,
            iteration: timing.iteration(),
            timing,
            channels,
            channels_owned: geometry.dies_per_channel() == 1,
            in_order: config.policies.die_order.is_none() && config.die_order.keeps_order(),
            order: AnyDieOrder::custom_or_new(
                config.policies.die_order.as_ref(),
                &config.die_order,
                config.seed,
            ),
            suspension: AnySuspension::custom_or_new(
                config.policies.suspension.as_ref(),
                &config.suspension,
                config.seed,
            ),
            rules: config.suspension,
            marked,
            plain_program: None,
            trace: None,
        };
        flash.plain_program = flash.plain_program();
        flash
    }

    /// See the field of this name.
    fn plain_program(&self) -> Option<Span> {
        let &[iterations] = self.timing.program_iterations.values() else { return None };
        let alike = !self.ladder.has_rungs();
        // Where reads are owed progress, a die is looked at again once its cells run.
        let undisturbed = self.never_interrupts() && self.rules.min_progress == Span::ZERO;
        let plain = alike && undisturbed && self.trace.is_none();
        plain.then(|| self.iteration * u64::from(iterations))
    }

    /// From now on a page of which nothing is known is read at this level.
    pub fn read_unknown_at(&mut self, level: u8) {
        self.unknown_level = level;
    }

    /// From now on the cells err.
    pub fn wear(&mut self, condition: Condition) {
        self.condition = Some(Box::new(condition));
    }

    /// What the cells have been through, where errors are modelled.
    #[inline]
    pub fn condition(&self) -> Option<&Condition> {
        self.condition.as_deref()
    }

    /// See [`Flash::condition`].
    pub fn condition_mut(&mut self) -> Option<&mut Condition> {
        self.condition.as_deref_mut()
    }

    /// The steps that programs are made at.
    pub fn ladder(&self) -> &Ladder {
        &self.ladder
    }

    /// The present.
    #[inline]
    pub fn now(&self) -> Nanos {
        self.agenda.now()
    }

    /// A die.
    #[inline]
    pub fn die(&self, die: DieId) -> &Die {
        &self.dies[die]
    }

    /// Every die.
    pub fn dies(&self) -> &Table<DieId, Die> {
        &self.dies
    }

    /// A channel.
    pub(crate) fn channel(&self, channel: ChannelId) -> &Channel {
        &self.channels.as_slice()[channel.index()]
    }

    /// How many transactions of the host wait for a die, by two accounts. For checks only.
    pub fn queued(&self, die: DieId) -> Queued {
        let count = |class| self.dies[die].queue.iter(class, &self.txns).count();
        Queued {
            by_the_host: count(TxnClass::HostRead) + count(TxnClass::HostProgram),
            ranked: self.dies[die].ranked.as_deref().map(RankedQueue::len),
        }
    }

    /// Time over all channels spent transferring.
    pub fn channel_busy(&self) -> Span {
        self.channels.as_slice().iter().fold(Span::ZERO, |sum, channel| sum + channel.carried)
    }

    /// Opens a transaction without letting it wait for its die yet.
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

    /// Puts a transaction into the queue of its die, where it waits from now on.
    #[inline(never)]
    pub fn submit(&mut self, id: TxnId) {
        let Txn { die, joined, .. } = *self.txns.get(id);
        self.submit_to(id, die, joined.is_some());
    }

    /// Like [`Flash::submit`], inlined, for GC's reads and programs: no page write ever joins them,
    /// and the caller knows their die and class.
    #[inline(always)]
    pub fn submit_alone(&mut self, id: TxnId, die: DieId, class: TxnClass) {
        let txn = self.txns.get_mut(id);
        // GC opens all transactions of a job on the die of its plane.
        debug_assert!(txn.die == die && !txn.joined.is_some());
        // The record has this class already. Storing it again makes it a constant for the compiler.
        txn.class = class;
        self.submit_to(id, die, false);
    }

    /// The part that every transaction needs. The rare rest is a call at the end, so that this part
    /// saves no registers for it.
    #[inline(always)]
    fn submit_to(&mut self, id: TxnId, die_id: DieId, joined: bool) {
        let now = self.now();
        let txn = self.txns.get_mut(id);
        txn.submitted = now;
        txn.wait = Wait::InLog;
        assert!(die_id.index() < self.dies.len(), "submitted to no die of the drive");
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

    /// The rest of [`Flash::submit`] for a program that page writes have joined.
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

    /// A page write joins a waiting program; its own wait begins now.
    pub fn join_at(&mut self, id: TxnId, die: DieId) {
        let now = self.now();
        let txn = self.txns.get_mut(id);
        txn.submitted = now;
        txn.wait = Wait::Noted;
        *self.txns.waits_mut(id) = self.dies[die].account.read_at(now);
    }

    /// Host programs may have pages on this die again.
    pub fn unblock(&mut self, die: DieId) {
        let its = &mut self.dies[die];
        if its.blocked {
            its.blocked = false;
            its.mark(die, &mut self.marked);
        }
    }

    #[inline]
    fn mark(&mut self, die: DieId) {
        self.dies[die].mark(die, &mut self.marked);
    }

    /// Whether a die has something to decide.
    #[inline]
    pub fn has_marked(&self) -> bool {
        !self.marked.is_empty()
    }

    /// Lets every die decide that has something to. Called when all that ends at this nanosecond
    /// has ended, and all that arrives has arrived (S15).
    #[inline]
    pub fn settle(&mut self, layer: &mut impl Translation) {
        // After half of all events there is none.
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
    fn attend(&mut self, id: DieId, layer: &mut impl Translation) {
        let die = &mut self.dies[id];
        die.marked = false;
        match die.state {
            State::Idle => {
                self.take_up(id, layer);
                if self.dies[id].offered {
                    self.pass_channel_on(id);
                }
            }
            // Where nothing is ever interrupted, nobody need ask whether to.
            _ if matches!(self.suspension, AnySuspension::Never(_)) => {}
            State::Loaded => self.leave_or_start(id),
            State::Running => self.consider_suspending(id),
            State::TransferIn | State::AwaitIn | State::Refill => self.consider_displacing(id),
            State::Sensing | State::AwaitOut | State::TransferOut | State::Suspending => {}
        }
    }

    /// Whether a program or erase runs to its end whatever comes.
    #[inline]
    fn never_interrupts(&self) -> bool {
        matches!(self.suspension, AnySuspension::Never(_))
    }

    /// The end of what a die was doing.
    #[inline]
    pub fn die_event(&mut self, id: DieId, ticket: Ticket, layer: &mut impl Translation) {
        let die = &self.dies[id];
        if die.ticket != ticket {
            return; // What was to end has been suspended.
        }
        let channel = die.channel;
        match die.state {
            State::Sensing => return self.sensed(id),
            State::Running => return self.completed(id, layer),
            State::Suspending => return self.park(id),
            State::TransferOut => self.transferred_out(id, layer),
            State::TransferIn => self.transferred_in(id),
            State::Refill => self.refilled(id),
            state @ (State::Idle | State::AwaitOut | State::AwaitIn | State::Loaded) => {
                unreachable!("die {} has no event in state {state:?}", id.0)
            }
        }
        // It was a transfer.
        self.release_channel(channel);
    }

    /// What runs may have made the progress that a read had to leave it.
    pub fn reconsider(&mut self, id: DieId) {
        self.mark(id);
    }

    #[inline]
    fn pick(&mut self, id: DieId) -> Option<TxnId> {
        let die = &self.dies[id];
        // Most often one class waits; where its order is that of submission, there is no choice.
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

    /// As [`Flash::pick`], where there is a choice.
    #[inline(never)]
    fn pick_among(&mut self, id: DieId) -> Option<TxnId> {
        let die = &self.dies[id];
        let ranked = die.ranked.as_deref();
        let view = View::new(&die.queue, ranked, &self.txns, self.agenda.now(), die.blocked);
        let candidate = self.order.pick(&view)?;
        if let AnyDieOrder::Custom(_) = self.order {
            self.check_choice(id, candidate);
        }
        // An erase never overtakes a read of its block: what it erases would be read afterwards.
        let erases = die.queue.head(TxnClass::Erase).is_some();
        if erases && self.txns.get(candidate).op == Op::Erase {
            return Some(self.read_of_block(id, candidate).unwrap_or(candidate));
        }
        Some(candidate)
    }

    /// Whoever builds the drive may hand over any order, and an order may return any number.
    #[cold]
    #[inline(never)]
    fn check_choice(&self, id: DieId, choice: TxnId) {
        let waits = self.txns.find(choice).is_some_and(|txn| {
            let mut waiting = self.dies[id].queue.iter(txn.class, &self.txns);
            waiting.any(|it| it == choice)
        });
        assert!(waits, "a die order chose transaction {}, which does not wait here", choice.0);
    }

    /// See docs/decisions/flash.md, "Does an erase wait for reads of its block?".
    fn read_of_block(&self, id: DieId, erase: TxnId) -> Option<TxnId> {
        let block = self.locator.block_of(self.txns.get(erase).unit);
        [TxnClass::HostRead, TxnClass::BackgroundRead].into_iter().find_map(|class| {
            self.dies[id].queue.iter(class, &self.txns).find(|&read| {
                let unit = self.txns.get(read).unit;
                unit.is_some() && self.locator.block_of(unit) == block
            })
        })
    }

    #[inline]
    fn take_up(&mut self, id: DieId, layer: &mut impl Translation) {
        if self.dies[id].cells == Cells::Suspended {
            return self.take_up_beside_suspended(id);
        }
        loop {
            let Some(txn) = self.pick(id) else {
                self.rest(id, layer);
                return;
            };
            let op = self.txns.get(txn).op;
            match op {
                Op::Read => self.start_read(id, txn),
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

    /// As [`Flash::take_up`], of a die whose program or erase is off the cells.
    #[inline(never)]
    fn take_up_beside_suspended(&mut self, id: DieId) {
        match self.pick(id).filter(|&txn| self.may_suspend(txn)) {
            Some(read) => self.start_read(id, read),
            None => self.resume(id),
        }
    }

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
