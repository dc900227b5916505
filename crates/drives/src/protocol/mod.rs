//! What a row of a measured file asks of a drive: the state before, the streams, how long, and
//! which of the row's numbers follow from the result.
//!
//! **Owns** the translation of each protocol, one file each, and the execution of the jobs that
//! they come down to. **May touch** a drive of its own for each job. **Called** by `score` and
//! `fitting`. See docs/decisions/real_drives.md.
//!
//! - `job.rs`: a job, in terms that no protocol owns. `addresses.rs`: where its requests go.
//! - `scale.rs`: the smaller drive that stands for one of a terabyte.
//! - `rows.rs`: the jobs of many rows. `bench.rs`: runs a job. `tally.rs`: what it records.
//!   `estimate.rs`: numbers and intervals.
//! - `latency.rs`, `patterns.rs`, `initial.rs`, `in_use.rs`, `interference.rs`, `depth.rs`,
//!   `threads.rs`, `clients.rs`: the protocols.

mod addresses;
mod bench;
mod clients;
mod depth;
mod estimate;
mod in_use;
mod initial;
mod interference;
mod job;
mod latency;
mod patterns;
mod rows;
mod scale;
mod tally;
#[cfg(test)]
mod tests;
mod threads;

pub(crate) use bench::images;
pub use bench::{Bench, Findings};
pub use estimate::Estimate;
pub use job::Job;
pub use rows::{Done, Results, Rows};
pub use scale::{Effort, Scaled};

use crate::measured::{Kind, Pick};

/// What is simulated for a row.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The jobs, that of the row itself first, then those that its ratios refer to.
    pub jobs: Vec<Job>,
    /// Reads the row's numbers off their results.
    read: fn(&Pick<'_>, &[&Findings]) -> Vec<Simulated>,
    /// Numbers of the row that are not simulated, by the beginning of their key, and why.
    pub left_out: Vec<(&'static str, &'static str)>,
}

impl Plan {
    /// Returns the numbers of the row, by the results of its jobs in their order.
    pub fn simulated(&self, pick: &Pick<'_>, findings: &[&Findings]) -> Vec<Simulated> {
        (self.read)(pick, findings)
    }
}

/// A simulated number of a row.
#[derive(Clone, Debug, PartialEq)]
pub struct Simulated {
    /// The key of the measured number that it stands for.
    pub metric: String,
    /// The number.
    pub estimate: Estimate,
}

impl Simulated {
    fn new(metric: impl Into<String>, estimate: Estimate) -> Simulated {
        Simulated { metric: metric.into(), estimate }
    }
}

/// Returns what must be simulated for a row.
///
/// # Errors
/// The reason why it cannot be.
pub fn plan(pick: &Pick<'_>) -> Result<Plan, String> {
    match pick.file.kind {
        Kind::LatencyUnderLoad => latency::plan(pick),
        Kind::WritePatterns => patterns::plan(pick),
        Kind::InitialState => initial::plan(pick),
        Kind::OverProvisioning => in_use::plan(pick),
        Kind::Interference => interference::plan(pick),
        Kind::ReadsByDepth | Kind::DepthGrid => depth::plan(pick),
        Kind::PeakByThreads => threads::plan(pick),
        Kind::ClientPeaks => clients::plan(pick),
        Kind::ReplayedTrace => Err("the file does not have the trace that was replayed, only \
            its name and a few sums; `fowler run --trace` replays a trace"
            .into()),
    }
}

/// Returns a number of the row, or says that it is missing.
fn number(pick: &Pick<'_>, key: &str) -> Result<f64, String> {
    let number = pick.row.number(key).filter(|number| number.is_finite());
    number.ok_or_else(|| format!("the row has no number `{key}`"))
}

/// Returns a number of the row that must be above zero and at most `most`.
fn positive(pick: &Pick<'_>, key: &str, most: f64) -> Result<f64, String> {
    let number = number(pick, key)?;
    match number > 0.0 && number <= most {
        true => Ok(number),
        false => Err(format!("`{key}` is {number}; expected above 0, at most {most}")),
    }
}

/// Returns a whole number of the row from 1 to `most`.
fn count(pick: &Pick<'_>, key: &str, most: u32) -> Result<u32, String> {
    pick.row.count(key, most).ok_or_else(|| {
        let value = pick.row.text(key).unwrap_or_else(|| "missing".into());
        format!("`{key}` is {value}; expected a whole number from 1 to {most}")
    })
}

/// Returns the bytes that the measured drive shows to its host.
fn user_bytes(pick: &Pick<'_>) -> Option<f64> {
    let exact = pick.drive.number("user_gib").map(|gib| gib * (1u64 << 30) as f64);
    let nominal = || pick.drive.number("capacity_gb").map(|gb| gb * 1e9);
    exact.or_else(nominal).filter(|bytes| *bytes > 0.0)
}
