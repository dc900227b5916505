//! Checks of the run length: whether results converge over parts of every stand-in's warm-up, and
//! whether the access class of the data from before the run matters.

use super::plan::{
    AS_IT_IS, BASELINE, CLASSED, Case, Evidence, UNCLASSED, run_name, summary_worn, window, windows,
};
use super::tables::HIRES;
use crate::run_summary::{READ, RunSummary};
use crate::runs::mean;
use fowler_experiment::tables::{Cell, Sheet};
use fowler_figures::{Axis, Figure, Panel, Series};

/// Part of every stand-in trace of the HIRE study: begin and end as shares (0 to 1) of the
/// requests, and the name of the study's variant that measures this part alone.
struct Part {
    from: f64,
    to: f64,
    variant: String,
}

/// Returns the parts of the stand-in traces in order; the last is the part that the HIRE paper's
/// figures show.
fn parts(evidence: &Evidence) -> Vec<Part> {
    let paper = &evidence.paper;
    let warm =
        windows(paper).into_iter().map(|(from, to)| Part { from, to, variant: window(from, to) });
    let shown = Part { from: paper.warm_up, to: 1.0, variant: AS_IT_IS.into() };
    warm.chain([shown]).collect()
}

/// Returns the numbers of the function `of` (a scheme's latency or wear relative to the baseline)
/// for all stand-in traces of the HIRE study for which it returns one.
fn ratios(evidence: &Evidence, of: impl Fn(&str) -> Option<f64>) -> Vec<f64> {
    evidence.runs.stand_ins().filter_map(|column| of(&column.name)).collect()
}

/// Returns a number of HIRE study runs, such as a wear, summed over some parts of a workload under
/// the scheme `case`, divided by the sum under the paper's baseline.
fn summed(
    evidence: &Evidence,
    column: &str,
    case: Case,
    parts: &[Part],
    of: fn(&RunSummary) -> Option<f64>,
) -> Option<f64> {
    let sum = |case| {
        let one =
            |part: &Part| of(evidence.runs.summary(&run_name(column, case, &part.variant))?);
        parts.iter().map(one).sum::<Option<f64>>()
    };
    Some(sum(case)? / sum(BASELINE)?).filter(|ratio| ratio.is_finite())
}

/// Reads the sum of the latencies of all reads of a run from the summary, in microseconds.
const READ_TIME: fn(&RunSummary) -> Option<f64> = |run| Some(READ(run)? * run.get("read.count")?);

/// Returns true if the workload of the HIRE study is a stand-in for a trace of the MSR collection,
/// not one of the two financial traces, which write so little that a few programs decide their
/// wear.
fn is_msr(column: &str) -> bool {
    !column.starts_with("fin")
}

/// Returns two tables of the HIRE study: the convergence of results with the length of a run, and
/// the effect of the assumed access class (read-hot, write-hot) of data that the drive holds before
/// a run.
pub(super) fn sheets(evidence: &Evidence) -> Vec<Sheet> {
    vec![convergence(evidence), classed(evidence)]
}

fn convergence(evidence: &Evidence) -> Sheet {
    let heads = [
        "from",
        "to",
        "case",
        "reads, mean",
        "reads, least",
        "reads, most",
        "reads of all so far, mean",
        "wear, mean",
        "wear, mean of the 15 MSR volumes",
        "wear of all so far, mean of the 15 MSR volumes",
    ];
    let title = "Convergence: each part of the stand-ins for itself, as shares of their requests, against the \
                 baseline's same part; and all parts so far together, as a run without a warm-up measures them";
    let mut sheet = Sheet::new("convergence", title, &heads);
    let parts = parts(evidence);
    for (number, part) in parts.iter().enumerate() {
        for case in HIRES {
            let variant = part.variant.as_str();
            let reads = ratios(evidence, |column| evidence.ratio(column, case, variant, READ));
            let worn = |msr: bool| {
                let of = |column: &str| {
                    (!msr || is_msr(column)).then(|| evidence.worn_ratio(column, case, variant))?
                };
                mean(&ratios(evidence, of))
            };
            let so_far = &parts[..=number];
            let all = |of, msr: bool| {
                let one = |column: &str| {
                    (!msr || is_msr(column)).then(|| summed(evidence, column, case, so_far, of))?
                };
                mean(&ratios(evidence, one))
            };
            sheet.row(vec![
                Cell::Number(part.from),
                Cell::Number(part.to),
                case.name.into(),
                Cell::number(mean(&reads)),
                Cell::number(reads.iter().copied().reduce(f64::min)),
                Cell::number(reads.iter().copied().reduce(f64::max)),
                Cell::number(all(READ_TIME, false)),
                Cell::number(worn(false)),
                Cell::number(worn(true)),
                Cell::number(all(summary_worn, true)),
            ]);
        }
    }
    sheet
}

/// Returns the table of runs in which the data on the drive was programmed at the voltages of one
/// access class (such as read-hot) before the run; reads and wear are relative to the HIRE paper's
/// baseline on a drive whose data has no class.
fn classed(evidence: &Evidence) -> Sheet {
    let heads = ["workload", "data from before the run was", "case", "reads", "wear"];
    let title = "Data preconditioned by class (precondition.access_class): reads and wear relative to the baseline";
    let mut sheet = Sheet::new("classed", title, &heads);
    let variants = [UNCLASSED].into_iter().chain(CLASSED.map(|(name, _)| name));
    for variant in variants {
        let said = variant.trim_end_matches(" before");
        for case in HIRES {
            let against = |column: &str, of: &dyn Fn(Case, &str) -> Option<f64>| {
                let ratio = of(case, &run_name(column, case, variant))?
                    / of(BASELINE, &run_name(column, BASELINE, UNCLASSED))?;
                Some(ratio).filter(|ratio| ratio.is_finite())
            };
            let reads = |column: &str| against(column, &|_, run| evidence.runs.number(run, READ));
            let worn =
                |column: &str| against(column, &|_, run| summary_worn(evidence.runs.summary(run)?));
            for column in &evidence.runs.columns {
                let name = column.name.as_str();
                sheet.row(vec![
                    name.into(),
                    said.into(),
                    case.name.into(),
                    Cell::number(reads(name)),
                    Cell::number(worn(name)),
                ]);
            }
            sheet.row(vec![
                "mean".into(),
                said.into(),
                case.name.into(),
                Cell::number(mean(&ratios(evidence, reads))),
                Cell::number(mean(&ratios(evidence, worn))),
            ]);
        }
    }
    sheet
}

/// Returns the figure of mean read latency and mean wear, relative to the baseline, by the part of
/// the stand-in traces that is measured.
pub(super) fn picture(evidence: &Evidence) -> Figure {
    let sheet = convergence(evidence);
    let panel = |title: &str, y: &str, head: &str| {
        let series =
            |case: &Case| Series::line(case.name, sheet.only("case", case.name).points("to", head));
        let x = Axis::log2("up to this share of the requests");
        Panel::lines(title, x, Axis::linear(y), HIRES.iter().map(series)).reference(1.0, "baseline")
    };
    let panels = [
        panel("Reads, mean of seventeen", "reads / baseline", "reads, mean"),
        panel(
            "Wear, mean of 15 MSR volumes",
            "wear / baseline",
            "wear, mean of the 15 MSR volumes",
        ),
    ];
    let caption = "Each point is measured on the part of the stand-ins between its share and the one before; the last \
                   is what the other figures show.";
    Figure::new("convergence", "Convergence with the length of the run", panels)
        .caption(caption)
        .columns(2)
}
