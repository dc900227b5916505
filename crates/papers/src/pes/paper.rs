//! The published numbers of the P/E suspension paper, read from its data file, and the paper's
//! workloads.

use crate::claim::{self, ClaimId, Statement};
use crate::column::Published;
use crate::paper_data;
use fowler_experiment::device_spec::{DeviceSpec, Source};
use fowler_experiment::diagnostic::Diagnostics;
use fowler_experiment::workload::WorkloadSpec;
use serde::Deserialize;

const TEXT: &str = include_str!("../../../../presets/papers/pes.toml");
const ENSEMBLE: &str = include_str!("../../../../presets/papers/pes-ensemble.toml");

/// The data file of the P/E suspension paper.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Paper {
    pub title: String,
    /// Share of time (0 to 1) for which the drives of the P/E suspension study are idle; the
    /// arrival times of each trace are compressed until the drives reach it.
    pub idle: f64,
    /// Settings that precondition the drives of the P/E suspension study.
    drive: Vec<String>,
    pub workload: Vec<Published>,
    pub table2: Table2,
    pub queue: Queue,
    pub throughput: Throughput,
    pub fit: Fit,
    pub choice: Vec<Choice>,
    pub claim: Vec<Statement>,
    /// Generated workloads that fit the published latencies of each trace, read from a file of
    /// their own.
    #[serde(skip)]
    pub ensemble: Ensemble,
}

/// Generated workloads that fit the latencies in the P/E suspension paper's Table 2 equally well.
/// They stand in for traces about which nothing else is published.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Ensemble {
    /// Largest distance from the P/E suspension paper's Table 2 at which a generated workload
    /// counts: the root mean square of the logarithms of its four latency ratios, as a factor.
    pub within: f64,
    /// Generated workloads that fit the latencies in the P/E suspension paper's Table 2, grouped by
    /// trace, each trace's best fit first.
    pub member: Vec<Member>,
}

/// A generated workload that fits the four latencies published for one trace.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Member {
    /// Name of the trace whose published latencies the generated workload has.
    pub trace: String,
    /// Kind of arrival process of this generated workload, which imitates a trace of the P/E
    /// suspension paper: batches, or busy spells.
    pub family: String,
    workload: toml::Table,
}

impl Member {
    /// Returns the specification of this workload, which was generated to imitate a trace of the
    /// P/E suspension paper.
    pub fn spec(&self) -> WorkloadSpec {
        let name = format!("{}, {}", self.trace, self.family);
        WorkloadSpec::Generated(Source { name, text: self.workload.to_string() })
    }
}

/// Mean latencies under FIFO in milliseconds, one for each workload, as in the P/E suspension
/// paper's Table 2.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Table2 {
    slc_read: Vec<f64>,
    slc_write: Vec<f64>,
    mlc_read: Vec<f64>,
    mlc_write: Vec<f64>,
}

/// Study of the write queue: the sizes swept, and the interpretations of the rule by which a full
/// queue delays requests.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Queue {
    pub workload: String,
    pub faster: f64,
    pub sizes: Vec<u32>,
    /// Interpretations of which requests a full write queue delays; the first is the P/E suspension
    /// paper's.
    pub way: Vec<Way>,
}

/// An interpretation of which requests a full write queue delays.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Way {
    pub name: String,
    /// Settings of the drive under one interpretation of which requests a full write queue delays;
    /// `SIZE` stands for the size of the queue.
    set: Vec<String>,
}

impl Way {
    /// Returns the drive's settings for a write queue of this size, in requests.
    pub fn set(&self, size: u32) -> Vec<String> {
        self.set.iter().map(|it| it.replace("SIZE", &size.to_string())).collect()
    }
}

/// Parameters with which the P/E suspension study measures write throughput in a closed loop (a new
/// request when one completes).
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Throughput {
    /// Number of requests outstanding in the P/E suspension study's test of write throughput, large
    /// enough that the drive is never idle.
    pub outstanding: u32,
    /// Largest relative loss of write throughput against FIFO that counts as "barely compromised",
    /// words of the P/E suspension paper.
    pub barely: f64,
}

/// Comparison of generated workloads of the P/E suspension study with an excerpt of a real trace,
/// Financial1: names of the excerpt and of the workloads.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Fit {
    /// Beginning of the name of the file with the excerpt of a real trace, Financial1.
    pub excerpt: String,
    /// Names of the generated workloads that are compared with the excerpt of Financial1.
    pub stand_ins: Vec<String>,
}

/// An alternative assumption about something that the P/E suspension paper does not state.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Choice {
    pub name: String,
    pub rule: String,
    pub set: Vec<String>,
    /// True if an assumption about what the P/E suspension paper does not state is tried on SLC and
    /// MLC; false for MLC alone.
    #[serde(default)]
    both: bool,
}

impl Choice {
    /// Returns the kinds of flash on which an assumption about what the P/E suspension paper does
    /// not state is tried.
    pub fn flashes(&self) -> &'static [Flash] {
        if self.both { &Flash::ALL } else { &[Flash::Mlc] }
    }
}

/// The two kinds of flash in the P/E suspension paper.
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
    /// Reads the data files of the P/E suspension paper.
    pub fn open() -> Result<Paper, Diagnostics> {
        let mut paper: Paper = paper_data::open("papers/pes", TEXT)?;
        paper.ensemble = paper_data::open("papers/pes-ensemble", ENSEMBLE)?;
        Ok(paper)
    }

    /// Returns the P/E suspension paper's drive with a kind of flash and the settings `set`.
    pub fn device(&self, flash: Flash, set: &[String]) -> DeviceSpec {
        paper_data::drive(flash.preset(), &self.drive, set)
    }

    /// Returns a mean latency under FIFO from the P/E suspension paper's Table 2 in milliseconds,
    /// for a kind of request (read or write) and the index of a workload.
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

    /// Returns the number with the label `label` that the P/E suspension paper prints for the claim
    /// with ID `id`.
    pub fn number(&self, id: ClaimId, label: &str) -> Option<f64> {
        claim::number(&self.claim, id, label)
    }
}
