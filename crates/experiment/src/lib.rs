//! From a specification to an outcome: parses drives and workloads, applies schemes, and makes runs
//! and comparisons.
//!
//! The command line and the bindings use this crate and print its results; it prints nothing
//! itself. It reports all errors of an input at once, as [`diagnostic::Diagnostics`].

pub mod atomic_file;
pub mod cache_folder;
pub mod candidates;
pub mod chip;
pub mod common_speed;
pub mod compare;
pub mod compatibility;
mod config_builder;
pub mod contents;
pub mod device_spec;
pub mod diagnostic;
pub mod disk;
pub mod document;
pub mod fan_out;
mod fault_rates;
pub mod faults;
pub mod field;
pub mod generator;
pub mod image_cache;
pub mod image_store;
pub mod json_schema;
pub mod keys;
pub mod life_estimate;
pub mod memory;
pub mod numbers;
pub mod outcome;
pub mod pipe;
mod power;
pub mod presets;
pub mod progress;
pub mod provenance;
pub mod replay_speed;
pub mod requests;
pub mod run;
pub mod sample;
pub mod scheme;
#[doc(hidden)]
pub mod sealed_file;
pub mod seeds;
pub mod shard;
pub mod summary;
pub mod sweep;
pub mod tables;
pub mod temporary_file;
pub mod text_file;
pub mod timeline;
pub mod trace;
mod trace_spec;
pub mod warnings;
pub mod workload;

/// Custom policies, and the views of the drive's state that they see.
pub mod policies {
    pub use fowler_device::policy::custom::*;
    pub use fowler_device::policy::suspension::{Candidate, Running};
    pub use fowler_device::policy::throttle::{Life, State, Throttled};
    pub use fowler_device::{AccessClass, Device};
    pub use fowler_nand::SuspendAt;
    pub use fowler_units::{BlockId, TxnId};
}

/// Types of the simulated device, such as the blame of a latency, that users of the crate
/// `fowler_experiment` need too.
pub use fowler_device::blame::{Blame, Part};
pub use fowler_device::{Completion, Layer, Pacing, Probe};
pub use fowler_metrics::{Band, BlameBands, Kind, Latencies, Percentile, Recorder};
pub use fowler_units::{Bytes, HostIo, HostOp, Nanos, QuantityError, ReqId, Span};
pub use fowler_workload::{
    CsvColumns, DeviceChoice, Format, Profile, ReadOptions, ReadReport, Remap, Sample, TraceInfo,
};
