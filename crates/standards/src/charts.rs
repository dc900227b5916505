//! The charts of each test, in the manner of the pages that PTS asks for, and what only a simulator
//! can draw beside them: write amplification, what the dies did, and what requests waited for.

use super::cross_stimulus::CrossStimulus;
use super::demand::{Demand, STEPS};
use super::element::Element;
use super::host_idle::HostIdle;
use super::matrix::Matrix;
use super::rounds::{Rounds, Variable};
use super::saturation::Saturation;
use super::sheets::reads_writes;
use super::{Found, Tested};
use fowler_device::Doing;
use fowler_device::blame::Part;
use fowler_experiment::numbers::{bytes, words};
use fowler_report::pages::chart::{Axis, Chart, Panel, Series, Shape, coarse, percentage};
use fowler_units::Span;

/// A value of an element.
type Value = fn(&Element) -> Option<f64>;

impl Tested {
    /// Returns the charts of the test.
    pub(super) fn charts(&self) -> Vec<Chart> {
        let name = self.test.name();
        match &self.found {
            Found::Matrix(matrix) => of_matrix(name, matrix),
            Found::Throughput(sizes) => of_throughput(name, sizes),
            Found::Saturation(all) => of_saturation(name, all),
            Found::HostIdle(all) => of_host_idle(name, all),
            Found::CrossStimulus(all) => of_cross_stimulus(name, all),
            Found::Demand(all) => of_demand(name, all),
        }
    }
}

fn numbers(count: usize) -> Vec<f64> {
    (1..=count).map(|number| number as f64).collect()
}

fn line(name: impl Into<String>, x: &[f64], y: impl Iterator<Item = Option<f64>>) -> Series {
    Series::line(name, x.to_vec(), y.map(|value| value.map(coarse)).collect())
}

fn lines(
    (id, title, about): (String, &str, &str),
    x: Axis,
    views: Vec<(String, Axis, Vec<Series>)>,
) -> Chart {
    let panel = |(name, y, series): (String, Axis, Vec<Series>)| {
        let inked = series.into_iter().enumerate();
        Panel::of_lines(name, y, inked.map(|(place, one)| one.of_scheme(place)).collect())
    };
    let panels = views.into_iter().map(panel).collect();
    Chart { id, title: title.into(), about: about.into(), shape: Shape::Lines, x, panels }
}

fn rounds_axis() -> Axis {
    Axis::linear("round")
}

/// The tracking variable in the measurement window, with the mean, its bounds and the line.
fn window(name: &str, of: &str, rounds: &Rounds) -> Chart {
    let window = rounds.window;
    let places: Vec<usize> = (window.first..=window.last).collect();
    let x: Vec<f64> = places.iter().map(|&round| round as f64).collect();
    let tracking = rounds.tracking();
    let level =
        |name: &str, share: f64| line(name, &x, x.iter().map(|_| Some(share * window.average)));
    let series = vec![
        line("measured", &x, places.iter().map(|&round| Some(tracking[round - 1]))),
        level("mean", 1.0),
        level("90 % of it", 0.9),
        level("110 % of it", 1.1),
        line("best fit", &x, places.iter().map(|&round| Some(window.line(round)))),
    ];
    let about = format!(
        "{}. The measured values must lie within 20 % of the mean of each other, and the best fit, \
         y = {:.4} R + {:.4}, may rise or fall by 10 % of it.",
        rounds.ended(),
        window.slope,
        window.intercept
    );
    let title = format!("Measurement window{of}");
    let text = (format!("{name}-window"), title.as_str(), about.as_str());
    lines(text, rounds_axis(), vec![(String::new(), Axis::linear(rounds.variable.name()), series)])
}

fn of_matrix(name: &str, matrix: &Matrix) -> Vec<Chart> {
    let rounds = &matrix.rounds;
    let variable = rounds.variable;
    let pure = matrix.reads.iter().position(|&reads| reads == 0.0).unwrap_or(0);
    let x = numbers(rounds.rounds.len());
    let size = |size: u32| bytes(u64::from(size));
    let by_round = |value: &dyn Fn(&Element) -> Option<f64>| -> Vec<Series> {
        let one = |(row, &its): (usize, &u32)| {
            let place = matrix.place(row, pure);
            line(size(its), &x, rounds.rounds.iter().map(|round| value(&round[place])))
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
        vec![(String::new(), Axis::log(variable.name()), by_round(&|it| Some(variable.of(it))))],
    );
    let amplification = lines(
        (
            format!("{name}-waf-by-round"),
            "Write amplification by round",
            "Pages programmed for each page of the host, for writes of each size (0/100).",
        ),
        rounds_axis(),
        vec![(String::new(), Axis::linear("write amplification"), by_round(&Element::waf))],
    );
    let kib: Vec<f64> = matrix.sizes.iter().map(|&size| f64::from(size) / 1024.0).collect();
    let by_size = |value: &dyn Fn(usize) -> Option<f64>| -> Vec<Series> {
        let one = |(column, &reads): (usize, &f64)| {
            let places = (0..matrix.sizes.len()).map(|row| matrix.place(row, column));
            line(reads_writes(reads), &kib, places.map(value))
        };
        matrix.reads.iter().enumerate().map(one).collect()
    };
    let mean = |value: Value| move |place: usize| rounds.mean(place, value);
    let views = if variable == Variable::Latency {
        let most = |place: usize| rounds.greatest(place, |it| it.max_us);
        vec![
            ("mean".into(), Axis::linear("mean (us)"), by_size(&mean(|it| it.mean_us))),
            ("maximum".into(), Axis::log("maximum (us)"), by_size(&most)),
        ]
    } else {
        vec![(String::new(), Axis::log("IOPS"), by_size(&mean(|it| Some(it.iops()))))]
    };
    let about = "Means over the measurement window, one line for each mix of reads/writes.";
    let by_size = lines(
        (format!("{name}-by-size"), "By size and mix", about),
        Axis::log("size (KiB)"),
        views,
    );
    vec![convergence, window(name, "", rounds), by_size, amplification]
}

fn of_throughput(name: &str, sizes: &[(u32, Rounds)]) -> Vec<Chart> {
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
    let mut charts = vec![lines(text, rounds_axis(), views)];
    for (size, rounds) in sizes {
        let of = format!(" of {}", bytes(u64::from(*size)));
        charts.push(window(&format!("{name}-{}k", size >> 10), &of, rounds));
    }
    charts
}

/// Areas that add up: of the dies' time by activity, and of the response time by cause.
fn areas(name: &str, x: (&Axis, &[f64]), minutes: &[Element]) -> [Chart; 2] {
    let chart = |id: &str, title: &str, about: &str, y: &str, mut series: Vec<Series>| {
        series.iter_mut().take(1).for_each(|first| first.x = x.1.to_vec());
        let panels = vec![Panel { y: Axis::linear(y), series, ..Panel::default() }];
        let (title, about) = (title.into(), about.into());
        Chart {
            id: format!("{name}-{id}"),
            title,
            about,
            shape: Shape::Areas,
            x: x.0.clone(),
            panels,
        }
    };
    let of = |label: String, part: Part, share: &dyn Fn(&Element) -> f64| {
        let shares = minutes.iter().map(|minute| Some(percentage(share(minute)))).collect();
        Series::values(label, shares).of_cause(part)
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

/// Response times minute by minute.
fn responses(name: &str, axis: &Axis, x: &[f64], minutes: &[Element]) -> Chart {
    let of = |label: &str, value: Value| line(label, x, minutes.iter().map(value));
    let mut series = vec![
        of("mean", |it| it.mean_us),
        of("99 %", |it| it.p99_us),
        of("99.999 %", |it| it.p99999_us),
        of("maximum", |it| it.max_us),
    ];
    series.retain(|one| one.y.iter().any(Option::is_some));
    let about = "Each minute's mean, percentiles and maximum. A percentile needs enough requests.";
    let text = (format!("{name}-responses"), "Response times", about);
    lines(text, axis.clone(), vec![(String::new(), Axis::log("response time (us)"), series)])
}

fn amplification(
    name: &str,
    axis: &Axis,
    x: &[f64],
    minutes: &[Element],
    theory: Option<f64>,
) -> Chart {
    let mut series = vec![line("measured", x, minutes.iter().map(Element::waf))];
    let level =
        |waf| line("random writes, greedy collection: theory", x, x.iter().map(|_| Some(waf)));
    series.extend(theory.map(level));
    let about = "Pages programmed for each page of the host, minute by minute.";
    let text = (format!("{name}-waf"), "Write amplification", about);
    lines(text, axis.clone(), vec![(String::new(), Axis::linear("write amplification"), series)])
}

fn of_saturation(name: &str, all: &Saturation) -> Vec<Chart> {
    let minutes = &all.minutes;
    let time = Axis::linear("minute");
    let x = numbers(minutes.len());
    let written = all.written();
    let curve = |id: &str, title: &str, about: &str, axis: Axis, x: &[f64], log: bool| {
        let series = || vec![line("IOPS", x, minutes.iter().map(|it| Some(it.iops())))];
        let y = if log { Axis::log("IOPS") } else { Axis::linear("IOPS") };
        lines((format!("{name}-{id}"), title, about), axis, vec![(String::new(), y, series())])
    };
    let about = all.cliff().map_or("Random writes of 4 KiB.".into(), |cliff| {
        format!("Random writes of 4 KiB: {}.", cliff.sentence())
    });
    let gb: Vec<f64> = written.iter().map(|&sum| coarse(sum as f64 / 1e9)).collect();
    let fills: Vec<f64> =
        written.iter().map(|&sum| coarse(sum as f64 / all.capacity as f64)).collect();
    let [dies, causes] = areas(name, (&time, &x), minutes);
    vec![
        curve("iops", "IOPS over time", &about, time.clone(), &x, false),
        amplification(name, &time, &x, minutes, all.theory),
        dies,
        causes,
        responses(name, &time, &x, minutes),
        curve(
            "iops-by-written",
            "IOPS by total gigabytes written",
            "Gigabytes of 10^9 bytes.",
            Axis::linear("GB written"),
            &gb,
            true,
        ),
        curve(
            "iops-by-fills",
            "IOPS by drive fills",
            "A fill is the user capacity.",
            Axis::linear("drive fills"),
            &fills,
            true,
        ),
    ]
}

fn of_host_idle(name: &str, all: &HostIdle) -> Vec<Chart> {
    let baseline = all.baseline();
    let base = |x: &[f64]| line("baseline", x, x.iter().map(|_| Some(baseline)));
    let all_bursts: Vec<f64> =
        all.waits.iter().flat_map(|waited| waited.bursts.iter().map(Element::iops)).collect();
    let x = numbers(all_bursts.len());
    let everything = vec![line("bursts", &x, all_bursts.iter().copied().map(Some)), base(&x)];
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
            vec![(String::new(), Axis::linear("IOPS"), everything)],
        ),
        lines(
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
            vec![(String::new(), Axis::linear("IOPS"), back)],
        ),
        window(&format!("{name}-baseline"), " of the baseline", &all.base),
    ]
}

fn of_cross_stimulus(name: &str, all: &CrossStimulus) -> Vec<Chart> {
    let minutes: Vec<Element> = all.groups.iter().flat_map(|group| group.minutes.clone()).collect();
    let (time, x) = (Axis::linear("minute"), numbers(minutes.len()));
    let series = vec![line("MB/s", &x, minutes.iter().map(|it| Some(it.mb_s())))];
    let about = "Sequential writes of 1 MiB, random writes of 8 KiB, sequential writes of 1 MiB.";
    let curve = lines(
        (format!("{name}-throughput"), "Throughput over time", about),
        time.clone(),
        vec![(String::new(), Axis::log("MB/s"), series)],
    );
    let [dies, causes] = areas(name, (&time, &x), &minutes);
    let waf = amplification(name, &time, &x, &minutes, None);
    vec![curve, responses(name, &time, &x, &minutes), waf, dies, causes]
}

fn of_demand(name: &str, all: &Demand) -> Vec<Chart> {
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
    let points: Vec<f64> = all.histograms.iter().map(|it| it.element.iops()).collect();
    curves.push(line(
        "the three points",
        &points,
        all.histograms.iter().map(|it| it.element.mean_us),
    ));
    let mut charts = vec![
        lines(
            (
                format!("{name}-by-depth"),
                "IOPS by queue depth",
                "One line for each number of threads.",
            ),
            Axis::log("queue depth"),
            vec![(String::new(), Axis::linear("IOPS"), by_depth.to_vec())],
        ),
        lines(
            (
                format!("{name}-demand"),
                "Demand curve",
                "Mean response time by IOPS, with the points of the histograms.",
            ),
            Axis::linear("IOPS"),
            vec![(String::new(), Axis::log("mean response time (us)"), curves)],
        ),
        window(name, "", &all.rounds),
    ];
    charts.push(histograms(name, all));
    charts
}

/// Classes of a histogram to a decade.
const CLASSES: f64 = 20.0;

fn histograms(name: &str, all: &Demand) -> Chart {
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
        (it.name.to_string(), Axis::log("share of requests (%)"), series)
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
    let about = format!("Response times in classes of 1/20 of a decade. {}.", levels.join("; "));
    let text = (format!("{name}-histograms"), "Response time histograms", about.as_str());
    let views = all.histograms.iter().map(view).collect();
    let chart = lines(text, Axis::log("response time (us)"), views);
    Chart { shape: Shape::Steps, ..chart }
}
