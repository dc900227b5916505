//! The interval of a prediction: how far the simulated number may be off because the fitted
//! parameters are known only so well, and because the simulation is a sample.

use super::Metric;
use crate::protocol::Estimate;

/// Point of the standard normal distribution that has 95 % below it, for intervals of 90 %.
const Z_90: f64 = 1.644_854;
/// Half width of a 95 % interval, in standard deviations.
const Z_95: f64 = 1.96;

/// Returns the 90 % interval of a predicted number, symmetric in the logarithm, from the sampling
/// error of the simulation and from `drawn`, the number simulated on drives whose parameters are
/// drawn within the uncertainty of the fit. `None` if either is missing.
pub(super) fn interval(simulated: Estimate, drawn: &[Option<f64>]) -> Option<(f64, f64)> {
    let sampling = simulated.relative()? / Z_95;
    let square = |it: &Option<f64>| {
        let log = libm::log((*it)? / simulated.value);
        log.is_finite().then_some(log * log)
    };
    let squares: Vec<f64> = drawn.iter().map(square).collect::<Option<_>>()?;
    if squares.is_empty() {
        return None;
    }
    let of_fit = squares.iter().sum::<f64>() / squares.len() as f64;
    let half = student_90(squares.len()) * libm::sqrt(of_fit + sampling * sampling);
    Some((simulated.value * libm::exp(-half), simulated.value * libm::exp(half)))
}

/// Returns the 95 % quantile of Student's t by the expansion of Abramowitz and Stegun, 26.7.5, to
/// second order: 0.4 % too low at most with 10 degrees of freedom or more.
fn student_90(freedom: usize) -> f64 {
    let (freedom, x, square) = (freedom as f64, Z_90, Z_90 * Z_90);
    let first = x * (square + 1.0) / 4.0;
    let second = x * ((5.0 * square + 16.0) * square + 3.0) / 96.0;
    x + (first + second / freedom) / freedom
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
        let ten: Vec<Option<f64>> = [up, down].repeat(5).into_iter().map(Some).collect();
        let (low, high) = interval(simulated, &ten).expect("ten drives");
        // Student's t with ten degrees of freedom has 95 % below 1.812.
        assert!((libm::log(high / 100.0) / 0.05 - 1.812).abs() < 0.01, "{high}");
        assert!((low * high - 1e4).abs() < 1e-6, "{low} {high}");
        let quantiles = [student_90(20) - 1.725, student_90(1_000) - 1.646];
        assert!(quantiles.iter().all(|it| it.abs() < 0.002), "{quantiles:?}");
        assert_eq!(interval(simulated, &[]), None);
        for lacking in [None, Some(0.0)] {
            assert_eq!(interval(simulated, &[&ten[..], &[lacking]].concat()), None);
        }
        assert_eq!(interval(Estimate::bare(100.0), &ten), None, "nothing is known of sampling");
    }
}
