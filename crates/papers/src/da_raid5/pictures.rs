//! Pictures of the paper's figures.

use super::claims::{HC_BELOW_RAID5, UDL_BELOW_RAID5};
use super::paper::Paper;
use super::plan::{Evidence, Shown};
use super::variants::{
    CASES, Case, GRID, HC, LONG, Order, PPC, RAID5, Setting, UDL, cache, cut_off, n_update,
};
use crate::column::Column;
use crate::runs::mean;
use fowler_figures::{Axis, BarSeries, Bars, Figure, LineSeries, Lines, Panel, Reference};
use fowler_report::figures_folder::Named;

const STAND_INS: &str = "Stand-ins have the published shares of writes; all else is assumed.";

fn groups(evidence: &Evidence) -> Vec<String> {
    evidence.runs.columns.iter().map(|column| column.name.clone()).chain(["mean".into()]).collect()
}

fn bars(evidence: &Evidence, name: &str, of: impl Fn(&str) -> Option<f64>) -> BarSeries {
    let average = evidence.runs.each(&of).and_then(|all| mean(&all));
    let values =
        evidence.runs.columns.iter().map(|column| of(&column.name)).chain([average]).collect();
    BarSeries { name: name.into(), values, ..BarSeries::default() }
}

/// Figure 5.
pub(super) fn shown(paper: &Paper, evidence: &Evidence) -> Vec<Named> {
    let panel = |shown: Shown| {
        let series = |case: &Case| {
            let ratio = |column: &str| evidence.ratio(column, (*case, RAID5), shown);
            let mut series = BarSeries {
                published: published_mean(paper, evidence, *case, shown),
                ..bars(evidence, case.name, ratio)
            };
            for value in &mut series.values {
                *value = value.filter(|ratio| *ratio <= TALLEST);
            }
            series
        };
        Panel::bars(
            shown.name(),
            Bars {
                y: format!("{} / RAID-5", shown.name()),
                groups: groups(evidence),
                series: CASES[1..].iter().map(series).collect(),
                reference: Some(Reference { at: 1.0, name: "RAID-5".into() }),
            },
        )
    };
    let figure = Figure {
        caption: Some(format!(
            "{STAND_INS} The paper does not show chip time: {WORK} Bars above {TALLEST} are left out; the tables have them."
        )),
        panels: Shown::ALL.map(panel).into(),
        ..Figure::new("Figure 5: response time, writes and reads relative to RAID-5")
    };
    vec![("figure5".into(), figure)]
}

/// A bar that is higher would flatten all others.
const TALLEST: f64 = 4.0;
const WORK: &str = "how long a request keeps chips busy, now or later.";

/// The means that the text prints, in the last group; the bars of the figure itself are not printed
/// as numbers.
fn published_mean(
    paper: &Paper,
    evidence: &Evidence,
    case: Case,
    shown: Shown,
) -> Vec<Option<f64>> {
    let id =
        [(UDL, UDL_BELOW_RAID5), (HC, HC_BELOW_RAID5)].into_iter().find(|(its, _)| *its == case);
    let Some(lower) = id.and_then(|(_, id)| paper.number(id, shown.label())) else {
        return Vec::new();
    };
    let mut all = vec![None; evidence.runs.columns.len()];
    all.push(Some(1.0 - lower));
    all
}

/// Figures 6 and 7, and the sweeps of the cut-off and of the load.
pub(super) fn swept(paper: &Paper, evidence: &Evidence) -> Vec<Named> {
    vec![
        ("figure6".into(), figure6(&paper.sweeps.n_update, evidence)),
        ("figure7".into(), figure7(&paper.sweeps.caches_kib, evidence)),
        ("cut-off".into(), by_cut_off(&paper.sweeps.cut_off, evidence)),
        ("load".into(), by_load(paper, evidence)),
        ("orders".into(), by_order(paper, evidence)),
    ]
}

fn figure6(updates: &[u32], evidence: &Evidence) -> Figure {
    let panel = |shown: Shown| {
        let series = |&n: &u32| {
            bars(evidence, &n_update(n), |column| {
                evidence.change(column, HC, (&n_update(n), &n_update(6)), shown)
            })
        };
        Panel::bars(
            shown.name(),
            Bars {
                y: "relative to N_update 6".into(),
                groups: groups(evidence),
                series: updates.iter().map(series).collect(),
                reference: None,
            },
        )
    };
    Figure {
        caption: Some(STAND_INS.into()),
        columns: Some(1),
        panels: Shown::PAPER.map(panel).into(),
        ..Figure::new("Figure 6: hybrid caching by N_update")
    }
}

fn figure7(caches: &[u32], evidence: &Evidence) -> Figure {
    let panel = |shown: Shown| {
        let line = |column: &str| {
            let of = |kib| evidence.change(column, HC, (&cache(kib), &cache(128)), shown);
            let point = |&kib: &u32| Some((f64::from(kib), of(kib)?));
            LineSeries {
                name: column.into(),
                points: caches.iter().filter_map(point).collect(),
                ..LineSeries::default()
            }
        };
        let y = Axis::linear(format!("{} / 128 KiB", shown.name()));
        let series = drawn(evidence.runs.stand_ins().map(|it| line(&it.name)));
        let x = Axis::log2("data cache (KiB)");
        Panel::lines(shown.name(), Lines { x, y, series, reference: None })
    };
    Figure {
        caption: Some(format!("{STAND_INS} Chip time: {WORK}")),
        panels: [Shown::Response, Shown::Work].map(panel).into(),
        ..Figure::new("Figure 7: hybrid caching by data cache")
    }
}

/// Those of which there is anything to draw.
fn drawn(series: impl Iterator<Item = LineSeries>) -> Vec<LineSeries> {
    series.filter(|it| !it.points.is_empty()).collect()
}

fn by_cut_off(cut_offs: &[u32], evidence: &Evidence) -> Figure {
    let panel = |shown: Shown, unit: &str, scale: f64| {
        let point = |&pages: &u32| {
            Some((f64::from(pages), evidence.value(LONG, HC, &cut_off(pages), shown)? * scale))
        };
        let points = cut_offs.iter().filter_map(point).collect();
        let series = vec![LineSeries { name: LONG.into(), points, ..LineSeries::default() }];
        let x = Axis::log2("longest write that is cached (pages)");
        let y = Axis::linear(format!("{}{unit}", shown.name()));
        Panel::lines(
            shown.name(),
            Lines { x, y, series: drawn(series.into_iter()), reference: None },
        )
    };
    Figure {
        caption: Some(format!("Under {LONG}, whose writes are at most 16 pages long. {STAND_INS}")),
        panels: vec![
            panel(Shown::Response, " (ms)", 1e-3),
            panel(Shown::Writes, "", 1.0),
            panel(Shown::Reads, "", 1.0),
            panel(Shown::Work, " (ms)", 1e3),
        ],
        ..Figure::new("Hybrid caching by cut-off")
    }
}

/// Both orders of an update: by how much response falls, on average, by load.
fn by_order(paper: &Paper, evidence: &Evidence) -> Figure {
    let panel = |&stripe: &u32| {
        let line = |(order, (case, base)): (Order, (Case, Case))| {
            let point = |&load: &f64| {
                let setting = Setting { order, stripe, load };
                let ratio = |column: &str| {
                    evidence.ratio_at(column, setting, (case, base), Shown::Response)
                };
                Some((load, 1.0 - evidence.mean_of(true, ratio)?))
            };
            LineSeries {
                name: format!("{} below {}, {}", case.name, base.name, order.name()),
                points: paper.sweeps.loads.iter().filter_map(point).collect(),
                ..LineSeries::default()
            }
        };
        let pairs = [(UDL, RAID5), (PPC, RAID5), (UDL, PPC)];
        let all = Order::ALL.into_iter().flat_map(|order| pairs.map(|pair| (order, pair)));
        let (x, y) =
            (Axis::linear("multiple of the rate"), Axis::linear("reduction of mean response"));
        let reference = Some(Reference { at: 0.0, name: "the same".into() });
        Panel::lines(
            format!("Stripes of {stripe}"),
            Lines { x, y, series: drawn(all.map(line)), reference },
        )
    };
    Figure {
        caption: Some(format!(
            "Means over the five stand-ins. Read first: the old page is read before the new one is programmed. {STAND_INS}"
        )),
        panels: paper.sweeps.grid_stripes.iter().map(panel).collect(),
        ..Figure::new("Response by the order of an update, stripe size and load")
    }
}

fn by_load(paper: &Paper, evidence: &Evidence) -> Figure {
    let panel = |column: &Column| {
        let line = |case: &Case| {
            let point = |&load: &f64| {
                let setting = Setting { order: Order::ReadFirst, stripe: 8, load };
                let pair = (*case, RAID5);
                Some((load, evidence.ratio_at(&column.name, setting, pair, Shown::Response)?))
            };
            LineSeries {
                name: case.name.into(),
                points: paper.sweeps.loads.iter().filter_map(point).collect(),
                ..LineSeries::default()
            }
        };
        let series = drawn(GRID[1..].iter().map(line));
        let (x, y) = (Axis::linear("multiple of the rate"), Axis::linear("mean response / RAID-5"));
        let reference = Some(Reference { at: 1.0, name: "RAID-5".into() });
        Panel::lines(&column.name, Lines { x, y, series, reference })
    };
    Figure {
        caption: Some(
            "At a rate of 1, the drive of Table II is without requests half of the time under RAID-5. \
             The paper does not print how busy its drive was."
                .into(),
        ),
        panels: evidence.runs.stand_ins().map(panel).collect(),
        ..Figure::new("Mean response by load")
    }
}
