//! Validation of figures: finds everything that prevents drawing, at once.

use std::fmt;

use crate::{Figure, Panel, Scale, Series, Shape};

/// Everything that prevents a figure from being drawn; never empty.
#[derive(Clone, Debug, PartialEq)]
pub struct FigureError {
    /// Title of the figure that cannot be drawn.
    pub figure: String,
    /// Problems of the figure, in the order of the panels and their series.
    pub findings: Vec<Finding>,
}

/// A problem in a figure, and its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// Title of the faulty panel, or its number from 1 if it has none; empty if the problem
    /// concerns the whole figure.
    pub panel: String,
    /// Name of the faulty series; empty if the problem concerns the whole panel.
    pub series: String,
    /// Kind of the problem with the figure.
    pub wrong: Wrong,
}

/// Kind of a problem that prevents a figure from being drawn.
#[derive(Clone, Debug, PartialEq)]
pub enum Wrong {
    /// The figure has no panels, or zero columns of them.
    NoPanels,
    /// The panel has this shape, which only a report page (with its script) can draw, not a picture
    /// file.
    OnPages(Shape),
    /// The panel has no groups of bars.
    NoGroups,
    /// A data series of the figure has no name, which the legend needs.
    NoName,
    /// Two series of the panel have the same name.
    SameName,
    /// A column of numbers has the wrong length.
    Length {
        /// Name of the column of numbers in a series of the figure, such as `values`, that has the
        /// wrong length.
        column: &'static str,
        /// Number of values in the column, named `column`, of a series of the figure.
        found: usize,
        /// Number of values that the column, named `column`, of a series of the figure should have.
        expected: usize,
    },
    /// A number is infinite, not a number, or too far from zero to be drawn (1e100).
    NotFinite {
        /// Name of the column in the figure's series that holds the number that cannot be drawn.
        column: &'static str,
        /// Index in the series' column of the number that cannot be drawn, from 0.
        index: usize,
        /// The number that is infinite, not a number, or too far from zero to be drawn.
        value: f64,
    },
    /// A number on a logarithmic axis is zero, negative, or too close to zero to be drawn (1e-100).
    NotPositive {
        /// Name of the column in the figure's series that holds the number which a logarithmic axis
        /// cannot show.
        column: &'static str,
        /// Index in the series' column, from 0, of the number which a logarithmic axis cannot show.
        index: usize,
        /// The number that is zero, negative, or too close to zero for a logarithmic axis.
        value: f64,
    },
    /// The points of a distribution function decrease, or leave 0 to 1.
    NotRising {
        /// Index of the first point of the distribution function that is lower than the point
        /// before it, or outside 0 to 1; from 0.
        index: usize,
    },
    /// A whisker ends below where it begins.
    Inverted {
        /// Index, from 0, of the value in the figure's series whose whisker ends below where it
        /// begins.
        index: usize,
    },
    /// The drawing library failed, with its message.
    Drawing(String),
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoPanels => write!(f, "there are no panels"),
            Self::OnPages(shape) => {
                write!(f, "only a page with its script can draw the shape {shape:?}")
            }
            Self::NoGroups => write!(f, "there are no groups of bars"),
            Self::NoName => write!(f, "a series has no name for the legend"),
            Self::SameName => write!(f, "another series of the panel has the same name"),
            Self::Length { column, found, expected } => {
                write!(f, "{column} has {found} entries, expected {expected}")
            }
            Self::NotFinite { column, index, value } => {
                write!(f, "{column}[{index}] is {value}, expected a finite number below 1e100")
            }
            Self::NotPositive { column, index, value } => write!(
                f,
                "{column}[{index}] is {value}, expected a positive number (the axis is logarithmic)"
            ),
            Self::NotRising { index } => write!(
                f,
                "points[{index}]: x and fraction must not decrease, and fractions must be 0 to 1"
            ),
            Self::Inverted { index } => write!(f, "spread[{index}] ends below where it begins"),
            Self::Drawing(words) => write!(f, "drawing failed: {words}"),
        }
    }
}

impl fmt::Display for FigureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the figure \"{}\" cannot be drawn", self.figure)?;
        for Finding { panel, series, wrong } in &self.findings {
            write!(f, "\n  ")?;
            if !panel.is_empty() {
                write!(f, "panel {panel}: ")?;
            }
            if !series.is_empty() {
                write!(f, "series {series}: ")?;
            }
            write!(f, "{wrong}")?;
        }
        Ok(())
    }
}

impl std::error::Error for FigureError {}

/// Largest magnitude of a number that can be drawn; one over it is the smallest.
const FAR: f64 = 1e100;
const NEAR: f64 = 1e-100;

struct Findings<'a> {
    panel: String,
    series: &'a str,
    all: Vec<Finding>,
}

impl Findings<'_> {
    fn add(&mut self, wrong: Wrong) {
        let (panel, series) = (self.panel.clone(), self.series.to_owned());
        self.all.push(Finding { panel, series, wrong });
    }

    /// Returns the first number of a column that cannot be drawn; further ones are not reported.
    fn numbers(
        &mut self,
        column: &'static str,
        scale: Scale,
        values: impl Iterator<Item = (usize, f64)>,
    ) {
        for (index, value) in values {
            if value.is_nan() || value.abs() > FAR {
                return self.add(Wrong::NotFinite { column, index, value });
            }
            if scale != Scale::Linear && value < NEAR {
                return self.add(Wrong::NotPositive { column, index, value });
            }
        }
    }

    fn length(&mut self, column: &'static str, found: usize, expected: usize) {
        if found != expected {
            self.add(Wrong::Length { column, found, expected });
        }
    }

    fn points(
        &mut self,
        columns: [&'static str; 2],
        scales: [Scale; 2],
        (x, y): (&[f64], &[Option<f64>]),
    ) {
        self.length(columns[0], x.len(), y.len());
        self.numbers(columns[0], scales[0], x.iter().copied().enumerate());
        self.numbers(columns[1], scales[1], given(y));
    }

    fn spread(&mut self, scale: Scale, spread: &[Option<(f64, f64)>]) {
        let ends = || spread.iter().enumerate().filter_map(|(i, ends)| Some((i, (*ends)?)));
        self.numbers("spread", scale, ends().flat_map(|(i, (low, high))| [(i, low), (i, high)]));
        if let Some((index, _)) = ends().find(|(_, (low, high))| low > high) {
            self.add(Wrong::Inverted { index });
        }
    }
}

/// Checks a figure, and returns every reason why it cannot be drawn.
pub(crate) fn check(figure: &Figure) -> Result<(), FigureError> {
    let mut findings = Findings { panel: String::new(), series: "", all: Vec::new() };
    if figure.panels.is_empty() || figure.columns == Some(0) {
        findings.add(Wrong::NoPanels);
    }
    for (number, panel) in figure.panels.iter().enumerate() {
        findings.panel =
            if panel.title.is_empty() { (number + 1).to_string() } else { panel.title.clone() };
        names(&mut findings, &panel.series);
        let at = panel.reference.iter().map(|reference| (0, reference.at));
        findings.numbers("reference", panel.y.scale, at);
        let of: fn(&mut Findings<'_>, &Panel, &Series) = match panel.shape {
            Shape::Columns | Shape::Towers => of_columns,
            Shape::Lines => of_line,
            Shape::Distributions => of_distribution,
            Shape::Steps | Shape::Areas | Shape::Bars | Shape::Heat | Shape::Boxes => {
                findings.add(Wrong::OnPages(panel.shape));
                continue;
            }
        };
        if matches!(panel.shape, Shape::Columns | Shape::Towers) && panel.rows.is_empty() {
            findings.add(Wrong::NoGroups);
        }
        for series in &panel.series {
            findings.series = &series.name;
            of(&mut findings, panel, series);
        }
    }
    if findings.all.is_empty() {
        return Ok(());
    }
    Err(FigureError { figure: figure.title.clone(), findings: findings.all })
}

fn names<'a>(findings: &mut Findings<'a>, series: &'a [Series]) {
    for (index, one) in series.iter().enumerate() {
        findings.series = &one.name;
        if one.name.trim().is_empty() {
            findings.add(Wrong::NoName);
        } else if series[..index].iter().any(|other| other.name == one.name) {
            findings.add(Wrong::SameName);
        }
    }
    findings.series = "";
}

fn given(values: &[Option<f64>]) -> impl Iterator<Item = (usize, f64)> + '_ {
    values.iter().enumerate().filter_map(|(index, value)| Some((index, (*value)?)))
}

fn of_columns(findings: &mut Findings<'_>, panel: &Panel, series: &Series) {
    let rows = panel.rows.len();
    findings.length("values", series.y.len(), rows);
    findings.numbers("values", Scale::Linear, given(&series.y));
    if !series.published.is_empty() {
        findings.length("published", series.published.len(), rows);
        findings.numbers("published", Scale::Linear, given(&series.published));
    }
    if !series.spread.is_empty() {
        findings.length("spread", series.spread.len(), rows);
        findings.spread(Scale::Linear, &series.spread);
    }
}

fn of_line(findings: &mut Findings<'_>, panel: &Panel, series: &Series) {
    let (x, y) = (panel.x.scale, panel.y.scale);
    findings.points(["x of points", "y of points"], [x, y], (&series.x, &series.y));
    let published = (&series.published_x[..], &series.published[..]);
    findings.points(["x of published", "y of published"], [x, y], published);
    if !series.spread.is_empty() {
        findings.length("spread", series.spread.len(), series.y.len());
        findings.spread(y, &series.spread);
    }
}

fn of_distribution(findings: &mut Findings<'_>, panel: &Panel, series: &Series) {
    let before = findings.all.len();
    let scales = [panel.x.scale, Scale::Linear];
    findings.points(["x of points", "fraction of points"], scales, (&series.x, &series.y));
    let mut last = (f64::NEG_INFINITY, 0.0);
    let falls = series.points().find(|(_, (x, share))| {
        let (x_before, share_before) = std::mem::replace(&mut last, (*x, *share));
        *x < x_before || *share < share_before || *share > 1.0
    });
    if findings.all.len() == before
        && let Some((index, _)) = falls
    {
        findings.add(Wrong::NotRising { index });
    }
}
