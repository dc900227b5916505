//! A drive that hardly does anything.

use super::finding::{Case, Finding};
use fowler_experiment::device_spec::Axis;
use fowler_experiment::numbers::percent;

/// Smallest share of idle time at which a finding says that a scheme or another drive could change
/// little (assumed).
const MOSTLY_IDLE: f64 = 0.95;

/// Finds that the drive of the baseline run was idle most of the time.
pub(super) fn look(case: &Case<'_>) -> Vec<Finding> {
    let Some((first, idle)) = case.runs.first().and_then(|it| Some((it, it.idle?))) else {
        return Vec::new();
    };
    if idle < MOSTLY_IDLE || first.requests == 0 {
        return Vec::new();
    }
    let place = first.place();
    let text = format!(
        "{}{} the drive was idle for {} of the time: {} can change only the rest.",
        place[..1].to_uppercase(),
        &place[1..],
        percent(idle),
        match first.axis {
            Axis::Schemes => "a scheme",
            Axis::Devices => "another drive",
        }
    );
    let numbers = [("idle_share", idle), ("least", MOSTLY_IDLE)];
    vec![Finding::new(&[first], text).numbers(&numbers).next(first.more_load())]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::Facts;

    #[test]
    fn it_speaks_from_its_threshold_on() {
        for (idle, says) in [(Some(0.95), 1), (Some(0.949), 0), (None, 0)] {
            let runs = [Facts { idle, requests: 9, ..Facts::default() }];
            assert_eq!(look(&Case { runs: &runs, spread: None }).len(), says, "{idle:?}");
        }
    }
}
