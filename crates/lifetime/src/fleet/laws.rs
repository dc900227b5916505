//! The life of a drive as a function of its load and its cells, and how these are drawn.
//!
//! **Wear.** The simulated life gives the cycles per second under the load of the workload. A drive
//! with `f` times the load has `f` times as many, and its blocks rest `1 / f` as long between two,
//! which is what they recover by (`wear`).
//!
//! **Cells.** Blocks differ in the growth rate of their bit errors ([`Strengths`]), and a block
//! with half the rate endures twice the cycles: the error rate depends on the product of both
//! (`fowler_physics::rber`). `lifetime.cycles` is what the weakest block endures, as in presets.
//! A drive ends when more than a share of its blocks is worn out; only the block that is one too
//! many matters, and the quantile at which it lies follows a beta distribution (order statistics of
//! uniform draws), so that a drive takes one draw and not one for each of its blocks.
//!
//! **Bad blocks** fail for good before they are worn out, and take spare capacity with them
//! (`failures`).
//!
//! **Early failures** follow a Weibull law in time, as in [`FailureLaw`] with seconds for cycles.

use super::drive::Drive;
use super::failures::{Ending, Failures};
use super::spec::FleetSpec;
use super::wear::Wear;
use crate::Lifetime;
use fowler_experiment::diagnostic::{Diagnostic, Diagnostics};
use fowler_experiment::life_estimate::YEAR_S;
use fowler_physics::bad_blocks::FailureLaw;
use fowler_physics::strength::Strengths;
use fowler_units::Rng;

/// The probability distributions from which the drives of a fleet are drawn.
pub(super) struct Laws {
    seed: u64,
    load_spread: f64,
    early: FailureLaw,
    strengths: Strengths,
    /// Number of blocks in a drive of the fleet.
    blocks: f64,
    /// Rank, counted from 1 for the weakest block, of the block with whose wear-out a drive of the
    /// fleet has too many worn-out blocks and ends.
    ends_with: f64,
    wear: Wear,
    /// Blocks that fail before they are worn out; `None` if none does.
    failures: Option<Failures>,
}

impl Laws {
    pub fn of(life: &Lifetime, spec: &FleetSpec) -> Result<Laws, Diagnostics> {
        let config = &life.drive.config;
        let Some(wear) = Wear::of(life) else {
            let what = "no page was programmed in the life on which the fleet is based";
            return Err(Diagnostic::new("--drives", what).into());
        };
        let strengths = Strengths::new(&config.reliability.cells);
        if strengths.ends().0 <= 0.0 {
            let what =
                "lets the growth rate of bit errors fall to zero: such blocks never wear out";
            return Err(Diagnostic::new("reliability.cells.growth_bound", what).into());
        }
        let blocks = f64::from(config.geometry.blocks());
        Ok(Laws {
            seed: config.seed,
            load_spread: spec.load_spread,
            early: FailureLaw { share: spec.early_share, cycles: YEAR_S, shape: spec.early_shape },
            strengths,
            blocks,
            ends_with: libm::floor(spec.worn_blocks * blocks) + 1.0,
            wear,
            failures: Failures::of(life),
        })
    }

    /// Returns the random stream of a slot of the fleet (a drive and its replacements), independent
    /// of the number of slots.
    pub fn stream(&self, place: u32) -> Rng {
        Rng::stream(self.seed, &format!("fleet/{place}"))
    }

    /// Returns the random stream for the block failures of all drives in a slot of the fleet (a
    /// drive and its replacements). It is separate from the slot's other stream, so that bad blocks
    /// do not change the drives' loads, cells and early failures.
    pub fn stream_of_blocks(&self, place: u32) -> Rng {
        Rng::stream(self.seed, &format!("fleet/{place}/bad_blocks"))
    }

    pub fn load(&self, rng: &mut Rng) -> f64 {
        libm::exp(self.load_spread * rng.normal())
    }

    /// Draws a drive of the fleet that has this load, relative to the workload's.
    pub fn drive(&self, load: f64, rng: &mut Rng, of_blocks: &mut Rng) -> Drive {
        let early_years = self.early.fails_after(0.0, rng.unit()) / YEAR_S;
        let strength = self.strength(rng);
        let Ending { worn_s, spare_s, lost } = match &self.failures {
            Some(failures) => failures.ending(&self.wear, (load, strength), of_blocks),
            None => {
                let worn_s = self.wear.seconds(load, strength);
                Ending { worn_s, spare_s: f64::INFINITY, lost: 0.0 }
            }
        };
        let (worn_years, spare_years) = (worn_s / YEAR_S, spare_s / YEAR_S);
        Drive { load, strength, early_years, worn_years, spare_years, spare_lost: lost }
    }

    /// Draws the endurance of the block whose failure ends a drive, relative to the rated
    /// endurance.
    pub fn strength(&self, rng: &mut Rng) -> f64 {
        let weaker = gamma(self.ends_with, rng);
        let stronger = gamma(self.blocks + 1.0 - self.ends_with, rng);
        let growth = self.strengths.strength_at(stronger / (weaker + stronger));
        self.strengths.ends().1 / growth
    }
}

/// Draws from the gamma distribution of a shape of at least 1 (Marsaglia and Tsang, ACM TOMS 26(3),
/// 2000).
fn gamma(shape: f64, rng: &mut Rng) -> f64 {
    let d = shape - 1.0 / 3.0;
    let c = 1.0 / libm::sqrt(9.0 * d);
    loop {
        let x = rng.normal();
        let root = 1.0 + c * x;
        if root <= 0.0 {
            continue;
        }
        let v = root * root * root;
        let accepted = 0.5 * x * x + d - d * v + d * libm::log(v);
        if libm::log(1.0 - rng.unit()) < accepted {
            return d * v;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fowler_physics::parameters::Parameters;
    use fowler_physics::recovery::{Endurance, Reading};

    /// The drawn block must have the distribution of ranks among blocks drawn one by one.
    // Slow: over two million blocks are drawn, and sorted by drive.
    #[test]
    fn the_block_that_ends_a_drive_is_that_of_its_blocks() {
        let strengths = Strengths::new(&Parameters::default());
        for (blocks, ends_with, drives) in [(200, 1, 4000), (200, 5, 4000), (500, 40, 1500)] {
            let laws = Laws {
                seed: 1,
                load_spread: 0.0,
                early: FailureLaw { share: 0.0, cycles: 1.0, shape: 1.0 },
                strengths,
                blocks: f64::from(blocks),
                ends_with: f64::from(ends_with),
                wear: Wear::new(
                    &Endurance::Model { reading: Reading::Literal, acceleration: 1.0 },
                    3000.0,
                    (1.0, 1.0),
                ),
                failures: None,
            };
            let mut rng = Rng::stream(7, "test");
            let mut one_by_one = || {
                let mut all: Vec<f64> =
                    (0..blocks).map(|_| strengths.strength_at(rng.unit())).collect();
                all.sort_unstable_by(|one, other| other.total_cmp(one));
                strengths.ends().1 / all[ends_with as usize - 1]
            };
            let direct: Vec<f64> = (0..drives).map(|_| one_by_one()).collect();
            let mut rng = Rng::stream(8, "test");
            let drawn: Vec<f64> = (0..drives).map(|_| laws.strength(&mut rng)).collect();
            let mean = |all: &[f64]| all.iter().sum::<f64>() / all.len() as f64;
            let deviation = |all: &[f64]| {
                let mean = mean(all);
                libm::sqrt(all.iter().map(|it| (it - mean).powi(2)).sum::<f64>() / all.len() as f64)
            };
            let error = deviation(&direct) * libm::sqrt(2.0 / f64::from(drives));
            let off = (mean(&direct) - mean(&drawn)).abs() / error;
            assert!(off < 4.0, "{blocks} {ends_with}: {off} standard errors");
            let spread = deviation(&drawn) / deviation(&direct);
            assert!((0.9..1.1).contains(&spread), "{blocks} {ends_with}: {spread}");
            assert!(drawn.iter().all(|&it| it >= 1.0));
        }
    }
}
