//! Where each unit of the host is, and what each superblock holds: the map and the block table of
//! the page-mapped drive, over a drive of one die and one plane whose blocks are superblocks and
//! whose pages are units.
//!
//! A unit of the flash is valid from the moment it is bound, when its program has ended, until the
//! newest data of its unit of the host is bound elsewhere or trimmed. Until then newer data may be
//! in the buffer, whose frame points at the unit.
//!
//! Invariants, which `check.rs` checks: a unit of the host is in one place; it has at most one
//! valid copy in the flash, which points back at the unit; the counts of valid units agree with the
//! map; an erased superblock holds nothing, and nothing is on the way to it or from it.

use super::commands::Open;
use super::shape::Shape;
use crate::blocks::block_table::{BlockState, Blocks};
use crate::blocks::candidates::Candidates;
use crate::blocks::words::{PutWords, TakeWords, halves, list, put_long, take_long, whole};
use crate::mapping::page_map::{Location, PageMap};
use crate::policy::victim::AnyVictim;
use fowler_units::{
    BlockId, Bytes, FrameId, Geometry, Id, IdVec, Lpn, Nanos, PlaneId, RuId, UnitId,
};

/// Number of the group of superblocks in normal use, and of the group reserved for the SLC cache;
/// the table of superblocks treats each group as a plane.
const USUAL: PlaneId = PlaneId(0);
const ASIDE: PlaneId = PlaneId(1);

/// Returns the superblock of an entry of the block table, which on a drive with superblocks has one
/// entry per superblock.
fn of_block(block: BlockId) -> RuId {
    RuId(block.0)
}

/// Progress in emptying a superblock, from reading its valid units to erasing it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Emptied {
    /// The superblock is not being emptied.
    No,
    /// The valid units of the superblock are being read, to be moved elsewhere before it is erased.
    Read,
    /// All valid units of the superblock have been read, and some have yet to be programmed into
    /// another superblock.
    Drained,
    /// The emptying of the superblock was interrupted, because the host has come back or because
    /// garbage collection goes first: units that have been read leave, and the rest stays.
    Paused,
    /// The superblock is not being emptied, but lends some units to fill up the last program
    /// command of another one that is ([`super::top_up`]); its other units stay.
    Lent,
    /// The superblock is being erased; the field is the number of dies that have yet to finish.
    Erased(u32),
}

/// Counts of transfers in progress for one superblock: program commands into it, and units being
/// moved out of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Traffic {
    /// Number of program commands of the superblock in flight.
    pub flying: u32,
    /// Number of units being moved out of the superblock: being read from it, or read and not yet
    /// programmed elsewhere.
    pub leaving: u32,
    pub emptied: Emptied,
}

/// Mapping table of host units to units of the flash and back, and the states of all superblocks.
#[derive(Clone, Debug)]
pub(super) struct Map {
    table: PageMap,
    blocks: Blocks,
    traffic: IdVec<RuId, Traffic>,
    /// Number of unit numbers that a program command takes in the mapping table: those of its units
    /// in normal mode, plus those of its units in SLC mode on a drive with an SLC cache.
    command: u32,
    /// Number of the first superblock reserved for the SLC cache (`slc.static`). All after it are
    /// reserved, too.
    set_aside: u32,
}

impl Map {
    /// Creates the map of an empty drive whose last `aside` superblocks are reserved for the SLC
    /// cache. `varies` is true if superblocks with and without parity are on the drive together:
    /// each then records how much its parity takes ([`Map::keep_from_data`]).
    pub fn new(shape: &Shape, logical: u32, aside: u32, varies: bool) -> Map {
        let set_aside = shape.superblocks - aside;
        let first = if aside > 0 { BlockId(set_aside) } else { BlockId::NONE };
        let blank = Traffic { flying: 0, leaving: 0, emptied: Emptied::No };
        Map {
            table: PageMap::new(logical, shape.all_numbers() as u32),
            blocks: Blocks::scanned(Map::geometry(shape), shape.data_units_of(varies), first)
                .keeping(varies),
            traffic: IdVec::filled(blank, shape.superblocks as usize),
            command: shape.units / shape.commands,
            set_aside,
        }
    }

    fn geometry(shape: &Shape) -> Geometry {
        Geometry {
            channels: 1,
            chips_per_channel: 1,
            dies_per_chip: 1,
            planes_per_die: 1,
            blocks_per_plane: shape.superblocks,
            pages_per_block: shape.units,
            page_size: Bytes(1),
        }
    }

    pub fn bytes(shape: &Shape, logical: u32) -> Bytes {
        PageMap::bytes(logical, shape.all_numbers() as u32)
            + Blocks::bytes_scanned(&Map::geometry(shape))
            + Bytes::of::<Traffic>(shape.superblocks.into())
    }

    /// Marks the units of a superblock beyond its `data` units, which parity or failed blocks take,
    /// as full of data that is never moved. Does nothing on a drive whose superblocks all hold the
    /// same amount of data.
    pub fn keep_from_data(&mut self, superblock: RuId, data: u32) {
        if self.blocks.keeps() {
            let capacity = self.blocks.candidates(USUAL).capacity();
            self.blocks.keep(BlockId(superblock.0), capacity - data);
        }
    }

    /// Makes the map record, for each superblock, how many of its units hold no data (parity, and
    /// dies with failed blocks); without this call all superblocks hold equally many.
    pub fn keep_gaps(&mut self) {
        self.blocks.keep_some();
    }

    /// Returns the number of units of the host.
    pub fn logical(&self) -> u32 {
        self.table.logical()
    }

    /// Returns all logical units that the drive offers to the host, in ascending order.
    pub fn pages(&self) -> impl Iterator<Item = Lpn> + use<> {
        Lpn(0).run(self.logical())
    }

    /// Returns the number of superblocks.
    pub fn count(&self) -> u32 {
        self.traffic.len() as u32
    }

    /// Returns all superblocks, in order.
    pub fn superblocks(&self) -> impl Iterator<Item = RuId> + use<> {
        self.traffic.ids()
    }

    #[inline]
    pub fn place(&self, page: Lpn) -> Location {
        self.table.place(page)
    }

    /// Returns true if the newest data of a unit of the host is in this frame.
    #[inline]
    pub fn is_in(&self, page: Lpn, frame: FrameId) -> bool {
        self.place(page) == Location::Buffer(frame)
    }

    /// Returns true if the newest data of a unit of the host is in this unit of the flash.
    #[inline]
    pub fn is_at(&self, page: Lpn, unit: UnitId) -> bool {
        self.place(page) == Location::Flash(unit)
    }

    /// Returns the unit of the host of which a unit of the flash is the valid copy.
    #[inline]
    pub fn valid_owner(&self, unit: UnitId) -> Option<Lpn> {
        let valid = self.blocks.is_valid(unit);
        valid.then(|| self.table.owner(unit))
    }

    /// Forgets where a unit of the host is, and invalidates its copy in the flash, which is none or
    /// valid.
    #[inline]
    pub fn leave(&mut self, page: Lpn, copy: UnitId) {
        self.invalidate(copy);
        self.table.set_flash(page, UnitId::NONE);
    }

    /// Invalidates the copy in the flash of a unit whose newest data is in a frame.
    pub fn drop_copy(&mut self, copy: UnitId) {
        self.invalidate(copy);
    }

    /// Invalidates a copy of a unit of the host in the flash, which is none or valid.
    #[inline]
    fn invalidate(&mut self, copy: UnitId) {
        if copy.is_some() {
            let was_valid = self.blocks.release(copy, self.blocks.block_of(copy));
            debug_assert!(was_valid, "a unit that the map or a frame points at");
        }
    }

    /// Records that the newest data of a host unit is in a frame. The copy in the flash stays valid
    /// until the frame has been programmed ([`Map::settle`]): if the frame were lost, that copy
    /// would be the newest.
    #[inline]
    pub fn buffer(&mut self, page: Lpn, frame: FrameId) {
        self.table.set_buffered(page, frame);
    }

    /// A unit of the host leaves its frame, which held the same data as its copy in the flash.
    pub fn leave_frame(&mut self, page: Lpn, copy: UnitId) {
        self.table.set_flash(page, copy);
    }

    /// A unit of the flash, in this superblock, has been programmed with the newest data of a unit
    /// of the host. The old copy there, if there is one, becomes invalid.
    #[inline]
    pub fn settle(&mut self, page: Lpn, old: UnitId, (unit, superblock): (UnitId, RuId)) {
        self.invalidate(old);
        self.table.set_flash(page, unit);
        self.bind(page, (unit, superblock));
    }

    #[inline(always)]
    fn bind(&mut self, page: Lpn, (unit, superblock): (UnitId, RuId)) {
        self.table.set_owner(unit, page);
        self.blocks.bind(unit, BlockId(superblock.0));
    }

    /// Moves the valid copy of a unit of the host from a unit of one superblock to that of another,
    /// each with its superblock. Does nothing if the first is no longer valid. Returns the frame
    /// that holds newer data, if there is one, which must learn of the move. Forced inline: it is
    /// called for every unit that is moved.
    #[inline(always)]
    pub fn relocate(&mut self, page: Lpn, [from, to]: [(UnitId, RuId); 2]) -> Option<FrameId> {
        if !self.blocks.release(from.0, BlockId(from.1.0)) {
            return None;
        }
        self.bind(page, to);
        let newer = self.table.unit_or_frame(page).err();
        if newer.is_none() {
            self.table.set_flash(page, to.0);
        }
        newer
    }

    /// Returns which of `count` units of the flash from one on are valid: the first in the lowest
    /// bit.
    #[inline]
    pub fn valid_among(&self, first: UnitId, count: u32) -> u32 {
        self.blocks.valid_among(first, count)
    }

    /// Maps a host unit to the unit of the flash that stores it, in no simulated time.
    #[inline]
    pub fn store(&mut self, page: Lpn, unit: UnitId) {
        let old = match self.place(page) {
            Location::Flash(old) => old,
            Location::Buffer(_) | Location::Nowhere => UnitId::NONE,
        };
        self.settle(page, old, (unit, of_block(self.blocks.block_of(unit))));
    }

    /// Prefetches map entries, which lie all over the map: those of the units of the host that
    /// are in the flash from the unit `first` on, where a bit of `which` is set, the lowest for
    /// `first`.
    #[inline]
    pub fn prefetch_owners(&self, first: UnitId, mut which: u32) {
        while which != 0 {
            self.table.prefetch(self.table.owner(first.plus(which.trailing_zeros())));
            which &= which - 1;
        }
    }

    /// Moves the valid copy of a unit of the host from one unit of the flash to another, in no
    /// simulated time. No frame may hold newer data: preconditioning uses none.
    #[inline]
    pub fn store_elsewhere(&mut self, from: UnitId, to: UnitId) {
        let page = self.table.owner(from);
        debug_assert!(self.is_at(page, from));
        self.settle(page, from, (to, of_block(self.blocks.block_of(to))));
    }

    /// Returns the number of valid units of a superblock.
    pub fn valid(&self, superblock: RuId) -> u32 {
        self.blocks.valid(BlockId(superblock.0))
    }

    /// Counts the set valid bits of a superblock. A law checks that this equals [`Map::valid`].
    pub fn marked(&self, superblock: RuId) -> u32 {
        self.blocks.marked(BlockId(superblock.0))
    }

    pub fn state(&self, superblock: RuId) -> BlockState {
        self.blocks.state(BlockId(superblock.0))
    }

    /// Returns how many unit numbers of a superblock are taken: those of its programmed commands,
    /// and those of gaps (commands skipped because a block of their die has failed).
    pub fn taken(&self, superblock: RuId) -> u32 {
        self.blocks.written(BlockId(superblock.0))
    }

    /// Returns the place of a superblock in the order in which superblocks became full; `None` if
    /// it is not full.
    pub fn fill_order(&self, superblock: RuId) -> Option<u64> {
        self.blocks.fill_order(BlockId(superblock.0))
    }

    pub fn traffic(&self, superblock: RuId) -> &Traffic {
        &self.traffic[superblock]
    }

    /// Returns the number of erased superblocks.
    #[inline]
    pub fn free_count(&self) -> u32 {
        self.blocks.free_in(USUAL)
    }

    /// Opens the superblock that has been erased for longest.
    pub fn open(&mut self) -> Option<RuId> {
        self.blocks.open(USUAL).map(of_block)
    }

    /// Opens the erased superblock with the smallest `key`; among equals, the one that has been
    /// erased for longest.
    pub fn open_least(&mut self, key: impl Fn(RuId) -> u8) -> Option<RuId> {
        self.blocks.open_least(USUAL, |block| key(of_block(block))).map(of_block)
    }

    /// Opens the most worn of the erased superblocks; among equals, the one that has been erased
    /// for longest.
    pub fn open_most_worn(&mut self) -> Option<RuId> {
        let most = self.blocks.free_blocks(USUAL).map(|block| self.blocks.erases(block)).max()?;
        let worn = |&block: &BlockId| self.blocks.erases(block) == most;
        let block = self.blocks.free_blocks(USUAL).find(worn)?;
        self.blocks.open_this(block);
        Some(of_block(block))
    }

    /// Opens the superblock that has been erased for longest, of those reserved for the SLC cache.
    pub fn open_aside(&mut self) -> Option<RuId> {
        self.blocks.open(ASIDE).map(of_block)
    }

    /// Returns the erased superblocks that are not reserved for the SLC cache, the one erased for
    /// longest first.
    pub fn erased_superblocks(&self) -> impl Iterator<Item = RuId> {
        self.blocks.free_blocks(USUAL).map(of_block)
    }

    /// Returns the number of erased superblocks that are reserved for the SLC cache.
    pub fn free_aside_count(&self) -> u32 {
        self.blocks.free_in(ASIDE)
    }

    /// Returns true if a superblock is reserved for the SLC cache (`slc.static`).
    pub fn is_aside(&self, superblock: RuId) -> bool {
        superblock.0 >= self.set_aside
    }

    /// Uses up the units of the next command of an open superblock, which is programmed, or skipped
    /// because its die has a failed block.
    pub fn take_command(&mut self, superblock: RuId) {
        self.blocks.take(BlockId(superblock.0), self.command);
    }

    /// Returns true if every command of a superblock has been sent or skipped, and the data of the
    /// superblock stays there for now.
    pub fn is_whole(&self, superblock: RuId) -> bool {
        let stays =
            matches!(self.traffic(superblock).emptied, Emptied::No | Emptied::Read | Emptied::Lent);
        stays && self.blocks.is_taken(BlockId(superblock.0))
    }

    /// Counts a program command of a superblock as in flight.
    pub fn departed(&mut self, superblock: RuId) {
        self.traffic[superblock].flying += 1;
    }

    /// Records the end of a program command of a superblock. Returns true if the superblock is full
    /// now.
    pub fn landed(&mut self, superblock: RuId, now: Nanos) -> bool {
        let traffic = &mut self.traffic[superblock];
        traffic.flying -= 1;
        let full = traffic.flying == 0 && self.blocks.is_taken(BlockId(superblock.0));
        if full {
            self.blocks.fill(BlockId(superblock.0), now);
        }
        full
    }

    /// Marks a full superblock as being emptied.
    pub fn empty(&mut self, superblock: RuId) {
        self.blocks.collect(BlockId(superblock.0));
        self.traffic[superblock].emptied = Emptied::Read;
    }

    /// Sets the progress in emptying a superblock.
    pub fn set_emptied(&mut self, superblock: RuId, emptied: Emptied) {
        self.traffic[superblock].emptied = emptied;
    }

    /// Counts units being read from a superblock to be moved elsewhere.
    pub fn leaves(&mut self, superblock: RuId, units: u32) {
        self.traffic[superblock].leaving += units;
    }

    /// Records that a unit read to be moved out of a superblock has been programmed elsewhere, or
    /// need not be moved any more.
    pub fn has_left(&mut self, superblock: RuId) {
        self.traffic[superblock].leaving -= 1;
    }

    /// Marks a superblock as full again, from which only some units were moved (to fill a program
    /// command, or before folding was stopped), so that it is not erased.
    pub fn give_back(&mut self, superblock: RuId) {
        self.traffic[superblock].emptied = Emptied::No;
        self.blocks.give_back(BlockId(superblock.0));
    }

    /// Marks a superblock as erased.
    pub fn erased(&mut self, superblock: RuId) {
        let traffic = &mut self.traffic[superblock];
        debug_assert_eq!((traffic.flying, traffic.leaving), (0, 0));
        traffic.emptied = Emptied::No;
        self.blocks.erase(BlockId(superblock.0));
    }

    /// Marks a superblock as retired after its last erase.
    pub fn retired(&mut self, superblock: RuId) {
        let traffic = &mut self.traffic[superblock];
        debug_assert_eq!((traffic.flying, traffic.leaving), (0, 0));
        traffic.emptied = Emptied::No;
        self.blocks.retire(BlockId(superblock.0));
    }

    /// An erased superblock of a drive that is being restored turns out to be retired.
    pub fn retire_erased(&mut self, superblock: RuId) {
        let block = BlockId(superblock.0);
        self.blocks.open_this(block);
        self.blocks.retire_open(block);
    }

    /// Returns the superblock that a victim policy empties for its space, or the emptiest if the
    /// policy names none: one that is full, not reserved for the SLC cache, and of which nothing is
    /// being moved. None if none has an invalid unit.
    pub fn victim_of(&self, policy: &mut AnyVictim, now: Nanos) -> Option<RuId> {
        let candidates = self.blocks.candidates(USUAL);
        let emptiest = candidates.fewest_valid()?;
        if candidates.valid(emptiest) == candidates.capacity() {
            return None;
        }
        Some(of_block(policy.choose(&candidates, now).unwrap_or(emptiest)))
    }

    /// Returns the superblocks that are not reserved for the SLC cache, as candidates for a victim
    /// or wear policy.
    pub fn candidates(&self) -> Candidates<'_> {
        self.blocks.candidates(USUAL)
    }

    /// Returns the full superblock with the fewest valid units, and their number. Superblocks that
    /// are reserved for the SLC cache, or of which something is being moved, are left out.
    pub fn emptiest(&self) -> Option<(RuId, u32)> {
        let victim = self.blocks.candidates(USUAL).fewest_valid()?;
        Some((of_block(victim), self.blocks.valid(victim)))
    }

    /// Marks a superblock whose unit places are all used up as full, and begins to empty it at
    /// once. It had become full before the state was saved, so it is not counted again.
    pub fn fill_and_empty(&mut self, superblock: RuId) {
        let filled = self.blocks.filled();
        self.blocks.fill(BlockId(superblock.0), Nanos::ZERO);
        self.blocks.set_fill_order(&[], filled);
        self.empty(superblock);
    }

    /// Sets the time at which each superblock last became full.
    pub fn set_filled_times(&mut self, times: &[Nanos]) {
        self.blocks.set_filled_times(times);
    }

    /// Forgets all data: every superblock is erased.
    pub fn clear(&mut self, shape: &Shape, logical: u32) {
        let varies = self.blocks.keeps();
        *self = Map::new(shape, logical, self.count() - self.set_aside, varies);
    }

    /// Returns the table of superblocks in the form that GC victim policies expect, blocks of
    /// pages: each superblock is a block of one plane, and each unit a page.
    pub fn blocks(&self) -> &Blocks {
        &self.blocks
    }

    pub fn erases(&self) -> &[u32] {
        self.blocks.erase_counts()
    }

    /// Writes the map and the state of superblocks to `put`: the erased ones, in the order in which
    /// they will be opened; the full ones, in the order in which they became full; the erase count
    /// of each; and the location of each unit of the host.
    pub fn save(&self, put: PutWords<'_>) -> Result<(), String> {
        let of = |plane| self.blocks.free_blocks(plane).map(|block| block.0).collect();
        let all = (0..self.count()).map(BlockId);
        let mut filled: Vec<(u64, u32)> =
            all.filter_map(|block| Some((self.blocks.fill_order(block)?, block.0))).collect();
        filled.sort_unstable();
        let (order, full): (Vec<u64>, Vec<u32>) = filled.into_iter().unzip();
        for list in [of(USUAL), of(ASIDE), full] {
            put(&[list.len() as u32])?;
            put(&list)?;
        }
        put(&halves(self.blocks.filled()))?;
        put_long(put, &order)?;
        put(self.erases())?;
        put(self.table.locations())
    }

    /// Takes over the saved state of a map of the same size into an empty map. `open` are the open
    /// superblocks, each with the number of its commands that have been programmed or skipped.
    ///
    /// # Errors
    /// The reason why the words are not the state of such a map.
    pub fn restore(&mut self, take: TakeWords<'_>, open: &[Open]) -> Result<(), String> {
        let count = self.count();
        let (free, aside, full) = (list(take, count)?, list(take, count)?, list(take, count)?);
        for open in open {
            self.use_erased(open.superblock, open.command * self.command)?;
        }
        for &number in &full {
            self.use_erased(RuId(number), self.blocks.geometry().pages_per_block)?;
            self.blocks.fill(BlockId(number), Nanos::ZERO);
        }
        for (plane, list) in [(USUAL, free), (ASIDE, aside)] {
            let order: Vec<BlockId> = list.into_iter().map(BlockId).collect();
            if !self.blocks.order_free(plane, &order) {
                return Err("a superblock is erased that cannot be".into());
            }
        }
        let (mut filled, mut order) = ([0; 2], vec![0; full.len()]);
        take(&mut filled)?;
        take_long(take, &mut order)?;
        let order: Vec<(BlockId, u64)> = full.into_iter().map(BlockId).zip(order).collect();
        if !self.blocks.set_fill_order(&order, whole(filled[0], filled[1])) {
            return Err("superblocks became full in an order that cannot be".into());
        }
        let mut erases = vec![0; count as usize];
        take(&mut erases)?;
        self.blocks.set_erases(&erases);
        take(self.table.entries())?;
        for page in self.pages() {
            let unit = match self.table.place(page) {
                Location::Flash(unit) => unit,
                Location::Nowhere => continue,
                Location::Buffer(_) => return Err("a unit is in the buffer".into()),
            };
            if self.table.owner_if_any(unit) != Some(Lpn::NONE) {
                return Err("two units share a place, or one lies beyond the drive".into());
            }
            let block = self.blocks.block_of(unit);
            let place = unit.0 % self.blocks.geometry().pages_per_block;
            if place >= self.blocks.written(block) {
                return Err("a unit lies where nothing has been programmed".into());
            }
            self.table.set_owner(unit, page);
            self.blocks.bind(unit, block);
        }
        Ok(())
    }

    /// Opens an erased superblock with its first `used` unit numbers taken, to restore a saved
    /// state in which they were programmed.
    fn use_erased(&mut self, superblock: RuId, used: u32) -> Result<(), String> {
        if self.state(superblock) != BlockState::Free {
            return Err("a superblock is open and full, or open twice".into());
        }
        self.blocks.open_this(BlockId(superblock.0));
        self.blocks.skip(BlockId(superblock.0), used);
        Ok(())
    }

    /// Prefetches the map entry of the host unit that a unit of the flash was written for, into the
    /// cache of the simulating machine.
    #[inline]
    pub fn prefetch_owner(&self, unit: UnitId) {
        if let Some(owner) = self.table.owner_if_any(unit) {
            self.table.prefetch(owner);
        }
    }

    /// Prefetches the map entry of a host unit into the cache of the simulating machine.
    #[inline]
    pub fn prefetch(&self, page: Lpn) {
        self.table.prefetch(page);
    }
}
