//! The translation layer of a drive that works in no simulated time: the page-mapped one, or that
//! of drives with superblocks. Each request is passed on to the layer; a page-mapped layer writes
//! page by page ([`crate::gc::untimed_gc`]), superblocks by [`Superblocks::serve_now`].

use super::page_uses::PageUses;
use crate::blocks::bad_blocks::BadBlockCounts;
use crate::blocks::block_table::{BlockState, Blocks};
use crate::config::Config;
use crate::config::layout::{Layout, Refusal};
use crate::core::Core;
use crate::gc::Gc;
use crate::gc::untimed_gc::Moves;
use crate::host::request::Request;
use crate::observe::counters::Counters;
use crate::observe::operation::Source;
use crate::policy::stream_tag::StreamTag;
use crate::policy::voltage::VoltageKind;
use crate::precondition::image::PreconditionedImage;
use crate::precondition::{Preconditioned, Watch};
use crate::superblocks::Superblocks;
use fowler_physics::voltage::ByVoltage;
use fowler_units::{BlockId, HostIo, HostOp, Id, Locator, Lpn, Nanos, Span};

/// A translation layer that works in no simulated time. The data of `Superblocks` is in a box,
/// because its tables of requests and streams are large.
#[derive(Clone, Debug)]
pub(super) enum UntimedLayer {
    Pages(Box<PageMapped>),
    Superblocks(Box<Superblocks>),
}

/// Page-mapped translation layer for lifetime simulations, where operations take no simulated time.
#[derive(Clone, Debug)]
pub(super) struct PageMapped {
    pub core: Core,
    pub gc: Gc,
    /// Number of erased blocks that GC keeps in each plane.
    kept: u32,
    /// LRU list of recently used pages, if the drive divides data into access classes (read-hot,
    /// write-hot or mixed); `None` otherwise.
    pub uses: Option<PageUses>,
    /// Numbers of pages that GC and wear leveling had moved before the lifetime simulation began.
    moved: Moves,
}

impl PageMapped {
    /// Returns the translation layer of `config` with the data of `image`.
    pub fn new(image: &PreconditionedImage, config: &Config) -> Result<PageMapped, Vec<Refusal>> {
        let (core, mut gc) = image.data_for(config)?;
        gc.untimed.levels_wear = true;
        let rules = gc.rules();
        Ok(PageMapped {
            kept: rules.foreground_below.max(rules.background_below),
            uses: PageUses::of(config, core.layout.mapped_pages, core.layout.frames),
            moved: gc.untimed.moves,
            core,
            gc,
        })
    }

    /// Begins a life of the drive, with its parameters as in `config`.
    fn begin(&mut self, config: &Config) {
        let layout = self.core.layout;
        self.core.allocator.let_blocks_fail(config, &layout);
        let voltages = config.voltage.name != VoltageKind::Nominal;
        self.gc.untimed.programs_at = voltages.then(ByVoltage::default);
        self.moved = self.gc.untimed.moves;
    }

    #[inline]
    fn serve(&mut self, io: &HostIo, now: Nanos, counters: &mut Counters) {
        self.gc.untimed.clock = now;
        let Request { next, end, .. } = Request::new(*io, io.at, &self.core.locator);
        for page in (next..end).map(Lpn) {
            let wrote = io.op == HostOp::Write;
            let tag = match &mut self.uses {
                Some(uses) if io.op != HostOp::Trim => uses.used(page, wrote),
                _ => StreamTag::PLAIN,
            };
            if wrote {
                let tag = self.core.classes.placed(tag, io.placement);
                self.gc.store_as(&mut self.core, page, tag, self.kept);
                counters.programs[Source::Host] += 1;
            } else if io.op == HostOp::Trim && self.gc.forget_now(&mut self.core, page) {
                counters.pages_trimmed += 1;
            }
        }
        let (moves, before) = (self.gc.untimed.moves, self.moved);
        counters.programs[Source::Gc] = moves.collected - before.collected;
        counters.programs[Source::Wear] = moves.leveled - before.leveled;
    }
}

/// Entries of the simulator's tables that a request needs and that are prefetched into the
/// processor's cache, in the order of the prefetches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Prefetch {
    /// The mapping entry of a page that the request accesses.
    Place,
    /// The simulator's record of the block that holds the old copy of a page that the request
    /// rewrites.
    Block,
    /// The simulator's records of two blocks. GC keeps blocks in lists by number of valid pages;
    /// these are the neighbors, in its list, of the block that holds the old copy of the request's
    /// page.
    Neighbours,
}

impl UntimedLayer {
    /// Returns the preconditioned translation layer of `config`, and the record of its
    /// preconditioning (pages filled and overwritten, write amplification); `None` if `watch`
    /// stopped it.
    pub fn watched(
        config: &Config,
        watch: Watch<'_>,
    ) -> Result<Option<(UntimedLayer, Preconditioned)>, Vec<Refusal>> {
        if config.ftl.has_superblocks() {
            let layer = Superblocks::preconditioned_for(config, watch)?;
            return Ok(layer.map(|layer| {
                let history = *layer.preconditioned();
                (UntimedLayer::Superblocks(Box::new(layer)), history)
            }));
        }
        let Some(image) = PreconditionedImage::watched(config, watch)? else { return Ok(None) };
        let pages = Box::new(PageMapped::new(&image, config)?);
        Ok(Some((UntimedLayer::Pages(pages), *image.preconditioned())))
    }

    /// Begins a lifetime simulation of the drive, with its parameters as in `config`.
    pub fn begin(&mut self, config: &Config) {
        match self {
            UntimedLayer::Pages(pages) => pages.begin(config),
            UntimedLayer::Superblocks(layer) => layer.begin_life(config),
        }
    }

    /// Keeps blocks from failing until a lifetime simulation begins.
    pub fn let_no_block_fail(&mut self) {
        match self {
            UntimedLayer::Pages(pages) => pages.core.allocator.let_no_block_fail(),
            UntimedLayer::Superblocks(layer) => layer.let_no_block_fail(),
        }
    }

    /// Serves a request in no simulated time, at `now`, after the host has been idle for `pause`.
    #[inline]
    pub fn serve(&mut self, io: &HostIo, (now, pause): (Nanos, Span), counters: &mut Counters) {
        match self {
            UntimedLayer::Pages(pages) => pages.serve(io, now, counters),
            UntimedLayer::Superblocks(layer) => layer.serve_now(io, (now, pause), counters),
        }
    }

    /// Prefetches a mapping entry or block record of a page, as `what` says, into the cache of the
    /// simulating machine.
    #[inline]
    pub fn prefetch(&self, page: Lpn, what: Prefetch) {
        match self {
            UntimedLayer::Pages(pages) => {
                let core = &pages.core;
                match (what, core.in_flash(page)) {
                    (Prefetch::Place, _) => core.map.prefetch(page),
                    (Prefetch::Block, Some(old)) => core.allocator.blocks.prefetch(old),
                    (Prefetch::Neighbours, Some(old)) => {
                        core.allocator.blocks.prefetch_neighbours(old);
                    }
                    (_, None) => {}
                }
            }
            UntimedLayer::Superblocks(layer) => match what {
                Prefetch::Place => layer.prefetch_unit(page),
                Prefetch::Block => layer.prefetch_old(page),
                // Superblocks have no buckets, so none has neighbors.
                Prefetch::Neighbours => {}
            },
        }
    }

    /// Returns the geometry, the capacities and the other sizes of the drive.
    #[inline]
    pub fn layout(&self) -> &Layout {
        match self {
            UntimedLayer::Pages(pages) => &pages.core.layout,
            UntimedLayer::Superblocks(layer) => layer.sizes(),
        }
    }

    /// Returns the converter from byte addresses to pages or mapping units.
    #[inline]
    pub fn locator(&self) -> &Locator {
        match self {
            UntimedLayer::Pages(pages) => &pages.core.locator,
            UntimedLayer::Superblocks(layer) => layer.unit_locator(),
        }
    }

    /// Returns the blocks, or superblocks, of the drive.
    #[inline]
    pub fn blocks(&self) -> &Blocks {
        match self {
            UntimedLayer::Pages(pages) => &pages.core.allocator.blocks,
            UntimedLayer::Superblocks(layer) => layer.blocks(),
        }
    }

    /// Returns the maximum number of host pages that wait to be programmed.
    #[inline]
    pub fn frames(&self) -> u32 {
        match self {
            UntimedLayer::Pages(_) => 0,
            UntimedLayer::Superblocks(layer) => layer.sizes().frames,
        }
    }

    /// Returns true if reads have an effect on the drive, so that they must be served.
    pub fn hears_reads(&self) -> bool {
        match self {
            UntimedLayer::Pages(pages) => pages.uses.is_some(),
            UntimedLayer::Superblocks(layer) => layer.hears_reads(),
        }
    }

    /// Returns the number of pages programmed in this life by voltage; `None` if all voltages are
    /// nominal.
    #[inline]
    pub fn programs_at(&self) -> Option<&ByVoltage<u64>> {
        match self {
            UntimedLayer::Pages(pages) => pages.gc.untimed.programs_at.as_ref(),
            UntimedLayer::Superblocks(_) => None,
        }
    }

    /// Returns the counts of blocks that failed; `None` if blocks cannot fail.
    pub fn bad_blocks(&self) -> Option<BadBlockCounts> {
        match self {
            UntimedLayer::Pages(pages) => pages.core.allocator.bad_blocks(),
            UntimedLayer::Superblocks(layer) => layer.bad_blocks(),
        }
    }

    /// Returns true if a block has not been retired.
    pub fn in_use(&self, block: usize) -> bool {
        self.blocks().state(BlockId::new(block)) != BlockState::Retired
    }
}
