//! The core: what every access to the drive needs. Where each logical page is, which blocks hold
//! what, which page comes next, and what lies in the buffer. Components are handed it for the
//! length of a call; it knows none of them.

use crate::blocks::page_allocator::PageAllocator;
use crate::cache::access_class::AccessClasses;
use crate::cache::buffer::Buffer;
use crate::config::Config;
use crate::config::layout::Layout;
use crate::flash::Flash;
use crate::mapping::Mapping;
use crate::mapping::page_map::{Location, PageMap};
use fowler_units::{HostIo, HostOp, Id, Locator, Lpn, UnitId};

/// See the module.
#[derive(Clone, Debug)]
pub struct Core {
    /// The sizes of the drive.
    pub layout: Layout,
    /// From page numbers to blocks, planes and dies.
    pub locator: Locator,
    /// Logical to physical and back.
    pub map: Mapping,
    /// Blocks, open blocks, and where the next page goes.
    pub allocator: PageAllocator,
    /// The page frames.
    pub buffer: Buffer,
    /// How pages in the buffer are used.
    pub classes: AccessClasses,
}

impl Core {
    /// The core of a fresh drive.
    pub fn new(config: &Config, layout: &Layout) -> Self {
        let map = PageMap::new(layout.mapped_pages, layout.geometry.pages());
        Self::with(config, layout, map, PageAllocator::new(config, layout))
    }

    /// The core of the drive of `config` with its data as they lie in `other`.
    pub fn with_data_of(config: &Config, layout: &Layout, other: &Core) -> Self {
        Self::with(config, layout, PageMap::clone(&other.map), other.allocator.ruled_by(config))
    }

    fn with(config: &Config, layout: &Layout, map: PageMap, allocator: PageAllocator) -> Self {
        let page_size = layout.geometry.page_size.0;
        let flushes = config.queue.depth as usize;
        let (buffer, replacement) = (&config.buffer, &config.replacement);
        Self {
            layout: *layout,
            locator: Locator::new(&layout.geometry),
            map: Mapping::new(map),
            allocator,
            buffer: Buffer::new(buffer, replacement, layout.frames, page_size, flushes),
            classes: AccessClasses::new(config, layout),
        }
    }

    /// A request will come in soon: where its first page is will be looked up.
    #[inline]
    pub fn prefetch(&self, io: &HostIo) {
        self.map.prefetch(self.locator.page_at(io.offset));
    }

    /// Nearer its turn: the page that a write makes invalid lies in a block whose record will
    /// change.
    #[inline]
    pub fn prefetch_invalidated(&self, io: &HostIo) {
        if let Some(old) = self.invalidated_by(io) {
            self.allocator.blocks.prefetch(old);
        }
    }

    /// Nearer still: the block will change its place among the plane's blocks.
    #[inline]
    pub fn prefetch_neighbours(&self, io: &HostIo) {
        if let Some(old) = self.invalidated_by(io) {
            self.allocator.blocks.prefetch_neighbours(old);
        }
    }

    /// As [`Core::prefetch_invalidated`], for a read where errors are modelled: the age of its page
    /// and the wear of its block will be asked for.
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

    /// Where the first page of a request lies in the flash.
    #[inline]
    fn place_of(&self, io: &HostIo) -> Option<UnitId> {
        self.in_flash(self.locator.page_at(io.offset))
    }

    /// Where a page lies in the flash, if the drive has such a page and it lies there.
    #[inline]
    pub fn in_flash(&self, page: Lpn) -> Option<UnitId> {
        match self.map.place_if_any(page) {
            Location::Flash(old) => Some(old),
            Location::Buffer(_) | Location::Nowhere => None,
        }
    }

    /// The copy in the flash of a page of the mapping, the one being programmed included.
    #[inline]
    pub fn flash_copy(&self, page: Lpn) -> UnitId {
        match self.map.place(page) {
            Location::Flash(unit) => unit,
            Location::Buffer(frame_id) => self.buffer.get(frame_id).unit,
            Location::Nowhere => UnitId::NONE,
        }
    }

    /// The copy of a page in the flash lies at `to` now.
    #[inline]
    pub fn relocate(&mut self, page: Lpn, to: UnitId) {
        match self.map.place(page) {
            Location::Flash(_) => self.map.set_flash(page, to),
            Location::Buffer(frame_id) => self.buffer.get_mut(frame_id).unit = to,
            Location::Nowhere => unreachable!("a valid page has an owner"),
        }
    }
}
