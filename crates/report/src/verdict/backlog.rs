//! Requests that come faster than the drive serves them.

use super::facts::{Facts, Interval};
use super::finding::{Case, Finding, and};
use fowler_experiment::numbers::real;

/// Growth of the mean number of requests in the drive, from one part of a run to the next, at which
/// a backlog is reported. A steadily growing queue more than doubles; this smaller factor is
/// assumed.
const GROWS: f64 = 1.7;
/// A queue shorter than this is never reported as a backlog, in requests (assumed).
const LONG: f64 = 16.0;

/// Finds schemes whose queue grew throughout the run, so that their latencies measure the length of
/// the run.
pub(super) fn look(case: &Case<'_>) -> Vec<Finding> {
    let behind: Vec<(&Facts, [Interval; 2])> =
        case.runs.iter().filter_map(|run| growing(run).map(|parts| (run, parts))).collect();
    let Some((one, [before, after])) = behind.first() else { return Vec::new() };
    let names: Vec<&str> = behind.iter().map(|(run, _)| run.label.as_str()).collect();
    let about: Vec<&Facts> = behind.iter().map(|(run, _)| *run).collect();
    let text = format!(
        "Requests come faster than {} serves them: {}, {} of them were in the drive on average from {} to \
         {} s, and {} from there to the end, at {} s. Latencies then grow with the length of the run.",
        and(&names),
        one.place(),
        real(before.outstanding),
        real(before.from_s),
        real(before.until_s),
        real(after.outstanding),
        real(after.until_s)
    );
    let numbers = [
        ("before", before.outstanding),
        ("after", after.outstanding),
        ("least_growth", GROWS),
        ("least", LONG),
    ];
    let next = "a lower rate (--speed), or a closed loop (--queue-depth)";
    vec![Finding::new(&about, text).numbers(&numbers).next(next)]
}

/// Returns the two parts of a run between which the queue grows; `None` if it does not, or if it
/// was empty at some time in the second part: a queue that drains follows a burst or a stall, and
/// requests do not come too fast for good.
fn growing(run: &Facts) -> Option<[Interval; 2]> {
    let parts = run.parts()?;
    let [before, after] = parts.map(|part| part.outstanding);
    let grows = after >= LONG && after >= GROWS * before;
    (run.open && grows && !parts[1].drained).then_some(parts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fowler_metrics::Milestone;
    use fowler_units::Span;

    fn run(open: bool, outstanding: [u128; 3], idle: [u64; 3]) -> Facts {
        let at = [Span(100), Span(200), Span(400)];
        let milestone = |((at, outstanding), idle)| Milestone {
            at,
            outstanding,
            idle: Span(idle),
            ..Milestone::default()
        };
        let milestones = at.into_iter().zip(outstanding).zip(idle).map(milestone).collect();
        Facts { label: "a".into(), open, requests: 9, milestones, ..Facts::default() }
    }

    #[test]
    fn a_queue_that_grows_is_told_in_open_loops() {
        for (open, outstanding, says) in [
            (true, [500, 2000, 8000], 1), // 15 in the drive, then 30
            (false, [500, 2000, 8000], 0),
            (true, [1500, 3500, 8000], 0), // 20, then 22.5
            (true, [5, 20, 80], 0),        // short
        ] {
            let runs = [run(open, outstanding, [0; 3])];
            assert_eq!(look(&Case { runs: &runs, spread: None }).len(), says, "{outstanding:?}");
        }
    }

    /// A burst or a stall in the second part of a run is no sign of a rate that is too high.
    #[test]
    fn a_queue_that_drains_is_no_backlog() {
        for (idle, says) in [([0, 0, 0], 1), ([0, 60, 60], 1), ([0, 0, 60], 0), ([60, 90, 91], 0)] {
            let runs = [run(true, [500, 2000, 8000], idle)];
            assert_eq!(look(&Case { runs: &runs, spread: None }).len(), says, "{idle:?}");
        }
    }
}
