//! A mean of independent replications, with its confidence interval.

/// Values of independent replications, or of batches long enough to be practically independent.
#[derive(Clone, Debug, Default)]
pub(super) struct Sample(Vec<f64>);

impl Sample {
    pub fn add(&mut self, value: f64) {
        self.0.push(value);
    }

    fn count(&self) -> f64 {
        self.0.len() as f64
    }

    pub fn mean(&self) -> f64 {
        self.0.iter().sum::<f64>() / self.count()
    }

    /// Returns half the width of the 95 % confidence interval of the mean, by Student's t. `None`
    /// for fewer than three values.
    pub fn half_width(&self) -> Option<f64> {
        let freedom = self.count() - 1.0;
        let mean = self.mean();
        let squares: f64 = self.0.iter().map(|value| (value - mean) * (value - mean)).sum();
        (freedom >= 2.0).then(|| student(freedom) * libm::sqrt(squares / freedom / self.count()))
    }
}

/// Returns the 97.5 % quantile of Student's t: the expansion of Abramowitz and Stegun, 26.7.5, to
/// third order (1 % too low at 3 degrees of freedom, 0.1 % at 6).
fn student(freedom: f64) -> f64 {
    const NORMAL: f64 = 1.959_963_984_540_054;
    let (x, square) = (NORMAL, NORMAL * NORMAL);
    let first = x * (square + 1.0) / 4.0;
    let second = x * ((5.0 * square + 16.0) * square + 3.0) / 96.0;
    let third = x * (((3.0 * square + 19.0) * square + 17.0) * square - 15.0) / 384.0;
    x + (first + (second + third / freedom) / freedom) / freedom
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_the_tables() {
        for (freedom, quantile, off) in
            [(3.0, 3.182, 0.03), (6.0, 2.447, 3e-3), (9.0, 2.262, 1e-3), (30.0, 2.042, 1e-3)]
        {
            assert!((student(freedom) - quantile).abs() < off, "{freedom}: {}", student(freedom));
        }
    }

    #[test]
    fn an_interval_is_that_of_the_book() {
        let mut sample = Sample::default();
        assert_eq!(Sample(vec![1.0, 2.0]).half_width(), None);
        for value in 1..=10 {
            sample.add(f64::from(value));
        }
        // Standard deviation 3.0277, t 2.262: 2.262 * 3.0277 / sqrt(10).
        assert_eq!(sample.mean(), 5.5);
        assert!((sample.half_width().unwrap() - 2.166).abs() < 1e-3);
    }
}
