//! Decides whether the drive had reached steady state.

use super::facts::{Facts, Interval};
use super::finding::{Case, Finding, and};
use fowler_device::waf;
use fowler_experiment::numbers::real;

/// Largest relative change of write amplification from the first to the second of two successive
/// intervals of a run at which the drive counts as steady (assumed).
const DRIFT: f64 = 0.05;
/// Fewest host pages programmed in each of the two successive intervals of a run whose write
/// amplifications are compared to tell if the drive was steady (assumed).
const FEWEST: u64 = 10_000;

/// Finds the runs whose write amplification was still changing at the end, and reports that their
/// drives were not in steady state.
pub(super) fn look(case: &Case<'_>) -> Vec<Finding> {
    let of = |run| drift(run).map(|(parts, waf)| (run, parts, waf));
    let drifting: Vec<(&Facts, [Interval; 2], [f64; 2])> =
        case.runs.iter().filter_map(of).collect();
    let Some((one, parts, [before, after])) = drifting.first() else { return Vec::new() };
    let names: Vec<&str> = drifting.iter().map(|(run, ..)| run.label.as_str()).collect();
    let about: Vec<&Facts> = drifting.iter().map(|(run, ..)| *run).collect();
    let text = format!(
        "The drive was not in steady state {} {}. Write amplification {} was {} from {} to {} s, and {} \
         from then to the end of the run, at {} s.",
        one.axis.preposition(),
        and(&names),
        one.place(),
        real(*before),
        real(parts[0].from_s),
        real(parts[0].until_s),
        real(*after),
        real(parts[1].until_s)
    );
    let numbers = [("before", *before), ("after", *after), ("most_drift", DRIFT)];
    let next = "a longer run, or --set precondition.pattern=steady";
    vec![Finding::new(&about, text).numbers(&numbers).next(next)]
}

/// Returns the two successive intervals of a run whose write amplification is compared, and the
/// write amplification in each; `None` if it changes by at most 5 % or too few pages were
/// programmed.
fn drift(run: &Facts) -> Option<([Interval; 2], [f64; 2])> {
    let parts = run.parts()?;
    let enough = parts.iter().all(|part| part.programs[fowler_device::Source::Host] >= FEWEST);
    let [before, after] = parts.map(|part| waf(&part.programs));
    let (before, after) = before.zip(after)?;
    (enough && (after / before - 1.0).abs() > DRIFT).then_some((parts, [before, after]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fowler_device::{BySource, Source};
    use fowler_metrics::Milestone;
    use fowler_units::Span;

    /// Returns a run with these programs of the host and of GC at its three last milestones.
    fn run(programs: [[u64; 2]; 3]) -> Facts {
        let milestone = |(at, [host, gc]): (u64, [u64; 2])| {
            let mut programs = BySource::<u64>::default();
            (programs[Source::Host], programs[Source::Gc]) = (host, gc);
            Milestone { at: Span(at), programs, ..Milestone::default() }
        };
        let milestones = [100, 200, 400].into_iter().zip(programs).map(milestone).collect();
        Facts { label: "a".into(), requests: 9, milestones, ..Facts::default() }
    }

    #[test]
    fn write_amplification_that_changes_is_told() {
        for (programs, says) in [
            ([[0, 0], [10_000, 10_000], [30_000, 32_500]], 1), // 2, then 2.125
            ([[0, 0], [10_000, 10_000], [30_000, 31_900]], 0), // 2, then 2.095
            ([[0, 0], [9_999, 0], [30_000, 30_000]], 0),       // too few
        ] {
            let runs = [run(programs)];
            assert_eq!(look(&Case { runs: &runs, spread: None }).len(), says, "{programs:?}");
        }
    }
}
