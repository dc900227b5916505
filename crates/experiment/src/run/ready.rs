//! Everything that a run needs, looked at before the first request.

use super::RunSpec;
use crate::device::{self, DeviceSpec, Resolved, Source};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::image_cache::ImageCache;
use crate::power;
use crate::scheme::Scheme;
use crate::workload::{Control, Workload, WorkloadReport, WorkloadSpec};
use fowler_device::{Device, Pacing, Probe};
use std::collections::BTreeMap;

/// A run made ready: everything that can be wrong has been looked at.
#[derive(Clone, Debug)]
pub(crate) struct Ready {
    pub drive: Resolved,
    pub workload: Workload,
    pub limit: Option<u64>,
}

/// What a replay came to, before it is reported.
pub(crate) struct Replayed {
    pub device: Device,
    pub report: WorkloadReport,
    pub failed: Option<Diagnostics>,
}

impl Ready {
    /// That of a run.
    pub fn of(spec: &RunSpec, control: Control<'_>) -> Result<Ready, Diagnostics> {
        ready(spec, &spec.device.source()?, spec.scheme.as_deref(), None, control)
    }

    /// The drive runs the workload. `probe` watches.
    pub fn replay<P: Probe>(
        &self,
        mut device: Device,
        pacing: Pacing,
        speed: f64,
        control: Control<'_>,
        probe: &mut P,
    ) -> Result<Replayed, Diagnostics> {
        let spans = self.workload.power_off(speed);
        let (report, failed) = self.workload.replay(speed, self.limit, control, |requests| {
            power::run(&mut device, requests, pacing, probe, &spans);
        })?;
        if report.requests == 0 && !control.stopped() {
            let empty = Diagnostic::new(report.name.clone(), "there are no requests to replay");
            return Err(failed.unwrap_or_else(|| empty.hint(empty_hint(&report)).into()));
        }
        Ok(Replayed { device, report, failed })
    }

    /// The drive, preconditioned; from the cache, if there is one.
    pub fn device(&self, images: Option<&ImageCache>) -> Result<Device, Diagnostics> {
        let config = &self.drive.config;
        images
            .map_or_else(|| Device::new(config), |images| images.device(config))
            .map_err(|refusals| device::refused(&self.drive.device, &BTreeMap::new(), refusals))
    }
}

fn empty_hint(report: &WorkloadReport) -> Option<String> {
    let read = report.read.as_ref()?;
    (read.other_devices > 0)
        .then(|| format!("{} requests are of other devices of the trace", read.other_devices))
}

/// Everything that is wrong with the drive under any of `schemes` (without schemes, as described)
/// and with the workload, as far as one look at it tells.
pub fn check(
    device: &DeviceSpec,
    schemes: &[String],
    workload: Option<&WorkloadSpec>,
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
    // A drive that is wrong is so without any scheme too.
    if loaded.is_empty() {
        loaded.push(Scheme::none());
    }
    let mut drive = None;
    if let Some(source) = diagnostics.take(device.source()) {
        for scheme in &loaded {
            drive = diagnostics.take(device::resolve(&source, scheme, device)).or(drive);
        }
    }
    if let Some(workload) = workload {
        diagnostics.take(workload.check(drive.as_ref()));
    }
    // What is wrong with the drive is wrong under every scheme: once is enough.
    diagnostics.unique()
}

/// Looks at everything that a run of `scheme` needs. What takes a pass over the trace is taken from
/// a run that is `like` this one, if its drive has the same size.
pub(crate) fn ready(
    spec: &RunSpec,
    source: &Source,
    scheme: Option<&str>,
    like: Option<&Ready>,
    control: Control<'_>,
) -> Result<Ready, Diagnostics> {
    let scheme = spec.device.scheme(scheme)?;
    let drive = device::resolve(source, &scheme, &spec.device)?;
    let page_size = drive.config.geometry.page_size.0;
    let seed = drive.config.seed;
    let same = |other: &&Ready| {
        let theirs = &other.drive;
        theirs.layout.logical == drive.layout.logical
            && theirs.config.geometry.page_size.0 == page_size
            && theirs.config.seed == seed
    };
    let workload = match like.filter(same) {
        Some(other) => other.workload.clone(),
        None => Workload::prepare(&spec.workload, &drive, spec.limit, control)?,
    };
    Ok(Ready { drive, workload, limit: spec.limit })
}
