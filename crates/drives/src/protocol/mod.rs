//! The plan of a measured row: initial state of the drive, streams, length, and the simulated
//! numbers that correspond to the row's.
//!
//! **Owns** the translation of each protocol, one file each, and the execution of the benchmark
//! jobs that it consists of. **May touch** a drive of its own for each job. **Called** by `score`
//! and `fitting`. See docs/decisions/real_drives.md.
//!
//! - `job.rs`: a job, in terms common to all protocols. `addresses.rs`: address patterns of its
//!   requests.
//! - `scale.rs`: the smaller drive that stands for one of a terabyte.
//! - `rows.rs`: the jobs of many rows. `bench.rs`: runs a job. `tally.rs`: what it records.
//!   `estimate.rs`: numbers and intervals.
//! - `plan.rs`: the jobs and numbers of a row. `inputs.rs`: the numbers of the row that define
//!   them.
//! - `latency.rs`, `patterns.rs`, `initial_state.rs`, `overprovisioning.rs`, `interference.rs`,
//!   `depth.rs`, `threads.rs`, `clients.rs`: the protocols.

mod addresses;
mod bench;
mod clients;
mod depth;
mod estimate;
mod initial_state;
mod inputs;
mod interference;
mod job;
mod latency;
mod overprovisioning;
mod patterns;
mod plan;
mod rows;
mod scale;
mod tally;
#[cfg(test)]
mod tests;
mod threads;

pub(crate) use addresses::Addresses;
pub(crate) use bench::images;
pub use bench::{Bench, Findings};
pub use estimate::Estimate;
pub use job::Job;
pub(crate) use job::{KERNEL, Length, Needs, State, StreamPlan};
pub use plan::{Plan, Simulated};
pub use rows::{Done, Results, Rows};
pub use scale::{Effort, Scaled};

use crate::measurements::{Kind, Pick};

/// Returns the jobs that simulate a measured row, by the protocol of its file.
///
/// # Errors
/// The reason why the row cannot be simulated.
pub fn plan(pick: &Pick<'_>) -> Result<Plan, String> {
    match pick.file.kind {
        Kind::LatencyUnderLoad => latency::plan(pick),
        Kind::WritePatterns => patterns::plan(pick),
        Kind::InitialState => initial_state::plan(pick),
        Kind::OverProvisioning => overprovisioning::plan(pick),
        Kind::Interference => interference::plan(pick),
        Kind::ReadsByDepth | Kind::DepthGrid => depth::plan(pick),
        Kind::PeakByThreads => threads::plan(pick),
        Kind::ClientPeaks => clients::plan(pick),
        Kind::ReplayedTrace => Err("the file does not have the trace that was replayed, only \
            its name and a few sums; `fowler run --trace` replays a trace"
            .into()),
    }
}
