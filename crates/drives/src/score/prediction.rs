//! The interval of a prediction: how far the simulated number may be off because the fitted
//! parameters are known only so well, and because the simulation is a sample.

use super::Metric;
use crate::protocol::Estimate;

/// Point of the standard normal distribution that has 95 % below it, for intervals of 90 %.
const Z_90: f64 = 1.645;
/// Half width of a 95 % interval, in standard deviations.
const Z_95: f64 = 1.96;

/// Returns the 90 % interval of a predicted number, symmetric in the logarithm. Its variance is
/// that of the simulation plus that of `drawn`, the number on drives with other parameters within
/// the uncertainty of the fit; `None` if no such drive has the number.
pub(super) fn interval(simulated: Estimate, drawn: &[f64]) -> Option<(f64, f64)> {
    let logs = drawn.iter().filter(|it| **it > 0.0).map(|it| libm::log(it / simulated.value));
    let squares: Vec<f64> = logs.map(|log| log * log).filter(|it| it.is_finite()).collect();
    if squares.is_empty() {
        return None;
    }
    let of_fit = squares.iter().sum::<f64>() / squares.len() as f64;
    let sampling = simulated.relative().unwrap_or(0.0) / Z_95;
    let half = Z_90 * libm::sqrt(of_fit + sampling * sampling);
    Some((simulated.value * libm::exp(-half), simulated.value * libm::exp(half)))
}

impl Metric {
    /// Returns true if the measured number lies within the 90 % interval of the prediction; `None`
    /// if the prediction has no interval.
    pub fn is_within(&self) -> Option<bool> {
        let (low, high) = self.predicted?;
        Some((low..=high).contains(&self.measured))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_variances_add_up() {
        // One standard deviation of 3 % from the simulation, of 4 % from the fit: 5 %.
        let simulated = Estimate { value: 100.0, interval: Some((94.12, 105.88)) };
        let (up, down) = (100.0 * libm::exp(0.04), 100.0 * libm::exp(-0.04));
        let (low, high) = interval(simulated, &[up, down]).expect("two drives");
        assert!((libm::log(high / 100.0) - 1.645 * 0.05).abs() < 1e-4, "{high}");
        assert!((low * high - 1e4).abs() < 1e-6, "{low} {high}");
        assert_eq!(interval(simulated, &[]), None);
        assert_eq!(interval(simulated, &[0.0]), None);
    }
}
