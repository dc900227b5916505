//! The channels: one transfer at a time, first come first served.

use super::Flash;
use crate::die::State;
use crate::event::{Event, lane};
use fowler_agenda::Phase;
use fowler_units::{DieId, Id, Span};

impl Flash {
    /// Stands in line for the channel, at most once.
    #[inline]
    pub(super) fn want_channel(&mut self, id: DieId) {
        let die = &mut self.dies[id];
        if !die.wants_channel {
            die.wants_channel = true;
            self.channels[die.channel].waiting.push_back(id);
        }
    }

    /// Leaves the line: the die has found something better to do.
    #[inline]
    pub(super) fn withdraw(&mut self, id: DieId) {
        if self.dies[id].wants_channel {
            self.leave_line(id);
        }
    }

    #[cold]
    fn leave_line(&mut self, id: DieId) {
        self.dies[id].wants_channel = false;
        let line = &mut self.channels[self.dies[id].channel].waiting;
        line.retain(|&die| die != id);
    }

    #[inline]
    pub(super) fn channel_is_free_for(&self, id: DieId) -> bool {
        self.channels[self.dies[id].channel].is_free_for(id)
    }

    /// Transfers a page, at once or when the channel is free.
    #[inline]
    pub(super) fn ask_channel(&mut self, id: DieId) {
        if self.channel_is_free_for(id) {
            self.granted(id);
        } else {
            self.want_channel(id);
        }
    }

    /// The channel is the die's for one page.
    #[inline]
    fn granted(&mut self, id: DieId) {
        let die = &self.dies[id];
        let (doing, time) = match die.state {
            State::AwaitOut => {
                let level = self.txns.get(die.cursor).level;
                (State::TransferOut, self.levels.transfer(level))
            }
            State::AwaitIn => (State::TransferIn, self.timing.bus_transfer),
            state => unreachable!("die {} was granted the channel in state {state:?}", id.0),
        };
        self.occupy_channel(id, doing, time);
    }

    #[inline]
    pub(super) fn occupy_channel(&mut self, id: DieId, doing: State, time: Span) {
        let end = self.now() + time;
        let die = &mut self.dies[id];
        let channel = &mut self.channels[die.channel];
        assert!(!channel.busy, "two transfers on one channel");
        channel.busy = true;
        channel.reserved = DieId::NONE;
        self.counters.channel_busy += time;
        die.state = doing;
        die.ticket =
            self.agenda.schedule_in(lane::TRANSFER, end, Phase::Completion, Event::Die(id));
    }

    /// The free channel goes to the first in line. An idle die that waits to begin a program is asked
    /// anew what it wants, before time moves on; until then the channel is reserved for it.
    #[inline]
    pub(super) fn release_channel(&mut self, id: DieId) {
        let channel = &mut self.channels[self.dies[id].channel];
        channel.busy = false;
        if let Some(next) = channel.waiting.pop_front() {
            self.offer_channel(next);
        }
    }

    fn offer_channel(&mut self, next: DieId) {
        let die = &mut self.dies[next];
        die.wants_channel = false;
        if die.state == State::Idle {
            self.channels[die.channel].reserved = next;
            self.mark(next);
        } else {
            self.granted(next);
        }
    }

    /// A die that had the channel reserved found something else to do.
    #[inline]
    pub(super) fn pass_channel_on(&mut self, id: DieId) {
        let channel = &mut self.channels[self.dies[id].channel];
        if channel.reserved == id {
            channel.reserved = DieId::NONE;
            if let Some(next) = channel.waiting.pop_front() {
                self.offer_channel(next);
            }
        }
    }
}
