//! Tables of the sweeps beyond the RHIO paper: length of runs, number of outstanding commands, and
//! size of the stripe unit.

use super::paper::Paper;
use super::plan::{
    Case, Evidence, KINDS, ORDER, RECORDED, average_named, average_of, deep, depths as all_depths,
    lasting, run_name, striped, units as all_units,
};
use super::tables::{GAINS, Gain, gain, gain_name};
use crate::run_summary::Number;
use fowler_experiment::tables::{Cell, Sheet};

/// Returns an empty table whose columns are `first` and the six latency reductions that the RHIO
/// paper's text prints.
fn sheet(name: &str, title: &str, first: &[&str]) -> Sheet {
    let gains = GAINS.map(gain_name);
    let heads: Vec<&str> = first.iter().copied().chain(gains.iter().map(String::as_str)).collect();
    Sheet::new(name, title, &heads)
}

/// Returns the shares (0 to 1) of the week of a stand-in trace that the RHIO study replays,
/// ascending.
fn shares(paper: &Paper) -> Vec<f64> {
    let mut all = paper.lengths.clone();
    all.push(paper.week);
    all.sort_by(f64::total_cmp);
    all
}

/// Returns a latency reduction by RHIO, an I/O scheduler, over the first share `share` (0 to 1) of
/// the week of each stand-in trace; mean over the stand-in traces.
fn gain_over(paper: &Paper, evidence: &Evidence, share: f64, which: Gain) -> Option<f64> {
    let variant = lasting(share);
    let longer = Case { variant: &variant, speed: 1.0 };
    let case = if share == paper.week { RECORDED } else { longer };
    evidence.runs.average(|column| gain(evidence, column, case, which))
}

/// Returns a latency reduction by RHIO, an I/O scheduler, over the part of each stand-in trace's
/// week that most runs leave out; mean over the traces. Sums over that part are those of the whole
/// week less those of the runs over its first part.
fn gain_after(evidence: &Evidence, which: Gain) -> Option<f64> {
    let variant = lasting(1.0);
    let whole = Case { variant: &variant, speed: 1.0 };
    evidence.runs.average(|column| {
        let sums = |scheme: &str, case: Case<'_>| {
            let run = evidence.runs.summary(&run_name(column, scheme, case))?;
            let count = run.get(["read.count", "write.count"][which.kind])?;
            Some((count, count * (KINDS[which.kind].mean)(run)?))
        };
        let rest = |scheme: &str| {
            let (all, total) = sums(scheme, whole)?;
            let (first, before) = sums(scheme, RECORDED)?;
            Some((total - before) / (all - first))
        };
        Some(1.0 - rest("rhio")? / rest(which.base)?)
    })
}

/// Returns the table of latency reductions by RHIO, an I/O scheduler, by the share that is replayed
/// of the week of each stand-in trace.
pub(super) fn lengths(paper: &Paper, evidence: &Evidence) -> Sheet {
    let title = "Mean reductions over twelve stand-ins, by the share of their week that was run";
    let mut sheet = sheet("length", title, &["share of the week"]);
    for share in shares(paper) {
        let mut row = vec![Cell::Number(share)];
        row.extend(GAINS.map(|which| Cell::share(gain_over(paper, evidence, share, which))));
        sheet.row(row);
    }
    let mut row =
        vec![format!("the rest of each stand-in's week, after a share of {}", paper.week).into()];
    row.extend(GAINS.map(|which| Cell::share(gain_after(evidence, which))));
    sheet.row(row);
    sheet
}

/// Returns the workloads of the RHIO study's sweeps of queue depth and stripe unit: `None`, which
/// stands for the mean over the volumes that the paper's text names, and then the name of each
/// excerpt of a real trace.
fn places(evidence: &Evidence) -> Vec<Option<String>> {
    let real = evidence.runs.columns.iter().filter(|it| !it.is_stand_in());
    [None].into_iter().chain(real.map(|it| Some(it.name.clone()))).collect()
}

/// Returns a metric of a workload, or of the mean over the volumes that the RHIO paper names, with
/// `depth` commands outstanding.
fn at_depth(
    paper: &Paper,
    evidence: &Evidence,
    (place, depth): (Option<&str>, u32),
    of: impl Fn(&Evidence, &str, Case<'_>) -> Option<f64>,
) -> Option<f64> {
    let variant = deep(depth);
    let case = |speed| Case { variant: &variant, speed };
    match place {
        Some(real) => of(evidence, real, case(1.0)),
        None => average_named(paper, |it| of(evidence, it, case(paper.conflicts))),
    }
}

/// Returns the table of RHIO's latency reductions by the number of outstanding commands.
pub(super) fn depths(paper: &Paper, evidence: &Evidence) -> Sheet {
    let title = "By commands outstanding at once (NCQ has tags for 32)";
    let first = [
        "workload",
        "tags",
        "read p99, NOOP (us)",
        "read p99, RHIO (us)",
        "prioritized reads",
        "prioritized writes",
    ];
    let p99: Number = |run| run.get("read.p99_us");
    let mut sheet = sheet("depth", title, &first);
    for place in places(evidence) {
        let four = format!(
            "mean of {}, replayed {} times as fast",
            paper.named.join(", "),
            paper.conflicts
        );
        for depth in all_depths(paper) {
            let at = (place.as_deref(), depth);
            let share = |kind| {
                Cell::share(at_depth(paper, evidence, at, |evidence, column, case| {
                    evidence.prioritized(column, case, kind)
                }))
            };
            let slow = |scheme: &str| {
                Cell::number(at_depth(paper, evidence, at, |evidence, column, case| {
                    evidence.number(column, scheme, case, p99)
                }))
            };
            let name = place.clone().unwrap_or_else(|| four.clone());
            let mut row = vec![name.into(), Cell::Number(f64::from(depth))];
            row.extend([slow("noop"), slow("rhio"), share(0), share(1)]);
            row.extend(GAINS.map(|which| {
                Cell::share(at_depth(paper, evidence, at, |evidence, column, case| {
                    gain(evidence, column, case, which)
                }))
            }));
            sheet.row(row);
        }
    }
    sheet
}

/// Returns the share by which RHIO's order of requests alone lowers mean latency relative to NOOP,
/// mean over some workloads.
fn order_alone(
    columns: &[String],
    evidence: &Evidence,
    (unit, speed): (u32, f64),
    kind: usize,
) -> Option<f64> {
    let variants = [striped(unit), format!("{} {ORDER}", striped(unit))];
    average_of(columns, |column| {
        let of = |variant: &str| {
            evidence.number(column, "noop", Case { variant, speed }, KINDS[kind].mean)
        };
        Some(1.0 - of(&variants[1])? / of(&variants[0])?)
    })
}

/// Returns the table of RHIO's latency reductions by the size of the stripe unit: the pages placed
/// on one chip before the next chip gets any.
pub(super) fn units(paper: &Paper, evidence: &Evidence) -> Sheet {
    let title = "By the pages that lie on one chip before the next has any";
    let first = [
        "workload",
        "pages",
        "speed",
        "reads, NOOP (us)",
        "writes, NOOP (us)",
        "prioritized reads",
        "prioritized writes",
        "reads, order alone below NOOP",
        "writes, order alone below NOOP",
    ];
    let mut sheet = sheet("unit", title, &first);
    for place in places(evidence) {
        let (name, columns, speeds) = match place {
            Some(real) => (real.clone(), vec![real], vec![1.0]),
            None => {
                let name = format!("mean of {}", paper.named.join(", "));
                (name, paper.named.clone(), vec![1.0, paper.conflicts])
            }
        };
        for &speed in &speeds {
            for unit in all_units(paper) {
                let variant = striped(unit);
                let case = Case { variant: &variant, speed };
                let pages = Cell::Number(f64::from(unit));
                let mut row = vec![name.as_str().into(), pages, Cell::Number(speed)];
                row.extend([0, 1].map(|kind| {
                    let mean = KINDS[kind].mean;
                    Cell::number(average_of(&columns, |it| evidence.number(it, "noop", case, mean)))
                }));
                row.extend([0, 1].map(|kind| {
                    Cell::share(average_of(&columns, |it| evidence.prioritized(it, case, kind)))
                }));
                row.extend(
                    [0, 1].map(|kind| {
                        Cell::share(order_alone(&columns, evidence, (unit, speed), kind))
                    }),
                );
                row.extend(GAINS.map(|which| {
                    Cell::share(average_of(&columns, |it| gain(evidence, it, case, which)))
                }));
                sheet.row(row);
            }
        }
    }
    sheet
}
