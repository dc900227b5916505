//! A bounded least-squares search that uses only values of the function, no derivatives.
//!
//! 1. The function is evaluated at the start and at points spread over the bounds; the search
//!    continues from the best of them.
//! 2. Finite differences give the derivatives there.
//! 3. Three Levenberg-Marquardt steps of different damping are evaluated in parallel. A step that
//!    lowers the sum of squares is taken; otherwise the difference step and the trust region
//!    shrink.
//! 4. Steps 2 and 3 are repeated until the difference step is small enough or the evaluations are
//!    used up.
//! 5. With evaluations left, the search descends in the same way from the best of the first points
//!    that lies apart from where it has been; the lowest end of a descent is the result.
//! 6. Two-sided differences give the slopes of the result.
//!
//! Parameters are positions from 0 to 1 between their bounds. All points of a stage are independent
//! and are evaluated in parallel. Every drive has the same seed (common random numbers), so that
//! two points differ only by the effect of the parameters, until a random draw changes; difference
//! steps are therefore wide. A general minimizer such as COBYLA sees only the sum of squares where
//! this search sees every residual, and needs several times as many drives.

use super::term::Term;
use fowler_experiment::diagnostic::Diagnostics;
use fowler_experiment::fan_out;
use fowler_experiment::progress::Control;
use fowler_units::Rng;
use std::cmp::Ordering;

/// First step of the finite differences from which slopes of the residuals are computed, on
/// parameters scaled to 0 to 1 between their bounds.
const FIRST: f64 = 0.1;
/// Last step of the finite differences from which slopes of the residuals are computed, on
/// parameters scaled to 0 to 1 between their bounds; the fit ends with it.
const LAST: f64 = 0.02;
/// Step, on parameters scaled to 0 to 1, of the two-sided differences that give the slopes of the
/// residuals at the fitted values.
const SLOPE: f64 = 0.06;
/// Number of parameter values, for each fitted parameter, that are spread over the bounds and tried
/// before the fit's descent begins.
const SPREAD: usize = 4;
/// Damping factors of the Levenberg-Marquardt steps that are evaluated in parallel.
const DAMPING: [f64; 3] = [1e-3, 0.3, 10.0];
/// Smallest relative decrease of the sum of squared residuals in a step after which the fit
/// continues.
const GAIN: f64 = 0.01;
/// Smallest distance, in some parameter scaled to 0 to 1, between a point from which the fit
/// descends and those at which earlier descents began and ended.
const APART: f64 = 0.1;
/// Largest number of sweeps over the coordinates when a bounded linear problem is solved; six
/// parameters need fewer.
const SWEEPS: usize = 200;

/// A function to minimize in a fit: simulates a drive with parameters scaled to 0 to 1 and returns
/// residuals, the differences between simulated and measured numbers.
pub(super) trait Residuals: Sync {
    /// Returns the measured and simulated numbers, whose differences are the residuals, of the
    /// drive with its parameters at these positions (0 to 1 between their bounds); `None` if the
    /// user stopped it.
    ///
    /// # Errors
    /// If the function is not defined at the positions.
    fn at(&self, positions: &[f64], control: Control<'_>)
    -> Result<Option<Vec<Term>>, Diagnostics>;
}

/// Result of a fit: the best parameters, scaled to 0 to 1 between their bounds, and the residuals
/// (differences between measured and simulated numbers) there.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub positions: Vec<f64>,
    pub terms: Vec<Term>,
    /// Change of each residual, a difference between a measured and a simulated number, with each
    /// fitted parameter scaled to 0 to 1; indexed by parameter.
    pub slopes: Vec<Vec<f64>>,
    pub tried: usize,
    /// Number of Levenberg-Marquardt steps, in the descent of the fit that ended lowest, that
    /// lowered the sum of squared residuals.
    pub steps: usize,
}

impl Found {
    /// Returns the sum of the squared differences between simulated and measured numbers, each in
    /// units of the deviation expected of it.
    pub fn squares(&self) -> f64 {
        squares(&self.terms)
    }
}

fn squares(terms: &[Term]) -> f64 {
    terms.iter().map(|term| term.residual() * term.residual()).sum()
}

/// Returns the number of evaluations for the slopes of the result: two points for each of `n`
/// parameters.
fn slopes_of_result(n: usize) -> usize {
    2 * n
}

/// Returns the number of evaluations of one descent: slopes in `n` parameters, and the steps.
fn descent(n: usize) -> usize {
    n + DAMPING.len()
}

/// Returns the number of points spread over the bounds of `n` parameters.
fn spread(n: usize, tries: usize) -> usize {
    (SPREAD * n).min(tries / 3).min(tries.saturating_sub(least_tries(n)))
}

/// Returns the smallest number of evaluations of a search in `n` parameters: the start and the
/// slopes of the result.
pub(super) fn least_tries(n: usize) -> usize {
    1 + slopes_of_result(n)
}

/// Returns the smallest number of evaluations with which a search in `n` parameters has at least
/// `descents` descents, unless it ends before.
pub(super) fn tries_for(n: usize, descents: usize) -> usize {
    let suffices =
        |&tries: &usize| least_tries(n) + spread(n, tries) + descents * descent(n) <= tries;
    (least_tries(n)..).find(suffices).unwrap_or(usize::MAX)
}

/// Minimizes the sum of squared residuals, beginning at the parameters `start` (each scaled to 0 to
/// 1), with at most `tries` evaluations of `function`, of which there must be [`least_tries`].
/// Returns `None` if the user stopped it.
pub(super) fn search(
    function: &impl Residuals,
    start: &[f64],
    tries: usize,
    seed: u64,
    control: Control<'_>,
) -> Result<Option<Found>, Diagnostics> {
    let n = start.len();
    let mut search = Search { function, control, tried: 0 };
    let mut points = vec![start.to_vec()];
    points.extend(halton(n, spread(n, tries), seed));
    let Some(mut first) = search.all(&points)? else { return Ok(None) };
    first.sort_by(by_squares);
    // Evaluations for descents; the slopes of the result take the others.
    let tries = tries - slopes_of_result(n);
    let Some((mut best, mut steps)) = search.descend(&first[0], tries)? else { return Ok(None) };
    let mut visited = vec![first[0].0.clone(), best.0.clone()];
    for from in &first[1..] {
        if search.tried + descent(n) > tries {
            break;
        }
        if visited.iter().any(|at| distance(at, &from.0) < APART) {
            continue;
        }
        let Some((reached, taken)) = search.descend(from, tries)? else { return Ok(None) };
        visited.extend([from.0.clone(), reached.0.clone()]);
        if squares(&reached.1) < squares(&best.1) {
            (best, steps) = (reached, taken);
        }
    }
    let Some((slopes, beside)) = search.two_sided(&best)? else { return Ok(None) };
    let reached = least(beside);
    // A point that is better by chance is taken as well; the slopes are those beside it.
    if squares(&reached.1) < squares(&best.1) {
        best = reached;
    }
    let (positions, terms) = best;
    Ok(Some(Found { positions, terms, slopes, tried: search.tried, steps }))
}

type Point = (Vec<f64>, Vec<Term>);

/// Slopes of every residual, by parameter, and the points from which the slopes were computed.
type Slopes = (Vec<Vec<f64>>, Vec<Point>);

/// Returns the simulated parameter set with the least sum of squared residuals; the first one if
/// several have it.
fn least(points: Vec<Point>) -> Point {
    points.into_iter().min_by(by_squares).expect("at least one point")
}

/// Compares two simulated parameter sets of a fit by their sums of squared residuals.
fn by_squares(one: &Point, other: &Point) -> Ordering {
    squares(&one.1).total_cmp(&squares(&other.1))
}

/// Returns the largest difference between two parameter sets in a parameter (scaled to 0 to 1).
fn distance(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(one, other)| (one - other).abs()).fold(0.0, f64::max)
}

struct Search<'a, R> {
    function: &'a R,
    control: Control<'a>,
    tried: usize,
}

impl<R: Residuals> Search<'_, R> {
    /// Evaluates the residuals of the fit at several points of the parameter space in parallel.
    /// Returns `None` if the fit was stopped.
    fn all(&mut self, points: &[Vec<f64>]) -> Result<Option<Vec<Point>>, Diagnostics> {
        self.tried += points.len();
        let terms = fan_out::each(points, |point| self.function.at(point, self.control));
        let mut all = Vec::with_capacity(points.len());
        for (point, terms) in points.iter().zip(terms) {
            let Some(terms) = terms? else { return Ok(None) };
            all.push((point.clone(), terms));
        }
        Ok(Some(all))
    }

    /// Returns the parameter set at which a descent of the fit from the set `from` ends, and the
    /// number of its steps that lowered the sum of squared residuals; `None` if the user stopped
    /// it. The descent ends when its difference step is below [`LAST`] or the search has tried
    /// `tries` sets.
    fn descend(
        &mut self,
        from: &Point,
        tries: usize,
    ) -> Result<Option<(Point, usize)>, Diagnostics> {
        let mut best = from.clone();
        let (mut step, mut trust, mut steps) = (FIRST, 0.5, 0);
        while step >= LAST && self.tried + descent(from.0.len()) <= tries {
            let Some((slopes, beside)) = self.one_sided(&best, step)? else { return Ok(None) };
            let points: Vec<Vec<f64>> =
                DAMPING.iter().map(|&damping| solved(&best, &slopes, damping, trust)).collect();
            let Some(mut there) = self.all(&points)? else { return Ok(None) };
            there.extend(beside);
            let reached = least(there);
            let (before, after) = (squares(&best.1), squares(&reached.1));
            let far = distance(&best.0, &reached.0);
            if after < before * (1.0 - GAIN) {
                steps += 1;
                best = reached;
                trust = (2.0 * far).clamp(LAST, 0.5);
                step = step.min(far.max(LAST));
            } else {
                if after < before {
                    best = reached;
                }
                trust /= 3.0;
                step /= 2.0;
            }
        }
        Ok(Some((best, steps)))
    }

    /// Returns one-sided slopes of the residuals at the parameter set `best`: differences to a set
    /// at distance `step` in each parameter (scaled to 0 to 1), towards the middle of its bounds.
    fn one_sided(&mut self, best: &Point, step: f64) -> Result<Option<Slopes>, Diagnostics> {
        let signed = |at: f64| if at < 0.5 { step } else { -step };
        let beside = |number: usize| {
            let mut point = best.0.clone();
            point[number] += signed(point[number]);
            point
        };
        let points: Vec<Vec<f64>> = (0..best.0.len()).map(beside).collect();
        let Some(points) = self.all(&points)? else { return Ok(None) };
        let slopes = points
            .iter()
            .enumerate()
            .map(|(number, point)| slope((&best.1, &point.1), point.0[number] - best.0[number]));
        Ok(Some((slopes.collect(), points)))
    }

    /// Returns two-sided slopes of the residuals at the parameter set `best`: differences between
    /// two sets around it in each parameter.
    fn two_sided(&mut self, best: &Point) -> Result<Option<Slopes>, Diagnostics> {
        let around = |number: usize, step: f64| {
            let mut point = best.0.clone();
            point[number] = (point[number] + step).clamp(0.0, 1.0);
            point
        };
        let n = best.0.len();
        let points: Vec<Vec<f64>> =
            (0..n).flat_map(|it| [around(it, -SLOPE), around(it, SLOPE)]).collect();
        let Some(points) = self.all(&points)? else { return Ok(None) };
        let slopes = points.chunks(2).enumerate().map(|(number, pair)| {
            slope((&pair[0].1, &pair[1].1), pair[1].0[number] - pair[0].0[number])
        });
        Ok(Some((slopes.collect(), points)))
    }
}

fn slope((from, to): (&[Term], &[Term]), far: f64) -> Vec<f64> {
    from.iter().zip(to).map(|(from, to)| (to.residual() - from.residual()) / far).collect()
}

/// Returns the parameters, each scaled to 0 to 1 between its bounds, to which the fit steps from
/// `best`: by coordinate descent on `|r + J s|^2 + damping |s|^2`, where `r` are the residuals at
/// `best`, `J` their slopes, and `s` is the step, at most `trust` in each parameter.
fn solved(best: &Point, slopes: &[Vec<f64>], damping: f64, trust: f64) -> Vec<f64> {
    let (at, n) = (&best.0, best.0.len());
    let mut off: Vec<f64> = best.1.iter().map(Term::residual).collect();
    let mut step = vec![0.0; n];
    for _ in 0..SWEEPS {
        for number in 0..n {
            let slopes = &slopes[number];
            let curvature = slopes.iter().map(|it| it * it).sum::<f64>() + damping;
            let gradient = slopes.iter().zip(&off).map(|(slope, off)| slope * off).sum::<f64>()
                + damping * step[number];
            let (low, high) = ((-trust).max(-at[number]), trust.min(1.0 - at[number]));
            let next = (step[number] - gradient / curvature).clamp(low, high);
            let change = next - step[number];
            step[number] = next;
            off.iter_mut().zip(slopes).for_each(|(off, slope)| *off += slope * change);
        }
    }
    at.iter().zip(step).map(|(at, step)| (at + step).clamp(0.0, 1.0)).collect()
}

/// Returns points that cover the unit cube of `n` dimensions evenly (Halton's sequence), shifted by
/// a random offset from `seed`.
fn halton(n: usize, count: usize, seed: u64) -> Vec<Vec<f64>> {
    const BASES: [u64; 6] = [2, 3, 5, 7, 11, 13];
    let mut rng = Rng::stream(seed, "fitting/halton");
    let shifts: Vec<f64> = (0..n).map(|_| rng.unit()).collect();
    let radical = |mut number: u64, base: u64| {
        let (mut value, mut digit) = (0.0, 1.0);
        while number > 0 {
            digit /= base as f64;
            value += digit * (number % base) as f64;
            number /= base;
        }
        value
    };
    let point = |number: u64| {
        let each = BASES.iter().zip(&shifts);
        each.map(|(&base, shift)| (radical(number, base) + shift).fract()).collect()
    };
    (1..=count as u64).map(point).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a number of a row that the fit misses by `off` expected deviations.
    fn term(off: f64) -> Term {
        Term {
            place: String::new(),
            identity: String::new(),
            metric: String::new(),
            measured: 1.0,
            simulated: Some(crate::protocol::Estimate::bare(1.0 + 0.01 * off)),
            expected: 0.01,
        }
    }

    /// A function whose residuals are the squared distances of the parameters from 0.3, so that
    /// every descent that can be paid for is made until the steps are small.
    struct Bowl;

    impl Residuals for Bowl {
        fn at(&self, at: &[f64], _: Control<'_>) -> Result<Option<Vec<Term>>, Diagnostics> {
            Ok(Some(at.iter().map(|at| term(100.0 * (at - 0.3) * (at - 0.3))).collect()))
        }
    }

    /// A function of one parameter with two valleys: a wide one around 0.8, and a steep one whose
    /// floor, at 0.2, is lower.
    struct TwoValleys;

    impl Residuals for TwoValleys {
        fn at(&self, at: &[f64], _: Control<'_>) -> Result<Option<Vec<Term>>, Diagnostics> {
            let steep = 3.0 * (at[0] - 0.2).abs();
            let wide = 0.5 + (at[0] - 0.8) * (at[0] - 0.8);
            Ok(Some(vec![term(steep.min(wide))]))
        }
    }

    #[test]
    fn a_search_descends_again_where_it_has_not_been() {
        let fallen_short = |tries: usize| {
            let found = (1..=200).map(|seed| {
                let found = search(&TwoValleys, &[0.9], tries, seed, Control::UNWATCHED);
                found.expect("it is defined").expect("it is not stopped").squares()
            });
            found.filter(|&squares| squares > 0.1).count()
        };
        // The start is in the wide valley and below most points of the steep one.
        assert!(fallen_short(tries_for(1, 1)) > 0);
        assert_eq!(fallen_short(120), 0, "seeds 1 to 200");
    }

    #[test]
    fn a_search_tries_no_more_than_it_may() {
        for n in 1..=6 {
            for tries in least_tries(n)..90 {
                let found = search(&Bowl, &vec![0.9; n], tries, 1, Control::UNWATCHED);
                let found = found.expect("it is defined").expect("it is not stopped");
                assert!(found.tried <= tries, "{n} parameters: {} of {tries}", found.tried);
                let descents = found.tried - least_tries(n) - spread(n, tries);
                let at_least = |count: usize| descents >= count * descent(n);
                assert!(descents.is_multiple_of(descent(n)));
                // The bowl takes at least two descents.
                assert_eq!(at_least(1), tries >= tries_for(n, 1), "{n} parameters, {tries}");
                assert_eq!(at_least(2), tries >= tries_for(n, 2), "{n} parameters, {tries}");
            }
        }
        // One parameter: the start, 4 points, 2 x 4, and 2 for the slopes. Six: 1 + 15 + 2 x 9 +
        // 12, where a third of the tries is spread.
        assert_eq!((tries_for(1, 2), tries_for(6, 2)), (15, 46));
    }
}
