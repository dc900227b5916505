//! Figures as data: the script of the page turns them into pictures, tables and CSV.

use fowler_experiment::numbers::percent;
use fowler_figures::palette;
use fowler_figures::{Figure, Panel, Series, Shape};
use fowler_units::escaped_json;

/// Returns the data of a figure as JSON for the script of an HTML page, safe to embed in the page.
/// All panels of the figure must have the same kind of chart (such as lines) and the same x axis.
pub fn json(figure: &Figure) -> String {
    debug_assert!(
        figure.panels.windows(2).all(|two| (two[0].shape, &two[0].x) == (two[1].shape, &two[1].x)),
        "the panels of the chart {} differ in shape or x axis: a page has one of each",
        figure.id
    );
    let mut figure = figure.clone();
    for panel in &mut figure.panels {
        if matches!(panel.shape, Shape::Lines | Shape::Steps) && panel.remark.is_none() {
            panel.remark = coinciding(&panel.series);
        }
    }
    compact(&mut figure);
    let json = serde_json::to_string(&figure).expect("figures hold text and finite numbers");
    // No other text could end the script element.
    escaped_json(&json).replace('<', "\\u003c")
}

/// Removes data of heat maps that the script of the HTML page can restore: names of series that are
/// those of their rows, and rows of later panels that are those of the first panel.
fn compact(figure: &mut Figure) {
    for panel in figure.panels.iter_mut().filter(|panel| panel.shape == Shape::Heat) {
        for (series, row) in panel.series.iter_mut().zip(&panel.rows) {
            if series.name == *row {
                series.name.clear();
            }
        }
    }
    if let [first, others @ ..] = figure.panels.as_mut_slice() {
        let same = |panel: &&mut Panel| panel.shape == Shape::Heat && panel.rows == first.rows;
        for panel in others.iter_mut().filter(same) {
            panel.rows.clear();
        }
    }
}

/// The shares of requests at which a box of a box plot has marks, with the names of the
/// percentiles.
pub const BOX: [(&str, f64); 5] =
    [("p5", 0.05), ("p25", 0.25), ("p50", 0.5), ("p75", 0.75), ("p99", 0.99)];

/// Largest relative difference at which two lines of a chart on a report page cannot be told apart:
/// 2 px of line width on a plot of 250 px, rounded.
const COINCIDE: f64 = 0.01;

/// Names the lines of a chart that coincide: those with equal points, within [`COINCIDE`].
fn coinciding(series: &[Series]) -> Option<String> {
    let near = |a: f64, b: f64| (a - b).abs() <= COINCIDE * a.abs().max(b.abs());
    let same = |one: &Series, other: &Series| {
        let y = one.y.iter().zip(&other.y);
        // Lines without x values share those of the first.
        let [here, there] =
            [one, other].map(|line| if line.x.is_empty() { &series[0].x } else { &line.x });
        (here.len(), one.y.len()) == (there.len(), other.y.len())
            && here.iter().zip(there).all(|(&a, &b)| near(a, b))
            && y.into_iter().all(|two| match two {
                (Some(a), Some(b)) => near(*a, *b),
                (a, b) => a.is_none() && b.is_none(),
            })
    };
    let mut seen: Vec<&Series> = Vec::new();
    let mut sentences = Vec::new();
    for one in series {
        if seen.iter().any(|earlier| same(earlier, one)) {
            continue;
        }
        let twins: Vec<&str> = series
            .iter()
            .filter(|other| same(one, other))
            .map(|other| other.name.as_str())
            .collect();
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

/// Returns the rules of the report page's style sheet that define the colors of runs in charts: for
/// the light theme, the dark theme, and the theme that the system selects.
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

/// Rounds a number to four significant digits, for the many cells of heat maps in a page.
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
    use fowler_device::blame::Part;
    use fowler_figures::Axis;

    #[test]
    fn every_cause_has_an_ink() {
        for part in Part::ALL {
            assert!(palette::cause(part.name()).is_some(), "{}", part.name());
        }
        assert_eq!(palette::CAUSES.len(), Part::COUNT);
        let line = Series::values("x", [None; 0]).of_scheme(8);
        assert_eq!(line.ink.as_deref(), Some("vermilion rising"));
        // The palette is measured on this paper.
        let style = include_str!("../../templates/report.css");
        let paper = format!("--paper: {};", palette::hex(palette::DARK_PAPER));
        assert_eq!(style.matches(&paper).count(), 2, "{paper}");
    }

    #[test]
    fn lines_that_cover_each_other_are_named() {
        let line = |name: &str, y: [f64; 2]| Series::line(name, [(1.0, y[0]), (2.0, y[1])]);
        let panel = |lines: Vec<Series>| coinciding(&lines);
        let [a, b, c] = [line("a", [1.0, 2.0]), line("b", [1.009, 2.0]), line("c", [1.0, 2.03])];
        assert_eq!(panel(vec![a.clone(), c.clone()]), None);
        let says = "a and b coincide: within 1.0 % everywhere.";
        assert_eq!(panel(vec![a.clone(), b.clone(), c.clone()]).as_deref(), Some(says));
        let gap = Series::line("a", [(1.0, Some(1.0)), (2.0, None)]);
        assert_eq!(panel(vec![gap, b]), None);
        let all = [("a", 1.0), ("b", 1.0), ("c", 3.0), ("d", 3.0)];
        let all = all.map(|(name, y)| line(name, [y, y])).to_vec();
        let says = "a and b coincide; c and d coincide: within 1.0 % everywhere.";
        assert_eq!(panel(all).as_deref(), Some(says));
    }

    #[test]
    #[should_panic(expected = "the panels of the chart two differ in shape or x axis")]
    fn views_share_a_shape_and_an_x_axis() {
        let panel = |x| Panel::lines("", Axis::linear(x), Axis::linear("y"), []);
        json(&Figure::new("two", "Two", ["s", "ms"].map(panel)));
    }

    #[test]
    fn numbers_are_as_long_as_they_mean_something() {
        assert_eq!(percentage(0.123_456), 12.35);
        assert_eq!(coarse(123_456.0), 123_500.0);
        assert_eq!(coarse(0.001_234_567), 0.001_235);
        assert_eq!((coarse(0.0), coarse(-12.0)), (0.0, -12.0));
    }
}
