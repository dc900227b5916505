//! Pictures of the paper's figures.

use super::claims::TABLE_2;
use super::paper::Paper;
use super::plan::{Evidence, FIXED, SCHEMES};
use fowler_experiment::physics::recovery;
use fowler_figures::{
    Axis, BarSeries, Bars, Figure, LineSeries, Lines, Panel, Reference, StepSeries, Steps,
};

const STAND_INS: &str = "Stand-ins are generated from what is published about the traces. Diamonds are the paper's numbers.";

/// Returns every figure.
pub(super) fn shown(paper: &Paper, evidence: &Evidence) -> Vec<(String, Figure)> {
    let named = |name: &str, panels: Vec<Panel>, title: &str| {
        let figure = Figure { caption: Some(STAND_INS.into()), panels, ..Figure::new(title) };
        (name.to_string(), figure)
    };
    vec![
        named("figure1", vec![recovery()], "Figure 1: achievable P/E cycles by idle time"),
        named(
            "figure4",
            differences(evidence),
            "Figure 4: differences in write demand between epochs",
        ),
        named("figure10", vec![years(paper, evidence)], "Figure 10: effective lifetime"),
        named(
            "figure11",
            vec![responses(paper, evidence)],
            "Figure 11: mean response of a page write",
        ),
        named(
            "figure12",
            distributions(paper, evidence),
            "Figure 12: response times of page writes",
        ),
        named("figure13", delays(evidence), "Figure 13: throttling delay, exchange"),
        named(
            "figure14",
            throughput(evidence),
            "Figure 14: throughput during a busy period of map",
        ),
    ]
}

/// Figure 4.
fn differences(evidence: &Evidence) -> Vec<Panel> {
    let panel = |trace: &str| {
        let series = [1, 10, 30, 60, 120].into_iter().filter_map(|minutes| {
            let values: Vec<f64> = evidence
                .differences(trace, minutes)?
                .into_iter()
                .map(|it| (100.0 * it).min(200.0))
                .collect();
            // A look has no two epochs of the longer lengths.
            (!values.is_empty()).then(|| StepSeries::of_values(format!("{minutes} min"), &values))
        });
        let (x, y) = (Axis::linear("difference (%), capped at 200"), "fraction of epochs");
        Panel::steps(trace, Steps { x, y: y.into(), series: series.collect() })
    };
    ["exchange", "proxy"].map(panel).into()
}

/// Bars of every scheme under every stand-in.
fn bars(
    paper: &Paper,
    y: &str,
    value: impl Fn(&str, &str) -> Option<f64>,
    published: impl Fn(&str, &str) -> Option<f64>,
    reference: Option<Reference>,
) -> Panel {
    let series = SCHEMES.map(|(scheme, called)| BarSeries {
        name: called.into(),
        values: paper.trace.iter().map(|trace| value(&trace.name, scheme)).collect(),
        published: paper.trace.iter().map(|trace| published(&trace.name, scheme)).collect(),
        ..BarSeries::default()
    });
    let groups = paper.trace.iter().map(|trace| trace.name.clone()).collect();
    Panel::bars("", Bars { y: y.into(), groups, series: series.into(), reference })
}

/// Figure 10. Where Table 2 has both capacities, what follows from them is marked.
fn years(paper: &Paper, evidence: &Evidence) -> Panel {
    let published = |trace: &str, scheme: &str| {
        let row = TABLE_2.iter().find(|row| row.trace == trace && row.scheme == scheme)?;
        Some(5.0 * paper.number(row.id, "C'_ssd")? / paper.number(row.id, "W_work")?)
    };
    let target = Reference { at: 5.0, name: "target".into() };
    let of = |trace: &str, scheme: &str| {
        evidence.number(trace, scheme, |it| it.effective_lifetime_years)
    };
    bars(paper, "years", of, published, Some(target))
}

/// Figure 11.
fn responses(paper: &Paper, evidence: &Evidence) -> Panel {
    let of =
        |trace: &str, scheme: &str| Some(evidence.life(trace, scheme)?.response_mean_us? / 1e3);
    bars(paper, "ms", of, |_, _| None, None)
}

/// Figure 12.
fn distributions(paper: &Paper, evidence: &Evidence) -> Vec<Panel> {
    let points =
        |trace: &str, scheme: &str| Some(evidence.life(trace, scheme)?.response_cdf_us.clone());
    let panel = |trace: &str| {
        let series = SCHEMES.into_iter().filter_map(|(scheme, called)| {
            Some(StepSeries { name: called.into(), points: points(trace, scheme)? })
        });
        let y = "fraction of page writes".into();
        Panel::steps(trace, Steps { x: Axis::log10("us"), y, series: series.collect() })
    };
    paper.trace.iter().map(|trace| panel(&trace.name)).collect()
}

/// Figure 13.
fn delays(evidence: &Evidence) -> Vec<Panel> {
    let panel = |scheme: &str, title: &str| {
        let series = evidence.life("exchange", scheme).map(|it| &it.series);
        let points = series.map(|it| {
            it.years.iter().copied().zip(it.delay_us.iter().copied()).collect::<Vec<_>>()
        });
        let points = points.unwrap_or_default();
        let series = vec![LineSeries { name: "delay".into(), points, ..LineSeries::default() }];
        let (x, y) = (Axis::linear("years"), Axis::linear("us"));
        Panel::lines(title, Lines { x, y, series, ..Lines::default() })
    };
    vec![panel(FIXED, "fixed: 10 minutes"), panel("ready_opt", "dynamic")]
}

/// Figure 14.
fn throughput(evidence: &Evidence) -> Vec<Panel> {
    let panel = |(scheme, called): (&str, &str)| {
        let rates = &evidence.life("map", scheme)?.close_up.as_ref()?.flash_mb_s;
        let points = rates.iter().enumerate().map(|(at, &rate)| (at as f64, rate)).collect();
        let series = vec![LineSeries { name: "flash".into(), points, ..LineSeries::default() }];
        let (x, y) = (Axis::linear("s"), Axis::linear("MB/s"));
        Some(Panel::lines(called, Lines { x, y, series, ..Lines::default() }))
    };
    SCHEMES[1..].iter().copied().filter_map(panel).collect()
}
