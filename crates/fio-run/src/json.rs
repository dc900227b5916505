//! fio's JSON, and with buckets `json+`.
//!
//! Keys that have no meaning in simulated time are present and zero: CPU times, context switches
//! and page faults, and every timestamp, so that equal runs give equal bytes.

use super::plan::{Direction, Recorded};
use super::results::{Entry, Fio, criterion};
use super::stats::{BATCHES, BOUNDS, Done, LEVELS, Latency, Stage, Summary};
use fowler_device::Counters;
use fowler_device::blame::Part;
use fowler_experiment::outcome::write_amplification::{EraseUnit, Withheld};
use fowler_experiment::provenance::VERSION;
use fowler_metrics::Kind;
use serde_json::{Map, Value, json};

/// Version of fio that the output imitates.
pub(super) const LIKE: &str = "fio-3.33";

impl Fio {
    /// Returns fio's output as JSON, with buckets if `plus`, and beside it one object `fowler`.
    pub fn json(&self, plus: bool) -> Value {
        let jobs = self.entries.iter().map(|entry| self.job(entry, plus));
        json!({
            "fio version": LIKE,
            "timestamp": 0,
            "timestamp_ms": 0,
            "time": "Thu Jan  1 00:00:00 1970",
            "global options": texts(&self.global),
            "jobs": jobs.collect::<Vec<_>>(),
            "disk_util": [],
            "fowler": self.own(),
        })
    }

    fn job(&self, entry: &Entry, plus: bool) -> Value {
        let stats = &entry.stats;
        let mut job = Map::new();
        let mut put = |name: &str, value: Value| drop(job.insert(name.into(), value));
        put("jobname", entry.name.clone().into());
        put("groupid", entry.group.into());
        put("error", entry.error.into());
        put("eta", 0.into());
        put("elapsed", self.elapsed_s().into());
        put("job options", texts(&entry.options));
        if entry.recorded.unified {
            put("mixed", direction(entry, Direction::Read, plus));
        } else {
            for which in Direction::ALL {
                put(which.name(), direction(entry, which, plus));
            }
            let mut lat = summary(&stats.syncs.summary);
            if stats.syncs.summary.count > 0 {
                percentiles(&mut lat, &stats.syncs, &entry.recorded, plus);
            }
            put("sync", json!({ "total_ios": stats.syncs.summary.count, "lat_ns": lat }));
        }
        put("job_runtime", stats.ran_in_all_ms.into());
        put("usr_cpu", 0.0.into());
        put("sys_cpu", 0.0.into());
        for name in ["ctx", "majf", "minf"] {
            put(name, 0.into());
        }
        let all = stats.requests();
        put("iodepth_level", named(&LEVELS, &stats.depths.levels, all));
        put("iodepth_submit", batches(&stats.depths.submits));
        put("iodepth_complete", batches(&stats.depths.completes));
        let bounds = BOUNDS.map(|bound| bound.to_string());
        let bounds: Vec<&str> = bounds.iter().map(String::as_str).collect();
        put("latency_ns", named(&bounds, &stats.table.ns, all));
        put("latency_us", named(&bounds, &stats.table.us, all));
        let longer: Vec<&str> = bounds.into_iter().chain(["2000", ">=2000"]).collect();
        put("latency_ms", named(&longer, &stats.table.ms, all));
        let target = entry.target.as_ref();
        put("latency_depth", entry.depth.into());
        put("latency_target", target.map_or(0, |it| it.latency.0).into());
        put("latency_percentile", target.map_or(100.0, |it| it.percentile).into());
        put("latency_window", target.map_or(0, |it| it.window.0 / 1_000).into());
        if let Some((steady, found)) = &entry.steady {
            put("steadystate", steadystate(steady, found));
        }
        if let Some((_, text)) = entry.options.iter().find(|(name, _)| name == "description") {
            put("desc", text.clone().into());
        }
        job.into()
    }

    /// Returns the simulated time of the run in whole seconds, rounded up.
    pub(super) fn elapsed_s(&self) -> u64 {
        self.elapsed.0.div_ceil(1_000_000_000)
    }

    /// Returns the reason why the write amplification computed from a drive's `counters` is left
    /// out of the results (such as too few erased blocks); `None` if it is meaningful.
    pub(super) fn withheld(&self, counters: &Counters) -> Option<String> {
        let unit = EraseUnit::of(&self.outcome.drive.layout);
        Withheld::of_counters(counters, unit).map(Withheld::reason)
    }

    /// Returns Fowler's own results, which fio's format has no place for.
    fn own(&self) -> Value {
        let outcome = &self.outcome;
        let group = |(number, counters): (usize, &Option<Counters>)| {
            json!({
                "groupid": number,
                "waf": counters.as_ref().and_then(Counters::waf),
                "waf_withheld": counters.as_ref().and_then(|it| self.withheld(it)),
            })
        };
        let region =
            |it: &super::Region| json!({ "name": it.name, "start": it.start, "length": it.length });
        let blame = Kind::ALL.map(|kind| (kind.name().to_string(), self.blame(kind)));
        json!({
            "version": VERSION,
            "about": "a simulated drive: CPU times, faults and timestamps are zero",
            "device": outcome.drive.device,
            "scheme": outcome.drive.scheme,
            "capacity": outcome.drive.layout.logical.0,
            "precondition": outcome.precondition,
            "seed": outcome.drive.config.seed,
            "config_hash": outcome.drive.hash,
            "job_hash": outcome.workload.hash,
            "complete": outcome.ending == fowler_experiment::outcome::Ending::Complete,
            "simulated_s": outcome.simulated.as_s(),
            "waf": outcome.counters.waf(),
            "waf_withheld": self.withheld(&outcome.counters),
            "erases": outcome.counters.erases.sum(),
            "groups": self.groups.iter().enumerate().map(group).collect::<Vec<_>>(),
            "blame_us": blame.into_iter().collect::<Map<_, _>>(),
            "host": {
                "submission_ns": self.costs.submission.0,
                "completion_ns": self.costs.completion.0,
                "cores": "one for each process",
            },
            "regions": self.regions.iter().map(region).collect::<Vec<_>>(),
            "notes": self.notes,
            "no_effect": self.no_effect,
        })
    }

    /// Returns the mean time of each part of the drive's latency: over all requests, and over the
    /// slowest 1 %.
    fn blame(&self, kind: Kind) -> Value {
        let bands = self.outcome.recorder.blame(kind);
        let of = |share: f64| {
            let band = bands.slowest(share);
            let parts = Part::ALL.into_iter().filter_map(|part| {
                let mean = band.mean_us(part).filter(|&mean| mean > 0.0)?;
                Some((part.name().to_string(), json!(mean)))
            });
            Value::Object(parts.collect())
        };
        json!({ "all": of(1.0), "slowest_1_percent": of(0.01) })
    }
}

fn texts(options: &[(String, String)]) -> Value {
    options.iter().map(|(name, value)| (name.clone(), json!(value))).collect::<Map<_, _>>().into()
}

/// Rounds a value to the number of digits that fio prints.
fn rounded(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

fn share(part: u64, all: u64) -> f64 {
    if all == 0 { 0.0 } else { rounded(100.0 * part as f64 / all as f64) }
}

fn named(names: &[&str], counts: &[u64], all: u64) -> Value {
    let share = |(name, &count): (&&str, &u64)| ((*name).to_string(), json!(share(count, all)));
    names.iter().zip(counts).map(share).collect::<Map<_, _>>().into()
}

/// Returns the share in percent of each class of batch size, the number of requests submitted or of
/// answers collected at once, among all submissions or all collections.
fn batches(counts: &[u64; 7]) -> Value {
    named(&BATCHES, counts, counts.iter().sum())
}

fn summary(of: &Summary) -> Map<String, Value> {
    let fields = [
        ("min", json!(of.min)),
        ("max", json!(of.max)),
        ("mean", json!(rounded(of.mean))),
        ("stddev", json!(rounded(of.deviation()))),
        ("N", json!(of.count)),
    ];
    fields.into_iter().map(|(name, value)| (name.to_string(), value)).collect()
}

fn percentiles(into: &mut Map<String, Value>, of: &Latency, how: &Recorded, plus: bool) {
    let all = of.buckets.percentiles(&how.percentiles);
    let all = all.map(|(share, value)| (format!("{share:.6}"), json!(value)));
    into.insert("percentile".into(), Value::Object(all.collect()));
    if plus {
        let bins = of.buckets.filled().map(|(middle, count)| (middle.to_string(), json!(count)));
        into.insert("bins".into(), Value::Object(bins.collect()));
    }
}

/// Returns the bytes per second and requests per second of a direction, from its run time in whole
/// milliseconds as fio computes them.
pub(super) fn rates(done: &Done, ran_ms: u64) -> (u64, f64) {
    if ran_ms == 0 || done.requests == 0 {
        return (0, 0.0);
    }
    let bytes = u128::from(done.bytes) * 1_000 / u128::from(ran_ms);
    (bytes as u64, 1_000.0 * done.requests as f64 / ran_ms as f64)
}

/// Returns the mean of the bandwidth samples of a direction in percent of its bandwidth over the
/// whole run.
pub(super) fn of_whole(done: &Done, ran_ms: u64) -> f64 {
    let whole = rates(done, ran_ms).0 as f64 / 1024.0;
    if whole > 0.0 && done.bandwidth.count > 0 {
        (100.0 * done.bandwidth.mean / whole).min(100.0)
    } else {
        0.0
    }
}

fn direction(entry: &Entry, which: Direction, plus: bool) -> Value {
    let done = &entry.stats.done[which];
    let ran_ms = if done.requests > 0 { entry.stats.ran_ms() } else { 0 };
    let (bytes_per_s, iops) = rates(done, ran_ms);
    let mut all = Map::new();
    let mut put = |name: &str, value: Value| drop(all.insert(name.into(), value));
    put("io_bytes", done.bytes.into());
    put("io_kbytes", (done.bytes / 1024).into());
    put("bw_bytes", bytes_per_s.into());
    put("bw", (bytes_per_s / 1024).into());
    put("iops", rounded(iops).into());
    put("runtime", ran_ms.into());
    put("total_ios", done.requests.into());
    put("short_ios", 0.into());
    put("drop_ios", 0.into());
    for stage in Stage::ALL {
        let latency = &done.latencies[stage as usize];
        let mut fields = summary(&latency.summary);
        if entry.recorded.of[stage as usize] && latency.summary.count > 0 {
            percentiles(&mut fields, latency, &entry.recorded, plus);
        }
        put(&format!("{}_ns", stage.name()), fields.into());
    }
    for (name, samples) in [("bw", &done.bandwidth), ("iops", &done.iops)] {
        put(&format!("{name}_min"), samples.min.into());
        put(&format!("{name}_max"), samples.max.into());
        if name == "bw" {
            put("bw_agg", rounded(of_whole(done, ran_ms)).into());
        }
        put(&format!("{name}_mean"), rounded(samples.mean).into());
        let deviation = if name == "bw" { "bw_dev" } else { "iops_stddev" };
        put(deviation, rounded(samples.deviation()).into());
        put(&format!("{name}_samples"), samples.count.into());
    }
    all.into()
}

fn steadystate(steady: &super::plan::Steady, found: &super::steady_state::Finding) -> Value {
    let count = found.samples.len().max(1) as u64;
    let of = |pick: fn(&(u64, u64)) -> u64| found.samples.iter().map(pick).collect::<Vec<u64>>();
    let (bandwidth, iops) = (of(|it| it.0), of(|it| it.1));
    let percent = if steady.percent { "%" } else { "" };
    json!({
        "ss": criterion(steady),
        "duration": steady.duration,
        "attained": u8::from(found.attained),
        "criterion": format!("{:.6}{percent}", found.value),
        "max_deviation": rounded(found.deviation),
        "slope": rounded(found.slope),
        "data": {
            "bw_mean": bandwidth.iter().sum::<u64>() / count,
            "iops_mean": iops.iter().sum::<u64>() / count,
            "iops": iops,
            "bw": bandwidth,
        },
    })
}
