//! Pictures from columns of numbers; knows no drive.
//!
//! A [`Figure`] is a title, a caption and [`Panel`]s in a grid; a panel shows grouped [`Bars`],
//! [`Lines`] or the [`Steps`] of distribution functions. [`Figure::svg`] draws it: the same figure
//! gives the same bytes.
//!
//! Series are told apart twice, by a colour that colour-blind readers can tell and by a hatch, a
//! marker or a dash, so that a print in grey works too. What was published stands beside what was
//! measured as black diamonds. Legends lie below the panels, never on the data; they are one where
//! all panels agree on what a name looks like.
//!
//! `plotters` draws, with its SVG backend alone: it needs no font and no system library, has
//! coordinates for marks of our own on any plot, and has kept its interface for years. `kuva` 0.6
//! was the other candidate. It knows more kinds of plots, but no logarithm to base 2 and no marks
//! on bars, its interface changes with every release, and it writes its own version into every
//! picture.
//!
//! ```
//! use fowler_figures::{BarSeries, Bars, Figure, Panel};
//!
//! let mut figure = Figure::new("Read latency");
//! figure.caption = Some("Normalised to the baseline.".into());
//! figure.panels.push(Panel::bars("SLC", Bars {
//!     y: "normalised read latency".into(),
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
mod panel;
mod ruler;
mod style;

pub use check::{FigureError, Finding, Wrong};

/// A picture of one or more panels.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figure {
    /// Stands above the panels, and is the accessible name of the picture.
    pub title: String,
    /// Stands below the panels, and is the accessible description of the picture.
    pub caption: Option<String>,
    /// Panels beside each other, at least 1; without it as many as fit on a page, at most two.
    pub columns: Option<usize>,
    /// Whether panels of the same kind and the same scale share one range of y, to be compared by
    /// eye.
    pub same_y: bool,
    /// Row by row.
    pub panels: Vec<Panel>,
}

impl Figure {
    /// A figure with a title and nothing in it yet.
    #[must_use]
    pub fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), ..Self::default() }
    }

    /// The picture as the text of an SVG file, which ends in a newline.
    ///
    /// # Errors
    ///
    /// Everything that keeps the figure from being drawn, all at once: see [`Wrong`]. Nothing is
    /// left out silently.
    pub fn svg(&self) -> Result<String, FigureError> {
        check::check(self)?;
        page::draw(self)
    }
}

/// One coordinate system with its data.
#[derive(Clone, Debug, PartialEq)]
pub struct Panel {
    /// Stands above the panel; empty for none.
    pub title: String,
    /// What it shows.
    pub plot: Plot,
}

impl Panel {
    /// A panel of grouped bars.
    #[must_use]
    pub fn bars(title: impl Into<String>, bars: Bars) -> Self {
        Self { title: title.into(), plot: Plot::Bars(bars) }
    }

    /// A panel of lines.
    #[must_use]
    pub fn lines(title: impl Into<String>, lines: Lines) -> Self {
        Self { title: title.into(), plot: Plot::Lines(lines) }
    }

    /// A panel of distribution functions.
    #[must_use]
    pub fn steps(title: impl Into<String>, steps: Steps) -> Self {
        Self { title: title.into(), plot: Plot::Steps(steps) }
    }
}

/// The kinds of panels.
#[derive(Clone, Debug, PartialEq)]
pub enum Plot {
    /// Groups of bars, one bar for each series.
    Bars(Bars),
    /// Series of points, joined.
    Lines(Lines),
    /// Empirical distribution functions.
    Steps(Steps),
}

/// Groups of bars, one bar for each series, from zero on a linear axis.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bars {
    /// Title of the y axis, with its unit.
    pub y: String,
    /// Labels of the groups, from left to right.
    pub groups: Vec<String>,
    /// The bars of each group, from left to right.
    pub series: Vec<BarSeries>,
    /// A line across, such as "as fast as the baseline".
    pub reference: Option<Reference>,
}

/// The bars of one name, one for each group.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BarSeries {
    /// For the legend.
    pub name: String,
    /// One for each group. A bar without a value is a small cross at zero, explained in the legend.
    pub values: Vec<Option<f64>>,
    /// What was published for each group, drawn as diamonds; empty for nothing.
    pub published: Vec<Option<f64>>,
    /// Lower and upper end of the whisker for each group; empty for none.
    pub spread: Vec<Option<(f64, f64)>>,
}

/// Series of points, joined.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lines {
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// In the order of the legend.
    pub series: Vec<LineSeries>,
    /// A line across.
    pub reference: Option<Reference>,
}

/// One series of points.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LineSeries {
    /// For the legend.
    pub name: String,
    /// (x, y), joined in this order. May be empty only where something was published.
    pub points: Vec<(f64, f64)>,
    /// Points with markers, or a theory: dashed, without markers. Of more than 24 points only some
    /// are marked, with their whiskers.
    pub stroke: Stroke,
    /// (x, y) of what was published: diamonds, edged in the colour of the series.
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
    /// (x, fraction of all that is at most x): neither ever falls, fractions lie in 0 to 1.
    pub points: Vec<(f64, f64)>,
}

impl StepSeries {
    /// The distribution of values in any order.
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

/// An axis: what it shows and how it is divided. Its range follows from the data.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Axis {
    /// With its unit, such as "read latency (µs)".
    pub title: String,
    /// How values become places.
    pub scale: Scale,
}

impl Axis {
    /// An axis on which equal differences are equal lengths.
    #[must_use]
    pub fn linear(title: impl Into<String>) -> Self {
        Self { title: title.into(), scale: Scale::Linear }
    }

    /// An axis on which equal ratios are equal lengths, divided in powers of two.
    #[must_use]
    pub fn log2(title: impl Into<String>) -> Self {
        Self { title: title.into(), scale: Scale::Log2 }
    }

    /// An axis on which equal ratios are equal lengths, divided in powers of ten.
    #[must_use]
    pub fn log10(title: impl Into<String>) -> Self {
        Self { title: title.into(), scale: Scale::Log10 }
    }
}

/// How values become places on an axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scale {
    /// As they are. Zero is on the axis when it is not far from the data.
    #[default]
    Linear,
    /// Their logarithm to base 2. Values must be positive.
    Log2,
    /// Their logarithm to base 10. Values must be positive.
    Log10,
}

/// A horizontal line across a panel.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reference {
    /// Where it crosses the y axis.
    pub at: f64,
    /// For the legend; empty to leave it out there.
    pub name: String,
}
