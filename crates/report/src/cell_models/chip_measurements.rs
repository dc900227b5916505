//! Published measurements of flash cells, beside which the models of word lines are drawn.
//!
//! None of these papers could be read itself. Each number stands in a text that quotes the paper:
//! the comment of each item names both. No constant of the models was fitted to any of them.

use fowler_physics::multibit::{GrayCode, between, tails};
use fowler_physics::vth::State;

/// The states of a chip with three bits per cell, by the age of the data.
///
/// Cai, Ghose, Haratsch, Luo, Mutlu: Error Characterization, Mitigation, and Recovery in
/// Flash-Memory-Based Solid-State Drives, Proc. IEEE 105(9), 2017 (arXiv 1706.08642), appendix,
/// Table 5, in units of 1/512 of the maximum voltage. Quoted in full by two scripts of a public
/// repository (`c86_nand_arm.py` and a check of it); the check read the table again and corrected
/// two standard deviations. 2,000 P/E cycles: the row of a day is that of 2,000 cycles in Table 4.
/// The paper states no temperature, and the quotation not the generation of the chip.
pub(super) struct Aged {
    /// Name of the data's retention age, such as `1 week`.
    pub(super) name: &'static str,
    /// Retention age, in days.
    pub(super) days: f64,
    /// Mean threshold voltages of the chip's eight states, the erased state first, in 1/512 of the
    /// maximum voltage.
    means: [f64; 8],
    /// Standard deviations of the threshold voltages, the erased state first.
    sds: [f64; 8],
}

/// P/E cycles of the chip of [`CAI_2017`].
pub(super) const CAI_CYCLES: f64 = 2000.0;

/// The threshold-voltage states of a chip with three bits per cell at five retention ages of the
/// data, as measured by Cai et al., 2017: mean and standard deviation of each state.
pub(super) const CAI_2017: [Aged; 5] = [
    Aged {
        name: "1 day",
        days: 1.0,
        means: [-92.7, 66.6, 128.1, 191.9, 254.9, 318.3, 384.3, 448.1],
        sds: [48.2, 9.7, 9.7, 9.4, 9.3, 9.1, 9.5, 9.1],
    },
    Aged {
        name: "1 week",
        days: 7.0,
        means: [-86.7, 67.5, 128.1, 191.4, 253.8, 316.5, 381.8, 444.9],
        sds: [46.4, 10.7, 10.8, 10.5, 10.6, 10.3, 10.6, 10.6],
    },
    Aged {
        name: "1 month",
        days: 30.0,
        means: [-84.4, 68.6, 128.7, 191.6, 253.5, 315.8, 380.9, 443.6],
        sds: [46.8, 11.3, 11.2, 11.0, 10.9, 10.8, 11.2, 11.1],
    },
    Aged {
        name: "3 months",
        days: 91.0,
        means: [-75.6, 72.8, 131.6, 193.3, 254.3, 315.7, 380.2, 442.2],
        sds: [45.9, 12.0, 11.8, 11.5, 11.4, 11.4, 11.7, 11.7],
    },
    Aged {
        name: "1 year",
        days: 365.0,
        means: [-69.4, 76.6, 134.2, 195.2, 255.3, 316.0, 379.6, 440.8],
        sds: [45.9, 12.8, 12.4, 12.0, 12.0, 11.9, 12.3, 12.4],
    },
];

/// Threshold voltages of eight states. The unit is the mean distance of two neighboring programmed
/// states in day-old data.
pub(super) type States = [State; 8];

impl Aged {
    /// Returns the threshold voltages of the states, above the lowest programmed state of day-old
    /// data, in units of the mean distance of two neighboring programmed states in that data.
    pub(super) fn states(&self) -> States {
        let [_, lowest, .., highest] = CAI_2017[0].means;
        let gap = (highest - lowest) / 6.0;
        std::array::from_fn(|state| State {
            mean: (self.means[state] - lowest) / gap,
            sd: self.sds[state] / gap,
        })
    }
}

/// Returns the mean standard deviation of the programmed states.
pub(super) fn programmed_sd(states: &States) -> f64 {
    states[1..].iter().map(|state| state.sd).sum::<f64>() / 7.0
}

/// Returns the RBER of lower, middle and upper pages of cells with the Gaussian `states` under the
/// balanced Gray code, read at references that would be best if the states were `read_as`.
pub(super) fn gaussian_rber(states: &States, read_as: &States) -> [f64; 3] {
    let mut rates = [0.0; 3];
    for at in 0..7 {
        let reference = between(read_as[at], read_as[at + 1]);
        rates[GrayCode::Balanced.page(3, at)] += tails(states[at], states[at + 1], reference) / 8.0;
    }
    rates
}

/// Mean number of read retries of three-bit 3D cells, as other texts quote a paper by Park et al.
///
/// Park, Kim, Chun, Orosa, Kim, Mutlu: Reducing Solid-State Drive Read Latency by Optimizing
/// Read-Retry, ASPLOS 2021 (arXiv 2104.09611), 160 chips.
///
/// The quotes are from a model in a public repository ("HBF conditional reliability cost proxy").
/// The description of the model has the mean at a year, and attributes the bounds at 90 days to the
/// paper; the tests of the model have these bounds. Neither has the voltage of an entry of the
/// chips' retry table.
pub(super) struct Retries {
    /// P/E cycles of the blocks that Park et al. (ASPLOS 2021) read to count read retries.
    pub(super) cycles: f64,
    /// Retention age at 30 degrees Celsius, in days.
    pub(super) days: f64,
    /// Mean number of read retries per page read that Park et al. (ASPLOS 2021) measured on 160
    /// chips, as quoted.
    pub(super) mean: f64,
    /// True if `mean` is a lower bound of the mean number of retries, as the text that quotes the
    /// paper has it; false if it is the mean.
    pub(super) at_least: bool,
}

/// Mean read retries of 3D cells with three bits by Park et al., ASPLOS 2021, as far as other texts
/// quote them (see [`Retries`]).
pub(super) const PARK_2021: [Retries; 3] = [
    Retries { cycles: 0.0, days: 90.0, mean: 3.0, at_least: true },
    Retries { cycles: 1000.0, days: 90.0, mean: 8.0, at_least: true },
    Retries { cycles: 2000.0, days: 365.0, mean: 19.9, at_least: false },
];

/// RBER that the error correction code of Park et al., ASPLOS 2021, corrects: 72 bits per KiB.
/// Quoted where the retries of [`PARK_2021`] are.
pub(super) const PARK_CORRECTABLE: f64 = 72.0 / 8192.0;

/// Growth of the RBER of 3D cells with two bits after 10,000 P/E cycles: from 7 minutes to 3 hours,
/// and from 3 hours to 11 days.
///
/// Luo, Ghose, Cai, Haratsch, Mutlu: Improving 3D NAND Flash Memory Lifetime by Tolerating Early
/// Retention Loss and Process Variation, SIGMETRICS 2018 (arXiv 1807.05140), section 4.3, at 20
/// degrees Celsius: "an order of magnitude in ~3 h and another by ~11 days", as two notes of public
/// repositories quote it. Which references were used is not quoted.
pub(super) const LUO_2018: [(f64, f64, f64); 2] =
    [(7.0 / 1440.0, 3.0 / 24.0, 10.0), (3.0 / 24.0, 11.0, 10.0)];

/// P/E cycles of the 3D cells with two bits that Luo et al., SIGMETRICS 2018, measured
/// ([`LUO_2018`]).
pub(super) const LUO_CYCLES: f64 = 10_000.0;

#[cfg(test)]
mod tests {
    use super::*;

    /// States lie a distance apart on average. The rates were computed in another language, from
    /// the table as it is printed.
    #[test]
    fn the_chip_is_in_units_of_a_distance() {
        let states = CAI_2017[0].states();
        assert!(states[1].mean == 0.0 && (states[7].mean - 6.0).abs() < 1e-12);
        assert!((programmed_sd(&states) - 0.148).abs() < 1e-3);
        let rates = gaussian_rber(&states, &states);
        for (rate, expected) in rates.iter().zip([1.800_224e-4, 3.332_381e-4, 8.132_116e-4]) {
            assert!((rate / expected - 1.0).abs() < 1e-6, "{rates:?}");
        }
        // On average, data a year old is read better at references of its own.
        let old = CAI_2017[4].states();
        let mean = |read_as| gaussian_rber(&old, read_as).iter().sum::<f64>() / 3.0;
        let (stale, own) = (mean(&states), mean(&old));
        assert!(1.2 * own < stale, "{stale} {own}");
        assert!(CAI_2017.is_sorted_by(|one, next| one.days < next.days));
    }
}
