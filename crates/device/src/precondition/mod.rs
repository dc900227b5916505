//! Preconditioning: brings the drive into its state before the first request, in no simulated time
//! but with the same placement, victim policy and reserve as in the run.
//!
//! 1. The pages to fill are numbered, and ordered by address or at random.
//! 2. They are written once: whole rows of blocks at a time where the result is the same, the rest
//!    one by one. For a steady state they are laid out as after long use instead.
//! 3. A steady drive is then overwritten at random until write amplification no longer changes, and
//!    GC brings every plane to its reserve of erased blocks.
//!
//! Exceptions: stripes are written as a whole, with their parity if all stripes have it from the
//! start (`stripes.rs`). A rested drive pauses before and after the overwrites.
//!
//! **Owns** nothing after it is done. **May touch** core, garbage collection, and the cells.
//! **Called** once, before a drive starts; many runs can start from an image of its result.
//!
//! - `bulk_map_load.rs`: loading a mapping in random order, in slices that fit the cache.
//! - `draw_pipeline.rs`: drawing on one core while another writes.
//! - `stripes.rs`: preconditioning of a drive with stripes.
//! - `initial_cell_state.rs`: strength, wear and age at time zero.
//! - `watch.rs`: progress, and early termination.
//! - `image.rs`: a preconditioned drive from which many runs can start. `saved_image.rs`: its state
//!   as words.

mod bulk_map_load;
mod draw_pipeline;
pub mod image;
pub mod initial_cell_state;
mod saved_image;
mod stripes;
mod watch;

use crate::blocks::block_table::Blocks;
use crate::config::layout::Layout;
use crate::config::{Config, Pattern, PreconditionConfig};
use crate::core::Core;
use crate::gc::Gc;
use crate::mapping::page_map::{Location, PageMap};
use crate::policy::placement;
use bulk_map_load::BulkMapLoad;
use draw_pipeline::{BATCH, draw_pipeline};
use fowler_units::{
    BlockId, Bytes, Geometry, Id, Lpn, PlaneId, Ppn, Rng, Scatter, TabledScatter, UnitId,
};
use std::fmt;
use std::ops::Range;
use stripes::StripedFill;
pub(crate) use watch::UNWATCHED;
pub(crate) use watch::WATCHED_EVERY;
pub use watch::Watch;

/// Record of how a drive was preconditioned.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Preconditioned {
    /// Number of logical pages that hold data after preconditioning; and total number of logical
    /// pages of the drive.
    pub filled: (u32, u32),
    /// Order (such as sequential or random) in which preconditioning wrote the logical pages that
    /// it filled.
    pub pattern: Pattern,
    /// Number of pages overwritten at random after filling.
    pub overwritten: u64,
    /// Write amplification over the last window of overwrites, parity included; `None` without
    /// overwrites.
    pub waf: Option<f64>,
    /// True if write amplification in the last two windows of overwrites agrees within 1 %.
    pub steady: bool,
}

impl Preconditioned {
    /// Returns the record of preconditioning for a drive that holds no data yet.
    pub(crate) fn none(pattern: Pattern) -> Preconditioned {
        Preconditioned { filled: (0, 0), pattern, overwritten: 0, waf: None, steady: false }
    }
}

impl fmt::Display for Preconditioned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (filled, all) = self.filled;
        let share = 100.0 * f64::from(filled) / f64::from(all);
        let pattern = match self.pattern {
            Pattern::Sequential => "sequentially",
            Pattern::Random => "in random order",
            Pattern::Steady => "over and over in random order",
            Pattern::Rested => "over and over in random order, with pauses",
        };
        write!(f, "{share:.1} % of {all} pages written {pattern}")?;
        if let Some(waf) = self.waf {
            let state = if self.steady { "steady" } else { "not yet steady" };
            write!(f, ", then {} at random: WAF {waf:.3}, {state}", self.overwritten)?;
        }
        Ok(())
    }
}

/// Divisor of the number of filled pages that gives the number of overwrites in a window. Write
/// amplification is compared from window to window until it is steady.
const WINDOW_SHARE: u64 = 20;
/// Maximum number of windows of overwrites in which preconditioning looks for a steady write
/// amplification.
const WINDOWS_MAX: u32 = 10;
/// Largest relative difference between the write amplification of two consecutive windows of
/// overwrites that counts as steady.
const STEADY_WITHIN: f64 = 0.01;

/// Preconditions a fresh drive according to its configuration. Returns `None` if `watch` stopped
/// it, which makes the drive unusable.
pub(crate) fn run(
    config: &Config,
    core: &mut Core,
    gc: &mut Gc,
    watch: Watch<'_>,
) -> Option<Preconditioned> {
    let stripes = StripedFill::new(config, &core.layout);
    let mut preconditioning = Preconditioning { core, gc, stripes, watch };
    let done = preconditioning.run(&config.precondition, config.seed);
    (watch.progress)(1.0);
    (!watch.stopped()).then_some(done)
}

/// Approximate share (0 to 1) of preconditioning to steady state that the first placement of the
/// data takes, before any overwrite; affects only the displayed progress.
const LAYOUT_SHARE: f64 = 0.4;

/// A drive that is being preconditioned.
struct Preconditioning<'a> {
    core: &'a mut Core,
    gc: &'a mut Gc,
    /// Stripes of the drive and their pages; `None` on a drive without stripes.
    stripes: Option<StripedFill>,
    watch: Watch<'a>,
}

impl Preconditioning<'_> {
    fn run(&mut self, config: &PreconditionConfig, seed: u64) -> Preconditioned {
        let all = self.core.map.logical();
        let mut filled = (config.fill * f64::from(all)).floor() as u32;
        if let Some(fill) = &self.stripes {
            // Stripes are written as a whole.
            filled -= filled % fill.stripes.width();
        }
        let mut report = Preconditioned {
            filled: (filled, all),
            pattern: config.pattern,
            overwritten: 0,
            waf: None,
            steady: false,
        };
        if filled == 0 {
            return report;
        }
        let order = || {
            let mut rng = Rng::stream(seed, "precondition/order");
            Scatter::new(u64::from(filled), &mut rng).tabled()
        };
        // The maximum number of erased blocks that a busy host leaves to a plane.
        let busy = self.gc.reserve() + 1;
        let striped = self.stripes.is_some();
        match config.pattern {
            Pattern::Sequential if striped && !self.parity_from_the_start() => {
                self.fill_pages(0..filled, None, busy);
            }
            Pattern::Random if striped => self.fill_pages(0..filled, Some(&order()), busy),
            Pattern::Sequential => {
                let rest = self.fill_rows(filled);
                self.fill_pages(rest..filled, None, busy);
            }
            Pattern::Random => {
                let order = order();
                let rest = self.fill_rows_at_random(filled, &order);
                self.fill_pages(rest..filled, Some(&order), busy);
            }
            Pattern::Steady => {
                self.lay_out(filled, &order(), seed);
                if self.watch.stopped() {
                    return report;
                }
                self.overwrite_until_steady(filled, seed, busy, &mut report);
                self.gc.rest(self.core, self.gc.rules().foreground_below);
            }
            Pattern::Rested => {
                self.lay_out(filled, &order(), seed);
                if self.watch.stopped() {
                    return report;
                }
                let kept = self.gc.rules().background_below;
                self.gc.rest(self.core, kept);
                self.overwrite_until_steady(filled, seed, kept, &mut report);
                self.gc.rest(self.core, kept);
            }
        }
        report
    }

    /// Writes mapped pages once, one by one: those numbered `turns` in ascending order or in the
    /// random order `order`. Parity pages are written if stripes have parity from the start. Stops
    /// early if `watch` asks for it.
    fn fill_pages(&mut self, turns: Range<u32>, order: Option<&TabledScatter>, kept: u32) {
        let mut scattered = order.map(|order| Scattered::new(order, turns.start));
        for turn in turns.clone() {
            if u64::from(turn - turns.start) % WATCHED_EVERY == 0 {
                if self.watch.stopped() {
                    return;
                }
                (self.watch.progress)(f64::from(turn) / f64::from(turns.end));
            }
            let page = scattered.as_mut().map_or(Lpn(turn), Scattered::next);
            if self.holds_from_the_start(page) {
                self.gc.store(self.core, page, kept);
            }
        }
    }

    /// Places data as after long use: on the dies of their addresses if addresses determine dies,
    /// and otherwise on any die. See docs/decisions/precondition.md, "Where is data before the
    /// first request?".
    fn lay_out(&mut self, filled: u32, order: &TabledScatter, seed: u64) {
        let Geometry { planes_per_die, .. } = self.core.layout.geometry;
        let planes = self.core.layout.geometry.planes();
        if self.core.allocator.home(Lpn(0)).is_none() {
            let up_to =
                |plane: u32| (u64::from(filled) * u64::from(plane) / u64::from(planes)) as u32;
            let holds: Vec<u32> =
                (0..planes).map(|plane| up_to(plane + 1) - up_to(plane)).collect();
            let mut pages = Scattered::new(order, 0);
            return self.lay_out_aged(&holds, seed, |_| pages.next());
        }
        let mut at_home = self.at_home(filled, order);
        let holds = |plane: u32| {
            let (all, place) =
                (at_home[(plane / planes_per_die) as usize].len(), plane % planes_per_die);
            let up_to = |place: u32| all * place as usize / planes_per_die as usize;
            (up_to(place + 1) - up_to(place)) as u32
        };
        let holds: Vec<u32> = (0..planes).map(holds).collect();
        if self.watch.stopped() {
            return;
        }
        self.lay_out_aged(&holds, seed, |plane| {
            let pages = &mut at_home[(plane.0 / planes_per_die) as usize];
            pages.pop().expect("as many pages as its planes hold")
        });
    }

    /// Returns the pages that hold data, grouped by the dies of their addresses, in random order
    /// per die.
    fn at_home(&self, filled: u32, order: &TabledScatter) -> Vec<Vec<Lpn>> {
        let mut at_home = vec![Vec::new(); self.core.layout.geometry.dies() as usize];
        let mut pages = Scattered::new(order, 0);
        for turn in 0..filled {
            if u64::from(turn) % WATCHED_EVERY == 0 && self.watch.stopped() {
                break;
            }
            let page = pages.next();
            if self.holds_from_the_start(page) {
                at_home[self.core.allocator.die_of_address(page).index()].push(page);
            }
        }
        at_home
    }

    /// Returns the number of rows, one block of every plane each, that `filled` pages fill; zero if
    /// a die takes several pages in a row, because such pages are stored one by one.
    fn rows(&self, filled: u32, row: u32) -> u32 {
        if self.core.allocator.takes_page_by_page() { filled / row } else { 0 }
    }

    /// Fills as many whole blocks of every plane as `filled` pages fill. The result is that of
    /// [`Gc::store`] page by page on a fresh drive: no page is invalid, so that GC gains nothing,
    /// and dies and planes rotate strictly. Returns the number of pages written.
    fn fill_rows(&mut self, filled: u32) -> u32 {
        let geometry = self.core.layout.geometry;
        let (planes, pages_per_block) = (geometry.planes(), geometry.pages_per_block);
        let row = planes * pages_per_block;
        let rows = self.rows(filled, row);
        // The loop prefetches the entries of one run, then writes those of the previous run.
        let (mut runs, mut now) = ([Run::default(), Run::default()], 0);
        for first in (0..rows).map(|number| number * row) {
            if self.watch.stopped() {
                break;
            }
            (self.watch.progress)(f64::from(first) / f64::from(filled));
            let blocks = self.core.allocator.load_row();
            // Runs rotate over all blocks, so that neighbors in either direction of the mapping are
            // written at about the same time.
            for start in (0..pages_per_block).step_by(RUN) {
                for (turn, &block) in (first + start * planes..).zip(&blocks) {
                    let run = &mut runs[now];
                    run.first = self.core.locator.unit(block, start);
                    run.length = RUN.min((pages_per_block - start) as usize);
                    for (at, page) in run.pages[..run.length].iter_mut().enumerate() {
                        *page = turn + at as u32 * planes;
                    }
                    run.pages().for_each(|page| self.core.map.prefetch(page));
                    now = 1 - now;
                    self.write_down(&runs[now]);
                }
            }
        }
        self.write_down(&runs[1 - now]);
        rows * row
    }

    /// Fills as many rows, one block of every plane each, as `filled` pages fill, with pages in the
    /// random order `order`. Returns the number of pages written: zero on a drive where addresses
    /// determine dies, as pages in random order do not lie on consecutive dies and are stored one
    /// by one. See docs/decisions/precondition.md, "Where is data before the first request?".
    fn fill_rows_at_random(&mut self, filled: u32, order: &TabledScatter) -> u32 {
        if self.core.allocator.home(Lpn(0)).is_some() {
            return 0;
        }
        let geometry = self.core.layout.geometry;
        let (planes, pages_per_block) = (geometry.planes(), geometry.pages_per_block);
        let row = planes * pages_per_block;
        let rows = self.rows(filled, row);
        let mut blocks = Vec::with_capacity((rows * planes) as usize);
        for first in (0..rows).map(|number| number * row) {
            blocks.extend(self.core.allocator.load_row().into_iter().zip(first..));
        }
        // The turns of each block are fixed; the mapping is written in order of physical pages.
        blocks.sort_unstable();
        let mut loader = BulkMapLoad::new(&self.core.map, &geometry);
        let mut to = blocks.iter().map(|&(block, _)| geometry.first_page(block).0);
        let watch = self.watch;
        let draw = |hand_over: &mut dyn FnMut(Vec<u32>) -> Vec<u32>| {
            let mut drawn = Vec::new();
            for (number, &(_, first)) in blocks.iter().enumerate() {
                if watch.stopped() {
                    return;
                }
                drawn.extend((first..).step_by(planes as usize).take(pages_per_block as usize));
                if drawn.len() >= BATCH {
                    (watch.progress)(number as f64 / blocks.len() as f64);
                    order.apply(&mut drawn);
                    drawn = hand_over(drawn);
                }
            }
            order.apply(&mut drawn);
            hand_over(drawn);
        };
        draw_pipeline(filled, draw, |drawn| {
            for pages in drawn.chunks_exact(pages_per_block as usize) {
                let first = to.next().expect("drawn for every block");
                for (&page, to) in pages.iter().zip(first..) {
                    let unit = self.core.locator.first_unit(Ppn(to));
                    loader.put(&mut self.core.map, Lpn(page), unit);
                }
            }
            drawn.clear();
        });
        if !self.watch.stopped() {
            loader.settle(&mut self.core.map);
        }
        rows * row
    }

    /// Writes the mapping entries of a run of pages that are already programmed.
    fn write_down(&mut self, run: &Run) {
        for (page, to) in run.pages().zip((run.first.0..).map(UnitId)) {
            self.core.map.set_flash(page, to);
            self.core.map.set_owner(to, page);
        }
    }

    /// Places data as after long use: under uniform random overwrites all pages are invalidated at
    /// the same rate, so that a block's valid share falls exponentially with its position in fill
    /// order, from 1 to the share at which GC collects it (Desnoyers, "Analytic modeling of SSD
    /// write performance", SYSTOR'12). Subsequent overwrites remove the error of this
    /// approximation.
    fn lay_out_aged(
        &mut self,
        holds: &[u32],
        seed: u64,
        mut next: impl FnMut(PlaneId) -> Lpn + Send,
    ) {
        let geometry = self.core.layout.geometry;
        let kept_free = self.gc.reserve() + 2;
        let blocks = geometry.blocks_per_plane.saturating_sub(kept_free).max(1);
        let mut loader = BulkMapLoad::new(&self.core.map, &geometry);
        let watch = self.watch;
        let draw = |hand_over: &mut dyn FnMut(AgedBlocks) -> AgedBlocks| {
            let mut rng = Rng::stream(seed, "precondition/layout");
            let mut drawn = AgedBlocks::default();
            for (plane, &here) in (0..).map(PlaneId).zip(holds) {
                let blocks = blocks.max(here.div_ceil(geometry.pages_per_block));
                (watch.progress)(LAYOUT_SHARE * f64::from(plane.0) / holds.len() as f64);
                for valid in valid_by_age(here, blocks, geometry.pages_per_block) {
                    drawn.draw(plane, valid, &geometry, &mut rng);
                    drawn.pages.extend((0..valid).map(|_| next(plane)));
                    if drawn.words.len() * 64 >= BATCH {
                        if watch.stopped() {
                            return;
                        }
                        drawn = hand_over(drawn);
                    }
                }
            }
            hand_over(drawn);
        };
        draw_pipeline(geometry.pages(), draw, |drawn| {
            let (mut words, mut pages) = (drawn.words.drain(..), drawn.pages.drain(..));
            for plane in drawn.planes.drain(..) {
                let word = |_| words.next().expect("drawn for every block");
                let block = self.core.allocator.blocks.load(plane, word);
                let mut valid = self.core.allocator.blocks.valid_pages(block);
                while let Some(to) = valid.next(&self.core.allocator.blocks) {
                    let page = pages.next().expect("drawn for every valid page");
                    loader.put(&mut self.core.map, page, to);
                }
            }
        });
        if !self.watch.stopped() {
            loader.settle(&mut self.core.map);
        }
    }

    /// Overwrites pages until write amplification is steady.
    /// See docs/decisions/precondition.md, "How is a drive aged?".
    fn overwrite_until_steady(
        &mut self,
        filled: u32,
        seed: u64,
        kept: u32,
        report: &mut Preconditioned,
    ) {
        let rng = Rng::stream(seed, "precondition/overwrites");
        let mut pages = Overwrites::new(rng, filled);
        let window = (u64::from(filled) / WINDOW_SHARE).max(1);
        let parity = f64::from(u8::from(self.parity_from_the_start()));
        for number in 0..WINDOWS_MAX {
            let moved = self.gc.untimed.moves.collected;
            for turn in 0..window {
                if turn % WATCHED_EVERY == 0 {
                    if self.watch.stopped() {
                        return;
                    }
                    let windows = f64::from(number) + turn as f64 / window as f64;
                    let share = windows / f64::from(WINDOWS_MAX);
                    (self.watch.progress)(LAYOUT_SHARE + (1.0 - LAYOUT_SHARE) * share);
                }
                while !self.overwrite(pages.next(&self.core.map, &self.core.allocator.blocks), kept)
                {
                }
            }
            report.overwritten += window;
            let waf =
                1.0 + parity + (self.gc.untimed.moves.collected - moved) as f64 / window as f64;
            let previous = report.waf.replace(waf);
            report.steady = previous.is_some_and(|p| (waf - p).abs() <= STEADY_WITHIN * waf);
            if report.steady {
                return;
            }
        }
    }
}

/// Blocks of an aged drive whose contents are drawn but not yet written.
#[derive(Default)]
struct AgedBlocks {
    /// Plane of each block whose set of valid pages has been drawn at random.
    planes: Vec<PlaneId>,
    /// Valid bits of all pages of the blocks drawn at random but not yet written to the mapping,
    /// block after block.
    words: Vec<u64>,
    /// Logical pages of the valid pages of the blocks drawn at random but not yet written to the
    /// mapping, in order.
    pages: Vec<Lpn>,
}

impl AgedBlocks {
    /// Draws the contents of one more block of a plane: the set of its valid pages, `valid` in all.
    fn draw(&mut self, plane: PlaneId, valid: u32, geometry: &Geometry, rng: &mut Rng) {
        self.planes.push(plane);
        let (mut left, mut here) = (u64::from(valid), u64::from(geometry.pages_per_block));
        while here > 0 {
            // Branchless, because a branch would be unpredictable.
            let word = (0..here.min(64)).fold(0, |word, bit| {
                let valid = u64::from(rng.below(here) < left);
                here -= 1;
                left -= valid;
                word | valid << bit
            });
            self.words.push(word);
        }
    }
}

/// A run of consecutive physical pages of a block, with the logical page of each, collected to be
/// written to the mapping table together.
struct Run {
    first: UnitId,
    length: usize,
    pages: [u32; RUN],
}

/// Maximum number of consecutive physical pages that are written to the mapping together: two cache
/// lines of it.
const RUN: usize = 32;

impl Default for Run {
    fn default() -> Self {
        Self { first: UnitId(0), length: 0, pages: [0; RUN] }
    }
}

impl Run {
    fn pages(&self) -> impl Iterator<Item = Lpn> + '_ {
        self.pages[..self.length].iter().map(|&page| Lpn(page))
    }
}

/// All logical pages in random order, drawn in batches.
pub(crate) struct Scattered<'a> {
    order: &'a TabledScatter,
    /// First position in the random order of logical pages for which the page number has not been
    /// computed from the permutation yet.
    turn: u32,
    drawn: [u32; DRAWN],
    taken: usize,
}

/// Number of logical pages in random order that are computed at once.
const DRAWN: usize = 1024;

impl<'a> Scattered<'a> {
    pub(crate) fn new(order: &'a TabledScatter, turn: u32) -> Self {
        Self { order, turn, drawn: [0; DRAWN], taken: DRAWN }
    }

    /// Returns the next logical page in random order; must not be called after the last.
    #[inline]
    pub(crate) fn next(&mut self) -> Lpn {
        if self.taken == DRAWN {
            // Values beyond the last turn are never used.
            let last = self.order.len() - 1;
            for (page, turn) in self.drawn.iter_mut().zip(u64::from(self.turn)..) {
                *page = turn.min(last) as u32;
            }
            self.order.apply(&mut self.drawn);
            self.turn = self.turn.saturating_add(DRAWN as u32);
            self.taken = 0;
        }
        self.taken += 1;
        Lpn(self.drawn[self.taken - 1])
    }
}

/// Random pages to overwrite, drawn ahead of their turns, so that their mapping entries are
/// prefetched.
struct Overwrites {
    rng: Rng,
    filled: u64,
    /// Logical pages that preconditioning is to overwrite in the present burst of 32 random
    /// overwrites, and in the next one, whose mapping entries are fetched ahead.
    drawn: [Lpn; 2 * BURST],
    taken: usize,
}

/// Number of overwrites drawn and prefetched together: on a large drive nearly every lookup misses
/// the TLB, and only lookups in close succession overlap these misses.
const BURST: usize = 32;
/// Numbers of overwrites, within a burst of 32, after which data for the next 32 is prefetched:
/// first the records of the blocks whose pages they will invalidate, then those of these blocks'
/// neighbours in the block lists.
const BURST_STEPS: [usize; 2] = [16, 24];

impl Overwrites {
    fn new(mut rng: Rng, filled: u32) -> Self {
        let filled = u64::from(filled);
        let drawn =
            std::array::from_fn(
                |at| {
                    if at < BURST { Lpn(rng.below(filled) as u32) } else { Lpn::NONE }
                },
            );
        Self { rng, filled, drawn, taken: 0 }
    }

    #[inline]
    fn next(&mut self, map: &PageMap, blocks: &Blocks) -> Lpn {
        let turn = self.taken % BURST;
        let coming = BURST - (self.taken - turn);
        let coming = &mut self.drawn[coming..][..BURST];
        if turn == 0 {
            for page in coming {
                *page = Lpn(self.rng.below(self.filled) as u32);
                map.prefetch(*page);
            }
        } else if turn == BURST_STEPS[0] {
            located(map, coming).for_each(|old| blocks.prefetch(old));
        } else if turn == BURST_STEPS[1] {
            located(map, coming).for_each(|old| blocks.prefetch_neighbours(old));
        }
        let page = self.drawn[self.taken];
        self.taken = (self.taken + 1) % (2 * BURST);
        page
    }
}

/// Returns the memory that preconditioning takes on the simulating machine, besides the drive.
pub(crate) fn bytes(config: &Config, layout: &Layout) -> Bytes {
    let geometry = &layout.geometry;
    let (pages, blocks) = (u64::from(layout.mapped_pages), u64::from(geometry.blocks()));
    let loader = BulkMapLoad::bytes(layout.mapped_pages, geometry);
    let at_home =
        config.redundancy.has_stripes() || config.placement.dies == placement::Dies::ByAddress;
    match config.precondition.pattern {
        _ if config.precondition.fill == 0.0 => Bytes(0),
        Pattern::Sequential => Bytes(0),
        Pattern::Random => loader + Bytes::of::<BlockId>(blocks) + Bytes::of::<u32>(blocks),
        // The lists of the dies double as they grow.
        Pattern::Steady | Pattern::Rested if at_home => loader + Bytes::of::<Lpn>(2 * pages),
        Pattern::Steady | Pattern::Rested => loader,
    }
}

/// Returns the locations of the given pages, leaving out those not in the flash.
fn located<'a>(map: &'a PageMap, pages: &'a [Lpn]) -> impl Iterator<Item = UnitId> + 'a {
    pages.iter().filter_map(|&page| match map.place(page) {
        Location::Flash(old) => Some(old),
        Location::Nowhere | Location::Buffer(_) => None,
    })
}

/// Returns the number of valid pages in each of `blocks` blocks, oldest first, which hold `pages`
/// in all.
fn valid_by_age(pages: u32, blocks: u32, pages_per_block: u32) -> Vec<u32> {
    let all = f64::from(blocks) * f64::from(pages_per_block);
    let mean = (f64::from(pages) / all).min(1.0);
    // The mean of e^(-a x) over x in [0, 1] is (1 - e^-a) / a, which falls with a.
    let (mut low, mut high) = (1e-9, 700.0);
    for _ in 0..100 {
        let a: f64 = 0.5 * (low + high);
        if -libm::expm1(-a) / a > mean { low = a } else { high = a }
    }
    let mut valid = Vec::with_capacity(blocks as usize);
    let (mut owed, mut left) = (0.0, pages);
    for index in 0..blocks {
        let age = (f64::from(blocks - index) - 0.5) / f64::from(blocks);
        owed += libm::exp(-low * age) * f64::from(pages_per_block);
        let later = u64::from(blocks - index - 1) * u64::from(pages_per_block);
        // Pages that later blocks cannot hold must be placed here, whatever the rounding.
        let least = u64::from(left).saturating_sub(later) as u32;
        let here =
            (owed.round().max(0.0) as u32).clamp(least, pages_per_block.max(least)).min(left);
        owed -= f64::from(here);
        left -= here;
        valid.push(here);
    }
    // Rounding leaves a few pages over, which go to the youngest blocks with room.
    for here in valid.iter_mut().rev() {
        let more = left.min(pages_per_block - *here);
        *here += more;
        left -= more;
    }
    assert_eq!(left, 0, "more data than blocks");
    valid
}

#[cfg(test)]
mod tests {
    use super::valid_by_age;

    #[test]
    fn an_aged_layout_holds_every_page_and_grows_towards_the_young() {
        for (pages, blocks, per_block) in
            [(700, 10, 100), (999, 10, 100), (1000, 10, 100), (3, 7, 4)]
        {
            let valid = valid_by_age(pages, blocks, per_block);
            assert_eq!(valid.iter().sum::<u32>(), pages);
            assert!(valid.iter().all(|&here| here <= per_block));
        }
        let valid = valid_by_age(7000, 100, 100);
        assert!(valid[0] < 60 && valid[99] > 95 && valid.is_sorted_by(|a, b| *b + 1 >= *a));
    }
}
