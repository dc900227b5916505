//! Pictures: the paper's figures, and figures for the questions it leaves open.

use super::limits::{DIES, LIMITS, LOADS, Point, Starvation};
use super::measures::overheads;
use super::paper::{Flash, Paper, Way};
use super::plan::Evidence;
use super::tables::{BARS, Bars, SHARES, SUSPENDING, Shares, called};
use crate::column::Column;
use crate::run_summary::{Number, READ, WRITE};
use crate::runs::mean;
use fowler_figures as draw;
use fowler_figures::{Axis, Figure, LineSeries, Panel, Reference, Stroke};
use fowler_report::figures_folder::Named;

const STAND_INS: &str = "Stand-ins are generated from what is published about the traces and calibrated to the \
                         FIFO latencies only; real excerpts are labeled. Diamonds are the paper's numbers.";

/// The paper's figures.
pub(super) fn shown(paper: &Paper, evidence: &Evidence) -> Vec<Named> {
    let mut figures = vec![table2(paper, evidence)];
    figures.extend(BARS.iter().map(|bars| latencies(bars, paper, evidence)));
    figures.extend(SHARES.iter().map(|shares| shares_of(shares, paper, evidence)));
    figures.push(queue(paper, evidence));
    figures
}

fn figure(title: String, panels: Vec<Panel>) -> Figure {
    let caption = Some(STAND_INS.into());
    Figure { caption, same_y: true, panels, ..Figure::new(title) }
}

/// The workloads, and the mean of the stand-ins behind them.
fn groups(evidence: &Evidence) -> Vec<String> {
    evidence.runs.columns.iter().map(|column| column.name.clone()).chain(["mean".into()]).collect()
}

/// A mark at the mean, and none at any workload.
fn at_mean(evidence: &Evidence, mark: Option<f64>) -> Vec<Option<f64>> {
    evidence.runs.columns.iter().map(|_| None).chain([mark]).collect()
}

/// Table 2 as quotients: its numbers span two decades.
fn table2(paper: &Paper, evidence: &Evidence) -> Named {
    let columns: Vec<&Column> = evidence.runs.stand_ins().collect();
    let series = |(kind, of): (&str, Number), flash: Flash| {
        let quotient = |column: &&Column| {
            let ours = evidence.number(&column.name, flash.plain(), "fifo", of)? / 1e3;
            Some(ours / paper.table2(flash, kind, column.place?)?)
        };
        let values = columns.iter().map(quotient).collect();
        draw::BarSeries { name: format!("{kind}s"), values, ..draw::BarSeries::default() }
    };
    let panel = |flash: Flash| {
        Panel::bars(
            flash.name(),
            draw::Bars {
                y: "FIFO mean latency, ours / published".into(),
                groups: columns.iter().map(|column| column.name.clone()).collect(),
                series: [("read", READ), ("write", WRITE)].map(|kind| series(kind, flash)).into(),
                reference: Some(Reference { at: 1.0, name: "as published".into() }),
            },
        )
    };
    let title = "Table 2: what the stand-ins are calibrated to";
    let panels = Flash::ALL.map(panel).into();
    ("table2".into(), Figure { same_y: true, panels, ..Figure::new(title) })
}

fn latencies(bars: &Bars, paper: &Paper, evidence: &Evidence) -> Named {
    let panel = |flash: Flash| {
        let series = |scheme: &&str| {
            let ratio = |column: &Column| {
                evidence.ratio(&column.name, flash.plain(), bars.of, (scheme, bars.base))
            };
            let average = || mean(&evidence.ratios(flash.plain(), bars.of, (scheme, bars.base))?);
            draw::BarSeries {
                name: called(scheme).into(),
                values: evidence.runs.columns.iter().map(ratio).chain([average()]).collect(),
                published: evidence
                    .runs
                    .columns
                    .iter()
                    .map(|column| bars.published_most(paper, (flash, &column.name), scheme))
                    .chain([bars.published(paper, flash, scheme)])
                    .collect(),
                ..draw::BarSeries::default()
            }
        };
        Panel::bars(
            flash.name(),
            draw::Bars {
                y: bars.title.into(),
                groups: groups(evidence),
                series: bars.schemes.iter().map(series).collect(),
                reference: None,
            },
        )
    };
    let title = format!("Figure {}: {}", bars.number, bars.title);
    (format!("figure{}", bars.number), figure(title, Flash::ALL.map(panel).into()))
}

fn shares_of(shares: &Shares, paper: &Paper, evidence: &Evidence) -> Named {
    let &Shares { number, title, of, claim } = shares;
    let panel = |flash: Flash| {
        let series = |scheme: &str| {
            let share = |column: &Column| {
                Some(100.0 * evidence.number(&column.name, flash.plain(), scheme, of)?)
            };
            let all: Option<Vec<f64>> = evidence.runs.stand_ins().map(share).collect();
            let average = all.and_then(|all| mean(&all));
            // The paper does not say which of the two it shows: it speaks of IPC before.
            let mark = paper.number(claim, flash.name()).filter(|_| scheme == "pes_ipc");
            draw::BarSeries {
                name: called(scheme).into(),
                values: evidence.runs.columns.iter().map(share).chain([average]).collect(),
                published: at_mean(evidence, mark.map(|share| 100.0 * share)),
                ..draw::BarSeries::default()
            }
        };
        Panel::bars(
            flash.name(),
            draw::Bars {
                y: "percent".into(),
                groups: groups(evidence),
                series: SUSPENDING.map(series).into(),
                reference: None,
            },
        )
    };
    let panels = Flash::ALL.map(panel).into();
    (format!("figure{number}"), figure(format!("Figure {number}: {title}"), panels))
}

fn queue(paper: &Paper, evidence: &Evidence) -> Named {
    let queue = &paper.queue;
    let panel = |way: &Way, flash: Flash| {
        let series = |scheme| {
            let curve = overheads(evidence, (way, flash), scheme).unwrap_or_default();
            let sizes = queue.sizes.iter().map(|&size| f64::from(size));
            LineSeries {
                name: called(scheme).into(),
                points: sizes.zip(curve).collect(),
                ..LineSeries::default()
            }
        };
        Panel::lines(
            format!("{}: {}", flash.name(), way.name),
            draw::Lines {
                x: Axis::log2("size of the queue"),
                y: Axis::log10("Mean write latency normalized to FIFO"),
                series: ["rps", "pes_ipc"].map(series).into(),
                reference: None,
            },
        )
    };
    let title = format!(
        "Figure 7: {} at {} times its speed, by size of the write queue",
        queue.workload, queue.faster
    );
    let caption = "The paper gives no numbers for this figure; both curves rise and their difference stays flat. \
                   It limits the queue to limit the overhead, which fits a full queue that holds up reads as well.";
    let ways = queue.way.iter();
    let panels = ways.flat_map(|way| Flash::ALL.map(|flash| panel(way, flash))).collect();
    let caption = Some(caption.into());
    let figure = Figure { caption, columns: Some(2), panels, ..Figure::new(title) };
    ("figure7".into(), figure)
}

/// An open question of the paper: starvation.
pub(super) fn starvation(starvation: &Starvation) -> [Named; 2] {
    [
        ("starvation_completion".into(), completion(&starvation.points)),
        ("starvation_limits".into(), limits(starvation)),
    ]
}

fn completion(points: &[Point]) -> Figure {
    let panel = |die: &str| {
        let of = |scheme: &str| {
            let mine = |point: &&Point| point.die == die && point.scheme == scheme;
            points.iter().filter(mine).collect::<Vec<_>>()
        };
        let mut series = Vec::new();
        for scheme in ["IPS", "IPC"] {
            let theory = of(scheme).iter().map(|it| (it.per_stretch, it.theory)).collect();
            let measured =
                of(scheme).iter().filter_map(|it| Some((it.per_stretch, it.measured?))).collect();
            for (name, points, stroke) in [
                (scheme.to_string(), measured, Stroke::Measured),
                (format!("{scheme}, closed form"), theory, Stroke::Theory),
            ] {
                series.push(LineSeries { name, points, stroke, ..LineSeries::default() });
            }
        }
        Panel::lines(
            die,
            draw::Lines {
                x: Axis::linear("reads per cancellable 16 us of a program phase"),
                y: Axis::log10("write time / undisturbed write time"),
                series,
                reference: None,
            },
        )
    };
    let caption = "The paper's dies are saturated with reads before every phase is cancelled. With reads fast \
                   enough, a write under IPC takes exponentially longer.";
    Figure {
        caption: Some(caption.into()),
        columns: Some(3),
        panels: DIES.iter().map(|die| panel(die.name)).collect(),
        ..Figure::new("How long reads delay a write")
    }
}

fn limits(starvation: &Starvation) -> Figure {
    let panel = |title: &str, of: Number| {
        let series = |&(name, ..): &(&str, &str, &[&str])| {
            let point = |&load: &f64| Some((load, starvation.limited(name, load, of)?));
            let points = LOADS.iter().filter_map(point).collect();
            LineSeries { name: name.into(), points, ..LineSeries::default() }
        };
        Panel::lines(
            title,
            draw::Lines {
                x: Axis::linear("offered load"),
                y: Axis::log10("p99.9 (us)"),
                series: LIMITS.iter().map(series).filter(|it| !it.points.is_empty()).collect(),
                reference: None,
            },
        )
    };
    Figure {
        panels: vec![
            panel("reads", |run| run.get("read.p999_us")),
            panel("writes", |run| run.get("write.p999_us")),
        ],
        ..Figure::new("Limits to suspension: 80 % random reads of 4 KiB on pes-mlc in steady state")
    }
}
