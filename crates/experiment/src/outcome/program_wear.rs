//! The wear of programs by their threshold voltages (HIRE, section 3).

use super::Outcome;
use fowler_device::reliability::ModelKind;
use fowler_physics::voltage::ByVoltage;

/// Returns the total wear of page programs, given as their number at each threshold voltage, in
/// units of the wear of one nominal program. The wear of a program is proportional to its threshold
/// voltages (section 2.1 of HIRE, a paper on program voltages by data hotness).
pub fn worn(programs_at: ByVoltage<u64>) -> f64 {
    programs_at.iter().map(|(voltage, &programs)| programs as f64 * voltage.scale()).sum()
}

impl Outcome {
    /// Returns the number of page programs of the run, of host, GC and all other sources, at each
    /// threshold voltage (low, nominal, high). `None` on a drive without a model of bit errors.
    pub fn programs_at(&self) -> Option<ByVoltage<u64>> {
        let modeled = self.drive.config.reliability.model != ModelKind::Off;
        let by_source = self.counters.programs_at;
        let sum = |voltage| by_source.values().map(|programs| programs[voltage]).sum();
        modeled.then(|| ByVoltage::from_fn(sum))
    }

    /// Returns the mean wear of a page program, relative to that at nominal voltages: 0.8 to 1.2
    /// (the wearing weight of HIRE, which chooses voltages by access). `None` without programs or
    /// without a model of errors. For the number of programs, see [`fowler_device::Counters::waf`].
    pub fn wearing_weight(&self) -> Option<f64> {
        let programs_at = self.programs_at()?;
        let count: u64 = programs_at.sum();
        (count > 0).then(|| worn(programs_at) / count as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_wear_by_their_voltages() {
        assert!((worn([10, 0, 0].into()) - 12.0).abs() < 1e-12);
        assert!((worn([1, 2, 1].into()) - 4.0).abs() < 1e-12);
        assert!((worn([0, 0, 10].into()) - 8.0).abs() < 1e-12);
    }
}
