//! The published numbers, read from the project's data, and the paper's workloads.

use crate::claim::{self, ClaimId, Statement};
use crate::column::Published;
use crate::paper_data;
use fowler_experiment::device_spec::{DeviceSpec, Source};
use fowler_experiment::diagnostic::Diagnostics;
use fowler_experiment::workload::WorkloadSpec;
use serde::Deserialize;

const TEXT: &str = include_str!("../../../../presets/papers/pes.toml");
const ENSEMBLE: &str = include_str!("../../../../presets/papers/pes-ensemble.toml");

/// The file with the published numbers.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Paper {
    pub title: String,
    /// The share of idle time that traces are compressed to.
    pub idle: f64,
    /// Settings that precondition the drives.
    drive: Vec<String>,
    pub workload: Vec<Published>,
    pub table2: Table2,
    pub queue: Queue,
    pub throughput: Throughput,
    pub fit: Fit,
    pub choice: Vec<Choice>,
    pub claim: Vec<Statement>,
    /// The ensemble of stand-ins, from a file of its own.
    #[serde(skip)]
    pub ensemble: Ensemble,
}

/// Workloads that fit Table 2 as well as each other, for the traces of which nothing else is
/// published.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Ensemble {
    /// Largest distance of a member from Table 2: the root mean square of the four logarithms, as a
    /// factor.
    pub within: f64,
    /// The best of each trace first.
    pub member: Vec<Member>,
}

/// A member of the ensemble.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Member {
    /// The trace whose latencies the member has.
    pub trace: String,
    /// The arrival process: batches, or busy spells.
    pub family: String,
    workload: toml::Table,
}

impl Member {
    /// The workload, as a generator describes it.
    pub fn spec(&self) -> WorkloadSpec {
        let name = format!("{}, {}", self.trace, self.family);
        WorkloadSpec::Generated(Source { name, text: self.workload.to_string() })
    }
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
    /// The requests that a full write queue holds up, in several readings; the first is the
    /// paper's.
    pub way: Vec<Way>,
}

/// A reading of which requests a full write queue holds up.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Way {
    pub name: String,
    /// Settings; `SIZE` stands for the size of the queue.
    set: Vec<String>,
}

impl Way {
    /// The settings for a queue of this size.
    pub fn set(&self, size: u32) -> Vec<String> {
        self.set.iter().map(|it| it.replace("SIZE", &size.to_string())).collect()
    }
}

/// The measurement of write throughput.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Throughput {
    /// Requests outstanding: the drive is never idle.
    pub outstanding: u32,
    /// The largest relative loss that still counts as barely compromised.
    pub barely: f64,
}

/// The real trace that generated workloads are compared with.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Fit {
    /// The beginning of the name of the trace's file.
    pub excerpt: String,
    /// The workloads that are compared with the trace.
    pub stand_ins: Vec<String>,
}

/// An alternative assumption where the paper is silent.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Choice {
    pub name: String,
    pub rule: String,
    pub set: Vec<String>,
    /// True if the alternative is measured on SLC too, besides MLC.
    #[serde(default)]
    both: bool,
}

impl Choice {
    /// The flashes on which the alternative is measured.
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
    /// Reads the paper's data.
    pub fn open() -> Result<Paper, Diagnostics> {
        let mut paper: Paper = paper_data::open("papers/pes", TEXT)?;
        paper.ensemble = paper_data::open("papers/pes-ensemble", ENSEMBLE)?;
        Ok(paper)
    }

    /// Returns the paper's drive with some keys overridden.
    pub fn device(&self, flash: Flash, set: &[String]) -> DeviceSpec {
        paper_data::drive(flash.preset(), &self.drive, set)
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
