//! Lines through points, and the steps of distribution functions.

use crate::canvas::{Drawn, Place, Plane};
use crate::style::{colour, px};
use crate::{Panel, Series, Stroke};

/// Width of curves in a figure, in pixels.
pub const WIDTH: f64 = 1.9;
/// Largest number of marks on a line; more would hide it.
const MARKS_MAX: usize = 24;

/// Returns the drawn and the omitted length of the dashes of a distribution function in pixels, by
/// its position in the legend; `None` for a solid line.
pub fn dash(series: usize) -> Option<(f64, f64)> {
    [None, Some((8.0, 3.5)), Some((2.5, 2.5)), Some((14.0, 4.0)), Some((5.0, 6.0))][series % 5]
}

/// Returns the drawn and the omitted length of the dashes of a theoretical curve in pixels, by its
/// position in the legend.
pub fn theory(series: usize) -> (f64, f64) {
    [(7.0, 4.0), (3.0, 3.0), (12.0, 4.0)][series % 3]
}

/// Returns the minimum and maximum of the values; 1 and 10, a valid range on linear and logarithmic
/// axes, if there are none.
fn ends(mut values: impl Iterator<Item = f64>) -> (f64, f64) {
    let Some(first) = values.next() else { return (1.0, 10.0) };
    values.fold((first, first), |(low, high), value| (value.min(low), value.max(high)))
}

/// Returns the range of x and the range of y of a panel of lines.
pub fn ranges(lines: &Panel) -> [(f64, f64); 2] {
    let points = || {
        let series = lines.series.iter();
        series.flat_map(|one| one.points().map(|it| it.1).chain(one.published_points()))
    };
    let spread = lines.series.iter().flat_map(|series| series.spread.iter().flatten());
    let spread = spread.flat_map(|(low, high)| [*low, *high]);
    let reference = lines.reference.iter().map(|reference| reference.at);
    [ends(points().map(|p| p.0)), ends(points().map(|p| p.1).chain(spread).chain(reference))]
}

/// Draws the lines of a panel, its horizontal reference line (if any) below them, and the marks at
/// the points of the lines on top.
pub fn draw_lines(plane: &Plane<'_, '_>, lines: &Panel) -> Drawn {
    if let Some(reference) = &lines.reference {
        plane.reference(reference.at)?;
    }
    let has_line = |(_, series): &(usize, &Series)| series.stroke != Stroke::Points;
    for (index, series) in lines.series.iter().enumerate().filter(has_line) {
        let path: Vec<Place> = series.points().map(|(_, (x, y))| plane.at(x, y)).collect();
        let path = thinned(path, px(0.3));
        if path.len() > 1 {
            let dash = (series.stroke == Stroke::Theory).then(|| theory(index));
            plane.pen.dashed(path, colour(index), WIDTH, dash)?;
        }
    }
    for (index, series) in lines.series.iter().enumerate() {
        draw_marks(plane, index, series)?;
    }
    for (index, series) in lines.series.iter().enumerate() {
        for (x, y) in series.published_points() {
            plane.pen.published(plane.at(x, y), 3.0, colour(index))?;
        }
    }
    Ok(())
}

fn draw_marks(plane: &Plane<'_, '_>, index: usize, series: &Series) -> Drawn {
    let count = series.points().count();
    let is_line = series.stroke != Stroke::Points;
    let every = if is_line { count.div_ceil(MARKS_MAX).max(1) } else { 1 };
    for (number, (x, y)) in series.points().step_by(every) {
        if let Some(Some((low, high))) = series.spread.get(number) {
            plane.pen.whisker(plane.at(x, *low), plane.at(x, *high), 3.0)?;
        }
        if series.stroke != Stroke::Theory {
            plane.pen.series(index, plane.at(x, y))?;
        } else if count == 1 {
            let (x, y) = plane.at(x, y);
            plane.pen.line(vec![(x - px(4.0), y), (x + px(4.0), y)], colour(index), WIDTH)?;
        }
    }
    Ok(())
}

/// Draws distribution functions, each from its smallest value to its largest; beyond those, it is
/// constant at 0 or 1.
pub fn draw_distributions(plane: &Plane<'_, '_>, panel: &Panel) -> Drawn {
    for (index, series) in panel.series.iter().enumerate() {
        let corners = series.points().map(|(_, (x, share))| plane.at(x, share)).collect();
        let mut path: Vec<Place> = Vec::new();
        let mut height = plane.at_place(plane.x.low, 0.0).1;
        for (x, y) in thinned(corners, px(0.3)) {
            path.extend([(x, height), (x, y)]);
            height = y;
        }
        path.dedup();
        plane.pen.dashed(path, colour(index), WIDTH, dash(index))?;
    }
    Ok(())
}

/// Returns the path of a curve without the points that would be invisible, except the first and the
/// last, so that even a million samples make a small picture.
fn thinned(path: Vec<Place>, least: i32) -> Vec<Place> {
    let end = path.len().saturating_sub(1);
    let mut kept: Vec<Place> = Vec::new();
    for (index, (x, y)) in path.into_iter().enumerate() {
        let seen = kept
            .last()
            .is_none_or(|last| (x - last.0).abs() >= least || (y - last.1).abs() >= least);
        if seen || index == end {
            kept.push((x, y));
        }
    }
    kept
}
