//! Runs that were stored in `summary.json`, read back.

use fowler_experiment::contents::{self, State};
use fowler_experiment::device_spec::Axis;
use fowler_experiment::diagnostic::{Diagnostic, Diagnostics, printable};
use fowler_experiment::text_file;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Name of the summary's file in a folder of results.
const SUMMARY: &str = "summary.json";
/// Largest accepted size of a summary in bytes: a hundred schemes have about ten million.
const LARGEST: u64 = 64 << 20;

/// A run that is read from a summary file, under one scheme or on one drive.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Stored {
    /// Property in which the runs of the stored result differ: scheme or drive.
    pub axis: Axis,
    /// Name of the stored run in a comparison: its scheme, or its drive where drives are compared.
    pub label: String,
    /// Settings of the run, by key: drive, workload and replay options.
    pub settings: BTreeMap<String, String>,
    /// Numbers in the summary of the stored run, by path in the summary, such as `read.mean_us`.
    pub numbers: BTreeMap<String, f64>,
    /// Mean and half the width of the 95 % interval of each number over several seeds, by path;
    /// empty with one seed.
    pub seeds: BTreeMap<String, (f64, f64)>,
}

/// Returns the runs that a folder of results, or a summary file, contains, in the order of the
/// file.
///
/// # Errors
/// If there is no summary, it cannot be read, it is not what was written, or it is not that of
/// `fowler run` or `fowler compare`.
pub(super) fn read(path: &Path) -> Result<Vec<Stored>, Diagnostics> {
    let file = if path.is_dir() { path.join(SUMMARY) } else { path.to_path_buf() };
    if path.is_dir() && !file.exists() {
        let what = format!("holds no {SUMMARY}");
        let hint = "fill a folder with `fowler run --out` or `fowler compare --out`";
        let diagnostic = Diagnostic::new(path.display().to_string(), what);
        return Err(diagnostic.expected("a folder of results").hint(hint.to_string()).into());
    }
    is_as_written(&file)?;
    let text = text_file::read(&file, LARGEST)?;
    let wrong = |what: String| -> Diagnostics {
        let diagnostic = Diagnostic::new(file.display().to_string(), what);
        diagnostic.expected("a summary.json of `fowler run` or `fowler compare`").into()
    };
    let all: Value = serde_json::from_str(&text)
        .map_err(|error| wrong(format!("is not JSON: {}", printable(error.to_string()))))?;
    let several = Axis::ALL.into_iter().find_map(|axis| Some((axis, all.get(axis.key())?)));
    let (axis, runs) = match several {
        Some((axis, Value::Array(runs))) => (axis, runs.iter().collect()),
        _ => (Axis::Schemes, vec![&all]),
    };
    let spread = all.get("seeds").and_then(|seeds| seeds.get(axis.key()));
    let run = |(place, run): (usize, &Value)| {
        let run_spread = spread.and_then(|schemes| schemes.get(place));
        stored(axis, run, run_spread).ok_or_else(|| wrong("is not the summary of a run".into()))
    };
    let runs: Vec<Stored> = runs.into_iter().enumerate().map(run).collect::<Result<_, _>>()?;
    if runs.is_empty() { Err(wrong("holds no run".into())) } else { Ok(runs) }
}

/// Refuses a result file that does not match the checksum in its folder's list.
pub(crate) fn is_as_written(file: &Path) -> Result<(), Diagnostics> {
    let (Some(folder), Some(name)) = (file.parent(), file.file_name()) else { return Ok(()) };
    let folder = if folder.as_os_str().is_empty() { PathBuf::from(".") } else { folder.into() };
    let name = name.to_string_lossy();
    let Some(list) = contents::read(&folder)? else { return Ok(()) };
    if list.files.contains_key(&*name) && list.state(&folder, &name)? == State::Changed {
        let hint = format!("run `fowler {}` again", printable(&list.command));
        let what = "is damaged: its checksum does not match";
        return Err(Diagnostic::new(file.display().to_string(), what).hint(hint).into());
    }
    Ok(())
}

/// Returns the run that a summary describes; `None` if the value is no summary.
fn stored(axis: Axis, run: &Value, spread: Option<&Value>) -> Option<Stored> {
    let text = |path: &str| run.pointer(path).and_then(Value::as_str);
    let label = match axis {
        Axis::Schemes => text("/scheme")?,
        Axis::Devices => text("/candidate")?,
    };
    let mut stored = Stored { axis, label: label.into(), ..Stored::default() };
    stored.numbers = fowler_experiment::summary::numbers(run.as_object()?);
    // Numbers that depend on the machine are not results.
    stored.numbers.retain(|path, _| !path.starts_with("wall_s") && path != "requests_per_s");
    stored.numbers.retain(|path, _| !path.starts_with("provenance."));
    keys("", &text("/provenance/config")?.parse().ok()?, &mut stored.settings);
    let generator = text("/provenance/generator").unwrap_or_default();
    keys("workload", &generator.parse().ok()?, &mut stored.settings);
    let mut note = |key: &str, value: &Value| {
        let value = match value {
            Value::Null => return,
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        stored.settings.insert(key.into(), value);
    };
    for (key, path) in [
        ("device", "/device"),
        ("version", "/provenance/version"),
        ("workload", "/workload/name"),
        ("contents of the workload", "/provenance/workload_hash"),
        ("requests", "/workload/requests"),
        ("speed", "/workload/speed"),
        ("queue depth", "/workload/queue_depth"),
        ("remap", "/workload/remap"),
    ] {
        note(key, run.pointer(path).unwrap_or(&Value::Null));
    }
    for (path, value) in spread.and_then(Value::as_object).into_iter().flatten() {
        let number = |name: &str| value.get(name).and_then(Value::as_f64);
        stored.seeds.insert(path.clone(), (number("mean")?, number("half_width")?));
    }
    Some(stored)
}

/// Adds the keys of a TOML table (such as a drive's configuration) with their values to `settings`;
/// `path` is the table's own key.
fn keys(path: &str, table: &toml::Table, settings: &mut BTreeMap<String, String>) {
    for (name, value) in table {
        let path = joined(path, name);
        match value {
            toml::Value::Table(below) => keys(&path, below, settings),
            toml::Value::String(text) => drop(settings.insert(path, text.clone())),
            other => drop(settings.insert(path, other.to_string())),
        }
    }
}

fn joined(path: &str, name: &str) -> String {
    if path.is_empty() { name.into() } else { format!("{path}.{name}") }
}
