//! Cache operations: a die senses or programs while data of another page is in its cache register.
//!
//! Cache read:
//!
//! 1. A page that was sensed moves into the cache register, if that is empty, and the die decides
//!    anew: the next page can be sensed ([`Flash::sensed_beside_cache`]).
//! 2. The register gets the channel when the line comes to the die ([`Channel::grant_to_cache`]).
//! 3. When the data has left, the read is handed back to the layer, and a page that waited for the
//!    register moves in ([`Flash::cache_event`]).
//!
//! Cache program:
//!
//! 1. While a program runs on the cells, the data of the program that was submitted first of those
//!    that wait is transferred in, one page after another; the program stays in the queue
//!    ([`Flash::load_ahead`]).
//! 2. When the cells are free, the program gets its pages in the flash and starts, or waits for the
//!    rest of its data ([`Flash::take_up_beside_cache`]).
//!
//! Exceptions:
//!
//! - If the data of a program is in the register, a page that was sensed leaves from the page
//!   register.
//! - A try of a read that has failed stays out of the register: the page is sensed again.
//! - While a command is suspended, no data of the next program enters.
//! - While the register holds the data of a read, only another read may start; while it holds the
//!   data of a program, no other program may.

use super::cache_register::{CacheRegister, Holds};
use super::{Bind, Flash, Translation};
use crate::event::{Event, lane};
use crate::flash::die::{Cells, Channel, Die, State};
use crate::flash::flash_trace::FlashEvent;
use crate::flash::queue::TxnClass;
use crate::flash::txn::Txn;
use crate::observe::ledger::Doing;
use crate::observe::operation::Op;
use fowler_agenda::{Agenda, Phase, Ticket};
use fowler_nand::CellOp;
use fowler_units::{DieId, Id};

impl Die {
    /// Returns true if the cache register waits for the channel and may have it. While a command is
    /// suspended, no data of the next program enters the register.
    #[inline]
    pub fn cache_may_transfer(&self) -> bool {
        self.cache.awaits_channel() && (self.cells != Cells::Suspended || self.cache.has_read())
    }
}

impl Channel {
    /// Starts the transfer of a die's cache register, at once or when the die's turn comes.
    fn ask_for_cache(&mut self, id: DieId, die: &mut Die, agenda: &mut Agenda<Event>) {
        if self.is_free_for(id) {
            self.grant_to_cache(id, die, agenda);
        } else {
            self.enqueue(id, die);
        }
    }

    /// Grants the channel to the cache register of a die.
    #[cold]
    #[inline(never)]
    pub(super) fn grant_to_cache(&mut self, id: DieId, die: &mut Die, agenda: &mut Agenda<Event>) {
        let cache = &mut die.cache;
        cache.holds = match cache.holds {
            Holds::AwaitOut => Holds::Out,
            Holds::AwaitIn => Holds::In,
            holds => unreachable!(
                "die {} was granted the channel in state {:?}, holding {holds:?}",
                id.0, die.state
            ),
        };
        assert!(!self.busy, "two transfers on one channel");
        self.busy = true;
        self.reserved = DieId::NONE;
        let end = agenda.now() + cache.transfer;
        self.carry(end, cache.transfer);
        cache.until = end;
        cache.ticket = agenda.schedule_in(lane::TRANSFER, end, Phase::Completion, Event::Die(id));
    }
}

impl Flash {
    /// Returns true if the drive has cache read: the data of reads leaves a die through the cache
    /// register.
    pub(super) fn caches_reads(&self) -> bool {
        self.registers.cache_read
    }

    /// Returns true if the drive has cache program: the data of the next program enters the cache
    /// register while a program runs.
    pub(super) fn caches_programs(&self) -> bool {
        self.registers.cache_program
    }

    /// Lets a busy die examine a program that was submitted to it: its data may be transferred to
    /// the cache register.
    pub fn offer_program(&mut self, die: DieId) {
        if self.caches_programs() {
            self.mark(die);
        }
    }

    /// Puts a die in line for the channel again if its cache register has data to transfer. A die
    /// has only one place in that line, which the transfer for its page register has just given up.
    #[inline]
    pub(super) fn enqueue_for_cache(&mut self, id: DieId) {
        let die = &mut self.dies[id];
        if die.cache_may_transfer() {
            self.channels[die.channel].enqueue(id, die);
        }
    }

    /// Moves a page that was sensed on a die with cache reads into the cache register if that is
    /// empty. While another read's data leaves through the cache register, the page waits; if a
    /// program's data is there, the page leaves from the page register. A failed try stays out: the
    /// page is sensed again.
    pub(super) fn sensed_beside_cache(&mut self, id: DieId) {
        let die = &mut self.dies[id];
        let read = die.cursor;
        let Txn { level, needed, .. } = *self.txns.get(read);
        match die.cache.holds {
            Holds::Nothing if level >= needed => {}
            Holds::AwaitOut | Holds::Out => {
                die.state = State::AwaitCache;
                return;
            }
            _ => return self.sensed(id),
        }
        let cache = &mut die.cache;
        (cache.holds, cache.txn, cache.transfer) = (Holds::AwaitOut, read, die.transfer);
        // The die's account does not change: the die counts as reading until the data has left, or
        // other work begins.
        die.state = State::Idle;
        self.channels[die.channel].ask_for_cache(id, die, &mut self.agenda);
        self.mark(id);
    }

    /// Handles an event that may end a transfer from or to the cache register of a die. If its
    /// `ticket` is not that of the transfer in progress, the event is out of date and ignored.
    #[cold]
    #[inline(never)]
    pub(super) fn cache_event<L: Translation>(&mut self, id: DieId, ticket: Ticket, layer: &mut L) {
        let Die { channel, cache, .. } = &self.dies[id];
        let channel = *channel;
        match cache.holds {
            Holds::Out if cache.ticket == ticket => self.read_left_cache(id, layer),
            Holds::In if cache.ticket == ticket && self.has_failed(id) => {
                self.dies[id].cache.empty();
            }
            Holds::In if cache.ticket == ticket => self.page_entered_cache(id, layer),
            _ => return,
        }
        self.release_channel::<L>(channel);
    }

    /// Handles the end of the transfer of a read's data from the cache register.
    fn read_left_cache<L: Translation>(&mut self, id: DieId, layer: &mut L) {
        let now = self.now();
        let cache = &mut self.dies[id].cache;
        let read = cache.txn;
        let Txn { source, level, dispatched, .. } = *self.txns.get(read);
        let took = now - cache.alone_since(dispatched);
        cache.empty();
        cache.left = now;
        self.read_ended(id, (read, source, level), took, layer);
        if self.dies[id].state == State::AwaitCache {
            self.sensed_beside_cache(id);
        } else {
            self.mark(id);
        }
    }

    /// Handles the end of the transfer of a page of the next program into the cache register.
    fn page_entered_cache<L: Translation>(&mut self, id: DieId, layer: &L) {
        let CacheRegister { txn, cursor, transfer, .. } = self.dies[id].cache;
        self.note(id, cursor, FlashEvent::LoadAhead { transfer });
        // The first page program is in the queue, where `next` chains it to others.
        let page = self.txns.get(cursor);
        let next = if cursor == txn { layer.rest_of(page) } else { page.next };
        let die = &mut self.dies[id];
        if next.is_some() {
            (die.cache.holds, die.cache.cursor) = (Holds::AwaitIn, next);
            self.enqueue_for_cache(id);
        } else {
            die.cache.holds = Holds::Program;
        }
        if self.dies[id].state == State::Idle {
            // An idle die may wait for the channel, too.
            self.mark(id);
        }
    }

    /// Starts the transfer of the next program's data into the cache register of a die while a
    /// program runs on the cells. Pages that were held back while a command was suspended enter
    /// now. Of the waiting programs, the one submitted first is next; it stays in the queue until
    /// the cells start it.
    pub(super) fn load_ahead(&mut self, id: DieId) {
        let die = &mut self.dies[id];
        let runs = die.state == State::Running && matches!(die.command.cells, CellOp::Program(_));
        match die.cache.holds {
            Holds::Nothing if runs => {}
            Holds::AwaitIn if runs && !die.wants_channel => {
                return self.channels[die.channel].ask_for_cache(id, die, &mut self.agenda);
            }
            _ => return,
        }
        debug_assert_eq!(die.cells, Cells::Running);
        let heads = [TxnClass::HostProgram, TxnClass::BackgroundProgram];
        let heads = heads.into_iter().filter_map(|class| die.queue.head(class));
        let Some(next) = heads.min_by_key(|&head| self.txns.get(head).order) else { return };
        let cache = &mut die.cache;
        (cache.holds, cache.txn, cache.cursor) = (Holds::AwaitIn, next, next);
        cache.transfer = self.txns.get(next).all_of(true, self.timing.bus_transfer);
        self.channels[die.channel].ask_for_cache(id, die, &mut self.agenda);
    }

    /// Begins the next transaction of an idle die whose cache register is in use. While that
    /// register holds the data of a read, only another read may start. While it holds a program's
    /// data, everything but other programs may start: the program in the cache register is the next
    /// one.
    pub(super) fn take_up_beside_cache<L: Translation>(&mut self, id: DieId, layer: &mut L) {
        let Some(txn) = self.pick(id) else { return };
        let leaving = self.dies[id].cache.has_read();
        match self.txns.get(txn).op {
            Op::Read => self.start_read(id, txn, layer),
            Op::Program | Op::Erase if leaving => {}
            Op::Erase => self.start_erase(id, txn, layer),
            Op::Program => self.start_cached(id, layer),
        }
    }

    /// Begins the program whose data is in the cache register, or on the way there.
    fn start_cached<L: Translation>(&mut self, id: DieId, layer: &mut L) {
        let now = self.now();
        let first = self.dies[id].cache.txn;
        let bound = layer.bind(self, first);
        assert_eq!(bound, Bind::Bound, "program commands come with all their pages");
        let Txn { op, source, .. } = *self.txns.get(first);
        self.dies[id].dispatch(first, now, &mut self.txns);
        self.chain_rest(first, layer);
        let die = &mut self.dies[id];
        die.first = first;
        let CacheRegister { holds, cursor, transfer, ticket, until, .. } = die.cache;
        let state = match holds {
            Holds::AwaitIn => State::AwaitIn,
            Holds::In => State::TransferIn,
            Holds::Program => State::Loaded,
            Holds::Nothing | Holds::AwaitOut | Holds::Out => {
                unreachable!("die {} has no program in its cache register", id.0)
            }
        };
        die.cache.empty();
        die.enter(now, state, Doing::serving(op, source), &mut self.txns);
        (die.cursor, die.transfer) = (cursor, transfer);
        match state {
            State::TransferIn => (die.ticket, die.until) = (ticket, until),
            State::Loaded => self.begin_cells(id),
            // The register has lost the die's place in line if a command was off the cells
            // meanwhile.
            _ if !die.wants_channel => {
                self.channels[die.channel].ask(id, die, &mut self.agenda);
            }
            _ => {}
        }
    }
}
