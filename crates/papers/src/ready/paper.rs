//! The published numbers, read from the project's data.

use crate::claim::{self, ClaimId, Statement};
use crate::paper_data;
use fowler_experiment::diagnostic::Diagnostics;
use serde::Deserialize;

const TEXT: &str = include_str!("../../../../presets/papers/ready.toml");

/// The file with the published numbers.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Paper {
    pub title: String,
    /// Seconds of Figure 14.
    pub close_up: u64,
    pub trace: Vec<Trace>,
    /// Days out of lives on the whole drive.
    pub days: Days,
    /// The loss of the static throttle by how bursty demand is.
    pub duty: Duty,
    /// Lives with a simulated translation layer, next to those without.
    pub simulated: Vec<Simulated>,
    pub claim: Vec<Statement>,
}

/// Days out of lives.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Days {
    /// Ages of the drive in years; a day is simulated at each.
    pub ages: Vec<f64>,
    /// Traces, each with how many hours of it are simulated and the dilation of the lives before.
    pub traces: Vec<(String, u64, u32)>,
}

/// Demand that comes in one part of each cycle.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Duty {
    /// The traces whose mean demand is used.
    pub traces: Vec<String>,
    /// The shares of a cycle in which the host writes.
    pub shares: Vec<f64>,
    /// Seconds of a cycle, and hours of a repetition.
    pub cycle_s: f64,
    pub hours: u64,
}

/// A life with a simulated translation layer.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Simulated {
    pub trace: String,
    pub scheme: String,
    pub dilation: u32,
}

/// A trace: its name in the paper, its stand-in, and the drive that it is on (Table 1).
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Trace {
    pub name: String,
    pub stand_in: String,
    pub device: String,
    /// The highest dilation K of its lives.
    pub most: u32,
}

impl Paper {
    /// Reads the paper's data.
    pub fn open() -> Result<Paper, Diagnostics> {
        paper_data::open("papers/ready", TEXT)
    }

    /// Returns the number that a claim publishes under a label.
    pub fn number(&self, id: ClaimId, label: &str) -> Option<f64> {
        claim::number(&self.claim, id, label)
    }
}
