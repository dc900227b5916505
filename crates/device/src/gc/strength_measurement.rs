//! The measurement of block strengths: in idle time the controller reads a page of each block in
//! turn and counts the bits that its code corrects (RHIO, section II-B). The reads occupy dies and
//! channels, and are charged to wear leveling.
//!
//! 1. A die that is idle when its next measurement is due reads the first valid page of its next
//!    block that has one ([`Gc::measure`]).
//! 2. The number of wrong bits is drawn from the error rate of the page, given the true strength of
//!    its block.
//! 3. The likelihood of each strength class, given all counts of the block so far, decides the
//!    class that the controller believes: the strongest of which the block is weaker with at most
//!    the accepted probability ([`StrengthMeasurement::class`]).
//! 4. The allocator opens blocks, and chooses steps, by the believed classes.
//!
//! A drive can also have measured all blocks before the run, in no time ([`Gc::measure_all`]).

use super::Gc;
use crate::cells::condition::Condition;
use crate::cells::reliability::StrengthClass;
use crate::cells::reliability::{CLASSES, Params};
use crate::core::Core;
use crate::flash::Flash;
use crate::flash::queue::TxnClass;
use crate::flash::txn::Owner;
use crate::observe::operation::{Op, Source};
use fowler_physics::rates::AgeColumn;
use fowler_units::{BlockId, Bytes, DieId, Geometry, IdVec, Nanos, Ppn, Rng, Span, TxnId, UnitId};

/// Log-likelihood of each strength class for a block, with the maximum at zero. Before any
/// measurement all classes are equally likely.
type Likelihoods = [f32; CLASSES];

/// State of the measurement of block strengths on all dies.
#[derive(Clone, Debug)]
pub struct StrengthMeasurement {
    rng: Rng,
    /// Number of bits in a page.
    bits: f64,
    /// Time between two strength measurements on a die.
    every: Span,
    /// The accepted probability that a block is weaker than the class assigned to it.
    risk: f32,
    /// Time of the next strength measurement of each die.
    due: IdVec<DieId, Nanos>,
    /// For each die, the number (counted from 0 on the die) of the block whose strength is measured
    /// next.
    next: IdVec<DieId, u32>,
    likelihoods: IdVec<BlockId, Likelihoods>,
}

impl StrengthMeasurement {
    /// Creates the state of block strength measurements before the first one: nothing is known of
    /// how slowly the bit errors of each block grow with wear.
    pub fn new(params: &Params, geometry: &Geometry, seed: u64) -> Self {
        let (dies, blocks) = (geometry.dies() as usize, geometry.blocks() as usize);
        let every = Span(params.measure_every.0 / (blocks / dies) as u64);
        Self {
            rng: Rng::stream(seed, "reliability/measure"),
            bits: geometry.page_size.0 as f64 * 8.0,
            every,
            risk: params.risk as f32,
            // Staggered, so that the dies do not all measure at once.
            due: (0..dies as u64).map(|die| Nanos(every.0 / dies as u64 * die)).collect(),
            next: IdVec::filled(0, dies),
            likelihoods: IdVec::filled([0.0; CLASSES], blocks),
        }
    }

    /// Returns the memory that the records of the strength measurements take on the simulating
    /// machine.
    pub fn bytes(geometry: &Geometry) -> Bytes {
        Bytes::of::<Nanos>(geometry.dies().into())
            + Bytes::of::<u32>(geometry.dies().into())
            + Bytes::of::<Likelihoods>(geometry.blocks().into())
    }

    /// Returns the time at which a die next measures the strength of a block.
    pub fn due(&self, die: DieId) -> Nanos {
        self.due[die]
    }

    /// Returns the strength class assigned to a block; the weakest if nothing is known. See
    /// docs/decisions/cells.md, "What does a controller believe of a measured block?".
    pub fn class(&self, block: BlockId) -> StrengthClass {
        let weights = self.likelihoods[block].map(libm::expf);
        let allowed = self.risk * weights.iter().sum::<f32>();
        let mut weaker = 0.0;
        for class in (1..CLASSES).rev() {
            weaker += weights[class];
            if weaker > allowed {
                return class as StrengthClass;
            }
        }
        0
    }

    /// Updates the likelihood of each strength class of `block` after a page of it was read to
    /// count bit errors.
    pub fn read(&mut self, condition: &mut Condition, page: Ppn, block: BlockId, now: Nanos) {
        let block_condition = *condition.block(block);
        let age = AgeColumn::of(condition.age(page, now));
        let cells = condition.cells_mut();
        let cycles = block_condition.wear.cycles();
        let growths = cells.growth;
        let mut rate = |growth: f64| {
            cells.rber(growth * cycles, age, block_condition.reads, block_condition.mode)
        };
        let errors = self.errors(rate(f64::from(block_condition.growth)));
        let rates = growths.map(rate);
        let likelihoods = &mut self.likelihoods[block];
        for (likelihood, rate) in likelihoods.iter_mut().zip(rates) {
            // Poisson approximation: of tens of thousands of bits, hardly one in a hundred is
            // wrong.
            *likelihood += (errors * libm::log(rate) - self.bits * rate) as f32;
        }
        let likeliest = likelihoods.iter().copied().fold(f32::MIN, f32::max);
        likelihoods.iter_mut().for_each(|likelihood| *likelihood -= likeliest);
    }

    /// Draws the number of wrong bits of a page with the bit error rate `rate`: binomial, by its
    /// normal approximation.
    fn errors(&mut self, rate: f64) -> f64 {
        // The Box-Muller transform; the smallest argument of the logarithm is 2^-53.
        let radius = libm::sqrt(-2.0 * libm::log(1.0 - self.rng.unit()));
        let normal = radius * libm::cos(std::f64::consts::TAU * self.rng.unit());
        let mean = self.bits * rate;
        (mean + normal * (mean * (1.0 - rate)).sqrt()).round().max(0.0)
    }
}

impl Gc {
    /// Measures the strength of every block that holds data, before the run and in no simulated
    /// time. Stops early when `go_on` returns false.
    pub fn measure_all(&mut self, core: &mut Core, flash: &mut Flash, go_on: impl Fn() -> bool) {
        for block in (0..core.layout.geometry.blocks()).map(BlockId).take_while(|_| go_on()) {
            if let Some(place) = core.allocator.blocks.next_valid(block, 0) {
                let unit = core.locator.unit(block, place);
                self.measured_page(core, flash, unit);
            }
        }
    }

    /// Measures the strength of the next block of a die that has been idle for long enough, by a
    /// read that counts bit errors, if one is due. Returns true if a read was started. See
    /// docs/decisions/gc.md, "What are strength measurements charged to?".
    pub fn measure(&mut self, core: &mut Core, flash: &mut Flash, die: DieId) -> bool {
        let now = flash.now();
        let Some(measurer) = self.strengths.as_mut().filter(|measurer| measurer.due[die] <= now)
        else {
            return false;
        };
        measurer.due[die] = now + measurer.every;
        let blocks = core.layout.geometry.blocks() / core.layout.geometry.dies();
        for _ in 0..blocks {
            let block = BlockId(die.0 * blocks + measurer.next[die]);
            measurer.next[die] = (measurer.next[die] + 1) % blocks;
            if let Some(place) = core.allocator.blocks.next_valid(block, 0) {
                let unit = core.locator.unit(block, place);
                let class = TxnClass::BackgroundRead;
                let (id, read) = flash.open(Op::Read, Source::Wear, class, Owner::Measure, die);
                read.unit = unit;
                flash.submit(id);
                return true;
            }
        }
        // No data on the die: try again a whole round later.
        measurer.due[die] = now + measurer.every * u64::from(blocks);
        false
    }

    /// Handles the end of a read that measures the strength of a block.
    pub fn measured(&mut self, core: &mut Core, flash: &mut Flash, id: TxnId) {
        let unit = flash.txns.get(id).unit;
        flash.txns.close(id);
        self.measured_page(core, flash, unit);
    }

    pub(super) fn measured_page(&mut self, core: &mut Core, flash: &mut Flash, unit: UnitId) {
        let now = flash.now();
        let (page, block) = (core.locator.page_of(unit), core.locator.block_of(unit));
        let (Some(measurer), Some(condition)) = (&mut self.strengths, flash.condition_mut()) else {
            unreachable!("only a drive with bit errors is measured")
        };
        measurer.read(condition, page, block, now);
        let class = measurer.class(block);
        let growth = condition.cells_mut().growth[usize::from(class)];
        condition.believe(block, growth);
        core.allocator.open_blocks.measured(block, class);
    }
}
