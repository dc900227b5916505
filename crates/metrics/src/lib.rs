//! Measurements of a run: latency histograms, blame by latency band, time series, counts by
//! address, and a log of every request.
//!
//! Everything here is a [`fowler_device::Probe`] or part of one: it only observes the simulation.
//! After construction, nothing on the path of a request allocates, hashes or takes a square root;
//! percentiles and shares are computed once, after the run. A value that was never measured is
//! `None`, not zero or NaN.

mod bands;
mod bin;
mod latency;
mod log;
mod milestones;
mod over_time;
mod recorder;
mod regions;

pub use bands::{Band, BlameBands};
pub use latency::{Latencies, Percentile};
pub use log::RequestLog;
pub use milestones::{Milestone, Milestones};
pub use over_time::{OverTime, Served, Window};
pub use recorder::{ByKind, Kind, Recorder};
pub use regions::{Region, Regions};
