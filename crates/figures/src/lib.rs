//! Draws pictures from columns of numbers; independent of the simulator.
//!
//! A [`Figure`] is a title, a caption and [`Panel`]s. A panel has a [`Shape`], axes, names of rows
//! and [`Series`] of numbers; it does not depend on the renderer. Two renderers draw the same
//! description. [`Figure::svg`] draws columns of bars, flat or in space, lines, and distribution
//! functions as a file: the same figure gives the same bytes. A report page draws lines, step
//! lines, areas, stacked bars, cells and boxes with its script; as JSON, a figure is what that
//! script reads.
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
//! use fowler_figures::{Figure, Panel, Series};
//!
//! let rps = Series::values("RPS", [0.71, 0.64]).published([Some(0.70), None]);
//! let panel = Panel::columns("SLC", "normalized read latency", ["F1", "DAP"], [rps]);
//! let figure = Figure::new("slc", "Read latency", [panel]).caption("Normalized to the baseline.");
//! assert!(figure.svg().is_ok_and(|svg| svg.starts_with("<svg")));
//! ```
//! See docs/decisions/reports.md, "Which library draws figures?".

mod bars;
mod canvas;
mod check;
mod curves;
mod data;
mod legend;
mod page;
pub mod palette;
mod panel;
mod ruler;
mod series;
mod style;
mod towers;

pub use check::{FigureError, Finding, Wrong};
use serde::{Deserialize, Serialize};
pub use series::{Series, Stroke};

/// A picture of one or more panels.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(from = "data::Data", into = "data::Data")]
pub struct Figure {
    /// Name of the picture: its place on a page, and its files without their extensions.
    pub id: String,
    /// Title above the panels; also the accessible name of the picture.
    pub title: String,
    /// Text beside the picture about how to read it; also its accessible description. Empty for
    /// none.
    pub caption: String,
    /// Number of panels side by side, at least 1; `None` for as many as fit on a page, at most two.
    pub columns: Option<usize>,
    /// True if panels of the same kind and scale share one range of y, so that they can be compared
    /// visually.
    pub same_y: bool,
    /// Panels of the figure. A picture file shows them all, row by row; a report page shows one at
    /// a time, as views that have one shape and one x axis.
    pub panels: Vec<Panel>,
}

impl Figure {
    /// Returns a figure with a title and these panels.
    #[must_use]
    pub fn new(
        id: impl Into<String>,
        title: impl Into<String>,
        panels: impl IntoIterator<Item = Panel>,
    ) -> Self {
        let panels = panels.into_iter().collect();
        Self { id: id.into(), title: title.into(), panels, ..Self::default() }
    }

    /// Returns the figure with a caption.
    #[must_use]
    pub fn caption(self, caption: impl Into<String>) -> Self {
        Self { caption: caption.into(), ..self }
    }

    /// Returns the figure with this many panels side by side.
    #[must_use]
    pub fn columns(self, columns: usize) -> Self {
        Self { columns: Some(columns), ..self }
    }

    /// Returns the figure with this shape and x axis for all panels, as a report page requires,
    /// which shows one panel at a time.
    #[must_use]
    pub fn views(mut self, shape: Shape, x: Axis) -> Self {
        for panel in &mut self.panels {
            (panel.shape, panel.x) = (shape, x.clone());
        }
        self
    }

    /// Returns the figure with one range of y for all panels of the same kind and scale.
    #[must_use]
    pub fn same_y(self) -> Self {
        Self { same_y: true, ..self }
    }
}

/// One coordinate system of a figure, with its data.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct Panel {
    /// Title above the panel; on a report page, which shows one panel at a time, the name by which
    /// the panel is chosen. Empty for none.
    #[serde(rename = "name")]
    pub title: String,
    /// Shape in which the panel's series are drawn.
    #[serde(skip)]
    pub shape: Shape,
    /// Horizontal axis; a panel of columns shows [`Panel::rows`] there.
    #[serde(skip)]
    pub x: Axis,
    /// Vertical axis of the panel; in panels of horizontal bars and of heat map cells, the meaning
    /// of their values.
    pub y: Axis,
    /// Names of the rows, each of which has a value in every series: groups of columns, bars,
    /// boxes, cells. Lines have none. A group of columns without a name is a gap between others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rows: Vec<String>,
    /// Groups of consecutive rows, in order: the name and the number of rows of each. Empty if rows
    /// are not grouped.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<(String, usize)>,
    /// Indices of the rows of a heat map whose names are shown beside it; empty for as many as fit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub major: Vec<usize>,
    /// Series of the panel, in the order of the legend: lines, columns, parts of bars, or rows of
    /// cells.
    pub series: Vec<Series>,
    /// Horizontal reference line, such as "as fast as the baseline"; `None` for none.
    #[serde(skip)]
    pub reference: Option<Reference>,
    /// A remark on what the picture does not show, such as lines that cover each other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remark: Option<String>,
}

impl Panel {
    /// Returns a panel of groups of columns, which start at zero on a linear axis `y`.
    #[must_use]
    pub fn columns<Row: Into<String>>(
        title: impl Into<String>,
        y: impl Into<String>,
        rows: impl IntoIterator<Item = Row>,
        series: impl IntoIterator<Item = Series>,
    ) -> Self {
        let rows = rows.into_iter().map(Into::into).collect();
        Self {
            shape: Shape::Columns,
            rows,
            ..Self::lines(title, Axis::default(), Axis::linear(y), series)
        }
    }

    /// Returns the panel with its columns as three-dimensional bars: groups from left to right, and
    /// the series behind each other, the first in front.
    #[must_use]
    pub fn in_space(self) -> Self {
        Self { shape: Shape::Towers, ..self }
    }

    /// Returns a panel of a report page that shows its panels one at a time. Shape and x axis are
    /// those of the whole figure: see [`Figure::views`].
    #[must_use]
    pub fn view(
        title: impl Into<String>,
        y: Axis,
        series: impl IntoIterator<Item = Series>,
    ) -> Self {
        Self::lines(title, Axis::default(), y, series)
    }

    /// Returns a panel for a heat map on a report page: each series is a row of cells, named after
    /// the series.
    #[must_use]
    pub fn cells(
        title: impl Into<String>,
        y: Axis,
        x: Vec<f64>,
        series: impl IntoIterator<Item = Series>,
    ) -> Self {
        let view = Self::view(title, y, series);
        let rows = view.series.iter().map(|row| row.name.clone()).collect();
        Self { rows, ..view }.shared_x(x)
    }

    /// Returns the panel with x values that all series have in common.
    #[must_use]
    pub fn shared_x(mut self, x: Vec<f64>) -> Self {
        if let Some(first) = self.series.first_mut() {
            first.x = x;
        }
        self
    }

    /// Returns a panel that shows series as lines.
    #[must_use]
    pub fn lines(
        title: impl Into<String>,
        x: Axis,
        y: Axis,
        series: impl IntoIterator<Item = Series>,
    ) -> Self {
        Self { title: title.into(), x, y, series: series.into_iter().collect(), ..Self::default() }
    }

    /// Returns a panel that shows series as distribution functions.
    #[must_use]
    pub fn distributions(
        title: impl Into<String>,
        x: Axis,
        y: impl Into<String>,
        series: impl IntoIterator<Item = Series>,
    ) -> Self {
        let lines = Self::lines(title, x, Axis::linear(y), series);
        Self { shape: Shape::Distributions, ..lines }
    }

    /// Returns the panel with a horizontal line at a value of y; an empty name leaves it out of the
    /// legend.
    #[must_use]
    pub fn reference(self, at: f64, name: impl Into<String>) -> Self {
        Self { reference: Some(Reference { at, name: name.into() }), ..self }
    }

    /// Returns true if no series of the panel has a value or a published number.
    fn is_empty(&self) -> bool {
        self.series.iter().all(|it| it.y.iter().chain(&it.published).all(Option::is_none))
    }
}

/// The shape in which the series of a panel are drawn. A picture file may have columns, towers,
/// lines and distributions; a report page may have lines and all the other shapes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Shape {
    /// Lines, one per series, from point to point.
    #[default]
    Lines,
    /// Step lines: each value holds up to its point.
    Steps,
    /// Empirical distribution functions, from 0 to 1: each fraction holds from its point on.
    Distributions,
    /// Areas on top of each other, one of each series.
    Areas,
    /// Groups of upright bars, one bar of each series, starting at zero.
    Columns,
    /// Groups of three-dimensional bars in a perspective view. Published numbers, whiskers and the
    /// horizontal reference line are not drawn.
    Towers,
    /// Horizontal bars, each stacked from a part of each series.
    Bars,
    /// A heat map: a row of colored cells for each series.
    Heat,
    /// Box plots: in each row, one box of five percentiles for each series. The values of a series
    /// are listed row by row, five per row in ascending order.
    Boxes,
}

/// An axis: its title and scale. Its range follows from the data.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct Axis {
    /// Title of the axis with the unit, such as "read latency (µs)"; also the head of a column of
    /// numbers.
    #[serde(rename = "name")]
    pub title: String,
    /// Scale of the axis: linear or logarithmic.
    #[serde(rename = "log")]
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

/// The scale of an axis: the function from values to positions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(from = "bool", into = "bool")]
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
    /// Value of y at which the horizontal reference line is drawn.
    pub at: f64,
    /// Name of the horizontal reference line in the legend; empty to leave it out of the legend.
    pub name: String,
}
