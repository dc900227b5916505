//! A mean of independent replications, with its confidence interval.

/// Mean of a metric over independent repetitions of a run, and half the width of the mean's 95 %
/// confidence interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Mean of a metric over independent repetitions of a run.
    pub mean: f64,
    /// Half the width of the 95 % confidence interval of the metric's mean over independent
    /// repetitions of a run, in the unit of the metric.
    pub half_width: f64,
}

/// Returns the mean of independent replications and its 95 % confidence interval, by Student's t.
/// `None` for fewer than two.
pub fn interval(values: &[f64]) -> Option<Interval> {
    let count = values.len() as f64;
    let freedom = values.len().checked_sub(1).filter(|&freedom| freedom > 0)?;
    let mean = mean(values);
    let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    let half_width = student(freedom) * libm::sqrt(squares / freedom as f64 / count);
    Some(Interval { mean, half_width })
}

/// Returns the mean of values; not a number (NaN) if there are none.
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Returns the 97.5 % quantile of Student's t: from tables up to 9 degrees of freedom, beyond by
/// the expansion of Abramowitz and Stegun, 26.7.5, to third order (0.1 % too low at most).
fn student(freedom: usize) -> f64 {
    const TABLE: [f64; 9] = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262];
    if let Some(&quantile) = TABLE.get(freedom - 1) {
        return quantile;
    }
    const NORMAL: f64 = 1.959_963_984_540_054;
    let (freedom, x, square) = (freedom as f64, NORMAL, NORMAL * NORMAL);
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
        for (freedom, quantile, off) in [(1, 12.706, 1e-9), (10, 2.228, 2e-3), (30, 2.042, 1e-3)] {
            assert!((student(freedom) - quantile).abs() < off, "{freedom}: {}", student(freedom));
        }
    }

    #[test]
    fn an_interval_is_that_of_the_book() {
        assert_eq!(interval(&[1.0]), None);
        let values: Vec<f64> = (1..=10).map(f64::from).collect();
        // Standard deviation 3.0277, t 2.262: 2.262 * 3.0277 / sqrt(10).
        let estimate = interval(&values).unwrap();
        assert_eq!(estimate.mean, 5.5);
        assert!((estimate.half_width - 2.166).abs() < 1e-3);
    }
}
