//! Confidence intervals of fitted parameters.
//!
//! The interval of a parameter is that of the linear profile: the residuals are taken as linear
//! around the result of the fit, and the other parameters are re-fitted as one parameter is moved.
//!
//! 1. The half width of an interval is 1.96 standard deviations from the inverse of `J^T J`,
//!    restricted to the directions that the rows determine: a parameter with no component in an
//!    undetermined direction keeps the interval.
//! 2. If the model misses the rows by more than expected, the half width is multiplied by the
//!    square root of the mean square per degree of freedom.
//! 3. The interval ends at the bounds of the parameter.

use super::calibrate_table::{CalibrateTable, Parameter};
use super::quantity::Quantity;
use super::search::Found;

/// Two-sided 95 % point of the standard normal distribution.
const Z: f64 = 1.96;
/// Largest width of a fitted parameter's 95 % interval, as a share (0 to 1) of the distance between
/// the parameter's bounds; with a wider interval, the measured rows count as not determining the
/// parameter.
const HELD_WITHIN: f64 = 0.9;
/// Largest eigenvalue of `J^T J` (`J` are the slopes of the residuals by parameter), relative to
/// the largest eigenvalue of that matrix, at which the measured rows leave the eigenvector, a
/// direction in parameter space, undetermined.
const FREE_BELOW: f64 = 1e-9;
/// Smallest component (0 to 1) of an undetermined direction, a unit vector in the space of fitted
/// parameters, above which the parameter of that component counts as undetermined, too.
const PART_LEAST: f64 = 0.05;

/// A fitted parameter, with its value and confidence interval.
#[derive(Clone, Debug)]
pub struct Held {
    /// Declaration of a fitted parameter in the drive file: configuration key, bounds and source.
    pub parameter: Parameter,
    /// Fitted value of the parameter.
    pub value: Quantity,
    /// 95 % confidence interval of the fitted parameter's value.
    pub interval: (Quantity, Quantity),
    /// Width of a fitted parameter's confidence interval as a share (0 to 1) of the distance
    /// between the parameter's bounds, on a logarithmic or linear scale.
    pub share: f64,
    /// The parameter with which this one is confounded most, and the correlation of the two, from
    /// -1 to 1.
    pub close_to: Option<(String, f64)>,
}

impl Held {
    /// Returns true if the measured rows determine the parameter: its interval is narrower than its
    /// bounds.
    pub fn is_held(&self) -> bool {
        self.share <= HELD_WITHIN
    }
}

/// Returns the fitted parameters of a search result, with their confidence intervals.
pub(super) fn held(declared: &CalibrateTable, found: &Found) -> Vec<Held> {
    let factor = factor(found, declared.choices.len());
    let covariance = covariance(&found.slopes);
    let held = |(number, parameter): (usize, &Parameter)| {
        let position = found.positions[number];
        let variance = covariance[number][number];
        let half = Z * libm::sqrt(variance.max(0.0) * factor);
        let (low, high) = ((position - half).max(0.0), (position + half).min(1.0));
        Held {
            parameter: parameter.clone(),
            value: parameter.at(position),
            interval: (parameter.at(low), parameter.at(high)),
            share: high - low,
            close_to: closest(&covariance, number, declared),
        }
    };
    declared.parameters.iter().enumerate().map(held).collect()
}

/// Precision (inverse of the variance) of a fitted parameter, scaled to 0 to 1 between its bounds,
/// of which nothing but the bounds is known: that of a uniform distribution.
const OF_BOUNDS: f64 = 12.0;

/// Returns the covariance of the fitted parameters, each scaled to 0 to 1 between its bounds: the
/// inverse of `J^T J / f + 12 I`, where `J` are the slopes of the residuals, `f` is the factor by
/// which variances are larger than expected, and 12 is the precision that the bounds alone give.
pub(super) fn spread(found: &Found, choices: usize) -> Vec<Vec<f64>> {
    let n = found.slopes.len();
    let (values, vectors) = eigen(information(&found.slopes));
    let factor = factor(found, choices);
    let entry = |one: usize, other: usize| -> f64 {
        let each = values.iter().zip(&vectors);
        each.map(|(value, v)| v[one] * v[other] / (value.max(0.0) / factor + OF_BOUNDS)).sum()
    };
    (0..n).map(|one| (0..n).map(|other| entry(one, other)).collect()).collect()
}

/// Returns the factor by which variances of fitted parameters are larger because the drive deviates
/// from the measured rows by more than expected: the sum of squared residuals per degree of
/// freedom, at least 1. Each of the `choices` takes one degree, as a parameter does.
fn factor(found: &Found, choices: usize) -> f64 {
    let freedom = found.terms.len().saturating_sub(found.slopes.len() + choices).max(1) as f64;
    (found.squares() / freedom).max(1.0)
}

/// Returns the parameter that correlates most with the parameter `number`, and the correlation,
/// from -1 to 1.
fn closest(
    covariance: &[Vec<f64>],
    number: usize,
    declared: &CalibrateTable,
) -> Option<(String, f64)> {
    let correlation = |other: usize| {
        let both = covariance[number][number] * covariance[other][other];
        covariance[number][other] / libm::sqrt(both)
    };
    let others = (0..covariance.len()).filter(|&other| other != number);
    let all = others.map(|other| (other, correlation(other))).filter(|(_, it)| it.is_finite());
    let strongest = all.max_by(|one, other| one.1.abs().total_cmp(&other.1.abs()))?;
    Some((declared.parameters[strongest.0].key.clone(), strongest.1))
}

/// Returns the covariance of the fitted parameters, each scaled to 0 to 1 between its bounds: `V^T
/// diag(1/lambda) V` over the directions that the measured rows determine. A parameter with a
/// component in an undetermined direction has infinite variance.
fn covariance(slopes: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let n = slopes.len();
    let (values, vectors) = eigen(information(slopes));
    let most = values.iter().copied().fold(0.0, f64::max);
    let is_free = |value: f64| value <= (most * FREE_BELOW).max(f64::MIN_POSITIVE);
    let entry = |one: usize, other: usize| -> f64 {
        let each = values.iter().zip(&vectors);
        each.filter(|(value, _)| !is_free(**value))
            .map(|(value, vector)| vector[one] * vector[other] / value)
            .sum()
    };
    let mut all: Vec<Vec<f64>> =
        (0..n).map(|one| (0..n).map(|other| entry(one, other)).collect()).collect();
    for (value, vector) in values.iter().zip(&vectors) {
        for number in (0..n).filter(|&it| is_free(*value) && vector[it].abs() > PART_LEAST) {
            all[number][number] = f64::INFINITY;
        }
    }
    all
}

/// Returns `J^T J`: the products of the slopes of each pair of parameters, summed over the
/// residuals.
fn information(slopes: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let product = |one: &[f64], other: &[f64]| one.iter().zip(other).map(|(a, b)| a * b).sum();
    slopes.iter().map(|one| slopes.iter().map(|other| product(one, other)).collect()).collect()
}

/// Returns the eigenvalues and eigenvectors of a symmetric matrix, by Jacobi's rotations.
fn eigen(mut matrix: Vec<Vec<f64>>) -> (Vec<f64>, Vec<Vec<f64>>) {
    const SWEEPS: usize = 60;
    let n = matrix.len();
    let mut vectors: Vec<Vec<f64>> =
        (0..n).map(|row| (0..n).map(|at| f64::from(u8::from(row == at))).collect()).collect();
    for _ in 0..SWEEPS {
        for one in 0..n {
            for other in one + 1..n {
                let off = matrix[one][other];
                if off == 0.0 {
                    continue;
                }
                let ratio = (matrix[other][other] - matrix[one][one]) / (2.0 * off);
                let tangent = 1.0 / (ratio.abs() + libm::sqrt(ratio * ratio + 1.0));
                let tangent = if ratio < 0.0 { -tangent } else { tangent };
                let cosine = 1.0 / libm::sqrt(tangent * tangent + 1.0);
                let sine = tangent * cosine;
                let turn = |a: f64, b: f64| (cosine * a - sine * b, sine * a + cosine * b);
                for row in &mut matrix {
                    (row[one], row[other]) = turn(row[one], row[other]);
                }
                for rows in [&mut matrix, &mut vectors] {
                    let (before, after) = rows.split_at_mut(other);
                    for (a, b) in before[one].iter_mut().zip(&mut after[0]) {
                        (*a, *b) = turn(*a, *b);
                    }
                }
            }
        }
    }
    ((0..n).map(|it| matrix[it][it]).collect(), vectors)
}
