//! Suspension of programs and erases for reads, and their resumption (S5 to S15).
//!
//! 1. A die with a command on the cells looks for a read when one is submitted
//!    ([`Flash::consider_suspending`]).
//! 2. The rules (`suspension.*`) and the policy decide if and when the read interrupts: at once, or
//!    at a point that loses less.
//! 3. The command comes off the cells at that point, after the delay of a suspension
//!    ([`Flash::park`]). Its progress is saved in the command.
//! 4. The die serves reads that may suspend, one after another.
//! 5. Without such a read, the command resumes: the data of a program is first transferred in again
//!    if reads have used the page buffer ([`Flash::resume`]).
//!
//! Exceptions:
//!
//! - A read that comes during the transfer of a program goes between transfer and cells
//!   ([`Flash::consider_displacing`], S14).
//! - A command that has not made its minimum progress checks for reads again when it has.
//! - A command whose maximum time is over resumes before waiting reads; a suspension that would end
//!   later is refused.

use super::Flash;
use super::flash_trace::FlashEvent;
use crate::event::{Event, lane};
use crate::flash::cache_register::Holds;
use crate::flash::die::{Cells, Die, State};
use crate::flash::txn::Txn;
use crate::observe::ledger::Doing;
use crate::observe::operation::Op;
use crate::policy::suspension::{Candidate, Running, SuspendingReads, Suspension};
use fowler_agenda::{Agenda, Phase, Ticket};
use fowler_nand::{CellOp, Interrupt, SuspendAt, Timing};
use fowler_units::{DieId, Id, Nanos, Span, TxnId};

/// Lane of the event queue (a list in order of time) for the moments at which programs and erases
/// come off the cells. These are as rare as completions over the link, and most take the same time.
const OFF: usize = lane::LINK;

impl Die {
    /// Resumes the suspended command on the cells. Returns the time at which it ends unless it is
    /// interrupted.
    fn run(&mut self, id: DieId, timing: &Timing, agenda: &mut Agenda<Event>) -> Nanos {
        let end = self.command.cells.run(agenda.now(), timing);
        self.run_until(id, end, agenda);
        end
    }

    /// Starts the program whose data has been transferred into the die. It occupies the cells for
    /// `time`, on a drive that never suspends programs and so need not track their progress.
    #[inline(always)]
    pub(super) fn run_plain(&mut self, id: DieId, time: Span, agenda: &mut Agenda<Event>) {
        debug_assert!(self.command.suspended.is_none(), "nothing is ever suspended here");
        let now = agenda.now();
        let end = now + time;
        self.command.first = self.first;
        self.command.started = now;
        self.command.nominal = time;
        self.cells = Cells::Running;
        self.state = State::Running;
        self.until = end;
        self.ticket = agenda.schedule_in(lane::PROGRAM, end, Phase::Completion, Event::Die(id));
    }

    /// Records that the command is running on the cells, and ends at `end` unless it is
    /// interrupted.
    #[inline(always)]
    pub(super) fn run_until(&mut self, id: DieId, end: Nanos, agenda: &mut Agenda<Event>) {
        let event = Event::Die(id);
        self.cells = Cells::Running;
        self.state = State::Running;
        // An erase is long. While it waited in the lane, every program would go to the heap.
        self.until = end;
        self.ticket = match self.command.cells {
            CellOp::Program(_) => agenda.schedule_in(lane::PROGRAM, end, Phase::Completion, event),
            CellOp::Erase(_) => agenda.schedule(end, Phase::Completion, event),
        };
    }
}

impl Flash {
    /// Returns true if a transaction may interrupt a program or erase, or go before it is resumed.
    pub(super) fn may_suspend(&self, txn: TxnId) -> bool {
        let txn = self.txns.get(txn);
        txn.op == Op::Read && (txn.host_waits() || self.rules.reads == SuspendingReads::All)
    }

    /// Returns the moment at which the die interrupts its running program or erase for the waiting
    /// transaction that it would serve next; `None` if that transaction may not interrupt it.
    pub(super) fn interrupting(
        &mut self,
        id: DieId,
        running: TxnId,
        ran: Span,
    ) -> Option<SuspendAt> {
        let candidate = self.pick(id).filter(|&candidate| self.may_suspend(candidate))?;
        let (running, candidate) = (self.txns.get(running), self.txns.get(candidate));
        let Txn { op, suspensions, .. } = *running;
        let running = Running { now: self.now(), die: id, op, suspensions, ran };
        let host_waits = candidate.host_waits();
        let candidate = Candidate { host_waits, since: candidate.submitted };
        if !self.rules.permits(running) {
            return None;
        }
        self.suspension.interrupts(running, candidate)
    }

    /// Suspends the running command if the next transaction may interrupt it.
    pub(super) fn consider_suspending(&mut self, id: DieId) {
        let now = self.now();
        let command = &self.dies[id].command;
        let since = command.cells.running_since();
        let Some(rule) = self.interrupting(id, command.first, now - since) else {
            let owed = now - since < self.rules.min_progress;
            if owed && self.pick(id).is_some_and(|candidate| self.may_suspend(candidate)) {
                let again = since + self.rules.min_progress;
                self.agenda.schedule(again, Phase::Decision, Event::Reconsider(id));
            }
            return;
        };
        let mut cells = self.dies[id].command.cells;
        let Interrupt::Off { at, counted } = cells.interrupt(now, &self.timing, rule) else {
            return;
        };
        // An operation that was still loading the page buffer has no state to save.
        let (stopped, at) = (at, if counted { at + self.rules.delay } else { at });
        if self.rules.overdue(at, self.dies[id].command.started) {
            return;
        }
        self.dies[id].command.cells = cells;
        if counted {
            self.count_suspension(id);
        }
        let event = FlashEvent::Off { stopped, free: at, counted };
        self.note(id, self.dies[id].command.first, event);
        let die = &mut self.dies[id];
        die.enter(now, State::Suspending, Doing::SUSPENDING, &mut self.txns);
        die.until = at;
        if at == now {
            die.ticket = Ticket::NONE;
            self.park(id);
        } else {
            let event = Event::Die(id);
            die.ticket = self.agenda.schedule_in(OFF, at, Phase::Completion, event);
        }
    }

    /// Checks again for reads that came during a transfer, or that had to wait for the minimum
    /// progress, now that the command runs on the cells.
    pub(super) fn look_again(&mut self, id: DieId) {
        if self.rules.min_progress > Span::ZERO {
            self.mark(id);
        }
    }

    /// Lets a read that comes during the transfer of a program's data go before the program starts
    /// on the cells (rule S14 of docs/pes.md). See docs/decisions/flash.md, "What does S14 mean for
    /// a multi-plane program?".
    pub(super) fn consider_displacing(&mut self, id: DieId) {
        let die = &self.dies[id];
        if die.suspend_wanted {
            return;
        }
        let first = match die.cells {
            Cells::Suspended if self.rules.overdue(self.now(), die.command.started) => return,
            Cells::Suspended => die.command.first,
            Cells::Free | Cells::Running | Cells::Failed => die.first,
        };
        self.dies[id].suspend_wanted = self.interrupting(id, first, Span::ZERO).is_some();
    }

    /// Suspends a command whose data is in the page buffer, before it starts on the cells.
    pub(super) fn displace(&mut self, id: DieId) {
        if let CellOp::Program(program) = &mut self.dies[id].command.cells {
            program.displace();
        }
        self.count_suspension(id);
        let free = self.now();
        self.note(
            id,
            self.dies[id].command.first,
            FlashEvent::Off { stopped: free, free, counted: true },
        );
        self.park(id);
    }

    fn count_suspension(&mut self, id: DieId) {
        self.counters.suspensions += 1;
        let now = self.now();
        let command = &mut self.dies[id].command;
        command.suspended.get_or_insert(now);
        self.txns.get_mut(command.first).suspensions += 1;
    }

    /// Records that the command is suspended: the die is free for reads.
    pub(super) fn park(&mut self, id: DieId) {
        let now = self.now();
        let die = &mut self.dies[id];
        die.cells = Cells::Suspended;
        die.enter(now, State::Idle, Doing::SUSPENDING, &mut self.txns);
        die.mark(id, &mut self.marked);
    }

    fn resume_cells(&mut self, id: DieId) {
        let now = self.now();
        let die = &mut self.dies[id];
        let Txn { op, source, .. } = *self.txns.get(die.command.first);
        die.enter(now, State::Running, Doing::serving(op, source), &mut self.txns);
        let until = die.run(id, &self.timing, &mut self.agenda);
        self.note_run(id, until);
        self.look_again(id);
        if self.dies[id].cache.holds == Holds::AwaitIn {
            self.mark(id); // The data of the next program continues to enter.
        }
    }

    /// Resumes the suspended command, after its data was transferred in again if necessary.
    pub(super) fn resume(&mut self, id: DieId) {
        let refill = match &self.dies[id].command.cells {
            CellOp::Program(program) => program.reload_due() && !self.rules.shadow_buffer,
            CellOp::Erase(_) => false,
        };
        if !refill {
            return self.resume_cells(id);
        }
        let time = self.timing.bus_transfer * self.transfers_of(self.dies[id].command.first);
        let now = self.now();
        let die = &mut self.dies[id];
        let channel = &mut self.channels[die.channel];
        die.enter(now, State::Idle, Doing::SUSPENDING, &mut self.txns);
        if channel.is_free_for(id) {
            channel.withdraw(id, die);
            channel.occupy(id, die, State::Refill, time, &mut self.agenda);
        } else {
            channel.enqueue(id, die);
        }
    }

    pub(super) fn refilled(&mut self, id: DieId) {
        let transfer = self.channels[self.dies[id].channel].latest;
        self.note(id, self.dies[id].command.first, FlashEvent::Load { transfer, again: true });
        self.loaded(id);
    }

    /// Resumes a suspended program whose data is in the page buffer again, unless a read goes
    /// first.
    pub(super) fn put_back(&mut self, id: DieId) {
        if std::mem::take(&mut self.dies[id].suspend_wanted) {
            self.displace(id);
        } else {
            if let CellOp::Program(program) = &mut self.dies[id].command.cells {
                program.refill();
            }
            self.resume_cells(id);
        }
    }

    /// Returns the number of transfers of a program command.
    fn transfers_of(&self, first: TxnId) -> u64 {
        let mut transfers = 0;
        let mut txn = first;
        while txn.is_some() {
            let Txn { parts, next, .. } = *self.txns.get(txn);
            transfers += u64::from(parts);
            txn = next;
        }
        transfers
    }
}
