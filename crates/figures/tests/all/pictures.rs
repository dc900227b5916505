//! What is in a picture, counted in its text; what is refused; and that the same figure gives the
//! same bytes.

use fowler_figures::{
    Axis, BarSeries, Bars, Figure, Finding, LineSeries, Lines, Panel, Plot, Reference, StepSeries,
    Steps, Stroke, Wrong,
};

const BLUE: &str = "#004166";
const VERMILION: &str = "#A82C00";
const BLACK: &str = "#000000";

fn svg(panels: Vec<Panel>) -> String {
    let figure = Figure { panels, ..Figure::new("a figure") };
    figure.svg().unwrap_or_else(|error| panic!("{error}"))
}

/// Elements of a name that have a colour.
fn count(svg: &str, element: &str, colour: &str) -> usize {
    let start = format!("<{element} ");
    svg.lines().filter(|line| line.starts_with(&start) && line.contains(colour)).count()
}

/// Texts with their places, in units of the canvas.
fn texts(svg: &str) -> Vec<(String, f64, f64)> {
    let number = |head: &str, name: &str| {
        let (_, rest) = head.split_once(&format!(" {name}=\"")).expect("an attribute");
        rest.split('"').next().and_then(|text| text.parse().ok()).expect("a number")
    };
    svg.split("<text")
        .skip(1)
        .map(|rest| {
            let (head, rest) = rest.split_once('>').expect("a head");
            let text = rest.split("</text>").next().expect("a text").trim();
            (text.to_owned(), number(head, "x"), number(head, "y"))
        })
        .collect()
}

fn says(svg: &str, text: &str) -> usize {
    texts(svg).iter().filter(|(found, ..)| found == text).count()
}

fn bars() -> Bars {
    let series = |name: &str, values: [Option<f64>; 3]| BarSeries {
        name: name.into(),
        values: values.to_vec(),
        ..BarSeries::default()
    };
    Bars {
        y: "latency (ms)".into(),
        groups: ["F1", "F2", "mean"].map(String::from).to_vec(),
        series: vec![
            BarSeries {
                published: vec![Some(0.9), None, Some(0.7)],
                ..series("RPS", [Some(1.0), Some(0.8), Some(0.9)])
            },
            series("PES", [Some(0.5), None, Some(0.4)]),
        ],
        reference: Some(Reference { at: 1.0, name: "FIFO".into() }),
    }
}

fn lines() -> Lines {
    Lines {
        x: Axis::log2("pages"),
        y: Axis::log10("rate"),
        series: vec![
            LineSeries {
                name: "measured".into(),
                points: (4..10).map(|i| (f64::from(1 << i), 0.1 * f64::from(i))).collect(),
                published: vec![(16.0, 0.5)],
                ..LineSeries::default()
            },
            LineSeries {
                name: "theory".into(),
                points: vec![(16.0, 0.3), (512.0, 0.8)],
                stroke: Stroke::Theory,
                ..LineSeries::default()
            },
        ],
        reference: None,
    }
}

fn steps() -> Steps {
    Steps {
        x: Axis::log10("latency (µs)"),
        y: "fraction".into(),
        series: vec![
            StepSeries::of_values("one", &[30.0, 10.0, 20.0, 10.0]),
            StepSeries { name: "two".into(), points: vec![(5.0, 0.5), (5000.0, 1.0)] },
        ],
    }
}

#[test]
fn a_bar_for_each_value_and_a_diamond_for_each_published_one() {
    let svg = svg(vec![Panel::bars("SLC", bars())]);
    // One more of each for the legend.
    assert_eq!(count(&svg, "rect", BLUE), 3 + 1);
    assert_eq!(count(&svg, "rect", VERMILION), 2 + 1);
    assert_eq!(count(&svg, "polygon", BLACK), 2 + 1);
    for text in ["SLC", "F1", "F2", "mean", "RPS", "PES", "published", "no value", "FIFO"] {
        assert_eq!(says(&svg, text), 1, "{text}");
    }
    assert_eq!(says(&svg, "latency (ms)"), 1);
}

#[test]
fn a_mark_for_each_point_and_none_for_a_theory() {
    let svg = svg(vec![Panel::lines("", lines())]);
    assert_eq!(count(&svg, "circle", BLUE), 6 + 1);
    assert_eq!(count(&svg, "polygon", VERMILION), 0);
    assert!(count(&svg, "polyline", VERMILION) > 10, "dashes");
    assert_eq!(count(&svg, "polygon", BLACK), 1 + 1);
    for text in ["16", "32", "64", "128", "256", "512", "measured", "theory", "pages", "rate"] {
        assert_eq!(says(&svg, text), 1, "{text}");
    }
}

#[test]
fn a_distribution_rises_by_what_is_at_each_value() {
    let series = StepSeries::of_values("", &[3.0, 1.0, 2.0, 1.0]);
    assert_eq!(series.points, [(1.0, 0.5), (2.0, 0.75), (3.0, 1.0)]);
    let svg = svg(vec![Panel::steps("", steps())]);
    let line = svg.lines().find(|line| line.starts_with("<polyline") && line.contains(BLUE));
    // Up at 10, along, up at 20, along, up at 30.
    let points = line.and_then(|line| line.split("points=\"").nth(1)).expect("a path");
    let points = points.split('"').next().expect("an end").split_whitespace().count();
    assert_eq!(points, 6, "{line:?}");
}

#[test]
fn a_million_samples_are_a_small_picture() {
    let samples: Vec<f64> = (1..=1_000_000).map(f64::from).collect();
    let series = vec![StepSeries::of_values("all", &samples)];
    let svg = svg(vec![Panel::steps("", Steps { series, ..steps() })]);
    assert!(svg.len() < 100_000, "{} bytes", svg.len());
}

#[test]
fn one_legend_for_panels_that_agree_and_one_each_for_others() {
    let mut other = bars();
    let agree = svg(vec![Panel::bars("SLC", bars()), Panel::bars("MLC", other.clone())]);
    assert_eq!(says(&agree, "RPS"), 1);
    assert_eq!(count(&agree, "rect", BLUE), 2 * 3 + 1);
    other.series.reverse();
    let differ = svg(vec![Panel::bars("SLC", bars()), Panel::bars("MLC", other)]);
    assert_eq!(says(&differ, "RPS"), 2);
}

#[test]
fn panels_may_share_a_range() {
    let mut high = bars();
    high.series[0].values[0] = Some(40.0);
    let mut figure = Figure::new("");
    figure.panels = vec![Panel::bars("", bars()), Panel::bars("", high)];
    let apart = figure.svg().expect("a picture");
    figure.same_y = true;
    let together = figure.svg().expect("a picture");
    assert_eq!((says(&apart, "40"), says(&together, "40")), (1, 2));
}

#[test]
fn a_picture_says_what_it_is() {
    let mut figure = Figure::new("reads & <writes>");
    figure.caption = Some("one\u{0}\ntwo".into());
    figure.panels.push(Panel::bars("a < b", bars()));
    let svg = figure.svg().expect("a picture");
    assert!(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" "));
    assert!(svg.ends_with("</svg>\n"));
    assert!(svg.contains("role=\"img\""));
    assert!(svg.contains("<title>reads &amp; &lt;writes&gt;</title>"));
    assert!(svg.contains("<desc>one  two</desc>"));
    assert_eq!(says(&svg, "a &lt; b"), 1);
    assert!(svg.contains("font-family=\"sans-serif\""));
    assert!(!svg.contains('\u{0}'));
}

#[test]
fn the_same_figure_gives_the_same_bytes() {
    let panels =
        || vec![Panel::bars("", bars()), Panel::lines("", lines()), Panel::steps("", steps())];
    assert_eq!(svg(panels()), svg(panels()));
}

/// Numbers at every distance from zero and from each other: all are drawn inside the picture, and
/// told by labels.
#[test]
fn awkward_numbers_are_drawn_inside_the_picture() {
    let numbers = [1e-100, 1e-9, 3.3e-4, 0.5, 1.0, 1.0 + 1e-12, 7.0, 999.5, 65536.0, 1e7, 1e100];
    for (index, low) in numbers.into_iter().enumerate() {
        for high in numbers[index..].iter().copied() {
            for (axis, sign) in [
                (Axis::linear("x"), 1.0),
                (Axis::linear("x"), -1.0),
                (Axis::log2("x"), 1.0),
                (Axis::log10("x"), 1.0),
            ] {
                let points = vec![(sign * low, sign * high), (sign * high, sign * low)];
                let series = vec![LineSeries { name: "s".into(), points, ..LineSeries::default() }];
                let lines = Lines { x: axis.clone(), y: axis.clone(), series, reference: None };
                let svg = svg(vec![Panel::lines("", lines)]);
                let of = format!("{low} {high} {axis:?}");
                inside(&svg, &of);
                // Two ticks on each axis, two titles, a name, and the title of the figure.
                assert!(texts(&svg).len() >= 8, "{of}: {:?}", texts(&svg));
            }
        }
    }
}

fn inside(svg: &str, of: &str) {
    let view = svg.split("viewBox=\"0 0 ").nth(1).and_then(|rest| rest.split('"').next());
    let size: Vec<f64> =
        view.expect("a view").split(' ').map(|side| side.parse().expect("a number")).collect();
    let fits = |x: f64, y: f64| (0.0..=size[0]).contains(&x) && (0.0..=size[1]).contains(&y);
    for (text, x, y) in texts(svg) {
        assert!(fits(x, y), "{of}: {text} at {x}, {y}");
    }
    for path in svg.split("points=\"").skip(1) {
        for point in path.split('"').next().expect("an end").split_whitespace() {
            let (x, y) = point.split_once(',').expect("a point");
            assert!(fits(x.parse().expect("x"), y.parse().expect("y")), "{of}: {point}");
        }
    }
}

/// What a change of one panel is refused for.
fn refused(panel: Panel) -> Vec<Finding> {
    let figure = Figure { panels: vec![panel], ..Figure::new("wrong") };
    match figure.svg() {
        Ok(_) => Vec::new(),
        Err(error) => error.findings,
    }
}

fn on_bars(change: fn(&mut Bars)) -> Panel {
    let mut bars = bars();
    change(&mut bars);
    Panel::bars("SLC", bars)
}

fn on_lines(change: fn(&mut Lines)) -> Panel {
    let mut lines = lines();
    change(&mut lines);
    Panel::lines("", lines)
}

fn on_steps(change: fn(&mut Steps)) -> Panel {
    let mut steps = steps();
    change(&mut steps);
    Panel::steps("", steps)
}

#[test]
fn what_cannot_be_drawn_is_named() {
    for (panel, expected) in [
        (on_bars(|b| b.series[1].name = " ".into()), "a series has no name"),
        (on_bars(|b| b.series[1].name = "RPS".into()), "series RPS: another series"),
        (on_bars(|b| b.series[0].values.truncate(1)), "values has 1 entries, expected 3"),
        (on_bars(|b| b.series[0].published.truncate(2)), "published has 2 entries, expected 3"),
        (on_bars(|b| b.series[0].spread = vec![None]), "spread has 1 entries, expected 3"),
        (
            on_bars(|b| b.series[0].spread = vec![None, Some((2.0, 1.0)), None]),
            "spread[1] ends below",
        ),
        (on_bars(|b| b.series[1].values[2] = Some(f64::NAN)), "series PES: values[2] is NaN"),
        (on_bars(|b| b.series[0].published[0] = Some(f64::INFINITY)), "published[0] is inf"),
        (on_bars(|b| b.reference = Some(Reference { at: f64::NAN, name: "".into() })), "reference"),
        (on_lines(|l| l.series[0].points[3].0 = 0.0), "panel 1: series measured: x of points[3]"),
        (on_lines(|l| l.series[0].published[0].1 = -1.0), "y of published[0] is -1"),
        (on_steps(|s| s.series[1].points[0].1 = 1.5), "series two: points[0]: "),
        (on_steps(|s| s.series[1].points[1].0 = 1.0), "series two: points[1]: "),
        (on_steps(|s| s.series[1].points[0].0 = f64::NEG_INFINITY), "x of points[0] is -inf"),
    ] {
        let figure = Figure { panels: vec![panel], ..Figure::new("wrong") };
        let error = figure.svg().expect_err(expected);
        assert_eq!(error.findings.len(), 1, "{error}");
        assert!(error.to_string().contains(expected), "{error}\n  expected: {expected}");
    }
    assert!(Figure::new("nothing").svg().is_err());
}

/// A study may have nothing to show in one panel; the others are still worth a picture.
#[test]
fn a_panel_without_data_says_so_beside_the_others() {
    for empty in [
        on_lines(|l| {
            l.series
                .iter_mut()
                .for_each(|it| *it = LineSeries { name: it.name.clone(), ..LineSeries::default() })
        }),
        on_lines(|l| l.series.clear()),
        on_steps(|s| s.series.iter_mut().for_each(|it| it.points.clear())),
        on_steps(|s| s.series.clear()),
        on_bars(|b| {
            b.series.iter_mut().for_each(|it| {
                *it = BarSeries {
                    name: it.name.clone(),
                    values: vec![None; it.values.len()],
                    ..BarSeries::default()
                }
            })
        }),
        on_bars(|b| b.series.clear()),
    ] {
        let full = Panel { title: "full".into(), plot: Plot::Bars(bars()) };
        let figure = Figure { panels: vec![full, empty], ..Figure::new("half of it") };
        let svg = figure.svg().unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(svg.matches("no data").count(), 1, "{svg}");
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    }
    let one = on_lines(|l| l.series[1].points.clear());
    let svg = Figure { panels: vec![one], ..Figure::new("one of two") }.svg().unwrap();
    assert!(!svg.contains("no data"));
}

#[test]
fn all_that_is_wrong_is_said_at_once() {
    let mut wrong = bars();
    wrong.groups.clear();
    wrong.series[0].values[1] = Some(f64::NAN);
    let findings = refused(Panel { title: String::new(), plot: Plot::Bars(wrong) });
    assert!(findings.iter().any(|finding| finding.wrong == Wrong::NoGroups));
    assert!(findings.iter().any(|finding| matches!(finding.wrong, Wrong::NotFinite { .. })));
    assert!(findings.iter().all(|finding| finding.panel == "1"));
}
