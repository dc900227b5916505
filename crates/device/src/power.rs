//! Spans without power. Nothing happens in one: whatever the drive was about is as it was when power is back. But data
//! grows older, so that blocks whose data is older than T_retention by then are recycled before anything else
//! (DA-RAID-5, section III-C: "the controller can monitor retention time only at time of power-on"); and what caches
//! held is gone, unless they are protected.
//!
//! The clock of the drive counts time under power; what grows older is told of the rest.

use crate::cache::buffer::{Frame, Listed};
use crate::device::Device;
use crate::flash::Flash;
use crate::flash::txn::{Op, Owner, Source, Txn};
use crate::ftl::Ftl;
use crate::observe::probe::Probe;
use crate::policy::redundancy::CachePower;
use crate::raid::faults::Reason;
use crate::raid::integrity::Integrity;
use crate::raid::parity_cache::Progress;
use fowler_agenda::Phase;
use fowler_units::{FrameId, Id, Nanos, ParityId, Ppn, Span, StripeId};

/// What the spans without power came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PowerOffs {
    /// How many there were.
    pub spans: u32,
    /// How long they were in all.
    pub off: Span,
    /// Writes that had been acknowledged and were gone with them.
    pub lost_writes: u64,
    /// Stripes that had parity nowhere but in a cache that lost its power.
    pub parity_lost: u64,
    /// Blocks whose data was older than T_retention when power came back, where blocks are recycled.
    pub overdue: u64,
}

impl Device {
    /// Lets time go by until `at` without a request: what goes on in idle time does. `probe` watches, as in a run.
    ///
    /// # Panics
    /// If a request is in the drive.
    pub fn rest_until<P: Probe>(&mut self, at: Nanos, probe: &mut P) {
        assert_eq!(self.ftl.requests.open_count(), 0, "a request is in the drive");
        self.flash.watch(probe.watches_flash());
        while self.flash.agenda.is_due_before(at, Phase::Arrival) {
            self.show(self.next_event(), probe);
            self.event();
            self.flash.settle(&mut self.ftl);
            self.tell_much(probe);
        }
        if at > self.now() {
            self.show(at, probe);
            self.flash.agenda.advance(at);
        }
        self.tell(probe);
    }

    /// The power is off for so long. What runs on a die runs to its end, as in [`crate::Fault::Power`]. `probe` hears of
    /// what the drive begins when power is back.
    ///
    /// # Panics
    /// If a request is in the drive, or the drive has a throttle: its life goes by on the drive's clock.
    pub fn power_off<P: Probe>(&mut self, lasts: Span, probe: &mut P) {
        assert_eq!(self.ftl.requests.open_count(), 0, "a request is in the drive");
        assert!(self.ftl.holder.is_none(), "a throttle knows of no time without power");
        if let Some(condition) = self.flash.condition_mut() {
            condition.grow_older(lasts);
        }
        let overdue = self.ftl.age_without_power(&mut self.flash, lasts);
        let (lost_writes, parity_lost) = self.ftl.lose_power(&mut self.flash);
        let its = &mut self.ftl.power_offs;
        its.spans += 1;
        its.off += lasts;
        its.lost_writes += lost_writes;
        its.parity_lost += parity_lost;
        its.overdue += overdue;
        self.flash.watch(probe.watches_flash());
        self.flash.settle(&mut self.ftl);
        self.tell(probe);
    }

    /// What spans without power came to so far.
    pub fn power_offs(&self) -> &PowerOffs {
        &self.ftl.power_offs
    }
}

impl Ftl {
    /// What caches hold is gone, unless they are protected. Returns how many writes that were acknowledged are, and of
    /// how many stripes the parity.
    pub(crate) fn lose_power(&mut self, flash: &mut Flash) -> (u64, u64) {
        if self.cache_power == CachePower::Protected {
            return (0, 0);
        }
        let only_here: Vec<FrameId> = self
            .buffer
            .used()
            .filter(|&(slot, _)| self.is_only_here(flash, slot))
            .map(|(slot, _)| slot)
            .collect();
        let lost_writes = only_here.len() as u64;
        for slot in only_here {
            self.lose_frame(slot);
        }
        let parity_lost = self.lose_parity(flash);
        self.flushed(flash);
        self.resume_writes(flash);
        self.evict(flash);
        (lost_writes, parity_lost)
    }

    /// Whether a frame holds what was acknowledged and no die has begun to program. What the host waits for still is no
    /// data of its own, and what is programmed anew in idle time lies in the flash.
    pub(crate) fn is_only_here(&self, flash: &Flash, slot: FrameId) -> bool {
        let Frame { queued, listed, orphan, lpn, ppn, .. } = *self.buffer.get(slot);
        if orphan || !queued.is_some() {
            return listed == Listed::Dirty;
        }
        let Txn { req, joined, source, .. } = *flash.txns.get(queued);
        // Only tags tell whether it was written since.
        let same = |its: &Integrity| its.version(lpn) == its.tag(ppn);
        let anew = source == Source::Refresh && self.integrity().is_none_or(same);
        !req.is_some() && !joined.is_some() && !anew
    }

    /// Whether a die has begun to program the parity of an entry.
    pub(crate) fn parity_has_begun(&self, flash: &Flash, entry: ParityId) -> bool {
        let begun = |txn: &Txn| {
            txn.op == Op::Program && txn.owner == Owner::Parity(entry) && txn.ppn.is_some()
        };
        flash.txns.iter().any(|(_, txn)| begun(txn))
    }

    /// The parity that the cache holds and that no die has begun to program is gone.
    fn lose_parity(&mut self, flash: &mut Flash) -> u64 {
        let Some(array) = &self.array else { return 0 };
        let held: Vec<(ParityId, StripeId)> = array
            .cache
            .iter()
            .filter(|(id, it)| {
                let computed = it.progress == Progress::Writing && !it.again && !it.stale;
                !computed || !self.parity_has_begun(flash, *id)
            })
            .filter(|(_, entry)| entry.covered != 0)
            .map(|(id, entry)| (id, entry.stripe))
            .collect();
        let mut lost = 0;
        for (id, stripe) in held {
            // Going on with one may have ended another.
            if self.array.as_ref().and_then(|array| array.cache.find(stripe)) != Some(id) {
                continue;
            }
            lost += 1;
            if let Some(integrity) = self.integrity_mut() {
                integrity.ledger.parity_lost += 1;
            }
            self.give_up_unreadable(flash, stripe);
            self.forget_parity(flash, id);
            // What cannot be read of it is lost by now: nothing more keeps it from the flash.
            self.look_whether_frail(flash, stripe);
        }
        lost
    }

    /// A stripe has no parity at all: what cannot be read of it is lost.
    fn give_up_unreadable(&mut self, flash: &mut Flash, stripe: StripeId) {
        let stripes = self.array.as_ref().expect("it has stripes").stripes;
        for (_, page) in stripes.data_pages(stripe) {
            let ppn = self.flash_copy(page);
            if ppn.is_some() && !self.reads_well(ppn) {
                self.lose(flash, page, Reason::Power);
            }
        }
    }

    /// A page that was acknowledged and never reached the flash is lost; what the flash has of it is older.
    fn lose_frame(&mut self, slot: FrameId) {
        let frame = *self.buffer.get(slot);
        if let Some(integrity) = self.integrity_mut() {
            integrity.ledger.lost[Reason::Power as usize] += 1;
            integrity.ledger.lost_writes += 1;
            integrity.revert(frame.lpn, frame.ppn);
        }
        if frame.queued.is_some() {
            // Its program is dropped when its turn comes, as that of a page that was trimmed.
            self.map.set_flash(frame.lpn, frame.ppn);
            let its = self.buffer.get_mut(slot);
            (its.orphan, its.ppn) = (true, Ppn::NONE);
            return;
        }
        self.buffer.settled(frame.epoch);
        self.buffer.delist(slot);
        if frame.programs > 0 {
            return; // An older version is being programmed: the frame goes when it is done.
        }
        self.map.set_flash(frame.lpn, frame.ppn);
        self.buffer.stay(slot);
        self.buffer.release(slot);
    }
}
