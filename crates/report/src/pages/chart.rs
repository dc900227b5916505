//! Charts as data: the script of the page turns them into pictures, tables and CSV.

use fowler_device::blame::Part;
use fowler_experiment::numbers::percent;
use fowler_figures::palette::{self, Ink};
use serde::{Deserialize, Serialize};

/// A chart: a picture and its numbers.
#[derive(Clone, Debug, Deserialize, Serialize)]
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

impl Chart {
    /// Leaves out what the script of the page can add: the series of a heat map are named like its
    /// rows, and its views mostly have the same rows.
    pub fn compact(&mut self) {
        if self.shape != Shape::Heat {
            return;
        }
        for panel in &mut self.panels {
            for (series, row) in panel.series.iter_mut().zip(&panel.rows) {
                if series.name == *row {
                    series.name.clear();
                }
            }
        }
        if let [first, others @ ..] = self.panels.as_mut_slice() {
            for panel in others.iter_mut().filter(|panel| panel.rows == first.rows) {
                panel.rows.clear();
            }
        }
    }
}

/// How a chart is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
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
    /// A box for each series in each row: its values are the [`BOX`] of the first row, then those
    /// of the second.
    Boxes,
}

/// The shares of requests that a box has marks for, by the names of the percentiles.
pub const BOX: [(&str, f64); 5] =
    [("p5", 0.05), ("p25", 0.25), ("p50", 0.5), ("p75", 0.75), ("p99", 0.99)];

/// An axis, or the meaning of the cells of a heat map.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
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
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct Panel {
    /// Its name, which distinguishes it from the other views.
    pub name: String,
    /// The y axis, or the meaning of cells and bars.
    pub y: Axis,
    /// The rows of bars and cells; lines have none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rows: Vec<String>,
    /// The groups of rows, in order: the name of each and how many rows it has; empty for none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<(String, usize)>,
    /// The rows of cells whose names are shown; empty for as many as fit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub major: Vec<usize>,
    /// Lines, parts of bars, or rows of cells.
    pub series: Vec<Series>,
    /// What the picture itself does not show, such as lines that cover each other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remark: Option<String>,
}

/// The largest relative difference of lines that are one line to the eye: a line of 2 px on a plot
/// of 250 px.
const COINCIDE: f64 = 0.01;

impl Panel {
    /// Returns a view of lines, with a remark on those that cover each other.
    pub fn of_lines(name: impl Into<String>, y: Axis, series: Vec<Series>) -> Panel {
        let remark = coinciding(&series);
        Panel { name: name.into(), y, series, remark, ..Panel::default() }
    }
}

/// Says which lines coincide: have the same points, within [`COINCIDE`] of each other.
/// Distributions with different points do not.
fn coinciding(series: &[Series]) -> Option<String> {
    let near = |a: f64, b: f64| (a - b).abs() <= COINCIDE * a.abs().max(b.abs());
    let same = |one: &Series, other: &Series| {
        let y = one.y.iter().zip(&other.y);
        (one.x.len(), one.y.len()) == (other.x.len(), other.y.len())
            && one.x.iter().zip(&other.x).all(|(&a, &b)| near(a, b))
            && y.into_iter().all(|two| match two {
                (Some(a), Some(b)) => near(*a, *b),
                (a, b) => a.is_none() && b.is_none(),
            })
    };
    let mut seen: Vec<&Series> = Vec::new();
    let mut sentences = Vec::new();
    for one in series {
        if seen.iter().any(|its| same(its, one)) {
            continue;
        }
        let twins: Vec<&str> =
            series.iter().filter(|its| same(one, its)).map(|its| its.name.as_str()).collect();
        seen.push(one);
        if let [first @ .., last] = twins.as_slice()
            && !first.is_empty()
        {
            sentences.push(format!("{} and {last} coincide", first.join(", ")));
        }
    }
    let all = sentences.join("; ");
    (!all.is_empty()).then(|| format!("{all}: within {} everywhere.", percent(COINCIDE)))
}

/// A line, a part of every bar, or a row of cells.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct Series {
    /// Its name in the legend.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The x values of its points; empty for bars, or if they are those of the first series of its
    /// panel.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub x: Vec<f64>,
    /// Its values; `None` where nothing was measured.
    pub y: Vec<Option<f64>>,
    /// Between what the true value of each point is likely to be; empty if that is unknown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub band: Vec<(f64, f64)>,
    /// What it is drawn in: the names of a hue and of a pattern. Rows of heat maps have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ink: Option<String>,
}

impl Series {
    /// Returns a line through these points.
    pub fn line(name: impl Into<String>, x: Vec<f64>, y: Vec<Option<f64>>) -> Series {
        debug_assert_eq!(x.len(), y.len(), "a value for every point");
        Series { name: name.into(), x, y, ..Series::default() }
    }

    /// Returns values whose rows or x values are given elsewhere.
    pub fn values(name: impl Into<String>, y: Vec<Option<f64>>) -> Series {
        Series { name: name.into(), y, ..Series::default() }
    }

    /// In the ink of the scheme at this place of the comparison.
    pub fn of_scheme(self, place: usize) -> Series {
        self.with(palette::scheme(place))
    }

    /// In the ink of a cause.
    pub fn of_cause(self, part: Part) -> Series {
        // A test has every part.
        self.with(palette::cause(part.name()).unwrap_or(palette::OTHER))
    }

    /// In the ink of what sums several causes.
    pub fn of_others(self) -> Series {
        self.with(palette::OTHER)
    }

    fn with(self, ink: Ink) -> Series {
        Series { ink: Some(format!("{} {}", ink.hue().name, ink.pattern.name())), ..self }
    }
}

/// Returns the rules of the style sheet that define the hues, for light, dark, and the system's
/// choice.
pub fn hues() -> String {
    let all = palette::HUES.iter().chain([&palette::GRAY]);
    let of = |colour: fn(&palette::Hue) -> [u8; 3]| {
        let rule =
            |hue: &palette::Hue| format!("--hue-{}: {};", hue.name, palette::hex(colour(hue)));
        all.clone().map(rule).collect::<Vec<_>>().join(" ")
    };
    let (light, dark) = (of(|hue| hue.light), of(|hue| hue.dark));
    format!(
        ":root {{ {light} }}\n:root[data-theme=\"dark\"] {{ {dark} }}\n\
         @media (prefers-color-scheme: dark) {{ :root:not([data-theme]) {{ {dark} }} }}"
    )
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
    fn every_cause_has_an_ink() {
        for part in Part::ALL {
            assert!(palette::cause(part.name()).is_some(), "{}", part.name());
        }
        assert_eq!(palette::CAUSES.len(), Part::COUNT);
        let line = Series::values("x", Vec::new()).of_scheme(8);
        assert_eq!(line.ink.as_deref(), Some("vermilion rising"));
        // The palette is measured on this paper.
        let style = include_str!("../../templates/report.css");
        let paper = format!("--paper: {};", palette::hex(palette::DARK_PAPER));
        assert_eq!(style.matches(&paper).count(), 2, "{paper}");
    }

    #[test]
    fn lines_that_cover_each_other_are_named() {
        let line = |name: &str, y: [f64; 2]| {
            Series::line(name, vec![1.0, 2.0], y.iter().copied().map(Some).collect())
        };
        let panel = |lines: Vec<Series>| Panel::of_lines("", Axis::linear("y"), lines).remark;
        let [a, b, c] = [line("a", [1.0, 2.0]), line("b", [1.009, 2.0]), line("c", [1.0, 2.03])];
        assert_eq!(panel(vec![a.clone(), c.clone()]), None);
        let says = "a and b coincide: within 1.0 % everywhere.";
        assert_eq!(panel(vec![a.clone(), b.clone(), c.clone()]).as_deref(), Some(says));
        let gap = Series::line("a", vec![1.0, 2.0], vec![Some(1.0), None]);
        assert_eq!(panel(vec![gap, b]), None);
        let all = [("a", 1.0), ("b", 1.0), ("c", 3.0), ("d", 3.0)];
        let all = all.map(|(name, y)| line(name, [y, y])).to_vec();
        let says = "a and b coincide; c and d coincide: within 1.0 % everywhere.";
        assert_eq!(panel(all).as_deref(), Some(says));
    }

    #[test]
    fn numbers_are_as_long_as_they_mean_something() {
        assert_eq!(percentage(0.123_456), 12.35);
        assert_eq!(coarse(123_456.0), 123_500.0);
        assert_eq!(coarse(0.001_234_567), 0.001_235);
        assert_eq!((coarse(0.0), coarse(-12.0)), (0.0, -12.0));
    }
}
