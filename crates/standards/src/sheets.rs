//! The results as tables: on the terminal, on the page, and as CSV.

use super::demand::Demand;
use super::element::Element;
use super::host_idle::HostIdle;
use super::matrix::Matrix;
use super::rounds::{Point, Rounds};
use super::saturation::{Saturation, merged};
use super::steady_state::Window;
use super::{CrossStimulus, Found, Pts, Tested};
use fowler_experiment::Percentile;
use fowler_experiment::numbers::{bytes, percent, words};
use fowler_experiment::tables::{Cell, Sheet};
use fowler_units::Span;

/// Getter of a number measured in an element, one load that a test keeps on the drive for a time;
/// `None` if nothing was measured.
type Value = fn(&Element) -> Option<f64>;

impl Pts {
    /// Returns the table of the tests' settings, each with its source.
    pub fn settings(&self) -> Sheet {
        let mut sheet = Sheet::new("settings", "Settings", &["setting", "value", "source"]);
        for setting in &self.setup.settings {
            sheet.row(vec![
                setting.name.into(),
                setting.value.clone().into(),
                setting.source.into(),
            ]);
        }
        sheet
    }

    /// Returns the table that sums up all executed tests of the drive, one in each row.
    pub fn overview(&self) -> Sheet {
        let heads = ["test", "how it ended", "result", "simulated time"];
        let mut sheet = Sheet::new("tests", "Tests", &heads);
        for tested in &self.tested {
            sheet.row(vec![
                tested.test.title().into(),
                tested.ended().into(),
                tested.result().into(),
                fowler_experiment::numbers::seconds(tested.simulated.as_s()).into(),
            ]);
        }
        sheet
    }
}

impl Tested {
    /// Describes how the test ended: in steady state, or for another reason.
    pub fn ended(&self) -> String {
        match &self.found {
            Found::Matrix(matrix) => matrix.rounds.ended(),
            Found::Throughput(sizes) => {
                let one = |(size, rounds): &(u32, Rounds)| {
                    format!("{}: {}", bytes(u64::from(*size)), rounds.ended())
                };
                sizes.iter().map(one).collect::<Vec<_>>().join("; ")
            }
            Found::Saturation(all) => all.ended.words().into(),
            Found::HostIdle(all) => format!("baseline: {}", all.base.ended()),
            Found::CrossStimulus(_) => "all groups were written".into(),
            Found::Demand(all) => all.rounds.ended(),
        }
    }

    /// Describes the results of a PTS test of the drive in one line.
    pub(super) fn result(&self) -> String {
        let real = fowler_experiment::numbers::real;
        match &self.found {
            Found::Matrix(matrix) => {
                let rounds = &matrix.rounds;
                let value = rounds.window.average;
                format!(
                    "{} {} at {}",
                    real(value),
                    rounds.variable.name(),
                    mix(&rounds.points[rounds.tracked])
                )
            }
            Found::Throughput(sizes) => {
                let one = |(size, rounds): &(u32, Rounds)| {
                    let value = rounds.window.average;
                    format!("{} MB/s of writes of {}", real(value), bytes(u64::from(*size)))
                };
                sizes.iter().map(one).collect::<Vec<_>>().join("; ")
            }
            Found::Saturation(all) => {
                all.cliff().map_or("no cliff".into(), |cliff| cliff.sentence())
            }
            Found::HostIdle(all) => {
                let best = all.waits.iter().map(|waited| waited.iops() / all.baseline());
                let best = best.max_by(f64::total_cmp).unwrap_or(0.0);
                format!(
                    "bursts after the best wait reach {} of the {} IOPS of writes without a pause",
                    percent(best),
                    real(all.baseline())
                )
            }
            Found::CrossStimulus(all) => match all.recovery() {
                Some(minute) => format!(
                    "sequential writes recovered in minute {minute} after the random writes"
                ),
                None => "sequential writes had not recovered at the end".into(),
            },
            Found::Demand(all) => {
                let one = |it: &super::demand::Histogram| {
                    format!("{} {}", it.name, real(it.element.iops()))
                };
                all.histograms.iter().map(one).collect::<Vec<_>>().join(", ")
            }
        }
    }

    /// Returns the number of the test's tables that a terminal shows; the others are too long.
    pub fn shown(&self) -> usize {
        match &self.found {
            Found::Matrix(matrix) if matrix.rounds.variable == super::Variable::Latency => 2,
            Found::Throughput(_) | Found::Saturation(_) | Found::HostIdle(_) => 1,
            Found::Matrix(_) | Found::CrossStimulus(_) | Found::Demand(_) => 1,
        }
    }

    /// Returns the tables of results of a PTS test, the most important first.
    pub fn sheets(&self) -> Vec<Sheet> {
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

impl super::Cliff {
    /// Returns a sentence on the fall of throughput in the write saturation test and on its causes.
    pub fn sentence(&self) -> String {
        let real = fowler_experiment::numbers::real;
        let [fresh, end] = self.iops;
        let waf = match self.waf {
            [Some(fresh), Some(end)] => {
                format!("; write amplification rises from {} to {}", real(fresh), real(end))
            }
            _ => String::new(),
        };
        let [before, after] = self.gc.map(percent);
        let dies =
            format!("; garbage collection takes {after} of the dies' time (fresh: {before})");
        let shares = self.causes.iter().map(|(part, [fresh, end])| {
            format!("{} {} (fresh: {})", words(*part), percent(*end), percent(*fresh))
        });
        let shares: Vec<String> = shares.collect();
        let causes = if shares.is_empty() {
            String::new()
        } else {
            format!("; of the response time, {}", shares.join(", "))
        };
        format!(
            "throughput falls from {} to {} IOPS in minute {}, after {:.2} times the user capacity{waf}{dies}{causes}",
            real(fresh),
            real(end),
            self.minute,
            self.fills
        )
    }
}

/// Names the requests of one load of a test by shares of reads and writes, and size: `0/100 4 KiB`.
pub(super) fn mix(point: &Point) -> String {
    let reads = 100.0 * point.stimulus.reads;
    format!("{reads:.0}/{:.0} {}", 100.0 - reads, bytes(u64::from(point.stimulus.largest())))
}

fn reads_writes(reads: f64) -> String {
    format!("{:.0}/{:.0}", 100.0 * reads, 100.0 - 100.0 * reads)
}

fn of_matrix(name: &str, matrix: &Matrix) -> Vec<Sheet> {
    let rounds = &matrix.rounds;
    let of = |suffix: &str, title: &str, cell: &dyn Fn(usize) -> Option<f64>| {
        let mixes = matrix.reads.iter().map(|&reads| reads_writes(reads));
        let heads: Vec<String> = std::iter::once("size".to_string()).chain(mixes).collect();
        let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
        let mut sheet = Sheet::new(&format!("{name}-{suffix}"), title, &heads);
        for (row, &size) in matrix.sizes.iter().enumerate() {
            let mut cells = vec![Cell::Text(bytes(u64::from(size)))];
            let columns = 0..matrix.reads.len();
            cells.extend(columns.map(|reads| Cell::number(cell(matrix.place(row, reads)))));
            sheet.row(cells);
        }
        sheet
    };
    let mean = |value: Value| move |place: usize| rounds.mean(place, value);
    let most = |value: Value| move |place: usize| rounds.greatest(place, value);
    let mut sheets = if rounds.variable == super::Variable::Latency {
        vec![
            of("mean", "Mean response time (us) by size and reads/writes", &mean(|it| it.mean_us)),
            of("max", "Maximum response time (us) by size and reads/writes", &most(|it| it.max_us)),
        ]
    } else {
        vec![of("matrix", "Mean IOPS by size and reads/writes", &mean(|it| Some(it.iops())))]
    };
    sheets.push(of(
        "waf",
        "Write amplification by size and reads/writes",
        &mean(Element::steady_waf),
    ));
    sheets.push(tracking(name, "", rounds));
    sheets.push(elements(name, rounds, &mix));
    sheets
}

/// Returns the table of the tracking variable in each round, beside the measurement window and the
/// line through it.
fn tracking(name: &str, of: &str, rounds: &Rounds) -> Sheet {
    let Window { average, slope, intercept, .. } = rounds.window;
    let window = rounds.window;
    let share = |excursion: f64| percent(if average > 0.0 { excursion / average } else { 0.0 });
    let title = format!(
        "Tracking variable{of}: {}. Mean {}; data excursion {} ({}, allowed 20 %); slope excursion {} ({}, allowed 10 %); \
         y = {slope:.4} R + {intercept:.4}",
        rounds.ended(),
        fowler_experiment::numbers::real(average),
        fowler_experiment::numbers::real(window.data_excursion),
        share(window.data_excursion),
        fowler_experiment::numbers::real(window.slope_excursion()),
        share(window.slope_excursion()),
    );
    let heads = ["round", rounds.variable.name(), "mean", "90 %", "110 %", "line"];
    let mut sheet = Sheet::new(&format!("{name}-tracking"), title, &heads);
    for (place, value) in rounds.tracking().into_iter().enumerate() {
        let round = place + 1;
        let inside = (window.first..=window.last).contains(&round);
        let only = |value: f64| if inside { Cell::Number(value) } else { Cell::Nothing };
        sheet.row(vec![
            Cell::Number(round as f64),
            Cell::Number(value),
            only(average),
            only(0.9 * average),
            only(1.1 * average),
            only(window.line(round)),
        ]);
    }
    sheet
}

const ELEMENT_HEADS: [&str; 11] = [
    "IOPS",
    "MB/s",
    "mean (us)",
    "p99 (us)",
    "p99.999 (us)",
    "max (us)",
    "WAF",
    "erases",
    "GC, of die time",
    "buffer hits",
    "largest cause",
];

/// Returns the cells of a row for one load of a test: IOPS, throughput, response times, write
/// amplification, erases, GC's share of die time, buffer hits and the largest cause of latency.
fn element_cells(element: &Element) -> Vec<Cell> {
    let cause = element.causes().first().map_or(Cell::Nothing, |(part, share)| {
        Cell::Text(format!("{} {}", words(*part), percent(*share)))
    });
    vec![
        Cell::Number(element.iops()),
        Cell::Number(element.mb_s()),
        Cell::number(element.mean_us),
        Cell::number(element.p99_us),
        Cell::number(element.p99999_us),
        Cell::number(element.max_us),
        Cell::number(element.steady_waf()),
        Cell::Number(element.erases as f64),
        Cell::share(Some(element.gc_share())),
        Cell::share(element.buffer_share()),
        cause,
    ]
}

/// Returns the table of a test's loads: a row for each load of a round, with the requests, response
/// times and flash work over the five rounds of the measurement window.
fn elements(name: &str, rounds: &Rounds, label: &dyn Fn(&Point) -> String) -> Sheet {
    let heads: Vec<&str> = std::iter::once("element").chain(ELEMENT_HEADS).collect();
    let title = "Every element over the measurement window; of percentiles the greatest";
    let mut sheet = Sheet::new(&format!("{name}-elements"), title, &heads);
    for (place, point) in rounds.points.iter().enumerate() {
        let window = &rounds.rounds[rounds.window.first - 1..rounds.window.last];
        let all: Vec<Element> = window.iter().map(|round| round[place].clone()).collect();
        let mut cells = vec![Cell::Text(label(point))];
        cells.extend(element_cells(&merged(&all)));
        sheet.row(cells);
    }
    sheet
}

fn of_throughput(name: &str, sizes: &[(u32, Rounds)]) -> Vec<Sheet> {
    let heads = ["size", "100/0 (MB/s)", "0/100 (MB/s)", "WAF of 0/100"];
    let mut sheet = Sheet::new(&format!("{name}-matrix"), "Mean throughput", &heads);
    for (size, rounds) in sizes {
        sheet.row(vec![
            Cell::Text(bytes(u64::from(*size))),
            Cell::number(rounds.mean(super::throughput::READ, |it| Some(it.mb_s()))),
            Cell::number(rounds.mean(super::throughput::WRITE, |it| Some(it.mb_s()))),
            Cell::number(rounds.mean(super::throughput::WRITE, Element::steady_waf)),
        ]);
    }
    let mut sheets = vec![sheet];
    for (size, rounds) in sizes {
        let (name, of) = (format!("{name}-{}k", size >> 10), bytes(u64::from(*size)));
        sheets.push(tracking(&name, &format!(" of {of}"), rounds));
        sheets.push(elements(&name, rounds, &mix));
    }
    sheets
}

fn of_saturation(name: &str, all: &Saturation) -> Vec<Sheet> {
    let written = all.written();
    let total = written.last().copied().unwrap_or(0);
    let title = format!(
        "Start and end: {}. {} written, {:.2} times the user capacity, in {} minutes{}",
        all.ended.words(),
        bytes(total),
        total as f64 / all.capacity as f64,
        all.minutes.len(),
        all.theory.map_or(String::new(), |waf| {
            format!("; in theory the write amplification ends at {waf:.2} with greedy GC")
        })
    );
    let heads: Vec<&str> = std::iter::once("part").chain(ELEMENT_HEADS).collect();
    let mut sheet = Sheet::new(&format!("{name}-ends"), title, &heads);
    let mut row = |part: &str, element: Option<Element>| {
        let Some(element) = element else { return };
        let mut cells = vec![Cell::from(part)];
        cells.extend(element_cells(&element));
        sheet.row(cells);
    };
    row("first minute", all.minutes.first().cloned());
    row("first hour", all.first_hour());
    row("last hour", all.last_hour());
    row("last 5 minutes", Some(all.level()));
    vec![sheet, minutes(name, &all.minutes, all.capacity)]
}

/// Returns the table of the minutes of a test that loads the drive without a pause, such as write
/// saturation: one row for each minute.
fn minutes(name: &str, all: &[Element], capacity: u64) -> Sheet {
    let heads: Vec<&str> =
        ["minute", "GB written", "fills"].into_iter().chain(ELEMENT_HEADS).collect();
    let mut sheet = Sheet::new(&format!("{name}-minutes"), "Minute by minute", &heads);
    let mut written = 0;
    for (place, element) in all.iter().enumerate() {
        written += element.bytes;
        let mut cells = vec![
            Cell::Number((place + 1) as f64),
            Cell::Number(written as f64 / 1e9),
            Cell::Number(written as f64 / capacity as f64),
        ];
        cells.extend(element_cells(element));
        sheet.row(cells);
    }
    sheet
}

fn of_host_idle(name: &str, all: &HostIdle) -> Vec<Sheet> {
    let baseline = all.baseline();
    let title = format!(
        "Bursts of 5 s after waits; the baseline is {} IOPS",
        fowler_experiment::numbers::real(baseline)
    );
    let heads = [
        "wait (s)",
        "mean IOPS of bursts",
        "of the baseline",
        "first minute after",
        "last minute after",
    ];
    let mut sheet = Sheet::new(&format!("{name}-waits"), title, &heads);
    for waited in &all.waits {
        let minute = |element: Option<&Element>| Cell::number(element.map(Element::iops));
        sheet.row(vec![
            Cell::Number(waited.seconds as f64),
            Cell::Number(waited.iops()),
            Cell::share(Some(waited.iops() / baseline)),
            minute(waited.back.first()),
            minute(waited.back.last()),
        ]);
    }
    let mut bursts =
        Sheet::new(&format!("{name}-bursts"), "Every burst", &["wait (s)", "burst", "IOPS", "WAF"]);
    for waited in &all.waits {
        for (place, burst) in waited.bursts.iter().enumerate() {
            bursts.row(vec![
                Cell::Number(waited.seconds as f64),
                Cell::Number((place + 1) as f64),
                Cell::Number(burst.iops()),
                Cell::number(burst.steady_waf()),
            ]);
        }
    }
    vec![sheet, tracking(name, " of the baseline", &all.base), bursts]
}

fn of_cross_stimulus(name: &str, all: &CrossStimulus) -> Vec<Sheet> {
    let title = match all.recovery() {
        Some(minute) => {
            format!(
                "Groups of writes, one after another: the last reaches the mean throughput (MB/s) \
                 of the first in minute {minute}"
            )
        }
        None => "Groups of writes, one after another: the last does not reach the mean throughput \
                 (MB/s) of the first"
            .into(),
    };
    let heads = [
        "group",
        "mean MB/s",
        "MB/s at its end",
        "WAF at its end",
        "greatest mean (us)",
        "max (us)",
    ];
    let mut sheet = Sheet::new(&format!("{name}-groups"), title, &heads);
    for group in &all.groups {
        let last = group.minutes.last();
        let most = |value: Value| group.minutes.iter().filter_map(value).max_by(f64::total_cmp);
        let kind = match group.point.stimulus.addresses {
            super::Addresses::Sequential => "sequential",
            _ => "random",
        };
        sheet.row(vec![
            Cell::Text(format!("{kind} {}", bytes(u64::from(group.point.stimulus.largest())))),
            Cell::Number(group.mb_s()),
            Cell::number(last.map(Element::mb_s)),
            Cell::number(last.and_then(Element::steady_waf)),
            Cell::number(most(|it| it.mean_us)),
            Cell::number(most(|it| it.max_us)),
        ]);
    }
    let minutes: Vec<Element> = all.groups.iter().flat_map(|group| group.minutes.clone()).collect();
    let heads: Vec<&str> = std::iter::once("minute").chain(ELEMENT_HEADS).collect();
    let mut by_minute = Sheet::new(&format!("{name}-minutes"), "Minute by minute", &heads);
    for (place, element) in minutes.iter().enumerate() {
        let mut cells = vec![Cell::Number((place + 1) as f64)];
        cells.extend(element_cells(element));
        by_minute.row(cells);
    }
    vec![sheet, by_minute]
}

/// Percentiles in the tables of response time histograms.
const CONFIDENCE: [Percentile; 4] =
    [Percentile::P99, Percentile::P999, Percentile::P9999, Percentile::P99999];

fn of_demand(name: &str, all: &Demand) -> Vec<Sheet> {
    let ceiling = super::demand::CEILING_US / 1e3;
    let note = if all.none_fast { "; no load has so short a mean, so all count" } else { "" };
    let title = format!(
        "Response times at the loads with the least, the middle and the most IOPS, among loads \
         whose mean response time is below {ceiling} ms{note}"
    );
    let heads = [
        "point",
        "threads",
        "depth",
        "IOPS",
        "mean (us)",
        "p99 (us)",
        "p99.9 (us)",
        "p99.99 (us)",
        "p99.999 (us)",
        "max (us)",
    ];
    let mut sheet = Sheet::new(&format!("{name}-points"), title, &heads);
    for it in &all.histograms {
        let point = &all.rounds.points[it.place];
        let mut cells = vec![
            Cell::from(it.name),
            Cell::Number(f64::from(point.threads)),
            Cell::Number(f64::from(point.depth)),
            Cell::Number(it.element.iops()),
            Cell::number(it.element.mean_us),
        ];
        let of = |percentile| Cell::number(it.latencies.percentile(percentile).map(Span::as_us));
        cells.extend(CONFIDENCE.map(of));
        cells.push(Cell::number(it.element.max_us));
        sheet.row(cells);
    }
    let label = |point: &Point| {
        let writes = if point.minutes == super::demand::PRE_WRITES { "writes, " } else { "" };
        format!("{writes}{} x {}", point.threads, point.depth)
    };
    let tracked = tracking(name, "", &all.rounds);
    vec![sheet, elements(name, &all.rounds, &label), tracked]
}
