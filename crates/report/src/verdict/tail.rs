//! Names the cause that makes the slowest requests slow.

use super::facts::Facts;
use super::finding::{Case, Finding};
use fowler_device::blame::Part;
use fowler_experiment::device_spec::Axis;
use fowler_experiment::numbers::{percent, words};
use fowler_metrics::Kind;

/// Smallest share of the latency of the slowest 1 % of requests for which a cause, such as waiting
/// for GC, is reported as the main one (assumed).
const MUCH: f64 = 0.25;
/// Fewest requests of a run whose slowest 1 % is examined: then it has ten requests.
const FEWEST: u64 = 1000;

/// Reports the main cause of the slowest 1 % of requests in the baseline run, and in every run with
/// another main cause.
pub(super) fn look(case: &Case<'_>) -> Vec<Finding> {
    let [first, others @ ..] = case.runs else { return Vec::new() };
    let of_kind = |kind: Kind| {
        let (part, share) = dominant(first, kind)?;
        let mut text = format!(
            "In the slowest 1 % of {}s {}, {} of the time is \u{201c}{}\u{201d}.",
            kind.name(),
            first.place(),
            percent(share),
            words(part)
        );
        let mut about = vec![first];
        let changed: Vec<(&Facts, Part, f64)> = others
            .iter()
            .filter(|run| run.alike(first))
            .filter_map(|run| dominant(run, kind).map(|(part, share)| (run, part, share)))
            .filter(|(_, run, _)| *run != part)
            .collect();
        for (run, part, share) in changed {
            text += &format!(
                " {} {} it is \u{201c}{}\u{201d}, {}.",
                match run.axis {
                    Axis::Schemes => "Under",
                    Axis::Devices => "On",
                },
                run.label,
                words(part),
                percent(share)
            );
            about.push(run);
        }
        Some(Finding::new(&about, text).numbers(&[("share", share), ("least_share", MUCH)]))
    };
    Kind::ALL.into_iter().filter_map(of_kind).collect()
}

/// Returns the largest cause of latency of the slowest 1 % of requests, if its share is large.
pub(super) fn dominant(run: &Facts, kind: Kind) -> Option<(Part, f64)> {
    let served = &run.served[kind];
    let first = served.tail.first().copied();
    first.filter(|(_, share)| *share >= MUCH && served.count >= FEWEST)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::facts::Served;

    fn run(scheme: &str, part: Part, share: f64, count: u64) -> Facts {
        let mut facts = Facts { label: scheme.into(), requests: count, ..Facts::default() };
        facts.served[Kind::Read] = Served { count, tail: vec![(part, share)], ..Served::default() };
        facts
    }

    #[test]
    fn a_cause_that_a_scheme_removes_is_told() {
        let runs = [
            run("fifo", Part::BehindHostProgram, 0.82, 1000),
            run("rps", Part::BehindHostProgram, 0.8, 1000),
            run("ipc", Part::BehindHostRead, 0.47, 1000),
        ];
        let said = look(&Case { runs: &runs, spread: None });
        let text = "In the slowest 1 % of reads under fifo, 82.0 % of the time is \u{201c}behind host \
                    program\u{201d}. Under ipc it is \u{201c}behind host read\u{201d}, 47.0 %.";
        assert_eq!(said.len(), 1);
        assert_eq!(said[0].text, text);
        assert_eq!(said[0].labels, ["fifo", "ipc"]);
    }

    #[test]
    fn small_causes_and_few_requests_say_nothing() {
        for (share, count, says) in [(0.25, 1000, 1), (0.249, 1000, 0), (0.9, 999, 0)] {
            let runs = [run("fifo", Part::Sense, share, count)];
            assert_eq!(look(&Case { runs: &runs, spread: None }).len(), says, "{share} {count}");
        }
    }
}
