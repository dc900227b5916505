//! Converts Python dictionaries to specifications. Only `python/fowler` creates these dictionaries,
//! and only this file reads them.

use crate::policies::{Failure, PolicyArgs};
use crate::py_requests::PyRequests;
use fowler_columns::requests;
use fowler_columns::trace_file::TraceFile;
use fowler_experiment::candidates::Candidates;
use fowler_experiment::device_spec::{DeviceSpec, Source};
use fowler_experiment::diagnostic::{Diagnostic, Diagnostics};
use fowler_experiment::faults;
use fowler_experiment::policies::Policies;
use fowler_experiment::presets::{self, Folder};
use fowler_experiment::replay_speed;
use fowler_experiment::requests::RequestsFile;
use fowler_experiment::run::{ReplaySpeed, RunSpec};
use fowler_experiment::sweep::CallerValues;
use fowler_experiment::workload::{
    CustomSpec, RequestSource, TraceSpec, WorkloadSpec, format_by_name, remap_by_name, replayable,
    spread_by_name,
};
use fowler_experiment::{CsvColumns, DeviceChoice, ReadOptions};
use fowler_lifetime::fleet::FleetSpec;
use fowler_lifetime::{LifetimeSpec, SaveTo};
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::Arc;

/// Drive of a run, as Python describes it.
#[derive(Debug, FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct DriveArgs {
    device: String,
    text: Option<String>,
    set: Vec<String>,
    seed: Option<u64>,
}

impl DriveArgs {
    pub fn spec(self) -> DeviceSpec {
        let DriveArgs { device, text, set, seed } = self;
        DeviceSpec { device, text, set, seed, ..DeviceSpec::default() }
    }
}

/// Source of the requests of a run: a generator, a trace, or requests from Python.
#[derive(Debug, FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct SourceArgs {
    workload: Option<String>,
    trace: Option<PathBuf>,
    custom: Option<(String, Py<PyAny>)>,
    format: Option<String>,
    lenient_pct: Option<f64>,
    columns: Option<String>,
    spread: Option<String>,
    device_id: Option<u64>,
    side_by_side: bool,
    remap: String,
}

impl SourceArgs {
    pub fn spec(self, failure: &Arc<Failure>) -> Result<WorkloadSpec, Diagnostics> {
        let remap = remap_by_name(&self.remap);
        if let Some((name, object)) = self.custom {
            let source = Arc::new(PyRequests::new(name, object, failure));
            return Ok(WorkloadSpec::Custom(CustomSpec { source, remap: remap? }));
        }
        if let Some(name) = &self.workload {
            return presets::open(Folder::Workloads, name).map(WorkloadSpec::Generated);
        }
        let Some(path) = self.trace else {
            let what = "neither `trace` nor `workload` is given";
            return Err(Diagnostic::new("", what).into());
        };
        let mut diagnostics = Diagnostics::default();
        let remap = diagnostics.take(remap);
        let format = self.format.as_deref().map(format_by_name).transpose();
        let format = diagnostics.take(format).flatten();
        if let Some(pct) = self.lenient_pct.filter(|pct| !(0.0..=100.0).contains(pct)) {
            let what = format!("invalid percentage `{pct}`");
            diagnostics
                .push(Diagnostic::new("lenient_pct", what).expected("a number from 0 to 100"));
        }
        let columns = self.columns.as_deref().map(CsvColumns::parse).transpose();
        let columns = diagnostics.take(columns).flatten();
        let spread = self.spread.as_deref().map(spread_by_name).transpose();
        let spread = diagnostics.take(spread).flatten();
        diagnostics.take(replayable(&path));
        diagnostics.or(())?;
        if let Some(file) = TraceFile::of(&path) {
            let given = [
                ("format", self.format.is_some()),
                ("lenient_pct", self.lenient_pct.is_some()),
                ("columns", self.columns.is_some()),
                ("spread", self.spread.is_some()),
                ("device_id", self.device_id.is_some() || self.side_by_side),
            ];
            let what =
                "this argument applies to text and binary traces only, not to Parquet and Arrow";
            let given = given.into_iter().filter(|(_, given)| *given);
            Diagnostics(given.map(|(name, _)| Diagnostic::new(name, what)).collect()).or(())?;
            let source = Arc::new(file);
            return Ok(WorkloadSpec::Custom(CustomSpec {
                source,
                remap: remap.unwrap_or_default(),
            }));
        }
        let device = match self.device_id {
            _ if self.side_by_side => DeviceChoice::SideBySide,
            Some(number) => DeviceChoice::Only(number),
            None => DeviceChoice::Default,
        };
        let lenient = self.lenient_pct.map(|pct| pct / 100.0);
        let options = ReadOptions::default();
        let options = ReadOptions { format, lenient, device, columns, spread, ..options };
        Ok(WorkloadSpec::Trace(TraceSpec::new(path, options, remap.unwrap_or_default())))
    }
}

/// Arguments of a run from Python.
#[derive(Debug, FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct RunArgs {
    drive: DriveArgs,
    /// Drives of a comparison of drives, instead of `drive`; empty for other runs.
    devices: Vec<DriveArgs>,
    source: SourceArgs,
    scheme: Option<String>,
    queue_depth: Option<u32>,
    speed: Option<f64>,
    idle: Option<f64>,
    limit: Option<u64>,
    faults: Vec<String>,
    requests_file: Option<PathBuf>,
    detail: bool,
    policies: Vec<PolicyArgs>,
}

impl RunArgs {
    /// Converts the arguments of a run, and checks them with each drive under each scheme in
    /// `schemes`, or under the run's own scheme if there are none.
    pub fn spec(
        self,
        schemes: &[String],
        failure: &Arc<Failure>,
    ) -> Result<(RunSpec, Candidates), Diagnostics> {
        let mut diagnostics = Diagnostics::default();
        let workload = diagnostics.take(self.source.spec(failure));
        let replay_speed = match (self.queue_depth, self.speed, self.idle) {
            (Some(depth), ..) => ReplaySpeed::Closed(depth),
            (_, Some(factor), _) => ReplaySpeed::Speed(factor),
            (.., Some(share)) => ReplaySpeed::Idle(share),
            _ => ReplaySpeed::AsRecorded,
        };
        diagnostics.take(replay_speed::check(replay_speed));
        let given = [
            ("queue_depth", self.queue_depth.is_some()),
            ("speed", self.speed.is_some()),
            ("idle", self.idle.is_some()),
        ];
        let given: Vec<&str> = given.iter().filter(|(_, is)| *is).map(|(name, _)| *name).collect();
        if let [first, second, ..] = given[..] {
            let what = format!("`{first}` and `{second}` exclude each other");
            diagnostics.push(Diagnostic::new(second, what).hint("remove one of them".to_string()));
        }
        if self.limit == Some(0) {
            let diagnostic = Diagnostic::new("limit", "invalid value 0");
            diagnostics.push(diagnostic.expected("a whole number, at least 1"));
        }
        let requests = self.requests_file.as_deref().map(requests::file).transpose();
        let requests: Option<RequestsFile> = diagnostics.take(requests).flatten();
        let (faults, wrong) = faults::read("faults", &self.faults);
        diagnostics.0.extend(wrong.0);
        let mut device = self.drive.spec();
        device.policies = diagnostics.take(custom(self.policies, failure)).unwrap_or_default();
        let candidates = match (&self.devices[..], schemes) {
            ([], []) => Ok(Candidates::one(&device, self.scheme.as_deref())),
            ([], schemes) => Ok(Candidates::schemes(&device, schemes)),
            _ => {
                let custom = |args: DriveArgs| DeviceSpec {
                    policies: device.policies.clone(),
                    ..args.spec()
                };
                let devices = self.devices.into_iter().map(custom).collect();
                match schemes {
                    [] => Candidates::devices(devices, None),
                    schemes => Candidates::crossed(devices, schemes),
                }
            }
        };
        let candidates = diagnostics.take(candidates);
        if let Some(candidates) = &candidates {
            diagnostics.0.extend(candidates.check(workload.as_ref(), &faults).0);
        }
        diagnostics.or(())?;
        let candidates = candidates.ok_or_else(Diagnostics::default)?;
        let workload = workload.ok_or_else(|| Diagnostic::new("", "there is no workload"))?;
        let (scheme, limit, detail) = (self.scheme, self.limit, self.detail);
        let spec =
            RunSpec { device, scheme, workload, replay_speed, limit, faults, requests, detail };
        Ok((spec, candidates))
    }
}

/// Drives, policies and requests of a sweep that are Python objects, by name.
#[derive(Debug, FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct GivenArgs {
    devices: Vec<(String, String)>,
    policies: Vec<PolicyArgs>,
    requests: Vec<(String, Py<PyAny>)>,
}

impl GivenArgs {
    pub fn given(self, failure: &Arc<Failure>) -> Result<CallerValues, Diagnostics> {
        let device = |(name, text): (String, String)| (name.clone(), Source { name, text });
        let request = |(name, object): (String, Py<PyAny>)| {
            let source = PyRequests::new(name.clone(), object, failure);
            (name, Arc::new(source) as Arc<dyn RequestSource>)
        };
        Ok(CallerValues {
            devices: self.devices.into_iter().map(device).collect(),
            policies: custom(self.policies, failure)?,
            requests: self.requests.into_iter().map(request).collect(),
        })
    }
}

/// Converts policies written in Python to custom policies of a drive, by name.
fn custom(
    policies: Vec<PolicyArgs>,
    failure: &Arc<Failure>,
) -> Result<Vec<(String, Policies)>, Diagnostics> {
    policies.into_iter().map(|policy| policy.policies(failure)).collect()
}

/// Arguments of a fleet of drives from Python; `None` for the assumed defaults.
#[derive(Debug, FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct FleetArgs {
    drives: u32,
    load_spread: Option<f64>,
    early_share: Option<f64>,
    early_shape: Option<f64>,
    worn_blocks: Option<f64>,
    confidence: Option<f64>,
}

impl FleetArgs {
    fn spec(self) -> FleetSpec {
        let assumed = FleetSpec::ASSUMED;
        FleetSpec {
            drives: self.drives,
            load_spread: self.load_spread.unwrap_or(assumed.load_spread),
            early_share: self.early_share.unwrap_or(assumed.early_share),
            early_shape: self.early_shape.unwrap_or(assumed.early_shape),
            worn_blocks: self.worn_blocks.unwrap_or(assumed.worn_blocks),
            confidence: self.confidence.unwrap_or(assumed.confidence),
        }
    }
}

/// Arguments of a lifetime run from Python.
#[derive(Debug, FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct LifetimeArgs {
    drive: DriveArgs,
    source: SourceArgs,
    scheme: Option<String>,
    limit: Option<u64>,
    dilation: Option<u32>,
    check: bool,
    checkpoint: Option<PathBuf>,
    policies: Vec<PolicyArgs>,
    fleet: Option<FleetArgs>,
}

/// Number of host pages between two checkpoints of a lifetime run.
const KEPT_EVERY: u64 = 100_000_000;

impl LifetimeArgs {
    /// Returns the specification of a lifetime run, and that of its fleet if there is to be one.
    pub fn spec(
        self,
        failure: &Arc<Failure>,
    ) -> Result<(LifetimeSpec, Option<FleetSpec>), Diagnostics> {
        let (mut device, workload) = (self.drive.spec(), self.source.spec(failure)?);
        let LifetimeArgs { scheme, limit, dilation, check, checkpoint, policies, fleet, .. } = self;
        device.policies = custom(policies, failure)?;
        let spec = LifetimeSpec {
            device,
            scheme,
            workload,
            limit,
            dilation,
            check,
            close_up: None,
            checkpoint: checkpoint.map_or(SaveTo::Nowhere, SaveTo::File),
            checkpoint_every: KEPT_EVERY,
        };
        let fleet = fleet.map(FleetArgs::spec);
        let mut diagnostics = fowler_lifetime::check(&spec);
        if let Some(fleet) = &fleet {
            diagnostics.0.extend(fowler_lifetime::check_fleet(&spec, fleet).0);
        }
        diagnostics.or((spec, fleet))
    }
}
