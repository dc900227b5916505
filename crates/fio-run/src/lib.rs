//! fio's jobs on a simulated drive: the processes of the host, and fio's outputs.
//!
//! **Owns** the host of fio: its processes, when each issues and collects what, its statistics, its
//! logs and its formats of output. **May touch** nothing of the drive: the host is a
//! [`fowler_device::Feed`] that the drive asks. The crate `fio` decides what a job file means; here
//! a job is a `Plan` and a stream of requests.
//!
//! - `jobs.rs`: from a job file to jobs that are ready to run, through `bind.rs`.
//! - `plan.rs`: what a process does. `process.rs`: its loop on its core. `unit.rs`: a request on
//!   its way. `pace.rs`: rates. `flow.rs`: shares among jobs. `least_rate.rs`,
//!   `latency_target.rs`, `steady_state.rs`: what changes or ends it.
//! - `host.rs`: which process runs when. `simulate.rs`: the drive below, and the sum of it.
//! - `record.rs`, `stats/`, `log.rs`: what is recorded. `results.rs`: the result.
//! - `json.rs`, `normal_output.rs`, `terse_output.rs`: fio's outputs.

mod bind;
mod flow;
mod host;
mod jobs;
mod json;
mod latency_target;
mod least_rate;
mod log;
mod normal_output;
mod pace;
mod plan;
mod process;
mod record;
mod recording;
mod results;
mod simulate;
mod stats;
mod steady_state;
mod terse_output;
#[cfg(test)]
mod tests;
mod unit;

pub use jobs::{FioSpec, Jobs, Seeding, Wanted};
pub use plan::HostCosts;
pub use results::{Fio, Region};
