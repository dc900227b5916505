//! One point of a sweep: what tells it from every other, and its run.

use super::axis::{Chosen, Knob, Level};
use super::{Origin, Plan};
use crate::device::DeviceSpec;
use crate::diagnostic::Diagnostics;
use crate::outcome::{Ending, Outcome};
use crate::provenance::{FINGERPRINT, text_hash_of};
use crate::replay_speed::ReplaySpeed;
use crate::requests::{RequestsFile, Watching};
use crate::run::{Ready, Run, RunSpec};
use crate::scheme::Scheme;
use crate::workload::{Control, Workload};
use serde_json::Value;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Hexadecimal digits of a point's hash: among a million points, two that differ are told apart for
/// certain.
const DIGITS: usize = 32;

/// A point of a design.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// Its place in the design, from 0.
    pub number: usize,
    /// What its result depends on, as a hash: the simulator's sources, the resolved drive, the
    /// requests, and how they are issued. Points with the same hash are one run.
    pub hash: String,
    /// Its value on each axis; none where a list says nothing.
    pub levels: Vec<Option<Level>>,
    /// What it runs, by name.
    pub names: Names,
    /// Why there is no such drive, if there is none; the point then fails.
    pub refusal: Option<String>,
}

/// What a point runs, by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Names {
    /// The drive.
    pub device: String,
    /// The scheme on it; `as described` where none was named.
    pub scheme: String,
    /// The generator or the trace.
    pub workload: String,
}

/// A point that has been run.
#[derive(Clone, Debug, PartialEq)]
pub struct Finished {
    /// Its place in the design.
    pub point: usize,
    /// Its summary, without what depends on the machine's clock; or why it failed.
    pub result: Result<Value, String>,
}

/// What a point is to do.
struct Task {
    device: DeviceSpec,
    names: Names,
    source: Origin,
    limit: Option<u64>,
    replay_speed: ReplaySpeed,
}

impl Plan {
    /// What the point of that number is to do: what is the same for all, but for the axes.
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

    /// The point of that number.
    pub(super) fn point(&self, number: usize) -> Point {
        let task = self.task(number);
        let drive = self.drive(&task.names, &task.device);
        let refusal = drive.as_ref().err().map(Diagnostics::to_string);
        let drive = match &drive {
            Ok(drive) => &drive.text,
            Err(diagnostics) => &diagnostics.to_string(),
        };
        let (limit, replay_speed, requests) = (task.limit, task.replay_speed, self.requests);
        let identity = &self.workloads[&task.source].identity;
        let reported =
            format!("{FINGERPRINT}\n{drive}\n{identity}\n{limit:?} {replay_speed:?} {requests}");
        let levels = self.rows[number].iter().map(|it| it.as_ref().map(|it| it.level.clone()));
        let hash = text_hash_of(&reported, DIGITS);
        Point { number, hash, levels: levels.collect(), names: task.names, refusal }
    }

    /// Runs one point. `requests` is the file for its requests, which appears when the point is
    /// finished and did not fail. Nothing if it was stopped.
    ///
    /// # Errors
    /// Only if that file cannot be written. What is wrong with the point is its result.
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
        // A fault of the program in one point loses nothing of the others.
        let run = catch_unwind(AssertUnwindSafe(|| self.simulate(index, log, control)));
        let result = match run {
            Ok(Ok((outcome, log))) => match verdict(&outcome) {
                None => return Ok(None),
                Some(Ok(summary)) => {
                    log.map_or(Ok(()), Watching::finish)?;
                    Ok(summary)
                }
                Some(Err(why)) => Err(why),
            },
            Ok(Err(_)) if control.stopped() => return Ok(None),
            Ok(Err(diagnostics)) => Err(diagnostics.to_string()),
            Err(panic) => {
                let said = panic.downcast_ref::<String>().map(String::as_str);
                let said = said.or_else(|| panic.downcast_ref::<&str>().copied());
                Err(format!("a fault of the program, not of its input: {}", said.unwrap_or("")))
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
        let ready = Ready { drive, workload: prepared, limit };
        let scheme = Some(names.scheme);
        let spec = RunSpec {
            device,
            scheme,
            workload,
            replay_speed,
            limit,
            requests: None,
            detail: false,
        };
        // The log is started before the run and finished only if it did not fail: it watches like
        // any other.
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

/// What is saved of a run; nothing of one that was stopped.
fn verdict(outcome: &Outcome) -> Option<Result<Value, String>> {
    match &outcome.ending {
        Ending::Stopped => None,
        Ending::Failed(diagnostics) => Some(Err(diagnostics.to_string())),
        Ending::Complete if !outcome.laws().hold() => {
            let laws = outcome.laws();
            Some(Err(format!("a law is broken, which is a fault of the program: {laws:?}")))
        }
        Ending::Complete => Some(Ok(outcome.reproducible_json())),
    }
}
