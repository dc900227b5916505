//! How pages were used while they were in the buffer, and what becomes of those that leave it (HIRE, sections
//! 3.1 and 3.2).

use crate::cache::buffer::{Frame, Listed};
use crate::cells::mode::Voltage;
use crate::config::layout::Layout;
use crate::config::{Config, ReadHot};
use crate::flash::Flash;
use crate::flash::queue;
use crate::flash::txn::{Op, Owner, Source};
use crate::ftl::Ftl;
use crate::mapping::page_map::Location;
use crate::policy::custom::Used;
use crate::policy::stream_tag::{AccessClass, StreamTag};
use crate::policy::voltage::{AnyVoltage, VoltageRule};
use fowler_units::{DieId, FrameId, Id, IdVec, Lpn, Ppn};

impl Ftl {
    /// The voltages that each page is taken to be programmed at, where its last use says so.
    pub(crate) fn marks(config: &Config, layout: &Layout) -> Option<IdVec<Lpn, Voltage>> {
        let rule = AnyVoltage::new(&config.voltage, config.seed);
        let initially = rule.voltage(StreamTag::PLAIN);
        let pages = layout.mapped_pages as usize;
        (config.buffer.read_hot == ReadHot::OnEvict).then(|| IdVec::filled(initially, pages))
    }

    /// A page that was read from the flash stays in the buffer, if there is room at once.
    pub(crate) fn keep_read(&mut self, flash: &mut Flash, page: Lpn, from: Ppn) {
        match self.map.place(page) {
            Location::Flash(now) if now == from => {
                if self.buffer.free_count() == 0
                    && let Some(clean) = self.buffer.to_empty()
                {
                    self.drop_clean(flash, clean);
                }
                let Some(slot) = self.buffer.take(page, from) else { return };
                self.map.set_buffered(page, slot);
                self.buffer.make_whole(slot);
                self.buffer.count(slot, false);
                self.buffer.enlist(slot, Listed::Clean);
                self.evict(flash);
            }
            // Two requests read it at the same time.
            Location::Buffer(slot) => {
                self.buffer.count(slot, false);
                self.buffer.touch(slot);
            }
            Location::Flash(_) | Location::Nowhere => {}
        }
    }

    /// A page leaves the buffer: how it was used is known now.
    pub(crate) fn note_use(&mut self, flash: &mut Flash, slot: FrameId) -> AccessClass {
        let Frame { lpn, reads, writes, .. } = *self.buffer.get(slot);
        let class = self.hotness.class(Used { lpn, reads, writes, now: flash.now() });
        flash.counters.left[class as usize] += 1;
        if let Some(marks) = &mut self.marks {
            marks[lpn] = self.space.frontiers.voltage_of(StreamTag::new(false, class));
        }
        class
    }

    /// A clean page leaves the buffer, or waits there to be programmed anew.
    pub(crate) fn give_up(&mut self, flash: &mut Flash, slot: FrameId) {
        let class = self.note_use(flash, slot);
        if self.read_hot == ReadHot::RewriteOnIdle
            && class == AccessClass::ReadHot
            && self.gains(slot)
        {
            self.let_wait(flash, slot);
        } else {
            self.empty(slot);
        }
    }

    /// A clean page leaves the buffer at once: its frame is needed.
    pub(crate) fn drop_clean(&mut self, flash: &mut Flash, slot: FrameId) {
        if self.buffer.get(slot).listed == Listed::Rewrite {
            flash.counters.rewritten[1] += 1;
        } else {
            self.note_use(flash, slot);
        }
        self.empty(slot);
    }

    fn empty(&mut self, slot: FrameId) {
        let Frame { lpn, ppn, .. } = *self.buffer.get(slot);
        self.map.set_flash(lpn, ppn);
        self.buffer.delist(slot);
        self.buffer.release(slot);
    }

    /// Whether a page that is read hot lies in cells of other voltages than it should.
    fn gains(&self, slot: FrameId) -> bool {
        let ppn = self.buffer.get(slot).ppn;
        let block = self.locator.block_of(ppn);
        let wanted = self.space.frontiers.voltage_of(StreamTag::new(false, AccessClass::ReadHot));
        ppn.is_some() && self.space.frontiers.mode_of(block).voltage != wanted
    }

    fn let_wait(&mut self, flash: &mut Flash, slot: FrameId) {
        self.buffer.delist(slot);
        self.buffer.enlist(slot, Listed::Rewrite);
        if self.buffer.rewrites() > self.buffer.rewrites_most() {
            let oldest = self.buffer.to_rewrite().next();
            self.drop_clean(flash, oldest.expect("too many wait"));
        }
        let turn = DieId((self.rewriter.0 + 1) % self.layout.geometry.dies());
        self.rewriter = self.space.home(self.buffer.get(slot).lpn).unwrap_or(turn);
        if flash.die(self.rewriter).is_idle() {
            self.on_die_idle(flash, self.rewriter);
        }
    }

    /// A die has been idle for long enough: of the pages that may lie there, the one that has waited longest is
    /// programmed anew. Returns whether there was one.
    pub(crate) fn rewrite(&mut self, flash: &mut Flash, die: DieId) -> bool {
        if self.writes == self.writes_max {
            return false;
        }
        let lpn = |slot: FrameId| self.buffer.get(slot).lpn;
        let may_lie = |slot: &FrameId| self.space.home(lpn(*slot)).is_none_or(|home| home == die);
        let Some(slot) = self.buffer.to_rewrite().find(may_lie) else { return false };
        // Pages of stripes have dies of their own.
        let anywhere = self.array.is_none();
        if anywhere && !self.space.takes_in(die) {
            return false;
        }
        self.buffer.delist(slot);
        self.buffer.leave(slot);
        let owner = Owner::Frame(slot);
        let class = queue::TxnClass::HostProgram;
        let (id, txn) = flash.open(Op::Program, Source::Refresh, class, owner, die);
        let frame = self.buffer.get_mut(slot);
        txn.lpn = frame.lpn;
        txn.tag = frame.tag.with(AccessClass::ReadHot);
        // No request waits for it: it goes after every write that one does.
        txn.group = u16::MAX;
        frame.queued = id;
        frame.submitted = anywhere;
        txn.epoch = self.buffer.born();
        self.writes += 1;
        flash.counters.rewritten[0] += 1;
        if anywhere {
            flash.submit(id);
        } else {
            self.proceed(flash, id);
        }
        true
    }
}
