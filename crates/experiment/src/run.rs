//! One drive, one workload, one outcome.

use crate::device::{self, DeviceSpec, Resolved, Source};
use crate::image_cache::ImageCache;
use crate::outcome::{Detail, Ending, Outcome, Wear};
use crate::power;
use crate::problem::{Problem, Problems};
use crate::replay_speed::Found;
use crate::requests::{RequestsFile, Watching};
use crate::scheme::Scheme;
use crate::workload::{Control, Workload, WorkloadReport, WorkloadSpec};
use fowler_device::{Counters, Device, Pacing, Probe, UnwrittenReads};
use fowler_metrics::{OverTime, Recorder};
use std::collections::BTreeMap;
use std::time::Instant;

/// What to run.
#[derive(Clone, Debug)]
pub struct RunSpec {
    /// The drive.
    pub device: DeviceSpec,
    /// The scheme on it; none leaves it as described.
    pub scheme: Option<String>,
    /// The requests.
    pub workload: WorkloadSpec,
    /// How fast they come.
    pub replay_speed: ReplaySpeed,
    /// Requests at most.
    pub limit: Option<u64>,
    /// The file for every request, if one is wanted.
    pub requests: Option<RequestsFile>,
    /// Whether the outcome is to hold what pictures are made of: [`Outcome::detail`].
    pub detail: bool,
}

/// How fast requests come.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum ReplaySpeed {
    /// At the times recorded, or as the generator's description says.
    #[default]
    AsRecorded,
    /// At times divided by a factor.
    Speed(f64),
    /// At times divided by the factor at which the drive idles for this share of the time.
    Idle(f64),
    /// As soon as fewer than this many are outstanding.
    Closed(u32),
}

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
    pub failed: Option<Problems>,
}

impl Ready {
    /// The drive runs the workload. `probe` watches.
    pub fn replay<P: Probe>(
        &self,
        mut device: Device,
        pacing: Pacing,
        speed: f64,
        control: Control<'_>,
        probe: &mut P,
    ) -> Result<Replayed, Problems> {
        let spans = self.workload.power_off(speed);
        let (report, failed) = self.workload.replay(speed, self.limit, control, |requests| {
            power::run(&mut device, requests, pacing, probe, &spans);
        })?;
        if report.requests == 0 && !control.stopped() {
            let empty = Problem::new(report.name.clone(), "there are no requests to replay");
            return Err(failed.unwrap_or_else(|| empty.hint(empty_hint(&report)).into()));
        }
        Ok(Replayed { device, report, failed })
    }

    /// The drive, preconditioned; from the cache, if there is one.
    pub fn device(&self, images: Option<&ImageCache>) -> Result<Device, Problems> {
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

/// Everything that is wrong with the drive under any of `schemes` (without schemes, as described) and
/// with the workload, as far as one look at it tells.
pub fn check(device: &DeviceSpec, schemes: &[String], workload: Option<&WorkloadSpec>) -> Problems {
    let mut problems = Problems::default();
    for (index, scheme) in schemes.iter().enumerate() {
        if schemes[..index].contains(scheme) {
            problems.push(Problem::new("", format!("scheme `{scheme}` is listed twice")));
        }
    }
    let mut loaded: Vec<Scheme> = Vec::new();
    for scheme in schemes {
        loaded.extend(problems.take(device.scheme(Some(scheme))));
    }
    // A drive that is wrong is so without any scheme too.
    if loaded.is_empty() {
        loaded.push(Scheme::none());
    }
    let mut drive = None;
    if let Some(source) = problems.take(device.source()) {
        for scheme in &loaded {
            drive = problems.take(device::resolve(&source, scheme, device)).or(drive);
        }
    }
    if let Some(workload) = workload {
        problems.take(workload.check(drive.as_ref()));
    }
    // What is wrong with the drive is wrong under every scheme: once is enough.
    problems.unique()
}

/// Looks at everything that a run of `scheme` needs. What takes a pass over the trace is taken from a run
/// that is `like` this one, if its drive has the same size.
pub(crate) fn ready(
    spec: &RunSpec,
    source: &Source,
    scheme: Option<&str>,
    like: Option<&Ready>,
    control: Control<'_>,
) -> Result<Ready, Problems> {
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

/// Runs one drive under one workload.
///
/// # Errors
/// Everything that is wrong before the first request. What goes wrong later ends the run early: the
/// outcome until then is returned, and its [`Ending`] says why.
pub fn run(spec: &RunSpec, control: Control<'_>) -> Result<Outcome, Problems> {
    run_from(spec, None, control)
}

/// The same with one more who watches, and comes back with what was seen.
///
/// # Errors
/// As [`run`].
pub fn run_watched<P: Probe>(
    spec: &RunSpec,
    control: Control<'_>,
    watcher: P,
) -> Result<(Outcome, P), Problems> {
    run_from_watched(spec, None, control, watcher)
}

/// A run with a drive from the cache, if there is one.
///
/// # Errors
/// As [`run`].
pub fn run_from(
    spec: &RunSpec,
    images: Option<&ImageCache>,
    control: Control<'_>,
) -> Result<Outcome, Problems> {
    run_from_watched(spec, images, control, ()).map(|(outcome, ())| outcome)
}

fn run_from_watched<P: Probe>(
    spec: &RunSpec,
    images: Option<&ImageCache>,
    control: Control<'_>,
    watcher: P,
) -> Result<(Outcome, P), Problems> {
    let source = spec.device.source()?;
    let ready = ready(spec, &source, spec.scheme.as_deref(), None, control)?;
    let speed = crate::replay_speed::find(spec.replay_speed, &ready, images, control)?;
    run_ready_watched(&ready, spec, speed, images, spec.requests.as_ref(), control, watcher)
}

/// Runs what is ready, at a known speed, with one more who watches.
pub(crate) fn run_ready_watched<P: Probe>(
    ready: &Ready,
    spec: &RunSpec,
    speed: Found,
    images: Option<&ImageCache>,
    requests: Option<&RequestsFile>,
    control: Control<'_>,
    watcher: P,
) -> Result<(Outcome, P), Problems> {
    let log = requests.map(RequestsFile::start).transpose()?;
    let (outcome, log, watcher) =
        run_ready_logged(ready, spec, speed, images, log, control, watcher)?;
    log.map_or(Ok(()), Watching::finish)?;
    Ok((outcome, watcher))
}

/// The same where the file for every request has been started; whoever started it finishes it.
pub(crate) fn run_ready_logged<P: Probe>(
    ready: &Ready,
    spec: &RunSpec,
    speed: Found,
    images: Option<&ImageCache>,
    log: Option<Watching>,
    control: Control<'_>,
    watcher: P,
) -> Result<(Outcome, Option<Watching>, P), Problems> {
    let pacing = pacing(spec.replay_speed, &ready.workload);
    let device = ready.device(images)?;
    let precondition = device.preconditioned().to_string();
    // Every test that runs a drive checks every request.
    let recorder = Recorder::new();
    let recorder = if cfg!(debug_assertions) { recorder.assert_sums() } else { recorder };
    let watch = (recorder, (log, watcher));
    let started = now();
    // Whoever is not there is not compiled in: a run without pictures pays nothing for them.
    let (replayed, watch, over_time) = if spec.detail {
        let mut watch = (watch, OverTime::new());
        let replayed = ready.replay(device, pacing, speed.factor, control, &mut watch)?;
        (replayed, watch.0, Some(watch.1))
    } else {
        let mut watch = watch;
        let replayed = ready.replay(device, pacing, speed.factor, control, &mut watch)?;
        (replayed, watch, None)
    };
    let wall_s = now().duration_since(started).as_secs_f64();
    let (recorder, (log, watcher)) = watch;
    let counters = replayed.device.counters();
    let stopped = control.stopped();
    let ending = match replayed.failed.or_else(|| unwritten(ready, &counters)) {
        Some(problems) => Ending::Failed(problems),
        None if stopped => Ending::Stopped,
        None => Ending::Complete,
    };
    let detail = over_time.map(|mut over_time| {
        over_time.end(&replayed.device);
        Box::new(Detail { over_time, erases: replayed.device.erase_counts().to_vec() })
    });
    let outcome = Outcome {
        drive: ready.drive.clone(),
        precondition,
        recorder,
        counters,
        wear: Wear::of(replayed.device.erase_counts()),
        protection: replayed.device.protection(),
        losses: replayed.device.losses(),
        power_offs: *replayed.device.power_offs(),
        simulated: replayed.device.now() - replayed.device.began(),
        clock: replayed.device.now(),
        wall_s,
        workload: replayed.report,
        pacing,
        search: speed.search,
        ending,
        detail,
    };
    debug_assert!(outcome.laws().hold(), "a law is broken: {:#?}", outcome.laws());
    Ok((outcome, log, watcher))
}

/// The wall clock measures the simulator, never the simulation.
#[allow(clippy::disallowed_methods)]
fn now() -> Instant {
    Instant::now()
}

pub(crate) fn pacing(replay_speed: ReplaySpeed, workload: &Workload) -> Pacing {
    let depth = match replay_speed {
        ReplaySpeed::Closed(depth) => Some(depth),
        ReplaySpeed::AsRecorded => workload.depth(),
        ReplaySpeed::Speed(_) | ReplaySpeed::Idle(_) => None,
    };
    depth.map_or(Pacing::Open, |depth| Pacing::Closed { depth })
}

fn unwritten(ready: &Ready, counters: &Counters) -> Option<Problems> {
    let forbidden = ready.drive.config.unwritten_reads == UnwrittenReads::Error;
    (forbidden && counters.unwritten_reads > 0).then(|| {
        let what = format!("{} pages were read that were never written", counters.unwritten_reads);
        let hint = "precondition the drive, or set ftl.unwritten_reads to preconditioned or zero";
        Problem::new("", what).hint(hint.to_string()).into()
    })
}
