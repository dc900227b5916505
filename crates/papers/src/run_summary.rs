//! Numbers in the summary of a finished run, by their names in the list of metrics.

use fowler_experiment::summary;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// A function that reads a number from the summary of a run; `None` if the run does not have it.
pub(crate) type Number = fn(&RunSummary) -> Option<f64>;

/// Reads the mean latency of the host's reads in microseconds from the summary of a run.
pub(crate) const READ: Number = |run| run.get("read.mean_us");
/// Reads the mean latency of the host's writes in microseconds from the summary of a run.
pub(crate) const WRITE: Number = |run| run.get("write.mean_us");

/// All numbers in the summary of one run, by their paths in the list of metrics (such as
/// `read.mean_us`). The summary is parsed once, when the run is finished or found in its folder.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "Map<String, Value>")]
pub(crate) struct RunSummary(BTreeMap<String, f64>);

impl From<Map<String, Value>> for RunSummary {
    fn from(summary: Map<String, Value>) -> RunSummary {
        RunSummary(summary::numbers(&summary))
    }
}

impl RunSummary {
    /// Returns the number at `path` in the list of metrics (such as `read.mean_us`); `None` if the
    /// run does not have it.
    pub fn get(&self, path: &str) -> Option<f64> {
        debug_assert!(summary::is_listed(path), "no metric is called {path}");
        self.0.get(path).copied()
    }

    /// Returns the sum of a run's counter over all of its subdivisions, such as `counters.reads`
    /// over all sources of reads.
    pub fn sum(&self, metric: &str) -> Option<f64> {
        debug_assert!(summary::is_listed(metric), "no metric is called {metric}");
        let below = format!("{metric}.");
        let all = self.0.range(below.clone()..).take_while(|(path, _)| path.starts_with(&below));
        all.map(|(_, number)| *number).reduce(|sum, number| sum + number)
    }

    /// Returns the share (0 to 1) of one entry of a run's metric in the sum over all entries of
    /// that metric, such as the reads by GC in all reads.
    pub fn share(&self, metric: &str, name: &str) -> Option<f64> {
        Some(self.get(&format!("{metric}.{name}"))? / self.sum(metric)?)
    }
}

#[cfg(test)]
impl<const N: usize> From<[(&str, f64); N]> for RunSummary {
    fn from(numbers: [(&str, f64); N]) -> RunSummary {
        RunSummary(numbers.map(|(path, number)| (path.into(), number)).into())
    }
}

#[cfg(test)]
impl RunSummary {
    /// Returns the summary with another number at `path`.
    pub fn with(mut self, path: &str, number: f64) -> RunSummary {
        self.0.insert(path.into(), number);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fowler_experiment::device_spec::{DeviceSpec, Source};
    use fowler_experiment::run::{ReplaySpeed, Run, RunSpec};
    use fowler_experiment::workload::{Control, WorkloadSpec};

    fn summary(device: &str, scheme: &str, set: &[&str]) -> Value {
        let text = "requests = 2000\narrivals = { kind = \"poisson\", rate = 2000.0 }\n\
                    mix.reads = 0.5\n";
        let source = Source { name: "reads and writes".into(), text: text.into() };
        let set = ["geometry.blocks_per_plane=64"].iter().chain(set);
        let set = set.map(|it| (*it).to_string()).collect();
        let device = DeviceSpec { device: device.into(), set, ..DeviceSpec::default() };
        let workload = WorkloadSpec::Generated(source);
        let spec = RunSpec {
            scheme: Some(scheme.into()),
            ..RunSpec::new(device, workload, ReplaySpeed::AsRecorded)
        };
        let outcome = Run::new(&spec, Control::UNWATCHED).outcome();
        outcome.unwrap_or_else(|why| panic!("{why}")).reproducible_json()
    }

    #[test]
    fn every_number_is_where_a_run_has_it() {
        let striped = summary("da-raid5", "da_raid5", &[]);
        let classed = summary("hire", "hire", &["buffer.read_hot=rewrite_on_idle"]);
        let read = |whole: &Value| serde_json::from_value::<RunSummary>(whole.clone()).unwrap();
        for whole in [&striped, &classed] {
            let numbers = read(whole);
            assert!(numbers.0.len() > 100);
            for (path, number) in &numbers.0 {
                let there = whole.pointer(&format!("/{}", path.replace('.', "/")));
                assert_eq!(there.and_then(Value::as_f64), Some(*number), "{path}");
            }
            let programs = &whole["counters"]["programs"];
            let all: f64 = programs.as_object().unwrap().values().filter_map(Value::as_f64).sum();
            assert_eq!(numbers.sum("counters.programs"), Some(all));
        }
        assert!(read(&striped).get("redundancy.stripes").is_some());
        assert!(READ(&read(&striped)).is_some() && WRITE(&read(&striped)).is_some());
        let classed = read(&classed);
        assert!(classed.get("counters.programs_at.nominal").is_some());
        for metric in ["counters.reads_at", "counters.left", "counters.rewritten"] {
            assert!(classed.sum(metric).is_some(), "{metric}");
        }
        assert!(classed.share("counters.left", "read_hot").is_some());
    }

    #[test]
    #[should_panic(expected = "no metric is called read.mean")]
    fn a_name_that_is_not_listed_is_a_bug() {
        RunSummary::default().get("read.mean");
    }
}
