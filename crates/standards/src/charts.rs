//! The charts of each test, in the manner of the pages that PTS asks for, and charts that only a
//! simulator can draw: write amplification, the activity of the dies, and the causes of response
//! times.
//!
//! Many charts draw columns of a table of the test; the others compute their numbers beside it.

use super::cross_stimulus::CrossStimulus;
use super::demand::{Demand, STEPS};
use super::element::Element;
use super::host_idle::HostIdle;
use super::matrix::Matrix;
use super::rounds::{Rounds, Variable};
use super::saturation::Saturation;
use super::{Found, Tested};
use fowler_device::Doing;
use fowler_device::blame::Part;
use fowler_experiment::numbers::{bytes, words};
use fowler_experiment::tables::Sheet;
use fowler_figures::{Axis, Figure, Panel, Series, Shape};
use fowler_report::pages::chart::{coarse, percentage};
use fowler_units::Span;

/// Getter of a number measured in an element, one load that a test keeps on the drive for a time;
/// `None` if nothing was measured.
type Value = fn(&Element) -> Option<f64>;

/// Returns the table called `name` among the tables of a drive test; a table of that name must
/// exist.
fn table<'a>(sheets: &'a [Sheet], name: &str) -> &'a Sheet {
    let found = sheets.iter().find(|sheet| sheet.name == name);
    found.unwrap_or_else(|| unreachable!("every test has its tables, also {name}"))
}

impl Tested {
    /// Returns the charts of a drive test, drawn from the numbers in its tables `sheets`.
    pub(super) fn charts(&self, sheets: &[Sheet]) -> Vec<Figure> {
        let name = self.test.name();
        match &self.found {
            Found::Matrix(matrix) => of_matrix(name, matrix, sheets),
            Found::Throughput(sizes) => of_throughput(name, sizes, sheets),
            Found::Saturation(all) => of_saturation(name, all, sheets),
            Found::HostIdle(all) => of_host_idle(name, all, sheets),
            Found::CrossStimulus(all) => of_cross_stimulus(name, all, sheets),
            Found::Demand(all) => of_demand(name, all, sheets),
        }
    }
}

fn numbers(count: usize) -> Vec<f64> {
    (1..=count).map(|number| number as f64).collect()
}

fn line(name: impl Into<String>, x: &[f64], y: impl Iterator<Item = Option<f64>>) -> Series {
    Series::line(name, x.iter().copied().zip(y.map(|value| value.map(coarse))))
}

/// Returns chart lines from columns of a table, each with a name and a heading; `x` is the heading
/// of the column on the x axis.
fn columns(sheet: &Sheet, x: &str, lines: &[(&str, &str)]) -> Vec<Series> {
    let x: Vec<f64> = sheet.column(x).into_iter().flatten().collect();
    lines.iter().map(|(name, head)| line(*name, &x, sheet.column(head).into_iter())).collect()
}

/// Returns a chart of lines with several views, of which the page shows one at a time; each has a
/// name and a y axis of its own.
fn views(
    (id, title, about): (String, &str, &str),
    x: Axis,
    all: Vec<(String, Axis, Vec<Series>)>,
) -> Figure {
    let view = |(name, y, series): (String, Axis, Vec<Series>)| {
        let inked = series.into_iter().enumerate();
        Panel::view(name, y, inked.map(|(place, one)| one.of_scheme(place)))
    };
    let panels = all.into_iter().map(view);
    Figure::new(id, title, panels).caption(about).views(Shape::Lines, x)
}

/// Returns a chart of lines that share one y axis.
fn lines(text: (String, &str, &str), x: Axis, y: Axis, series: Vec<Series>) -> Figure {
    views(text, x, vec![(String::new(), y, series)])
}

fn rounds_axis() -> Axis {
    Axis::linear("round")
}

/// Returns the chart of the tracking variable (the number that must be steady) in the measurement
/// window, with its mean, bounds and best-fit line.
fn window(name: &str, of: &str, rounds: &Rounds, sheets: &[Sheet]) -> Figure {
    let window = rounds.window;
    let tracking = table(sheets, &format!("{name}-tracking"));
    let inside = tracking.rows[window.first - 1..window.last].to_vec();
    let tracking = Sheet { rows: inside, ..tracking.clone() };
    let lines = [
        ("measured", rounds.variable.name()),
        ("mean", "mean"),
        ("90 % of it", "90 %"),
        ("110 % of it", "110 %"),
        ("best fit", "line"),
    ];
    let series = columns(&tracking, "round", &lines);
    let about = format!(
        "{}. The highest and the lowest measured value may differ by 20 % of the mean, and the best \
         fit over the window, y = {:.4} R + {:.4}, may rise or fall by 10 % of the mean.",
        rounds.ended(),
        window.slope,
        window.intercept
    );
    let title = format!("Measurement window{of}");
    let text = (format!("{name}-window"), title.as_str(), about.as_str());
    self::lines(text, rounds_axis(), Axis::linear(rounds.variable.name()), series)
}

fn of_matrix(name: &str, matrix: &Matrix, sheets: &[Sheet]) -> Vec<Figure> {
    let rounds = &matrix.rounds;
    let variable = rounds.variable;
    let pure = matrix.reads.iter().position(|&reads| reads == 0.0).unwrap_or(0);
    let x = numbers(rounds.rounds.len());
    let size = |size: u32| bytes(u64::from(size));
    let by_round = |value: &dyn Fn(&Element) -> Option<f64>| -> Vec<Series> {
        let one = |(row, &block_size): (usize, &u32)| {
            let place = matrix.place(row, pure);
            line(size(block_size), &x, rounds.rounds.iter().map(|round| value(&round[place])))
        };
        matrix.sizes.iter().enumerate().map(one).collect()
    };
    let convergence = lines(
        (
            format!("{name}-convergence"),
            "Steady-state convergence",
            "Writes of each size (0/100), round by round. 4 KiB is the tracking variable.",
        ),
        rounds_axis(),
        Axis::log10(variable.name()),
        by_round(&|it| Some(variable.of(it))),
    );
    let amplification = lines(
        (
            format!("{name}-waf-by-round"),
            "Write amplification by round",
            "Pages programmed for each page of the host, for writes of each size (0/100).",
        ),
        rounds_axis(),
        Axis::linear("write amplification"),
        by_round(&Element::waf),
    );
    let kib: Vec<f64> = matrix.sizes.iter().map(|&size| f64::from(size) / 1024.0).collect();
    let by_size = |title: &str, what: &str, y: Axis| {
        let sheet = table(sheets, &format!("{name}-{what}"));
        let mixes = sheet.heads[1..].iter();
        let mixes = mixes.map(|mix| line(mix, &kib, sheet.column(mix).into_iter()));
        (title.into(), y, mixes.collect())
    };
    let views = if variable == Variable::Latency {
        vec![
            by_size("mean", "mean", Axis::linear("mean (us)")),
            by_size("maximum", "max", Axis::log10("maximum (us)")),
        ]
    } else {
        vec![by_size("", "matrix", Axis::log10("IOPS"))]
    };
    let about = "Means over the measurement window, one line for each mix of reads/writes.";
    let by_size = self::views(
        (format!("{name}-by-size"), "By size and mix", about),
        Axis::log10("size (KiB)"),
        views,
    );
    vec![convergence, window(name, "", rounds, sheets), by_size, amplification]
}

fn of_throughput(name: &str, sizes: &[(u32, Rounds)], sheets: &[Sheet]) -> Vec<Figure> {
    let view = |place: usize| {
        let one = |(size, rounds): &(u32, Rounds)| {
            let x = numbers(rounds.rounds.len());
            let values = rounds.rounds.iter().map(|round| Some(round[place].mb_s()));
            line(bytes(u64::from(*size)), &x, values)
        };
        sizes.iter().map(one).collect::<Vec<_>>()
    };
    let views = vec![
        ("writes".into(), Axis::linear("MB/s"), view(super::throughput::WRITE)),
        ("reads".into(), Axis::linear("MB/s"), view(super::throughput::READ)),
    ];
    let about = "Sequential throughput of each size, round by round.";
    let text = (format!("{name}-convergence"), "Steady-state convergence", about);
    let mut charts = vec![self::views(text, rounds_axis(), views)];
    for (size, rounds) in sizes {
        let of = format!(" of {}", bytes(u64::from(*size)));
        charts.push(window(&format!("{name}-{}k", size >> 10), &of, rounds, sheets));
    }
    charts
}

/// Returns charts of stacked areas, minute by minute: the dies' time by activity, and the response
/// time by cause.
fn areas(name: &str, minutes: &[Element]) -> [Figure; 2] {
    let chart = |id: &str, title: &str, about: &str, y: &str, series: Vec<Series>| {
        let view = Panel::view("", Axis::linear(y), series).shared_x(numbers(minutes.len()));
        Figure::new(format!("{name}-{id}"), title, [view])
            .caption(about)
            .views(Shape::Areas, Axis::linear("minute"))
    };
    let of = |label: String, part: Part, share: &dyn Fn(&Element) -> f64| {
        let shares = minutes.iter().map(|minute| percentage(share(minute)));
        Series::values(label, shares).of_cause(part.name())
    };
    let seen = |series: &Series| series.y.iter().flatten().any(|&value| value >= 0.05);
    let busy = Doing::NAMES.iter().enumerate().filter(|(_, name)| **name != "idle");
    let doing = busy.map(|(place, name)| {
        // The activities are in the order of the causes that wait for them; the last one suspends.
        let part = Part::ALL.get(Part::BehindHostRead as usize + place).copied();
        let part = part.filter(|_| place + 2 < Doing::COUNT).unwrap_or(Part::Suspend);
        of((*name).into(), part, &|minute| minute.die_share(place))
    });
    let causes =
        Part::ALL.into_iter().map(|part| of(words(part), part, &|minute| minute.share(part)));
    [
        chart(
            "dies",
            "What the dies do under the curve",
            "The time of all dies by activity; the rest is idle.",
            "share of die time (%)",
            doing.filter(seen).collect(),
        ),
        chart(
            "causes",
            "What requests wait for under the curve",
            "The response time of all requests by cause.",
            "share of the response time (%)",
            causes.filter(seen).collect(),
        ),
    ]
}

/// Returns the chart of response times minute by minute.
fn responses(name: &str, minutes: &Sheet) -> Figure {
    let lines = [
        ("mean", "mean (us)"),
        ("99 %", "p99 (us)"),
        ("99.999 %", "p99.999 (us)"),
        ("maximum", "max (us)"),
    ];
    let mut series = columns(minutes, "minute", &lines);
    series.retain(|one| one.y.iter().any(Option::is_some));
    let about = "Each minute's mean, percentiles and maximum. A percentile needs enough requests.";
    let text = (format!("{name}-responses"), "Response times", about);
    self::lines(text, Axis::linear("minute"), Axis::log10("response time (us)"), series)
}

fn amplification(name: &str, minutes: &Sheet, theory: Option<f64>) -> Figure {
    let mut series = columns(minutes, "minute", &[("measured", "WAF")]);
    let x = series[0].x.clone();
    let level = |waf| {
        let name = "random writes, greedy collection: theory";
        line(name, &x, x.iter().map(|_| Some(waf)))
    };
    series.extend(theory.map(level));
    let about = "Pages programmed for each page of the host, minute by minute.";
    let text = (format!("{name}-waf"), "Write amplification", about);
    lines(text, Axis::linear("minute"), Axis::linear("write amplification"), series)
}

fn of_saturation(name: &str, all: &Saturation, sheets: &[Sheet]) -> Vec<Figure> {
    let minutes = table(sheets, &format!("{name}-minutes"));
    let curve = |id: &str, title: &str, about: &str, (head, axis): (&str, &str), y: Axis| {
        let mut series = columns(minutes, head, &[("IOPS", "IOPS")]);
        if head != "minute" {
            series.iter_mut().flat_map(|one| &mut one.x).for_each(|x| *x = coarse(*x));
        }
        lines((format!("{name}-{id}"), title, about), Axis::linear(axis), y, series)
    };
    let about = all.cliff().map_or("Random writes of 4 KiB.".into(), |cliff| {
        format!("Random writes of 4 KiB: {}.", cliff.sentence())
    });
    let [dies, causes] = areas(name, &all.minutes);
    let (by_minute, by_written, by_fills) =
        (("minute", "minute"), ("GB written", "GB written"), ("fills", "drive fills"));
    vec![
        curve("iops", "IOPS over time", &about, by_minute, Axis::linear("IOPS")),
        amplification(name, minutes, all.theory),
        dies,
        causes,
        responses(name, minutes),
        curve(
            "iops-by-written",
            "IOPS by total gigabytes written",
            "Gigabytes of 10^9 bytes.",
            by_written,
            Axis::log10("IOPS"),
        ),
        curve(
            "iops-by-fills",
            "IOPS by drive fills",
            "A fill is the user capacity.",
            by_fills,
            Axis::log10("IOPS"),
        ),
    ]
}

fn of_host_idle(name: &str, all: &HostIdle, sheets: &[Sheet]) -> Vec<Figure> {
    let baseline = all.baseline();
    let base = |x: &[f64]| line("baseline", x, x.iter().map(|_| Some(baseline)));
    let bursts = table(sheets, &format!("{name}-bursts"));
    let x = numbers(bursts.rows.len());
    let everything = vec![line("bursts", &x, bursts.column("IOPS").into_iter()), base(&x)];
    let view = |waited: &super::host_idle::Waited| {
        let x = numbers(waited.bursts.len());
        let bursts = line("bursts", &x, waited.bursts.iter().map(|it| Some(it.iops())));
        (format!("{} s", waited.seconds), Axis::linear("IOPS"), vec![bursts, base(&x)])
    };
    let returns = |waited: &super::host_idle::Waited| {
        let x = numbers(waited.back.len());
        let of = waited.back.iter().map(|it| Some(it.iops()));
        line(format!("after waits of {} s", waited.seconds), &x, of)
    };
    let mut back: Vec<Series> = all.waits.iter().map(returns).collect();
    back.push(base(&numbers(super::rounds::MINUTES)));
    vec![
        lines(
            (
                format!("{name}-bursts"),
                "Bursts of every wait",
                "5 s of writes, then a wait: 5, 10, 15, 25 and 50 s.",
            ),
            Axis::linear("burst"),
            Axis::linear("IOPS"),
            everything,
        ),
        views(
            (format!("{name}-by-wait"), "Bursts by wait", "Each wait with the baseline."),
            Axis::linear("burst"),
            all.waits.iter().map(view).collect(),
        ),
        lines(
            (
                format!("{name}-return"),
                "Return to the baseline",
                "Writes without a pause after the bursts.",
            ),
            Axis::linear("minute"),
            Axis::linear("IOPS"),
            back,
        ),
        Figure {
            id: format!("{name}-baseline-window"),
            ..window(name, " of the baseline", &all.base, sheets)
        },
    ]
}

fn of_cross_stimulus(name: &str, all: &CrossStimulus, sheets: &[Sheet]) -> Vec<Figure> {
    let elements: Vec<Element> =
        all.groups.iter().flat_map(|group| group.minutes.clone()).collect();
    let minutes = table(sheets, &format!("{name}-minutes"));
    let series = columns(minutes, "minute", &[("MB/s", "MB/s")]);
    let about = "Sequential writes of 1 MiB, random writes of 8 KiB, sequential writes of 1 MiB.";
    let text = (format!("{name}-throughput"), "Throughput over time", about);
    let curve = lines(text, Axis::linear("minute"), Axis::log10("MB/s"), series);
    let [dies, causes] = areas(name, &elements);
    let waf = amplification(name, minutes, None);
    vec![curve, responses(name, minutes), waf, dies, causes]
}

fn of_demand(name: &str, all: &Demand, sheets: &[Sheet]) -> Vec<Figure> {
    let mean = |threads: u32, depth: u32, value: Value| {
        let place =
            all.rounds.points.iter().rposition(|it| (it.threads, it.depth) == (threads, depth));
        place.and_then(|place| all.rounds.mean(place, value))
    };
    let mut depths = STEPS;
    depths.sort_unstable();
    let x: Vec<f64> = depths.iter().map(|&depth| f64::from(depth)).collect();
    let by_depth = STEPS.map(|threads| {
        let iops = depths.iter().map(|&depth| mean(threads, depth, |it| Some(it.iops())));
        line(format!("{threads} threads"), &x, iops)
    });
    let demand = |threads: u32| {
        let iops = |&depth: &u32| mean(threads, depth, |it| Some(it.iops())).unwrap_or(0.0);
        let x: Vec<f64> = depths.iter().map(iops).collect();
        line(
            format!("{threads} threads"),
            &x,
            depths.iter().map(|&depth| mean(threads, depth, |it| it.mean_us)),
        )
    };
    let mut curves: Vec<Series> = STEPS.into_iter().map(demand).collect();
    let points = table(sheets, &format!("{name}-points"));
    curves.extend(columns(points, "IOPS", &[("the three points", "mean (us)")]));
    let mut charts = vec![
        lines(
            (
                format!("{name}-by-depth"),
                "IOPS by queue depth",
                "One line for each number of threads.",
            ),
            Axis::log10("queue depth"),
            Axis::linear("IOPS"),
            by_depth.to_vec(),
        ),
        lines(
            (
                format!("{name}-demand"),
                "Demand curve",
                "Mean response time by IOPS, with the points of the histograms.",
            ),
            Axis::linear("IOPS"),
            Axis::log10("mean response time (us)"),
            curves,
        ),
        window(name, "", &all.rounds, sheets),
    ];
    charts.push(histograms(name, all));
    charts
}

/// Number of classes of a response time histogram for each decade.
const CLASSES: f64 = 20.0;

fn histograms(name: &str, all: &Demand) -> Figure {
    let view = |it: &super::demand::Histogram| {
        let mut classes = std::collections::BTreeMap::<i64, u64>::new();
        for (ns, count) in it.latencies.values() {
            let class = (libm::log10(ns.max(1) as f64) * CLASSES).floor() as i64;
            *classes.entry(class).or_default() += count;
        }
        let all = it.latencies.count().max(1) as f64;
        // Classes without a request are gaps, not zeros: the axis is logarithmic.
        let (first, last) = (classes.keys().min().copied(), classes.keys().max().copied());
        let all_classes = || first.zip(last).into_iter().flat_map(|(first, last)| first..=last);
        let x: Vec<f64> = all_classes()
            .map(|class| coarse(libm::pow(10.0, (class + 1) as f64 / CLASSES) / 1e3))
            .collect();
        let shares =
            all_classes().map(|class| classes.get(&class).map(|&count| 100.0 * count as f64 / all));
        let series = vec![line("share of requests (%)", &x, shares)];
        (it.name.to_string(), Axis::log10("share of requests (%)"), series)
    };
    let confidence = |it: &super::demand::Histogram| {
        let of = |percentile: fowler_experiment::Percentile| {
            let span: Option<Span> = it.latencies.percentile(percentile);
            let us = fowler_experiment::numbers::real(span?.as_us());
            Some(format!("{} {us} us", percentile.label()))
        };
        use fowler_experiment::Percentile::{P99, P999, P9999, P99999};
        let known: Vec<String> = [P99, P999, P9999, P99999].into_iter().filter_map(of).collect();
        format!("{}: {}", it.name, known.join(", "))
    };
    let levels: Vec<String> = all.histograms.iter().map(confidence).collect();
    let about = format!(
        "Requests by response time, in 20 classes per factor of ten. {}.",
        levels.join("; ")
    );
    let text = (format!("{name}-histograms"), "Response time histograms", about.as_str());
    let x = Axis::log10("response time (us)");
    views(text, x.clone(), all.histograms.iter().map(view).collect()).views(Shape::Steps, x)
}
