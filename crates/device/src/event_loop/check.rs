//! Checks of all conservation laws of a drive. They can run after any event, but slowly: for tests,
//! and for users who doubt a result.

use super::Device;
use crate::blocks::block_table::BlockState;
use crate::flash::queue::TxnClass;
use crate::flash::txn::{Owner, Txn};
use crate::host::failed_dies::Service;
use crate::mapping::page_map::Location;
use crate::observe::law::{Violation, law};
use crate::observe::operation::{Op, Source};
use fowler_units::{BlockId, DieId, FrameId, Id, Lpn, PlaneId};

impl Device {
    /// Checks the state of the drive (mapping, blocks, buffer, transactions and dies): no page of
    /// data is lost in it or counted twice.
    ///
    /// # Errors
    /// The first violated law.
    pub fn check(&self) -> Result<(), Violation> {
        self.check_blocks()?;
        self.check_mapping()?;
        if self.layer.ftl.service == Service::Offline {
            return Ok(()); // Data in the controller is still there, and goes nowhere.
        }
        self.check_failed_dies()?;
        self.check_buffer()?;
        self.check_transactions()?;
        self.check_programs()?;
        self.check_dies()?;
        match self.layer.raid() {
            Some(raid) => raid.check(&self.layer.ftl.core, &self.flash),
            None => Ok(()),
        }
    }

    /// Returns true if a logical page holds data.
    pub fn holds(&self, page: Lpn) -> bool {
        self.layer.ftl.core.map.place(self.stored_page(page)) != Location::Nowhere
    }

    /// Checks that the numbers of valid pages match the bitmaps of valid pages, that every block is
    /// in exactly one state, and that each full block is in the list (bucket) for its number of
    /// valid pages.
    fn check_blocks(&self) -> Result<(), Violation> {
        let blocks = &self.layer.ftl.core.allocator.blocks;
        let geometry = self.layout().geometry;
        for plane in (0..geometry.planes()).map(PlaneId) {
            let (mut valid, mut free, mut full) = (0, 0, 0);
            for block in geometry.blocks_of_plane(plane) {
                self.check_block(block)?;
                valid += blocks.valid(block);
                free += u32::from(blocks.state(block) == BlockState::Free);
                full += u32::from(blocks.state(block) == BlockState::Full);
            }
            let counted = (blocks.valid_in(plane), blocks.free_in(plane));
            law(counted == (valid, free), || {
                format!("plane {}: counters {counted:?}, columns {:?}", plane.0, (valid, free))
            })?;
            let bucketed = blocks.bucketed(plane);
            law(bucketed == full && blocks.candidates(plane).count() == full, || {
                format!(
                    "plane {}: {full} blocks are full, but {bucketed} are listed for GC",
                    plane.0
                )
            })?;
        }
        Ok(())
    }

    fn check_block(&self, block: BlockId) -> Result<(), Violation> {
        let blocks = &self.layer.ftl.core.allocator.blocks;
        let bits = blocks.marked(block);
        law(bits == blocks.valid(block), || {
            format!(
                "block {}: {} pages are counted as valid, but {bits} have their valid bit set",
                block.0,
                blocks.valid(block)
            )
        })?;
        let written = blocks.written(block);
        let die = self.layer.ftl.core.locator.die_of_plane(blocks.geometry().plane_of_block(block));
        let failed = self.layer.ftl.core.allocator.has_failed(die);
        let whole = match blocks.state(block) {
            BlockState::Retired if failed => bits <= written,
            BlockState::Free | BlockState::Retired => written == 0 && bits == 0,
            BlockState::Open => bits <= written,
            BlockState::Full | BlockState::Collecting => {
                written == self.layout().geometry.pages_per_block
            }
        };
        law(whole, || {
            format!("block {} is {:?} with {written} pages", block.0, blocks.state(block))
        })
    }

    /// Checks that each logical page maps to exactly one valid physical page or none, and that no
    /// other page is valid except the new copies of pages being moved.
    fn check_mapping(&self) -> Result<(), Violation> {
        let mut mapped = 0u64;
        for page in (0..self.layer.ftl.core.map.logical()).map(Lpn) {
            let location = match self.layer.ftl.core.map.place(page) {
                Location::Nowhere => continue,
                Location::Flash(unit) => unit,
                Location::Buffer(frame_id) => {
                    let frame = self.layer.ftl.core.buffer.get(frame_id);
                    law(frame.lpn == page && !frame.orphan, || {
                        format!(
                            "logical page {} is mapped to a buffer frame that does not hold it",
                            page.0
                        )
                    })?;
                    if !frame.unit.is_some() {
                        continue;
                    }
                    frame.unit
                }
            };
            mapped += 1;
            let owner = self.layer.ftl.core.map.owner(location);
            law(owner == page && self.layer.ftl.core.allocator.blocks.is_valid(location), || {
                format!(
                    "logical page {} is mapped to physical page {}, which is not valid or was last \
                     programmed for logical page {}",
                    page.0, location.0, owner.0
                )
            })?;
        }
        let geometry = self.layout().geometry;
        let valid: u64 = (0..geometry.planes())
            .map(|plane| u64::from(self.layer.ftl.core.allocator.blocks.valid_in(PlaneId(plane))))
            .sum();
        let moving = self.moving();
        let kept = self.layer.raid().map_or(0, |raid| raid.retained_for_parity());
        law(valid == mapped + moving + kept, || {
            format!(
                "{valid} pages are valid, which is not the sum of {mapped} mapped, {moving} moving \
                 and {kept} kept for parity"
            )
        })
    }

    fn moving(&self) -> u64 {
        let moves = |txn: &Txn| {
            use Owner::{DegradedRead, Displaced, Job, Parity};
            matches!(txn.owner, Job | Parity(_) | DegradedRead(_) | Displaced(_))
                && txn.op == Op::Program
                && txn.unit.is_some()
        };
        self.flash.txns.iter().filter(|(_, txn)| moves(txn)).count() as u64
    }

    /// Checks that a die that has failed does no work, and that nothing is queued for it or placed
    /// on it.
    fn check_failed_dies(&self) -> Result<(), Violation> {
        let allocator = &self.layer.ftl.core.allocator;
        for die in (0..self.layout().geometry.dies()).map(DieId) {
            let failed = allocator.has_failed(die);
            law(failed == self.flash.has_failed(die), || {
                format!("controller and die {} disagree on whether it has failed", die.0)
            })?;
            let open = allocator.blocks.geometry().planes_of_die(die).any(|plane| {
                allocator.blocks.free_in(plane) > 0
                    || allocator.open_blocks.of_plane(plane).count() > 0
            });
            law(!failed || !open, || format!("die {} has failed, and takes pages", die.0))?;
        }
        for (id, txn) in self.flash.txns.iter() {
            let deferred = self.layer.raid().is_some_and(|it| it.is_deferred(&self.flash, id));
            let bound = txn.op == Op::Program && txn.unit.is_some() && !deferred;
            let dead = bound && allocator.has_failed(self.layer.ftl.core.locator.die_of(txn.unit));
            law(!dead, || format!("program {} is on a die that has failed", id.0))?;
        }
        Ok(())
    }

    /// Checks that the mapping finds the frame of every buffered page, and that no frame is lost.
    fn check_buffer(&self) -> Result<(), Violation> {
        let buffer = &self.layer.ftl.core.buffer;
        let mut used = 0;
        for (id, frame_id) in buffer.used() {
            used += 1;
            let found = self.layer.ftl.core.map.place(frame_id.lpn) == Location::Buffer(id);
            law(found != frame_id.orphan, || {
                format!(
                    "buffer frame {} of logical page {} is not mapped, or is mapped though trimmed",
                    id.0, frame_id.lpn.0
                )
            })?;
        }
        let (free, all) = (buffer.free_count(), self.layout().frames as usize);
        law(used + free == all, || format!("{used} frames used, {free} free, of {all}"))
    }

    /// Checks that the queues and counters of the dies agree with the transactions in flight.
    fn check_transactions(&self) -> Result<(), Violation> {
        let (mut reads, mut writes) = (0, 0);
        for (_, txn) in self.flash.txns.iter() {
            reads += u32::from(txn.class == TxnClass::HostRead);
            let moved = txn.owner == Owner::Displaced(FrameId::NONE);
            let of_host = txn.source != Source::Parity && !moved;
            writes += u32::from(txn.class == TxnClass::HostProgram && of_host);
        }
        let counted = (self.layer.ftl.front.reads.count(), self.layer.ftl.queues.writes);
        law(counted == (reads, writes), || {
            format!(
                "the drive counts {counted:?} host reads and programs, but {:?} are in flight",
                (reads, writes)
            )
        })?;
        let (entered, answered) = (self.entered, self.answered);
        let open = self.layer.ftl.front.requests.open_count() as u64;
        law(entered == answered + open, || {
            format!(
                "{entered} requests entered, which is not the sum of {answered} answered and \
                 {open} in flight"
            )
        })?;
        let front = &self.layer.ftl.front;
        front.line.check(open as usize, !front.reads.are_full()).map_err(Violation)
    }

    /// Checks that a block holds data of one class, that its pages are programmed as that class
    /// requires (HIRE, section 3.2), and that data keeps its class when GC moves it. The check
    /// covers each running program, and therefore every page during a run.
    fn check_programs(&self) -> Result<(), Violation> {
        let locator = &self.layer.ftl.core.locator;
        let open_blocks = &self.layer.ftl.core.allocator.open_blocks;
        for (id, txn) in self.flash.txns.iter() {
            let tag = match txn.owner {
                Owner::Frame(_) => txn.tag,
                Owner::Job if txn.source == Source::Gc && txn.op == Op::Program => {
                    open_blocks.tag_of_survivors(locator.block_of(txn.from))
                }
                _ => continue,
            };
            let deferred = self.layer.raid().is_some_and(|it| it.is_deferred(&self.flash, id));
            if txn.op != Op::Program || !txn.unit.is_some() || deferred {
                continue;
            }
            let block = locator.block_of(txn.unit);
            let (block_tag, state) =
                (open_blocks.tag_of(block), self.layer.ftl.core.allocator.blocks.state(block));
            law(open_blocks.mingle(tag, block_tag) && state == BlockState::Open, || {
                format!(
                    "data with {tag:?} goes to {state:?} block {}; expected an open block of the \
                     data's stream, but that block has {block_tag:?}",
                    block.0
                )
            })?;
            let (meant, made) = (open_blocks.voltage_of(tag), txn.mode.voltage);
            law(meant == made, || {
                format!("data with {tag:?} is programmed at {made:?} voltages; expected {meant:?}")
            })?;
        }
        Ok(())
    }

    /// Checks that an idle die was busy for exactly the time of its operations, and that no die's
    /// time accounting has gaps.
    fn check_dies(&self) -> Result<(), Violation> {
        for id in self.flash.dies().ids() {
            let die = self.flash.die(id);
            let account = die.account.read_at(self.now());
            law(account.total().0 == self.now().0, || {
                format!(
                    "die {}: the time accounting adds up to {} ns, but the time is {} ns",
                    id.0,
                    account.total().0,
                    self.now().0
                )
            })?;
            let queued = self.flash.queued(id);
            law(queued.ranked.is_none_or(|ranked| ranked == queued.by_the_host), || {
                format!(
                    "die {}: its queues by arrival and by rank hold different numbers of host \
                     transactions: {queued:?}",
                    id.0
                )
            })?;
            let at_rest = die.is_idle() && !die.marked;
            law(!at_rest || account.busy() == die.served, || {
                format!(
                    "die {} was busy for {}, but its finished operations took {}",
                    id.0,
                    account.busy(),
                    die.served
                )
            })?;
        }
        Ok(())
    }

    /// With integrity checking: checks that the last written version of every host page is in the
    /// buffer or in the flash.
    ///
    /// # Errors
    /// The first page whose last version is in neither.
    pub fn check_data(&self) -> Result<(), Violation> {
        match self.layer.raid() {
            Some(raid) => raid.check_data(&self.layer.ftl.core, &self.flash),
            None => Ok(()),
        }
    }
}
