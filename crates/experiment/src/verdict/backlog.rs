//! Requests that come faster than the drive serves them.

use super::{Case, Facts, Finding, and};
use crate::numbers::real;

/// How much longer the queue is in the second half of a run than in the quarter before it. A queue
/// that grows steadily doubles.
const GROWS: f64 = 1.7;
/// A queue shorter than this is none.
const LONG: f64 = 16.0;

/// Schemes whose queue grew throughout the run: its latencies measure the length of the run.
pub(super) fn look(case: &Case<'_>) -> Vec<Finding> {
    let behind: Vec<(&Facts, [f64; 2])> =
        case.runs.iter().filter_map(|its| growing(its).map(|queue| (its, queue))).collect();
    let Some((one, queue)) = behind.first() else { return Vec::new() };
    let names: Vec<&str> = behind.iter().map(|(its, _)| its.scheme.as_str()).collect();
    let about: Vec<&Facts> = behind.iter().map(|(its, _)| *its).collect();
    let text = format!(
        "Requests come faster than {} serves them: under {} {} of them were in the drive on average in the last \
         half of the run, after {} in the quarter before. Latencies then grow with the length of the run.",
        and(&names),
        one.scheme,
        real(queue[1]),
        real(queue[0])
    );
    let numbers = [("before", queue[0]), ("after", queue[1]), ("least_growth", GROWS)];
    vec![
        Finding::new(&about, text)
            .numbers(&numbers)
            .next("a lower rate: --speed 0.5, or --queue-depth 32"),
    ]
}

/// The mean queue of the quarter and of the half, if it grows.
fn growing(run: &Facts) -> Option<[f64; 2]> {
    let [before, after] = run.halves()?.map(|its| its.outstanding);
    (run.open && after >= LONG && after >= GROWS * before).then_some([before, after])
}

#[cfg(test)]
mod tests {
    use super::*;
    use fowler_metrics::Milestone;
    use fowler_units::Span;

    fn run(open: bool, outstanding: [u128; 3]) -> Facts {
        let at = [Span(100), Span(200), Span(400)];
        let milestone = |(at, outstanding)| Milestone { at, outstanding, ..Milestone::default() };
        let milestones = at.into_iter().zip(outstanding).map(milestone).collect();
        Facts { scheme: "a".into(), open, requests: 9, milestones, ..Facts::default() }
    }

    #[test]
    fn a_queue_that_grows_is_told_in_open_loops() {
        for (open, outstanding, says) in [
            (true, [500, 2000, 8000], 1), // 15 in the drive, then 30
            (false, [500, 2000, 8000], 0),
            (true, [1500, 3500, 8000], 0), // 20, then 22.5
            (true, [5, 20, 80], 0),        // short
        ] {
            let runs = [run(open, outstanding)];
            assert_eq!(look(&Case { runs: &runs, spread: None }).len(), says, "{outstanding:?}");
        }
    }
}
