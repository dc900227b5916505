//! The turns of scrubbing.
//!
//! 1. The turn of a block comes ([`Gc::patrol_event`]). If the previous block of the die still
//!    waits to be moved, its move goes first.
//! 2. Its valid pages are read one after another while the die is idle.
//! 3. The errors of each page are shown to `policy/scrub`, which leaves the block, has it moved, or
//!    finds that moving gains nothing ([`Gc::judge_block`]).
//! 4. A block that must be moved is moved by a job of refresh: in idle time, or at once when it has
//!    waited for a turn. After [`TURNS_TO_MOVE`] turns the move is postponed to the next period.
//! 5. The next block of the die has its turn when the period is due for it.
//!
//! Exceptions:
//!
//! - A block that is not read when the next one has its turn is behind schedule: it is read
//!   although the die is busy, one page at a time.
//! - A block that GC empties is skipped, because the job reads its pages; so are pages that are
//!   known to be lost.
//! - After a loss of power no turn is behind schedule by more than one period: everything is read
//!   once.

use super::Gc;
use super::scrub::{Moving, Patrol, Scrubber, TURNS_TO_MOVE};
use crate::blocks::block_table::BlockState;
use crate::config::Config;
use crate::core::Core;
use crate::event::Event;
use crate::flash::Flash;
use crate::flash::queue::TxnClass;
use crate::flash::txn::{Owner, Txn};
use crate::observe::operation::{Op, Source};
use crate::policy::scrub::{Errors, Scrub as _, Verdict};
use fowler_agenda::Phase;
use fowler_units::{BlockId, DieId, Id, Nanos, Span, TxnId, UnitId};

impl Gc {
    /// Begins to scrub, if the configuration says so.
    pub fn begin_scrub(&mut self, core: &Core, flash: &mut Flash, config: &Config) {
        let geometry = &core.layout.geometry;
        self.scrub = Scrubber::new(config, geometry).map(Box::new);
        for die in (0..geometry.dies()).map(DieId) {
            self.patrol_at_turn(flash, die);
        }
    }

    /// Schedules the next scrubbing step of a die at `at`, in place of a step that is scheduled
    /// already.
    fn patrol_at(&mut self, flash: &mut Flash, die: DieId, at: Nanos) {
        if let Some(scrub) = self.scrub.as_mut().filter(|_| !flash.has_failed(die)) {
            scrub.dies[die].at = at;
            flash.agenda.schedule(at, Phase::Decision, Event::Idle(die));
        }
    }

    /// Schedules the next scrubbing step of a die at the moment at which the turn of its next
    /// block, a slot in the scrub period, begins; or now if that moment has passed.
    fn patrol_at_turn(&mut self, flash: &mut Flash, die: DieId) {
        let now = flash.now();
        if let Some(scrub) = &self.scrub {
            let until = scrub.dies[die].turn.0.saturating_sub((now + scrub.off).0);
            self.patrol_at(flash, die, now + Span(until));
        }
    }

    /// Handles a scheduled scrubbing step of a die, unless another one has been scheduled in its
    /// place.
    pub fn patrol_event(&mut self, core: &mut Core, flash: &mut Flash, die: DieId) {
        let now = flash.now();
        let scheduled =
            |scrub: &&mut Box<Scrubber>| scrub.dies[die].at == now && !scrub.dies[die].reading;
        if let Some(scrub) = self.scrub.as_mut().filter(scheduled) {
            scrub.dies[die].at = Nanos::NEVER;
            self.patrol(core, flash, die);
        }
    }

    /// Adds time without power to the schedule of scrubbing. After a long power loss, a die is
    /// behind schedule by at most one period, in which each of its blocks is read once.
    pub fn scrub_without_power(&mut self, core: &Core, flash: &mut Flash, lasts: Span) {
        let now = flash.now();
        for die in (0..core.layout.geometry.dies()).map(DieId) {
            let Some(scrub) = &mut self.scrub else { return };
            if die.0 == 0 {
                scrub.off += lasts;
            }
            let oldest = Nanos((now + scrub.off).0.saturating_sub(scrub.period.0));
            let patrol = &mut scrub.dies[die];
            patrol.turn = patrol.turn.max(oldest);
            // A die with a read in flight continues when the read ends.
            if !patrol.reading {
                self.patrol_at_turn(flash, die);
            }
        }
    }

    /// Starts the scrubbing read of the next page of a die, or schedules the next step.
    fn patrol(&mut self, core: &mut Core, flash: &mut Flash, die: DieId) {
        let now = flash.now();
        let waits = self.waits_for_move(core, flash, die);
        let next = if waits { None } else { self.next_to_scrub(core, flash, die) };
        let Some(scrub) = &self.scrub else { return };
        let soon = now + scrub.step;
        let Some(unit) = next else {
            return match waits {
                true => self.patrol_at(flash, die, soon),
                false => self.patrol_at_turn(flash, die),
            };
        };
        let (late, rested) = (scrub.is_late(die, now), scrub.dies[die].rests_until);
        // Between two requests of a host a die is idle, and perhaps never for long enough.
        let gives_up = late && now >= rested + self.rules.idle_after;
        match self.rests_since(flash, die) {
            Some(at) if at <= now => self.scrub_page(core, flash, unit, true),
            Some(at) if !gives_up => self.patrol_at(flash, die, soon.min(at)),
            _ if late && rested <= now => self.scrub_page(core, flash, unit, false),
            _ if late => self.patrol_at(flash, die, soon.min(rested)),
            _ => self.patrol_at(flash, die, soon),
        }
    }

    /// Returns the time at which an idle die will have been idle for `gc.idle_after`; `None` if the
    /// die is busy.
    fn rests_since(&self, flash: &Flash, die: DieId) -> Option<Nanos> {
        let die_state = flash.die(die);
        die_state.is_idle().then(|| die_state.idle_since + self.rules.idle_after)
    }

    /// Returns the next page that scrubbing must read on a die, in the block whose turn (slot in
    /// the scrub period) has begun; `None` if there is no such page.
    fn next_to_scrub(&mut self, core: &Core, flash: &mut Flash, die: DieId) -> Option<UnitId> {
        let now = flash.now();
        let scrub = self.scrub.as_mut()?;
        while now + scrub.off >= scrub.dies[die].turn {
            let Patrol { block, page, begun, turn, .. } = scrub.dies[die];
            let block = BlockId(die.0 * scrub.blocks + block);
            // The job that moves a block reads its pages.
            let moves = core.allocator.blocks.state(block) == BlockState::Collecting;
            let mut places =
                std::iter::successors(core.allocator.blocks.next_valid(block, page), |&place| {
                    core.allocator.blocks.next_valid(block, place + 1)
                });
            // Pages whose reads have failed are known to be lost.
            let known = |unit: UnitId| {
                flash
                    .failed_reads()
                    .is_some_and(|failed_reads| failed_reads.has(core.locator.page_of(unit)))
            };
            let place = places.find(|&place| !known(core.locator.unit(block, place)));
            if let Some(place) = place.filter(|_| !moves) {
                return Some(core.locator.unit(block, place));
            }
            if begun {
                flash.counters.scrubbed.blocks += 1;
                scrub.latest = scrub.latest.max(now + scrub.off - turn);
            }
            scrub.pass_on(die);
        }
        None
    }

    /// Reads a page for scrubbing.
    fn scrub_page(&mut self, core: &Core, flash: &mut Flash, unit: UnitId, in_idle_time: bool) {
        let Some(scrub) = &mut self.scrub else { return };
        let die = core.locator.die_of(unit);
        let patrol = &mut scrub.dies[die];
        debug_assert!(!patrol.reading, "two reads by the scrubbing of die {}", die.0);
        patrol.page = core.locator.place_in_block(unit) + 1;
        (patrol.begun, patrol.reading, patrol.in_idle_time) = (true, true, in_idle_time);
        flash.counters.scrubbed.under_load += u64::from(!in_idle_time);
        let class = TxnClass::BackgroundRead;
        let (id, read) = flash.open(Op::Read, Source::Refresh, class, Owner::Scrub, die);
        read.unit = unit;
        flash.submit(id);
    }

    /// Handles the end of a scrubbing read. `known` is true if the page was already known to be
    /// unreadable.
    pub fn scrubbed(&mut self, core: &mut Core, flash: &mut Flash, id: TxnId, known: bool) {
        let Txn { unit, die, needed, level, .. } = *flash.txns.get(id);
        flash.txns.close(id);
        if flash.has_failed(die) {
            return;
        }
        let failed = needed > level;
        flash.counters.scrubbed.pages += 1;
        flash.counters.scrubbed.unreadable += u64::from(failed && !known);
        let Some(scrub) = &mut self.scrub else { return };
        let patrol = &mut scrub.dies[die];
        let (now, step) = (flash.now(), scrub.step);
        patrol.reading = false;
        patrol.rests_until = now + step;
        let goes_on = patrol.in_idle_time;
        self.judge_block(core, flash, unit, failed);
        let moves = self.scrub.as_ref().is_some_and(|scrubber| scrubber.dies[die].moving.is_some());
        if !(goes_on && flash.die(die).is_idle()) {
            // Perhaps nobody else uses the die.
            let again = self.rules.idle_after.max(Span::ns(1)).min(step);
            return self.patrol_at(flash, die, now + again);
        }
        match (!moves).then(|| self.next_to_scrub(core, flash, die)).flatten() {
            Some(unit) => self.scrub_page(core, flash, unit, true),
            None => self.patrol(core, flash, die),
        }
    }

    /// Decides if the block of a scrubbed page must be moved.
    fn judge_block(&mut self, core: &Core, flash: &mut Flash, unit: UnitId, failed: bool) {
        let (page, block) = (core.locator.page_of(unit), core.locator.block_of(unit));
        let (now, die) = (flash.now(), core.locator.die_of(unit));
        let Some(scrub) = &mut self.scrub else { return };
        let Some(condition) = flash.condition_mut() else { return };
        // A block moves at most once in its turn, whatever errors are found.
        if scrub.dies[die].decided || core.allocator.blocks.valid(block) == 0 {
            return;
        }
        let errors = Errors::found(condition.errors(page, block, now), failed);
        let verdict = scrub.policy.judge(errors);
        let patrol = &mut scrub.dies[die];
        patrol.decided = verdict != Verdict::Stays;
        match verdict {
            Verdict::Stays => {}
            Verdict::Moves => {
                let erases = core.allocator.blocks.erase_counts()[block.index()];
                patrol.moving = Some(Moving { block, erases, since: now });
            }
            Verdict::GainsNothing => flash.counters.scrubbed.left += 1,
        }
    }

    /// Continues the scrubbing of a die after the move of the block that it waited for.
    pub(super) fn patrol_after_move(&mut self, core: &Core, flash: &mut Flash, block: BlockId) {
        let die = core.locator.die_of_plane(core.locator.plane_of_block(block));
        let moved =
            |scrub: &Scrubber| scrub.dies[die].moving.is_some_and(|moving| moving.block == block);
        if self.scrub.as_deref().is_some_and(moved) {
            self.patrol_at(flash, die, flash.now());
        }
    }

    /// Starts the move of a block with many errors, before which scrubbing reads no other block of
    /// the die, or checks a move already started. Returns true if the block has yet to be moved.
    fn waits_for_move(&mut self, core: &mut Core, flash: &mut Flash, die: DieId) -> bool {
        let now = flash.now();
        let Some(scrub) = &mut self.scrub else { return false };
        let every = scrub.every;
        let Some(Moving { block, erases, since }) = scrub.dies[die].moving else { return false };
        let blocks = &core.allocator.blocks;
        if blocks.erase_counts()[block.index()] != erases || blocks.valid(block) == 0 {
            scrub.dies[die].moving = None;
            return false;
        }
        let (plane, late) = (core.locator.plane_of_block(block), now >= since + every);
        if blocks.state(block) == BlockState::Collecting {
            if late {
                self.promote(core, flash, plane);
            }
            return true;
        }
        let idle = self.rests_since(flash, die).is_some();
        if idle || late {
            if core.allocator.blocks.state(block) == BlockState::Open {
                self.close_open(core, flash, block);
            }
            let full = core.allocator.blocks.state(block) == BlockState::Full;
            if full && self.job(plane).is_none() && core.allocator.blocks.free_in(plane) >= 2 {
                flash.counters.scrubbed.moved += 1;
                self.begin(core, flash, plane, block, Source::Refresh, late);
                return true;
            }
        }
        let waits = now < since + every * TURNS_TO_MOVE;
        if !waits && let Some(scrub) = &mut self.scrub {
            flash.counters.scrubbed.postponed += 1;
            scrub.dies[die].moving = None;
        }
        waits
    }
}
