//! The channels: one transfer at a time, first come first served.
//!
//! 1. A die with data to transfer gets the channel at once if it is free, or joins the line
//!    ([`Channel::ask`]).
//! 2. The end of the transfer releases the channel to the first die in line
//!    ([`Flash::release_channel`]).
//! 3. An idle die that waits to begin a program decides anew before time moves on; the channel is
//!    reserved for it until then, and passed on if the die did something else
//!    ([`Flash::pass_channel_on`]).
//!
//! Invariants: at most one transfer is in progress; a die is in the line of its channel at most
//! once, and exactly while `wants_channel` is set.

use super::{Flash, Translation};
use crate::event::{Event, lane};
use crate::flash::die::{Channel, Die, State};
use fowler_agenda::{Agenda, Phase};
use fowler_units::{ChannelId, DieId, Id, Span};

impl Channel {
    /// Appends a die to the queue of dies that wait for the channel, at most once.
    #[inline]
    pub(super) fn enqueue(&mut self, id: DieId, die: &mut Die) {
        if !std::mem::replace(&mut die.wants_channel, true) {
            debug_assert!(!self.waiting.contains(&id), "a die is in line twice");
            self.waiting.push_back(id);
        }
    }

    /// Puts a die that is about to release the channel first in line, so that it keeps the channel.
    #[cold]
    pub(super) fn enqueue_first(&mut self, id: DieId, die: &mut Die) {
        self.withdraw(id, die);
        die.wants_channel = true;
        self.waiting.push_front(id);
    }

    /// Removes a die from the line of dies that wait for the channel, if it is there, because the
    /// die starts another operation instead of waiting.
    #[inline]
    pub(super) fn withdraw(&mut self, id: DieId, die: &mut Die) {
        if die.wants_channel {
            self.leave_line(id, die);
        }
    }

    #[cold]
    fn leave_line(&mut self, id: DieId, die: &mut Die) {
        if die.cache.awaits_channel() {
            return; // The die's cache register shares the place in line.
        }
        die.wants_channel = false;
        self.waiting.retain(|&waiting| waiting != id);
    }

    /// Starts the transfer of a page by a die, at once or when the die's turn comes.
    #[inline]
    pub(super) fn ask(&mut self, id: DieId, die: &mut Die, agenda: &mut Agenda<Event>) {
        if self.is_free_for(id) {
            self.grant(id, die, agenda);
        } else {
            self.enqueue(id, die);
        }
    }

    /// Gives the channel to a die, for the page that waits to be transferred.
    #[inline]
    fn grant(&mut self, id: DieId, die: &mut Die, agenda: &mut Agenda<Event>) {
        let doing = match die.state {
            State::AwaitOut => State::TransferOut,
            State::AwaitIn => State::TransferIn,
            _ => return self.grant_to_cache(id, die, agenda),
        };
        self.occupy(id, die, doing, die.transfer, agenda);
    }

    /// Occupies the channel for a die for `time` from now on.
    #[inline(always)]
    pub(super) fn occupy(
        &mut self,
        id: DieId,
        die: &mut Die,
        doing: State,
        time: Span,
        agenda: &mut Agenda<Event>,
    ) {
        assert!(!self.busy, "two transfers on one channel");
        // Every caller has just tested the channel, or has just taken the die out of the line.
        debug_assert!(self.is_free_for(id), "the channel is reserved for another die");
        self.busy = true;
        self.reserved = DieId::NONE;
        die.state = doing;
        let end = agenda.now() + time;
        self.carry(end, time);
        die.until = end;
        die.ticket = agenda.schedule_in(lane::TRANSFER, end, Phase::Completion, Event::Die(id));
    }
}

impl Flash {
    /// Gives the free channel to the first die in line. An idle die that waits to begin a program
    /// decides anew before time moves on; until then the channel is reserved for it.
    #[inline]
    pub(super) fn release_channel<L: Translation>(&mut self, channel: ChannelId) {
        let channel = &mut self.channels[channel];
        // A retry on a channel that no other die uses begins before the first try has released it.
        debug_assert!(channel.busy || self.channels_owned, "a free channel is released");
        channel.busy = false;
        if let Some(next) = channel.waiting.pop_front() {
            self.offer_channel::<L>(next);
        }
    }

    /// Grants the free channel to a die in line, or reserves it. See docs/decisions/flash.md,
    /// "Which die gets a free channel?".
    #[inline(always)]
    fn offer_channel<L: Translation>(&mut self, next: DieId) {
        let die = &mut self.dies[next];
        let channel = &mut self.channels[die.channel];
        die.wants_channel = false;
        let for_cache = L::PACKED && die.cache_may_transfer();
        if die.state == State::Idle && !for_cache {
            channel.reserved = next;
            die.offered = true;
            die.mark(next, &mut self.marked);
        } else if L::PACKED && !for_cache && !die.page_waits_for_channel() {
            // The cache register of this die waited, until a command was taken off the cells.
            let channel = die.channel;
            self.offer_to_next::<L>(channel);
        } else {
            channel.grant(next, die, &mut self.agenda);
        }
    }

    /// Gives the channel to the next die in line, in place of a die that was first in line but no
    /// longer needs the channel.
    #[cold]
    #[inline(never)]
    fn offer_to_next<L: Translation>(&mut self, channel: ChannelId) {
        if let Some(next) = self.channels[channel].waiting.pop_front() {
            self.offer_channel::<L>(next);
        }
    }

    /// Passes the channel on if the die that it was reserved for did not use it.
    #[inline]
    pub(super) fn pass_channel_on<L: Translation>(&mut self, id: DieId) {
        let die = &mut self.dies[id];
        die.offered = false;
        let channel = &mut self.channels[die.channel];
        if channel.reserved == id {
            channel.reserved = DieId::NONE;
            if let Some(next) = channel.waiting.pop_front() {
                self.offer_channel::<L>(next);
            }
        }
    }
}
