//! Numbers that stand on too little.

use super::facts::Facts;
use super::finding::{Case, Finding};
use fowler_experiment::numbers::{counted, whole};
use fowler_metrics::{Kind, Percentile};

/// Fewest requests beyond a percentile of latency. With fewer, their number alone varies by more
/// than 10 % (one over its square root) for independent requests, and more for queued ones.
const BEYOND: u64 = 100;

/// Finds percentiles with few requests beyond them, and write amplification of a drive that wrote
/// less than its spare capacity. All runs have the same requests, so the percentiles of the first
/// stand for all.
pub(super) fn look(case: &Case<'_>) -> Vec<Finding> {
    let Some(first) = case.runs.first() else { return Vec::new() };
    let mut findings: Vec<Finding> =
        Kind::ALL.into_iter().filter_map(|kind| percentiles(first, kind)).collect();
    let known = |run: &&Facts| run.host_programs() > 0 && run.erases > 0 && !run.withheld;
    let least = case.runs.iter().filter(known);
    findings.extend(least.min_by_key(|run| run.host_programs()).and_then(amplification));
    findings
}

/// Reports the first shown percentile of reads or writes that has few requests beyond it.
fn percentiles(run: &Facts, kind: Kind) -> Option<Finding> {
    let served = &run.served[kind];
    let from = served.shown.iter().find(|it| served.count / it.one_in() < BEYOND)?;
    let requests = counted(served.count, kind.name());
    let text = match from {
        Percentile::P50 => format!("Percentiles of {requests} are rough."),
        _ => format!(
            "Of {requests}, fewer than {BEYOND} are slower than {}: read that and higher percentiles as rough.",
            from.label()
        ),
    };
    let numbers = [("count", served.count as f64), ("least_beyond", BEYOND as f64)];
    Some(Finding::new(&[run], text).numbers(&numbers))
}

/// Reports write amplification of a drive that began out of steady state and wrote less than its
/// spare capacity.
fn amplification(run: &Facts) -> Option<Finding> {
    let (host, spare) = (run.host_programs(), run.spare_pages);
    let begins = run.settings.get("precondition.pattern").map(String::as_str);
    let steady = matches!(begins, Some("\"steady\"" | "\"rested\""));
    if host >= spare || steady {
        return None;
    }
    let text = format!(
        "Write amplification {} is measured over {}, too few for steady state: the drive has {} \
         pages of spare capacity.",
        run.place(),
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
        let mut facts = Facts { programs, erases: 1, spare_pages: 1000, ..Facts::default() };
        let shown = Percentile::ALL.into_iter().filter(|it| count >= 10 * it.one_in()).collect();
        facts.served[Kind::Read] = Served { count, shown, ..Served::default() };
        facts
    }

    #[test]
    fn the_first_rough_percentile_is_named() {
        for (count, label) in [
            (0, None),
            (19, None), // none is shown
            (150, Some("are rough")),
            (99_999, Some("than p99.9:")),
            (100_000, Some("than p99.99:")),
            (10_000_000, None),
        ] {
            let runs = [run(count, 0)];
            let said = look(&Case { runs: &runs, spread: None });
            let named = said.first().map(|it| it.text.clone()).unwrap_or_default();
            assert_eq!(said.len(), usize::from(label.is_some()), "{count}: {named}");
            assert!(label.is_none_or(|it| named.contains(it)), "{named}");
        }
    }

    #[test]
    fn write_amplification_needs_the_spare_capacity_once() {
        for (host, says) in [(0, 0), (999, 1), (1000, 0)] {
            let runs = [run(10_000_000, host)];
            assert_eq!(look(&Case { runs: &runs, spread: None }).len(), says, "{host}");
        }
        let mut steady = run(10_000_000, 999);
        steady.settings.insert("precondition.pattern".into(), "\"steady\"".into());
        assert_eq!(look(&Case { runs: &[steady], spread: None }).len(), 0);
    }
}
