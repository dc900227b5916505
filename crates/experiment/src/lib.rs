//! From a specification to an outcome: drives and workloads from text, schemes, runs, comparisons.
//!
//! The command line and the bindings go through this crate and print; it prints nothing itself. What is
//! wrong with an input is said all at once, as [`problem::Problems`].

pub mod calibration;
pub mod chip;
pub mod compare;
mod defaults;
pub mod device;
mod document;
mod draft;
mod effect;
pub mod field;
pub mod generator;
pub mod growing;
pub mod keys;
pub mod laws;
pub mod lifetime;
pub mod outcome;
pub mod pace;
pub mod physics;
pub mod presets;
pub mod problem;
pub mod provenance;
pub mod reproduce;
pub mod run;
pub mod scheme;
mod stock;
pub mod trace;
pub mod validate;
mod wearing;
pub mod workload;

/// The words of the floors below that a user of this crate needs.
pub use fowler_device::Pacing;
pub use fowler_device::blame::Part;
pub use fowler_metrics::{Band, BlameBands, Kind, Latencies, Percentile, Recorder};
pub use fowler_units::{HostIo, HostOp};
pub use fowler_workload::{
    DeviceChoice, Format, Profile, ReadOptions, ReadReport, Remap, Sample, TraceInfo,
};
