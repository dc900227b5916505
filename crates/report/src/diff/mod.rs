//! The changes from one stored run to another: in the settings, in the results, and in the causes
//! of latency; and whether a difference is larger than chance.
//!
//! The room reads summaries that were written, and runs nothing.

mod causes;
mod json;
mod stored_runs;

pub use causes::Causes;
#[cfg(feature = "pages")]
pub(crate) use stored_runs::is_as_written;

use fowler_experiment::device_spec::Axis;
use fowler_experiment::diagnostic::{Diagnostic, Diagnostics};
use fowler_experiment::summary::layout;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use stored_runs::Stored;

/// Differences between two results of `fowler run` or `fowler compare`.
#[derive(Clone, Debug, PartialEq)]
pub struct Diff {
    /// Pairs of runs that are compared, one from each result: those under the same scheme or on the
    /// same drive, or, if each result has only one run, these two.
    pub pairs: Vec<Pair>,
    /// Schemes or drives that only the first of the two compared results has, and those that only
    /// the second has.
    pub alone: [Vec<String>; 2],
}

/// Pair of runs that `fowler diff` compares: one of the first result, and its counterpart in the
/// second result.
#[derive(Clone, Debug, PartialEq)]
pub struct Pair {
    /// The property in which the runs of the comparison differ: scheme or drive.
    pub axis: Axis,
    /// Labels of the two compared runs: their schemes, or their drives if the results compare
    /// drives.
    pub labels: [String; 2],
    /// Settings that differ between the two runs of the pair that `fowler diff` compares, by
    /// configuration key.
    pub settings: Vec<Setting>,
    /// Metrics that differ between the two runs: first those that tables show, in their order, then
    /// all others.
    pub changes: Vec<Change>,
    /// Causes of the difference in mean latency between the compared runs, which are one from each
    /// result.
    pub same: usize,
    /// Causes of the difference in mean latency between the two runs of the pair that `fowler diff`
    /// compares.
    pub causes: Vec<Causes>,
    /// Basis on which differences between the two runs are separated from the effect of chance (the
    /// seed).
    pub chance: Chance,
}

/// A configuration key whose value differs between two runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Name of the configuration key that differs between two compared runs, such as
    /// `policy.victim`.
    pub key: String,
    /// Value of the configuration key in the first and in the second compared run; `None` in a run
    /// without the key.
    pub values: [Option<String>; 2],
}

/// A metric that differs between two runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// Path, in the summaries of the two compared runs, of the metric that differs, such as
    /// `read.mean_us`.
    pub path: String,
    /// Label of the metric in tables; `None` for metrics that no table shows.
    pub label: Option<String>,
    /// Value of the metric in the first and in the second run that `fowler diff` compares (the mean
    /// over several seeds); `None` if unknown.
    pub values: [Option<f64>; 2],
    /// Half the width of the 95 % confidence interval of the difference in this metric between the
    /// run of the first result and that of the second; `None` if unknown.
    pub half_width: Option<f64>,
}

impl Change {
    /// Returns the growth of the metric from the first run to the second, relative to the first;
    /// `None` if unknown, or if it was 0 before.
    pub fn share(&self) -> Option<f64> {
        let [Some(first), Some(second)] = self.values else { return None };
        (first != 0.0).then(|| (second - first) / first.abs())
    }

    /// Returns true if the metric differs between the two compared runs by more than half the width
    /// of the difference's 95 % confidence interval; `None` if that is not known.
    pub fn is_real(&self) -> Option<bool> {
        let [Some(first), Some(second)] = self.values else { return None };
        self.half_width.map(|half_width| (second - first).abs() > half_width)
    }
}

/// Method by which a comparison of two stored runs separates random differences from real ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chance {
    /// Both compared runs were repeated with several seeds, so that each metric has a confidence
    /// interval.
    Seeds,
    /// The two compared runs differ in nothing but the seed: every difference is chance.
    OnlySeed,
    /// At least one of the compared runs has a single seed: it is not known which differences are
    /// random.
    Unknown,
}

/// Compares the results in two folders, or in two summary files.
///
/// # Errors
/// Everything that is wrong with either, or if they have no scheme or drive in common.
pub fn diff(paths: [&Path; 2]) -> Result<Diff, Diagnostics> {
    let mut diagnostics = Diagnostics::default();
    let runs = paths.map(|path| diagnostics.take(stored_runs::read(path)));
    diagnostics.or(())?;
    let [Some(first), Some(second)] = runs else { return Err(Diagnostics::default()) };
    let found = compared([&first, &second]);
    if found.pairs.is_empty() {
        let what = "the two results to compare have no scheme or drive in common";
        let [first, second] = found.alone.map(|names| names.join(", "));
        let hint = format!(
            "compare results with a scheme or drive in common: the first has runs of {first}; \
             the second has runs of {second}"
        );
        return Err(Diagnostic::new(paths[1].display().to_string(), what).hint(hint).into());
    }
    Ok(found)
}

fn compared([first, second]: [&[Stored]; 2]) -> Diff {
    if let ([one], [other]) = (first, second) {
        return Diff { pairs: vec![pair([one, other])], alone: [Vec::new(), Vec::new()] };
    }
    let find = |runs: &'_ [Stored], one: &Stored| {
        runs.iter().position(|it| (it.axis, &it.label) == (one.axis, &one.label))
    };
    let both = first.iter().filter_map(|one| {
        let at = find(second, one)?;
        Some(pair([one, &second[at]]))
    });
    let only = |these: &[Stored], others: &[Stored]| {
        let alone = these.iter().filter(|it| find(others, it).is_none());
        alone.map(|it| it.label.clone()).collect::<Vec<_>>()
    };
    Diff { pairs: both.collect(), alone: [only(first, second), only(second, first)] }
}

fn pair(runs: [&Stored; 2]) -> Pair {
    let keys: BTreeSet<&String> = runs.iter().flat_map(|run| run.settings.keys()).collect();
    let settings = keys.into_iter().filter_map(|key| {
        let values = runs.map(|run| run.settings.get(key).cloned());
        (values[0] != values[1]).then(|| Setting { key: key.clone(), values })
    });
    let settings: Vec<Setting> = settings.collect();
    // The seed decides what a generator draws, and so the contents; a trace is the same.
    let generated =
        runs.iter().all(|run| run.settings.keys().any(|key| key.starts_with("workload.")));
    let of_seed = |key: &str| key == "seed" || generated && key == "contents of the workload";
    let only_seed =
        settings.iter().any(|it| it.key == "seed") && settings.iter().all(|it| of_seed(&it.key));
    let chance = match () {
        () if runs.iter().all(|run| !run.seeds.is_empty()) => Chance::Seeds,
        () if only_seed => Chance::OnlySeed,
        () => Chance::Unknown,
    };
    let (changes, same) = changes(runs, chance);
    let (axis, labels) = (runs[0].axis, runs.map(|run| run.label.clone()));
    Pair { axis, labels, settings, changes, same, causes: causes::of(runs), chance }
}

/// Returns the metrics whose values differ between the two stored runs that are compared, and the
/// number of metrics that are equal.
fn changes(runs: [&Stored; 2], chance: Chance) -> (Vec<Change>, usize) {
    let labels: Vec<(String, String)> = layout::labels();
    let place: BTreeMap<&str, usize> =
        labels.iter().enumerate().map(|(place, (path, _))| (path.as_str(), place)).collect();
    let paths: BTreeSet<&String> = runs.iter().flat_map(|run| run.numbers.keys()).collect();
    let (mut changes, mut same) = (Vec::new(), 0);
    for path in paths {
        let over_seeds = runs.map(|run| run.seeds.get(path));
        let (values, half_width) = match over_seeds {
            [Some(&(first, one)), Some(&(second, other))] if chance == Chance::Seeds => {
                ([Some(first), Some(second)], Some(libm::hypot(one, other)))
            }
            _ => (runs.map(|run| run.numbers.get(path).copied()), None),
        };
        if values[0] == values[1] {
            same += 1;
            continue;
        }
        let label = place.get(path.as_str()).map(|&place| labels[place].1.clone());
        changes.push(Change { path: path.clone(), label, values, half_width });
    }
    changes.sort_by_key(|it| place.get(it.path.as_str()).copied().unwrap_or(usize::MAX));
    (changes, same)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(scheme: &str, settings: &[(&str, &str)], numbers: &[(&str, f64)]) -> Stored {
        Stored {
            axis: Axis::Schemes,
            label: scheme.into(),
            settings: settings.iter().map(|&(key, value)| (key.into(), value.into())).collect(),
            numbers: numbers.iter().map(|&(path, value)| (path.into(), value)).collect(),
            seeds: BTreeMap::new(),
        }
    }

    #[test]
    fn runs_are_paired_by_scheme_or_if_they_are_the_only_ones() {
        let [a, b, c] = ["a", "b", "c"].map(|name| run(name, &[], &[]));
        let only = compared([std::slice::from_ref(&a), std::slice::from_ref(&b)]);
        assert_eq!(only.pairs[0].labels, ["a", "b"]);
        let several = compared([&[a, b.clone()], &[b, c]]);
        assert_eq!(several.pairs.len(), 1);
        assert_eq!(several.pairs[0].labels, ["b", "b"]);
        assert_eq!(several.alone, [vec!["a".to_string()], vec!["c".into()]]);
    }

    #[test]
    fn what_differs_is_listed_and_the_rest_is_counted() {
        let first = run("a", &[("x", "1"), ("y", "1")], &[("read.mean_us", 100.0), ("waf", 1.0)]);
        let second = run("a", &[("x", "2"), ("z", "3")], &[("read.mean_us", 150.0), ("waf", 1.0)]);
        let differences = pair([&first, &second]);
        let keys: Vec<&str> = differences.settings.iter().map(|it| it.key.as_str()).collect();
        assert_eq!(keys, ["x", "y", "z"]);
        assert_eq!(differences.settings[1].values, [Some("1".into()), None]);
        assert_eq!((differences.changes.len(), differences.same), (1, 1));
        assert_eq!(differences.changes[0].share(), Some(0.5));
        assert_eq!((differences.changes[0].is_real(), differences.chance), (None, Chance::Unknown));
    }

    #[test]
    fn a_difference_is_real_beyond_the_interval_of_the_difference() {
        let seeded = |mean: f64| {
            let mut stored = run("a", &[], &[("waf", mean)]);
            stored.seeds.insert("waf".into(), (mean, 3.0));
            stored
        };
        // The intervals of 3 and 3 make one of 4.24 of the difference.
        for (second, real) in [(14.2, false), (14.3, true), (5.8, false), (5.7, true)] {
            let differences = pair([&seeded(10.0), &seeded(second)]);
            assert_eq!(differences.chance, Chance::Seeds);
            assert_eq!(differences.changes[0].is_real(), Some(real), "{second}");
        }
    }

    #[test]
    fn runs_that_differ_in_their_seed_alone_differ_by_chance() {
        let of = |seed: &str, hash: &str, requests: &str, generator: bool| {
            let mut settings =
                vec![("seed", seed), ("contents of the workload", hash), ("requests", requests)];
            settings.extend(generator.then_some(("workload.requests", "0")));
            run("a", &settings, &[])
        };
        let first = |generator| of("1", "x", "8", generator);
        for (second, generator, chance) in [
            (of("2", "y", "8", true), true, Chance::OnlySeed),
            (of("2", "y", "9", true), true, Chance::Unknown),
            (of("1", "y", "8", true), true, Chance::Unknown),
            (of("2", "y", "8", false), false, Chance::Unknown),
            (of("2", "x", "8", false), false, Chance::OnlySeed),
        ] {
            assert_eq!(pair([&first(generator), &second]).chance, chance, "{second:?}");
        }
    }
}
