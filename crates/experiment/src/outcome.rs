//! What a run came to, as values and as JSON.

use crate::device::Resolved;
use crate::problem::Problems;
use crate::provenance::VERSION;
use crate::replay_speed::Search;
use crate::workload::{WorkloadReport, share};
use fowler_device::blame::Part;
use fowler_device::policy::redundancy::{RedundancyKind, Stage};
use fowler_device::policy::step::StepKind;
use fowler_device::reliability::ModelKind;
use fowler_device::{Ack, Counters, LossLedger, OpBase, Pacing, PowerOffs, Protection, Source};
use fowler_metrics::{Band, BlameBands, Kind, Latencies, OverTime, Percentile, Recorder};
use fowler_units::{Nanos, Span};
use serde_json::{Map, Value, json};

/// The bands of the slowest requests that every report blames, with their names in JSON.
pub const BANDS: [(&str, f64); 3] =
    [("all", 1.0), ("slowest_1pct", 0.01), ("slowest_0_1pct", 0.001)];

/// What is said of runs of which [`Outcome::caches_no_data`] holds.
pub const CACHES_NO_DATA: &str = "there is parity in a cache but no data: a write is answered when its data is in the flash \
     (buffer.ack = \"on_program\"); hybrid caching as it is published takes on_insert";

/// A finished run.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The drive.
    pub drive: Resolved,
    /// The state it started in.
    pub precondition: String,
    /// Latencies and blame.
    pub recorder: Recorder,
    /// What the device counted.
    pub counters: Counters,
    /// Erases of blocks, before and during the run.
    pub wear: Wear,
    /// How its data was protected, if it has stripes.
    pub protection: Option<Protection>,
    /// What became of what could not be read, if its pages carry tags.
    pub losses: Option<LossLedger>,
    /// What spans without power came to.
    pub power_offs: PowerOffs,
    /// Simulated time, from the first request's entry on.
    pub simulated: Span,
    /// What the drive's clock shows in the end; what happened before the first request included.
    pub clock: Nanos,
    /// Time the simulation took, in seconds of the machine's clock.
    pub wall_s: f64,
    /// The requests.
    pub workload: WorkloadReport,
    /// How they were issued.
    pub pacing: Pacing,
    /// What the search for a share of idle time came to, where one was wanted.
    pub search: Option<Search>,
    /// How the run ended.
    pub ending: Ending,
    /// What pictures are made of, where [`crate::run::RunSpec::detail`] asked for it.
    pub detail: Option<Box<Detail>>,
}

/// What only pictures show.
#[derive(Clone, Debug)]
pub struct Detail {
    /// The run over time.
    pub over_time: OverTime,
    /// Erases of every block in the end, preconditioning included.
    pub erases: Vec<u32>,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// With the workload.
    Complete,
    /// Early, because the user stopped it.
    Stopped,
    /// Early, because something is wrong with the workload.
    Failed(Problems),
}

/// How erases are spread over the blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Wear {
    /// Of the least worn block.
    pub min: u32,
    /// On average; none without blocks.
    pub mean: Option<f64>,
    /// Of the most worn block.
    pub max: u32,
}

impl Wear {
    /// The spread of these counts.
    pub fn of(erases: &[u32]) -> Wear {
        let total: u64 = erases.iter().map(|&count| u64::from(count)).sum();
        Wear {
            min: erases.iter().copied().min().unwrap_or(0),
            mean: (!erases.is_empty()).then(|| total as f64 / erases.len() as f64),
            max: erases.iter().copied().max().unwrap_or(0),
        }
    }
}

impl Outcome {
    /// Spare capacity as a share of raw.
    pub fn spare_of_raw(&self) -> f64 {
        let layout = &self.drive.layout;
        (layout.raw.0 - layout.logical.0) as f64 / layout.raw.0 as f64
    }

    /// Spare capacity as a share of logical.
    pub fn spare_of_logical(&self) -> f64 {
        let layout = &self.drive.layout;
        (layout.raw.0 - layout.logical.0) as f64 / layout.logical.0 as f64
    }

    /// The share of programs and erases that were suspended; none if there were none.
    pub fn suspended_share(&self) -> Option<f64> {
        let all = self.counters.operations;
        (all > 0).then(|| self.counters.suspended_operations as f64 / all as f64)
    }

    /// How much longer suspended programs and erases took than undisturbed ones; none if there were none.
    pub fn suspension_overhead(&self) -> Option<f64> {
        share(self.counters.suspended_extra, self.counters.suspended_nominal)
    }

    /// Reference voltages, and the flash page reads that took so many in the end, the hard decision first; none
    /// where no errors are modelled.
    pub fn reads_at(&self) -> Option<Vec<(u32, u64)>> {
        let reliability = &self.drive.config.reliability;
        (reliability.model != ModelKind::Off).then(|| {
            let ldpc = reliability.ldpc();
            let levels = ldpc.levels().iter().zip(self.counters.reads_at);
            levels.map(|(level, reads)| (level.references, reads)).collect()
        })
    }

    /// Whether writes are answered when they are in the flash; otherwise no program is of any one request.
    fn waits_for_programs(&self) -> bool {
        self.drive.config.buffer.ack == Ack::OnProgram
    }

    /// The share of answered reads or writes that went before one of their kind that had waited longer; none if
    /// there were none, or where writes do not wait for the flash.
    pub fn prioritised_share(&self, kind: Kind) -> Option<f64> {
        if kind == Kind::Write && !self.waits_for_programs() {
            return None;
        }
        let all = self.recorder.latencies(kind).count();
        let prioritised = self.counters.prioritised[usize::from(kind == Kind::Write)];
        (all > 0).then(|| prioritised as f64 / all as f64)
    }

    /// Whether parity is cached by the rules of hybrid caching and no data is, because a write is answered when its data
    /// is in the flash: `hc`, and `da_raid5` in its third stage.
    pub fn caches_no_data(&self) -> bool {
        let third = || self.protection.as_ref().is_some_and(|it| it.stage == Stage::Third);
        self.waits_for_programs()
            && match self.drive.config.redundancy.name {
                RedundancyKind::HybridCaching => true,
                RedundancyKind::ByStage => third(),
                _ => false,
            }
    }

    /// Whether data is to be programmed as fast as its block allows, and the drive knows no step but the nominal
    /// one: its bit errors come from a table, or from the voltages alone.
    pub fn knows_one_step_only(&self) -> bool {
        let config = &self.drive.config;
        let one = matches!(config.reliability.model, ModelKind::Table | ModelKind::ByVoltage);
        config.step.name != StepKind::Nominal && one
    }

    /// Bytes programmed on any account for each byte the host wrote; none without writes. Unlike
    /// [`Counters::waf`] it counts what a write of part of a page costs.
    pub fn flash_bytes_per_host_byte(&self) -> Option<f64> {
        let written = self.recorder.bytes(Kind::Write);
        let page = self.drive.config.geometry.page_size.0 as f64;
        let programmed = self.counters.programs.iter().sum::<u64>() as f64 * page;
        (written > 0).then(|| programmed / written as f64)
    }

    /// The share of the simulated time in which no request was in the drive.
    pub fn idle_share(&self) -> Option<f64> {
        share(self.counters.idle, self.simulated)
    }

    /// Requests for each simulated second.
    pub fn iops(&self) -> Option<f64> {
        let simulated_s = self.simulated.as_s();
        (simulated_s > 0.0).then(|| self.recorder.requests() as f64 / simulated_s)
    }

    /// Requests simulated in each second of the machine's clock.
    pub fn requests_per_s(&self) -> Option<f64> {
        (self.wall_s > 0.0).then(|| self.recorder.requests() as f64 / self.wall_s)
    }

    /// One object with everything. What is not known is null; there are no infinities.
    pub fn json(&self) -> Value {
        let counters = &self.counters;
        json!({
            "scheme": self.drive.scheme,
            "device": self.drive.device,
            "complete": self.ending == Ending::Complete,
            "interrupted": self.interruption(),
            "requests": self.recorder.requests(),
            "read": self.latencies(Kind::Read),
            "write": self.latencies(Kind::Write),
            "trims": self.recorder.trims(),
            "flushes": self.recorder.flushes(),
            "waf": counters.waf(),
            "wearing_weight": self.wearing_weight(),
            "flash_bytes_per_host_byte": self.flash_bytes_per_host_byte(),
            "erases": counters.erases.iter().sum::<u64>(),
            "suspensions": counters.suspensions,
            "suspended_share": self.suspended_share(),
            "suspension_overhead": self.suspension_overhead(),
            "blame": Kind::ALL
                .map(|kind| (kind.name().to_string(), blame(self.recorder.blame(kind))))
                .into_iter()
                .collect::<Map<_, _>>(),
            "simulated_s": self.simulated.as_s(),
            "idle_share": self.idle_share(),
            "iops": self.iops(),
            "wall_s": self.wall_s,
            "requests_per_s": self.requests_per_s(),
            "redundancy": self.redundancy_json(),
            "power_off": self.power_json(),
            "counters": self.counters_json(),
            "laws": self.laws().json(),
            "drive": self.drive_json(),
            "workload": self.workload_json(),
            "config_hash": self.drive.hash,
            "provenance": {
                "version": VERSION,
                "seed": self.drive.config.seed,
                "config": self.drive.text,
                "workload_hash": self.workload.hash,
                "generator": self.workload.generator,
            },
        })
    }

    /// The same without what depends on the machine's clock: alike on every machine.
    pub fn timeless_json(&self) -> Value {
        let mut json = self.json();
        if let Some(object) = json.as_object_mut() {
            object.retain(|key, _| !["wall_s", "requests_per_s"].contains(&key.as_str()));
        }
        json
    }

    fn interruption(&self) -> Value {
        match &self.ending {
            Ending::Complete => Value::Null,
            Ending::Stopped => json!("stopped by the user"),
            Ending::Failed(problems) => json!(problems.to_string()),
        }
    }

    fn latencies(&self, kind: Kind) -> Value {
        let latencies: &Latencies = self.recorder.latencies(kind);
        let mut object = Map::new();
        object.insert("count".into(), json!(latencies.count()));
        object.insert("mean_us".into(), json!(latencies.mean_us()));
        object.insert("min_us".into(), json!(latencies.min().map(Span::as_us)));
        for percentile in Percentile::ALL {
            let value = latencies.percentile(percentile).map(Span::as_us);
            object.insert(format!("{}_us", percentile.name()), json!(value));
        }
        object.insert("max_us".into(), json!(latencies.max().map(Span::as_us)));
        object.insert("bytes".into(), json!(self.recorder.bytes(kind)));
        Value::Object(object)
    }

    fn counters_json(&self) -> Value {
        let counters = &self.counters;
        json!({
            "pages_read": counters.pages_read,
            "buffer_read_hits": counters.buffer_read_hits,
            "unwritten_reads": counters.unwritten_reads,
            "pages_written": counters.pages_written,
            "buffer_write_hits": counters.buffer_write_hits,
            "pages_trimmed": counters.pages_trimmed,
            "reads": by_source(counters.reads),
            "merge_reads": counters.merge_reads,
            "programs": by_source(counters.programs),
            "programs_at": self.programs_at_json(),
            "left": self.left_json(),
            "rewritten": self.rewritten_json(),
            "reads_at": self.reads_at_json(),
            "retries": counters.retries_at.iter().sum::<u64>(),
            "uncorrectable_reads": counters.uncorrectable,
            "prioritised_reads": counters.prioritised[0],
            "prioritised_writes": self.waits_for_programs().then_some(counters.prioritised[1]),
            "erases": by_source(counters.erases),
            "foreground_collections": counters.collections[0],
            "background_collections": counters.collections[1],
            "operations": counters.operations,
            "suspended_operations": counters.suspended_operations,
            "suspended_nominal_s": counters.suspended_nominal.as_s(),
            "suspended_extra_s": counters.suspended_extra.as_s(),
            "held_s": counters.held[0].as_s(),
            "stopped_s": counters.held[1].as_s(),
            "stops": counters.stops,
            "idle_s": counters.idle.as_s(),
            "outstanding_s": counters.outstanding as f64 / 1e9,
            "channel_busy_s": counters.channel_busy.as_s(),
            "die_busy_s": counters.die_busy.as_s(),
            "block_erases": {
                "min": self.wear.min, "mean": self.wear.mean, "max": self.wear.max,
            },
        })
    }

    /// Flash page reads by the reference voltages that they took in the end; null where no errors are modelled.
    fn reads_at_json(&self) -> Value {
        let Some(reads) = self.reads_at() else { return Value::Null };
        reads
            .into_iter()
            .map(|(references, reads)| (references.to_string(), json!(reads)))
            .collect::<Map<_, _>>()
            .into()
    }

    fn drive_json(&self) -> Value {
        let layout = &self.drive.layout;
        json!({
            "raw_bytes": layout.raw.0,
            "logical_bytes": layout.logical.0,
            "over_provisioning_of_raw": self.spare_of_raw(),
            "over_provisioning_of_logical": self.spare_of_logical(),
            "stated_base": match self.drive.config.over_provisioning_base {
                OpBase::Raw => "raw",
                OpBase::Logical => "logical",
            },
            "precondition": self.precondition,
        })
    }

    fn workload_json(&self) -> Value {
        let report = &self.workload;
        let depth = match self.pacing {
            Pacing::Open => None,
            Pacing::Closed { depth } => Some(depth),
        };
        let mut object = Map::new();
        object.insert("name".into(), json!(report.name));
        object.insert("requests".into(), json!(report.requests));
        object.insert("speed".into(), json!(report.speed));
        object.insert("queue_depth".into(), json!(depth));
        let search = self.search.map(|search| {
            json!({ "target": search.target, "reached": search.reached, "runs": search.runs })
        });
        object.insert("idle_search".into(), json!(search));
        if let Some(read) = &report.read {
            let skipped: Map<String, Value> = read
                .skipped
                .iter()
                .map(|(cause, skipped)| (cause.to_string(), json!(skipped.count)))
                .collect();
            object.insert("format".into(), json!(read.format.name()));
            object.insert("lines".into(), json!(read.lines));
            object.insert("reordered".into(), json!(read.reordered));
            object.insert("other_devices".into(), json!(read.other_devices));
            object.insert("skipped".into(), Value::Object(skipped));
        }
        object.insert("remap".into(), json!(report.remap.map(|remap| remap.name())));
        object.insert("touched_pages".into(), json!(report.touched_pages));
        Value::Object(object)
    }
}

/// The schemes of a comparison, in order.
pub fn comparison_json(outcomes: &[Outcome]) -> Value {
    json!({ "schemes": outcomes.iter().map(Outcome::json).collect::<Vec<_>>() })
}

fn blame(bands: &BlameBands) -> Value {
    BANDS
        .iter()
        .map(|&(name, share)| (name.to_string(), band_json(&bands.slowest(share))))
        .collect::<Map<_, _>>()
        .into()
}

/// A band: how many requests it covers, and the mean time of each part that took any.
fn band_json(band: &Band) -> Value {
    let parts: Map<String, Value> = Part::ALL
        .into_iter()
        .map(|part| (part.name().to_string(), json!(band.mean_us(part))))
        .collect();
    json!({
        "count": band.count,
        "mean_latency_us": band.mean_latency_us(),
        "from_us": (band.count > 0).then(|| band.from.as_us()),
        "mean_us": parts,
    })
}

/// What was done on each account.
pub(crate) fn by_source([host, gc, wear, refresh, parity]: [u64; Source::COUNT]) -> Value {
    json!({ "host": host, "gc": gc, "wear": wear, "refresh": refresh, "parity": parity })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wear_of_no_blocks_has_no_mean() {
        assert_eq!(Wear::of(&[]), Wear { min: 0, mean: None, max: 0 });
        assert_eq!(Wear::of(&[1, 2, 6]), Wear { min: 1, mean: Some(3.0), max: 6 });
    }
}
