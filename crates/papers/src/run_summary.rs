//! The numbers that studies need from a run's JSON summary, as a type. A summary is parsed once,
//! when the run is finished or found in its folder.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A number of a run; `None` if it has none.
pub(crate) type Number = fn(&RunSummary) -> Option<f64>;

/// Mean read latency in microseconds.
pub(crate) const READ: Number = |run| run.read.mean_us;
/// Mean write latency in microseconds.
pub(crate) const WRITE: Number = |run| run.write.mean_us;

/// A finished run. Counts are `f64` because they are divided.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct RunSummary {
    pub requests: f64,
    pub read: Latencies,
    pub write: Latencies,
    pub waf: Option<f64>,
    pub wearing_weight: Option<f64>,
    pub flash_bytes_per_host_byte: Option<f64>,
    pub erases: f64,
    pub suspensions: f64,
    pub suspended_share: Option<f64>,
    pub suspension_overhead: Option<f64>,
    pub simulated_s: f64,
    pub idle_share: Option<f64>,
    pub iops: Option<f64>,
    /// `None` if nothing is striped.
    pub redundancy: Option<Redundancy>,
    pub counters: Counters,
    pub drive: Drive,
}

/// Latencies of reads or of writes, in microseconds; `None` if there are too few requests.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Latencies {
    pub count: f64,
    pub mean_us: Option<f64>,
    pub p50_us: Option<f64>,
    pub p99_us: Option<f64>,
    pub p999_us: Option<f64>,
    pub max_us: Option<f64>,
    pub bytes: f64,
}

/// How data was protected.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Redundancy {
    pub stripes: f64,
    /// The stage of life, from 1.
    pub stage: u8,
    pub worn_stripes: f64,
    pub refreshed_at_hard_limit: f64,
    pub refreshed_in_idle_time: f64,
}

/// The drive's counters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Counters {
    pub pages_read: f64,
    pub buffer_read_hits: f64,
    pub pages_written: f64,
    pub buffer_write_hits: f64,
    pub reads: BySource,
    pub programs: BySource,
    /// `None` if voltages are not distinguished.
    pub programs_at: Option<ByVoltage>,
    /// `None` if access classes are not distinguished.
    pub left: Option<ByClass>,
    /// `None` if no page is reprogrammed.
    pub rewritten: Option<Rewritten>,
    /// Page reads by the number of reference voltages; `None` if errors are not modeled.
    pub reads_at: Option<BTreeMap<u32, f64>>,
    pub retries: f64,
    pub uncorrectable_reads: f64,
    pub prioritized_reads: f64,
    /// `None` if writes do not wait for the flash.
    pub prioritized_writes: Option<f64>,
    pub foreground_gc: f64,
    pub background_gc: f64,
    pub operations: f64,
    pub die_busy_s: f64,
}

/// Flash operations by their cause.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct BySource {
    pub host: f64,
    pub gc: f64,
    pub wear: f64,
    pub refresh: f64,
    pub parity: f64,
}

impl BySource {
    /// Returns the total over all causes.
    pub fn sum(&self) -> f64 {
        [self.host, self.gc, self.wear, self.refresh, self.parity].iter().sum()
    }
}

/// Programs by threshold voltage.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct ByVoltage {
    pub boosted: u64,
    pub nominal: u64,
    pub reduced: u64,
}

/// Pages evicted from the buffer, by their access class there.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct ByClass {
    pub mixed: f64,
    pub read_hot: f64,
    pub write_hot: f64,
}

impl ByClass {
    /// Returns the total over all classes.
    pub fn sum(&self) -> f64 {
        self.mixed + self.read_hot + self.write_hot
    }
}

/// Clean pages that were read hot.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Rewritten {
    pub anew: f64,
    pub given_up: f64,
}

/// The capacities of the drive.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Drive {
    pub logical_bytes: f64,
    pub over_provisioning_of_raw: f64,
    pub over_provisioning_of_logical: f64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use fowler_experiment::device::{DeviceSpec, Source};
    use fowler_experiment::run::{ReplaySpeed, Run, RunSpec};
    use fowler_experiment::workload::{Control, WorkloadSpec};
    use serde_json::Value;
    use std::sync::atomic::AtomicBool;

    fn summary(device: &str, scheme: &str, set: &[&str]) -> Value {
        let text = "requests = 2000\narrivals = { kind = \"poisson\", rate = 2000.0 }\n\
                    mix.reads = 0.5\n";
        let source = Source { name: "reads and writes".into(), text: text.into() };
        let set = ["geometry.blocks_per_plane=64"].iter().chain(set);
        let spec = RunSpec {
            device: DeviceSpec {
                device: device.into(),
                set: set.map(|it| (*it).to_string()).collect(),
                ..DeviceSpec::default()
            },
            scheme: Some(scheme.into()),
            workload: WorkloadSpec::Generated(source),
            replay_speed: ReplaySpeed::AsRecorded,
            limit: None,
            requests: None,
            faults: Vec::new(),
            detail: false,
        };
        let control = Control { stop: &AtomicBool::new(false), progress: &|_| () };
        let outcome = Run::new(&spec, control).outcome();
        outcome.unwrap_or_else(|why| panic!("{why}")).reproducible_json()
    }

    /// Every value of `part` is in `whole`, under the same keys.
    fn is_part(part: &Value, whole: &Value, path: &str) {
        match part {
            Value::Object(fields) => {
                for (key, value) in fields {
                    let path = format!("{path}/{key}");
                    is_part(value, whole.get(key).unwrap_or_else(|| panic!("no {path}")), &path);
                }
            }
            Value::Number(_) => assert_eq!(part.as_f64(), whole.as_f64(), "{path}"),
            _ => assert_eq!(part, whole, "{path}"),
        }
    }

    /// An optional number that is missing in the summary would silently become `None`.
    #[test]
    fn every_number_is_where_a_run_has_it() {
        let striped = summary("da-raid5", "da_raid5", &[]);
        let classed = summary("hire", "hire", &["buffer.read_hot=rewrite_on_idle"]);
        for whole in [&striped, &classed] {
            let typed: RunSummary = serde_json::from_value(whole.clone()).unwrap();
            is_part(&serde_json::to_value(&typed).unwrap(), whole, "");
        }
        let typed: RunSummary = serde_json::from_value(striped).unwrap();
        assert!(typed.redundancy.is_some() && typed.read.mean_us.is_some());
        let counters = serde_json::from_value::<RunSummary>(classed).unwrap().counters;
        assert!(counters.programs_at.is_some() && counters.reads_at.is_some());
        assert!(counters.left.is_some() && counters.rewritten.is_some());
    }
}
