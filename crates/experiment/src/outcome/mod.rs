//! What a run came to, as values.
//!
//! An [`Outcome`] owns what was recorded, counted and lost, and works out what follows from it:
//! shares and rates here, the laws that every run obeys (`laws`), the wear of programs (`wearing`),
//! the stages of life (`stages`). It reads nothing else and prints nothing: `metrics` says which of
//! its numbers are reported, and how.

pub mod laws;
mod stages;
pub(crate) mod wearing;

use crate::device::Resolved;
use crate::diagnostic::Diagnostics;
use crate::replay_speed::Search;
use crate::workload::{WorkloadReport, share};
use fowler_device::policy::redundancy::{RedundancyKind, Stage};
use fowler_device::policy::step::StepKind;
use fowler_device::reliability::ModelKind;
use fowler_device::{Ack, Counters, LossLedger, Pacing, PowerOffs, Prioritized, Protection};
use fowler_metrics::{Kind, OverTime, Recorder};
use fowler_units::{Nanos, Span};

/// What is said of runs of which [`Outcome::caches_no_data`] holds.
pub const CACHES_NO_DATA: &str = "there is parity in a cache but no data: a write is answered when its data is in the flash \
     (buffer.ack = \"on_program\"); hybrid caching as it is published takes on_insert";

/// A finished run.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The drive.
    pub drive: Resolved,
    /// The state it started in.
    pub precondition: String,
    /// Latencies and blame.
    pub recorder: Recorder,
    /// What the device counted.
    pub counters: Counters,
    /// Erases of blocks, before and during the run.
    pub wear: Wear,
    /// How its data was protected, if it has stripes.
    pub protection: Option<Protection>,
    /// What became of what could not be read, if its pages carry versions.
    pub losses: Option<LossLedger>,
    /// What spans without power came to.
    pub power_offs: PowerOffs,
    /// Simulated time, from the first request's entry on.
    pub simulated: Span,
    /// What the drive's clock shows in the end; what happened before the first request included.
    pub clock: Nanos,
    /// Time the simulation took, in seconds of the machine's clock.
    pub wall_s: f64,
    /// The requests.
    pub workload: WorkloadReport,
    /// How they were issued.
    pub pacing: Pacing,
    /// What the search for a share of idle time came to, where one was wanted.
    pub search: Option<Search>,
    /// How the run ended.
    pub ending: Ending,
    /// What pictures are made of, where [`crate::run::RunSpec::detail`] asked for it.
    pub detail: Option<Box<Detail>>,
}

/// What only pictures show.
#[derive(Clone, Debug)]
pub struct Detail {
    /// The run over time.
    pub over_time: OverTime,
    /// Erases of every block in the end, preconditioning included.
    pub erases: Vec<u32>,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// With the workload.
    Complete,
    /// Early, because the user stopped it.
    Stopped,
    /// Early, because something is wrong with the workload.
    Failed(Diagnostics),
}

/// How erases are spread over the blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Wear {
    /// Of the least worn block.
    pub min: u32,
    /// On average; none without blocks.
    pub mean: Option<f64>,
    /// Of the most worn block.
    pub max: u32,
}

impl Wear {
    /// The spread of these counts.
    pub fn of(erases: &[u32]) -> Wear {
        let total: u64 = erases.iter().map(|&count| u64::from(count)).sum();
        Wear {
            min: erases.iter().copied().min().unwrap_or(0),
            mean: (!erases.is_empty()).then(|| total as f64 / erases.len() as f64),
            max: erases.iter().copied().max().unwrap_or(0),
        }
    }
}

impl Outcome {
    /// Spare capacity as a share of raw.
    pub fn spare_of_raw(&self) -> f64 {
        let layout = &self.drive.layout;
        (layout.raw.0 - layout.logical.0) as f64 / layout.raw.0 as f64
    }

    /// Spare capacity as a share of logical.
    pub fn spare_of_logical(&self) -> f64 {
        let layout = &self.drive.layout;
        (layout.raw.0 - layout.logical.0) as f64 / layout.logical.0 as f64
    }

    /// The share of programs and erases that were suspended; none if there were none.
    pub fn suspended_share(&self) -> Option<f64> {
        let all = self.counters.operations;
        (all > 0).then(|| self.counters.suspended_operations as f64 / all as f64)
    }

    /// How much longer suspended programs and erases took than undisturbed ones; none if there were
    /// none.
    pub fn suspension_overhead(&self) -> Option<f64> {
        share(self.counters.suspended_extra, self.counters.suspended_nominal)
    }

    /// Reference voltages, and the flash page reads that took so many in the end, the hard decision
    /// first; none where no errors are modelled.
    pub fn reads_at(&self) -> Option<Vec<(u32, u64)>> {
        let reliability = &self.drive.config.reliability;
        (reliability.model != ModelKind::Off).then(|| {
            let ldpc = reliability.ldpc();
            let levels = ldpc.levels().iter().zip(self.counters.reads_at);
            levels.map(|(level, reads)| (level.references, reads)).collect()
        })
    }

    /// Whether writes are answered when they are in the flash; otherwise no program is of any one
    /// request.
    pub(crate) fn waits_for_programs(&self) -> bool {
        self.drive.config.buffer.ack == Ack::OnProgram
    }

    /// The share of answered reads or writes that went before one of their kind that had waited
    /// longer; none if there were none, or where writes do not wait for the flash.
    pub fn prioritized_share(&self, kind: Kind) -> Option<f64> {
        if kind == Kind::Write && !self.waits_for_programs() {
            return None;
        }
        let all = self.recorder.latencies(kind).count();
        let Prioritized { reads, writes } = self.counters.prioritized;
        let prioritized = if kind == Kind::Write { writes } else { reads };
        (all > 0).then(|| prioritized as f64 / all as f64)
    }

    /// Whether parity is cached by the rules of hybrid caching and no data is, because a write is
    /// answered when its data is in the flash: `hc`, and `da_raid5` in its third stage.
    pub fn caches_no_data(&self) -> bool {
        let third = || self.protection.as_ref().is_some_and(|it| it.stage == Stage::Third);
        self.waits_for_programs()
            && match self.drive.config.redundancy.name {
                RedundancyKind::HybridCaching => true,
                RedundancyKind::ByStage => third(),
                _ => false,
            }
    }

    /// Whether data is to be programmed as fast as its block allows, and the drive knows no step
    /// but the nominal one: its bit errors come from a table, or from the voltages alone.
    pub fn knows_one_step_only(&self) -> bool {
        let config = &self.drive.config;
        let one = matches!(config.reliability.model, ModelKind::Table | ModelKind::ByVoltage);
        config.step.name != StepKind::Nominal && one
    }

    /// Bytes programmed for any source for each byte the host wrote; none without writes. Unlike
    /// [`Counters::waf`] it counts what a write of part of a page costs.
    pub fn flash_bytes_per_host_byte(&self) -> Option<f64> {
        let written = self.recorder.bytes(Kind::Write);
        let page = self.drive.config.geometry.page_size.0 as f64;
        let programmed = self.counters.programs.sum() as f64 * page;
        (written > 0).then(|| programmed / written as f64)
    }

    /// The share of the simulated time in which no request was in the drive.
    pub fn idle_share(&self) -> Option<f64> {
        share(self.counters.idle, self.simulated)
    }

    /// Requests for each simulated second.
    pub fn iops(&self) -> Option<f64> {
        let simulated_s = self.simulated.as_s();
        (simulated_s > 0.0).then(|| self.recorder.requests() as f64 / simulated_s)
    }

    /// Requests simulated in each second of the machine's clock.
    pub fn requests_per_s(&self) -> Option<f64> {
        (self.wall_s > 0.0).then(|| self.recorder.requests() as f64 / self.wall_s)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wear_of_no_blocks_has_no_mean() {
        assert_eq!(Wear::of(&[]), Wear { min: 0, mean: None, max: 0 });
        assert_eq!(Wear::of(&[1, 2, 6]), Wear { min: 1, mean: Some(3.0), max: 6 });
    }
}
