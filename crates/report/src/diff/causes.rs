//! The causes of a difference in mean latency: the differences of the causes add up to it.

use super::stored_runs::Stored;
use std::collections::BTreeSet;

/// The difference of two runs in the mean latency of reads or writes, by cause.
#[derive(Clone, Debug, PartialEq)]
pub struct Causes {
    /// Kind of the requests whose latencies are compared between two runs: `read` or `write`.
    pub kind: &'static str,
    /// Mean latency of the requests in microseconds, in the first and in the second run that
    /// `fowler diff` compares.
    pub means_us: [f64; 2],
    /// Mean time per request of each cause of latency, in microseconds, in each of the two runs,
    /// the largest difference first. Causes without a difference are left out.
    pub parts_us: Vec<(String, [f64; 2])>,
}

/// Returns the differences of two runs in mean latency, for the kinds of requests that both have.
pub(super) fn of(runs: [&Stored; 2]) -> Vec<Causes> {
    ["read", "write"].into_iter().filter_map(|kind| of_kind(runs, kind)).collect()
}

fn of_kind(runs: [&Stored; 2], kind: &'static str) -> Option<Causes> {
    let mean =
        |run: &Stored| run.numbers.get(&format!("blame.{kind}.all.mean_latency_us")).copied();
    let means_us = [mean(runs[0])?, mean(runs[1])?];
    let above = format!("blame.{kind}.all.mean_us.");
    let names = runs.iter().flat_map(|run| run.numbers.keys());
    let names: BTreeSet<&str> = names.filter_map(|path| path.strip_prefix(&above)).collect();
    let value = |run: &Stored, name: &str| {
        run.numbers.get(&format!("{above}{name}")).copied().unwrap_or_default()
    };
    let part = |name: &str| (name.to_string(), runs.map(|run| value(run, name)));
    let mut parts_us: Vec<_> =
        names.into_iter().map(part).filter(|(_, values)| values[0] != values[1]).collect();
    let size = |values: &[f64; 2]| (values[1] - values[0]).abs();
    parts_us.sort_by(|(_, one), (_, other)| size(other).total_cmp(&size(one)));
    (means_us[0] != means_us[1]).then_some(Causes { kind, means_us, parts_us })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_causes_add_up_to_the_difference() {
        let run = |parts: &[(&str, f64)]| {
            let mut stored = Stored::default();
            let mean = parts.iter().map(|(_, value)| value).sum();
            stored.numbers.insert("blame.read.all.mean_latency_us".into(), mean);
            for (name, value) in parts {
                stored.numbers.insert(format!("blame.read.all.mean_us.{name}"), *value);
            }
            stored
        };
        let runs = [
            run(&[("sense", 50.0), ("transfer", 20.0)]),
            run(&[("sense", 49.0), ("transfer", 20.0), ("behind_gc_erase", 30.0)]),
        ];
        let [causes] = &of([&runs[0], &runs[1]])[..] else { panic!("reads only") };
        let names: Vec<&str> = causes.parts_us.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["behind_gc_erase", "sense"]);
        let sum: f64 = causes.parts_us.iter().map(|(_, values)| values[1] - values[0]).sum();
        assert_eq!(sum, causes.means_us[1] - causes.means_us[0]);
    }
}
