//! The uncorrectable bit error rate (UBER) of a drive's cells, in closed form.
//!
//! The code of a simulated drive corrects every page up to a raw bit error rate and none beyond, so
//! a rate follows from the share of blocks that are beyond it: a page that cannot be read is one
//! error in the bits of a page. On a drive whose data ages (`aging`) it follows from the types of
//! pages that no entry of the retry table reads.

use fowler_device::reliability::ModelKind;
use fowler_device::{AgedReads, Config};
use fowler_physics::strength::Strengths;
use fowler_physics::vth::Setting;
use fowler_units::Span;

/// The uncorrectable bit error rates that JESD218 allows, for clients and for enterprises.
pub const ALLOWED: [f64; 2] = [1e-15, 1e-16];
/// Ages of the data for which an uncorrectable bit error rate is computed: fresh, three months and
/// a year without power. JESD218 asks for the second of enterprise drives and for the third of
/// client drives.
pub const AGES: [(&str, Span); 3] = [
    ("fresh data", Span::ZERO),
    ("after 3 months", Span(91 * 86_400_000_000_000)),
    ("after 1 year", Span(365 * 86_400_000_000_000)),
];
/// Number of quantiles of block strength over which the error rate is averaged.
const QUANTILES: u32 = 10_000;

/// The uncorrectable bit error rate of data of a certain age.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Uber {
    /// Name of the age of the data, such as `after 1 year`.
    pub age: &'static str,
    /// Raw bit error rate of an average block, from 0 to 1.
    pub rber: f64,
    /// Share of blocks whose pages cannot be read; on a drive with a retry table, share of page
    /// types.
    pub unreadable: f64,
    /// Uncorrectable bit errors per bit read.
    pub rate: f64,
}

/// Returns the uncorrectable bit error rates after `cycles` P/E cycles; empty if the drive has no
/// model of bit errors that knows age and wear. On a drive with a retry table, all pages of a type
/// are read at the same entries of it.
pub fn rates(config: &Config, cycles: f64) -> Vec<Uber> {
    if config.aging.is_on() {
        return rates_by_retry_table(config, cycles);
    }
    let reliability = &config.reliability;
    if matches!(reliability.model, ModelKind::Off | ModelKind::ByVoltage) {
        return Vec::new();
    }
    // A drive was made of it, so there is one.
    let Ok(model) = config.cell_model() else { return Vec::new() };
    let cells = &reliability.cells;
    let (strengths, correctable) = (Strengths::new(cells), reliability.ldpc().correctable());
    let setting = Setting { scale: 1.0, step: model.parameters().step };
    let rber = |growth: f64, age: Span| {
        model.block(cells.equivalent(growth, cycles)).rber(age, 0, setting)
    };
    let bits = config.geometry.page_size.0 as f64 * 8.0;
    let at = |(name, age): (&'static str, Span)| {
        let quantile = |place: u32| (f64::from(place) + 0.5) / f64::from(QUANTILES);
        let fails = |place: &u32| rber(strengths.strength_at(quantile(*place)), age) > correctable;
        // Weaker blocks have more errors, so the first that fails is found by halving.
        let places: Vec<u32> = (0..QUANTILES).collect();
        let first = places.partition_point(|place| !fails(place));
        let unreadable = (QUANTILES as usize - first) as f64 / f64::from(QUANTILES);
        let rate = unreadable / bits + reliability.uber;
        Uber { age: name, rber: rber(strengths.mean, age), unreadable, rate }
    };
    AGES.into_iter().map(at).collect()
}

fn rates_by_retry_table(config: &Config, cycles: f64) -> Vec<Uber> {
    let bits = config.geometry.page_size.0 as f64 * 8.0;
    let at = |(name, age): (&'static str, Span)| {
        let AgedReads { rber, unreadable } = config.aged_reads(cycles, age)?;
        let rate = unreadable / bits + config.reliability.uber;
        Some(Uber { age: name, rber, unreadable, rate })
    };
    AGES.into_iter().filter_map(at).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fowler_experiment::device_spec::{DeviceSpec, resolve};
    use fowler_experiment::scheme::Scheme;

    fn of(device: &str, cycles: f64) -> Vec<Uber> {
        let spec = DeviceSpec { device: device.into(), ..DeviceSpec::default() };
        let drive = resolve(&spec.source().unwrap(), &Scheme::none(), &spec).unwrap();
        rates(&drive.config, cycles)
    }

    #[test]
    fn rates_rise_with_wear_and_age_and_are_unknown_without_a_model() {
        assert_eq!(of("tlc", 3000.0), []);
        let (young, old, beyond) = (of("rhio", 10.0), of("rhio", 1500.0), of("rhio", 6000.0));
        assert!(young.iter().all(|it| it.rate == 0.0 && it.unreadable == 0.0), "{young:?}");
        for rates in [&young, &old, &beyond] {
            assert!(rates.windows(2).all(|two| two[0].rber < two[1].rber), "{rates:?}");
            assert!(rates.windows(2).all(|two| two[0].rate <= two[1].rate), "{rates:?}");
        }
        assert!(old[0].rber > young[0].rber && beyond[2].unreadable > 0.5, "{beyond:?}");
        let bits = 8.0 * 8192.0;
        assert!((beyond[2].rate - beyond[2].unreadable / bits).abs() < 1e-18);
    }

    /// Cells with three bits that err by sensing level: the blocks that no level reads are those
    /// with more errors than the code corrects at its strongest one.
    #[test]
    fn word_lines_by_level_have_rates() {
        let set = ["reliability.model=analytic", "reliability.references=fixed"];
        let set = set.map(String::from).to_vec();
        let spec = DeviceSpec { device: "nvme-pm9a3".into(), set, ..DeviceSpec::default() };
        let drive = resolve(&spec.source().unwrap(), &Scheme::none(), &spec).unwrap();
        let (reliability, model) = (&drive.config.reliability, drive.config.cell_model().unwrap());
        let (strengths, cycles) = (Strengths::new(&reliability.cells), 2000.0);
        let setting = Setting { scale: 1.0, step: model.parameters().step };
        let found = rates(&drive.config, cycles);
        assert_eq!(found.len(), AGES.len());
        for (uber, (name, age)) in found.iter().zip(AGES) {
            assert_eq!(uber.age, name);
            // The strength that is just read, by halving the share of blocks below it.
            let (mut read, mut lost) = (0.0, 1.0);
            for _ in 0..40 {
                let middle: f64 = (read + lost) / 2.0;
                let growth = strengths.strength_at(middle);
                let block = model.block(reliability.cells.equivalent(growth, cycles));
                let fails = block.rber(age, 0, setting) > reliability.ldpc().correctable();
                if fails { lost = middle } else { read = middle }
            }
            // Shares are counted in ten thousandths.
            assert!((uber.unreadable - (1.0 - lost)).abs() < 2e-4, "{uber:?}, {lost}");
        }
        assert!(found[0].unreadable == 0.0 && found[2].unreadable > 0.0, "{found:?}");
    }
}
