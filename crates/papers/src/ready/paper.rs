//! The published numbers of the READY paper, read from its data file.

use crate::claim::{self, ClaimId, Statement};
use crate::column::Published;
use crate::joint::Choosable;
use crate::paper_data;
use fowler_experiment::diagnostic::Diagnostics;
use serde::Deserialize;

const TEXT: &str = include_str!("../../../../presets/papers/ready.toml");

/// The data file of the READY paper.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Paper {
    pub title: String,
    /// Length of the period shown in the READY paper's Figure 14, in seconds.
    pub close_up: u64,
    pub trace: Vec<Trace>,
    /// Real traces whose write demand is counted if the user has them.
    pub real: Vec<Published>,
    /// Throttles that the READY paper suggests and does not measure, and other temperatures, as
    /// settings of the drive.
    pub option: Vec<Choosable>,
    /// Single days, simulated on the whole drive at several ages.
    pub days: Days,
    /// Parameters of the READY study's measurement of how much write capacity the static throttle
    /// (ST) leaves unused if writes come in bursts.
    pub duty: Duty,
    /// Lifetimes of the drive simulated with a full translation layer, each compared with the
    /// lifetime at a constant write amplification.
    pub simulated: Vec<Simulated>,
    pub claim: Vec<Statement>,
}

/// Single days that are simulated on the whole drive, out of the lives of some traces.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Days {
    /// Ages of the drive in years; a day is simulated at each.
    pub ages: Vec<f64>,
    /// Traces, each with the simulated hours of the day, and the number of real repetitions of the
    /// trace that one simulated repetition stands for in the life before the day.
    pub traces: Vec<(String, u64, u32)>,
}

/// A host that writes in one part of each cycle and is idle in the other.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Duty {
    /// Names of the traces that give the write demand of the READY study's bursty workloads: such a
    /// workload writes as much as the trace on average, but only in a share of the time.
    pub traces: Vec<String>,
    /// Shares of a cycle (0 to 1) in which the host writes.
    pub shares: Vec<f64>,
    /// Length of a cycle of writing and idling, in seconds.
    pub cycle_s: f64,
    /// Length of a repetition of the workload in hours.
    pub hours: u64,
}

/// A life simulated with a full translation layer.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Simulated {
    pub trace: String,
    pub scheme: String,
    pub dilation: u32,
}

/// A trace: its name in the READY paper, its stand-in trace, and the drive that it runs on (Table
/// 1).
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Trace {
    pub name: String,
    pub stand_in: String,
    pub device: String,
    /// Highest dilation of the trace's lives: the number of repetitions of the workload for which
    /// one simulated repetition stands.
    pub most: u32,
}

impl Paper {
    /// Reads the data file of the READY paper.
    pub fn open() -> Result<Paper, Diagnostics> {
        paper_data::open("papers/ready", TEXT)
    }

    /// Returns the number with the label `label` that the READY paper prints for the claim with ID
    /// `id`.
    pub fn number(&self, id: ClaimId, label: &str) -> Option<f64> {
        claim::number(&self.claim, id, label)
    }
}
