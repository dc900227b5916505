//! The page allocator: chooses the die that takes the next host page, and the page on that die.
//!
//! 1. [`PageAllocator::place`] assigns a logical page to a die with room, by address or in
//!    rotation; the page counts as pending there.
//! 2. When the die starts the program, [`PageAllocator::host_page`] takes the next page of an open
//!    block of the plane whose turn it is. It returns none if GC must make progress first: the
//!    plane is full, down to its last erased block, or ahead of its GC job.
//! 3. [`PageAllocator::write_moved`] takes pages for GC without such a test: the reserve is there
//!    for it.
//!
//! Invariants: the valid and the pending pages of a die do not exceed its room when a page is
//! assigned; the planes of a die take turns, so that their open blocks are at the same page.

use super::bad_blocks::{BadBlocks, BadBlocksSnapshot};
use super::failed_dies::FailedDies;
use super::gc_job::Job;
use crate::blocks::block_table::{BlockState, Blocks, Programmed};
use crate::blocks::open_blocks::{OpenBlocks, OpenBlocksSnapshot, Opened};
use crate::config::layout::Layout;
use crate::config::{Config, GcFrontier};
use crate::observe::operation::Source;
use crate::policy::placement::{Dies, STREAMS_MAX, StreamId};
use crate::policy::stream_tag::StreamTag;
use fowler_units::{BlockId, Bytes, DieId, Geometry, Id, IdVec, Lpn, PlaneId, UnitId};
use serde::{Deserialize, Serialize};

/// Counts and rotation of one die in the striping of host pages over dies: pages assigned, pages
/// that fit, and the next plane of each stream.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct Stripe {
    /// Host pages assigned to the die that have no physical page yet.
    pub(super) pending: u32,
    /// Number of pages that the die can hold.
    room: u32,
    /// For each stream, the plane that takes its next page: pages of a stream should lie at the
    /// same offset on all planes.
    pub(super) turns: [u8; STREAMS_MAX],
}

/// A snapshot of the page allocator, except for the block table.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct AllocatorSnapshot {
    open_blocks: OpenBlocksSnapshot,
    stripes: IdVec<DieId, Stripe>,
    turn: u64,
    bad_blocks: Option<BadBlocksSnapshot>,
}

/// Wraps an index of a rotation around to the range 0 to `turns - 1`. The index may be at most one
/// round too high, that is, below twice `turns`.
#[inline]
fn wrapped(turn: u32, turns: u32) -> u32 {
    if turn < turns { turn } else { turn - turns }
}

/// The blocks of the drive, and the place at which each kind of data is written next.
#[derive(Clone, Debug)]
pub struct PageAllocator {
    /// The block table: state and valid pages of every block.
    pub blocks: Blocks,
    /// The open blocks of all planes.
    pub open_blocks: OpenBlocks,
    pub(super) stripes: IdVec<DieId, Stripe>,
    /// True if the logical address of a page determines its die.
    by_address: bool,
    /// True if every page must be stored on the die of its address.
    strict: bool,
    /// The dies in striping order, each repeated for every page of a stripe unit.
    order: Box<[DieId]>,
    /// Index in `order`, the dies in striping order, of the die that takes the next host page.
    pub(super) turn: usize,
    /// True if a stripe unit, the pages that go to one die in a row, has one page.
    page_by_page: bool,
    collected_to: GcFrontier,
    /// The model of blocks that fail; `None` if blocks never fail.
    pub(super) bad_blocks: Option<Box<BadBlocks>>,
    /// The dies that have failed, and the spare dies.
    pub(super) failed_dies: FailedDies,
}

/// A page that was allocated, and its location in the flash.
#[derive(Clone, Copy, Debug)]
pub struct Taken {
    /// The allocated page (mapping unit).
    pub unit: UnitId,
    /// Block that holds the allocated page.
    pub block: BlockId,
    /// Plane that holds the allocated page.
    pub plane: PlaneId,
    /// Number of erased blocks left in the plane of the allocated page.
    pub free: u32,
}

impl PageAllocator {
    /// Creates the allocator of a fresh drive.
    pub fn new(config: &Config, layout: &Layout) -> Self {
        let geometry = layout.geometry;
        let in_order = |at| match config.redundancy.has_stripes() {
            true => geometry.die_at_chip(at),
            false => geometry.die_at_stripe(at),
        };
        let unit = config.placement.stripe_unit;
        let die_limit = layout.plane_limit() * geometry.planes_per_die;
        let stripe = Stripe { room: die_limit, ..Stripe::default() };
        Self {
            blocks: Blocks::new(geometry, layout.plane_limit()),
            open_blocks: OpenBlocks::new(config, &geometry),
            stripes: IdVec::filled(stripe, geometry.dies() as usize),
            by_address: config.redundancy.has_stripes() || config.placement.dies == Dies::ByAddress,
            strict: config.redundancy.has_stripes(),
            // With each die repeated, finding the die of a page takes one division for any unit.
            order: (0..geometry.dies() * unit).map(|at| in_order(at / unit)).collect(),
            turn: 0,
            page_by_page: unit == 1,
            collected_to: config.gc.frontier,
            bad_blocks: None,
            failed_dies: FailedDies::new(config, layout),
        }
    }

    /// Returns the memory that the block table and the open blocks take on the simulating machine.
    pub fn bytes(config: &Config, geometry: &Geometry) -> Bytes {
        let dies = u64::from(geometry.dies());
        Blocks::bytes(geometry)
            + OpenBlocks::bytes(geometry)
            + Bytes::of::<Stripe>(dies)
            + Bytes::of::<DieId>(dies * u64::from(config.placement.stripe_unit))
    }

    /// Returns a copy of the present blocks under the policies of `config` for data placement, ISPP
    /// steps and program voltages.
    pub fn ruled_by(&self, config: &Config) -> Self {
        let mut ruled = Self { open_blocks: self.open_blocks.ruled_by(config), ..self.clone() };
        ruled.turns_follow(self.open_blocks.stream(StreamTag::PLAIN));
        ruled
    }

    /// Switches data placement to the rule of `config`; see [`OpenBlocks::place_by`].
    pub fn place_by(&mut self, config: &Config) {
        let was = self.open_blocks.stream(StreamTag::PLAIN);
        self.open_blocks.place_by(config);
        self.turns_follow(was);
    }

    /// Lets data without a stream tag keep its place in the rotation over the planes of each die
    /// when that data moves from the stream `was` to another one: on every die, the two streams
    /// swap the planes that they fill next.
    fn turns_follow(&mut self, was: StreamId) {
        let is = self.open_blocks.stream(StreamTag::PLAIN);
        self.stripes
            .as_mut_slice()
            .iter_mut()
            .for_each(|stripe| stripe.turns.swap(was.index(), is.index()));
    }

    /// Returns the die that a page's address determines; `None` if addresses do not determine dies.
    #[inline]
    pub fn home(&self, page: Lpn) -> Option<DieId> {
        self.by_address.then(|| self.die_of_address(page))
    }

    /// Returns the number of consecutive host pages after which the striping over dies repeats: the
    /// number of dies times the pages of a stripe unit.
    pub(super) fn dies_in_turn(&self) -> usize {
        self.order.len()
    }

    /// Returns a snapshot of the allocator, except for the block table.
    pub fn snapshot(&self) -> AllocatorSnapshot {
        let (open_blocks, stripes) = (self.open_blocks.snapshot(), self.stripes.clone());
        let bad_blocks = self.saved_bad_blocks();
        AllocatorSnapshot { open_blocks, stripes, turn: self.turn as u64, bad_blocks }
    }

    /// Restores the allocator from a snapshot. Returns true if the snapshot fits this drive.
    pub fn resume(&mut self, snapshot: AllocatorSnapshot) -> bool {
        self.open_blocks.resume(snapshot.open_blocks);
        (self.stripes, self.turn) = (snapshot.stripes, snapshot.turn as usize);
        self.resume_bad_blocks(snapshot.bad_blocks)
    }

    /// Returns the die for a host page: the die of the page's address, or else the next die in
    /// stripe order with room for it, counting pages already assigned there. `None` if no die has
    /// room. See docs/decisions/blocks.md, "Which die takes a host page?".
    #[inline(always)]
    pub fn place(&mut self, page: Lpn) -> Option<DieId> {
        if let Some(die) = self.home(page) {
            let has_room = self.takes_in(die);
            if has_room || self.strict {
                return has_room.then_some(die);
            }
        }
        let die = self.next_turn();
        if self.takes_in(die) { Some(die) } else { self.place_on_another() }
    }

    /// Returns another die for a host page when the next die in stripe order has no room; `None` if
    /// no die has room.
    #[cold]
    fn place_on_another(&mut self) -> Option<DieId> {
        (1..self.order.len()).find_map(|_| {
            let die = self.next_turn();
            self.takes_in(die).then_some(die)
        })
    }

    /// Returns the next die in striping order and advances.
    #[inline]
    fn next_turn(&mut self) -> DieId {
        let die = self.order[self.turn];
        self.turn = if self.turn + 1 == self.order.len() { 0 } else { self.turn + 1 };
        die
    }

    /// Returns the die that a page's address determines.
    #[inline]
    pub fn die_of_address(&self, page: Lpn) -> DieId {
        self.order[page.0 as usize % self.order.len()]
    }

    /// Assigns a page to the die if it has room. Returns true if it was assigned. See
    /// docs/decisions/blocks.md, "Where does host data go when a plane is full?".
    #[inline]
    pub fn takes_in(&mut self, die: DieId) -> bool {
        let valid = self.blocks.valid_on(die);
        let stripe = &mut self.stripes[die];
        let has_room = valid + stripe.pending < stripe.room;
        stripe.pending += u32::from(has_room);
        has_room
    }

    /// Returns the number of pages that a die can hold.
    pub(super) fn room_of(&self, die: DieId) -> u32 {
        self.stripes[die].room
    }

    /// Returns the number of valid pages on a die plus that of pages assigned to it whose programs
    /// have not started.
    pub(super) fn assigned_to(&self, die: DieId) -> u32 {
        self.blocks.valid_on(die) + self.stripes[die].pending
    }

    /// Returns the number of pages that all dies can hold.
    pub(super) fn room_of_all(&self) -> u64 {
        self.stripes.as_slice().iter().map(|stripe| u64::from(stripe.room)).sum()
    }

    /// Lowers the number of pages that a die can hold.
    pub(super) fn lower_room(&mut self, die: DieId, by: u32) {
        self.stripes[die].room -= by;
    }

    /// Records that a host page assigned to the die is no longer wanted.
    pub fn arrived(&mut self, die: DieId) {
        self.stripes[die].pending -= 1;
    }

    /// Allocates a physical page for host data of `tag` assigned to a die, rotating over the die's
    /// planes. `job` returns the GC job of a plane. Returns `None` if GC must make progress first.
    #[inline(always)]
    pub fn host_page<'a>(
        &mut self,
        die: DieId,
        tag: StreamTag,
        job: impl Fn(PlaneId) -> Option<&'a Job>,
    ) -> Option<Taken> {
        if self.blocks.geometry().planes_per_die > 1 {
            return self.page_in_turn(die, tag, job);
        }
        let (plane, stream) = (PlaneId(die.0), self.open_blocks.stream(tag));
        if !self.lets_host_write(job(plane)) {
            return None;
        }
        let open = self.open_to_host(plane, stream, || job(plane))?;
        self.stripes[die].pending -= 1;
        Some(self.write_to(plane, open, || (Source::Host, tag)))
    }

    /// Allocates a physical page for host data on a die with several planes, which take turns. Kept
    /// apart because most dies have one plane.
    #[inline(never)]
    fn page_in_turn<'a>(
        &mut self,
        die: DieId,
        tag: StreamTag,
        job: impl Fn(PlaneId) -> Option<&'a Job>,
    ) -> Option<Taken> {
        let planes = self.blocks.geometry().planes_per_die;
        let stream = self.open_blocks.stream(tag);
        let turn = u32::from(self.stripes[die].turns[stream.index()]);
        if turn == 0 && !self.keeps_pace(die, &job) {
            return None;
        }
        let plane = PlaneId(die.0 * planes + turn);
        match self.open_to_host(plane, stream, || job(plane)) {
            Some(open) => {
                let next = wrapped(turn + 1, planes);
                Some(self.take_turn(die, stream, next, (plane, open), tag))
            }
            None => self.pass_over(die, tag, turn, job),
        }
    }

    /// Allocates a physical page for host data on a die whose next plane in turn can take none.
    #[cold]
    fn pass_over<'a>(
        &mut self,
        die: DieId,
        tag: StreamTag,
        mut turn: u32,
        job: impl Fn(PlaneId) -> Option<&'a Job>,
    ) -> Option<Taken> {
        let planes = self.blocks.geometry().planes_per_die;
        let stream = self.open_blocks.stream(tag);
        for _ in 1..planes {
            // A plane that only needs GC is waited for. If it were skipped, its open block would
            // fall behind those of its neighbors, and their pages could never again be programmed
            // together.
            if !self.blocks.is_full(PlaneId(die.0 * planes + turn)) {
                return None;
            }
            turn = wrapped(turn + 1, planes);
            let plane = PlaneId(die.0 * planes + turn);
            if let Some(open) = self.open_to_host(plane, stream, || job(plane)) {
                let next = wrapped(turn + 1, planes);
                return Some(self.take_turn(die, stream, next, (plane, open), tag));
            }
        }
        None
    }

    /// Allocates a page for a host page assigned to a die, on the plane whose turn it was, in that
    /// plane's open block if there is one.
    #[inline(always)]
    fn take_turn(
        &mut self,
        die: DieId,
        stream: StreamId,
        turn: u32,
        (plane, open): (PlaneId, BlockId),
        tag: StreamTag,
    ) -> Taken {
        let stripe = &mut self.stripes[die];
        stripe.turns[stream.index()] = turn as u8;
        stripe.pending -= 1;
        self.write_to(plane, open, || (Source::Host, tag))
    }

    /// Allocates a page for host data on the next plane, if that page lies at `offset` and the
    /// plane is not in `used`.
    pub fn host_page_at<'a>(
        &mut self,
        die: DieId,
        tag: StreamTag,
        offset: u32,
        used: u32,
        job: impl Fn(PlaneId) -> Option<&'a Job>,
    ) -> Option<Taken> {
        let planes = self.blocks.geometry().planes_per_die;
        let stream = self.open_blocks.stream(tag);
        let turn = u32::from(self.stripes[die].turns[stream.index()]);
        let plane = PlaneId(die.0 * planes + turn);
        let fits = used & (1 << turn) == 0
            && (turn > 0 || self.keeps_pace(die, &job))
            && self.next_host_offset(plane, stream) == offset;
        let open = fits.then(|| self.open_to_host(plane, stream, || job(plane))).flatten()?;
        Some(self.take_turn(die, stream, wrapped(turn + 1, planes), (plane, open), tag))
    }

    fn next_host_offset(&self, plane: PlaneId, stream: StreamId) -> u32 {
        let open = self.open_blocks.opened(plane, Opened::Host(stream));
        if open.is_some() { self.blocks.written(open) } else { 0 }
    }

    /// Returns true if the GC jobs of a die have progressed far enough for one more row of host
    /// pages across its planes. Checked per row, so that its planes are programmed together.
    #[inline(always)]
    fn keeps_pace<'a>(&self, die: DieId, job: impl Fn(PlaneId) -> Option<&'a Job>) -> bool {
        let planes = self.blocks.geometry().planes_per_die;
        let first = PlaneId(die.0 * planes);
        self.lets_host_write(job(first)) && (planes == 1 || self.others_keep_pace(first, job))
    }

    /// Returns true if GC has moved enough pages for the host to write one more page on every plane
    /// of a die apart from the plane `first`, which the caller checks. A separate function, because
    /// most dies have only one plane.
    #[inline(never)]
    fn others_keep_pace<'a>(
        &self,
        first: PlaneId,
        job: impl Fn(PlaneId) -> Option<&'a Job>,
    ) -> bool {
        let planes = self.blocks.geometry().planes_per_die;
        (first.0 + 1..first.0 + planes).all(|plane| self.lets_host_write(job(PlaneId(plane))))
    }

    #[inline(always)]
    fn lets_host_write(&self, job: Option<&Job>) -> bool {
        job.is_none_or(|it| it.lets_host_write(self.blocks.valid(it.victim)))
    }

    /// Returns the number of pages that can be written on a plane before it is down to its last
    /// erased block.
    pub fn room(&self, plane: PlaneId) -> u32 {
        let pages = self.blocks.geometry().pages_per_block;
        let rest = |open: BlockId| pages - self.blocks.written(open);
        let open: u32 = self.open_blocks.of_plane(plane).map(rest).sum();
        open + self.blocks.free_in(plane).saturating_sub(1) * pages
    }

    /// Returns the open block of a host stream (`NONE` if none is open) if a host page may be
    /// written to the plane without taking the room that GC needs: the last erased block and, in
    /// an open block shared with GC, the room for pages still to be moved. `None` otherwise. Forced
    /// inline: it is called for every page that the host writes.
    #[inline(always)]
    fn open_to_host<'a>(
        &self,
        plane: PlaneId,
        stream: StreamId,
        job: impl Fn() -> Option<&'a Job>,
    ) -> Option<BlockId> {
        if self.blocks.is_full(plane) {
            return None;
        }
        let open = self.open_blocks.opened(plane, Opened::Host(stream));
        let may = if open.is_some() {
            self.collected_to == GcFrontier::Own || self.spares(plane, open, job())
        } else {
            self.blocks.free_in(plane) >= 2
        };
        may.then_some(open)
    }

    /// Returns true if an open block shared with GC has room for a host page.
    fn spares(&self, plane: PlaneId, open: BlockId, job: Option<&Job>) -> bool {
        let room = self.blocks.geometry().pages_per_block - self.blocks.written(open);
        let left_to_move = job.map_or(0, |it| self.blocks.valid(it.victim));
        self.blocks.free_in(plane) >= 1 || room > left_to_move
    }

    /// Programs the next page of the open block that takes the pages moved by a GC job of the
    /// plane, opening one if necessary.
    ///
    /// # Panics
    /// If there is no erased block; the reserve ensures that there is.
    #[inline(always)]
    pub fn write_moved(&mut self, plane: PlaneId, job: &Job) -> Taken {
        let open = self.open_blocks.opened(plane, job.into);
        self.write_to(plane, open, || (job.source, job.tag))
    }

    /// Programs the next page of an open block, or of a newly opened one. `whose` returns the
    /// source and tag of the data; it is called only for the first and last page of a block.
    #[inline(always)]
    fn write_to(
        &mut self,
        plane: PlaneId,
        open: BlockId,
        whose: impl Fn() -> (Source, StreamTag),
    ) -> Taken {
        let block = if open.is_some() {
            open
        } else {
            let (source, tag) = whose();
            self.open_blocks.open(&mut self.blocks, plane, source, tag)
        };
        let block = if self.program_fails(block) {
            let (source, tag) = whose();
            self.sound_block(plane, block, source, tag)
        } else {
            block
        };
        let Programmed { unit, last, free } = self.blocks.program(plane, block);
        if last {
            let (source, tag) = whose();
            self.open_blocks.close(plane, source, tag);
        }
        Taken { unit, block, plane, free }
    }

    /// Closes an open block of a plane before it is full. Returns the block, if there was one.
    pub fn close_early(&mut self, plane: PlaneId, opened: Opened) -> Option<BlockId> {
        let block = self.open_blocks.take(plane, opened);
        if let Opened::Host(stream) = opened {
            let planes = self.blocks.geometry().planes_per_die;
            self.stripes[DieId(plane.0 / planes)].turns[stream.index()] = 0;
        }
        block.is_some().then(|| {
            self.blocks.pass_over_rest(block);
            block
        })
    }

    /// Programs up to `most` consecutive pages of one block with data of one source (host, GC or
    /// wear leveling) and one stream tag. Returns the first page, and the number of pages.
    pub fn write_run(
        &mut self,
        plane: PlaneId,
        (source, tag): (Source, StreamTag),
        most: u32,
    ) -> (UnitId, u32) {
        let pages_per_block = self.blocks.geometry().pages_per_block;
        let block = self.open_blocks.block_for(&mut self.blocks, plane, source, tag);
        let block = match self.program_fails(block) {
            true => self.sound_block(plane, block, source, tag),
            false => block,
        };
        let count = most.min(pages_per_block - self.blocks.written(block));
        let count = self.pages_before_failure(block, count);
        let first = self.blocks.program_run(block, count);
        if self.blocks.written(block) == pages_per_block {
            self.open_blocks.close(plane, source, tag);
        }
        (first, count)
    }

    /// Returns true if consecutive host pages go to different dies (stripe units have one page), so
    /// that preconditioning may fill the blocks of all planes with [`PageAllocator::load_row`].
    pub fn takes_page_by_page(&self) -> bool {
        self.page_by_page
    }

    /// Fills one erased block of every plane, on a drive to which only whole blocks were written so
    /// far. The result is the same as writing host pages in rotation over the dies and planes.
    /// Returns the blocks in the order in which each takes a page.
    pub fn load_row(&mut self) -> Vec<BlockId> {
        debug_assert!(
            self.page_by_page
                && self.turn == 0
                && self.stripes.as_slice().iter().all(|it| it.turns == [0; STREAMS_MAX])
        );
        let planes = self.blocks.geometry().planes_per_die;
        let turns = (0..planes).flat_map(|turn| self.order.iter().map(move |die| (die, turn)));
        turns
            .map(|(die, turn)| PlaneId(die.0 * planes + turn))
            .map(|plane| self.blocks.load(plane, |pages| u64::MAX >> (64 - pages)))
            .collect()
    }

    /// Opens an erased block for swapped data, unless one is open for it. Returns true if a swap
    /// can proceed and leave GC the last erased block.
    pub fn open_for_swap(&mut self, erased: BlockId) -> bool {
        let plane = self.blocks.geometry().plane_of_block(erased);
        if self.blocks.free_in(plane) < 2 || self.blocks.state(erased) != BlockState::Free {
            return false;
        }
        self.open_blocks.open_for_swap(&mut self.blocks, plane, erased);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::tests::shaped;
    use fowler_units::{Bytes, Geometry};

    /// Returns a page allocator for a drive of six dies on three channels.
    fn space(dies: Dies) -> PageAllocator {
        space_of(dies, 1)
    }

    fn space_of(dies: Dies, stripe_unit: u32) -> PageAllocator {
        let geometry = Geometry {
            channels: 3,
            chips_per_channel: 2,
            dies_per_chip: 1,
            planes_per_die: 2,
            blocks_per_plane: 8,
            pages_per_block: 4,
            page_size: Bytes(4096),
        };
        let mut config = shaped(geometry);
        (config.placement.dies, config.over_provisioning) = (dies, 0.6);
        config.placement.stripe_unit = stripe_unit;
        config.buffer.size = Bytes(16 * 4096);
        PageAllocator::new(&config, &config.layout().unwrap())
    }

    #[test]
    fn an_address_has_its_die_and_a_turn_none() {
        let pages = [7, 7, 0, 12, 5, 1000];
        let dies = |rule| {
            let mut space = space(rule);
            pages.map(|page| space.place(Lpn(page)).unwrap())
        };
        let stripe = *space(Dies::Rotate).blocks.geometry();
        assert_eq!(dies(Dies::ByAddress), pages.map(|page| stripe.die_at_stripe(page % 6)));
        assert_eq!(dies(Dies::Rotate), [0, 1, 2, 3, 4, 5].map(|at| stripe.die_at_stripe(at)));
    }

    #[test]
    fn as_many_neighbors_as_a_stripe_unit_has_lie_on_one_die() {
        let geometry = *space(Dies::Rotate).blocks.geometry();
        let at = |place: u32| geometry.die_at_stripe(place);
        for rule in [Dies::Rotate, Dies::ByAddress] {
            let mut space = space_of(rule, 3);
            let dies = [0, 1, 2, 3, 4, 5, 6].map(|page| space.place(Lpn(page)).unwrap());
            assert_eq!(dies, [0, 0, 0, 1, 1, 1, 2].map(at), "{rule:?}");
        }
        // After the last die of six comes the first again.
        let space = space_of(Dies::ByAddress, 3);
        let homes = [17, 18, 20, 21].map(|page| space.home(Lpn(page)).unwrap());
        assert_eq!(homes, [5, 0, 0, 1].map(at));
    }

    #[test]
    fn what_a_full_die_cannot_take_goes_to_those_that_can() {
        let mut space = space(Dies::ByAddress);
        let (limit, order) = (space.stripes[DieId(0)].room, space.order.clone());
        for _ in 0..limit {
            assert_eq!(space.place(Lpn(2)), Some(order[2]));
        }
        let others: Vec<DieId> = (0..10).map(|_| space.place(Lpn(2)).unwrap()).collect();
        let turns = [0, 1, 3, 4, 5, 0, 1, 3, 4, 5].map(|at: usize| order[at]);
        assert_eq!(others, turns);
        space.arrived(order[2]);
        assert_eq!(space.place(Lpn(8)), Some(order[2]), "one has left");
        while space.place(Lpn(0)).is_some() {}
        assert!(order.iter().all(|&die| space.stripes[die].pending == limit));
    }
}
