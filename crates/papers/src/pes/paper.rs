//! The published numbers, read from the project's data, and the paper's workloads.

use crate::claim::{self, ClaimId, Statement};
use crate::column::Published;
use crate::published;
use fowler_experiment::device::DeviceSpec;
use fowler_experiment::diagnostic::Diagnostics;
use serde::Deserialize;

const TEXT: &str = include_str!("../../../../presets/papers/pes.toml");

/// The file with the published numbers.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Paper {
    pub title: String,
    /// The share of idle time that traces are compressed to.
    pub idle: f64,
    /// How the drives are preconditioned.
    drive: Vec<String>,
    pub workload: Vec<Published>,
    pub table2: Table2,
    pub queue: Queue,
    pub fit: Fit,
    pub choice: Vec<Choice>,
    pub claim: Vec<Statement>,
}

/// Mean latencies under FIFO in milliseconds, by workload.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Table2 {
    slc_read: Vec<f64>,
    slc_write: Vec<f64>,
    mlc_read: Vec<f64>,
    mlc_write: Vec<f64>,
}

/// The study of the write queue.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Queue {
    pub workload: String,
    pub faster: f64,
    pub sizes: Vec<u32>,
}

/// The real trace that generated workloads are compared with.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Fit {
    /// How the name of its file begins.
    pub excerpt: String,
    /// The workloads.
    pub stand_ins: Vec<String>,
}

/// An alternative assumption where the paper is silent.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Choice {
    pub name: String,
    pub rule: String,
    pub set: Vec<String>,
    /// Whether it is measured on SLC too, besides MLC.
    #[serde(default)]
    both: bool,
}

impl Choice {
    /// The flashes it is measured on.
    pub fn flashes(&self) -> &'static [Flash] {
        if self.both { &Flash::ALL } else { &[Flash::Mlc] }
    }
}

/// The two kinds of flash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flash {
    Slc,
    Mlc,
}

impl Flash {
    pub const ALL: [Flash; 2] = [Flash::Slc, Flash::Mlc];

    pub fn name(self) -> &'static str {
        ["SLC", "MLC"][self as usize]
    }

    pub fn preset(self) -> &'static str {
        ["pes-slc", "pes-mlc"][self as usize]
    }
}

impl Paper {
    /// The paper.
    pub fn open() -> Result<Paper, Diagnostics> {
        published::open("papers/pes", TEXT)
    }

    /// Returns the paper's drive with some keys overridden.
    pub fn device(&self, flash: Flash, set: &[String]) -> DeviceSpec {
        published::drive(flash.preset(), &self.drive, set)
    }

    /// The latency of Table 2 in milliseconds.
    pub fn table2(&self, flash: Flash, kind: &str, place: usize) -> Option<f64> {
        let table = &self.table2;
        let cells = match (flash, kind) {
            (Flash::Slc, "read") => &table.slc_read,
            (Flash::Slc, _) => &table.slc_write,
            (Flash::Mlc, "read") => &table.mlc_read,
            (Flash::Mlc, _) => &table.mlc_write,
        };
        cells.get(place).copied()
    }

    /// Returns the number that a claim publishes under a label.
    pub fn number(&self, id: ClaimId, label: &str) -> Option<f64> {
        claim::number(&self.claim, id, label)
    }
}
