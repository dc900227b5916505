//! The core of a page-mapped drive: the state that every access needs. It has the location of each
//! logical page, the contents of blocks, the next page to allocate, and the write buffer.
//! Components receive the core for the duration of a call; the core knows none of them.

use crate::blocks::bad_blocks::BadBlocks;
use crate::blocks::page_allocator::PageAllocator;
use crate::cache::access_class::AccessClasses;
use crate::cache::buffer::Buffer;
use crate::config::Config;
use crate::config::layout::Layout;
use crate::flash::Flash;
use crate::mapping::CachedMap;
use crate::mapping::page_map::{Location, PageMap};
use fowler_units::{Bytes, DieId, HostIo, HostOp, Id, Locator, Lpn, UnitId};

/// The state shared by all components of the drive: mapping, blocks and write buffer.
#[derive(Clone, Debug)]
pub struct Core {
    /// Sizes of the drive that follow from its configuration.
    pub layout: Layout,
    /// Converts page numbers to blocks, planes and dies.
    pub locator: Locator,
    /// The mapping from logical to physical pages and back.
    pub map: CachedMap,
    /// Blocks, open blocks, and the location of the next page to write.
    pub allocator: PageAllocator,
    /// The page frames of the write buffer.
    pub buffer: Buffer,
    /// The access classes (read-hot, write-hot or mixed, by their hits) of the pages in the buffer.
    pub classes: AccessClasses,
}

impl Core {
    /// Creates the empty map, blocks and write buffer of a fresh page-mapped drive.
    pub fn new(config: &Config, layout: &Layout) -> Self {
        let map = PageMap::new(layout.mapped_pages, layout.geometry.pages());
        Self::with(config, layout, map, PageAllocator::new(config, layout))
    }

    /// Creates the map, blocks and write buffer of the drive of `config`, with the data placed in
    /// the flash as in the drive `other`.
    pub fn with_data_of(config: &Config, layout: &Layout, other: &Core) -> Self {
        Self::with(config, layout, PageMap::clone(&other.map), other.allocator.ruled_by(config))
    }

    /// Returns the memory that the map, the blocks and the write buffer of a page-mapped drive take
    /// on the simulating machine.
    pub fn bytes(config: &Config, layout: &Layout) -> Bytes {
        PageMap::bytes(layout.mapped_pages, layout.geometry.pages())
            + PageAllocator::bytes(config, &layout.geometry)
            + BadBlocks::bytes(config, layout)
            + Buffer::bytes(layout.frames)
            + AccessClasses::bytes(config, layout)
    }

    fn with(config: &Config, layout: &Layout, map: PageMap, allocator: PageAllocator) -> Self {
        let page_size = layout.geometry.page_size.0;
        let flushes = config.queue.depth as usize;
        let (buffer, replacement) = (&config.buffer, &config.replacement);
        let ahead = if config.evicts_lazily() { buffer.evict_ahead } else { layout.frames };
        Self {
            layout: *layout,
            locator: Locator::new(&layout.geometry),
            map: CachedMap::new(map),
            allocator,
            buffer: Buffer::new(buffer, replacement, (layout.frames, ahead), page_size, flushes),
            classes: AccessClasses::new(config, layout),
        }
    }

    /// Prefetches the mapping entry of the first page of a request that will arrive soon.
    #[inline]
    pub fn prefetch(&self, io: &HostIo) {
        self.map.prefetch(self.locator.page_at(io.offset));
    }

    /// Prefetches the record of the block with the page that a write will invalidate. Called some
    /// time after [`Core::prefetch`].
    #[inline]
    pub fn prefetch_invalidated(&self, io: &HostIo) {
        if let Some(old) = self.invalidated_by(io) {
            self.allocator.blocks.prefetch(old);
        }
    }

    /// Prefetches the neighbours, in the list of blocks by valid count, of the block with the page
    /// that a write will invalidate. Called last of the prefetches.
    #[inline]
    pub fn prefetch_neighbours(&self, io: &HostIo) {
        if let Some(old) = self.invalidated_by(io) {
            self.allocator.blocks.prefetch_neighbours(old);
        }
    }

    /// Prefetches, for a read on a drive that models errors, the age of the page and the wear of
    /// its block.
    #[inline]
    pub fn prefetch_condition(&self, io: &HostIo, flash: &Flash) {
        if let Some(condition) = flash.condition()
            && io.op == HostOp::Read
            && let Some(page) = self.place_of(io)
        {
            condition.prefetch(self.locator.page_of(page), self.locator.block_of(page));
        }
    }

    #[inline]
    fn invalidated_by(&self, io: &HostIo) -> Option<UnitId> {
        if io.op == HostOp::Write { self.place_of(io) } else { None }
    }

    /// Returns the location in the flash of the first page of a request.
    #[inline]
    fn place_of(&self, io: &HostIo) -> Option<UnitId> {
        self.in_flash(self.locator.page_at(io.offset))
    }

    /// Returns the location of a logical page in the flash; `None` if the page is not there or does
    /// not exist.
    #[inline]
    pub fn in_flash(&self, page: Lpn) -> Option<UnitId> {
        match self.map.place_if_any(page) {
            Location::Flash(old) => Some(old),
            Location::Buffer(_) | Location::Nowhere => None,
        }
    }

    /// Returns the location of a logical page's copy in the flash, or of the page that is being
    /// programmed for it.
    #[inline]
    pub fn flash_copy(&self, page: Lpn) -> UnitId {
        match self.map.place(page) {
            Location::Flash(unit) => unit,
            Location::Buffer(frame_id) => self.buffer.get(frame_id).unit,
            Location::Nowhere => UnitId::NONE,
        }
    }

    /// Returns a die for a page of a stripe if the die that the page's address determines has
    /// failed or is full: one with room on a chip that the stripe does not use, or else any die
    /// with room. Applies only after the failure of a die. See docs/decisions/raid.md, "Where do
    /// the pages of a failed die go?".
    #[cold]
    #[inline(never)]
    pub fn place_displaced(&mut self, page: Lpn) -> Option<DieId> {
        let width = self.allocator.displaced_stripes()?;
        let geometry = self.layout.geometry;
        let first = page.0 - page.0 % width;
        let others = (first..first + width).map(Lpn).filter(|&other| other != page);
        let mut used: Vec<u32> = Vec::with_capacity(2 * width as usize);
        for other in others {
            let home = self.allocator.die_of_address(other);
            let unit = self.flash_copy(other);
            let lies = unit.is_some().then(|| self.locator.die_of(unit));
            let dies = [Some(home), lies].into_iter().flatten();
            let live = dies.filter(|&die| !self.allocator.has_failed(die));
            used.extend(live.map(|die| geometry.chip_of_die(die)));
        }
        // The pages of a die go to all others in turn.
        let dies = geometry.dies();
        let turn = self.allocator.die_of_address(page).0 + 1 + page.0 / dies;
        let mut in_turn = (0..dies).map(|at| DieId((turn + at) % dies)).collect::<Vec<_>>();
        in_turn.sort_by_key(|&die| used.contains(&geometry.chip_of_die(die)));
        in_turn.into_iter().find(|&die| self.allocator.takes_in(die))
    }

    /// Updates the location of a logical page's copy in the flash to `to`.
    #[inline]
    pub fn relocate(&mut self, page: Lpn, to: UnitId) {
        match self.map.place(page) {
            Location::Flash(_) => self.map.set_flash(page, to),
            Location::Buffer(frame_id) => self.buffer.get_mut(frame_id).unit = to,
            Location::Nowhere => unreachable!("a valid page has an owner"),
        }
    }
}
