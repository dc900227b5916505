//! Legends below the panels.

use crate::canvas::{Drawn, Lettering, Pen, Place};
use crate::style::{INK, LABEL, PAPER, colour, px, width};
use crate::{Panel, Series, Shape, Stroke, bars, curves};

/// Symbol in front of a name in a legend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    Bar(usize),
    Measured(usize),
    Theory(usize),
    Point(usize),
    Step(usize),
    Published,
    Whisker,
    Missing,
    Across,
}

/// Symbol and name of a legend entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub sign: Sign,
    pub name: String,
}

/// Legend of a panel: symbols and names, in columns.
#[derive(Clone, Debug, Default)]
pub struct Legend {
    pub entries: Vec<Entry>,
}

const SIGN: f64 = 26.0;
const LINE: f64 = 18.0;
const GAP: f64 = 18.0;

impl Legend {
    /// Returns the legend of one panel.
    pub fn of(panel: &Panel) -> Self {
        // The rows of towers are named where they stand.
        if panel.shape == Shape::Towers {
            return Self::default();
        }
        let sign = |index: usize, stroke: Stroke| match (panel.shape, stroke) {
            (Shape::Columns, _) => Sign::Bar(index),
            (Shape::Distributions, _) => Sign::Step(index),
            (_, Stroke::Measured) => Sign::Measured(index),
            (_, Stroke::Theory) => Sign::Theory(index),
            (_, Stroke::Points) => Sign::Point(index),
        };
        let all = panel.series.iter().enumerate();
        let mut entries: Vec<Entry> = all
            .map(|(index, it)| Entry { sign: sign(index, it.stroke), name: it.name.clone() })
            .collect();
        let any = |of: fn(&Series) -> bool| panel.series.iter().any(of);
        let columns = panel.shape == Shape::Columns;
        let is_missing = |(row, value): (&String, &Option<f64>)| !row.is_empty() && value.is_none();
        let misses = |it: &Series| panel.rows.iter().zip(&it.y).any(is_missing);
        let extra = [
            (any(|it| it.published.iter().any(Option::is_some)), Sign::Published, "published"),
            (any(|it| it.spread.iter().any(Option::is_some)), Sign::Whisker, "spread"),
            (columns && panel.series.iter().any(misses), Sign::Missing, "no value"),
        ];
        let extra = extra.into_iter().filter(|it| it.0);
        entries.extend(extra.map(|(_, sign, name)| Entry { sign, name: name.into() }));
        let across = panel.reference.iter().filter(|it| !it.name.is_empty());
        entries.extend(across.map(|it| Entry { sign: Sign::Across, name: it.name.clone() }));
        Self { entries }
    }

    /// Returns one legend for several panels; `None` if two panels use one name for different
    /// symbols, or one symbol for different names.
    pub fn shared(all: &[Self]) -> Option<Self> {
        let mut shared: Vec<Entry> = Vec::new();
        for entry in all.iter().flat_map(|legend| &legend.entries) {
            if !shared.contains(entry) {
                let clash =
                    |other: &Entry| (other.sign == entry.sign) != (other.name == entry.name);
                if shared.iter().any(clash) {
                    return None;
                }
                shared.push(entry.clone());
            }
        }
        // Explanations of marks come after the series, whichever panel had them first.
        shared.sort_by_key(|entry| match entry.sign {
            Sign::Bar(_) | Sign::Measured(_) | Sign::Theory(_) | Sign::Point(_) | Sign::Step(_) => {
                0
            }
            _ => 1,
        });
        Some(Self { entries: shared })
    }

    /// Returns the smallest width that the legend needs, in pixels.
    pub fn least(&self) -> f64 {
        self.entries.iter().map(Entry::width).fold(0.0, f64::max)
    }

    /// Returns the widths of the legend's columns, in pixels, if it may be `room` pixels wide: the
    /// fewest rows that fit, evenly filled.
    fn columns(&self, room: f64) -> Vec<f64> {
        let all = self.entries.len();
        let mut widths = Vec::new();
        for rows in 1..=all {
            let columns = all.div_ceil(rows);
            widths = vec![0.0; columns];
            for (index, entry) in self.entries.iter().enumerate() {
                widths[index % columns] = entry.width().max(widths[index % columns]);
            }
            if span(&widths) <= room {
                break;
            }
        }
        widths
    }

    /// Returns the height of the legend in pixels, if it may be `room` pixels wide.
    pub fn height(&self, room: f64) -> f64 {
        let columns = self.columns(room).len().max(1);
        self.entries.len().div_ceil(columns) as f64 * LINE + 10.0
    }

    /// Draws the legend with its corner at `(left, top)`, in pixels.
    pub fn draw(&self, pen: Pen<'_, '_>, (left, top): (f64, f64), room: f64) -> Drawn {
        let columns = self.columns(room);
        let left = left + ((room - span(&columns)) / 2.0).max(0.0);
        for (index, entry) in self.entries.iter().enumerate() {
            let column = index % columns.len();
            let x = left + columns[..column].iter().map(|width| width + GAP).sum::<f64>();
            let y = top + 10.0 + ((index / columns.len()) as f64 + 0.5) * LINE;
            entry.sign.draw(pen, (px(x), px(y)))?;
            pen.text(&entry.name, Lettering::new(LABEL), (px(x + SIGN + 6.0), px(y)))?;
        }
        Ok(())
    }
}

impl Entry {
    fn width(&self) -> f64 {
        SIGN + 6.0 + width(&self.name, LABEL)
    }
}

/// Returns the width of all columns of the legend together, with the gaps between them, in pixels.
fn span(columns: &[f64]) -> f64 {
    columns.iter().map(|width| width + GAP).sum::<f64>() - GAP
}

impl Sign {
    /// Draws the symbol of a legend entry to the right of a position.
    fn draw(self, pen: Pen<'_, '_>, (x, y): Place) -> Drawn {
        let line = || vec![(x, y), (x + px(SIGN), y)];
        let middle = (x + px(SIGN / 2.0), y);
        match self {
            Self::Bar(index) => {
                bars::bar(pen, [(x + px(3.0), y - px(6.0)), (x + px(SIGN), y + px(6.0))], index)
            }
            Self::Measured(index) => {
                pen.line(line(), colour(index), curves::WIDTH)?;
                pen.series(index, middle)
            }
            Self::Theory(index) => {
                pen.dashed(line(), colour(index), curves::WIDTH, Some(curves::theory(index)))
            }
            Self::Point(index) => pen.series(index, middle),
            Self::Step(index) => {
                pen.dashed(line(), colour(index), curves::WIDTH, curves::dash(index))
            }
            Self::Published => pen.published(middle, 3.6, PAPER),
            Self::Whisker => {
                pen.whisker((middle.0, middle.1 + px(6.0)), (middle.0, middle.1 - px(6.0)), 2.5)
            }
            Self::Missing => pen.missing(middle),
            Self::Across => pen.dashed(line(), INK, 1.2, Some((5.0, 3.0))),
        }
    }
}
