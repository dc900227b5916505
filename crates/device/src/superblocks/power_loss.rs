//! Spans without power.
//!
//! 1. Data ages, and superblocks that are past their limit when power returns become due.
//! 2. If the buffer survives, nothing else happens: a capacitor ends what is being programmed.
//! 3. Otherwise commands in flight end while energy is left, or all of them
//!    (`policy.redundancy.cut_programs`). Those that are cut off take the units of the host that
//!    they store with them; units that they move are still in their old place.
//! 4. Units that are only in the buffer are saved while energy is left; the others are lost, and the
//!    copy in the flash is the newest again. Clean frames are dropped.
//! 5. The running parity of open stripes is lost: the drive computes it again from the pages of the
//!    stripe before it serves a request. Units of the stripe that cannot be read are lost.
//!
//! Data whose write was not answered is never lost, because the host writes it again.

use super::Superblocks;
use super::buffer::State;
use super::commands::{Stored, Stream};
use crate::config::Config;
use crate::event::Event;
use crate::event_loop::Faulty;
use crate::flash::Flash;
use crate::raid::fault_kinds::Fault;
use crate::raid::losses::{Failure, Loss, Reason};
use fowler_agenda::Phase;
use fowler_units::{FrameId, HostOp, Lpn, Span, UnitId};
use std::ops::Range;

/// The parts of the controller that survive a loss of power.
#[derive(Clone, Copy, Debug)]
pub(super) struct Survives {
    /// The units that survive in the buffer and in commands in flight; [`usize::MAX`]: all.
    saved: usize,
    /// True if commands in flight are cut off.
    tears: bool,
}

impl Survives {
    pub fn new(config: &Config) -> Survives {
        let redundancy = &config.redundancy;
        Survives { saved: redundancy.pages_saved(), tears: redundancy.tears_programs() }
    }

    /// Returns true if everything survives.
    pub fn all(self) -> bool {
        self.saved == usize::MAX
    }
}

impl Superblocks {
    /// Turns the power off for `lasts`, in no time of the drive's clock.
    pub(super) fn lose_power_for(&mut self, flash: &mut Flash, lasts: Span) {
        if let Some(condition) = flash.condition_mut() {
            condition.grow_older(lasts);
        }
        if let Some(aging) = &mut self.aging {
            aging.grow_older(lasts);
        }
        self.power_offs.overdue += self.age_limits(flash, lasts);
        let before = self.ledger();
        self.lose_power(flash);
        self.note_struck(Fault::Power, flash.now(), before);
        self.power_offs.spans += 1;
        self.power_offs.off += lasts;
    }

    /// Data grows older by a span without power. Returns the number of superblocks that are past
    /// their limit of age or reads when power returns, which are due now.
    fn age_limits(&mut self, flash: &mut Flash, lasts: Span) -> u64 {
        let Some(limits) = &mut self.limits else { return 0 };
        limits.grow_older(lasts);
        let before = self.renewals.due.len();
        if let Some(next) = self.check_limits_at(flash.now()) {
            flash.agenda.schedule(next, Phase::Decision, Event::Deadline);
        }
        let overdue = self.renewals.due.len() - before;
        self.collect(flash);
        overdue as u64
    }

    /// The power goes for a moment, and takes what does not survive.
    pub(super) fn lose_power(&mut self, flash: &mut Flash) {
        if self.survives.all() {
            return;
        }
        let mut energy = self.survives.saved;
        let unanswered = self.unanswered();
        let torn = self.lose_commands(&mut energy, &unanswered);
        let lost = self.lose_buffer(&mut energy, &unanswered) + torn;
        self.power_offs.lost_writes += lost;
        self.power_offs.parity_lost += self.lose_running_parity(flash, energy);
        self.collect(flash);
        self.drain(flash);
        self.resume(flash);
    }

    /// Returns the units that writes which have not been answered have put into the buffer.
    fn unanswered(&self) -> Vec<Range<u32>> {
        let requests = &self.front.requests;
        let writes = requests
            .open_ids(|request| request.io.op == HostOp::Write && request.next < request.end);
        let units = |id| {
            let request = requests.get(id);
            request.end - request.pages..request.next
        };
        writes.map(units).collect()
    }

    /// Cuts commands in flight off, as far as the energy does not last. Returns the number of
    /// writes lost.
    fn lose_commands(&mut self, energy: &mut usize, unanswered: &[Range<u32>]) -> u64 {
        if !self.survives.tears {
            return 0;
        }
        let mut torn: Vec<FrameId> = Vec::new();
        let flying: Vec<(u32, Vec<Stored>)> =
            self.commands.in_flight().map(|(first, stored)| (first, stored.to_vec())).collect();
        for (_, stored) in flying {
            let units = self.shape.units_per_command as usize;
            if *energy >= units {
                *energy -= units;
                continue;
            }
            self.power_offs.torn += 1;
            torn.extend(stored.iter().filter_map(|stored| match *stored {
                Stored::Frame(frame) => Some(frame),
                Stored::Moved { .. } => None,
            }));
        }
        torn.into_iter().map(|frame| u64::from(self.lose_frame(frame, unanswered))).sum()
    }

    /// Loses the frames that no command stores, as far as the energy does not last, and drops clean
    /// ones. Returns the number of writes lost.
    fn lose_buffer(&mut self, energy: &mut usize, unanswered: &[Range<u32>]) -> u64 {
        let mut held: Vec<(FrameId, u32, State)> = self.buffer.held().collect();
        // Those that wait for a command are saved first.
        held.sort_by_key(|&(_, _, state)| state != State::Ready);
        let mut lost = 0;
        for (frame, page, state) in held {
            match state {
                State::Free | State::Leaving => {}
                State::Clean => {
                    self.map.leave_frame(page, self.buffer.unit(frame));
                    self.buffer.release(frame);
                }
                _ if *energy > 0 => *energy -= 1,
                _ => lost += u64::from(self.lose_frame(frame, unanswered)),
            }
        }
        lost
    }

    /// Loses the unit in a frame, unless a newer write has replaced it or the host will write it
    /// again. Returns true if it was lost.
    fn lose_frame(&mut self, frame: FrameId, unanswered: &[Range<u32>]) -> bool {
        let (page, copy) = (self.buffer.page(frame), self.buffer.unit(frame));
        let repeated = unanswered.iter().any(|units| units.contains(&page));
        if !self.map.is_in(page, frame) || repeated {
            return false;
        }
        self.buffer.give_up(frame);
        self.map.leave_frame(page, copy);
        if let Some(contents) = &mut self.contents {
            contents.integrity.revert(Lpn(page), copy);
            contents.integrity.ledger.lost[Reason::Power] += 1;
            contents.integrity.ledger.lost_writes += 1;
            contents.frame_free(frame);
        }
        true
    }

    /// The running parity of open stripes is lost, unless there is energy left to program it, and is
    /// computed again from the flash. Returns the number of stripes whose parity was lost.
    fn lose_running_parity(&mut self, flash: &mut Flash, mut energy: usize) -> u64 {
        let mut lost = 0;
        for stream in Stream::all() {
            let Some(open) = self.commands.open_of(stream) else { continue };
            let begun = self.has_stripes(open.superblock)
                && self.shape.stripe_of(open.command).start < open.command;
            if !begun {
                continue;
            }
            let units = self.shape.units_per_command as usize;
            if energy >= units {
                energy -= units;
                continue;
            }
            lost += u64::from(self.shape.pages_per_command);
            self.compute_running_parity(flash, stream);
        }
        if let Some(contents) = &mut self.contents {
            contents.integrity.ledger.parity_lost += lost;
        }
        lost
    }

    /// Computes the running parity of a stream from what can be read of its stripe. The rest is not
    /// part of it any more, and what of it is valid is lost.
    fn compute_running_parity(&mut self, flash: &mut Flash, stream: Stream) {
        let Some(open) = self.commands.open_of(stream) else { return };
        let at_hand = self.at_hand();
        let slots = self.shape.slots(stream == Stream::Slc);
        for slot in slots {
            let first = self.shape.unit_of_command(open.superblock, open.command) + slot;
            let line = self.shape.line_of(first);
            let taken = |&unit: &u32| self.shape.command_of(unit) < open.command;
            let units: Vec<u32> = line.iter().filter(taken).collect();
            for &unit in &units {
                let Some(contents) = &self.contents else { return };
                let fails = !contents.reads(unit) && at_hand.binary_search(&unit).is_err();
                if !fails {
                    continue;
                }
                let failure = contents.integrity.failure(UnitId(unit)).unwrap_or(Failure::Cells);
                if self.map.valid_owner(unit).is_some() {
                    let reason = Reason::Power;
                    self.lose(flash, unit, Loss { reason, failure, failed: 1, given_back: 0 });
                }
                if let Some(contents) = &mut self.contents {
                    contents.leave_parity(stream.index(), slot, unit);
                }
            }
        }
    }
}
