//! The state of the drive before the first request, reached in no simulated time but by the same
//! placement, victim policy and reserve as in the run.

use crate::config::{Pattern, PreconditionConfig};
use crate::flash::Flash;
use crate::ftl::Ftl;
use crate::map::Place;
use crate::txn::Source;
use fowler_units::{Lpn, Nanos, PlaneId, Ppn, Rng, Scatter};
use std::fmt;

/// What a drive has been through before the first request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Preconditioned {
    /// Logical pages that hold data, and all there are.
    pub filled: (u32, u32),
    /// How they were written.
    pub pattern: Pattern,
    /// Pages written over at random afterwards.
    pub overwritten: u64,
    /// Write amplification over the last window of those, if there was one.
    pub waf: Option<f64>,
    /// Whether the last two windows agree within one per cent.
    pub steady: bool,
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

/// A window of overwrites is this share of the filled pages, and there are at most so many.
const WINDOW_SHARE: u64 = 20;
const WINDOWS_MAX: u32 = 10;
/// Two windows that agree within this share are called steady.
const STEADY_WITHIN: f64 = 0.01;

impl Ftl {
    /// Brings a fresh drive into the state that is asked for.
    pub(crate) fn precondition(
        &mut self,
        config: &PreconditionConfig,
        seed: u64,
    ) -> Preconditioned {
        let all = self.map.logical();
        let filled = (config.fill * f64::from(all)).floor() as u32;
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
        let scatter = Scatter::new(u64::from(filled), &mut Rng::stream(seed, "precondition/order"));
        // A busy host leaves a plane no more erased blocks than these.
        let busy = self.collector.reserve() + 1;
        match config.pattern {
            Pattern::Sequential => (0..filled).for_each(|page| self.store(Lpn(page), busy)),
            Pattern::Random => (0..filled)
                .for_each(|page| self.store(Lpn(scatter.at(u64::from(page)) as u32), busy)),
            Pattern::Steady => {
                self.lay_out_aged(filled, &scatter, seed);
                self.overwrite_until_steady(filled, seed, busy, &mut report);
                self.rest(self.collector.rules().foreground_below);
            }
            Pattern::Rested => {
                self.lay_out_aged(filled, &scatter, seed);
                let kept = self.collector.rules().background_below;
                self.rest(kept);
                self.overwrite_until_steady(filled, seed, kept, &mut report);
                self.rest(kept);
            }
        }
        report
    }

    /// Every plane may have to collect as soon as the run begins.
    pub(crate) fn consider_all(&mut self, flash: &mut Flash) {
        for plane in 0..self.layout.geometry.planes() {
            self.consider(flash, PlaneId(plane));
        }
    }

    /// Writes a page at no time; collection keeps so many blocks of its plane erased.
    fn store(&mut self, page: Lpn, kept: u32) {
        let die = self.space.place().expect("no more data than the drive holds");
        self.space.arrived(die);
        let to = loop {
            if let Some(to) = self.space.host_page(die, |_| None) {
                break to;
            }
            for plane in self.layout.geometry.planes_of_die(die) {
                self.collect_now(plane);
            }
        };
        if let Place::Flash(old) = self.map.place(page) {
            self.space.blocks.invalidate(old);
        }
        self.map.set_flash(page, to);
        self.map.set_owner(to, page);
        self.close_if_full(to);
        self.collect_up_to(self.locator.plane_of(to), kept);
    }

    /// Collects until so many blocks of the plane are erased. Beyond those that the foreground needs only
    /// what is worth it, as idle time does.
    fn collect_up_to(&mut self, plane: PlaneId, kept: u32) {
        let needed = self.collector.rules().foreground_below;
        while self.space.blocks.free_in(plane) < kept {
            let idle = self.space.blocks.free_in(plane) >= needed;
            if (idle && !self.is_worth_it(plane)) || self.collect_now(plane) == 0 {
                return;
            }
        }
    }

    fn is_worth_it(&mut self, plane: PlaneId) -> bool {
        let victim = self.choose(plane, Nanos::ZERO);
        victim.is_some_and(|victim| self.space.blocks.valid(victim) <= self.worth_moving)
    }

    /// Collects one block at no time; returns the pages gained, zero if there was nothing to collect.
    fn collect_now(&mut self, plane: PlaneId) -> u32 {
        let Some(victim) = self.choose(plane, Nanos::ZERO) else { return 0 };
        self.space.blocks.collect(victim);
        let valid = self.space.blocks.valid(victim);
        let mut next = self.space.blocks.next_valid(victim, 0);
        while let Some(from) = next {
            let page = self.map.owner(from);
            let to = self.space.write(plane, Source::Gc);
            self.space.blocks.invalidate(from);
            self.map.set_flash(page, to);
            self.map.set_owner(to, page);
            self.close_if_full(to);
            next = self.space.blocks.next_valid(victim, self.locator.offset_in_block(from));
        }
        self.space.blocks.erase(victim);
        self.moved_now += u64::from(valid);
        // A victim without an outdated page (a policy may insist) gains nothing, but is progress
        // through the order in which it insists.
        (self.layout.geometry.pages_per_block - valid).max(1)
    }

    fn close_if_full(&mut self, page: Ppn) {
        if self.locator.offset_in_block(page) + 1 == self.layout.geometry.pages_per_block {
            self.space.blocks.fill(self.locator.block_of(page), Nanos::ZERO);
        }
    }

    /// Lays data out as long use leaves it: under uniform random overwrites every page dies at the
    /// same rate, so that a block's valid share falls exponentially with its place in the order of
    /// filling, from 1 to the share at which collection finds it (Desnoyers, "Analytic modeling of SSD
    /// write performance", SYSTOR'12). The overwrites that follow remove what is only nearly right.
    fn lay_out_aged(&mut self, filled: u32, scatter: &Scatter, seed: u64) {
        let geometry = self.layout.geometry;
        let planes = geometry.planes();
        let kept_free = self.collector.reserve() + 2;
        let blocks = geometry.blocks_per_plane.saturating_sub(kept_free).max(1);
        let mut rng = Rng::stream(seed, "precondition/layout");
        let mut stored = 0u32;
        for plane in (0..planes).map(PlaneId) {
            let share = (u64::from(filled) * (u64::from(plane.0) + 1) / u64::from(planes)) as u32;
            let here = share - stored;
            let blocks = blocks.max(here.div_ceil(geometry.pages_per_block));
            let valid = valid_by_age(here, blocks, geometry.pages_per_block);
            for block_valid in valid {
                let (mut left, mut here) = (block_valid, geometry.pages_per_block);
                self.space.blocks.load(plane, |to| {
                    let valid = rng.below(u64::from(here)) < u64::from(left);
                    here -= 1;
                    if valid {
                        left -= 1;
                        let page = Lpn(scatter.at(u64::from(stored)) as u32);
                        stored += 1;
                        self.map.set_flash(page, to);
                        self.map.set_owner(to, page);
                    }
                    valid
                });
            }
        }
        debug_assert_eq!(stored, filled);
    }

    /// The host has paused: every plane has so many erased blocks, if it has something to collect.
    fn rest(&mut self, kept: u32) {
        for plane in (0..self.layout.geometry.planes()).map(PlaneId) {
            self.collect_up_to(plane, kept);
        }
    }

    fn overwrite_until_steady(
        &mut self,
        filled: u32,
        seed: u64,
        kept: u32,
        report: &mut Preconditioned,
    ) {
        let mut rng = Rng::stream(seed, "precondition/overwrites");
        let window = (u64::from(filled) / WINDOW_SHARE).max(1);
        for _ in 0..WINDOWS_MAX {
            let moved = self.moved_now;
            for _ in 0..window {
                self.store(Lpn(rng.below(u64::from(filled)) as u32), kept);
            }
            report.overwritten += window;
            let waf = 1.0 + (self.moved_now - moved) as f64 / window as f64;
            let previous = report.waf.replace(waf);
            report.steady = previous.is_some_and(|p| (waf - p).abs() <= STEADY_WITHIN * waf);
            if report.steady {
                return;
            }
        }
    }
}

/// Valid pages of `blocks` blocks, oldest first, that hold `pages` in all.
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
        // What the rest cannot hold must be stored here, whatever rounding says.
        let least = u64::from(left).saturating_sub(later) as u32;
        let here =
            (owed.round().max(0.0) as u32).clamp(least, pages_per_block.max(least)).min(left);
        owed -= f64::from(here);
        left -= here;
        valid.push(here);
    }
    // Rounding leaves a few pages over; they go to the youngest blocks with room.
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
