//! Pictures: the paper's figures, and figures for the questions it leaves open.

use super::claims::PRIORITIZED_WRITES;
use super::paper::Paper;
use super::plan::{
    Case, Evidence, KINDS, Kind, NCQ, RECORDED, SOURCES, WRITERS, ablated, average_named, depths,
    faster, lasting, striped, units,
};
use super::sweeps::{at_depth, gain_over, order_alone, places, shares as lengths};
use super::tables::{GAINS, Gain, ablated_ratio, called, estimated_gain, gain, implied};
use crate::run_summary::{Number, READ, WRITE};
use fowler_figures::{Axis, BarSeries, Bars, Figure, LineSeries, Lines, Panel, Reference};
use fowler_report::figures_folder::Named;

const STAND_INS: &str = "Stand-ins are generated from what is published about the traces; real excerpts are labeled. \
                         Diamonds are the paper's numbers.";
/// The schemes beside the baseline.
const SHOWN: [&str; 3] = ["pv_w", "rt_r", "rhio"];

/// The paper's figures.
pub(super) fn shown(paper: &Paper, evidence: &Evidence) -> Vec<Named> {
    let mut figures: Vec<Named> =
        (0..KINDS.len()).map(|kind| latencies(paper, evidence, kind)).collect();
    figures.push(shares(paper, evidence));
    figures
}

/// Results for the questions that the paper leaves open.
pub(super) fn open_questions(paper: &Paper, evidence: &Evidence) -> [Named; 6] {
    [
        ("length".into(), length(paper, evidence)),
        ("depth".into(), depth(paper, evidence)),
        ("unit".into(), unit(paper, evidence)),
        ("intensity".into(), intensity(paper, evidence)),
        ("ablation".into(), ablation(paper, evidence)),
        ("estimate".into(), estimate(paper, evidence)),
    ]
}

/// Figures 4 and 5.
fn latencies(paper: &Paper, evidence: &Evidence, kind: usize) -> Named {
    let Kind { name, mean: number, .. } = KINDS[kind];
    let names: Vec<&str> =
        evidence.runs.columns.iter().map(|column| column.name.as_str()).collect();
    let panel = |title: &str, names: &[&str], case: Case<'_>| {
        let one =
            |column: &str, scheme: &str| evidence.ratio(column, (scheme, "noop"), case, number);
        let average = |scheme: &str| evidence.runs.average(|column| one(column, scheme));
        normalised(title, names, (paper, kind), &one, &average)
    };
    let mut panels = vec![panel(&format!("{} of the week", paper.week), &names, RECORDED)];
    if !evidence.brief {
        let names: Vec<&str> = evidence.runs.stand_ins().map(|it| it.name.as_str()).collect();
        let week = lasting(1.0);
        panels.push(panel("whole week", &names, Case { variant: &week, speed: 1.0 }));
        let title = format!("{} times as fast", paper.conflicts);
        panels.push(panel(&title, &names, faster(paper.conflicts)));
    }
    let place = 4 + kind;
    let figure = Figure {
        caption: Some(STAND_INS.into()),
        columns: Some(1),
        panels,
        ..Figure::new(format!("Figure {place}: mean {name} latency normalized to NOOP"))
    };
    (format!("figure{place}"), figure)
}

/// Bars of the three schemes under each workload, and their mean with what was published of it.
fn normalised(
    title: &str,
    names: &[&str],
    (paper, kind): (&Paper, usize),
    one: &dyn Fn(&str, &str) -> Option<f64>,
    average: &dyn Fn(&str) -> Option<f64>,
) -> Panel {
    let series = |scheme: &str| BarSeries {
        name: called(scheme).into(),
        values: names.iter().map(|name| one(name, scheme)).chain([average(scheme)]).collect(),
        published: names.iter().map(|_| None).chain([implied(paper, scheme, kind)]).collect(),
        ..BarSeries::default()
    };
    Panel::bars(
        title,
        Bars {
            y: "relative to NOOP".into(),
            groups: names.iter().copied().chain(["mean"]).map(String::from).collect(),
            series: SHOWN.map(series).into(),
            reference: Some(Reference { at: 1.0, name: "NOOP".into() }),
        },
    )
}

/// Figure 6.
fn shares(paper: &Paper, evidence: &Evidence) -> Named {
    let percent =
        |column: &str, case, kind| Some(100.0 * evidence.prioritized(column, case, kind)?);
    let panel = |title: &str, case: Case<'static>, marked: bool| {
        let names =
            || evidence.runs.columns.iter().filter(|it| case.speed == 1.0 || it.is_stand_in());
        let series = |kind: usize| {
            let published = |name: &str| {
                let share =
                    paper.number(PRIORITIZED_WRITES, name).filter(|_| marked && kind == 1)?;
                Some(100.0 * share)
            };
            BarSeries {
                name: format!("{}s", KINDS[kind].name),
                values: names().map(|it| percent(&it.name, case, kind)).collect(),
                published: names().map(|it| published(&it.name)).collect(),
                ..BarSeries::default()
            }
        };
        Panel::bars(
            title,
            Bars {
                y: "prioritized (%)".into(),
                groups: names().map(|it| it.name.clone()).collect(),
                series: [0, 1].map(series).into(),
                reference: Some(Reference {
                    at: 100.0 * paper.share,
                    name: "published: above it, most volumes' writes gain much".into(),
                }),
            },
        )
    };
    let mut panels = vec![panel("as recorded", RECORDED, true)];
    if !evidence.brief {
        let title = format!("{} times as fast", paper.conflicts);
        panels.push(panel(&title, faster(paper.conflicts), false));
    }
    let title = "Figure 6: requests that RHIO prioritizes";
    let caption = Some(STAND_INS.into());
    ("figure6".into(), Figure { caption, columns: Some(1), panels, ..Figure::new(title) })
}

/// Shares of prioritized requests and gains, by the speed of replay.
fn intensity(paper: &Paper, evidence: &Evidence) -> Figure {
    let speeds = || [1.0].into_iter().chain(paper.speeds.iter().copied());
    let share_of = |kind: usize| {
        let at = |speed: f64| {
            let share =
                evidence.runs.average(|it| evidence.prioritized(it, faster(speed), kind))?;
            Some((speed, 100.0 * share))
        };
        let points = speeds().filter_map(at).collect();
        LineSeries { name: format!("{}s", KINDS[kind].name), points, ..LineSeries::default() }
    };
    let by_speed = Panel::lines(
        "prioritized requests",
        Lines {
            x: Axis::log10("times as fast as recorded"),
            y: Axis::linear("prioritized requests (%)"),
            series: [0, 1].map(share_of).into(),
            reference: Some(Reference {
                at: 100.0 * paper.share,
                name: "published: above it, most volumes' writes gain much".into(),
            }),
        },
    );
    let by = |kind: usize| {
        let axis = Axis::log10("times as fast as recorded");
        gains_by(paper, evidence, (kind, axis, 1.0), &|which| {
            let at = |speed: f64| {
                let one = |column: &str| gain(evidence, column, faster(speed), which);
                Some((speed, evidence.runs.average(one)?))
            };
            speeds().filter_map(at).collect()
        })
    };
    let caption = "Means over twelve volumes with 32 commands outstanding. Diamonds are the paper's means, drawn where \
                   the times are those recorded.";
    Figure {
        caption: Some(caption.into()),
        columns: Some(3),
        panels: vec![by_speed, by(0), by(1)],
        ..Figure::new("RHIO by intensity")
    }
}

/// The gains of a kind over something; points are shares. The paper's are drawn at `printed_at`.
fn gains_by(
    paper: &Paper,
    evidence: &Evidence,
    (kind, x, printed_at): (usize, Axis, f64),
    points: &dyn Fn(Gain) -> Vec<(f64, f64)>,
) -> Panel {
    let series = |which: Gain| {
        let points: Vec<(f64, f64)> =
            points(which).into_iter().map(|(x, share)| (x, 100.0 * share)).collect();
        let shown = !evidence.brief && !points.is_empty();
        let published = paper.number(which.claim, KINDS[kind].name).filter(|_| shown);
        let published = published.map(|it| (printed_at, 100.0 * it));
        LineSeries {
            name: format!("below {}", called(which.base)),
            points,
            published: published.into_iter().collect(),
            ..LineSeries::default()
        }
    };
    Panel::lines(
        format!("gain of RHIO's {}s", KINDS[kind].name),
        Lines {
            x,
            y: Axis::linear("reduction in mean latency (%)"),
            series: GAINS.into_iter().filter(|which| which.kind == kind).map(series).collect(),
            reference: Some(Reference { at: 0.0, name: String::new() }),
        },
    )
}

/// The gains by the share of the week.
fn length(paper: &Paper, evidence: &Evidence) -> Figure {
    let by = |kind: usize| {
        gains_by(paper, evidence, (kind, Axis::log2("share of the week"), 1.0), &|which| {
            let at = |share| Some((share, gain_over(paper, evidence, share, which)?));
            lengths(paper).into_iter().filter_map(at).collect()
        })
    };
    let caption = "Means over twelve volumes as recorded. Diamonds are the paper's means, drawn at the \
                   whole week.";
    Figure {
        caption: Some(caption.into()),
        columns: Some(2),
        panels: vec![by(0), by(1)],
        ..Figure::new("RHIO's gains by the length of the run")
    }
}

/// The gains by the number of commands outstanding.
fn depth(paper: &Paper, evidence: &Evidence) -> Figure {
    let panel = |place: Option<&str>, kind: usize| {
        let axis = Axis::log2("commands outstanding");
        let panel = gains_by(paper, evidence, (kind, axis, f64::from(NCQ)), &|which| {
            let at = |depth: u32| {
                let share = at_depth(paper, evidence, (place, depth), |e, column, case| {
                    gain(e, column, case, which)
                })?;
                Some((f64::from(depth), share))
            };
            depths(paper).into_iter().filter_map(at).collect()
        });
        let four = format!("{}, {} times as fast", paper.named.join(", "), paper.conflicts);
        Panel { title: format!("{}s: {}", KINDS[kind].name, place.unwrap_or(&four)), ..panel }
    };
    let all = places(evidence);
    let caption = "Diamonds are the paper's means, drawn at the 32 tags of NCQ.";
    Figure {
        caption: Some(caption.into()),
        columns: Some(2),
        panels: all
            .iter()
            .flat_map(|place| [0, 1].map(|kind| panel(place.as_deref(), kind)))
            .collect(),
        ..Figure::new("RHIO by commands outstanding")
    }
}

/// The gains by how much of a request lies on one chip.
fn unit(paper: &Paper, evidence: &Evidence) -> Figure {
    let panel = |kind: usize, speed: f64| {
        let over = |of: &dyn Fn(u32) -> Option<f64>| -> Vec<(f64, f64)> {
            let at = |unit: u32| Some((f64::from(unit), 100.0 * of(unit)?));
            units(paper).into_iter().filter_map(at).collect()
        };
        let order = LineSeries {
            name: "order alone below NOOP".into(),
            points: over(&|unit| order_alone(&paper.named, evidence, (unit, speed), kind)),
            ..LineSeries::default()
        };
        let below = |which: Gain| LineSeries {
            name: format!("RHIO below {}", called(which.base)),
            points: over(&|unit| {
                let variant = striped(unit);
                let case = Case { variant: &variant, speed };
                average_named(paper, |column| gain(evidence, column, case, which))
            }),
            ..LineSeries::default()
        };
        let replay_speed =
            if speed == 1.0 { "as recorded".into() } else { format!("{speed} times as fast") };
        Panel::lines(
            format!("{}s, {replay_speed}", KINDS[kind].name),
            Lines {
                x: Axis::log2("pages on a chip before the next has any"),
                y: Axis::linear("reduction in mean latency (%)"),
                series: [order]
                    .into_iter()
                    .chain(GAINS.into_iter().filter(|which| which.kind == kind).map(below))
                    .collect(),
                reference: Some(Reference { at: 0.0, name: String::new() }),
            },
        )
    };
    let caption = "Means over four volumes. Equation (1) and Figure 2 have all pages of a request on one chip.";
    Figure {
        caption: Some(caption.into()),
        columns: Some(2),
        panels: [1.0, paper.conflicts]
            .into_iter()
            .flat_map(|speed| [0, 1].map(|kind| panel(kind, speed)))
            .collect(),
        ..Figure::new("RHIO by how much of a request lies on one chip")
    }
}

/// A short name of a set of techniques, for the labels of bars.
fn short(name: &str) -> String {
    const WORDS: [(&str, &str); 10] = [
        ("write speed", "W"),
        ("read speed", "R"),
        ("order", "O"),
        (" + ", "+"),
        ("all (RHIO)", "RHIO"),
        ("all, knowing wear", "+wear"),
        ("all, retry for ages", "+retry"),
        ("retry alone, sensing all again", "whole"),
        ("retry alone", "retry"),
        ("retry and read first", "+RF"),
    ];
    WORDS.iter().fold(name.into(), |name: String, (long, short)| name.replace(long, short))
}

/// Each technique over the drive's life.
fn ablation(paper: &Paper, evidence: &Evidence) -> Figure {
    let answers: Vec<String> = ablated(paper).into_iter().skip(1).map(|it| it.name).collect();
    let panel = |kind: usize, speed: f64| {
        let Kind { name, mean: number, .. } = KINDS[kind];
        let series = |stage: &str| BarSeries {
            name: stage.into(),
            values: answers
                .iter()
                .map(|answer| ablated_ratio(paper, evidence, (answer, stage, speed), number))
                .collect(),
            ..BarSeries::default()
        };
        let replay_speed =
            if speed == 1.0 { "as recorded".into() } else { format!("{speed} times as fast") };
        Panel::bars(
            format!("{name}s, {replay_speed}"),
            Bars {
                y: "mean latency relative to NOOP".into(),
                groups: answers.iter().map(|name| short(name)).collect(),
                series: paper.stage.iter().map(|stage| series(&stage.name)).collect(),
                reference: Some(Reference { at: 1.0, name: "NOOP at that age".into() }),
            },
        )
    };
    let caption = "W: hot data to strong blocks at a coarse step (PV-W). R: references by retention age (RT-R). O: \
                   RHIO's order. +wear: RHIO that also knows P/E cycles. Retry: hard decision first, then more \
                   references, without any estimate; whole: the same, with every reference sensed again; +RF: and reads first. +retry: RHIO with such reads.";
    Figure {
        caption: Some(caption.into()),
        columns: Some(2),
        same_y: true,
        panels: [1.0, paper.conflicts]
            .into_iter()
            .flat_map(|speed| [0, 1].map(|kind| panel(kind, speed)))
            .collect(),
        ..Figure::new("RHIO's techniques over the life of the drive")
    }
}

/// What an estimated strength costs.
fn estimate(paper: &Paper, evidence: &Evidence) -> Figure {
    let gains = |of: Number, scheme: &str, source: &str| LineSeries {
        name: format!("{}, {source}", called(scheme)),
        points: (paper.estimate.cycles.iter())
            .filter_map(|&at| {
                let lower = estimated_gain(paper, evidence, (scheme, source, at), of)?;
                Some((f64::from(at), 100.0 * lower))
            })
            .collect(),
        ..LineSeries::default()
    };
    let panel = |of: Number| Lines {
        x: Axis::linear("P/E cycles"),
        y: Axis::linear("reduction in mean latency against NOOP (%)"),
        series: WRITERS[1..]
            .iter()
            .flat_map(|it| SOURCES.map(|source| gains(of, it, source)))
            .collect(),
        reference: None,
    };
    let caption = "Measured: the controller counts corrected bits in pages that it reads in idle time, and assigns each \
                   block the strongest class that it falls short of with a probability of at most 5 %. Oracle: it \
                   knows the true strength. Means over four volumes as recorded; uncorrectable reads are in \
                   estimate.csv.";
    Figure {
        caption: Some(caption.into()),
        panels: vec![Panel::lines("writes", panel(WRITE)), Panel::lines("reads", panel(READ))],
        ..Figure::new("Cost of errors in the estimated block strength")
    }
}
