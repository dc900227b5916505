//! What a run measures: latency histograms, blame by latency band, the course of a run, a log of
//! every request.
//!
//! Everything here is a [`fowler_device::Probe`] or part of one: it observes and is never asked.
//! After construction nothing on the path of a request allocates, hashes or takes a square root;
//! what needs arithmetic (percentiles, shares) is worked out once, when the run is over. What was
//! never measured is `None`, not zero and not NaN.

mod bands;
mod bin;
mod latency;
mod log;
mod over_time;
mod recorder;

pub use bands::{Band, BlameBands};
pub use latency::{Latencies, Percentile};
pub use log::RequestLog;
pub use over_time::{OverTime, Served, Window};
pub use recorder::{ByKind, Kind, Recorder};
