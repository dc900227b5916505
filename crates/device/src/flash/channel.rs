//! The channels: one transfer at a time, first come first served.

use super::Flash;
use crate::die::State;
use crate::event::lane;
use fowler_units::{DieId, Id, Span};

impl Flash {
    /// Stands in line for the channel, at most once.
    pub(super) fn want_channel(&mut self, id: DieId) {
        if !self.dies[id].wants_channel {
            self.dies[id].wants_channel = true;
            self.channels[self.dies[id].channel].waiting.push_back(id);
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
        let channel = &self.channels[self.dies[id].channel];
        !channel.busy && (!channel.reserved.is_some() || channel.reserved == id)
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

    #[inline]
    pub(super) fn occupy_channel(&mut self, id: DieId, time: Span) {
        let channel = &mut self.channels[self.dies[id].channel];
        assert!(!channel.busy, "two transfers on one channel");
        channel.busy = true;
        channel.reserved = DieId::NONE;
        self.counters.channel_busy += time;
        self.schedule(id, lane::TRANSFER, self.now() + time);
    }

    /// The channel is the die's for one page.
    #[inline]
    pub(super) fn granted(&mut self, id: DieId) {
        self.dies[id].state = match self.dies[id].state {
            State::AwaitOut => State::TransferOut,
            State::AwaitIn => State::TransferIn,
            state => unreachable!("die {} was granted the channel in state {state:?}", id.0),
        };
        self.occupy_channel(id, self.timing.bus_transfer);
    }

    #[inline]
    pub(super) fn release_channel(&mut self, id: DieId) {
        let channel = self.dies[id].channel;
        self.channels[channel].busy = false;
        self.offer_channel(channel);
    }

    /// The free channel goes to the first in line. An idle die that waits to begin a program is asked
    /// anew what it wants, before time moves on; until then the channel is reserved for it.
    #[inline]
    pub(super) fn offer_channel(&mut self, channel: usize) {
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
    #[inline]
    pub(super) fn pass_channel_on(&mut self, id: DieId) {
        let channel = self.dies[id].channel;
        if self.channels[channel].reserved == id {
            self.channels[channel].reserved = DieId::NONE;
            self.offer_channel(channel);
        }
    }
}
