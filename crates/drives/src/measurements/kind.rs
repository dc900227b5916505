//! The protocols that measured files follow.

use serde_json::{Map, Value};

/// Kind of measurement that a file of measurements holds, such as latency under load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Latency of a light probe next to random writes of a rising rate.
    LatencyUnderLoad,
    /// Steady throughput of writes, by address pattern.
    WritePatterns,
    /// Steady write throughput by the drive's state before the first write.
    InitialState,
    /// Write amplification and throughput by the share of the drive that is in use.
    OverProvisioning,
    /// Latency of random reads next to sequential writes of a limited rate.
    Interference,
    /// Throughput and latency of random reads by queue depth and number of jobs.
    ReadsByDepth,
    /// Throughput and latency of random reads and writes over a grid of queue depths and numbers of
    /// jobs.
    DepthGrid,
    /// Peak throughput by the number of threads.
    PeakByThreads,
    /// Peak rates of client drives, in MB/s and IOPS, measured by the Linux kernel's generator of
    /// io.cost coefficients (`iocost_coef_gen.py`).
    ClientPeaks,
    /// Latency of a trace replayed on the drive.
    ReplayedTrace,
}

/// Marks of a kind of measurement: the kind's name, the keys in the object `protocol` and in the
/// rows by which a file of that kind is recognized, and further keys of a row that decide what is
/// simulated.
struct Signs {
    kind: Kind,
    name: &'static str,
    protocol: &'static [&'static str],
    rows: &'static [&'static str],
    more: &'static [&'static str],
}

/// Keys of a measured row that only tell rows apart: they decide nothing of the simulation.
const LABELS: [&str; 3] = ["campaign", "series", "result"];

const ALL: [Signs; 10] = [
    Signs {
        kind: Kind::LatencyUnderLoad,
        name: "latency_under_load",
        protocol: &["probe", "load"],
        rows: &["offered_write_iops"],
        more: &[],
    },
    Signs {
        kind: Kind::WritePatterns,
        name: "write_patterns",
        protocol: &["patterns_4k"],
        rows: &["pattern", "overwritten_x_device"],
        more: &["theta", "zones", "active_zones", "zone_gib", "io_kib"],
    },
    Signs {
        kind: Kind::InitialState,
        name: "initial_state",
        protocol: &["init", "patterns"],
        rows: &["pattern", "overwritten_x_device"],
        more: &["init", "theta", "io_kib"],
    },
    Signs {
        kind: Kind::OverProvisioning,
        name: "overprovisioning",
        protocol: &["device_state"],
        rows: &["used_gib", "overwritten_x_used"],
        more: &[],
    },
    Signs {
        kind: Kind::Interference,
        name: "interference",
        protocol: &["workload"],
        rows: &["write_limit_mb_s", "read_qd"],
        more: &["write_bs", "write_qd", "write_rw", "write_jobs"],
    },
    Signs {
        kind: Kind::ReadsByDepth,
        name: "reads_by_depth",
        protocol: &["workload"],
        rows: &["block_bytes", "jobs", "qd_per_job"],
        more: &["op", "engine"],
    },
    Signs {
        kind: Kind::DepthGrid,
        name: "depth_grid",
        protocol: &["workload"],
        rows: &["op", "jobs", "qd_per_job"],
        more: &["block_bytes", "engine"],
    },
    Signs {
        kind: Kind::PeakByThreads,
        name: "peak_by_threads",
        protocol: &["workload"],
        rows: &["op", "kib", "threads"],
        more: &[],
    },
    Signs {
        kind: Kind::ClientPeaks,
        name: "client_peaks",
        protocol: &["measured", "device_state"],
        rows: &["result", "size_gb"],
        more: &[],
    },
    Signs {
        kind: Kind::ReplayedTrace,
        name: "replayed_trace",
        protocol: &["workload"],
        rows: &["op", "size", "n"],
        more: &[],
    },
];

impl Kind {
    /// Returns the name of a kind of measurement protocol, as used in `protocol.kind` of a file of
    /// measurements.
    pub fn name(self) -> &'static str {
        ALL.iter().find(|signs| signs.kind == self).map_or("", |signs| signs.name)
    }

    /// Returns true if a key of a measured row counts among the conditions of this kind of
    /// measurement: it decides what is simulated, or it tells rows apart.
    pub(crate) fn is_condition(self, key: &str) -> bool {
        let of_kind = ALL.iter().filter(|signs| signs.kind == self);
        let decides =
            of_kind.flat_map(|signs| [signs.rows, signs.more]).any(|it| it.contains(&key));
        decides || LABELS.contains(&key)
    }

    /// Returns the names of all kinds of measurement, such as `latency_under_load`.
    pub fn names() -> impl Iterator<Item = &'static str> {
        ALL.iter().map(|signs| signs.name)
    }

    pub(super) fn by_name(name: &str) -> Option<Kind> {
        ALL.iter().find(|signs| signs.name == name).map(|signs| signs.kind)
    }

    /// Returns the kind of measurement of a file that does not name it: the first kind whose
    /// marking keys all occur in the file's object `protocol` and in `row`, a measured row of the
    /// file.
    pub(super) fn of(protocol: &Map<String, Value>, row: &Map<String, Value>) -> Option<Kind> {
        let has =
            |map: &Map<String, Value>, keys: &[&str]| keys.iter().all(|key| map.contains_key(*key));
        let fits = |signs: &&Signs| has(protocol, signs.protocol) && has(row, signs.rows);
        ALL.iter().find(fits).map(|signs| signs.kind)
    }
}
