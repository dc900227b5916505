//! Confidence intervals of fitted parameters.
//!
//! The interval of a parameter is that of the linear profile: the residuals are taken as linear
//! around the result, and the other parameters follow as it is moved. Its half width is 1.96
//! standard deviations of the inverse of `J^T J`, times the square root of the mean square per
//! degree of freedom where that is above 1: if the model does not reach the rows to within what is
//! expected, the parameters are held less sharply. It ends at the bounds.

use super::calibrate_table::{CalibrateTable, Parameter};
use super::quantity::Quantity;
use super::search::Found;

/// The two-sided 95 % point of the normal distribution.
const Z: f64 = 1.96;
/// A parameter whose interval takes more of its bounds than this is not held by the rows.
const HELD_WITHIN: f64 = 0.9;

/// A parameter with its fitted value.
#[derive(Clone, Debug)]
pub struct Held {
    /// Declaration of the parameter.
    pub parameter: Parameter,
    /// Fitted value of the parameter.
    pub value: Quantity,
    /// The 95 % interval.
    pub interval: (Quantity, Quantity),
    /// The share of the distance between the bounds, on their scale, that the interval takes.
    pub share: f64,
    /// The parameter from which the rows can tell this one least, and their correlation.
    pub close_to: Option<(String, f64)>,
}

impl Held {
    /// Returns true if the rows say anything about the parameter.
    pub fn is_held(&self) -> bool {
        self.share <= HELD_WITHIN
    }
}

/// Returns the parameters of a result.
pub(super) fn held(declared: &CalibrateTable, found: &Found) -> Vec<Held> {
    let n = declared.parameters.len();
    let freedom = found.terms.len().saturating_sub(n).max(1) as f64;
    let factor = (found.squares() / freedom).max(1.0);
    let inverse = inverse(&found.slopes);
    let held = |(number, parameter): (usize, &Parameter)| {
        let position = found.positions[number];
        let variance = inverse.as_ref().map_or(f64::INFINITY, |it| it[number][number]);
        let half = Z * libm::sqrt(variance.max(0.0) * factor);
        let (low, high) = ((position - half).max(0.0), (position + half).min(1.0));
        Held {
            parameter: parameter.clone(),
            value: parameter.at(position),
            interval: (parameter.at(low), parameter.at(high)),
            share: high - low,
            close_to: inverse.as_ref().and_then(|it| closest(it, number, declared)),
        }
    };
    declared.parameters.iter().enumerate().map(held).collect()
}

/// Returns the parameter with the strongest correlation.
fn closest(
    inverse: &[Vec<f64>],
    number: usize,
    declared: &CalibrateTable,
) -> Option<(String, f64)> {
    let correlation = |other: usize| {
        let both = inverse[number][number] * inverse[other][other];
        inverse[number][other] / libm::sqrt(both)
    };
    let others = (0..inverse.len()).filter(|&other| other != number);
    let all = others.map(|other| (other, correlation(other))).filter(|(_, it)| it.is_finite());
    let strongest = all.max_by(|one, other| one.1.abs().total_cmp(&other.1.abs()))?;
    Some((declared.parameters[strongest.0].key.clone(), strongest.1))
}

/// Returns the inverse of `J^T J` by Gauss and Jordan; `None` if the rows leave a direction free.
fn inverse(slopes: &[Vec<f64>]) -> Option<Vec<Vec<f64>>> {
    let n = slopes.len();
    let product = |one: &[f64], other: &[f64]| one.iter().zip(other).map(|(a, b)| a * b).sum();
    let mut left: Vec<Vec<f64>> =
        slopes.iter().map(|one| slopes.iter().map(|other| product(one, other)).collect()).collect();
    let mut right: Vec<Vec<f64>> =
        (0..n).map(|row| (0..n).map(|at| f64::from(u8::from(row == at))).collect()).collect();
    for at in 0..n {
        let order =
            |&one: &usize, &other: &usize| left[one][at].abs().total_cmp(&left[other][at].abs());
        let pivot = (at..n).max_by(order)?;
        if left[pivot][at].abs() < 1e-9 {
            return None;
        }
        left.swap(at, pivot);
        right.swap(at, pivot);
        let scale = left[at][at];
        left[at].iter_mut().chain(&mut right[at]).for_each(|it| *it /= scale);
        let (pivot_row, pivot_right) = (left[at].clone(), right[at].clone());
        for row in (0..n).filter(|&row| row != at) {
            let times = left[row][at];
            left[row].iter_mut().zip(&pivot_row).for_each(|(value, it)| *value -= times * it);
            right[row].iter_mut().zip(&pivot_right).for_each(|(value, it)| *value -= times * it);
        }
    }
    Some(right)
}
