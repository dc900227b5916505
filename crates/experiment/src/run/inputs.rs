//! Checks everything that a run needs before the first request, and replays the workload on the
//! drive.
//!
//! 1. Scheme, device and settings are resolved to a drive; all their errors are reported at once.
//! 2. The workload is prepared; a pass over a trace that it needs is made once for all schemes on
//!    drives of the same size.
//! 3. The faults of the workload, or those listed beside it, are checked against the drive. A drive
//!    that has faults notes what they take.

use super::drive_kind::DriveKind;
use super::spec::RunSpec;
use super::warm_up;
use crate::device_spec::{self, DeviceSpec, Resolved, Source};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::fault_rates;
use crate::faults::{self, Scripted};
use crate::image_cache::ImageCache;
use crate::numbers::counted;
use crate::scheme::Scheme;
use crate::workload::{Control, Workload, WorkloadReport, WorkloadSpec};
use fowler_device::policy::throttle::ThrottleKind;
use fowler_device::{Controller, Counters, Device, Layer, Pacing, Probe};
use fowler_workload::TimeScale;
use std::time::Instant;

/// Name of the flag that lists faults beside those of a workload.
const FLAG: &str = "--fault";

/// The checked inputs of a run.
#[derive(Clone, Debug)]
pub(crate) struct Ready {
    pub drive: Resolved,
    pub workload: Workload,
    pub limit: Option<u64>,
    /// The faults of the run in order, with unscaled times.
    pub faults: Vec<Scripted>,
    /// True if faults are listed explicitly, so that their effects are recorded.
    notes_faults: bool,
}

/// A drive that has replayed the requests of a run, with counts and times of the replay.
pub(crate) struct Replayed<L = Controller> {
    pub device: Device<L>,
    pub report: WorkloadReport,
    pub failed: Option<Diagnostics>,
    /// Wall-clock time of the replay in seconds, without the checks before and after it.
    pub wall_s: f64,
    /// The faults with times scaled to the replay; empty unless their effects are recorded.
    pub faults: Vec<Scripted>,
    /// Counters of the drive at the end of its warm-up.
    warm: Counters,
}

impl<L: Layer> Replayed<L> {
    /// Returns the result of a replay without warm-up and faults.
    pub fn of(device: Device<L>, report: WorkloadReport, wall_s: f64) -> Replayed<L> {
        let (failed, faults, warm) = (None, Vec::new(), Counters::default());
        Replayed { device, report, failed, faults, wall_s, warm }
    }

    /// Returns the counters of the drive since the end of the warm-up.
    pub fn counters(&self) -> Counters {
        self.device.counters().since(&self.warm)
    }
}

impl Ready {
    /// Returns the inputs of a run that the caller has checked, with `faults` beside those of the
    /// workload.
    ///
    /// # Errors
    /// If the drive cannot have these faults.
    pub fn new(
        drive: Resolved,
        workload: Workload,
        limit: Option<u64>,
        faults: &[Scripted],
    ) -> Result<Ready, Diagnostics> {
        let notes_faults = !faults.is_empty() || workload.lists_faults();
        let faults = all_faults(faults, &workload, &drive)?;
        let drive = if notes_faults { drive.noting_losses()? } else { drive };
        Ok(Ready { drive, workload, limit, faults, notes_faults })
    }

    /// Checks and returns the inputs of the run that `spec` describes.
    pub fn of(spec: &RunSpec, control: Control<'_>) -> Result<Ready, Diagnostics> {
        ready(spec, &spec.device.source()?, spec.scheme.as_deref(), &[], control)
    }

    /// Runs the workload on the preconditioned drive, watched by `probe`.
    pub fn replay<L: DriveKind, P: Probe<L>>(
        &self,
        mut device: Device<L>,
        pacing: Pacing,
        speed: f64,
        control: Control<'_>,
        probe: &mut P,
    ) -> Result<Replayed<L>, Diagnostics> {
        // An invalid speed is reported where it is applied.
        let faults = TimeScale::new(speed).map(|scale| faults::scaled(&self.faults, &scale));
        let faults = faults.unwrap_or_default();
        let warm_up = self.drive.config.precondition.warm_up;
        let (mut warm, mut wall_s) = (Counters::default(), 0.0);
        let (report, failed) = self.workload.replay(speed, self.limit, control, |requests| {
            let started = now();
            if warm_up == 0 {
                if self.notes_faults {
                    L::note_faults(&mut device);
                }
                L::serve(&mut device, requests, pacing, probe, &faults);
            } else {
                let warmed = warm_up::serve(&mut device, requests, pacing, warm_up);
                warm = warmed.counters;
                device.run(warmed.rest(requests), pacing, probe);
            }
            wall_s = now().duration_since(started).as_secs_f64();
        })?;
        if report.requests <= warm_up && warm_up > 0 && !control.stopped() {
            let what = format!(
                "the workload has {}, and all of them are the warm-up",
                counted(report.requests, "request")
            );
            let expected = "a longer workload, or a shorter precondition.warm_up";
            let none = Diagnostic::new(report.name.clone(), what).expected(expected);
            return Err(failed.unwrap_or_else(|| none.into()));
        }
        if self.drive.config.redundancy.flush_at_end && failed.is_none() {
            L::write_out(&mut device, probe);
        }
        if report.requests == 0 && !control.stopped() {
            let empty = Diagnostic::new(report.name.clone(), "the workload has no requests");
            return Err(failed.unwrap_or_else(|| empty.hint(empty_hint(&report)).into()));
        }
        let faults = if self.notes_faults { faults } else { Vec::new() };
        Ok(Replayed { device, report, failed, faults, wall_s, warm })
    }

    /// Returns the preconditioned drive of the run, from the cache if there is one.
    pub fn device<L: DriveKind>(
        &self,
        images: Option<&ImageCache>,
        control: Control<'_>,
    ) -> Result<Device<L>, Diagnostics> {
        L::drive(&self.drive.device, &self.drive.config, images, control)
    }
}

/// Returns the wall-clock time, which measures the simulator, never the simulated drive.
#[allow(clippy::disallowed_methods)]
pub(super) fn now() -> Instant {
    Instant::now()
}

fn empty_hint(report: &WorkloadReport) -> Option<String> {
    let read = report.read.as_ref()?;
    (read.other_devices > 0)
        .then(|| format!("{} requests are for other devices of the trace", read.other_devices))
}

/// Checks the drive under each of `schemes` (without schemes, as described), and that it has the
/// flash units that `faults` name. Checks the workload without reading a whole trace.
pub fn check(
    device: &DeviceSpec,
    schemes: &[String],
    workload: Option<&WorkloadSpec>,
    faults: &[Scripted],
) -> Diagnostics {
    let mut diagnostics = Diagnostics::default();
    for (index, scheme) in schemes.iter().enumerate() {
        if schemes[..index].contains(scheme) {
            diagnostics.push(Diagnostic::new("", format!("scheme `{scheme}` is listed twice")));
        }
    }
    let mut loaded: Vec<Scheme> = Vec::new();
    for scheme in schemes {
        loaded.extend(diagnostics.take(device.scheme(Some(scheme))));
    }
    // An invalid drive is invalid without a scheme as well.
    if loaded.is_empty() {
        loaded.push(Scheme::none());
    }
    let mut drive = None;
    if let Some(source) = diagnostics.take(device.source()) {
        for scheme in &loaded {
            drive = diagnostics.take(device_spec::resolve(&source, scheme, device)).or(drive);
        }
    }
    if let Some(workload) = workload {
        diagnostics.take(workload.check(drive.as_ref()));
    }
    if let Some(drive) = &drive {
        diagnostics.take(faults::check(faults, drive, FLAG));
    }
    // Errors of the drive occur under every scheme: report them once.
    diagnostics.unique()
}

/// Returns the drive of a run under a scheme. A drive with faults also records their effects.
///
/// # Errors
///
/// All errors in the drive.
pub fn drive(
    spec: &RunSpec,
    source: &Source,
    scheme: Option<&str>,
) -> Result<Resolved, Diagnostics> {
    let drive = device_spec::resolve(source, &spec.device.scheme(scheme)?, &spec.device)?;
    let faults = !spec.faults.is_empty() || spec.workload.lists_faults(Some(&drive))?;
    if faults { drive.noting_losses() } else { Ok(drive) }
}

/// Checks and prepares everything that a run under `scheme` needs. Results of a pass over the trace
/// are reused from an earlier run on a drive of the same size.
pub(crate) fn ready(
    spec: &RunSpec,
    source: &Source,
    scheme: Option<&str>,
    earlier: &[Ready],
    control: Control<'_>,
) -> Result<Ready, Diagnostics> {
    let scheme = spec.device.scheme(scheme)?;
    let drive = device_spec::resolve(source, &scheme, &spec.device)?;
    let page_size = drive.layout.page_size.0;
    let seed = drive.config.seed;
    let same = |other: &&Ready| {
        let theirs = &other.drive;
        theirs.layout.logical == drive.layout.logical
            && theirs.layout.page_size.0 == page_size
            && theirs.config.seed == seed
    };
    let workload = match earlier.iter().find(same) {
        Some(other) => other.workload.clone(),
        None => Workload::prepare(&spec.workload, &drive, spec.limit, control)?,
    };
    Ready::new(drive, workload, spec.limit, &spec.faults)
}

/// Returns the faults of a run: those of its workload, or those that the user lists beside it, but
/// not both.
fn all_faults(
    beside: &[Scripted],
    workload: &Workload,
    drive: &Resolved,
) -> Result<Vec<Scripted>, Diagnostics> {
    let (name, own) = (workload.name(), workload.faults());
    if !beside.is_empty() && !own.is_empty() {
        let what = "the workload has power losses or faults of its own, and so has the run";
        let hint = "list all of them in the workload file, or all beside it (--fault)".to_string();
        return Err(Diagnostic::new(name, what).hint(hint).into());
    }
    let (faults, name) = if own.is_empty() { (beside, FLAG) } else { (own, name) };
    let mut diagnostics = Diagnostics::default();
    diagnostics.take(faults::check(faults, drive, name));
    if drive.config.precondition.warm_up > 0 {
        let why = "precondition.warm_up works without power losses and other faults";
        diagnostics.take(faults::refuse(faults, name, why));
    }
    let off = faults
        .iter()
        .find(|fault| fault.power_off().is_some())
        .map_or(&[][..], std::slice::from_ref);
    if drive.config.throttle.name != ThrottleKind::Off {
        let why = "policy.throttle works on a lifetime without power losses";
        diagnostics.take(faults::refuse(off, name, why));
    }
    diagnostics.or(())?;
    Ok(fault_rates::drawn(faults, drive))
}
