//! Validation of figures: finds everything that prevents drawing, at once.

use std::fmt;

use crate::{Bars, Figure, Lines, Plot, Reference, Scale, Steps};

/// Everything that prevents a figure from being drawn; never empty.
#[derive(Clone, Debug, PartialEq)]
pub struct FigureError {
    /// The title of the figure.
    pub figure: String,
    /// In the order of the panels and their series.
    pub findings: Vec<Finding>,
}

/// One problem, and where it is.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The panel by its title, or by its number from 1 if it has none; empty for the whole figure.
    pub panel: String,
    /// The series by its name; empty for the whole panel.
    pub series: String,
    /// What is wrong.
    pub wrong: Wrong,
}

/// A kind of problem.
#[derive(Clone, Debug, PartialEq)]
pub enum Wrong {
    /// The figure has no panels, or zero columns of them.
    NoPanels,
    /// The panel has no groups of bars.
    NoGroups,
    /// The series has no name.
    NoName,
    /// Two series of the panel have the same name.
    SameName,
    /// A column has the wrong length.
    Length {
        /// The column.
        column: &'static str,
        /// Its length.
        found: usize,
        /// The expected length.
        expected: usize,
    },
    /// A number is infinite, not a number, or too far from zero to be drawn (1e100).
    NotFinite {
        /// The column.
        column: &'static str,
        /// The index, from 0.
        index: usize,
        /// The number.
        value: f64,
    },
    /// A number on a logarithmic axis is zero, negative, or too close to zero to be drawn (1e-100).
    NotPositive {
        /// The column.
        column: &'static str,
        /// The index, from 0.
        index: usize,
        /// The number.
        value: f64,
    },
    /// The points of a distribution function decrease, or leave 0 to 1.
    NotRising {
        /// The index of the first such point, from 0.
        index: usize,
    },
    /// A whisker ends below where it begins.
    Inverted {
        /// The index of the whisker, from 0.
        index: usize,
    },
    /// The drawing library failed, with its message.
    Drawing(String),
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoPanels => write!(f, "there are no panels"),
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

/// The largest and the smallest magnitude that can be drawn.
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

    fn spread(&mut self, scale: Scale, spread: &[Option<(f64, f64)>]) {
        let ends = || spread.iter().enumerate().filter_map(|(i, ends)| Some((i, (*ends)?)));
        self.numbers("spread", scale, ends().flat_map(|(i, (low, high))| [(i, low), (i, high)]));
        if let Some((index, _)) = ends().find(|(_, (low, high))| low > high) {
            self.add(Wrong::Inverted { index });
        }
    }

    fn reference(&mut self, scale: Scale, reference: Option<&Reference>) {
        self.numbers("reference", scale, reference.iter().map(|reference| (0, reference.at)));
    }
}

/// Returns every reason why a figure cannot be drawn.
pub(crate) fn check(figure: &Figure) -> Result<(), FigureError> {
    let mut findings = Findings { panel: String::new(), series: "", all: Vec::new() };
    if figure.panels.is_empty() || figure.columns == Some(0) {
        findings.add(Wrong::NoPanels);
    }
    for (number, panel) in figure.panels.iter().enumerate() {
        findings.panel =
            if panel.title.is_empty() { (number + 1).to_string() } else { panel.title.clone() };
        findings.series = "";
        names(&mut findings, &panel.plot);
        match &panel.plot {
            Plot::Bars(bars) | Plot::Towers(bars) => check_bars(&mut findings, bars),
            Plot::Lines(lines) => check_lines(&mut findings, lines),
            Plot::Steps(steps) => check_steps(&mut findings, steps),
        }
    }
    if findings.all.is_empty() {
        return Ok(());
    }
    Err(FigureError { figure: figure.title.clone(), findings: findings.all })
}

fn names<'a>(findings: &mut Findings<'a>, plot: &'a Plot) {
    let names: Vec<&str> = match plot {
        Plot::Bars(bars) | Plot::Towers(bars) => {
            bars.series.iter().map(|series| series.name.as_str()).collect()
        }
        Plot::Lines(lines) => lines.series.iter().map(|series| series.name.as_str()).collect(),
        Plot::Steps(steps) => steps.series.iter().map(|series| series.name.as_str()).collect(),
    };
    for (index, name) in names.iter().enumerate() {
        findings.series = name;
        if name.trim().is_empty() {
            findings.add(Wrong::NoName);
        } else if names[..index].contains(name) {
            findings.add(Wrong::SameName);
        }
    }
    findings.series = "";
}

fn given(values: &[Option<f64>]) -> impl Iterator<Item = (usize, f64)> + '_ {
    values.iter().enumerate().filter_map(|(index, value)| Some((index, (*value)?)))
}

fn check_bars<'a>(findings: &mut Findings<'a>, bars: &'a Bars) {
    let groups = bars.groups.len();
    if groups == 0 {
        findings.add(Wrong::NoGroups);
    }
    findings.reference(Scale::Linear, bars.reference.as_ref());
    for series in &bars.series {
        findings.series = &series.name;
        findings.length("values", series.values.len(), groups);
        findings.numbers("values", Scale::Linear, given(&series.values));
        if !series.published.is_empty() {
            findings.length("published", series.published.len(), groups);
            findings.numbers("published", Scale::Linear, given(&series.published));
        }
        if !series.spread.is_empty() {
            findings.length("spread", series.spread.len(), groups);
            findings.spread(Scale::Linear, &series.spread);
        }
    }
}

fn points(
    findings: &mut Findings<'_>,
    columns: [&'static str; 2],
    scales: [Scale; 2],
    points: &[(f64, f64)],
) {
    findings.numbers(columns[0], scales[0], points.iter().map(|point| point.0).enumerate());
    findings.numbers(columns[1], scales[1], points.iter().map(|point| point.1).enumerate());
}

fn check_lines<'a>(findings: &mut Findings<'a>, lines: &'a Lines) {
    let scales = [lines.x.scale, lines.y.scale];
    findings.reference(lines.y.scale, lines.reference.as_ref());
    for series in &lines.series {
        findings.series = &series.name;
        points(findings, ["x of points", "y of points"], scales, &series.points);
        points(findings, ["x of published", "y of published"], scales, &series.published);
        if !series.spread.is_empty() {
            findings.length("spread", series.spread.len(), series.points.len());
            findings.spread(lines.y.scale, &series.spread);
        }
    }
}

fn check_steps<'a>(findings: &mut Findings<'a>, steps: &'a Steps) {
    for series in &steps.series {
        findings.series = &series.name;
        let before = findings.all.len();
        let scales = [steps.x.scale, Scale::Linear];
        points(findings, ["x of points", "fraction of points"], scales, &series.points);
        let falls = |index: &usize| {
            let (x, share) = series.points[*index];
            let (x_before, share_before) =
                if *index == 0 { (x, 0.0) } else { series.points[*index - 1] };
            x < x_before || share < share_before || share > 1.0
        };
        if findings.all.len() == before
            && let Some(index) = (0..series.points.len()).find(falls)
        {
            findings.add(Wrong::NotRising { index });
        }
    }
}
