//! The wear of a drive's cells at any load, from the drive's simulated life.
//!
//! The endurance of rested cells requires a search. A fleet needs it millions of times, so it is
//! looked up in a practically exact table: see [`POINTS`].

use crate::Lifetime;
use fowler_physics::recovery::{Endurance, Reading};
use fowler_units::Span;

/// Number of points in the table of endurance by idle time, evenly spaced in the logarithm of the
/// idle time. Between them it is linear in both logarithms; the error of a life is below 0.1 %, and
/// below 2 % where rest heals nearly all damage (tested below).
const POINTS: usize = 2048;
/// Shortest and longest idle time in the table of endurance, in seconds. Cells do not recover
/// within a second at room temperature, under any interpretation of the model; the longest is over
/// a century.
const IDLE_S: [f64; 2] = [1.0, 4e9];

/// Returns the shortest and the longest idle time for which the endurance of cells is tabulated, in
/// seconds: warm cells recover within a second.
fn idle_s(endurance: &Endurance) -> [f64; 2] {
    match endurance {
        Endurance::Model { acceleration, .. } if *acceleration > 1.0 => {
            [IDLE_S[0] / acceleration, IDLE_S[1]]
        }
        _ => IDLE_S,
    }
}

/// Wear of a drive in its simulated life, from which the wear under other loads follows.
pub(super) struct Wear {
    /// Logarithm of the P/E cycles that cells of the rated endurance endure, by idle time.
    curve: Vec<f64>,
    /// Logarithms of the shortest and the longest idle time in the curve of endurance, in seconds.
    ends: [f64; 2],
    /// True if a block's idle time between P/E cycles is multiplied by the block's endurance
    /// relative to the rated one, as the default interpretation (`Spread`) of the recovery equation
    /// in the paper on READY, a lifetime throttle, requires.
    idle_scales: bool,
    /// P/E cycles per second, on average over all blocks.
    cycles_s: f64,
    /// Mean wear per page programmed in the drive's simulated life; a program at nominal voltages
    /// counts 1.
    weight: f64,
}

impl Wear {
    /// Returns the wear of the drive in a life; `None` if nothing was programmed.
    pub fn of(life: &Lifetime) -> Option<Wear> {
        let totals = life.lived.first()?.totals;
        let config = &life.drive.config;
        let cycles = totals.programmed / life.drive.layout.pages() as f64;
        let endurance = config.life.endurance().expect("refused otherwise");
        let cycles_s = cycles / life.target().as_s();
        let weight = totals.worn / totals.programmed;
        (cycles > 0.0).then(|| Wear::new(&endurance, config.life.cycles, (cycles_s, weight)))
    }

    pub fn new(endurance: &Endurance, rated: f64, (cycles_s, weight): (f64, f64)) -> Wear {
        let [least, most] = idle_s(endurance).map(libm::log);
        let at = |number: usize| {
            let share = number as f64 / (POINTS - 1) as f64;
            let idle_s = libm::exp(least + (most - least) * share);
            libm::log(endurance.achievable(rated, Span((idle_s * 1e9) as u64)))
        };
        let idle_scales = matches!(endurance, Endurance::Model { reading: Reading::Spread, .. });
        Wear {
            curve: (0..POINTS).map(at).collect(),
            ends: [least, most],
            idle_scales,
            cycles_s,
            weight,
        }
    }

    /// Returns the P/E cycles that blocks with `strength` times the rated endurance endure if they
    /// rest for `idle_s` seconds between two.
    pub fn endured_by(&self, idle_s: f64, strength: f64) -> f64 {
        let rested = if self.idle_scales { strength * idle_s } else { idle_s };
        strength * self.endured(rested) / self.weight
    }

    /// Returns the seconds until blocks with `strength` times the rated endurance wear out under
    /// `load` times the simulated load.
    pub fn seconds(&self, load: f64, strength: f64) -> f64 {
        let rate = self.cycles_s * load;
        self.endured_by(1.0 / rate, strength) / rate
    }

    fn endured(&self, idle_s: f64) -> f64 {
        let [least, most] = self.ends;
        let place = (libm::log(idle_s) - least) / (most - least) * (POINTS - 1) as f64;
        let place = place.clamp(0.0, (POINTS - 1) as f64);
        let before = (place as usize).min(POINTS - 2);
        let [one, other] = [self.curve[before], self.curve[before + 1]];
        libm::exp(one + (other - one) * (place - before as f64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fowler_physics::recovery::RecoveryTable;
    use fowler_units::Rng;

    /// The table of endurance must be proportional to the rated endurance, as the models are.
    #[test]
    fn a_life_is_that_of_the_endurance() {
        let idle = [Span::ms(60_000), Span::ms(3_600_000), Span::ms(36_000_000)];
        let table = RecoveryTable::new(&idle, &[400.0, 500.0, 900.0]).unwrap();
        let mut all: Vec<Endurance> =
            Reading::ALL.map(|reading| Endurance::Model { reading, acceleration: 1.0 }).to_vec();
        // The hottest cells that a drive may have are 270 times as fast.
        for reading in [Reading::Refit, Reading::Spread] {
            all.extend([8.0, 270.0].map(|acceleration| Endurance::Model { reading, acceleration }));
        }
        all.push(Endurance::Table(table));
        let mut rng = Rng::stream(3, "wear");
        for endurance in &all {
            let own = Wear::new(endurance, 1500.0, (1e-5, 0.9));
            for case in 0..200 {
                let load = libm::pow(10.0, 4.0 * rng.unit() - 2.0);
                let strength = 1.0 + rng.unit();
                let rested = Span((1e9 / (1e-5 * load)) as u64);
                let endured = match endurance {
                    Endurance::Table(table) => strength * table.achievable(rested),
                    model => model.achievable(1500.0 * strength, rested),
                };
                let exact = endured / (1e-5 * load * 0.9);
                let off = own.seconds(load, strength) / exact - 1.0;
                // Endurance has a corner at the longest idle time that `Spread` accepts, and is
                // steep before it. Warm cells come there at usual loads.
                let is_warm = !matches!(endurance, Endurance::Model { acceleration: 1.0, .. });
                let is_steep = is_warm && endured > 1500.0 * strength * 40.0;
                let most = if is_steep { 2e-2 } else { 1e-3 };
                assert!(off.abs() < most, "{endurance:?}, case {case}: {load} {strength} {off}");
            }
        }
    }
}
