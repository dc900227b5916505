//! The open choices of RHIO, settled together by the latency reductions of its baselines, and the
//! reductions by RHIO that follow.

use super::paper::Paper;
use super::plan::{Case, Evidence, average_named, combinations, joint_seeds, together};
use crate::claim::{ClaimId, Labelled};
use crate::joint::{self, Judged};
use crate::run_summary::{Number, READ, WRITE};
use fowler_experiment::diagnostic::Diagnostics;
use fowler_experiment::tables::Sheet;

/// A reduction of latency that the RHIO paper states: ID of the claim and label of its published
/// number, scheme, base scheme and metric.
type Reduction = (&'static str, &'static str, (&'static str, &'static str), Number);

/// Latency reductions by the RHIO paper's baselines, which settle the choices that the paper leaves
/// open.
const BASELINES: [Reduction; 4] = [
    ("001-020", "RT-R reads", ("rt_r", "noop"), READ),
    ("001-020", "PV-W writes", ("pv_w", "noop"), WRITE),
    ("001-021", "RT-R writes", ("rt_r", "noop"), WRITE),
    ("001-021", "PV-W reads", ("pv_w", "noop"), READ),
];

/// Latency reductions by RHIO. They are predictions: what the paper leaves open is chosen by
/// published numbers of its baselines alone.
const PREDICTED: [Reduction; 6] = [
    ("001-001", "read", ("rhio", "noop"), READ),
    ("001-001", "write", ("rhio", "noop"), WRITE),
    ("001-002", "read", ("rhio", "rt_r"), READ),
    ("001-002", "write", ("rhio", "rt_r"), WRITE),
    ("001-003", "read", ("rhio", "pv_w"), READ),
    ("001-003", "write", ("rhio", "pv_w"), WRITE),
];

fn published(paper: &Paper, all: &[Reduction]) -> Vec<Labelled> {
    let one = |&(id, label, (scheme, base), _): &Reduction| {
        let name = format!("{label}: {scheme} below {base}");
        Some((name, paper.number(ClaimId(id), label)?))
    };
    all.iter().filter_map(one).collect()
}

/// Returns the published latency reductions by the RHIO paper's baselines RT-R and PV-W relative to
/// NOOP.
pub(super) fn baselines(paper: &Paper) -> Vec<Labelled> {
    published(paper, &BASELINES)
}

/// Returns the tables of the combinations of options for settings that the RHIO paper leaves open,
/// by their distance from the published numbers of its baselines.
///
/// # Errors
/// If there are more open choices than numbers of baselines.
pub(super) fn sheets(paper: &Paper, evidence: &Evidence) -> Result<Vec<Sheet>, Diagnostics> {
    let mut all = Vec::new();
    for combination in combinations(paper)? {
        let by_seed = |numbers: &[Reduction]| -> Option<Vec<Vec<f64>>> {
            let of_seed = |seed: Option<u64>| -> Option<Vec<f64>> {
                let variant = together(&combination.name, seed);
                let case = Case { variant: &variant, speed: 1.0 };
                let lower = |&(_, _, pair, of): &Reduction| {
                    Some(1.0 - average_named(paper, |it| evidence.ratio(it, pair, case, of))?)
                };
                numbers.iter().map(lower).collect()
            };
            joint_seeds().map(of_seed).collect()
        };
        if let (Some(baselines), Some(system)) = (by_seed(&BASELINES), by_seed(&PREDICTED)) {
            all.push(Judged { name: combination.name, baselines, system });
        }
    }
    // A look of a few requests may have no number at all.
    if all.is_empty() {
        return Ok(Vec::new());
    }
    let numbers = (baselines(paper), published(paper, &PREDICTED));
    let numbers = (&*numbers.0, &*numbers.1);
    Ok(vec![joint::sheet(&all, numbers), joint::left_out(&all, numbers)])
}
