//! The flash array at work: what each die serves next, its way over the bus, suspension and
//! resumption. Knows blocks and pages as numbers only; what they mean is the translation layer's
//! business, reached through [`Translation`].
//!
//! Nothing here recurses: submitting marks the die, and marked dies are attended to, in the order
//! in which they were marked, before time moves on.

use crate::blame::{Blame, Part};
use crate::counters::Counters;
use crate::die::{Channel, Command, Die, State};
use crate::event::Event;
use crate::ledger::Doing;
use crate::policy::die_order::{AnyDieOrder, DieOrder};
use crate::policy::suspension::{
    self, AnySuspension, Candidate, Running, SuspendingReads, Suspension,
};
use crate::queue::{Class, View};
use crate::txn::{Op, Txn, Txns};
use fowler_agenda::{Agenda, Phase, Ticket};
use fowler_nand::{CellOp, EraseOp, Interrupt, ProgramOp, Timing};
use fowler_units::{DieId, Geometry, Id, IdVec, Nanos, Ppn, Span, TxnId};

/// What binding a program to a page comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bind {
    /// The transaction's `ppn` is set.
    Bound,
    /// There is nothing to program any more.
    Dropped,
    /// No page can be had until a collection ends.
    Blocked,
}

/// The layer above: gives programs their pages at the last moment and hears when things are done.
pub trait Translation {
    /// Gives a program its page, as late as possible, so that pages of a block are programmed in order
    /// whatever order the queue is served in.
    fn bind(&mut self, flash: &mut Flash, id: TxnId) -> Bind;
    /// Gives a further host program a page at the same offset as that of `first`, on a plane that takes
    /// no part yet. Returns whether it could.
    fn bind_beside(&mut self, flash: &mut Flash, first: TxnId, id: TxnId) -> bool;
    /// A transaction is done (or was dropped). It is still open; the layer closes it.
    fn done(&mut self, flash: &mut Flash, id: TxnId, dropped: bool);
    /// A die has nothing left to do.
    fn idle(&mut self, flash: &mut Flash, die: DieId);
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
    timing: Timing,
    dies: IdVec<DieId, Die>,
    channels: Vec<Channel>,
    order: AnyDieOrder,
    suspension: AnySuspension,
    rules: suspension::Params,
    marked: Vec<DieId>,
}

impl Flash {
    /// An idle array with room for `capacity` transactions.
    pub fn new(
        geometry: Geometry,
        timing: Timing,
        order: AnyDieOrder,
        suspension: AnySuspension,
        rules: suspension::Params,
        capacity: usize,
    ) -> Self {
        let dies = geometry.dies() as usize;
        let channel = Channel {
            busy: false,
            reserved: DieId::NONE,
            waiting: std::collections::VecDeque::with_capacity(geometry.dies_per_channel() as usize),
        };
        Self {
            agenda: Agenda::with_capacity(4 * dies + 1024),
            txns: Txns::with_capacity(capacity),
            counters: Counters::default(),
            geometry,
            timing,
            dies: IdVec::filled(Die::default(), dies),
            channels: vec![channel; geometry.channels as usize],
            order,
            suspension,
            rules,
            marked: Vec::with_capacity(dies),
        }
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
    pub fn dies(&self) -> &IdVec<DieId, Die> {
        &self.dies
    }

    /// Opens a transaction without letting it wait for its die yet.
    #[inline]
    pub fn open(&mut self, txn: Txn) -> TxnId {
        self.txns.open(txn)
    }

    /// Lets a transaction wait for its die, from now on.
    pub fn submit(&mut self, id: TxnId) {
        let now = self.now();
        let txn = self.txns.get_mut(id);
        txn.submitted = now;
        let (die_id, class, mut joined) = (txn.die, txn.class, txn.joined);
        let die = &mut self.dies[die_id];
        // A read that finds an idle die is served at once; only those that wait need a reading.
        let waits = class != Class::HostRead || !die.is_idle();
        self.txns.get_mut(id).waited = waits;
        if waits {
            *self.txns.waits_mut(id) = die.account.read(now);
            // The one that was to be served at once may have to wait for this one.
            if let Some(head) = die.queue.head(Class::HostRead)
                && !self.txns.get(head).waited
            {
                self.txns.get_mut(head).waited = true;
                *self.txns.waits_mut(head) = die.account.read(now);
            }
        }
        die.queue.push(id, &mut self.txns);
        while joined.is_some() {
            self.join_at(joined, die_id);
            joined = self.txns.get(joined).next;
        }
        self.mark(die_id);
    }

    /// A page write joins a program that waits already: its own wait begins now.
    pub fn join_at(&mut self, id: TxnId, die: DieId) {
        let now = self.now();
        let txn = self.txns.get_mut(id);
        txn.submitted = now;
        txn.waited = true;
        *self.txns.waits_mut(id) = self.dies[die].account.read(now);
    }

    /// Host programs may have pages on this die again.
    pub fn unblock(&mut self, die: DieId) {
        if self.dies[die].blocked {
            self.dies[die].blocked = false;
            self.mark(die);
        }
    }

    fn mark(&mut self, die: DieId) {
        if !self.dies[die].marked {
            self.dies[die].marked = true;
            self.marked.push(die);
        }
    }

    /// Attends to every marked die.
    #[inline]
    pub fn settle(&mut self, layer: &mut impl Translation) {
        let mut index = 0;
        while index < self.marked.len() {
            let die = self.marked[index];
            index += 1;
            self.dies[die].marked = false;
            self.attend(die, layer);
        }
        self.marked.clear();
    }

    fn attend(&mut self, id: DieId, layer: &mut impl Translation) {
        match self.dies[id].state {
            State::Idle => {
                self.take_up(id, layer);
                self.pass_channel_on(id);
            }
            State::Running => self.consider_suspending(id),
            State::TransferIn | State::AwaitIn | State::Refill => self.consider_displacing(id),
            State::Sensing | State::AwaitOut | State::TransferOut | State::Suspending => {}
        }
    }

    /// The end of what a die was doing.
    pub fn die_event(&mut self, id: DieId, ticket: Ticket, layer: &mut impl Translation) {
        if self.dies[id].ticket != ticket {
            return; // What was to end has been suspended.
        }
        self.dies[id].ticket = Ticket::NONE;
        match self.dies[id].state {
            State::Sensing => self.sensed(id),
            State::TransferOut => self.transferred_out(id, layer),
            State::TransferIn => self.transferred_in(id),
            State::Refill => self.refilled(id),
            State::Running => self.completed(id, layer),
            State::Suspending => self.parked(id),
            state @ (State::Idle | State::AwaitOut | State::AwaitIn) => {
                unreachable!("die {} has no event in state {state:?}", id.0)
            }
        }
    }

    /// What runs may have made the progress that a read had to leave it.
    pub fn reconsider(&mut self, id: DieId) {
        self.mark(id);
    }

    #[inline]
    fn schedule(&mut self, id: DieId, at: Nanos) {
        self.dies[id].ticket = self.agenda.schedule(at, Phase::Completion, Event::Die(id));
    }

    #[inline]
    fn enter(&mut self, id: DieId, state: State, doing: Doing) {
        let now = self.now();
        let die = &mut self.dies[id];
        die.state = state;
        die.account.switch(now, doing);
    }

    // --- What to serve next -----------------------------------------------------------------------

    #[inline]
    fn pick(&mut self, id: DieId) -> Option<TxnId> {
        let die = &self.dies[id];
        let candidate = self.order.pick(&View::new(&die.queue, &self.txns, die.blocked))?;
        // An erase never overtakes a read of its block: what it erases would be read afterwards.
        if self.txns.get(candidate).op == Op::Erase {
            return Some(self.read_of_block(id, candidate).unwrap_or(candidate));
        }
        Some(candidate)
    }

    fn read_of_block(&self, id: DieId, erase: TxnId) -> Option<TxnId> {
        let block = self.geometry.block_of(self.txns.get(erase).ppn);
        [Class::HostRead, Class::BackgroundRead].into_iter().find_map(|class| {
            self.dies[id].queue.iter(class, &self.txns).find(|&read| {
                let ppn = self.txns.get(read).ppn;
                ppn.is_some() && self.geometry.block_of(ppn) == block
            })
        })
    }

    fn take_up(&mut self, id: DieId, layer: &mut impl Translation) {
        loop {
            let candidate = self.pick(id);
            if self.dies[id].suspended.is_some() {
                match candidate.filter(|&txn| self.may_suspend(txn)) {
                    Some(read) => self.start_read(id, read),
                    None => self.resume(id),
                }
                return;
            }
            let Some(txn) = candidate else {
                self.rest(id, layer);
                return;
            };
            let op = self.txns.get(txn).op;
            match op {
                Op::Read => self.start_read(id, txn),
                Op::Erase => self.start_erase(id, txn),
                Op::Program => {
                    if !self.start_program(id, txn, layer) {
                        continue;
                    }
                }
            }
            return;
        }
    }

    fn rest(&mut self, id: DieId, layer: &mut impl Translation) {
        let now = self.now();
        self.withdraw(id);
        if self.dies[id].account.doing() != Doing::IDLE {
            self.enter(id, State::Idle, Doing::IDLE);
            self.dies[id].idle_since = now;
        }
        layer.idle(self, id);
    }

    // --- Reads --------------------------------------------------------------------------------------

    fn start_read(&mut self, id: DieId, txn: TxnId) {
        self.withdraw(id);
        self.dispatch(id, txn);
        let Txn { op, source, ppn, .. } = *self.txns.get(txn);
        self.txns.get_mut(txn).next = TxnId::NONE;
        self.dies[id].first = txn;
        self.dies[id].cursor = txn;
        if self.geometry.planes_per_die > 1 && ppn.is_some() {
            self.gather_reads(id, txn);
        }
        let sense = self.timing.read.at(self.offset(ppn));
        let sole = self.geometry.dies_per_channel() == 1;
        if sole && !self.txns.get(txn).next.is_some() {
            // Nobody else uses this channel: the transfer follows the sensing without a question.
            let transfer = self.timing.bus_transfer;
            self.channels[self.geometry.channel_of_die(id).index()].busy = true;
            self.counters.channel_busy += transfer;
            self.enter(id, State::TransferOut, Doing::serving(op, source));
            self.schedule(id, self.now() + sense + transfer);
        } else {
            self.enter(id, State::Sensing, Doing::serving(op, source));
            self.schedule(id, self.now() + sense);
        }
    }

    /// Pages at the same offset on other planes are sensed together.
    fn gather_reads(&mut self, id: DieId, first: TxnId) {
        let class = self.txns.get(first).class;
        let planes = self.geometry.planes_per_die;
        let geometry = self.geometry;
        let place = |txns: &Txns, txn: TxnId| {
            let ppn = txns.get(txn).ppn;
            (ppn.0 / geometry.pages_per_plane() % planes, geometry.offset_in_block(ppn))
        };
        let (plane, offset) = place(&self.txns, first);
        let mut used = 1u32 << plane;
        let mut last = first;
        let mut next = self.dies[id].queue.head(class);
        // Looking further than a few commands ahead is not what a controller does.
        for _ in 0..2 * planes {
            let Some(txn) = next else { break };
            let follower = self.txns.get(txn).next;
            next = follower.is_some().then_some(follower);
            if !self.txns.get(txn).ppn.is_some() {
                continue;
            }
            let (plane, its_offset) = place(&self.txns, txn);
            if its_offset == offset && used & (1 << plane) == 0 {
                used |= 1 << plane;
                self.dispatch(id, txn);
                self.txns.get_mut(txn).next = TxnId::NONE;
                self.txns.get_mut(last).next = txn;
                last = txn;
            }
        }
    }

    fn sensed(&mut self, id: DieId) {
        self.dies[id].state = State::AwaitOut;
        self.ask_channel(id);
    }

    fn transferred_out(&mut self, id: DieId, layer: &mut impl Translation) {
        let read = self.dies[id].cursor;
        let next = self.txns.get(read).next;
        self.counters.reads[self.txns.get(read).source as usize] += 1;
        if next.is_some() {
            self.dies[id].cursor = next;
            self.dies[id].state = State::AwaitOut;
            layer.done(self, read, false);
            self.release_channel(id);
            self.ask_channel(id);
            return;
        }
        let took = self.now() - self.txns.get(read).dispatched;
        let die = &mut self.dies[id];
        die.state = State::Idle;
        die.served += took;
        if let Some(suspended) = &mut die.suspended {
            suspended.reads += took;
        }
        layer.done(self, read, false);
        self.mark(id);
        self.release_channel(id);
    }

    // --- Programs and erases ------------------------------------------------------------------------

    /// Begins a program, or waits for the channel to do so. Returns `false` if there was nothing to
    /// begin: the program was dropped, or host programs are blocked from now on.
    fn start_program(&mut self, id: DieId, txn: TxnId, layer: &mut impl Translation) -> bool {
        let needs_channel = !self.txns.get(txn).data_in_buffer;
        if needs_channel && !self.channel_is_free_for(id) {
            self.want_channel(id);
            if self.dies[id].account.doing() != Doing::IDLE {
                self.enter(id, State::Idle, Doing::IDLE);
            }
            return true;
        }
        match layer.bind(self, txn) {
            Bind::Bound => {}
            Bind::Blocked => {
                self.dies[id].blocked = true;
                return false;
            }
            Bind::Dropped => {
                self.dispatch(id, txn);
                layer.done(self, txn, true);
                return false;
            }
        }
        self.withdraw(id);
        self.dispatch(id, txn);
        self.txns.get_mut(txn).next = TxnId::NONE;
        if self.geometry.planes_per_die > 1 && self.txns.get(txn).class == Class::HostProgram {
            self.gather_programs(id, txn, layer);
        }
        self.dies[id].first = txn;
        self.dies[id].cursor = txn;
        let Txn { op, source, .. } = *self.txns.get(txn);
        self.enter(id, State::AwaitIn, Doing::serving(op, source));
        if needs_channel {
            self.ask_channel(id);
        } else {
            self.begin_cells(id);
        }
        true
    }

    /// Host programs that can have pages at the same offset on other planes go along.
    fn gather_programs(&mut self, id: DieId, first: TxnId, layer: &mut impl Translation) {
        let mut last = first;
        for _ in 1..self.geometry.planes_per_die {
            let Some(next) = self.dies[id].queue.head(Class::HostProgram) else { return };
            if !layer.bind_beside(self, first, next) {
                return;
            }
            self.dispatch(id, next);
            self.txns.get_mut(next).next = TxnId::NONE;
            self.txns.get_mut(last).next = next;
            last = next;
        }
    }

    fn transferred_in(&mut self, id: DieId) {
        let next = self.txns.get(self.dies[id].cursor).next;
        if next.is_some() {
            self.dies[id].cursor = next;
            self.dies[id].state = State::AwaitIn;
            self.release_channel(id);
            self.ask_channel(id);
        } else {
            self.begin_cells(id);
            self.release_channel(id);
        }
    }

    fn begin_cells(&mut self, id: DieId) {
        let first = self.dies[id].first;
        let offset = self.offset(self.txns.get(first).ppn);
        let cells = CellOp::Program(ProgramOp::new(
            self.timing.program_iterations.at(offset),
            self.rules.cancelled_program,
            self.rules.reload,
        ));
        self.start_cells(id, first, cells, self.timing.program(offset));
    }

    fn start_erase(&mut self, id: DieId, txn: TxnId) {
        self.withdraw(id);
        self.dispatch(id, txn);
        self.txns.get_mut(txn).next = TxnId::NONE;
        let Txn { op, source, .. } = *self.txns.get(txn);
        self.enter(id, State::AwaitIn, Doing::serving(op, source));
        let cells = CellOp::Erase(EraseOp::new(&self.timing));
        self.start_cells(id, txn, cells, self.timing.erase());
    }

    /// Puts a new operation on the cells, unless a read that came during its transfer goes first (S14).
    fn start_cells(&mut self, id: DieId, first: TxnId, cells: CellOp, nominal: Span) {
        let now = self.now();
        let account = self.dies[id].account.read(now);
        let mut command =
            Command { first, cells, started: now, nominal, account, reads: Span::ZERO };
        if std::mem::take(&mut self.dies[id].suspend_wanted) {
            self.displace(&mut command);
            self.park(id, command);
            return;
        }
        let end = command.cells.run(now, &self.timing);
        self.dies[id].state = State::Running;
        self.dies[id].running = Some(command);
        self.schedule(id, end);
    }

    fn completed(&mut self, id: DieId, layer: &mut impl Translation) {
        let command = self.dies[id].running.take().expect("a running die has a command");
        self.tally(&command);
        let took = self.now() - self.txns.get(command.first).dispatched;
        self.dies[id].served += took - command.reads;
        self.dies[id].running = Some(command);
        self.dies[id].state = State::Idle;
        let mut txn = command.first;
        while txn.is_some() {
            let Txn { op, source, next, .. } = *self.txns.get(txn);
            match op {
                Op::Program => self.counters.programs[source as usize] += 1,
                Op::Erase => self.counters.erases[source as usize] += 1,
                Op::Read => unreachable!("reads do not run on the cells"),
            }
            layer.done(self, txn, false);
            txn = next;
        }
        self.dies[id].running = None;
        self.mark(id);
    }

    fn tally(&mut self, command: &Command) {
        if self.txns.get(command.first).suspensions > 0 {
            let took = self.now() - command.started;
            self.counters.suspended_operations += 1;
            self.counters.suspended_nominal += command.nominal;
            self.counters.suspended_extra += took.saturating_sub(command.nominal);
        }
    }

    // --- Suspension ---------------------------------------------------------------------------------

    fn may_suspend(&self, txn: TxnId) -> bool {
        let txn = self.txns.get(txn);
        txn.op == Op::Read && (txn.host_waits() || self.rules.reads == SuspendingReads::All)
    }

    /// Asks whether the transaction that would be next may interrupt what runs.
    fn interrupting(
        &mut self,
        id: DieId,
        running: TxnId,
        ran: Span,
    ) -> Option<fowler_nand::SuspendAt> {
        if matches!(self.suspension, AnySuspension::Never(_)) {
            return None;
        }
        let candidate = self.pick(id)?;
        let running = self.txns.get(running);
        let running = Running { op: running.op, suspensions: running.suspensions, ran };
        let candidate = self.txns.get(candidate);
        let candidate = Candidate { op: candidate.op, host_waits: candidate.host_waits() };
        self.suspension.interrupts(running, candidate)
    }

    fn consider_suspending(&mut self, id: DieId) {
        let now = self.now();
        let command = self.dies[id].running.expect("a running die has a command");
        let ran = now - command.cells.running_since();
        let Some(rule) = self.interrupting(id, command.first, ran) else {
            if ran < self.rules.min_progress {
                let again = command.cells.running_since() + self.rules.min_progress;
                self.agenda.schedule(again, Phase::Decision, Event::Reconsider(id));
            }
            return;
        };
        let mut command = command;
        let Interrupt::Off { at, counted } = command.cells.interrupt(now, &self.timing, rule)
        else {
            return;
        };
        if counted {
            self.count_suspension(id, &mut command);
        }
        self.dies[id].running = Some(command);
        self.enter(id, State::Suspending, Doing::SUSPENDING);
        if at == now {
            self.dies[id].ticket = Ticket::NONE;
            self.parked(id);
        } else {
            self.schedule(id, at);
        }
    }

    /// S14: a read that comes during the transfer of a program waits for it and goes before the cells.
    fn consider_displacing(&mut self, id: DieId) {
        if self.dies[id].suspend_wanted {
            return;
        }
        let first = match self.dies[id].suspended {
            Some(command) => command.first,
            None => self.dies[id].first,
        };
        self.dies[id].suspend_wanted = self.interrupting(id, first, Span::ZERO).is_some();
    }

    fn displace(&mut self, command: &mut Command) {
        if let CellOp::Program(program) = &mut command.cells {
            program.displace();
        }
        let die = self.txns.get(command.first).die;
        self.count_suspension(die, command);
    }

    fn count_suspension(&mut self, id: DieId, command: &mut Command) {
        self.counters.suspensions += 1;
        let now = self.now();
        let first = self.txns.get_mut(command.first);
        if first.suspensions == 0 {
            command.account = self.dies[id].account.read(now);
        }
        first.suspensions += 1;
    }

    fn parked(&mut self, id: DieId) {
        let command = self.dies[id].running.take().expect("a suspending die has a command");
        self.park(id, command);
    }

    fn park(&mut self, id: DieId, command: Command) {
        self.dies[id].suspended = Some(command);
        self.enter(id, State::Idle, Doing::SUSPENDING);
        self.mark(id);
    }

    fn resume(&mut self, id: DieId) {
        let now = self.now();
        let mut command = self.dies[id].suspended.expect("something to resume");
        let refill = match &command.cells {
            CellOp::Program(program) => program.reload_due() && !self.rules.shadow_buffer,
            CellOp::Erase(_) => false,
        };
        if refill {
            self.enter(id, State::Idle, Doing::SUSPENDING);
            if self.channel_is_free_for(id) {
                self.begin_refill(id);
            } else {
                self.want_channel(id);
            }
            return;
        }
        self.dies[id].suspended = None;
        let Txn { op, source, .. } = *self.txns.get(command.first);
        let end = command.cells.run(now, &self.timing);
        self.dies[id].running = Some(command);
        self.enter(id, State::Running, Doing::serving(op, source));
        self.schedule(id, end);
    }

    fn begin_refill(&mut self, id: DieId) {
        self.withdraw(id);
        let command = self.dies[id].suspended.expect("something to resume");
        let pages = self.chain_length(command.first);
        self.occupy_channel(id, self.timing.bus_transfer * pages);
        self.dies[id].state = State::Refill;
    }

    fn refilled(&mut self, id: DieId) {
        let mut command = self.dies[id].suspended.take().expect("something to resume");
        let Txn { op, source, .. } = *self.txns.get(command.first);
        if std::mem::take(&mut self.dies[id].suspend_wanted) {
            self.displace(&mut command);
            self.park(id, command);
        } else {
            if let CellOp::Program(program) = &mut command.cells {
                program.refill();
            }
            let end = command.cells.run(self.now(), &self.timing);
            self.dies[id].running = Some(command);
            self.enter(id, State::Running, Doing::serving(op, source));
            self.schedule(id, end);
        }
        self.release_channel(id);
    }

    fn chain_length(&self, first: TxnId) -> u64 {
        let mut length = 0;
        let mut txn = first;
        while txn.is_some() {
            length += 1;
            txn = self.txns.get(txn).next;
        }
        length
    }

    // --- The channel --------------------------------------------------------------------------------

    /// Stands in line for the channel, at most once.
    fn want_channel(&mut self, id: DieId) {
        if !self.dies[id].wants_channel {
            self.dies[id].wants_channel = true;
            self.channels[self.geometry.channel_of_die(id).index()].waiting.push_back(id);
        }
    }

    /// Leaves the line: the die has found something better to do.
    fn withdraw(&mut self, id: DieId) {
        if self.dies[id].wants_channel {
            self.dies[id].wants_channel = false;
            let line = &mut self.channels[self.geometry.channel_of_die(id).index()].waiting;
            line.retain(|&die| die != id);
        }
    }

    fn channel_is_free_for(&self, id: DieId) -> bool {
        let channel = &self.channels[self.geometry.channel_of_die(id).index()];
        !channel.busy && (!channel.reserved.is_some() || channel.reserved == id)
    }

    fn ask_channel(&mut self, id: DieId) {
        if self.channel_is_free_for(id) {
            self.granted(id);
        } else {
            self.want_channel(id);
        }
    }

    fn occupy_channel(&mut self, id: DieId, time: Span) {
        let channel = &mut self.channels[self.geometry.channel_of_die(id).index()];
        assert!(!channel.busy, "two transfers on one channel");
        channel.busy = true;
        channel.reserved = DieId::NONE;
        self.counters.channel_busy += time;
        self.schedule(id, self.now() + time);
    }

    /// The channel is the die's for one page.
    fn granted(&mut self, id: DieId) {
        self.dies[id].state = match self.dies[id].state {
            State::AwaitOut => State::TransferOut,
            State::AwaitIn => State::TransferIn,
            state => unreachable!("die {} was granted the channel in state {state:?}", id.0),
        };
        self.occupy_channel(id, self.timing.bus_transfer);
    }

    fn release_channel(&mut self, id: DieId) {
        let channel = self.geometry.channel_of_die(id).index();
        self.channels[channel].busy = false;
        self.offer_channel(channel);
    }

    /// The free channel goes to the first in line. An idle die that waits to begin a program is asked
    /// anew what it wants, before time moves on; until then the channel is reserved for it.
    fn offer_channel(&mut self, channel: usize) {
        let Some(next) = self.channels[channel].waiting.pop_front() else { return };
        self.dies[next].wants_channel = false;
        if self.dies[next].state == State::Idle {
            self.channels[channel].reserved = next;
            self.mark(next);
        } else {
            self.granted(next);
        }
    }

    /// A die that had the channel reserved found something else to do.
    fn pass_channel_on(&mut self, id: DieId) {
        let channel = self.geometry.channel_of_die(id).index();
        if self.channels[channel].reserved == id {
            self.channels[channel].reserved = DieId::NONE;
            self.offer_channel(channel);
        }
    }

    // --- Blame --------------------------------------------------------------------------------------

    /// A transaction leaves its queue: what the die did meanwhile is what it waited behind.
    #[inline]
    fn dispatch(&mut self, id: DieId, txn: TxnId) {
        let now = self.now();
        let die = &mut self.dies[id];
        die.queue.remove(txn, &mut self.txns);
        let record = self.txns.get_mut(txn);
        record.dispatched = now;
        if record.waited {
            let reading = die.account.read(now);
            let mut joined = record.joined;
            let waits = self.txns.waits_mut(txn);
            *waits = reading.since(waits);
            while joined.is_some() {
                let waits = self.txns.waits_mut(joined);
                *waits = reading.since(waits);
                joined = self.txns.get(joined).next;
            }
        }
    }

    /// Where the time of a transaction went between its submission and now, when it is done. `id` is
    /// the transaction served, `waiter` it or one that joined it.
    pub fn service_blame(&self, id: TxnId, waiter: TxnId, blame: &mut Blame) {
        let txn = self.txns.get(id);
        if self.txns.get(waiter).waited {
            self.txns.waits(waiter).blame(blame);
        }
        // One that joined after the die took the program up does not exist: it would be a new program.
        let total = self.now() - txn.dispatched;
        match txn.op {
            Op::Read => {
                blame[Part::Sense] += self.timing.read.at(self.offset(txn.ppn));
                blame[Part::Transfer] += self.timing.bus_transfer;
                let own = self.timing.read.at(self.offset(txn.ppn)) + self.timing.bus_transfer;
                blame[Part::Channel] += total - own;
            }
            Op::Program | Op::Erase => self.cells_blame(txn, total, blame),
        }
    }

    fn cells_blame(&self, txn: &Txn, total: Span, blame: &mut Blame) {
        let die = &self.dies[txn.die];
        let Some(command) = die.running else {
            return; // Dropped: nothing was done, at no time.
        };
        let transfer = match txn.op {
            Op::Program if !txn.data_in_buffer => self.timing.bus_transfer,
            _ => Span::ZERO,
        };
        let before = command.started - txn.dispatched;
        blame[Part::Transfer] += transfer;
        blame[Part::Channel] += before - transfer;
        let mut own = total - before;
        if txn.suspensions > 0 || command.reads > Span::ZERO {
            let since = die.account.read(self.now()).since(&command.account);
            since.blame_reads(blame);
            own -= since.reading();
        }
        // A cut pulse that had reached its voltage saves the rest of it (S7, `reached`).
        let program = own.min(command.nominal);
        blame[Part::Program] += program;
        blame[Part::Suspend] += own - program;
    }

    fn offset(&self, ppn: Ppn) -> u32 {
        if ppn.is_some() { self.geometry.offset_in_block(ppn) } else { 0 }
    }
}
