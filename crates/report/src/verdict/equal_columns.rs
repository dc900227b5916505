//! Explains why two columns are equal.

use super::facts::Facts;
use super::finding::{Case, Finding, and};
use fowler_experiment::numbers::counted;
use fowler_metrics::Kind;

/// Smallest share of idle time that is given as the reason why two runs are equal (assumed).
const HARDLY_BUSY: f64 = 0.99;
/// Policy settings that change nothing in a run without programs and erases.
const OF_WRITES: [&str; 6] = [
    "policy.suspension",
    "policy.victim",
    "policy.wear",
    "policy.placement",
    "policy.step",
    "policy.voltage",
];

/// Finds, among compared runs, those with the same latencies, programs and erases as an earlier
/// one, and states a reason why the scheme or drive made no difference.
pub(super) fn look(case: &Case<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut seen: Vec<&Facts> = Vec::new();
    for run in case.runs {
        if seen.iter().any(|earlier| same(earlier, run)) {
            continue;
        }
        seen.push(run);
        let twins: Vec<&Facts> = case
            .runs
            .iter()
            .filter(|other| !std::ptr::eq(*other, run) && same(other, run))
            .collect();
        if !twins.is_empty() {
            findings.push(finding(run, &twins));
        }
    }
    findings
}

/// Returns true if the runs `one` and `other` of a comparison have equal results, as far as counts
/// and the sums and maxima of latencies tell.
fn same(one: &Facts, other: &Facts) -> bool {
    let latencies = |run: &Facts| Kind::ALL.map(|it| (run.served[it].sum, run.served[it].max));
    one.requests > 0
        && one.alike(other)
        && latencies(one) == latencies(other)
        && one.programs == other.programs
        && (one.erases, one.lost) == (other.erases, other.lost)
        && one.suspensions == other.suspensions
}

fn finding(run: &Facts, twins: &[&Facts]) -> Finding {
    let names: Vec<&str> = twins.iter().map(|twin| twin.called()).collect();
    let mut about = vec![run];
    about.extend(twins);
    let mut all = vec![run.called()];
    all.extend(&names);
    let says = format!("The latencies, programs and erases of {} are the same: ", and(&all));
    let (why, next) = why(run, twins);
    let finding = Finding::new(&about, says + &why + ".");
    match next {
        Some(next) => finding.next(next),
        None => finding,
    }
}

/// Returns the reason, from the drive's activity, why compared runs have the same latencies,
/// programs and erases, and advice for settings that separate them.
fn why(run: &Facts, twins: &[&Facts]) -> (String, Option<String>) {
    let settings = differing(run, twins);
    if settings.is_empty() {
        return ("they have the same settings".into(), None);
    }
    let only = |keys: &[&str]| settings.iter().all(|it| keys.iter().any(|key| it.starts_with(key)));
    if run.programs.sum() == 0 && run.erases == 0 && only(&OF_WRITES) {
        return match run.served[Kind::Write].count {
            0 => ("nothing was written, so the drive programmed and erased nothing".into(), None),
            writes => {
                let all = counted(writes, "write");
                let why =
                    format!("the write buffer absorbed {all}, so the drive programmed nothing");
                (why, Some("a longer workload, or a smaller buffer.size".into()))
            }
        };
    }
    if only(&["policy.suspension"]) && run.suspensions == 0 {
        return ("nothing was suspended".into(), Some(run.more_load().into()));
    }
    if let Some(idle) = run.idle.filter(|&idle| idle >= HARDLY_BUSY) {
        let share = fowler_experiment::numbers::percent(idle);
        return (
            format!("the drive was idle for {share} of the time"),
            Some(run.more_load().into()),
        );
    }
    let keys: Vec<&str> = settings.iter().map(String::as_str).collect();
    (
        format!(
            "under this workload, none of these results depended on the setting in which the runs \
             differ, {}",
            and(&keys)
        ),
        None,
    )
}

/// Returns the configuration keys whose values differ between `run` and `twins`, runs with equal
/// latencies, programs and erases.
fn differing(run: &Facts, twins: &[&Facts]) -> Vec<String> {
    let mut keys: Vec<String> = Vec::new();
    for twin in twins {
        let all = run.settings.keys().chain(twin.settings.keys());
        keys.extend(all.filter(|key| run.settings.get(*key) != twin.settings.get(*key)).cloned());
    }
    keys.sort();
    keys.dedup();
    keys
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::facts::Served;
    use fowler_device::{BySource, Source};

    fn run(scheme: &str, key: &str) -> Facts {
        let mut programs = BySource::<u64>::default();
        programs[Source::Host] = 5;
        let mut facts = Facts {
            label: scheme.into(),
            requests: 15,
            programs,
            idle: Some(0.5),
            settings: [(key.to_string(), scheme.to_string())].into(),
            ..Facts::default()
        };
        facts.served[Kind::Read] = Served { count: 10, sum: 1000, max: 200, ..Served::default() };
        facts.served[Kind::Write] = Served { count: 5, sum: 5000, max: 1200, ..Served::default() };
        facts
    }

    fn says(runs: &[Facts]) -> String {
        let said = look(&Case { runs, spread: None });
        said.into_iter().map(|it| it.text).collect::<Vec<_>>().join("|")
    }

    #[test]
    fn each_reason_is_told() {
        let order = "policy.die_order";
        for (reason, key, change) in [
            (
                "none of these results depended on the setting in which the runs differ, \
                 policy.die_order",
                order,
                (|_| ()) as fn(&mut Facts),
            ),
            ("nothing was suspended", "policy.suspension", |_| ()),
            ("idle for 99.0 %", order, |facts| facts.idle = Some(0.99)),
            ("the write buffer absorbed 5 writes", "policy.victim", |facts| {
                facts.programs = BySource::default()
            }),
            ("nothing was written, so", "policy.wear", |facts| {
                facts.programs = BySource::default();
                facts.served[Kind::Write] = Served::default();
            }),
            ("they have the same settings", order, |facts| facts.settings.clear()),
        ] {
            let mut runs = [run("a", key), run("b", key)];
            runs.iter_mut().for_each(change);
            let said = says(&runs);
            let head = "The latencies, programs and erases of a and b are the same: ";
            assert!(said.starts_with(head), "{said}");
            assert!(said.contains(reason), "{reason}: {said}");
        }
    }

    #[test]
    fn a_nanosecond_is_a_difference() {
        let mut other = run("b", "policy.die_order");
        other.served[Kind::Read].sum += 1;
        assert_eq!(says(&[run("a", "policy.die_order"), other]), "");
    }

    #[test]
    fn three_of_four_are_named_together() {
        let mut other = run("b", "x");
        other.suspensions = 7;
        let runs = [run("a", "x"), other, run("c", "x"), run("d", "x")];
        assert!(says(&runs).contains("of a, c and d are the same"), "{}", says(&runs));
    }
}
