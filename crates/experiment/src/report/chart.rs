//! What a page draws, as data: the page's script turns it into pictures, tables and CSV.

use serde::Serialize;

/// A picture and the numbers behind it.
#[derive(Clone, Debug, Serialize)]
pub struct Chart {
    /// Its name on the page and of its CSV file.
    pub id: String,
    /// What it shows, in a few words.
    pub title: String,
    /// How to read it, for those who see it and those who do not.
    pub about: String,
    /// How it is drawn.
    pub shape: Shape,
    /// The axis across.
    pub x: Axis,
    /// Views of which one is shown at a time; each has a name where there are several.
    pub panels: Vec<Panel>,
}

/// How a chart is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Shape {
    /// Lines from point to point.
    Lines,
    /// Lines that hold a value up to their point.
    Steps,
    /// Areas on top of each other.
    Areas,
    /// Bars across, of parts beside each other.
    Bars,
    /// A field of cells in colours.
    Heat,
}

/// An axis, or the meaning of a cell.
#[derive(Clone, Debug, Serialize)]
pub struct Axis {
    /// What it is; the head of a column of numbers, so the unit stands in it.
    pub name: String,
    /// Whether equal steps are equal factors.
    pub log: bool,
}

impl Axis {
    /// An axis of equal steps.
    pub fn linear(name: impl Into<String>) -> Axis {
        Axis { name: name.into(), log: false }
    }

    /// An axis of equal factors.
    pub fn log(name: impl Into<String>) -> Axis {
        Axis { name: name.into(), log: true }
    }
}

/// One view of a chart.
#[derive(Clone, Debug, Serialize)]
pub struct Panel {
    /// What tells it from the others.
    pub name: String,
    /// The axis upwards, or what cells and bars mean.
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
    /// Where its points lie; bars need no such thing. None is the same as of the first of its
    /// panel.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub x: Vec<f64>,
    /// Its values; none where nothing was measured.
    pub y: Vec<Option<f64>>,
}

impl Series {
    /// A line through these points.
    pub fn line(name: impl Into<String>, x: Vec<f64>, y: Vec<Option<f64>>) -> Series {
        debug_assert_eq!(x.len(), y.len(), "a value for every point");
        Series { name: name.into(), x, y }
    }

    /// Values of rows that stand elsewhere.
    pub fn values(name: impl Into<String>, y: Vec<Option<f64>>) -> Series {
        Series { name: name.into(), x: Vec::new(), y }
    }
}

/// A share as a percentage, to a hundredth: more digits would be noise, and every page pays for
/// them.
pub fn percentage(share: f64) -> f64 {
    (share * 1e4).round() / 100.0
}

/// A number to four significant digits or so, for cells of which there are very many.
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
