//! Runs a drive under a host that decides at run time when to issue which request, depending on
//! earlier completions. A [`super::Run`] replays requests that do not.
//!
//! 1. The memory of the drive is checked, and the drive is preconditioned.
//! 2. The drive asks the host for its next request, and reports every answer to it, until the host
//!    has no more ([`fowler_device::Device::run_feed`]).
//! 3. The drive writes out what is only in its buffer, if its configuration says so.
//! 4. The outcome is that of a run at the pace of its requests.

use super::inputs::now;
use super::{DriveKind, Finished, Replayed, Watcher};
use crate::device_spec::Resolved;
use crate::diagnostic::Diagnostics;
use crate::memory;
use crate::outcome::Outcome;
use crate::requests::RequestsFile;
use crate::summary;
use crate::with_drive_kind;
use crate::workload::{Control, WorkloadReport};
use fowler_device::{Controller, Device, Feed, Pacing, Probe, Superblocks};
use fowler_metrics::{Milestones, OverTime, Recorder, Regions};

/// A host that can issue requests to drives of every kind, page-mapped or with superblocks.
pub trait Host: Feed<Controller> + Feed<Superblocks> {}
impl<F: Feed<Controller> + Feed<Superblocks>> Host for F {}

/// A run in which a host generates requests from completions.
pub struct HostRun<'a> {
    /// The drive that serves the host.
    pub drive: &'a Resolved,
    /// Name of the host in reports, and hash that identifies its behavior.
    pub workload: (&'a str, String),
    /// True to record the data of charts.
    pub detail: bool,
    /// Log of all requests of the host; `None` for no log.
    pub requests: Option<RequestsFile>,
    /// Lets the caller watch the run and stop it.
    pub control: Control<'a>,
}

impl HostRun<'_> {
    /// Lets the drive serve the host until it has no more requests; the drive's time begins at
    /// zero.
    ///
    /// # Errors
    /// Everything that is wrong with the drive, or that it was stopped before its first request.
    pub fn serve<P: Watcher>(
        self,
        host: &mut impl Host,
        watcher: P,
    ) -> Result<(Outcome, P), Diagnostics> {
        let config = &self.drive.config;
        with_drive_kind!(config, Kind => self.serve_on::<Kind, P>(host, watcher))
    }

    fn serve_on<L: DriveKind, P: Probe<L>>(
        self,
        host: &mut impl Feed<L>,
        watcher: P,
    ) -> Result<(Outcome, P), Diagnostics> {
        let HostRun { drive, control, .. } = self;
        memory::refuse_run(drive, 1)?;
        let log = self.requests.as_ref().map(RequestsFile::start).transpose()?;
        let mut device = L::drive(&drive.device, &drive.config, None, control)?;
        let history = L::history(&device);
        let precondition = history.to_string();
        let steady_waf = history.waf.filter(|_| history.steady);
        let recorder = Recorder::new();
        let recorder = if cfg!(debug_assertions) { recorder.assert_sums() } else { recorder };
        let mut watch = ((recorder, Milestones::default()), (log, watcher));
        let started = now();
        let writes_out = drive.config.redundancy.flush_at_end;
        let (watch, detail) = if self.detail {
            let mut detailed = (watch, (OverTime::new(), Regions::default()));
            run(&mut device, host, &mut detailed, writes_out);
            (detailed.0, Some(detailed.1))
        } else {
            run(&mut device, host, &mut watch, writes_out);
            (watch, None)
        };
        let wall_s = now().duration_since(started).as_secs_f64();
        let ((recorder, milestones), (log, watcher)) = watch;
        let report = WorkloadReport {
            name: self.workload.0.into(),
            hash: self.workload.1,
            requests: recorder.requests(),
            read: None,
            remap: None,
            touched_pages: None,
            speed: 1.0,
            generator: None,
        };
        let finished = Finished {
            replayed: Replayed::of(device, report, wall_s),
            recorder,
            milestones,
            detail,
            precondition,
            steady_waf,
            // The host determines the times of its requests.
            pacing: Pacing::Open,
            search: None,
            stopped: control.stopped(),
        };
        let outcome = finished.outcome(drive);
        log.map_or(Ok(()), |log| log.finish(&summary::which_run(&outcome)))?;
        Ok((outcome, watcher))
    }
}

/// Lets the drive serve the host, and afterwards write the data in its buffer to flash if that is
/// its policy at the end of a run.
fn run<L: DriveKind>(
    device: &mut Device<L>,
    host: &mut impl Feed<L>,
    probe: &mut impl Probe<L>,
    writes_out: bool,
) {
    device.run_feed(host, probe);
    if writes_out {
        L::write_out(device, probe);
    }
}
