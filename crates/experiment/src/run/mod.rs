//! Runs one drive under one workload. [`Run`] is the builder that starts every run; optional inputs
//! have a method each.
//!
//! 1. Everything that can be wrong is checked before the first request: drive, scheme, workload,
//!    faults (`inputs.rs`), and the memory that the drive takes.
//! 2. The speed is determined: given, or found by test runs (`speed.rs`).
//! 3. The drive is preconditioned, or cloned from the cache of images (`drive_kind.rs`).
//! 4. The drive serves the workload (`Ready::replay`): first the warm-up, which is not measured
//!    (`warm_up.rs`), then the rest, watched by the recorder and by the probe of the caller.
//! 5. If its configuration says so, the drive writes out what is only in its buffer.
//! 6. The [`Outcome`] is assembled, and its laws are checked.
//!
//! Exceptions:
//!
//! - A workload that fails, or that is stopped, in the middle ends the run early: the outcome up to
//!   that point says so ([`Ending`]).
//! - A host may decide at run time when to issue which request: `host_run.rs` then takes the place
//!   of step 4.
//!
//! The room touches no file except the log of requests.

mod drive_kind;
mod host_run;
mod inputs;
mod spec;
mod speed;
mod warm_up;

pub use drive_kind::{DriveKind, Watcher, preconditioned};
pub use host_run::HostRun;
pub(crate) use inputs::{Ready, Replayed, ready};
pub use inputs::{check, drive};
pub use spec::RunSpec;
pub(crate) use speed::find as find_speed;

use crate::device_spec::Resolved;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::image_cache::ImageCache;
use crate::memory;
use crate::numbers::counted;
use crate::outcome::{Detail, Ending, Outcome, Wear};
pub use crate::replay_speed::ReplaySpeed;
use crate::replay_speed::{Found, Search};
use crate::requests::RequestsFile;
use crate::summary;
use crate::with_drive_kind;
use crate::workload::Control;
use fowler_device::reliability::ModelKind;
use fowler_device::{Config, Counters, Device, Pacing, Probe, UnwrittenReads};
use fowler_metrics::{Milestones, OverTime, Recorder, Regions};
use std::borrow::Cow;

/// A run that has not started yet.
///
/// ```no_run
/// # use fowler_experiment::{run::{Run, RunSpec}, workload::Control, diagnostic::Diagnostics};
/// # fn example(spec: &RunSpec, control: Control<'_>) -> Result<(), Diagnostics> {
/// let outcome = Run::new(spec, control).outcome()?;
/// # Ok(()) }
/// ```
pub struct Run<'a, P = ()> {
    spec: &'a RunSpec,
    control: Control<'a>,
    watcher: P,
    requests: Option<RequestsFile>,
    images: Option<&'a ImageCache>,
    ready: Option<&'a Ready>,
    speed: Option<Found>,
}

impl<'a> Run<'a> {
    /// Creates the run of a specification, which `control` can watch and stop.
    pub fn new(spec: &'a RunSpec, control: Control<'a>) -> Run<'a> {
        Run {
            spec,
            control,
            watcher: (),
            requests: spec.requests.clone(),
            images: None,
            ready: None,
            speed: None,
        }
    }

    /// Starts the run and returns its outcome.
    ///
    /// # Errors
    /// As [`Run::start`].
    pub fn outcome(self) -> Result<Outcome, Diagnostics> {
        self.start().map(|(outcome, ())| outcome)
    }
}

impl<'a, P: Watcher> Run<'a, P> {
    /// Adds an observer (probe), which is returned with the outcome.
    pub fn watched_by<Q: Watcher>(self, watcher: Q) -> Run<'a, Q> {
        let Run { spec, control, requests, images, ready, speed, .. } = self;
        Run { spec, control, watcher, requests, images, ready, speed }
    }

    /// Makes the run take its preconditioned drive from this cache.
    pub fn images(self, images: &'a ImageCache) -> Self {
        Run { images: Some(images), ..self }
    }

    /// Makes the run log every request to this file instead of that of the specification.
    pub(crate) fn requests(self, requests: Option<RequestsFile>) -> Self {
        Run { requests, ..self }
    }

    /// Makes the run use inputs that have already been checked.
    pub(crate) fn ready(self, ready: &'a Ready) -> Self {
        Run { ready: Some(ready), ..self }
    }

    /// Makes the run use a replay speed that has already been found.
    pub(crate) fn speed(self, speed: Found) -> Self {
        Run { speed: Some(speed), ..self }
    }

    /// Runs one drive under one workload.
    ///
    /// # Errors
    /// Everything that is wrong before the first request. Later errors end the run early:
    /// the outcome up to that point is returned, and its [`Ending`] says why.
    pub fn start(self) -> Result<(Outcome, P), Diagnostics> {
        let ready = match self.ready {
            Some(ready) => Cow::Borrowed(ready),
            None => Cow::Owned(Ready::of(self.spec, self.control)?),
        };
        with_drive_kind!(ready.drive.config, Kind => self.start_on::<Kind>(&ready))
    }

    /// Starts the run on a drive whose mapping is of type `L`.
    fn start_on<L: DriveKind>(self, ready: &Ready) -> Result<(Outcome, P), Diagnostics>
    where
        P: Probe<L>,
    {
        let Run { spec, control, watcher, requests, images, speed, .. } = self;
        if images.is_none() {
            memory::refuse_run(&ready.drive, spec.replay_speed.copies())?;
        }
        let found = || find_speed(spec.replay_speed, ready, images, control);
        let speed = speed.map_or_else(found, Ok)?;
        let log = requests.as_ref().map(RequestsFile::start).transpose()?;
        let pacing = spec.replay_speed.pacing(ready.workload.depth());
        let device: Device<L> = ready.device(images, control)?;
        let history = L::history(&device);
        let precondition = history.to_string();
        let steady_waf = history.waf.filter(|_| history.steady);
        // In tests, check every request of every run.
        let recorder = Recorder::new();
        let recorder = if cfg!(debug_assertions) { recorder.assert_sums() } else { recorder };
        let watch = ((recorder, Milestones::default()), (log, watcher));
        // Probes are a type parameter: a run without charts spends no time on them.
        let (replayed, watch, detail) = if spec.detail {
            let mut watch = (watch, (OverTime::new(), Regions::default()));
            let replayed = ready.replay(device, pacing, speed.factor, control, &mut watch)?;
            (replayed, watch.0, Some(watch.1))
        } else {
            let mut watch = watch;
            let replayed = ready.replay(device, pacing, speed.factor, control, &mut watch)?;
            (replayed, watch, None)
        };
        let ((recorder, milestones), (log, watcher)) = watch;
        let stopped = control.stopped();
        let search = speed.search;
        let finished = Finished {
            replayed,
            recorder,
            milestones,
            detail,
            precondition,
            steady_waf,
            pacing,
            search,
            stopped,
        };
        let outcome = finished.outcome(&ready.drive);
        log.map_or(Ok(()), |log| log.finish(&summary::which_run(&outcome)))?;
        Ok((outcome, watcher))
    }
}

/// A finished run, before its results are assembled into an [`Outcome`].
struct Finished<L> {
    replayed: Replayed<L>,
    recorder: Recorder,
    milestones: Milestones,
    detail: Option<(OverTime, Regions)>,
    precondition: String,
    steady_waf: Option<f64>,
    pacing: Pacing,
    search: Option<Search>,
    stopped: bool,
}

impl<L: DriveKind> Finished<L> {
    fn outcome(self, drive: &Resolved) -> Outcome {
        let counters = self.replayed.counters();
        let Replayed { device, report, failed, faults, wall_s, .. } = self.replayed;
        let ending = match failed.or_else(|| unwritten(drive, &counters)) {
            Some(diagnostics) => Ending::Failed(diagnostics),
            None if self.stopped => Ending::Stopped,
            None => Ending::Complete,
        };
        let detail = self.detail.map(|(mut over_time, regions)| {
            over_time.end(&device);
            Box::new(Detail { over_time, regions, erases: L::erase_counts(&device).to_vec() })
        });
        let warm_up = drive.config.precondition.warm_up;
        let precondition = match warm_up {
            0 => self.precondition,
            _ => format!(
                "{}, then {} of the workload as a warm-up that is not measured",
                self.precondition,
                counted(warm_up, "request")
            ),
        };
        let closing = L::closing(&device, &faults, may_err(&drive.config));
        let outcome = Outcome {
            drive: drive.clone(),
            precondition,
            steady_waf: self.steady_waf,
            recorder: self.recorder,
            counters,
            wear: Wear::of(L::erase_counts(&device)),
            protection: closing.protection,
            losses: closing.losses,
            census: closing.census,
            scrub: closing.scrub,
            bad_blocks: closing.bad_blocks,
            failed_dies: closing.failed_dies,
            power_offs: closing.power_offs,
            faults: closing.faults,
            simulated: device.now() - device.began(),
            clock: device.now(),
            wall_s,
            workload: report,
            pacing: self.pacing,
            search: self.search,
            ending,
            milestones: self.milestones.end(&device),
            streams: Vec::new(),
            detail,
        };
        debug_assert!(outcome.laws().hold(), "a law is violated: {:#?}", outcome.laws());
        outcome
    }
}

/// Returns true if a page of the drive can become unreadable.
fn may_err(config: &Config) -> bool {
    let reads_fail = config.reliability.model != ModelKind::Off || config.reliability.uber > 0.0;
    reads_fail || config.redundancy.integrity
}

fn unwritten(drive: &Resolved, counters: &Counters) -> Option<Diagnostics> {
    let forbidden = drive.config.unwritten_reads == UnwrittenReads::Error;
    (forbidden && counters.unwritten_reads > 0).then(|| {
        let what = format!("{} never-written pages were read", counters.unwritten_reads);
        let hint = "fill the drive with precondition.fill, or set ftl.unwritten_reads to preconditioned or zero";
        Diagnostic::new("", what).hint(hint.to_string()).into()
    })
}
