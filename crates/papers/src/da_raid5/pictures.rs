//! Pictures of the paper's figures.

use super::claims::{HC_BELOW_RAID5, UDL_BELOW_RAID5};
use super::paper::Paper;
use super::plan::{Evidence, Shown};
use super::tables;
use super::variants::{
    CASES, Case, GRID, HC, LONG, Order, PPC, RAID5, Setting, UDL, cache, cut_off, n_update,
};
use crate::column::Column;
use fowler_experiment::tables::Cell;
use fowler_figures::{Axis, Figure, Panel, Series};

const STAND_INS: &str = "Stand-ins have the published shares of writes; all else is assumed. Real excerpts are \
                         not in the mean.";

/// Returns Figure 5 of the DA-RAID-5 paper: response time, flash writes and flash reads of every
/// scheme relative to RAID-5.
pub(super) fn shown(paper: &Paper, evidence: &Evidence) -> Vec<Figure> {
    let panel = |shown: Shown| {
        let series = |case: &Case| {
            let ratio = |column: &str| evidence.ratio(column, (*case, RAID5), shown);
            let mut series = evidence
                .runs
                .bars(case.name, ratio)
                .published(published_mean(paper, evidence, *case, shown));
            for value in &mut series.y {
                *value = value.filter(|ratio| *ratio <= TALLEST);
            }
            series
        };
        let y = format!("{} / RAID-5", shown.name());
        Panel::columns(shown.name(), y, evidence.runs.groups(), CASES[1..].iter().map(series))
            .reference(1.0, "RAID-5")
    };
    let caption = format!(
        "{STAND_INS} Chip time, which the paper does not show, is {WORK} Bars above {TALLEST} are left out; the tables have them."
    );
    let title = "Figure 5: response time, writes and reads relative to RAID-5";
    vec![Figure::new("figure5", title, Shown::ALL.map(panel)).caption(caption)]
}

/// Largest height of a bar in the DA-RAID-5 study's figures, as a multiple of RAID-5's value of the
/// same metric; a higher bar, which would flatten all others, is cut off.
const TALLEST: f64 = 4.0;
const WORK: &str = "the time for which a request keeps chips busy, now or later.";

/// Returns the published means over workloads for the last group of bars (the means) of a DA-RAID-5
/// figure. The paper prints only means; the other bars have no numbers.
fn published_mean(
    paper: &Paper,
    evidence: &Evidence,
    case: Case,
    shown: Shown,
) -> Vec<Option<f64>> {
    let id = [(UDL, UDL_BELOW_RAID5), (HC, HC_BELOW_RAID5)]
        .into_iter()
        .find(|(other, _)| *other == case);
    let Some(lower) = id.and_then(|(_, id)| paper.number(id, shown.label())) else {
        return Vec::new();
    };
    evidence.runs.ordered(|_| None, Some(1.0 - lower))
}

/// Returns Figures 6 and 7 of the DA-RAID-5 paper, and the figures of the sweeps of the longest
/// write that is cached (cut-off) and of the load (replay speed).
pub(super) fn swept(paper: &Paper, evidence: &Evidence) -> Vec<Figure> {
    vec![
        figure6(&paper.sweeps.n_update, evidence),
        figure7(&paper.sweeps.caches_kib, evidence),
        by_cut_off(&paper.sweeps.cut_off, evidence),
        by_load(paper, evidence),
        by_order(paper, evidence),
    ]
}

fn figure6(updates: &[u32], evidence: &Evidence) -> Figure {
    let panel = |shown: Shown| {
        let series = |&n: &u32| {
            evidence.runs.bars(&n_update(n), |column| {
                evidence.change(column, HC, (&n_update(n), &n_update(6)), shown)
            })
        };
        let series = updates.iter().map(series);
        Panel::columns(shown.name(), "relative to N_update 6", evidence.runs.groups(), series)
    };
    let title = "Figure 6: hybrid caching by N_update";
    Figure::new("figure6", title, Shown::PAPER.map(panel)).caption(STAND_INS).columns(1)
}

fn figure7(caches: &[u32], evidence: &Evidence) -> Figure {
    let panel = |shown: Shown| {
        let line = |column: &str| {
            let of = |kib| evidence.change(column, HC, (&cache(kib), &cache(128)), shown);
            let point = |&kib: &u32| Some((f64::from(kib), of(kib)?));
            Series::line(column, caches.iter().filter_map(point))
        };
        let y = Axis::linear(format!("{} / 128 KiB", shown.name()));
        let series = drawn(evidence.runs.stand_ins().map(|it| line(&it.name)));
        Panel::lines(shown.name(), Axis::log2("data cache (KiB)"), y, series)
    };
    let panels = [Shown::Response, Shown::Work].map(panel);
    Figure::new("figure7", "Figure 7: hybrid caching by data cache", panels)
        .caption(format!("{STAND_INS} Chip time is {WORK}"))
}

/// Returns those series of a figure of the DA-RAID-5 study that have at least one point.
fn drawn(series: impl Iterator<Item = Series>) -> impl Iterator<Item = Series> {
    series.filter(|it| !it.y.is_empty())
}

fn by_cut_off(cut_offs: &[u32], evidence: &Evidence) -> Figure {
    let panel = |shown: Shown, unit: &str, scale: f64| {
        let point = |&pages: &u32| {
            Some((f64::from(pages), evidence.value(LONG, HC, &cut_off(pages), shown)? * scale))
        };
        let line = Series::line(LONG, cut_offs.iter().filter_map(point));
        let x = Axis::log2("longest write that is cached (pages)");
        let y = Axis::linear(format!("{}{unit}", shown.name()));
        Panel::lines(shown.name(), x, y, drawn([line].into_iter()))
    };
    let panels = [
        panel(Shown::Response, " (ms)", 1e-3),
        panel(Shown::Writes, "", 1.0),
        panel(Shown::Reads, "", 1.0),
        panel(Shown::Work, " (ms)", 1e3),
    ];
    Figure::new("cut-off", "Hybrid caching by cut-off", panels).caption(format!(
        "All points are under {LONG}, whose writes are at most 16 pages long. {STAND_INS}"
    ))
}

/// Returns the DA-RAID-5 study's figure of the mean reduction of response time by load, for both
/// orders of updating a page: the old page is read before the new one is programmed, or after. UDL
/// and PPC are compared with RAID-5, and UDL with PPC.
fn by_order(paper: &Paper, evidence: &Evidence) -> Figure {
    let sheet = tables::by_order(evidence);
    let panel = |&stripe: &u32| {
        let rows = sheet.only("N", Cell::Number(stripe.into()));
        let line = |(order, (case, base)): (Order, (Case, Case))| {
            let rows = rows.only("order", order.name());
            let rows = rows.only("scheme", case.name).only("below", base.name);
            let name = format!("{} below {}, {}", case.name, base.name, order.name());
            Series::line(name, rows.points("multiple of the rate", Shown::Response.name()))
        };
        let pairs = [(UDL, RAID5), (PPC, RAID5), (UDL, PPC)];
        let all = Order::ALL.into_iter().flat_map(|order| pairs.map(|pair| (order, pair)));
        let (x, y) =
            (Axis::linear("multiple of the rate"), Axis::linear("reduction of mean response"));
        Panel::lines(format!("Stripes of {stripe}"), x, y, drawn(all.map(line)))
            .reference(0.0, "the same")
    };
    let caption = format!(
        "Means over the five stand-in traces. Read first: an update reads the old page before it programs \
         the new one. {STAND_INS}"
    );
    let title = "Response by the order of an update, stripe size and load";
    Figure::new("orders", title, paper.sweeps.grid_stripes.iter().map(panel)).caption(caption)
}

fn by_load(paper: &Paper, evidence: &Evidence) -> Figure {
    let panel = |column: &Column| {
        let line = |case: &Case| {
            let point = |&load: &f64| {
                let setting = Setting { order: Order::ReadFirst, stripe: 8, load };
                let pair = (*case, RAID5);
                Some((load, evidence.ratio_at(&column.name, setting, pair, Shown::Response)?))
            };
            Series::line(case.name, paper.sweeps.loads.iter().filter_map(point))
        };
        let (x, y) = (Axis::linear("multiple of the rate"), Axis::linear("mean response / RAID-5"));
        Panel::lines(&column.name, x, y, drawn(GRID[1..].iter().map(line))).reference(1.0, "RAID-5")
    };
    let caption = "At a rate of 1, the drive of Table II is without requests half of the time under RAID-5. \
                   The paper does not print how busy its drive was.";
    let panels = evidence.runs.stand_ins().map(panel);
    Figure::new("load", "Mean response by load", panels).caption(caption)
}

#[cfg(test)]
mod tests {
    use super::super::checks::{Checks, Operations};
    use super::{Evidence, Paper};
    use crate::column::columns;
    use crate::run_folder::Results;
    use crate::runs::Runs;
    use crate::study::tests::assert_drawn;

    /// Every figure can be drawn without results: it refers only to columns that its table has.
    #[test]
    fn a_study_without_results_is_drawn() {
        let paper = Paper::open().unwrap();
        let columns = columns(&paper.workload, None).unwrap();
        let checks = Checks {
            update: Operations { reads: 0, writes: 0 },
            parity: None,
            broken: 0,
            by_rest: 0,
            by_old: 0,
            example: Vec::new(),
        };
        assert_drawn(&Evidence {
            paper,
            runs: Runs::new(columns, Results::new()),
            made: Vec::new(),
            speeds: Results::new(),
            checks,
            brief: false,
        });
    }
}
