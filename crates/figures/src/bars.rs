//! Draws groups of vertical bars.

use plotters::style::text_anchor::{HPos, VPos};

use crate::Panel;
use crate::canvas::{Drawn, Lettering, Pen, Place, Plane};
use crate::style::{INK, LABEL, MESH, PAPER, colour, px, width, wrap};

/// Share of a group's width that the bars cover, 0 to 1.
const FILLED: f64 = 0.82;
/// Height of a line of text in a label, in pixels.
const LINE: f64 = 14.0;

/// Returns the width that a panel needs to show all its bars, in pixels.
pub fn natural_width(bars: &Panel) -> f64 {
    let series = bars.series.len().max(1) as f64;
    let bar = if series > 6.0 { 9.0 } else { 12.0 };
    let group = (series * bar / FILLED).max(34.0);
    (group * bars.rows.len() as f64).clamp(320.0, 1100.0)
}

/// Returns the lowest and the highest value in a panel.
pub fn range(bars: &Panel) -> (f64, f64) {
    let series = bars.series.iter().flat_map(|series| {
        let ends = series.spread.iter().flatten().flat_map(|(low, high)| [*low, *high]);
        series.y.iter().chain(&series.published).flatten().copied().chain(ends)
    });
    let all = series.chain(bars.reference.iter().map(|reference| reference.at));
    all.fold((0.0, 0.0), |(low, high), value| (value.min(low), value.max(high)))
}

/// Labels below groups of bars: side by side in one or more lines, or rotated if they are too long.
pub struct Labels {
    lines: Vec<Vec<String>>,
    turned: bool,
    /// Height that the labels of the groups of bars take below the axis, in pixels.
    pub height: f64,
}

impl Labels {
    /// Returns the labels for an axis of this many pixels.
    pub fn new(groups: &[String], axis: f64) -> Self {
        let room = axis / groups.len().max(1) as f64 - 6.0;
        let lines: Vec<Vec<String>> = groups.iter().map(|name| wrap(name, LABEL, room)).collect();
        let widest = |lines: &[Vec<String>]| {
            lines.iter().flatten().map(|l| width(l, LABEL)).fold(0.0, f64::max)
        };
        let rows = lines.iter().map(Vec::len).max().unwrap_or(1).max(1);
        if widest(&lines) <= room && rows <= 3 {
            return Self { lines, turned: false, height: rows as f64 * LINE + 10.0 };
        }
        let lines: Vec<Vec<String>> = groups.iter().map(|name| vec![name.clone()]).collect();
        let height = widest(&lines) + 14.0;
        Self { lines, turned: true, height }
    }

    fn draw(&self, plane: &Plane<'_, '_>) -> Drawn {
        for (group, lines) in self.lines.iter().enumerate() {
            let (x, y) = plane.at_place(group as f64, plane.y.low);
            for (row, line) in lines.iter().enumerate() {
                if self.turned {
                    let lettering = Lettering::new(LABEL).turned().at(HPos::Right, VPos::Center);
                    plane.pen.text(line, lettering, (x, y + px(7.0)))?;
                } else {
                    let lettering = Lettering::new(LABEL).at(HPos::Center, VPos::Center);
                    plane.pen.text(line, lettering, (x, y + px(13.0 + row as f64 * LINE)))?;
                }
            }
        }
        Ok(())
    }
}

/// Draws the bars, then everything on top of them.
pub fn draw(plane: &Plane<'_, '_>, bars: &Panel, labels: &Labels) -> Drawn {
    let pen = plane.pen;
    for group in 1..bars.rows.len() {
        let x = group as f64 - 0.5;
        let ends = vec![plane.at_place(x, plane.y.low), plane.at_place(x, plane.y.high)];
        pen.line(ends, MESH, 0.8)?;
    }
    let slot = FILLED / bars.series.len() as f64;
    let left = |group: usize, series: usize| group as f64 + slot * series as f64 - FILLED / 2.0;
    for (index, series) in bars.series.iter().enumerate() {
        for (group, value) in series.y.iter().enumerate() {
            let (from, to) = (left(group, index), left(group, index) + slot);
            match value {
                Some(value) => {
                    let (one, other) = (plane.at(from, 0.0), plane.at(to, *value));
                    let corners = [(one.0, one.1.min(other.1)), (other.0, one.1.max(other.1))];
                    bar(pen, corners, index)?;
                }
                // A group without a name is a gap between others.
                None if bars.rows[group].is_empty() => {}
                None => {
                    let (x, y) = plane.at((from + to) / 2.0, 0.0);
                    pen.missing((x, y - px(5.0)))?;
                }
            }
        }
    }
    if plane.y.low < 0.0 {
        pen.line(vec![plane.at(plane.x.low, 0.0), plane.at(plane.x.high, 0.0)], INK, 1.0)?;
    }
    if let Some(reference) = &bars.reference {
        plane.reference(reference.at)?;
    }
    let wide = f64::from(plane.at(slot, 0.0).0 - plane.at(0.0, 0.0).0) / crate::style::UNIT;
    for (index, series) in bars.series.iter().enumerate() {
        let middle = |group| left(group, index) + slot / 2.0;
        for (group, ends) in series.spread.iter().enumerate() {
            let Some((low, high)) = *ends else { continue };
            let (low, high) = (plane.at(middle(group), low), plane.at(middle(group), high));
            pen.whisker(low, high, (wide / 4.0).clamp(1.0, 3.0))?;
        }
        for (group, value) in series.published.iter().enumerate() {
            let Some(value) = value else { continue };
            let at = plane.at(middle(group), *value);
            pen.published(at, (wide * 0.32).clamp(2.2, 3.8), PAPER)?;
        }
    }
    labels.draw(plane)
}

/// Draws one bar of a series: color, hatch, edge.
pub fn bar(pen: Pen<'_, '_>, corners: [Place; 2], series: usize) -> Drawn {
    pen.rectangle(corners, colour(series))?;
    for way in HATCHES[series % HATCHES.len()] {
        let path = hatch(corners, *way);
        if path.len() > 1 {
            // In the color of the paper, as on report pages: black is not seen on the darkest hue.
            pen.line(path, PAPER, 1.0)?;
        }
    }
    pen.frame(corners, INK, 0.7)
}

/// Direction of the hatching lines of a bar.
#[derive(Clone, Copy)]
enum Way {
    Rising,
    Falling,
    Level,
}

/// Hatches of bars, by series: six hatches against seven colors, so that 42 series differ.
const HATCHES: [&[Way]; 6] = [
    &[],
    &[Way::Rising],
    &[Way::Falling],
    &[Way::Level],
    &[Way::Rising, Way::Falling],
    &[Way::Level, Way::Rising],
];

/// Distance between the hatching lines of a bar, in pixels along the edge.
const SPACING: f64 = 6.0;

/// Returns a zigzag path that hatches the rectangle of a bar. The path turns along the rectangle's
/// edge, and the bar's outline is drawn over the turns.
fn hatch([(x0, y0), (x1, y1)]: [Place; 2], way: Way) -> Vec<Place> {
    let (wide, high) = (x1 - x0, y1 - y0);
    let step = px(SPACING);
    let mut path: Vec<Place> = Vec::new();
    let last = if matches!(way, Way::Level) { high } else { wide + high };
    // Starting at the foot of the bar, so that bars of different heights look alike.
    for (turn, offset) in (step / 2..last).step_by(step as usize).enumerate() {
        // One end on the left side or the top, the other on the right side or the foot; mirrored
        // for falling lines.
        let mut ends = match way {
            Way::Level => [(0, offset), (wide, offset)],
            Way::Rising | Way::Falling => {
                [(0.max(offset - high), offset.min(high)), (offset.min(wide), 0.max(offset - wide))]
            }
        };
        if turn % 2 == 1 {
            ends.reverse();
        }
        if let (Some(before), next) = (path.last().copied(), ends[0])
            && before.0 != next.0
            && before.1 != next.1
        {
            let upright = before.0 == 0 || before.0 == wide;
            path.push(if upright { (before.0, next.1) } else { (next.0, before.1) });
        }
        path.extend(ends);
    }
    let place = |(x, up): Place| match way {
        Way::Rising => (x1 - x, y1 - up),
        Way::Falling | Way::Level => (x0 + x, y1 - up),
    };
    path.into_iter().map(place).collect()
}
