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
use fowler_figures::{Axis, Figure, Panel, Series};

const STAND_INS: &str = "Stand-ins are generated from what is published about the traces; real excerpts are labeled. \
                         Diamonds are the paper's numbers.";
/// The schemes beside the baseline.
const SHOWN: [&str; 3] = ["pv_w", "rt_r", "rhio"];

/// The paper's figures.
pub(super) fn shown(paper: &Paper, evidence: &Evidence) -> Vec<Figure> {
    let mut figures: Vec<Figure> =
        (0..KINDS.len()).map(|kind| latencies(paper, evidence, kind)).collect();
    figures.push(shares(paper, evidence));
    figures
}

/// Results for the questions that the paper leaves open.
pub(super) fn open_questions(paper: &Paper, evidence: &Evidence) -> [Figure; 6] {
    [
        length(paper, evidence),
        depth(paper, evidence),
        unit(paper, evidence),
        intensity(paper, evidence),
        ablation(paper, evidence),
        estimate(paper, evidence),
    ]
}

/// Figures 4 and 5.
fn latencies(paper: &Paper, evidence: &Evidence, kind: usize) -> Figure {
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
    let title = format!("Figure {place}: mean {name} latency normalized to NOOP");
    Figure::new(format!("figure{place}"), title, panels).caption(STAND_INS).columns(1)
}

/// Bars of the three schemes under each workload, and their mean with what was published of it.
fn normalised(
    title: &str,
    names: &[&str],
    (paper, kind): (&Paper, usize),
    one: &dyn Fn(&str, &str) -> Option<f64>,
    average: &dyn Fn(&str) -> Option<f64>,
) -> Panel {
    let series = |scheme: &str| {
        let values = names.iter().map(|name| one(name, scheme)).chain([average(scheme)]);
        let published = names.iter().map(|_| None).chain([implied(paper, scheme, kind)]);
        Series::values(called(scheme), values).published(published)
    };
    let groups = names.iter().copied().chain(["mean"]);
    Panel::columns(title, "relative to NOOP", groups, SHOWN.map(series)).reference(1.0, "NOOP")
}

/// Draws the share of prioritized requests from which on the paper says that writes gain much.
fn with_published_share(paper: &Paper, panel: Panel) -> Panel {
    let name = "published: above it, most volumes' writes gain much";
    panel.reference(100.0 * paper.share, name)
}

/// Figure 6.
fn shares(paper: &Paper, evidence: &Evidence) -> Figure {
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
            let values = names().map(|it| percent(&it.name, case, kind));
            Series::values(format!("{}s", KINDS[kind].name), values)
                .published(names().map(|it| published(&it.name)))
        };
        let groups = names().map(|it| &it.name);
        let panel = Panel::columns(title, "prioritized (%)", groups, [0, 1].map(series));
        with_published_share(paper, panel)
    };
    let mut panels = vec![panel("as recorded", RECORDED, true)];
    if !evidence.brief {
        let title = format!("{} times as fast", paper.conflicts);
        panels.push(panel(&title, faster(paper.conflicts), false));
    }
    let title = "Figure 6: requests that RHIO prioritizes";
    Figure::new("figure6", title, panels).caption(STAND_INS).columns(1)
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
        Series::line(format!("{}s", KINDS[kind].name), speeds().filter_map(at))
    };
    let by_speed = Panel::lines(
        "prioritized requests",
        Axis::log10("times as fast as recorded"),
        Axis::linear("prioritized requests (%)"),
        [0, 1].map(share_of),
    );
    let by_speed = with_published_share(paper, by_speed);
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
    Figure::new("intensity", "RHIO by intensity", [by_speed, by(0), by(1)])
        .caption(caption)
        .columns(3)
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
        Series::line(format!("below {}", called(which.base)), points).published_at(published)
    };
    Panel::lines(
        format!("gain of RHIO's {}s", KINDS[kind].name),
        x,
        Axis::linear("reduction in mean latency (%)"),
        GAINS.into_iter().filter(|which| which.kind == kind).map(series),
    )
    .reference(0.0, "")
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
    Figure::new("length", "RHIO's gains by the length of the run", [by(0), by(1)])
        .caption(caption)
        .columns(2)
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
    let panels = all.iter().flat_map(|place| [0, 1].map(|kind| panel(place.as_deref(), kind)));
    Figure::new("depth", "RHIO by commands outstanding", panels).caption(caption).columns(2)
}

/// A panel for each kind of requests, at each of the two speeds.
fn by_kind_and_speed(paper: &Paper, panel: impl Fn(usize, f64) -> Panel) -> Vec<Panel> {
    let speeds = [1.0, paper.conflicts].into_iter();
    let both = speeds.flat_map(|speed| [0, 1].map(|kind| (kind, speed)));
    let titled = |(kind, speed): (usize, f64)| {
        let replay_speed =
            if speed == 1.0 { "as recorded".into() } else { format!("{speed} times as fast") };
        let title = format!("{}s, {replay_speed}", KINDS[kind].name);
        Panel { title, ..panel(kind, speed) }
    };
    both.map(titled).collect()
}

/// The gains by how much of a request lies on one chip.
fn unit(paper: &Paper, evidence: &Evidence) -> Figure {
    let panel = |kind: usize, speed: f64| {
        let over = |of: &dyn Fn(u32) -> Option<f64>| -> Vec<(f64, f64)> {
            let at = |unit: u32| Some((f64::from(unit), 100.0 * of(unit)?));
            units(paper).into_iter().filter_map(at).collect()
        };
        let order = Series::line(
            "order alone below NOOP",
            over(&|unit| order_alone(&paper.named, evidence, (unit, speed), kind)),
        );
        let below = |which: Gain| {
            let points = over(&|unit| {
                let variant = striped(unit);
                let case = Case { variant: &variant, speed };
                average_named(paper, |column| gain(evidence, column, case, which))
            });
            Series::line(format!("RHIO below {}", called(which.base)), points)
        };
        let of_kind = GAINS.into_iter().filter(|which| which.kind == kind);
        Panel::lines(
            "",
            Axis::log2("pages on a chip before the next has any"),
            Axis::linear("reduction in mean latency (%)"),
            [order].into_iter().chain(of_kind.map(below)),
        )
        .reference(0.0, "")
    };
    let caption = "Means over four volumes. Equation (1) and Figure 2 have all pages of a request on one chip.";
    let title = "RHIO by how much of a request lies on one chip";
    Figure::new("unit", title, by_kind_and_speed(paper, panel)).caption(caption).columns(2)
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
        let number = KINDS[kind].mean;
        let series = |stage: &str| {
            let ratio =
                |answer: &String| ablated_ratio(paper, evidence, (answer, stage, speed), number);
            Series::values(stage, answers.iter().map(ratio))
        };
        Panel::columns(
            "",
            "mean latency relative to NOOP",
            answers.iter().map(|name| short(name)),
            paper.stage.iter().map(|stage| series(&stage.name)),
        )
        .reference(1.0, "NOOP at that age")
    };
    let caption = "W: hot data to strong blocks at a coarse step (PV-W). R: references by retention age (RT-R). O: \
                   RHIO's order. +wear: RHIO that also knows P/E cycles. Retry: hard decision first, then more \
                   references, without any estimate; whole: the same, with every reference sensed again; +RF: and reads first. +retry: RHIO with such reads.";
    let title = "RHIO's techniques over the life of the drive";
    Figure::new("ablation", title, by_kind_and_speed(paper, panel))
        .caption(caption)
        .columns(2)
        .same_y()
}

/// What an estimated strength costs.
fn estimate(paper: &Paper, evidence: &Evidence) -> Figure {
    let gains = |of: Number, scheme: &str, source: &str| {
        let point = |&at: &u32| {
            let lower = estimated_gain(paper, evidence, (scheme, source, at), of)?;
            Some((f64::from(at), 100.0 * lower))
        };
        let points = paper.estimate.cycles.iter().filter_map(point);
        Series::line(format!("{}, {source}", called(scheme)), points)
    };
    let panel = |title, of: Number| {
        let both = |it: &&str| SOURCES.map(|source| gains(of, it, source));
        let y = Axis::linear("reduction in mean latency against NOOP (%)");
        Panel::lines(title, Axis::linear("P/E cycles"), y, WRITERS[1..].iter().flat_map(both))
    };
    let caption = "Measured: the controller counts corrected bits in pages that it reads in idle time, and assigns each \
                   block the strongest class that it falls short of with a probability of at most 5 %. Oracle: it \
                   knows the true strength. Means over four volumes as recorded; uncorrectable reads are in \
                   estimate.csv.";
    let panels = [panel("writes", WRITE), panel("reads", READ)];
    Figure::new("estimate", "Cost of errors in the estimated block strength", panels)
        .caption(caption)
}
