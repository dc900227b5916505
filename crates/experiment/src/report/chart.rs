//! Charts as data: the script of the page turns them into pictures, tables and CSV.

use serde::Serialize;

/// A chart: a picture and its numbers.
#[derive(Clone, Debug, Serialize)]
pub struct Chart {
    /// Its name on the page and of its CSV file.
    pub id: String,
    /// What it shows, in a few words.
    pub title: String,
    /// How to read it, as a caption and for screen readers.
    pub about: String,
    /// How it is drawn.
    pub shape: Shape,
    /// The x axis.
    pub x: Axis,
    /// The views, of which one is shown at a time; each has a name if there are several.
    pub panels: Vec<Panel>,
}

/// How a chart is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Shape {
    /// Lines from point to point.
    Lines,
    /// Step lines: each value holds up to its point.
    Steps,
    /// Areas on top of each other.
    Areas,
    /// Horizontal stacked bars.
    Bars,
    /// A heat map.
    Heat,
}

/// An axis, or the meaning of the cells of a heat map.
#[derive(Clone, Debug, Serialize)]
pub struct Axis {
    /// Its name with the unit, as it is also the head of a column of numbers.
    pub name: String,
    /// Whether it is logarithmic.
    pub log: bool,
}

impl Axis {
    /// Returns a linear axis.
    pub fn linear(name: impl Into<String>) -> Axis {
        Axis { name: name.into(), log: false }
    }

    /// Returns a logarithmic axis.
    pub fn log(name: impl Into<String>) -> Axis {
        Axis { name: name.into(), log: true }
    }
}

/// One view of a chart.
#[derive(Clone, Debug, Serialize)]
pub struct Panel {
    /// Its name, which distinguishes it from the other views.
    pub name: String,
    /// The y axis, or the meaning of cells and bars.
    pub y: Axis,
    /// The rows of bars and cells; lines have none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rows: Vec<String>,
    /// Lines, parts of bars, or rows of cells.
    pub series: Vec<Series>,
}

/// A line, a part of every bar, or a row of cells.
#[derive(Clone, Debug, Serialize)]
pub struct Series {
    /// Its name in the legend.
    pub name: String,
    /// The x values of its points; empty for bars, or if they are those of the first series of its
    /// panel.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub x: Vec<f64>,
    /// Its values; `None` where nothing was measured.
    pub y: Vec<Option<f64>>,
}

impl Series {
    /// Returns a line through these points.
    pub fn line(name: impl Into<String>, x: Vec<f64>, y: Vec<Option<f64>>) -> Series {
        debug_assert_eq!(x.len(), y.len(), "a value for every point");
        Series { name: name.into(), x, y }
    }

    /// Returns values whose rows or x values are given elsewhere.
    pub fn values(name: impl Into<String>, y: Vec<Option<f64>>) -> Series {
        Series { name: name.into(), x: Vec::new(), y }
    }
}

/// Returns a share as a percentage with two decimals: more digits would be noise that makes every
/// page larger.
pub fn percentage(share: f64) -> f64 {
    (share * 1e4).round() / 100.0
}

/// Rounds a number to four significant digits, for the many cells of heat maps.
pub fn coarse(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return 0.0;
    }
    let scale = 10f64.powi(3 - value.abs().log10().floor() as i32);
    (value * scale).round() / scale
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_as_long_as_they_mean_something() {
        assert_eq!(percentage(0.123_456), 12.35);
        assert_eq!(coarse(123_456.0), 123_500.0);
        assert_eq!(coarse(0.001_234_567), 0.001_235);
        assert_eq!((coarse(0.0), coarse(-12.0)), (0.0, -12.0));
    }
}
