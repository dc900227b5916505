//! How the controller finds out how strong its blocks are: in idle time it reads a page of each block in turn and
//! counts the bits that its code corrects (RHIO, section II-B). The reads take their dies and channels, and are on
//! the account of wear.

use crate::flash::Flash;
use crate::flash::condition::Condition;
use crate::frontier::StrengthClass;
use crate::ftl::Ftl;
use crate::queue::Class;
use crate::reliability::{CLASSES, Params};
use crate::txn::{Op, Owner, Source};
use fowler_units::{BlockId, DieId, Geometry, IdVec, Nanos, Ppn, Rng, Span, TxnId};

/// What is known of one block's class, as a normal distribution: a measurement weighs as much as it is sure.
#[derive(Clone, Copy, Debug)]
struct Estimate {
    class: f32,
    variance: f32,
}

/// Before any measurement: each class is as likely as any other.
const UNKNOWN: Estimate =
    Estimate { class: (CLASSES - 1) as f32 / 2.0, variance: ((CLASSES * CLASSES - 1) / 12) as f32 };

/// The measuring of strengths.
#[derive(Clone, Debug)]
pub struct Measurer {
    rng: Rng,
    /// Bits of a page.
    bits: f64,
    /// From one measurement on a die to the next.
    every: Span,
    /// When each die measures next, and which of its blocks.
    due: IdVec<DieId, Nanos>,
    next: IdVec<DieId, u32>,
    estimates: IdVec<BlockId, Estimate>,
}

impl Measurer {
    /// Nothing is known yet.
    pub fn new(params: &Params, geometry: &Geometry, seed: u64) -> Self {
        let (dies, blocks) = (geometry.dies() as usize, geometry.blocks() as usize);
        Self {
            rng: Rng::stream(seed, "reliability/measure"),
            bits: geometry.page_size.0 as f64 * 8.0,
            every: Span(params.measure_every.0 * dies as u64 / blocks as u64),
            due: IdVec::filled(Nanos::ZERO, dies),
            next: IdVec::filled(0, dies),
            estimates: IdVec::filled(UNKNOWN, blocks),
        }
    }

    /// When a die measures next.
    pub fn due(&self, die: DieId) -> Nanos {
        self.due[die]
    }

    /// The class that a block is taken for: the estimate and one standard deviation, for a block that is taken
    /// for stronger than it is loses data.
    pub fn class(&self, block: BlockId) -> StrengthClass {
        let Estimate { class, variance } = self.estimates[block];
        (class + variance.sqrt()).ceil().clamp(0.0, (CLASSES - 1) as f32) as StrengthClass
    }

    /// A page of `block` has been read for the sake of its errors.
    pub fn read(&mut self, condition: &mut Condition, page: Ppn, block: BlockId, now: Nanos) {
        let its = *condition.block(block);
        let age = condition.age(page, now);
        let cells = condition.cells_mut();
        let cycles = f64::from(its.cycles);
        let growths = cells.growth;
        let mut rate = |growth: f64| cells.rber(growth * cycles, age, its.reads, its.mode);
        let errors = self.errors(rate(f64::from(its.growth)));
        let rates = growths.map(rate);
        let measured = errors / self.bits;
        let span = (rates[CLASSES - 1] - rates[0]) / (CLASSES - 1) as f64;
        if span <= 0.0 {
            return; // A block that was never cycled tells nothing.
        }
        let noise = (errors.max(1.0)).sqrt() / self.bits / span;
        let its = &mut self.estimates[block];
        let gain = its.variance / (its.variance + (noise * noise) as f32);
        its.class += gain * (class_at(&rates, measured) as f32 - its.class);
        its.variance *= 1.0 - gain;
    }

    /// How many bits of a page are wrong: binomial, by its normal approximation.
    fn errors(&mut self, rate: f64) -> f64 {
        // Box and Muller; the smallest argument of the logarithm is 2^-53.
        let radius = libm::sqrt(-2.0 * libm::log(1.0 - self.rng.unit()));
        let normal = radius * libm::cos(std::f64::consts::TAU * self.rng.unit());
        let mean = self.bits * rate;
        (mean + normal * (mean * (1.0 - rate)).sqrt()).round().max(0.0)
    }
}

/// Where a rate lies among those of the classes, which ascend.
fn class_at(rates: &[f64; CLASSES], measured: f64) -> f64 {
    let above = rates.partition_point(|&rate| rate < measured);
    match above {
        0 => 0.0,
        CLASSES => (CLASSES - 1) as f64,
        _ => {
            let (low, high) = (rates[above - 1], rates[above]);
            (above - 1) as f64 + (measured - low) / (high - low)
        }
    }
}

impl Ftl {
    /// Measures every block that holds data, before the run and at no cost.
    pub(crate) fn measure_all(&mut self, flash: &mut Flash) {
        for block in (0..self.layout.geometry.blocks()).map(BlockId) {
            if let Some(page) = self.space.blocks.next_valid(block, 0) {
                self.measured_page(flash, page);
            }
        }
    }

    /// A die has been idle for long enough: its next block is measured, if that is due. Returns whether it is
    /// read now.
    pub(crate) fn measure(&mut self, flash: &mut Flash, die: DieId) -> bool {
        let now = flash.now();
        let Some(measurer) = self.measurer.as_mut().filter(|its| its.due[die] <= now) else {
            return false;
        };
        measurer.due[die] = now + measurer.every;
        let blocks = self.layout.geometry.blocks() / self.layout.geometry.dies();
        for _ in 0..blocks {
            let block = BlockId(die.0 * blocks + measurer.next[die]);
            measurer.next[die] = (measurer.next[die] + 1) % blocks;
            if let Some(page) = self.space.blocks.next_valid(block, 0) {
                let class = Class::BackgroundRead;
                let (id, read) = flash.open(Op::Read, Source::Wear, class, Owner::Measure, die);
                read.ppn = page;
                flash.submit(id);
                return true;
            }
        }
        false
    }

    /// A page that was read for the sake of its errors has come.
    pub(crate) fn measured(&mut self, flash: &mut Flash, id: TxnId) {
        let page = flash.txns.get(id).ppn;
        flash.txns.close(id);
        self.measured_page(flash, page);
    }

    fn measured_page(&mut self, flash: &mut Flash, page: Ppn) {
        let now = flash.now();
        let block = self.locator.block_of(page);
        let (Some(measurer), Some(condition)) = (&mut self.measurer, flash.condition_mut()) else {
            unreachable!("only a drive whose cells err is measured")
        };
        measurer.read(condition, page, block, now);
        let class = measurer.class(block);
        let growth = condition.cells_mut().growth[usize::from(class)];
        condition.believe(block, growth);
        self.space.frontiers.measured(block, class);
    }
}
