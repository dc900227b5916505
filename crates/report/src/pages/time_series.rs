//! Charts of a run over time, and of the wear of its blocks.

use super::chart::{coarse, percentage};
use super::{density, phases};
use fowler_device::Doing;
use fowler_device::blame::Part;
use fowler_experiment::numbers::{counted, seconds};
use fowler_experiment::outcome::{Detail, Outcome};
use fowler_figures::{Axis, Figure, Panel, Series, Shape};
use fowler_metrics::{Kind, OverTime, Window};
use fowler_units::Span;
use std::borrow::Cow;

/// Limits for the HTML page of several runs: heat-map cells over all heat maps, and time windows
/// (points on the time axis of the charts) over all runs. Each window is drawn about twenty times,
/// in as many lines.
const CELLS: usize = 75_000;
const WINDOWS: usize = 1024;
/// Number of heat maps on a page: dies, channels, blocks, and the latencies of reads and of writes.
const FIELDS: usize = 5;
/// Most rows of cells in a heat map: more could not be distinguished.
const ROWS: usize = 64;
/// Most columns in a heat map of blocks.
const BLOCK_COLUMNS: usize = 128;

/// A run and its time series, reduced to as many time windows as the charts of the HTML page of the
/// results have room for.
pub(super) struct TimeSeries<'a> {
    /// Index of the run, from 0, among the runs that the HTML page of the results compares.
    pub place: usize,
    pub outcome: &'a Outcome,
    detail: &'a Detail,
    pub over_time: Cow<'a, OverTime>,
}

/// The runs that have a time series, and the unit of time on their charts.
pub struct AllTimeSeries<'a> {
    pub(super) runs: Vec<TimeSeries<'a>>,
    unit: &'static str,
    /// Nanoseconds per unit of the charts' time axis.
    scale: f64,
}

impl<'a> AllTimeSeries<'a> {
    /// Returns the measurements over time of all runs that recorded them, with windows of the same
    /// width in all of them.
    pub fn of(outcomes: &'a [Outcome]) -> AllTimeSeries<'a> {
        let whole = |(place, outcome): (usize, &'a Outcome)| {
            let detail = outcome.detail.as_deref()?;
            let over_time = Cow::Borrowed(&detail.over_time);
            let run = TimeSeries { place, outcome, detail, over_time };
            (!run.over_time.windows().is_empty()).then_some(run)
        };
        let mut runs: Vec<TimeSeries<'a>> = outcomes.iter().enumerate().filter_map(whole).collect();
        let windows = |runs: &[TimeSeries<'_>]| {
            runs.iter().map(|run| run.over_time.windows().len()).sum::<usize>()
        };
        // Use the same width for all runs, so that they can be compared.
        while windows(&runs) > WINDOWS.max(runs.len()) {
            for run in &mut runs {
                run.over_time = Cow::Owned(run.over_time.coarser());
            }
        }
        let length =
            |run: &TimeSeries<'_>| run.over_time.windows().iter().map(|it| it.length).sum();
        let longest: Span = runs.iter().map(length).max().unwrap_or_default();
        let (unit, scale) = match longest.as_s() {
            s if s >= 3.0 * 86_400.0 => ("h", 3_600e9),
            s if s >= 2.0 => ("s", 1e9),
            s if s >= 2e-3 => ("ms", 1e6),
            _ => ("us", 1e3),
        };
        AllTimeSeries { runs, unit, scale }
    }

    pub(super) fn time(&self) -> Axis {
        Axis::linear(format!("time since the first request entered the drive ({})", self.unit))
    }

    /// Returns the middle of every window of time, in units of the charts' axis.
    pub(super) fn middles(&self, over_time: &OverTime) -> Vec<f64> {
        let width = over_time.width().0 as f64;
        let middle = |(index, window): (usize, &Window)| {
            coarse_time((index as f64 * width + window.length.0 as f64 / 2.0) / self.scale)
        };
        over_time.windows().iter().enumerate().map(middle).collect()
    }

    /// Returns a line over time for every run, with a value for each window.
    fn lines(&self, value: impl Fn(&OverTime, usize) -> Option<f64>) -> Vec<Series> {
        let line = |TimeSeries { place, outcome, over_time, .. }: &TimeSeries<'_>| {
            let windows = 0..over_time.windows().len();
            let y = windows.map(|window| value(over_time, window).map(coarse));
            let points = self.middles(over_time).into_iter().zip(y);
            Series::line(outcome.drive.label(), points).of_scheme(*place)
        };
        let known = |series: &Series| series.y.iter().any(Option::is_some);
        self.runs.iter().map(line).filter(known).collect()
    }

    pub(super) fn about_windows(&self) -> String {
        let widths: Vec<String> =
            self.runs.iter().map(|run| seconds(run.over_time.width().as_s())).collect();
        let mut different = widths.clone();
        different.dedup();
        format!("Each window is {}.", different.join(", "))
    }

    /// Returns every chart of values over time.
    pub fn charts(&self) -> Vec<Figure> {
        if self.runs.is_empty() {
            return Vec::new();
        }
        let mut charts: Vec<Figure> = Kind::ALL.iter().filter_map(|&it| self.latency(it)).collect();
        charts.push(self.outstanding());
        charts.push(self.throughput());
        charts.push(self.activity());
        charts.push(self.utilisation("die", OverTime::die_busy));
        charts.push(self.utilisation("channel", OverTime::channel_busy));
        charts.extend(self.amplification());
        charts.extend(self.suspensions());
        charts.push(self.wear());
        charts
    }

    /// Returns the charts of the distribution of latencies over time.
    pub fn distributions(&self) -> Vec<Figure> {
        let densities =
            Kind::ALL.iter().filter_map(|&kind| density::chart(self, kind, CELLS / FIELDS));
        densities.chain(Kind::ALL.iter().filter_map(|&kind| phases::chart(self, kind))).collect()
    }

    /// Returns the chart of the number of requests in the drive over time.
    fn outstanding(&self) -> Figure {
        let mean = |it: &OverTime, window: usize| {
            let window = &it.windows()[window];
            let sum: u128 = Kind::ALL.iter().map(|&kind| window.served[kind].latency).sum();
            (window.length > Span::ZERO).then(|| sum as f64 / window.length.0 as f64)
        };
        let about = format!(
            "The mean queue depth by Little's law: the sum of the latencies of the requests that completed in a \
                 window of time, divided by its length. {}",
            self.about_windows()
        );
        Figure::new(
            "outstanding",
            "Requests in the drive over time",
            vec![Panel::view("", Axis::linear("mean queue depth (requests)"), self.lines(mean))],
        )
        .caption(about)
        .views(Shape::Lines, self.time())
    }

    fn latency(&self, kind: Kind) -> Option<Figure> {
        let name = kind.name();
        let panel = |what: &str, series: Vec<Series>| {
            Panel::view(what, Axis::log10(format!("{what} {name} latency (us)")), series)
        };
        let served = move |it: &OverTime, window: usize| it.windows()[window].served[kind];
        let quantile =
            |share| self.lines(move |it, window| Some(it.quantile(window, kind, share)?.as_us()));
        let mut panels = vec![
            panel("mean", self.lines(|it, window| served(it, window).mean_us())),
            panel("p99", quantile(0.99)),
            panel("max", quantile(1.0)),
        ];
        // A logarithmic axis has no place for what took no time.
        let has = |panel: &Panel, which: fn(f64) -> bool| {
            panel.series.iter().flat_map(|it| &it.y).flatten().any(|&value| which(value))
        };
        let gaps = panels.iter().any(|panel| has(panel, |value| value == 0.0));
        let gaps = if gaps { " Windows with a latency of zero are left out." } else { "" };
        panels.retain(|panel| has(panel, |value| value > 0.0));
        let about = format!(
            "Latency of the {name}s that completed in each window. {} Mean and maximum are exact, p99 is at most \
                 6 % too high.{gaps}",
            self.about_windows()
        );
        (!panels.is_empty()).then(|| {
            Figure::new(
                format!("{name}-latency-over-time"),
                format!("Latency of {name}s over time"),
                panels,
            )
            .caption(about)
            .views(Shape::Lines, self.time())
        })
    }

    fn throughput(&self) -> Figure {
        let rate = |count: u64, window: &Window| {
            (window.length > Span::ZERO).then(|| count as f64 / window.length.as_s())
        };
        let mut panels = Vec::new();
        for kind in Kind::ALL {
            let of = move |it: &OverTime, window: usize| it.windows()[window].served[kind];
            let name = kind.name();
            let mut panel = |what: &str, unit: &str, series: Vec<Series>| {
                if series.iter().flat_map(|it| &it.y).flatten().any(|&value| value > 0.0) {
                    let y = Axis::linear(format!("{name}s ({unit})"));
                    panels.push(Panel::view(what, y, series));
                }
            };
            let requests = self.lines(|it, at| rate(of(it, at).requests, &it.windows()[at]));
            panel(&format!("{name}s"), "per second", requests);
            let bytes = self.lines(|it, at| Some(rate(of(it, at).bytes, &it.windows()[at])? / 1e6));
            panel(&format!("{name} bytes"), "MB per second", bytes);
        }
        Figure::new("throughput", "Throughput over time", panels)
            .caption(format!("Completed requests and their bytes. {}", self.about_windows()))
            .views(Shape::Lines, self.time())
    }

    /// Returns the chart of the time of all dies by activity, over the time of the run; one panel
    /// per run.
    fn activity(&self) -> Figure {
        let panel = |TimeSeries { outcome, over_time, .. }: &TimeSeries<'_>| {
            let dies = f64::from(outcome.drive.layout.geometry.dies());
            let share = |what: usize| {
                let of = |it: &Window| {
                    let whole = dies * it.length.0 as f64;
                    (whole > 0.0).then(|| percentage(it.activity[what] as f64 / whole))
                };
                let shares = over_time.windows().iter().map(of);
                Series::values(Doing::NAMES[what], shares).of_cause(cause(what).name())
            };
            let some = |what: &usize| over_time.windows().iter().any(|it| it.activity[*what] > 0);
            let busy = (0..Doing::COUNT).filter(|&what| Doing::NAMES[what] != "idle");
            let y = Axis::linear("share of die time (%)");
            let series = busy.filter(some).map(share);
            Panel::view(outcome.drive.label(), y, series).shared_x(self.middles(over_time))
        };
        let about = format!(
            "The time of all dies by activity, including transfers; the rest is idle time, or waiting \
                 for a channel to begin a program. {}",
            self.about_windows()
        );
        Figure::new("die-activity", "What the dies do", self.runs.iter().map(panel))
            .caption(about)
            .views(Shape::Areas, self.time())
    }

    /// Returns the chart of the utilization of each die or channel over time, as a heat map; one
    /// panel per run.
    fn utilisation(&self, what: &str, busy: fn(&OverTime, usize) -> &[u64]) -> Figure {
        let panel = |TimeSeries { outcome, over_time, .. }: &TimeSeries<'_>| {
            let units = busy(over_time, 0).len();
            let group = units.div_ceil(ROWS);
            let rows = units.div_ceil(group);
            let windows = over_time.windows().len();
            let together = (rows * windows * self.runs.len()).div_ceil(CELLS / FIELDS);
            let middles: Vec<f64> = self.middles(over_time).into_iter().step_by(together).collect();
            let cells = |row: usize| {
                let range = row * group..((row + 1) * group).min(units);
                let cell = |first: usize| {
                    let (mut sum, mut whole) = (0, 0);
                    for window in first..(first + together).min(windows) {
                        sum += busy(over_time, window)[range.clone()].iter().sum::<u64>();
                        whole += over_time.windows()[window].length.0 * range.len() as u64;
                    }
                    (whole > 0).then(|| percentage(sum as f64 / whole as f64))
                };
                (0..windows).step_by(together).map(cell).collect::<Vec<_>>()
            };
            let series = |row: usize| {
                let name = numbered(what, row * group, ((row + 1) * group).min(units));
                Series::values(name, cells(row))
            };
            let y = Axis::linear(format!("{what} busy (%)"));
            Panel::cells(outcome.drive.label(), y, middles, (0..rows).map(series))
        };
        let about = format!(
            "The share of each window in which a {what} was busy: dark is idle, bright is busy all the \
                 time. {}",
            self.about_windows()
        );
        Figure::new(
            format!("{what}-utilisation"),
            format!("How busy each {what} is"),
            self.runs.iter().map(panel),
        )
        .caption(about)
        .views(Shape::Heat, self.time())
    }

    fn amplification(&self) -> Option<Figure> {
        let series = self.lines(|it, window| it.windows()[window].waf());
        (!series.is_empty()).then(|| {
            Figure::new(
                "waf-over-time",
                "Write amplification over time",
                vec![Panel::view("", Axis::linear("pages programmed per host page"), series)],
            )
            .caption(format!(
                "Pages programmed for any source per page programmed for the host. {}",
                self.about_windows()
            ))
            .views(Shape::Lines, self.time())
        })
    }

    fn suspensions(&self) -> Option<Figure> {
        self.runs.iter().any(|run| run.outcome.counters.suspensions > 0).then(|| {
            Figure::new(
                "suspensions-over-time",
                "Suspensions over time",
                vec![Panel::view(
                    "",
                    Axis::linear("suspensions per second"),
                    self.lines(|it, window| {
                        let window = &it.windows()[window];
                        let seconds = window.length.as_s();
                        (seconds > 0.0).then(|| window.suspensions as f64 / seconds)
                    }),
                )],
            )
            .caption(format!(
                "How often a program or an erase was suspended for a read. {}",
                self.about_windows()
            ))
            .views(Shape::Lines, self.time())
        })
    }

    /// Returns the chart of the erases of every block at the end of the run, as a heat map: one row
    /// per die, one column per block or group of blocks.
    fn wear(&self) -> Figure {
        let panel = |TimeSeries { outcome, detail, .. }: &TimeSeries<'_>| {
            let dies = outcome.drive.layout.geometry.dies() as usize;
            let per_die = detail.erases.len() / dies;
            let group = dies.div_ceil(ROWS);
            let rows = dies.div_ceil(group);
            let fits = (CELLS / FIELDS / (rows * self.runs.len())).clamp(1, BLOCK_COLUMNS);
            let width = per_die.div_ceil(fits).max(1);
            let starts: Vec<usize> = (0..per_die).step_by(width).collect();
            let series = |row: usize| {
                let range = row * group..((row + 1) * group).min(dies);
                let cell = |&first: &usize| {
                    let last = (first + width).min(per_die);
                    let blocks = range.clone().flat_map(|die| {
                        detail.erases[die * per_die..][first..last].iter().map(|&it| u64::from(it))
                    });
                    let count = range.len() * (last - first);
                    Some(coarse(blocks.sum::<u64>() as f64 / count as f64))
                };
                Series::values(numbered("die", range.start, range.end), starts.iter().map(cell))
            };
            let together = group * width;
            let y = Axis::linear(match together {
                1 => "erases of a block (count)".into(),
                _ => format!("mean erases of {} (count)", counted(together as u64, "block")),
            });
            let x = starts.iter().map(|&first| first as f64).collect();
            Panel::cells(outcome.drive.label(), y, x, (0..rows).map(series))
        };
        let about = "How often each block has been erased by the end of the run, including preconditioning. \
                    Each row is a die, each column a block. On a drive with many blocks a cell is the mean \
                    of several neighbors.";
        Figure::new("wear-map", "Wear of the blocks", self.runs.iter().map(panel))
            .caption(about)
            .views(Shape::Heat, Axis::linear("block of the die (number)"))
    }
}

/// Returns the cause of latency of a request that waits for this activity of a die; both have one
/// color.
fn cause(activity: usize) -> Part {
    let behind = Part::ALL.get(Part::BehindHostRead as usize + activity);
    // The activities are in the order of these causes, and the last one suspends.
    behind.filter(|_| activity < Doing::COUNT - 2).copied().unwrap_or(Part::Suspend)
}

/// Returns the name of a row of a heat map: `die 3`, or `dies 4 to 7`.
fn numbered(what: &str, from: usize, to: usize) -> String {
    if to == from + 1 { format!("{what} {from}") } else { format!("{what}s {from} to {}", to - 1) }
}

/// Rounds a time on a chart's axis to six digits.
fn coarse_time(value: f64) -> f64 {
    (value * 1e4).round() / 1e4
}
