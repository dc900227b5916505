//! Draws pictures from columns of numbers; independent of the simulator.
//!
//! A [`Figure`] is a title, a caption and [`Panel`]s in a grid; a panel shows grouped [`Bars`],
//! flat or in space, [`Lines`] or the [`Steps`] of distribution functions. [`Figure::svg`] draws
//! it: the same figure gives the same bytes.
//!
//! Series are distinguished twice: by a color from a palette safe for color-blind readers, and by a
//! hatch, marker or dash, so that grayscale prints work, too. Published numbers appear as black
//! diamonds next to the measurements. Legends lie below the panels, never on the data; panels share
//! one legend if they agree on the meaning of every name.
//!
//! `plotters` draws, with its SVG backend only: it needs no font and no system library, can place
//! custom marks on any plot, and has kept a stable interface for years. The alternative, `kuva`
//! 0.6, has more kinds of plots, but no base-2 logarithm and no marks on bars; its interface
//! changes with every release, and it writes its own version into every picture.
//!
//! ```
//! use fowler_figures::{BarSeries, Bars, Figure, Panel};
//!
//! let mut figure = Figure::new("Read latency");
//! figure.caption = Some("Normalized to the baseline.".into());
//! figure.panels.push(Panel::bars("SLC", Bars {
//!     y: "normalized read latency".into(),
//!     groups: vec!["F1".into(), "DAP".into()],
//!     series: vec![BarSeries {
//!         name: "RPS".into(),
//!         values: vec![Some(0.71), Some(0.64)],
//!         published: vec![Some(0.70), None],
//!         ..BarSeries::default()
//!     }],
//!     ..Bars::default()
//! }));
//! assert!(figure.svg().is_ok_and(|svg| svg.starts_with("<svg")));
//! ```
//! See docs/decisions/reports.md, "Which library draws figures?".

mod bars;
mod canvas;
mod check;
mod curves;
mod legend;
mod page;
pub mod palette;
mod panel;
mod ruler;
mod style;
mod towers;

pub use check::{FigureError, Finding, Wrong};

/// A picture of one or more panels.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figure {
    /// Shown above the panels; also the accessible name of the picture.
    pub title: String,
    /// Shown below the panels; also the accessible description of the picture.
    pub caption: Option<String>,
    /// The number of panels side by side, at least 1; by default as many as fit on a page, at most
    /// two.
    pub columns: Option<usize>,
    /// Whether panels of the same kind and scale share one range of y, so that they can be compared
    /// visually.
    pub same_y: bool,
    /// Row by row.
    pub panels: Vec<Panel>,
}

impl Figure {
    /// Returns an empty figure with a title.
    #[must_use]
    pub fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), ..Self::default() }
    }
}

/// One coordinate system with its data.
#[derive(Clone, Debug, PartialEq)]
pub struct Panel {
    /// Shown above the panel; empty for none.
    pub title: String,
    /// What it shows.
    pub plot: Plot,
}

impl Panel {
    /// Returns a panel of grouped bars.
    #[must_use]
    pub fn bars(title: impl Into<String>, bars: Bars) -> Self {
        Self { title: title.into(), plot: Plot::Bars(bars) }
    }

    /// Returns a panel of bars in space: the groups from left to right, and the series behind each
    /// other, the first in front.
    #[must_use]
    pub fn towers(title: impl Into<String>, bars: Bars) -> Self {
        Self { title: title.into(), plot: Plot::Towers(bars) }
    }

    /// Returns a panel of lines.
    #[must_use]
    pub fn lines(title: impl Into<String>, lines: Lines) -> Self {
        Self { title: title.into(), plot: Plot::Lines(lines) }
    }

    /// Returns a panel of distribution functions.
    #[must_use]
    pub fn steps(title: impl Into<String>, steps: Steps) -> Self {
        Self { title: title.into(), plot: Plot::Steps(steps) }
    }
}

/// The kinds of panels.
#[derive(Clone, Debug, PartialEq)]
pub enum Plot {
    /// Groups of bars, one bar per series.
    Bars(Bars),
    /// The same in space. Published numbers, whiskers and the reference are not drawn.
    Towers(Bars),
    /// Series of connected points.
    Lines(Lines),
    /// Empirical distribution functions.
    Steps(Steps),
}

impl Plot {
    /// Returns whether there is nothing to draw: no series has a value or a published number.
    fn is_empty(&self) -> bool {
        match self {
            Plot::Bars(bars) | Plot::Towers(bars) => bars
                .series
                .iter()
                .all(|it| it.values.iter().chain(&it.published).all(Option::is_none)),
            Plot::Lines(lines) => {
                lines.series.iter().all(|it| it.points.is_empty() && it.published.is_empty())
            }
            Plot::Steps(steps) => steps.series.iter().all(|it| it.points.is_empty()),
        }
    }
}

/// Groups of bars, one bar per series, starting at zero on a linear axis.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bars {
    /// Title of the y axis, with its unit.
    pub y: String,
    /// Labels of the groups, from left to right.
    pub groups: Vec<String>,
    /// The bars of each group, from left to right.
    pub series: Vec<BarSeries>,
    /// A horizontal line, such as "as fast as the baseline".
    pub reference: Option<Reference>,
}

/// The bars with one name, one per group.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BarSeries {
    /// For the legend.
    pub name: String,
    /// One value per group. A missing value is drawn as a small cross at zero, explained in the
    /// legend.
    pub values: Vec<Option<f64>>,
    /// The published value for each group, drawn as a diamond; empty for none.
    pub published: Vec<Option<f64>>,
    /// Lower and upper end of the whisker for each group; empty for none.
    pub spread: Vec<Option<(f64, f64)>>,
}

/// Series of connected points.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lines {
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// In the order of the legend.
    pub series: Vec<LineSeries>,
    /// A horizontal line.
    pub reference: Option<Reference>,
}

/// One series of points.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LineSeries {
    /// For the legend.
    pub name: String,
    /// (x, y), connected in this order.
    pub points: Vec<(f64, f64)>,
    /// Points with markers, or a theory: dashed, without markers. With more than 24 points, only
    /// some have markers and whiskers.
    pub stroke: Stroke,
    /// Published (x, y): diamonds, outlined in the color of the series.
    pub published: Vec<(f64, f64)>,
    /// Lower and upper end of the whisker at each point; empty for none.
    pub spread: Vec<Option<(f64, f64)>>,
}

/// How a series of points is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stroke {
    /// Solid, with markers.
    #[default]
    Measured,
    /// Dashed, without markers.
    Theory,
}

/// Empirical distribution functions, from 0 to 1.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Steps {
    /// The horizontal axis.
    pub x: Axis,
    /// Title of the y axis, such as "fraction of reads".
    pub y: String,
    /// In the order of the legend.
    pub series: Vec<StepSeries>,
}

/// One distribution function.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StepSeries {
    /// For the legend.
    pub name: String,
    /// (x, fraction of values that are at most x): neither ever decreases, fractions lie in 0 to 1.
    pub points: Vec<(f64, f64)>,
}

impl StepSeries {
    /// Returns the distribution function of values in any order.
    #[must_use]
    pub fn of_values(name: impl Into<String>, values: &[f64]) -> Self {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let all = sorted.len() as f64;
        let mut points: Vec<(f64, f64)> = Vec::new();
        for (before, value) in sorted.into_iter().enumerate() {
            let share = (before + 1) as f64 / all;
            match points.last_mut() {
                Some(last) if last.0 == value => last.1 = share,
                _ => points.push((value, share)),
            }
        }
        Self { name: name.into(), points }
    }
}

/// An axis: its title and scale. Its range follows from the data.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Axis {
    /// With its unit, such as "read latency (µs)".
    pub title: String,
    /// How values map to positions.
    pub scale: Scale,
}

impl Axis {
    /// Returns a linear axis.
    #[must_use]
    pub fn linear(title: impl Into<String>) -> Self {
        Self { title: title.into(), scale: Scale::Linear }
    }

    /// Returns a base-2 logarithmic axis.
    #[must_use]
    pub fn log2(title: impl Into<String>) -> Self {
        Self { title: title.into(), scale: Scale::Log2 }
    }

    /// Returns a base-10 logarithmic axis.
    #[must_use]
    pub fn log10(title: impl Into<String>) -> Self {
        Self { title: title.into(), scale: Scale::Log10 }
    }
}

/// How values map to positions on an axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scale {
    /// Linear. Zero is included if it is not far from the data.
    #[default]
    Linear,
    /// Base-2 logarithm. Values must be positive.
    Log2,
    /// Base-10 logarithm. Values must be positive.
    Log10,
}

/// A horizontal line across a panel.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reference {
    /// Its y value.
    pub at: f64,
    /// For the legend; empty to omit it there.
    pub name: String,
}
