//! The outcome of a run.
//!
//! An [`Outcome`] owns what was recorded, counted and lost, and derives everything else from it:
//! shares and rates here, the laws that every run obeys (`laws`), the wear of programs (`wearing`),
//! and the stages of life (`stages`). It reads nothing else and prints nothing: `metrics` lists
//! which of its numbers are reported, and how.

mod fates;
pub mod laws;
pub mod program_wear;
mod stages;
pub mod streams;
pub mod write_amplification;

pub use fates::{Effect, Fate};

use crate::device_spec::Resolved;
use crate::diagnostic::Diagnostics;
use crate::replay_speed::Search;
use crate::workload::{WorkloadReport, share};
use fowler_device::policy::redundancy::{RedundancyKind, Stage};
use fowler_device::policy::step::StepKind;
use fowler_device::reliability::{Cells, Ladder, ModelKind};
use fowler_device::{
    Ack, BadBlockCounts, Census, Counters, FailedDieCounts, LossLedger, Pacing, PowerOffs,
    Prioritized, Protection, ScrubProgress, Step, Voltage,
};
use fowler_metrics::{Kind, Milestone, OverTime, Recorder, Regions};
use fowler_units::{Nanos, Span};

/// Warning for runs in which hybrid caching (of data and parity in the write buffer) caches only
/// parity.
pub const CACHES_NO_DATA: &str = "parity is cached but data is not: a write is acknowledged once \
    the data of the write is in flash \
     (buffer.ack = \"on_program\"); hybrid caching as published needs on_insert";

/// Results of a finished run, with the drive and the requests that it ran.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The drive on which the run took place.
    pub drive: Resolved,
    /// Description of the drive's state before the run.
    pub precondition: String,
    /// Write amplification, parity included, of random writes over the whole drive in steady state,
    /// measured before the run; `None` if preconditioning did not reach one.
    pub steady_waf: Option<f64>,
    /// Latencies of the run's requests, and the causes of each latency (blame).
    pub recorder: Recorder,
    /// Counters of the drive, from the first measured request to the end of the run.
    pub counters: Counters,
    /// Erases of the drive's blocks, before and during the run.
    pub wear: Wear,
    /// State of the drive's parity at the end of the run; `None` for a drive without stripes.
    pub protection: Option<Protection>,
    /// Ledger of pages that became unreadable; `None` if pages carry no versions to check data by.
    pub losses: Option<LossLedger>,
    /// Pages lost at the end of the run, detected or not; `None` where every page can be read.
    pub census: Option<Census>,
    /// Progress of scrubbing (background reads that look for errors); `None` if data is not
    /// scrubbed.
    pub scrub: Option<ScrubProgress>,
    /// Blocks that failed or were retired; `None` if no block fails on this drive.
    pub bad_blocks: Option<BadBlockCounts>,
    /// Dies that failed, and their replacements; `None` if no die has failed.
    pub failed_dies: Option<FailedDieCounts>,
    /// Totals over all power losses of the run: number, length, writes and pages lost.
    pub power_offs: PowerOffs,
    /// Faults that the user listed, in order, each with its effect; empty for those of `power_off`
    /// alone.
    pub faults: Vec<Fate>,
    /// Simulated time since the first request entered.
    pub simulated: Span,
    /// The drive's clock at the end of the run, which includes the time before the first request.
    pub clock: Nanos,
    /// Wall-clock time that the simulation took, in seconds.
    pub wall_s: f64,
    /// The requests that the run replayed.
    pub workload: WorkloadReport,
    /// Pacing of requests: by arrival time, or in a closed loop.
    pub pacing: Pacing,
    /// Result of the search for the replay speed at which the drive idles for a given share of the
    /// time; `None` if the run needed none.
    pub search: Option<Search>,
    /// The reason why the run ended: at the end of the workload, or early.
    pub ending: Ending,
    /// Counters of the drive at times of the run that double each time, and at its end.
    pub milestones: Vec<Milestone>,
    /// Latencies and rates of each request stream; empty for a single stream.
    pub streams: Vec<streams::Seen>,
    /// The data of charts, if [`crate::run::RunSpec::detail`] is set.
    pub detail: Option<Box<Detail>>,
}

/// Data of a run that only the charts of its HTML page show: time series, address regions, erases.
#[derive(Clone, Debug)]
pub struct Detail {
    /// Time series of the run's requests, dies and channels.
    pub over_time: OverTime,
    /// Statistics of the run by address region.
    pub regions: Regions,
    /// Erases of each block at the end of the run, including those of preconditioning.
    pub erases: Vec<u32>,
}

/// The reason why a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The run ended at the end of the workload.
    Complete,
    /// The run ended early, because the user stopped it.
    Stopped,
    /// The run ended early, because of an error in the workload.
    Failed(Diagnostics),
}

/// Distribution of erases over the blocks of a drive.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Wear {
    /// Erases of the least worn block.
    pub min: u32,
    /// Mean erases of a block; `None` without blocks.
    pub mean: Option<f64>,
    /// Erases of the most worn block.
    pub max: u32,
}

impl Wear {
    /// Returns the distribution of erases over blocks, given the erases of each block.
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
    /// Returns the drive's spare capacity as a share of its raw capacity.
    pub fn spare_of_raw(&self) -> f64 {
        let layout = &self.drive.layout;
        (layout.raw.0 - layout.logical.0) as f64 / layout.raw.0 as f64
    }

    /// Returns the drive's spare capacity as a share of its logical capacity.
    pub fn spare_of_logical(&self) -> f64 {
        let layout = &self.drive.layout;
        (layout.raw.0 - layout.logical.0) as f64 / layout.logical.0 as f64
    }

    /// Returns the share of programs and erases that were suspended; `None` if the run had neither.
    pub fn suspended_share(&self) -> Option<f64> {
        let all = self.counters.operations;
        (all > 0).then(|| self.counters.suspended_operations as f64 / all as f64)
    }

    /// Returns the extra time of suspended programs and erases as a share of their undisturbed
    /// time; `None` if the run had neither.
    pub fn suspension_overhead(&self) -> Option<f64> {
        share(self.counters.suspended_extra, self.counters.suspended_nominal)
    }

    /// Returns pairs of a number of reference voltages and the flash page reads that finally needed
    /// it, starting with the hard decision; `None` without a model of errors.
    pub fn reads_at(&self) -> Option<Vec<(u32, u64)>> {
        let reliability = &self.drive.config.reliability;
        (reliability.model != ModelKind::Off).then(|| {
            let ldpc = reliability.ldpc();
            let levels = ldpc.levels().iter().zip(self.counters.reads_at);
            levels.map(|(level, reads)| (level.references, reads)).collect()
        })
    }

    /// Returns the number of warm-up requests, which were served before the measurement and are not
    /// measured.
    pub fn warm_up(&self) -> u64 {
        self.drive.config.precondition.warm_up
    }

    /// Returns true if the drive acknowledges a write once its data is in flash. Otherwise no
    /// program belongs to a single request.
    pub(crate) fn waits_for_programs(&self) -> bool {
        self.drive.config.buffer.ack == Ack::OnProgram
    }

    /// Returns the share of reads or writes that were served before one of their kind that had
    /// waited longer; `None` if the run had none, or where writes do not wait for flash.
    pub fn prioritized_share(&self, kind: Kind) -> Option<f64> {
        if kind == Kind::Write && !self.waits_for_programs() {
            return None;
        }
        let all = self.recorder.latencies(kind).count();
        let Prioritized { reads, writes } = self.counters.prioritized;
        let prioritized = if kind == Kind::Write { writes } else { reads };
        (all > 0).then(|| prioritized as f64 / all as f64)
    }

    /// Returns true if hybrid caching caches parity but no data, because a write is acknowledged
    /// only once the data is in flash. Hybrid caching is a redundancy policy of its own, and part
    /// of DA-RAID-5, RAID inside the drive by life stage, when all stripes have parity.
    pub fn caches_no_data(&self) -> bool {
        let third = || self.protection.as_ref().is_some_and(|it| it.stage == Stage::Third);
        self.waits_for_programs()
            && match self.drive.config.redundancy.name {
                RedundancyKind::HybridCaching => true,
                RedundancyKind::ByStage => third(),
                _ => false,
            }
    }

    /// Returns true if the policy programs each block as fast as the block allows (ISPP steps of
    /// different sizes), although the drive's error model (`table` or `by_voltage`) covers only the
    /// nominal ISPP step.
    pub fn knows_one_step_only(&self) -> bool {
        let config = &self.drive.config;
        let one = matches!(config.reliability.model, ModelKind::Table | ModelKind::ByVoltage);
        config.step.name != StepKind::Nominal && one
    }

    /// Returns true if the drive's policy programs with coarser, faster ISPP steps where a block
    /// allows it, and no block ever does: until its end of life, none tolerates more than the
    /// nominal step.
    pub fn bears_no_coarser_step(&self) -> bool {
        let config = &self.drive.config;
        if config.step.name == StepKind::Nominal || config.reliability.model != ModelKind::Analytic
        {
            return false;
        }
        let cells = Cells::new(config, &Ladder::of(config), Voltage::Nominal);
        let coarsest = cells.map(|cells| cells.coarsest);
        coarsest.is_ok_and(|steps| steps.values().flatten().all(|&step| step == Step::NOMINAL))
    }

    /// Returns the bytes programmed for any source per byte that the host wrote; `None` if the host
    /// wrote nothing. Unlike [`Counters::waf`] it includes the cost of partial-page writes.
    pub fn flash_bytes_per_host_byte(&self) -> Option<f64> {
        let written = self.recorder.bytes(Kind::Write);
        let page = self.drive.layout.page_size.0 as f64;
        let programmed = self.counters.programs.sum() as f64 * page;
        (written > 0).then(|| programmed / written as f64)
    }

    /// Returns the share of the simulated time during which the drive held no request, from 0 to 1.
    pub fn idle_share(&self) -> Option<f64> {
        share(self.counters.idle, self.simulated)
    }

    /// Returns the number of requests served per simulated second.
    pub fn iops(&self) -> Option<f64> {
        let simulated_s = self.simulated.as_s();
        (simulated_s > 0.0).then(|| self.recorder.requests() as f64 / simulated_s)
    }

    /// Returns the number of requests simulated per second of wall-clock time.
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
