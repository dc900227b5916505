//! Bars in rows behind each other, drawn in space: an overview of a table. Exact values are for
//! flat bars and tables.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

use crate::Panel;
use crate::canvas::{Drawn, Lettering, Pen, Place};
use crate::ruler::Ruler;
use crate::style::{INK, LABEL, MESH, colour, px, width};

/// Height of a chart of three-dimensional bars (towers), without the labels of bar groups below it,
/// in pixels.
pub const HEIGHT: f64 = 340.0;
/// Offset of the rearmost row of three-dimensional bars to the right and upwards, as shares of the
/// drawing's width and height.
const RIGHT: f64 = 0.24;
const UP: f64 = 0.36;
/// Share of the space of a three-dimensional bar, in width and in depth, that the bar itself fills.
const FILLED: f64 = 0.66;
/// Shading of three-dimensional bars: the share of its color that the right side keeps (`SHADE`),
/// and the share of white mixed into the color of the top (`LIGHT`).
const SHADE: f64 = 0.72;
const LIGHT: f64 = 0.35;

/// Returns the width that a chart of three-dimensional bars needs for its bars and the names of its
/// rows, in pixels.
pub fn natural_width(bars: &Panel) -> f64 {
    let towers = 46.0 * bars.rows.len() as f64;
    (towers / (1.0 - RIGHT) + names(bars)).clamp(400.0, 1000.0)
}

/// Returns the width of the names of the rows, in pixels.
fn names(bars: &Panel) -> f64 {
    bars.series.iter().map(|row| width(&row.name, LABEL)).fold(0.0, f64::max) + 12.0
}

/// Projection of points in space onto the canvas.
struct Space<'r> {
    /// Left end of the front edge of the chart's floor, the plane on which the three-dimensional
    /// bars stand, in pixels on the canvas.
    corner: (f64, f64),
    /// Length of the front edge of the chart's floor (`wide`), and height of the tallest possible
    /// bar in the front row (`high`), in pixels.
    wide: f64,
    high: f64,
    /// Offset of the back edge of the chart's floor from its front edge, to the right and upwards,
    /// in pixels.
    back: (f64, f64),
    groups: f64,
    rows: f64,
    y: &'r Ruler,
}

impl Space<'_> {
    /// Returns the canvas position, in pixels, of a point of a three-dimensional chart: along the
    /// groups of bars, into the depth by rows, and up by a position on the y axis.
    fn at(&self, group: f64, row: f64, place: f64) -> Place {
        let (along, deep) = (group / self.groups, row / self.rows);
        let up = (place - self.y.low) / (self.y.high - self.y.low);
        let x = self.corner.0 + along * self.wide + deep * self.back.0;
        let y = self.corner.1 - deep * self.back.1 - up * self.high;
        (px(x), px(y))
    }
}

/// Draws a chart of three-dimensional bars into a rectangle `wide` pixels wide from `left`, and
/// [`HEIGHT`] pixels high from `top`.
pub fn draw(
    pen: Pen<'_, '_>,
    bars: &Panel,
    y: &Ruler,
    (left, top): (f64, f64),
    wide: f64,
) -> Drawn {
    let wide = wide - names(bars);
    let space = Space {
        corner: (left, top + HEIGHT),
        wide: wide * (1.0 - RIGHT),
        high: HEIGHT * (1.0 - UP),
        back: (wide * RIGHT, HEIGHT * UP),
        groups: bars.rows.len() as f64,
        rows: bars.series.len() as f64,
        y,
    };
    walls(pen, &space)?;
    let margin = (1.0 - FILLED) / 2.0;
    for (row, series) in bars.series.iter().enumerate().rev() {
        for (group, value) in series.y.iter().enumerate() {
            let Some(value) = value else { continue };
            let (along, deep) = (group as f64 + margin, row as f64 + margin);
            tower(pen, &space, (along, deep), y.place(*value), row)?;
        }
    }
    for (group, name) in bars.rows.iter().enumerate() {
        let (x, y) = space.at(group as f64 + 0.5, 0.0, y.low);
        let lettering = Lettering::new(LABEL).at(HPos::Center, VPos::Center);
        pen.text(name, lettering, (x, y + px(13.0)))?;
    }
    for (row, series) in bars.series.iter().enumerate() {
        let (x, y) = space.at(space.groups, row as f64 + 0.5, y.low);
        pen.text(&series.name, Lettering::new(LABEL), (x + px(8.0), y))?;
    }
    Ok(())
}

/// Draws the floor of a chart of three-dimensional bars, and the grid lines of the y axis along the
/// left and the back wall.
fn walls(pen: Pen<'_, '_>, space: &Space<'_>) -> Drawn {
    let (groups, rows, low) = (space.groups, space.rows, space.y.low);
    for (place, label) in &space.y.ticks {
        let ends = [(0.0, 0.0), (0.0, rows), (groups, rows)];
        pen.line(ends.map(|(group, row)| space.at(group, row, *place)).to_vec(), MESH, 0.8)?;
        let (x, y) = space.at(0.0, 0.0, *place);
        let lettering = Lettering::new(LABEL).at(HPos::Right, VPos::Center);
        pen.text(label, lettering, (x - px(6.0), y))?;
    }
    let foot = [(0.0, 0.0), (groups, 0.0), (groups, rows), (0.0, rows), (0.0, 0.0)];
    pen.line(foot.map(|(group, row)| space.at(group, row, low)).to_vec(), INK, 0.8)?;
    pen.line(vec![space.at(0.0, 0.0, low), space.at(0.0, 0.0, space.y.high)], INK, 1.0)
}

/// Draws a three-dimensional bar: its front, its right side and its top, the three sides that can
/// be seen.
fn tower(
    pen: Pen<'_, '_>,
    space: &Space<'_>,
    (along, deep): (f64, f64),
    top: f64,
    row: usize,
) -> Drawn {
    let low = space.y.low;
    let (right, back) = (along + FILLED, deep + FILLED);
    let front = [(along, deep, low), (right, deep, low), (right, deep, top), (along, deep, top)];
    let side = [(right, deep, low), (right, back, low), (right, back, top), (right, deep, top)];
    let roof = [(along, deep, top), (right, deep, top), (right, back, top), (along, back, top)];
    let RGBColor(r, g, b) = colour(row);
    let shaded = |part: fn(f64) -> f64| {
        let [r, g, b] = [r, g, b].map(|value| part(f64::from(value)) as u8);
        RGBColor(r, g, b)
    };
    let sides = [
        (front, RGBColor(r, g, b)),
        (side, shaded(|value| value * SHADE)),
        (roof, shaded(|value| value + (255.0 - value) * LIGHT)),
    ];
    for (corners, colour) in sides {
        let mut corners = corners.map(|(group, row, y)| space.at(group, row, y)).to_vec();
        pen.0.draw(&Polygon::new(corners.clone(), colour.filled()))?;
        corners.push(corners[0]);
        pen.line(corners, INK, 0.4)?;
    }
    Ok(())
}
