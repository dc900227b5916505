//! The contents of pictures, counted in their text; refused figures; and equal bytes for equal
//! figures.

use fowler_figures::{Axis, Figure, Finding, Panel, Reference, Series, Shape, Wrong};

const BLUE: &str = "#004166";
const VERMILION: &str = "#A82C00";
const BLACK: &str = "#000000";

fn svg(panels: Vec<Panel>) -> String {
    Figure::new("a-figure", "a figure", panels).svg().unwrap_or_else(|error| panic!("{error}"))
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

fn bars() -> Panel {
    let rps = Series::values("RPS", [1.0, 0.8, 0.9]).published([Some(0.9), None, Some(0.7)]);
    let pes = Series::values("PES", [Some(0.5), None, Some(0.4)]);
    Panel::columns("SLC", "latency (ms)", ["F1", "F2", "mean"], [rps, pes]).reference(1.0, "FIFO")
}

fn lines() -> Panel {
    let measured = (4..10).map(|i| (f64::from(1 << i), 0.1 * f64::from(i)));
    let series = [
        Series::line("measured", measured).published_at([(16.0, 0.5)]),
        Series::line("theory", [(16.0, 0.3), (512.0, 0.8)]).theory(),
    ];
    Panel::lines("", Axis::log2("pages"), Axis::log10("rate"), series)
}

fn steps() -> Panel {
    let series = [
        Series::distribution("one", &[30.0, 10.0, 20.0, 10.0]),
        Series::line("two", [(5.0, 0.5), (5000.0, 1.0)]),
    ];
    Panel::distributions("", Axis::log10("latency (µs)"), "fraction", series)
}

fn titled(title: &str, panel: Panel) -> Panel {
    Panel { title: title.into(), ..panel }
}

#[test]
fn a_bar_for_each_value_and_a_diamond_for_each_published_one() {
    let svg = svg(vec![bars()]);
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
    let svg = svg(vec![lines()]);
    assert_eq!(count(&svg, "circle", BLUE), 6 + 1);
    assert_eq!(count(&svg, "polygon", VERMILION), 0);
    assert!(count(&svg, "polyline", VERMILION) > 10, "dashes");
    assert_eq!(count(&svg, "polygon", BLACK), 1 + 1);
    for text in ["16", "32", "64", "128", "256", "512", "measured", "theory", "pages", "rate"] {
        assert_eq!(says(&svg, text), 1, "{text}");
    }
}

#[test]
fn scattered_points_have_a_mark_each_and_no_line() {
    let points = (1..=40).map(|it| (f64::from(it), f64::from(it % 7)));
    let series = [Series::line("builds", points).scattered()];
    let panel = Panel::lines("", Axis::linear("reads"), Axis::linear("wear"), series);
    let svg = svg(vec![panel]);
    assert_eq!(count(&svg, "circle", BLUE), 40 + 1);
    assert_eq!(count(&svg, "polyline", BLUE), 0);
    assert_eq!(says(&svg, "builds"), 1);
}

#[test]
fn a_distribution_rises_by_what_is_at_each_value() {
    let series = Series::distribution("", &[3.0, 1.0, 2.0, 1.0]);
    let expected = Series::line("", [(1.0, 0.5), (2.0, 0.75), (3.0, 1.0)]);
    assert_eq!(series, expected);
    let svg = svg(vec![steps()]);
    let line = svg.lines().find(|line| line.starts_with("<polyline") && line.contains(BLUE));
    // Up at 10, along, up at 20, along, up at 30.
    let points = line.and_then(|line| line.split("points=\"").nth(1)).expect("a path");
    let points = points.split('"').next().expect("an end").split_whitespace().count();
    assert_eq!(points, 6, "{line:?}");
}

#[test]
fn a_million_samples_are_a_small_picture() {
    let samples: Vec<f64> = (1..=1_000_000).map(f64::from).collect();
    let series = vec![Series::distribution("all", &samples)];
    let svg = svg(vec![Panel { series, ..steps() }]);
    assert!(svg.len() < 100_000, "{} bytes", svg.len());
}

#[test]
fn one_legend_for_panels_that_agree_and_one_each_for_others() {
    let mut other = bars();
    let agree = svg(vec![bars(), titled("MLC", other.clone())]);
    assert_eq!(says(&agree, "RPS"), 1);
    assert_eq!(count(&agree, "rect", BLUE), 2 * 3 + 1);
    other.series.reverse();
    let differ = svg(vec![bars(), titled("MLC", other)]);
    assert_eq!(says(&differ, "RPS"), 2);
}

#[test]
fn panels_may_share_a_range() {
    let mut high = bars();
    high.series[0].y[0] = Some(40.0);
    let mut figure = Figure::new("", "", [titled("", bars()), titled("", high)]);
    let apart = figure.svg().expect("a picture");
    figure.same_y = true;
    let together = figure.svg().expect("a picture");
    assert_eq!((says(&apart, "40"), says(&together, "40")), (1, 2));
}

#[test]
fn a_picture_says_what_it_is() {
    let figure = Figure::new("", "reads & <writes>", [titled("a < b", bars())]);
    let svg = figure.caption("one\u{0}\ntwo").svg().expect("a picture");
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
    let panels = || vec![bars(), lines(), steps()];
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
                let points = [(sign * low, sign * high), (sign * high, sign * low)];
                let series = [Series::line("s", points)];
                let svg = svg(vec![Panel::lines("", axis.clone(), axis.clone(), series)]);
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

/// Returns the findings for which a panel is refused.
fn refused(panel: Panel) -> Vec<Finding> {
    match Figure::new("", "wrong", [panel]).svg() {
        Ok(_) => Vec::new(),
        Err(error) => error.findings,
    }
}

fn changed(mut panel: Panel, change: fn(&mut Panel)) -> Panel {
    change(&mut panel);
    panel
}

#[test]
fn what_cannot_be_drawn_is_named() {
    for (panel, expected) in [
        (changed(bars(), |b| b.series[1].name = " ".into()), "a series has no name"),
        (changed(bars(), |b| b.series[1].name = "RPS".into()), "series RPS: another series"),
        (changed(bars(), |b| b.series[0].y.truncate(1)), "values has 1 entries, expected 3"),
        (
            changed(bars(), |b| b.series[0].published.truncate(2)),
            "published has 2 entries, expected 3",
        ),
        (changed(bars(), |b| b.series[0].spread = vec![None]), "spread has 1 entries, expected 3"),
        (
            changed(bars(), |b| b.series[0].spread = vec![None, Some((2.0, 1.0)), None]),
            "spread[1] ends below",
        ),
        (changed(bars(), |b| b.series[1].y[2] = Some(f64::NAN)), "series PES: values[2] is NaN"),
        (
            changed(bars(), |b| b.series[0].published[0] = Some(f64::INFINITY)),
            "published[0] is inf",
        ),
        (
            changed(bars(), |b| b.reference = Some(Reference { at: f64::NAN, name: "".into() })),
            "reference",
        ),
        (changed(lines(), |l| l.series[0].x[3] = 0.0), "panel 1: series measured: x of points[3]"),
        (changed(lines(), |l| l.series[0].published[0] = Some(-1.0)), "y of published[0] is -1"),
        (changed(steps(), |s| s.series[1].y[0] = Some(1.5)), "series two: points[0]: "),
        (changed(steps(), |s| s.series[1].x[1] = 1.0), "series two: points[1]: "),
        (changed(steps(), |s| s.series[1].x[0] = f64::NEG_INFINITY), "x of points[0] is -inf"),
    ] {
        let error = Figure::new("", "wrong", [panel]).svg().expect_err(expected);
        assert_eq!(error.findings.len(), 1, "{error}");
        assert!(error.to_string().contains(expected), "{error}\n  expected: {expected}");
    }
    assert!(Figure::new("", "nothing", []).svg().is_err());
}

/// A study may have nothing to show in one panel; the others are still worth a picture.
#[test]
fn a_panel_without_data_says_so_beside_the_others() {
    let blank = |panel: &mut Panel| {
        panel.series.iter_mut().for_each(|it| *it = Series::values(it.name.clone(), [None; 0]));
    };
    for empty in [
        changed(lines(), blank),
        changed(lines(), |it| it.series.clear()),
        changed(steps(), blank),
        changed(steps(), |it| it.series.clear()),
        changed(bars(), |it| {
            for series in &mut it.series {
                *series = Series::values(series.name.clone(), series.y.iter().map(|_| None));
            }
        }),
        changed(bars(), |it| it.series.clear()),
    ] {
        let figure = Figure::new("", "half of it", [titled("full", bars()), empty]);
        let svg = figure.svg().unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(svg.matches("no data").count(), 1, "{svg}");
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    }
    let one = changed(lines(), |it| it.series[1] = Series::line("theory", [(0.0, None); 0]));
    let svg = Figure::new("", "one of two", [one]).svg().unwrap();
    assert!(!svg.contains("no data"));
}

/// A heat map is only on pages.
#[test]
fn a_shape_of_pages_is_refused_in_a_file() {
    let cells = [Series::values("die 0", [1.0, 2.0])];
    let panel = Panel::cells("wear", Axis::linear("erases"), vec![0.0, 1.0], cells);
    let figure = Figure::new("map", "Wear", [panel]).views(Shape::Heat, Axis::linear("block"));
    let findings = figure.svg().expect_err("a heat map").findings;
    let wrong = Wrong::OnPages(Shape::Heat);
    assert_eq!(findings, [Finding { panel: "wear".into(), series: String::new(), wrong }]);
}

#[test]
fn all_that_is_wrong_is_said_at_once() {
    let mut wrong = bars();
    wrong.rows.clear();
    wrong.series[0].y[1] = Some(f64::NAN);
    let findings = refused(titled("", wrong));
    assert!(findings.iter().any(|finding| finding.wrong == Wrong::NoGroups));
    assert!(findings.iter().any(|finding| matches!(finding.wrong, Wrong::NotFinite { .. })));
    assert!(findings.iter().all(|finding| finding.panel == "1"));
}
