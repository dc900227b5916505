//! Pictures of the paper's figures.

use super::oracle::Judged;
use super::paper::Paper;
use super::plan::{BASELINE, Case, Evidence, HIRE, HVC, LVC, ON_EVICT, WAITS_ALONE};
use super::tables::{FIGURE_3, FIGURE_4, HIRES, Shown, left};
use crate::run_summary::WRITE;
use crate::runs::mean;
use fowler_figures::{BarSeries, Bars, Figure, Panel, Reference};
use fowler_report::figures_folder::Named;

const STAND_INS: &str = "Stand-ins are generated from what is published about the traces; real excerpts are \
                         labeled, and have no wear if they hardly write. Diamonds are the paper's numbers for HIRE.";

/// The paper's figures, and how pages are used.
pub(super) fn shown(paper: &Paper, evidence: &Evidence) -> Vec<Named> {
    vec![
        of_readings(&FIGURE_3, "mean read latency / baseline", paper, evidence),
        of_readings(&FIGURE_4, "wear of all programs / baseline", paper, evidence),
        figure5(evidence),
        uses(evidence),
    ]
}

/// The workloads, and the mean of the stand-ins behind them.
fn groups(evidence: &Evidence) -> Vec<String> {
    evidence.runs.columns.iter().map(|column| column.name.clone()).chain(["mean".into()]).collect()
}

/// The bars of a case: under each workload, and the mean of the stand-ins.
fn bars(evidence: &Evidence, name: &str, of: impl Fn(&str) -> Option<f64>) -> BarSeries {
    let average = evidence.runs.each(&of).and_then(|all| mean(&all));
    let values =
        evidence.runs.columns.iter().map(|column| of(&column.name)).chain([average]).collect();
    BarSeries { name: name.into(), values, ..BarSeries::default() }
}

/// What becomes of clean pages that were read.
fn readings(hire: Case) -> String {
    let what = if hire == HIRE {
        "on_dirty: left as they are in the flash"
    } else if hire == ON_EVICT {
        "on_evict: read as if reprogrammed"
    } else {
        "rewrite_on_idle: reprogrammed in idle time"
    };
    format!("HIRE {what}")
}

/// A panel for each reading of what becomes of clean pages that were read.
fn of_readings(shown: &Shown, y: &str, paper: &Paper, evidence: &Evidence) -> Named {
    let series =
        |case: Case| bars(evidence, case.name, |column| (shown.of)(evidence, column, case));
    let panel = |hire: Case| {
        let published = groups(evidence).iter().map(|it| shown.published(paper, it)).collect();
        Panel::bars(
            readings(hire),
            Bars {
                y: y.into(),
                groups: groups(evidence),
                series: vec![
                    series(HVC),
                    series(LVC),
                    BarSeries { name: "HIRE".into(), published, ..series(hire) },
                ],
                reference: Some(Reference { at: 1.0, name: "baseline".into() }),
            },
        )
    };
    let figure = Figure {
        caption: Some(STAND_INS.into()),
        columns: Some(1),
        panels: HIRES.map(panel).into(),
        ..Figure::new(format!("{}, by treatment of clean read-hot pages", shown.title))
    };
    (shown.name.into(), figure)
}

fn figure5(evidence: &Evidence) -> Named {
    let series = |case: Case| {
        bars(evidence, case.name, |column| evidence.ratio(column, case, WAITS_ALONE, WRITE))
    };
    let panel = Panel::bars(
        "",
        Bars {
            y: "mean write latency / baseline".into(),
            groups: groups(evidence),
            series: [BASELINE, HVC, LVC, HIRE].map(series).into(),
            reference: None,
        },
    );
    let caption = "Writes that wait for the flash and read no old page; writes acknowledged by the buffer take no time.";
    let figure = Figure {
        caption: Some(caption.into()),
        panels: vec![panel],
        ..Figure::new("Figure 5: mean write latency relative to the baseline")
    };
    ("figure5".into(), figure)
}

fn uses(evidence: &Evidence) -> Named {
    let left = |label: &str, class: &str| {
        bars(evidence, label, |column| {
            left(evidence, column, class).map(|share| 100.0 * share).filter(|it| it.is_finite())
        })
    };
    let right = |label: &str, of: fn(&Judged) -> Option<f64>| {
        bars(evidence, label, |column| Some(100.0 * of(evidence.oracle(column)?)?))
    };
    let panel = |title: &str, series: Vec<BarSeries>| {
        let groups = groups(evidence);
        Panel::bars(title, Bars { y: "percent".into(), groups, series, reference: None })
    };
    let figure = Figure {
        caption: Some(
            "An oracle classifies an evicted page by its future references, with the same rule. Pages that are never \
             used again have no class."
                .into(),
        ),
        columns: Some(1),
        panels: vec![
            panel(
                "Pages evicted from the buffer",
                vec![
                    left("mixed", "mixed"),
                    left("read-hot", "read_hot"),
                    left("write-hot", "write_hot"),
                ],
            ),
            panel(
                "Of those used again: share that the oracle classifies alike",
                vec![
                    right("by the rest of the trace", |it| it.accuracy),
                    right("by the next 21 references", |it| it.accuracy_near),
                ],
            ),
        ],
        ..Figure::new("How pages are used, and how well the buffer's hits predict it")
    };
    ("uses".into(), figure)
}
