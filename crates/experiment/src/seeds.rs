//! Repeats a comparison with several seeds: shows the variation over seeds beside the differences
//! between schemes or drives.
//!
//! Seed `n + 1` draws other arrivals, addresses and strengths than seed `n`. The first seed is that
//! of the drive, and its runs are shown; of the other seeds only the numbers are saved.

use crate::candidates::Candidates;
use crate::compare::{compare, compare_watched};
use crate::device_spec::Axis;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::json_schema::output::{self, Fact, list_of, map_of, written};
use crate::outcome::{Ending, Outcome};
use crate::progress::Progress;
use crate::run::{RunSpec, Watcher};
use crate::sample::{Interval, interval};
use crate::summary::{Metric, Stored, all};
use crate::workload::Control;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

/// The most seeds under which a comparison may be repeated.
pub const MOST: u32 = 100;

/// Metrics of a comparison that was repeated under several seeds.
#[derive(Clone, Debug, PartialEq)]
pub struct Spread {
    /// For each scheme, the values of each metric, by its path, in the order of the seeds.
    values: Vec<BTreeMap<String, Vec<f64>>>,
}

impl Spread {
    /// Returns the metrics of a comparison under several seeds, given for each scheme the values of
    /// each metric.
    pub fn of_values(values: Vec<BTreeMap<String, Vec<f64>>>) -> Spread {
        Spread { values }
    }

    /// Returns for each scheme the values of each metric, by its path, in the order of the seeds.
    pub fn values(&self) -> &[BTreeMap<String, Vec<f64>>] {
        &self.values
    }

    /// Returns the number of seeds under which the comparison was run.
    pub fn seeds(&self) -> usize {
        self.values.iter().flat_map(BTreeMap::values).map(Vec::len).max().unwrap_or(0)
    }

    /// Returns the mean of the metric `path` over the seeds, for the scheme with this index; `None`
    /// if the metric is not known under each of them.
    pub fn of(&self, scheme: usize, path: &str) -> Option<Interval> {
        interval(self.known(scheme, path)?)
    }

    /// Returns the ratio of a scheme's metric to that of the first scheme, computed seed by seed,
    /// so that variation common to both cancels.
    pub fn ratio(&self, scheme: usize, path: &str) -> Option<Interval> {
        self.ratio_to(0, scheme, path)
    }

    /// Returns the ratio of a scheme's metric to that of the scheme with index `base`, computed as
    /// by [`Spread::ratio`].
    pub fn ratio_to(&self, base: usize, scheme: usize, path: &str) -> Option<Interval> {
        let pairs = self.known(scheme, path)?.iter().zip(self.known(base, path)?);
        let ratios: Option<Vec<f64>> =
            pairs.map(|(value, first)| (*first > 0.0).then(|| value / first)).collect();
        interval(&ratios?)
    }

    /// Returns true if the seed has no influence on any metric, as with a trace on a drive without
    /// random choices.
    pub fn is_nothing(&self) -> bool {
        let same = |values: &Vec<f64>| values.windows(2).all(|two| two[0] == two[1]);
        self.values.iter().flat_map(BTreeMap::values).all(same)
    }

    fn known(&self, scheme: usize, path: &str) -> Option<&[f64]> {
        let values = self.values.get(scheme)?.get(path)?;
        (values.len() == self.seeds()).then_some(values.as_slice())
    }

    /// Adds the metrics under one more seed: those that are numbers and do not depend on wall-clock
    /// time.
    fn add<'a>(&mut self, outcomes: impl Iterator<Item = &'a Outcome>) {
        for (values, outcome) in self.values.iter_mut().zip(outcomes) {
            // The seed itself is not a result.
            let is_result =
                |it: &&Metric| it.stored == Stored::Everywhere && it.name != "provenance.seed";
            for metric in all().iter().filter(is_result) {
                if let Some(value) = metric.value(outcome).as_f64() {
                    values.entry(metric.name.clone()).or_default().push(value);
                }
            }
        }
    }

    /// Returns the spread over the seeds as JSON: for each scheme or drive, the mean and half the
    /// width of the 95 % interval of each metric.
    pub fn json(&self, axis: Axis) -> Value {
        written(&facts(axis), self)
    }

    /// Returns the JSON Schema of the metrics' means and 95 % intervals over the seeds of a
    /// comparison.
    pub fn schema(axis: Axis) -> Value {
        output::schema(&facts(axis))
    }

    fn intervals(&self, scheme: usize) -> Value {
        let facts = of_interval();
        let one = |path: &String| Some((path.clone(), written(&facts, &self.of(scheme, path)?)));
        self.values[scheme].keys().filter_map(one).collect::<Map<_, _>>().into()
    }
}

fn facts(axis: Axis) -> [Fact<Spread>; 2] {
    let runs =
        |it: &Spread| (0..it.values.len()).map(|place| it.intervals(place)).collect::<Vec<_>>();
    [
        Fact::new("count", "", Spread::seeds).like(json!({ "type": "integer", "minimum": 2 })),
        Fact::new(axis.key(), "", runs).like(list_of(map_of(output::schema(&of_interval())))),
    ]
}

fn of_interval() -> [Fact<Interval>; 2] {
    [
        Fact::new("mean", "", |it: &Interval| it.mean),
        Fact::new("half_width", "", |it: &Interval| it.half_width),
    ]
}

/// Results of a comparison under several seeds: for the first seed, the outcome of each candidate
/// with its probe (observer of the run); then the metrics under all seeds, `None` for a single
/// seed.
pub type Compared<P> = (Vec<(Outcome, P)>, Option<Spread>);

/// Compares `candidates` under `seeds` seeds. Returns the outcomes of the first, and the spread
/// over those that were run to their end, if there are at least two.
///
/// # Errors
/// As [`compare()`]; if there is no such seed.
pub fn compare_over(
    spec: &RunSpec,
    candidates: &Candidates,
    seeds: u32,
    control: Control<'_>,
) -> Result<(Vec<Outcome>, Option<Spread>), Diagnostics> {
    let (outcomes, spread) = compare_over_watched(spec, candidates, seeds, control, |_| ())?;
    Ok((outcomes.into_iter().map(|(outcome, ())| outcome).collect(), spread))
}

/// Compares candidates under several seeds like [`compare_over`]. Each candidate has an additional
/// probe under the first seed, an observer of its run that `watcher` creates from its label.
///
/// # Errors
/// As [`compare_over`].
pub fn compare_over_watched<P: Watcher + Send>(
    spec: &RunSpec,
    candidates: &Candidates,
    seeds: u32,
    control: Control<'_>,
    watcher: impl Fn(&str) -> P + Sync,
) -> Result<Compared<P>, Diagnostics> {
    let planned = AtomicBool::new(false);
    let progress = |step: Progress| match step {
        Progress::Planned(_) if planned.swap(true, Ordering::Relaxed) => {}
        Progress::Planned(runs) => (control.progress)(Progress::Planned(runs * u64::from(seeds))),
        other => (control.progress)(other),
    };
    let control = Control { progress: &progress, ..control };
    let further = further(candidates, seeds)?;
    let outcomes = compare_watched(spec, candidates, control, watcher)?;
    let whole = |outcome: &Outcome| outcome.ending == Ending::Complete;
    let mut spread = Spread { values: vec![BTreeMap::new(); outcomes.len()] };
    spread.add(outcomes.iter().map(|(outcome, _)| outcome));
    for seed in further {
        if !outcomes.iter().all(|(outcome, _)| whole(outcome)) || control.stopped() {
            break;
        }
        // Runs of the further seeds write no files.
        let spec = RunSpec { requests: None, detail: false, ..spec.clone() };
        match compare(&spec, &candidates.with_seed(seed), control) {
            Ok(more) if more.len() == outcomes.len() && more.iter().all(whole) => {
                spread.add(more.iter());
            }
            // The first unfinished seed ends the list; earlier ones count.
            Ok(_) => break,
            Err(_) if control.stopped() => break,
            Err(diagnostics) => return Err(diagnostics),
        }
    }
    let spread = (spread.seeds() > 1).then_some(spread);
    Ok((outcomes, spread))
}

/// Returns the random seeds of a comparison after the first one, which is that of the drive.
fn further(candidates: &Candidates, seeds: u32) -> Result<Range<u64>, Diagnostics> {
    if seeds < 2 {
        return Ok(0..0);
    }
    let seed = candidates.seed()?;
    let last = seed.checked_add(u64::from(seeds)).ok_or_else(|| {
        let what =
            format!("{seeds} seeds starting at {seed} would exceed the largest seed, 2^64 - 1");
        Diagnostics::from(Diagnostic::new("--seeds", what).hint("use a smaller --seed".to_string()))
    })?;
    Ok(seed + 1..last)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ratios over seeds are equal here although the seeds differ widely.
    #[test]
    fn ratios_are_paired() {
        let of = |values: [f64; 3]| BTreeMap::from([("x".to_string(), values.to_vec())]);
        let spread = Spread::of_values(vec![of([10.0, 20.0, 40.0]), of([5.0, 10.0, 20.0])]);
        assert_eq!(spread.seeds(), 3);
        assert_eq!(spread.ratio(1, "x"), Some(Interval { mean: 0.5, half_width: 0.0 }));
        assert!(spread.of(1, "x").unwrap().half_width > 10.0);
        assert_eq!(spread.ratio(1, "y"), None);
        assert!(!spread.is_nothing());
        assert!(Spread::of_values(vec![of([1.0; 3])]).is_nothing());
    }
}
