//! Designs: which points of the parameter space are run.

use super::axis::{Axis, Chosen, Keys, Levels, Range};
use super::spec::{POINTS_MAX, Read};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::numbers::whole;
use fowler_units::Rng;

/// The way in which the points of a sweep are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Design {
    /// The points of the sweep are all combinations of the values of its axes; the value of the
    /// last axis changes fastest.
    Grid,
    /// The sweep runs the points that its file lists one by one.
    List,
    /// Each point of the sweep has a random value of every axis, drawn independently of the others.
    Random,
    /// Latin hypercube: each axis is cut into as many strata as there are points, and each stratum
    /// is drawn from once (McKay, Beckman and Conover, Technometrics 21(2), 1979).
    LatinHypercube,
}

/// Values of a sweep's point on each axis; `None` for an axis that the point does not have.
pub(super) type Row = Vec<Option<Chosen>>;

/// Returns the sets of axes that the points of a sweep may have, each as indices of axes in
/// ascending order. Points of a list need not have every axis, so a list has several sets; other
/// designs have one, of all axes.
pub(super) fn shapes(read: &Read) -> Vec<Vec<usize>> {
    match read.spec.design {
        Design::List => {
            let has =
                |row: &Vec<Option<usize>>| (0..row.len()).filter(|&it| row[it].is_some()).collect();
            let mut shapes: Vec<Vec<usize>> = read.rows.iter().map(has).collect();
            shapes.sort();
            shapes.dedup();
            shapes
        }
        _ => vec![(0..read.axes.len()).collect()],
    }
}

/// Checks that the design of a sweep has points, that there are not too many, and that its axes
/// suit it.
pub(super) fn check(read: &Read, name: &str) -> Result<(), Diagnostics> {
    let mut diagnostics = Diagnostics::default();
    let design = read.spec.design;
    let origin = read.origins.get("design");
    let whole_design = |what: String| match origin {
        Some(origin) => origin.diagnostic(what),
        None => Diagnostic::new(name, what),
    };
    if design == Design::List && read.rows.is_empty() {
        diagnostics
            .push(whole_design("the list has no points".into()).expected("[[point]] tables"));
    } else if design != Design::List && read.axes.is_empty() {
        diagnostics.push(whole_design("the design has no axes".into()).expected("axes, in [axis]"));
    }
    let drawn = matches!(design, Design::Random | Design::LatinHypercube);
    if drawn && !read.says("points") {
        let what = "`points` is missing".to_string();
        diagnostics.push(whole_design(what).hint("points = 50".to_string()));
    }
    for axis in &read.axes {
        let Levels::Range(range) = &axis.levels else { continue };
        if drawn && range.steps.is_some() {
            let what = format!(
                "`{}`: `steps` is for grids; this design draws values at random",
                axis.name
            );
            diagnostics.push(axis.origin.diagnostic(what));
        } else if design == Design::Grid && range.steps.is_none() {
            let what =
                format!("`{}`: a grid needs a list of values or a range with steps", axis.name);
            let expected = "a list of values, or a range with `steps`";
            diagnostics.push(axis.origin.diagnostic(what).expected(expected));
        }
    }
    diagnostics = diagnostics.or(Diagnostics::default())?;
    let count = points(read);
    if count > u128::from(POINTS_MAX) {
        let sizes: Vec<String> =
            read.axes.iter().map(|axis| format!("{} {}", whole(size(axis)), axis.name)).collect();
        let what = format!(
            "the design has {} points",
            u64::try_from(count).map_or(count.to_string(), whole)
        );
        let diagnostic = whole_design(what).expected(format!("{} at most", whole(POINTS_MAX)));
        diagnostics.push(
            diagnostic.hint(format!(
                "{}; to draw fewer points, use design = \"random\"",
                sizes.join(" x ")
            )),
        );
    }
    diagnostics.or(())
}

fn size(axis: &Axis) -> u64 {
    match &axis.levels {
        Levels::List(levels) => levels.len() as u64,
        Levels::Range(range) => range.steps.unwrap_or(1),
    }
}

/// Returns the number of points of the sweep's design.
pub(super) fn points(read: &Read) -> u128 {
    match read.spec.design {
        Design::List => read.rows.len() as u128,
        Design::Grid => {
            let sizes = read.axes.iter().map(|axis| u128::from(size(axis)));
            sizes.fold(1, u128::saturating_mul)
        }
        Design::Random | Design::LatinHypercube => u128::from(read.spec.points),
    }
}

/// Returns every point of the sweep's design, in order.
pub(super) fn rows(read: &Read, keys: &mut Keys) -> Result<Vec<Row>, Diagnostics> {
    match read.spec.design {
        Design::List => Ok(listed(read)),
        Design::Grid => grid(read, keys),
        Design::Random | Design::LatinHypercube => Ok(drawn(read, keys)),
    }
}

fn listed(read: &Read) -> Vec<Row> {
    let value = |axis: &Axis, place: Option<usize>| match &axis.levels {
        Levels::List(levels) => place.map(|place| levels[place].clone()),
        Levels::Range(_) => None,
    };
    let row = |row: &Vec<Option<usize>>| {
        read.axes.iter().zip(row).map(|(axis, &place)| value(axis, place)).collect()
    };
    read.rows.iter().map(row).collect()
}

fn grid(read: &Read, keys: &mut Keys) -> Result<Vec<Row>, Diagnostics> {
    let mut diagnostics = Diagnostics::default();
    let mut all: Vec<Vec<Chosen>> = Vec::new();
    for axis in &read.axes {
        all.extend(diagnostics.take(single(axis, keys)));
    }
    diagnostics.or(())?;
    let count = all.iter().map(Vec::len).product();
    let row = |point: usize| {
        let mut left = point;
        let mut row: Row = Vec::with_capacity(all.len());
        for levels in all.iter().rev() {
            row.push(Some(levels[left % levels.len()].clone()));
            left /= levels.len();
        }
        row.reverse();
        row
    };
    Ok((0..count).map(row).collect())
}

/// Returns the values of an axis of a sweep whose design is a grid: the values of its list, or
/// equal steps of its range including both ends.
fn single(axis: &Axis, keys: &mut Keys) -> Result<Vec<Chosen>, Diagnostics> {
    let range = match &axis.levels {
        Levels::List(levels) => return Ok(levels.clone()),
        Levels::Range(range) => range,
    };
    let steps = range.steps.unwrap_or(2).max(2);
    let share = |step: u64| step as f64 / (steps - 1) as f64;
    let mut levels: Vec<Chosen> =
        (0..steps).filter_map(|step| keys.nearest(axis.knob, range.at(share(step)))).collect();
    levels.dedup();
    if (levels.len() as u64) < steps {
        let what = format!(
            "`{}`: {} steps from {} to {} give only {} different values",
            axis.name,
            steps,
            range.from,
            range.to,
            levels.len()
        );
        return Err(axis.origin.diagnostic(what).into());
    }
    Ok(levels)
}

/// Draws the points of a sweep with a random or Latin hypercube design. Each axis has its own
/// random stream, so adding an axis does not change the values of the others.
fn drawn(read: &Read, keys: &mut Keys) -> Vec<Row> {
    let count = read.spec.points as usize;
    let mut rows: Vec<Row> = vec![Vec::with_capacity(read.axes.len()); count];
    for axis in &read.axes {
        let mut rng = Rng::stream(read.spec.design_seed, &format!("sweep/{}", axis.name));
        let strata =
            (read.spec.design == Design::LatinHypercube).then(|| permutation(count, &mut rng));
        for (point, row) in rows.iter_mut().enumerate() {
            let stratum = strata.as_ref().map(|strata| (strata[point], count));
            row.push(draw(axis, stratum, &mut rng, keys));
        }
    }
    rows
}

fn draw(
    axis: &Axis,
    stratum: Option<(usize, usize)>,
    rng: &mut Rng,
    keys: &mut Keys,
) -> Option<Chosen> {
    match &axis.levels {
        Levels::List(levels) => {
            let place = match stratum {
                Some((stratum, of)) => stratum * levels.len() / of,
                None => rng.below(levels.len() as u64) as usize,
            };
            Some(levels[place].clone())
        }
        Levels::Range(range) => {
            let share = share(stratum, rng);
            keys.nearest(axis.knob, Range::at(range, share))
        }
    }
}

/// Draws a random fraction of the range of a sweep's axis, 0 to 1. `stratum` is the index of one of
/// equal slices of the range and their number; the fraction is then within that slice.
fn share(stratum: Option<(usize, usize)>, rng: &mut Rng) -> f64 {
    match stratum {
        Some((stratum, of)) => (stratum as f64 + rng.unit()) / of as f64,
        None => rng.unit(),
    }
}

/// Returns `0..count` in random order (Fisher and Yates).
fn permutation(count: usize, rng: &mut Rng) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    for last in (1..count).rev() {
        order.swap(last, rng.below(last as u64 + 1) as usize);
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever the number of points and the seed, every stratum has exactly one point, and the
    /// order is not that of the strata.
    #[test]
    fn every_stratum_is_drawn_from_once() {
        let mut sizes = Rng::stream(3, "sizes");
        for seed in 0..200 {
            let count = 1 + sizes.below(300) as usize;
            let mut rng = Rng::stream(seed, "strata");
            let order = permutation(count, &mut rng);
            let mut hit = vec![0; count];
            for &stratum in &order {
                let share = share(Some((stratum, count)), &mut rng);
                assert!((0.0..1.0).contains(&share), "seed {seed}: {share}");
                hit[(share * count as f64) as usize] += 1;
            }
            assert!(hit.iter().all(|&times| times == 1), "seed {seed}, {count} points: {hit:?}");
            let sorted = order.windows(2).all(|pair| pair[0] < pair[1]);
            assert!(!sorted || count < 8, "seed {seed}, {count} points: nothing is shuffled");
        }
    }

    #[test]
    fn ranges_reach_from_end_to_end() {
        let linear = Range { from: 1.0, to: 9.0, log: false, steps: None };
        assert_eq!([0.0, 0.5, 1.0].map(|share| linear.at(share)), [1.0, 5.0, 9.0]);
        let log = Range { from: 1.0, to: 10_000.0, log: true, steps: None };
        assert_eq!((log.at(0.0), log.at(1.0)), (1.0, 10_000.0));
        assert!((log.at(0.5) - 100.0).abs() < 1e-9);
    }
}
