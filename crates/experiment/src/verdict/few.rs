//! Numbers that stand on too little.

use super::{Case, Facts, Finding};
use crate::numbers::{counted, whole};
use fowler_metrics::{Kind, Percentile};

/// A percentile with fewer requests beyond it scatters by more than 10 % (one over the square root
/// of their number).
const BEYOND: u64 = 100;

/// Percentiles with few requests beyond them, and write amplification of a drive that wrote less
/// than its spare capacity. The requests are the same under every scheme, so the first stands for
/// all.
pub(super) fn look(case: &Case<'_>) -> Vec<Finding> {
    let Some(first) = case.runs.first() else { return Vec::new() };
    let mut findings: Vec<Finding> =
        Kind::ALL.into_iter().filter_map(|kind| percentiles(first, kind)).collect();
    findings.extend(amplification(first));
    findings
}

/// The first percentile that stands on too few requests, if there are requests at all.
fn percentiles(run: &Facts, kind: Kind) -> Option<Finding> {
    let count = run.served[kind].count;
    let rough = |it: &Percentile| count / it.one_in() < BEYOND;
    let from = Percentile::ALL.into_iter().find(rough).filter(|_| count > 0)?;
    let text = format!(
        "Among {}, fewer than {BEYOND} are slower than {}: percentiles from there on are rough.",
        counted(count, kind.name()),
        from.label()
    );
    let numbers = [("count", count as f64), ("least_beyond", BEYOND as f64)];
    Some(Finding::new(&[run], text).numbers(&numbers))
}

fn amplification(run: &Facts) -> Option<Finding> {
    let (host, spare) = (run.host_programs(), run.spare_pages);
    if host == 0 || host >= spare {
        return None;
    }
    let text = format!(
        "Write amplification stands on {}, fewer than the {} pages of spare capacity: garbage collection has not \
         been through the drive once, so this is no steady state.",
        counted(host, "page write"),
        whole(spare)
    );
    let numbers = [("host_pages", host as f64), ("spare_pages", spare as f64)];
    let next = "a longer workload, a smaller drive, or --set precondition.pattern=steady";
    Some(Finding::new(&[run], text).numbers(&numbers).next(next))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::facts::Served;
    use fowler_device::{BySource, Source};

    fn run(count: u64, host: u64) -> Facts {
        let mut programs = BySource::<u64>::default();
        programs[Source::Host] = host;
        let mut facts = Facts { programs, spare_pages: 1000, requests: count, ..Facts::default() };
        facts.served[Kind::Read] = Served { count, ..Served::default() };
        facts
    }

    #[test]
    fn the_first_rough_percentile_is_named() {
        for (count, label) in [
            (0, None),
            (150, Some("p50")),
            (99_999, Some("p99.9")),
            (100_000, Some("p99.99")),
            (10_000_000, None),
        ] {
            let runs = [run(count, 0)];
            let said = look(&Case { runs: &runs, spread: None });
            let named = said.first().map(|it| it.text.clone()).unwrap_or_default();
            assert_eq!(said.len(), usize::from(label.is_some()), "{count}: {named}");
            assert!(label.is_none_or(|it| named.contains(&format!("than {it}:"))), "{named}");
        }
    }

    #[test]
    fn write_amplification_needs_the_spare_capacity_once() {
        for (host, says) in [(0, 0), (999, 1), (1000, 0)] {
            let runs = [run(10_000_000, host)];
            assert_eq!(look(&Case { runs: &runs, spread: None }).len(), says, "{host}");
        }
    }
}
