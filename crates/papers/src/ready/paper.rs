//! The published numbers, read from the project's data.

use crate::claim::{self, ClaimId, Statement};
use crate::published;
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
    pub claim: Vec<Statement>,
}

/// A trace: its name in the paper, its stand-in, and the drive that it is on (Table 1).
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Trace {
    pub name: String,
    pub stand_in: String,
    pub device: String,
}

impl Paper {
    /// The paper.
    pub fn open() -> Result<Paper, Diagnostics> {
        published::open("papers/ready", TEXT)
    }

    /// Returns the number that a claim publishes under a label.
    pub fn number(&self, id: ClaimId, label: &str) -> Option<f64> {
        claim::number(&self.claim, id, label)
    }
}
