//! Programs and erases on a die.
//!
//! 1. A program that needs the channel waits in line for it while its die is idle; the die starts
//!    anything better that arrives ([`Flash::start_program`]).
//! 2. With the channel free, the program is bound to its page; further host programs of the die
//!    join it on other planes.
//! 3. The pages are transferred in, one after another, each in its turn at the channel
//!    ([`Flash::transferred_in`]).
//! 4. The command runs on the cells for its number of ISPP iterations; an erase begins here
//!    ([`Flash::start_cells`]).
//! 5. At the end the wear is recorded, each transaction of the command is handed back, and the die
//!    decides anew ([`Flash::completed`]).
//!
//! Exceptions:
//!
//! - A program without a page blocks the host programs of its die; one without data left is
//!   dropped.
//! - A read that came during the transfer goes before step 4, and the command is suspended before
//!   it began (S14).
//! - If nothing can interrupt a program and all take the same time, step 4 takes a short path
//!   (`Die::run_plain`).
//! - A program that fails is repeated: it takes its iterations once more.

use super::{Bind, Flash, Translation};
use crate::config::ProgramTransfer;
use crate::flash::die::{Cells, State};
use crate::flash::queue::TxnClass;
use crate::flash::txn::{Owner, Txn};
use crate::observe::ledger::Doing;
use crate::observe::operation::Op;
use fowler_nand::{CellOp, EraseOp, ProgramOp};
use fowler_units::{BlockId, DieId, Geometry, Id, Span, TxnId, UnitId};

impl Flash {
    /// Begins a program, or waits for the channel. Returns `false` if there was nothing to begin:
    /// the program was dropped, or host programs are blocked from now on.
    /// See docs/decisions/flash.md, "What does a program do while its channel is busy?".
    pub(super) fn start_program<L: Translation>(
        &mut self,
        id: DieId,
        txn: TxnId,
        layer: &mut L,
    ) -> bool {
        let now = self.now();
        let needs_channel = !self.txns.get(txn).data_in_buffer;
        let die = &mut self.dies[id];
        let channel = &mut self.channels[die.channel];
        if needs_channel && !channel.is_free_for(id) {
            channel.enqueue(id, die);
            if die.account.doing() != Doing::IDLE {
                die.enter(now, State::Idle, Doing::IDLE, &mut self.txns);
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
                self.drop_program(id, txn, layer);
                return false;
            }
        }
        let source = self.txns.get(txn).source;
        let mut die = &mut self.dies[id];
        self.channels[die.channel].withdraw(id, die);
        die.dispatch(txn, now, &mut self.txns);
        if L::PACKED {
            self.chain_rest(txn, layer);
            die = &mut self.dies[id];
        } else if self.geometry.planes_per_die > 1 {
            // Two tests, not one: most dies have one plane.
            if self.txns.get(txn).class == TxnClass::HostProgram {
                self.gather_programs(id, txn, layer);
            }
            die = &mut self.dies[id];
        }
        die.first = txn;
        die.cursor = txn;
        die.enter(now, State::AwaitIn, Doing::serving(Op::Program, source), &mut self.txns);
        if needs_channel {
            // The channel was free above, and binding transfers nothing.
            let channel = &mut self.channels[die.channel];
            let transfer = self.txns.get(txn).all_of(L::PACKED, self.timing.bus_transfer);
            die.transfer = transfer;
            channel.occupy(id, die, State::TransferIn, transfer, &mut self.agenda);
        } else {
            self.begin_cells(id);
        }
        true
    }

    /// Ends a program that has no data left to write.
    #[cold]
    #[inline(never)]
    fn drop_program(&mut self, id: DieId, txn: TxnId, layer: &mut impl Translation) {
        let now = self.now();
        self.dies[id].dispatch(txn, now, &mut self.txns);
        layer.done(self, txn, true);
    }

    /// Chains the other pages of a program command, which are submitted with it, to the first page.
    pub(super) fn chain_rest(&mut self, first: TxnId, layer: &impl Translation) {
        let now = self.now();
        let rest = layer.rest_of(self.txns.get(first));
        self.txns.get_mut(first).next = rest;
        let mut member = rest;
        while member.is_some() {
            let txn = self.txns.get_mut(member);
            (txn.submitted, txn.dispatched) = (now, now);
            member = txn.next;
        }
    }

    /// Adds further host programs to the command of `first`, as long as they can have pages at the
    /// same offset on other planes, whatever waits between them. See docs/decisions/flash.md, "How
    /// do planes work in lockstep?".
    fn gather_programs(&mut self, id: DieId, first: TxnId, layer: &mut impl Translation) {
        let now = self.now();
        let mut last = first;
        for _ in 1..self.geometry.planes_per_die {
            let Some(next) = self.first_program(id) else { return };
            if !layer.bind_beside(self, first, next) {
                return;
            }
            self.dies[id].dispatch(next, now, &mut self.txns);
            self.txns.get_mut(last).next = next;
            last = next;
        }
    }

    /// Returns the next host program of a die, by rank if the die ranks its queue.
    fn first_program(&self, id: DieId) -> Option<TxnId> {
        let die = &self.dies[id];
        match &die.ranked {
            Some(ranked) => ranked.first(TxnClass::HostProgram),
            None => die.queue.head(TxnClass::HostProgram),
        }
    }

    #[inline]
    pub(super) fn transferred_in(&mut self, id: DieId) {
        let die = &mut self.dies[id];
        let next = self.txns.get(die.cursor).next;
        // The short path if no probe watches and nothing is ever interrupted.
        if let Some(time) = self.plain_program
            && !next.is_some()
        {
            die.run_plain(id, time, &mut self.agenda);
            return;
        }
        self.note_load(id);
        if next.is_some() {
            let die = &mut self.dies[id];
            die.cursor = next;
            die.state = State::AwaitIn;
            let channel = &mut self.channels[die.channel];
            match self.registers.program_transfer {
                // The next page waits behind the dies that already wait for the channel.
                ProgramTransfer::Page => channel.enqueue(id, die),
                ProgramTransfer::Command => channel.enqueue_first(id, die),
            }
        } else {
            self.loaded(id);
        }
    }

    /// Starts a program whose data is in the page buffer. If reads may go first, the program waits
    /// for those that arrive at this very nanosecond.
    #[inline]
    pub(super) fn loaded(&mut self, id: DieId) {
        self.dies[id].state = State::Loaded;
        if self.never_interrupts() {
            self.start_loaded(id);
        } else {
            self.mark(id);
        }
    }

    /// Lets a program whose data is in the page buffer give way to a read, or start on the cells.
    pub(super) fn leave_or_start(&mut self, id: DieId) {
        self.consider_displacing(id);
        self.start_loaded(id);
    }

    fn start_loaded(&mut self, id: DieId) {
        if self.dies[id].cells == Cells::Suspended {
            self.put_back(id);
        } else {
            self.begin_cells(id);
        }
    }

    #[inline]
    pub(super) fn begin_cells(&mut self, id: DieId) {
        let first = self.dies[id].first;
        let iterations = self.iterations(first);
        let cells = CellOp::Program(ProgramOp::new(
            iterations,
            self.rules.cancelled_program,
            self.rules.reload,
        ));
        self.start_cells(id, first, cells, self.iteration * u64::from(iterations));
    }

    /// Returns the ISPP iterations of a program: those of the page that needs the most.
    #[inline]
    fn iterations(&self, first: TxnId) -> u32 {
        if self.programs_differ {
            self.most_iterations(first)
        } else {
            let Txn { unit, failed, .. } = *self.txns.get(first);
            let iterations = self.timing.program_iterations.of(|| self.offset(unit));
            if self.programs_fail { (1 + u32::from(failed)) * iterations } else { iterations }
        }
    }

    fn most_iterations(&self, first: TxnId) -> u32 {
        let (mut most, mut member) = (0, first);
        while member.is_some() {
            let Txn { mode, unit, failed, next, owner, .. } = *self.txns.get(member);
            if let (Owner::FirstPass(_), Some(iterations)) = (owner, self.first_pass) {
                return iterations; // All pages are programmed together.
            }
            // A program that fails is assumed to be as long as one that does not.
            let tries = 1 + u32::from(failed);
            most = most.max(tries * self.ladder.iterations(mode.step, self.offset(unit)));
            member = next;
        }
        most
    }

    pub(super) fn start_erase(&mut self, id: DieId, txn: TxnId, layer: &impl Translation) {
        let now = self.now();
        let Txn { op, source, unit, .. } = *self.txns.get(txn);
        let die = &mut self.dies[id];
        self.channels[die.channel].withdraw(id, die);
        die.dispatch(txn, now, &mut self.txns);
        die.first = txn;
        die.enter(now, State::AwaitIn, Doing::serving(op, source), &mut self.txns);
        let mut timing = self.timing;
        if let Some(pulse) = self.erase_pulse(unit, layer) {
            timing.erase_pulse = pulse;
        }
        let erase = EraseOp::new(&timing).in_steps(self.rules.erase_step);
        self.start_cells(id, txn, CellOp::Erase(erase), timing.erase());
    }

    /// Returns the duration of the erase pulse for the block of a unit, if it differs from the
    /// nominal one. `None` also for raw flash commands, which name no block.
    fn erase_pulse(&self, at: UnitId, layer: &impl Translation) -> Option<Span> {
        if at.is_some() { layer.erase_pulse(self.locator.block_of(at)) } else { None }
    }

    /// Starts a new operation on the cells, unless a read that came during the transfer of the data
    /// goes first (rule S14 of docs/pes.md).
    #[inline]
    fn start_cells(&mut self, id: DieId, first: TxnId, cells: CellOp, nominal: Span) {
        let now = self.now();
        let die = &mut self.dies[id];
        let command = &mut die.command;
        command.first = first;
        command.cells = cells;
        command.started = now;
        command.nominal = nominal;
        command.reads = Span::ZERO;
        command.suspended = None;
        if std::mem::take(&mut die.suspend_wanted) {
            self.displace(id);
        } else {
            // The operation runs for the first time: its end follows without adding up phases.
            let until = now + nominal;
            die.command.cells.begin(now);
            die.run_until(id, until, &mut self.agenda);
            self.note_run(id, until);
            self.look_again(id);
        }
    }

    pub(super) fn completed<L: Translation>(&mut self, id: DieId, layer: &mut L) {
        let now = self.now();
        let command = &self.dies[id].command;
        let (first, reads) = (command.first, command.reads);
        let dispatched = self.txns.get(first).dispatched;
        if command.suspended.is_some() {
            let nominal = command.nominal;
            let took = now - command.started;
            self.counters.suspended_operations += 1;
            self.counters.suspended_nominal += nominal;
            self.counters.suspended_extra += took.saturating_sub(nominal);
        }
        self.counters.operations += 1;
        let die = &mut self.dies[id];
        die.served += now - dispatched - reads;
        die.state = State::Idle;
        let mut txn = first;
        while txn.is_some() {
            let Txn { op, source, next, .. } = *self.txns.get(txn);
            if self.may_err {
                self.wear_by::<L>(txn);
            }
            match op {
                // A word line that is programmed in two passes counts when the second is done.
                Op::Program if L::PACKED && self.txns.get(txn).is_first_pass() => {}
                Op::Program => {
                    self.counters.programs[source] += self.txns.get(txn).units(L::PACKED);
                }
                Op::Erase => self.counters.erases[source] += 1,
                Op::Read => unreachable!("reads do not run on the cells"),
            }
            self.note_done(id, txn);
            layer.done(self, txn, false);
            txn = next;
        }
        let die = &mut self.dies[id];
        die.cells = Cells::Free;
        die.mark(id, &mut self.marked);
    }

    /// Applies the wear of a program or erase to the cells.
    fn wear_by<L: Translation>(&mut self, txn: TxnId) {
        let now = self.now();
        let Txn { op, source, unit, mode, .. } = *self.txns.get(txn);
        if let Some(condition) = &mut self.condition {
            let block = self.locator.block_of(unit);
            match op {
                // Until the second of two passes has ended, data is read from the controller.
                Op::Program if L::PACKED && self.txns.get(txn).is_first_pass() => {}
                Op::Program => {
                    self.counters.programs_at[source][mode.voltage] +=
                        self.txns.get(txn).units(L::PACKED);
                    condition.programmed(self.locator.page_of(unit), block, mode, now);
                }
                // An erase names the block of the first plane.
                Op::Erase if L::PACKED => {
                    let Geometry { planes_per_die, blocks_per_plane, .. } = self.geometry;
                    for plane in 0..planes_per_die {
                        condition.erased(BlockId(block.0 + plane * blocks_per_plane));
                    }
                }
                Op::Erase => condition.erased(block),
                Op::Read => unreachable!("reads do not run on the cells"),
            }
        }
        if self.failed_reads.as_ref().is_some_and(|failed| failed.any()) {
            self.pass_on_failed_reads(txn);
        }
    }

    /// Carries the record of pages whose reads failed over a program or erase: the copy of such a
    /// page counts as failed, too, and an erase clears the pages of its block.
    #[cold]
    #[inline(never)]
    fn pass_on_failed_reads(&mut self, txn: TxnId) {
        let Txn { op, unit, from, .. } = *self.txns.get(txn);
        let Some(failed) = &mut self.failed_reads else { return };
        if op == Op::Erase {
            failed.erased(self.locator.units_of(self.locator.block_of(unit)));
        } else if from.is_some() {
            failed.copied(self.locator.page_of(from), self.locator.page_of(unit));
        }
    }
}
