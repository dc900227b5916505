//! Turns the flags of a command into specifications of drives, workloads and runs.

use crate::flags::{Drive, Effort, Load, Reading, ReplaySpeed, Settings, Source};
use crate::{console, requests};
use fowler_drives::measurements::Filter;
use fowler_drives::protocol::Effort as HowMuch;
use fowler_experiment::atomic_file::Named;
use fowler_experiment::candidates::{Candidate, Candidates};
use fowler_experiment::device_spec::{self, Axis, DeviceSpec, Resolved};
use fowler_experiment::diagnostic::{Diagnostic, Diagnostics};
use fowler_experiment::faults;
use fowler_experiment::presets::{self, Folder};
use fowler_experiment::replay_speed::check;
use fowler_experiment::run::{self, ReplaySpeed as RunSpeed, RunSpec};
use fowler_experiment::scheme::Scheme;
use fowler_experiment::workload::{
    self, CustomSpec, TraceSpec, WorkloadSpec, format_by_name, remap_by_name, replayable,
    spread_by_name,
};
use fowler_experiment::{CsvColumns, DeviceChoice, ReadOptions};
use std::path::PathBuf;

/// Returns the specification of the drive that the flags name.
pub(crate) fn device(drive: &Drive) -> DeviceSpec {
    device_of(&drive.device, &drive.settings)
}

/// Returns the specification of the drive with this name and these settings.
pub(crate) fn device_of(name: &str, settings: &Settings) -> DeviceSpec {
    let Settings { set, seed } = settings.clone();
    DeviceSpec { device: name.into(), set, seed, ..DeviceSpec::default() }
}

/// Returns the options for reading a trace, from its flags.
pub(crate) fn read_options(reading: &Reading) -> Result<ReadOptions, Diagnostics> {
    let mut diagnostics = Diagnostics::default();
    let format = reading.format.as_deref().map(format_by_name).transpose();
    let format = diagnostics.take(format).flatten();
    let lenient = reading.lenient.as_deref().map(lenience).transpose();
    let lenient = diagnostics.take(lenient).flatten();
    let device = reading.device_id.as_deref().map_or(Ok(DeviceChoice::Default), device_id);
    let device = diagnostics.take(device).unwrap_or_default();
    let columns = reading.columns.as_deref().map(CsvColumns::parse).transpose();
    let columns = diagnostics.take(columns).flatten();
    let spread = reading.spread.as_deref().map(spread_by_name).transpose();
    let spread = diagnostics.take(spread).flatten();
    let options = ReadOptions::default();
    diagnostics.or(ReadOptions { format, lenient, device, columns, spread, ..options })
}

/// Returns the drive that the flags name, under the scheme (policy set) that they name or else with
/// the policies of its file, as the only drive to simulate.
pub(crate) fn candidate(drive: &Drive, scheme: Option<&String>) -> Candidates {
    Candidates::one(&device(drive), scheme.map(String::as_str))
}

/// Returns the drives in `names` with their settings, each under the schemes that work on it, or as
/// described if there are no schemes. A note says which schemes are left out.
///
/// # Errors
/// If the list compares nothing, a scheme works on no drive, or none on a drive.
pub(crate) fn devices(
    names: &[String],
    settings: &Settings,
    schemes: &[String],
) -> Result<Candidates, Diagnostics> {
    let devices = names.iter().map(|name| device_of(name.trim(), settings)).collect();
    if schemes.is_empty() {
        return Candidates::devices(devices, None);
    }
    let candidates = Candidates::crossed(devices, schemes)?;
    for left_out in candidates.left_out() {
        console::note(&left_out.note());
    }
    Ok(candidates)
}

/// Returns the specification of the run that the flags describe, as far as they are valid; errors
/// go to `diagnostics`.
pub(crate) fn run_spec(
    load: &Load,
    candidates: &Candidates,
    diagnostics: &mut Diagnostics,
) -> Option<RunSpec> {
    let workload = diagnostics.take(workload(&load.source, &load.reading, &load.addresses.remap));
    let replay_speed = diagnostics.take(replay_speed(&load.replay_speed));
    if load.length.limit == Some(0) {
        diagnostics.push(
            Diagnostic::new("--limit", "a limit of 0 leaves no request to run")
                .expected("at least 1"),
        );
    }
    let (faults, wrong) = faults::read("--fault", &load.fault);
    diagnostics.0.extend(wrong.0);
    diagnostics.0.extend(candidates.check(workload.as_ref(), &faults).0);
    let (workload, replay_speed) = workload.zip(replay_speed)?;
    let Candidate { device, scheme, .. } = candidates.all().first()?.clone();
    let limit = load.length.limit;
    Some(RunSpec {
        device,
        scheme,
        workload,
        replay_speed,
        limit,
        faults,
        requests: None,
        detail: false,
    })
}

/// Returns the files that define a drive and the schemes it runs under, without built-in presets.
pub(crate) fn drive_files(drive: &Drive, schemes: &[String]) -> Vec<Named> {
    files_of("--device", &drive.device, schemes)
}

/// Returns the file from which a drive is read, if it is no preset.
pub(crate) fn device_file(device: &DeviceSpec) -> Vec<Named> {
    files_of("--device", &device.device, &[])
}

/// Returns the files from which the drive named by `flag` and the given schemes are read, without
/// those that are presets.
fn files_of(flag: &'static str, device: &str, schemes: &[String]) -> Vec<Named> {
    let parts = schemes.iter().flat_map(|scheme| scheme.split('+')).map(str::trim);
    let schemes = parts.map(|part| ("the scheme", presets::file(Folder::Schemes, part)));
    std::iter::once((flag, presets::file(Folder::Devices, device)))
        .chain(schemes)
        .filter_map(|(flag, path)| Some((flag.to_string(), path?.to_path_buf())))
        .collect()
}

/// Returns the input files of a simulation: those that describe the drives and schemes to simulate,
/// and those of the workload.
pub(crate) fn files(load: &Load, candidates: &Candidates) -> Vec<Named> {
    let mut files = candidate_files(candidates);
    files.extend(source_files(&load.source));
    files
}

/// Returns the files from which the drives and schemes to simulate are read, each once.
pub(crate) fn candidate_files(candidates: &Candidates) -> Vec<Named> {
    let flag = match candidates.axis() {
        Axis::Schemes => "--device",
        Axis::Devices => "--devices",
    };
    let mut files: Vec<Named> = Vec::new();
    for Candidate { device, scheme, .. } in candidates.all() {
        for file in files_of(flag, &device.device, scheme.as_slice()) {
            if !files.contains(&file) {
                files.push(file);
            }
        }
    }
    files
}

/// Returns the file from which requests are read, if their source is no preset.
pub(crate) fn source_files(source: &Source) -> Vec<Named> {
    let trace = source.trace.iter().map(|path| ("--trace".into(), path.clone()));
    trace.chain(source.workload.iter().filter_map(|name| generator_file(name))).collect()
}

/// Returns the file of a generated workload, if it is no preset.
pub(crate) fn generator_file(name: &str) -> Option<Named> {
    let path = presets::file(Folder::Workloads, name)?;
    Some(("--workload".into(), path.to_path_buf()))
}

pub(crate) fn workload(
    source: &Source,
    reading: &Reading,
    remap: &str,
) -> Result<WorkloadSpec, Diagnostics> {
    match (&source.trace, &source.workload) {
        (Some(path), _) => {
            let mut diagnostics = Diagnostics::default();
            let options = diagnostics.take(read_options(reading));
            let remap = diagnostics.take(remap_by_name(remap));
            diagnostics.take(replayable(path));
            let columns = requests::columns(path);
            if columns.is_some() {
                diagnostics.take(no_reading(reading, "applies to text and binary traces only"));
            }
            diagnostics.or(())?;
            let (options, remap) = (options.unwrap_or_default(), remap.unwrap_or_default());
            if let Some((source, _)) = columns {
                return Ok(WorkloadSpec::Custom(CustomSpec { source, remap }));
            }
            Ok(WorkloadSpec::Trace(TraceSpec::new(path.clone(), options, remap)))
        }
        (None, Some(name)) => {
            no_reading(reading, "needs --trace, which is not given")?;
            presets::open(Folder::Workloads, name).map(WorkloadSpec::Generated)
        }
        (None, None) => Err(Diagnostic::new("", "neither --trace nor --workload is given").into()),
    }
}

/// Refuses every flag about reading traces, for the reason `why`.
pub(crate) fn no_reading(reading: &Reading, why: &str) -> Result<(), Diagnostics> {
    let Reading { format, lenient, columns, spread, device_id } = reading;
    let given = [
        ("--format", format.is_some()),
        ("--lenient", lenient.is_some()),
        ("--columns", columns.is_some()),
        ("--spread", spread.is_some()),
        ("--device-id", device_id.is_some()),
    ];
    let given = given.into_iter().filter(|(_, given)| *given);
    Diagnostics(given.map(|(flag, _)| Diagnostic::new(flag, why)).collect()).or(())
}

fn lenience(text: &str) -> Result<f64, Diagnostics> {
    let percent: Option<f64> = text.trim().trim_end_matches('%').trim().parse().ok();
    let percent = percent.filter(|percent| (0.0..=100.0).contains(percent));
    percent.map(|percent| percent / 100.0).ok_or_else(|| {
        let what = format!("`{text}` is no percentage");
        Diagnostic::new("--lenient", what).expected("a number from 0 to 100").into()
    })
}

fn device_id(text: &str) -> Result<DeviceChoice, Diagnostics> {
    workload::device_id(text).ok_or_else(|| {
        Diagnostic::new("--device-id", format!("`{text}` is no device"))
            .expected("the number of a device in the trace, or side-by-side for all devices")
            .into()
    })
}

fn replay_speed(replay_speed: &ReplaySpeed) -> Result<RunSpeed, Diagnostics> {
    let replay_speed = match *replay_speed {
        ReplaySpeed { queue_depth: Some(depth), .. } => RunSpeed::Closed(depth),
        ReplaySpeed { speed: Some(factor), .. } => RunSpeed::Speed(factor),
        ReplaySpeed { idle: Some(share), .. } => RunSpeed::Idle(share),
        _ => RunSpeed::AsRecorded,
    };
    check(replay_speed).map(|()| replay_speed)
}

/// Returns the drive that the flags name, for commands that replay nothing.
pub(crate) fn resolve(drive: &Drive, scheme: Option<&str>) -> Result<Resolved, Diagnostics> {
    let spec = device(drive);
    let schemes: Vec<String> = scheme.into_iter().map(str::to_string).collect();
    run::check(&spec, &schemes, None, &[]).or(())?;
    let scheme = scheme.map_or(Ok(Scheme::none()), Scheme::load)?;
    device_spec::resolve(&spec.source()?, &scheme, &spec)
}

/// Returns the files that `fowler calibrate` or `fowler score` reads, each with the name of its
/// argument: the drive, and the measurements of real drives.
pub(crate) fn inputs(drive: &str, measured: &[PathBuf]) -> Vec<Named> {
    let drive = presets::file(Folder::Devices, drive);
    let drive = drive.map(|path| ("DRIVE".to_string(), path.to_path_buf()));
    let measured = measured.iter().map(|path| ("MEASURED.json".to_string(), path.clone()));
    drive.into_iter().chain(measured).collect()
}

/// Returns the filters that select rows of the measurements of real drives, one for each `--rows`.
pub(crate) fn filters(rows: &[String]) -> Result<Vec<Filter>, Diagnostics> {
    let mut diagnostics = Diagnostics::default();
    let filters: Vec<Filter> =
        rows.iter().filter_map(|text| diagnostics.take(Filter::parse(text))).collect();
    diagnostics.or(filters)
}

/// Returns the length of the simulations of measured rows (the measurements of real drives) and the
/// sizes of the simulated drives, from the flags --brief, --longer and --capacity of `fowler score`
/// and `fowler calibrate`.
pub(crate) fn effort(arguments: &Effort) -> Result<HowMuch, Diagnostics> {
    let effort = if arguments.brief { HowMuch::BRIEF } else { HowMuch::FULL };
    let effort = HowMuch { longer: arguments.longer.into(), ..effort };
    let Some(text) = &arguments.capacity else { return Ok(effort) };
    let capacity = text.parse().map_err(|error: fowler_experiment::QuantityError| {
        Diagnostic::new("--capacity", error.reason).expected(error.expected)
    })?;
    Ok(HowMuch { blocks: capacity, tail: capacity, ..effort })
}
