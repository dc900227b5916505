//! Test beds: drives on which workloads are tried repeatedly, and the search for a
//! common speed of several drives. A drive is preconditioned once and copied for every trial.

use crate::device_spec::{self, DeviceSpec, Resolved};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::fan_out;
use crate::replay_speed::{self, Found, ReplaySpeed};
use crate::run::{Ready, preconditioned};
use crate::scheme::Scheme;
use crate::workload::{Control, Workload, WorkloadSpec, share};
use fowler_device::Device;
use fowler_metrics::{Kind, Recorder};

/// A preconditioned drive under a scheme, of which each trial replays a workload on a fresh copy.
#[derive(Clone, Debug)]
pub struct TestBed {
    drive: Resolved,
    clean: Device,
    limit: Option<u64>,
}

/// Latencies and idle time of one trial run of a workload on a copy of a preconditioned drive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trial {
    /// Mean latency of the workload's reads in milliseconds; `None` without reads.
    pub read_ms: Option<f64>,
    /// Mean latency of the workload's writes in milliseconds; `None` without writes.
    pub write_ms: Option<f64>,
    /// Share of the simulated time during which the drive holds no request, from 0 to 1.
    pub idle: f64,
}

impl TestBed {
    /// Preconditions the drive of `spec` under `scheme` and returns it.
    ///
    /// # Errors
    /// If either is invalid, or if preconditioning was stopped.
    pub fn new(
        spec: &DeviceSpec,
        scheme: &str,
        control: Control<'_>,
    ) -> Result<TestBed, Diagnostics> {
        let drive = device_spec::resolve(&spec.source()?, &Scheme::load(scheme)?, spec)?;
        let drive = drive.page_mapped("a test bed")?;
        let clean = preconditioned(&drive.device, &drive.config, None, control)?;
        Ok(TestBed { drive, clean, limit: None })
    }

    /// Limits the number of requests that each trial run on the drive replays; `None` replays the
    /// whole workload.
    pub fn limited(self, limit: Option<u64>) -> TestBed {
        TestBed { limit, ..self }
    }

    /// Returns the hash of the drive's complete configuration.
    pub fn hash(&self) -> &str {
        &self.drive.hash
    }

    /// Replays a workload on a copy of the drive, its times divided by `speed`.
    ///
    /// # Errors
    /// If the workload is invalid.
    pub fn trial(
        &self,
        workload: &WorkloadSpec,
        speed: f64,
        control: Control<'_>,
    ) -> Result<Trial, Diagnostics> {
        let workload = Workload::prepare(workload, &self.drive, self.limit, control)?;
        let ready = Ready::new(self.drive.clone(), workload, self.limit, &[])?;
        let pacing = ReplaySpeed::Speed(speed).pacing(ready.workload.depth());
        let mut recorder = Recorder::new();
        let replayed = ready.replay(self.clean.clone(), pacing, speed, control, &mut recorder)?;
        if let Some(diagnostics) = replayed.failed {
            return Err(diagnostics);
        }
        let mean_ms = |kind| recorder.latencies(kind).mean_us().map(|mean| mean / 1000.0);
        let simulated = replayed.device.now() - replayed.device.began();
        Ok(Trial {
            read_ms: mean_ms(Kind::Read),
            write_ms: mean_ms(Kind::Write),
            idle: share(replayed.counters().idle, simulated).unwrap_or(0.0),
        })
    }
}

/// Replays a workload on every drive, in parallel, at the same speed.
///
/// # Errors
/// As [`TestBed::trial`], of the first drive that fails.
pub fn trials(
    beds: &[TestBed],
    workload: &WorkloadSpec,
    speed: f64,
    control: Control<'_>,
) -> Result<Vec<Trial>, Diagnostics> {
    fan_out::each(beds, |bed| bed.trial(workload, speed, control)).into_iter().collect()
}

/// Finds the speed at which the idle shares of all drives average `target`. A trace that is
/// replayed on several drives is compressed by one factor, which leaves the slower drives less
/// idle. The search begins at `first`.
///
/// # Errors
/// As [`trials`], or if there is no such speed.
pub fn common_speed(
    beds: &[TestBed],
    workload: &WorkloadSpec,
    target: f64,
    first: f64,
    control: Control<'_>,
) -> Result<Found, Diagnostics> {
    replay_speed::check(ReplaySpeed::Idle(target))?;
    if beds.is_empty() {
        return Err(Diagnostic::new("common speed", "no drives are given").into());
    }
    let mean_idle = |speed, control: Control<'_>| {
        let trials = trials(beds, workload, speed, control)?;
        Ok(trials.iter().map(|trial| trial.idle).sum::<f64>() / trials.len() as f64)
    };
    replay_speed::search(target, first, beds.len(), control, mean_idle)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;

    #[test]
    fn a_test_bed_that_is_stopped_is_no_drive() {
        let spec = DeviceSpec {
            device: "pes-slc".into(),
            set: vec!["geometry.blocks_per_plane=64".into(), "gc.background_below=12".into()],
            ..DeviceSpec::default()
        };
        let control = Control { stop: &AtomicBool::new(true), ..Control::UNWATCHED };
        let error = TestBed::new(&spec, "fifo", control).unwrap_err().to_string();
        assert!(error.contains("stopped while the drive was preconditioned"), "{error}");
        assert!(TestBed::new(&spec, "fifo", Control::UNWATCHED).is_ok());
    }
}
