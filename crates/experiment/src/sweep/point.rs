//! A point of a sweep: its identity and its run. A stored result is that of a point if both have
//! one hash ([`Point::hash`]).

use super::axis::{Chosen, Knob, Level};
use super::{Origin, Plan};
use crate::device_spec::DeviceSpec;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::memory::Need;
use crate::outcome::{Ending, Outcome};
use crate::provenance::{FINGERPRINT, text_hash_of};
use crate::replay_speed::ReplaySpeed;
use crate::requests::{RequestsFile, Watching};
use crate::run::{Ready, Run, RunSpec};
use crate::scheme::Scheme;
use crate::summary;
use crate::workload::{Control, Workload};
use serde_json::Value;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Hexadecimal digits of the hash of a point: enough to rule out collisions among a million points.
pub const HASH_DIGITS: usize = 32;

/// A point of a sweep: one combination of values, which is one run.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// Index of the point in the sweep's design, from 0.
    pub number: usize,
    /// A hash of everything that the point's result depends on: the sources of the simulator, the
    /// resolved drive, the requests, and how they are issued. Points with equal hashes share a run.
    pub hash: String,
    /// Value of the point on each axis of the sweep, in the order of the axes; `None` on an axis
    /// for which the point, of an explicit list, has no value.
    pub levels: Vec<Option<Level>>,
    /// Names of the drive, scheme and workload of this run of the sweep.
    pub names: Names,
    /// The reason why the values of this run of the sweep make no valid drive, so that the run
    /// fails; `None` if the drive is valid.
    pub refusal: Option<String>,
}

/// Names of the drive, scheme and workload that a sweep's point runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Names {
    /// Name of the drive that this run of the sweep simulates.
    pub device: String,
    /// Name of the scheme in this run of the sweep; `as described` for the drive without one.
    pub scheme: String,
    /// Name of the generator, or path of the trace, that this run of the sweep replays.
    pub workload: String,
}

/// The result of a finished point of a sweep.
#[derive(Clone, Debug, PartialEq)]
pub struct Finished {
    /// Index of the point in the sweep's design, from 0.
    pub point: usize,
    /// Summary of this run of the sweep, without anything that depends on wall-clock time, or the
    /// reason why the run failed.
    pub result: Result<Value, String>,
}

/// The inputs of one run of a sweep: drive, names, source of requests, and the requests' limit and
/// speed.
struct Task {
    device: DeviceSpec,
    names: Names,
    source: Origin,
    limit: Option<u64>,
    replay_speed: ReplaySpeed,
}

impl Plan {
    /// Returns the inputs of the sweep's point with this number: the settings common to all points,
    /// overridden by the point's values on the sweep's axes.
    fn task(&self, number: usize) -> Task {
        let base = &self.base;
        let scheme = base.scheme.clone().unwrap_or_else(|| Scheme::none().name().into());
        let mut device =
            DeviceSpec { set: base.set.clone(), seed: base.seed, ..DeviceSpec::default() };
        let mut names = Names { device: base.device.clone(), scheme, workload: String::new() };
        let (mut source, mut limit, mut replay_speed) =
            (base.source.clone(), base.limit, base.replay_speed);
        for ((_, knob), chosen) in self.axes.iter().zip(&self.rows[number]) {
            let Some(chosen) = chosen else { continue };
            match knob {
                Knob::Drive(path) => device.set.push(format!("{path}={}", chosen.text)),
                Knob::Own("device") => names.device = name(chosen),
                Knob::Own("scheme") => names.scheme = name(chosen),
                Knob::Own("workload") => source = Some(Origin::Workload(name(chosen))),
                Knob::Own("trace") => source = Some(Origin::Trace(name(chosen))),
                Knob::Own("seed") => device.seed = chosen.text.parse().ok(),
                Knob::Own("limit") => limit = chosen.text.parse().ok(),
                Knob::Own("speed") => replay_speed = ReplaySpeed::Speed(real(chosen)),
                Knob::Own("idle") => replay_speed = ReplaySpeed::Idle(real(chosen)),
                Knob::Own(_) => replay_speed = ReplaySpeed::Closed(real(chosen) as u32),
            }
        }
        device.device.clone_from(&names.device);
        let source = source.unwrap_or(Origin::Workload(String::new()));
        names.workload = source.name().into();
        Task { device, names, source, limit, replay_speed }
    }

    /// Returns the point of the sweep with this number, and adds the host memory for its drive to
    /// `need`, the memory that the sweep needs.
    pub(super) fn point(&self, number: usize, need: &mut Need) -> Point {
        let task = self.task(number);
        let replay_speed = task.replay_speed;
        let drive = self.drive(&task.names, &task.device);
        let refusal = drive.as_ref().err().map(Diagnostics::to_string);
        let drive = match &drive {
            Ok(drive) => {
                // Recording the effects of faults takes more memory.
                let noting = self.workloads[&task.source].lists_faults;
                let noting = noting.then(|| drive.clone().noting_losses().ok()).flatten();
                need.add(noting.as_ref().unwrap_or(drive), replay_speed.copies());
                &drive.text
            }
            Err(diagnostics) => &diagnostics.to_string(),
        };
        let (limit, requests) = (task.limit, self.requests);
        let identity = &self.workloads[&task.source].identity;
        let reported =
            format!("{FINGERPRINT}\n{drive}\n{identity}\n{limit:?} {replay_speed:?} {requests}");
        let levels = self.rows[number].iter().map(|it| it.as_ref().map(|it| it.level.clone()));
        let hash = text_hash_of(&reported, HASH_DIGITS);
        Point { number, hash, levels: levels.collect(), names: task.names, refusal }
    }

    /// Runs one point of the sweep; returns `None` if it was stopped. `requests` is the file for
    /// its requests, which appears once the point has finished without failing.
    ///
    /// # Errors
    /// Only if that file cannot be written. Errors of the point are its result.
    ///
    /// # Panics
    /// If the plan has no such point.
    pub fn run_point(
        &self,
        index: usize,
        requests: Option<&RequestsFile>,
        control: Control<'_>,
    ) -> Result<Option<Finished>, Diagnostics> {
        let log = requests.map(RequestsFile::start).transpose()?;
        // A bug that panics in one point must not lose the others.
        let run = catch_unwind(AssertUnwindSafe(|| self.simulate(index, log, control)));
        let result = match run {
            Ok(Ok((outcome, log))) => match verdict(&outcome) {
                None => return Ok(None),
                Some(Ok(summary)) => {
                    log.map_or(Ok(()), |log| log.finish(&summary::which_run(&outcome)))?;
                    Ok(summary)
                }
                Some(Err(why)) => Err(why.to_string()),
            },
            Ok(Err(_)) if control.stopped() => return Ok(None),
            Ok(Err(diagnostics)) => Err(diagnostics.to_string()),
            Err(panic) => {
                let said = panic.downcast_ref::<String>().map(String::as_str);
                let said = said.or_else(|| panic.downcast_ref::<&str>().copied());
                Err(format!(
                    "this is a bug in Fowler, not an error of the input: {}",
                    said.unwrap_or("")
                ))
            }
        };
        Ok(Some(Finished { point: index, result }))
    }

    fn simulate(
        &self,
        index: usize,
        log: Option<Watching>,
        control: Control<'_>,
    ) -> Result<(Outcome, Option<Watching>), Diagnostics> {
        let Task { device, names, source, limit, replay_speed } = self.task(index);
        let drive = self.drive(&names, &device)?;
        let requests = &self.workloads[&source];
        let workload = requests.spec.clone();
        let hash = Some(&*requests.hash);
        let prepared = Workload::prepare_hashed(&workload, hash, &drive, limit, control)?;
        let ready = Ready::new(drive, prepared, limit, &[])?;
        let scheme = Some(names.scheme);
        let spec = RunSpec { scheme, limit, ..RunSpec::new(device, workload, replay_speed) };
        // The log starts before the run and is finished only if the run succeeds: it is a probe
        // like any other.
        Run::new(&spec, control).ready(&ready).images(&self.images).watched_by(log).start()
    }
}

fn name(chosen: &Chosen) -> String {
    chosen.level.to_string()
}

fn real(chosen: &Chosen) -> f64 {
    match chosen.level {
        Level::Number(number) => number,
        Level::Text(_) => f64::NAN,
    }
}

/// Returns the result of a point's run, a summary or the errors, to save it; `None` if the run was
/// stopped.
pub(super) fn verdict(outcome: &Outcome) -> Option<Result<Value, Diagnostics>> {
    match &outcome.ending {
        Ending::Stopped => None,
        Ending::Failed(diagnostics) => Some(Err(diagnostics.clone())),
        Ending::Complete if !outcome.laws().hold() => {
            let laws = outcome.laws();
            let what = format!("the run violates a law, which is a bug in Fowler: {laws:?}");
            Some(Err(Diagnostic::new(&outcome.workload.name, what).into()))
        }
        Ending::Complete => Some(Ok(outcome.reproducible_json())),
    }
}
