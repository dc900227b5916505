//! The keys of the specification of a sweep, and the checks of a specification.

use super::axis::{self, Axis, Keys};
use super::design::Design;
use crate::config_builder::ConfigBuilder;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::document::{Origin, Setting, Value, read_flag, read_toml_with_rows};
use crate::field::{Access, Field, Word};
use crate::keys::{Key, at, words};
use crate::workload::device_id;
use fowler_workload::{CsvColumns, Format, ReadOptions, Remap, Spread};
use std::collections::BTreeMap;

/// Name of the tables that list the points of a sweep with a list design: `[[point]]`.
pub(super) const ROWS: &str = "point";
/// The most points that a sweep may have.
pub const POINTS_MAX: u64 = 1_000_000;
/// Hint that names the document where the keys of a sweep are explained.
const LISTING: &str = "docs/sweeps.md lists every key";

/// The settings of a sweep's specification, except for the axes.
#[derive(Clone, Debug)]
pub(super) struct Spec {
    pub title: String,
    pub device: String,
    pub scheme: String,
    pub workload: String,
    pub trace: String,
    pub format: &'static str,
    pub lenient: f64,
    pub columns: String,
    pub spread: String,
    pub device_id: String,
    pub remap: &'static str,
    pub seed: u64,
    pub limit: u64,
    pub speed: f64,
    pub queue_depth: u64,
    pub idle: f64,
    pub requests: bool,
    pub design: Design,
    pub points: u64,
    pub design_seed: u64,
}

impl Default for Spec {
    fn default() -> Spec {
        Spec {
            title: String::new(),
            device: "tlc".into(),
            scheme: String::new(),
            workload: String::new(),
            trace: String::new(),
            format: Format::ALL[0].name(),
            lenient: 0.0,
            columns: String::new(),
            spread: String::new(),
            device_id: String::new(),
            remap: Remap::Error.name(),
            seed: 0,
            limit: 1,
            speed: 1.0,
            queue_depth: 1,
            idle: 0.5,
            requests: false,
            design: Design::Grid,
            points: 0,
            design_seed: 1,
        }
    }
}

/// Keys of the replay speed, which exclude each other: a point has at most one of them.
pub(super) const REPLAY_SPEEDS: [&str; 3] = ["queue_depth", "speed", "idle"];
/// Keys of a sweep that name the source of requests: exactly one of them applies to each point,
/// that is, each run of the sweep.
pub(super) const SOURCES: [&str; 2] = ["workload", "trace"];
/// Keys of a sweep that say how traces are read.
const READING: [&str; 6] = ["format", "lenient", "columns", "spread", "device_id", "remap"];
/// Keys of a sweep that are not part of the drive but may be an axis.
pub(super) const AXES: [&str; 9] =
    ["device", "scheme", "workload", "trace", "seed", "limit", "speed", "queue_depth", "idle"];

fn formats() -> Vec<Word> {
    Format::ALL.iter().map(|format| (format.name(), format.columns())).collect()
}

fn remaps() -> Vec<Word> {
    let about = ["they are an error", "they wrap around", "touched pages are moved together"];
    Remap::ALL.iter().map(|remap| remap.name()).zip(about).collect()
}

/// Returns every key of a sweep's specification except `set`, `axis` and `point`.
#[rustfmt::skip]
pub(super) fn keys() -> Vec<Key<Spec>> {
    // Analyses hold levels as 64-bit floats, which tell whole numbers apart up to 2^53.
    const SEEDS: std::ops::RangeInclusive<u64> = 0..=1 << 53;
    let text = |path, about, expected, get, set| key(path, about, Field::Text(expected, get, set));
    vec![
        text("title", "title of the sweep", "text",
            |it| it.title.clone(), |it, text| { it.title = text.into(); Ok(()) }),
        text("device", "the drive: a preset or a file that ends in .toml", axis::DRIVE,
            |it| it.device.clone(), |it, text| { it.device = text.into(); Ok(()) }),
        text("scheme", "policy choices: a scheme, a file that ends in .toml, or several joined by +", axis::SCHEME,
            |it| it.scheme.clone(), |it, text| { it.scheme = text.into(); Ok(()) }),
        text("workload", "the requests: a generator", axis::WORKLOAD,
            |it| it.workload.clone(), |it, text| { it.workload = text.into(); Ok(()) }),
        text("trace", "the requests: a block trace", axis::TRACE,
            |it| it.trace.clone(), |it, text| { it.trace = text.into(); Ok(()) }),
        key("format", "the format of traces", Field::Word(formats, at!(format))),
        key("lenient", "most bad lines of a trace to skip, in percent of all lines",
            Field::Real(0.0..=100.0, at!(lenient))),
        text("columns", "the columns of a CSV, in order", COLUMNS,
            |it| it.columns.clone(), |it, text| {
                CsvColumns::parse(text).map_err(|wrong| wrong.0[0].what.clone())?;
                it.columns = text.into();
                Ok(())
            }),
        text("spread", "how arrivals in whole seconds are spread over their seconds", "even, poisson or none",
            |it| it.spread.clone(), |it, text| {
                Spread::by_name(text).ok_or_else(|| format!("`{}` is not a spread", crate::diagnostic::printable(text)))?;
                it.spread = text.into();
                Ok(())
            }),
        text("device_id", "the device to replay from a trace of several", DEVICES,
            |it| it.device_id.clone(), |it, text| {
                device_id(text).ok_or_else(|| format!("`{}` is not a device", crate::diagnostic::printable(text)))?;
                it.device_id = text.into();
                Ok(())
            }),
        key("remap", "what happens to addresses that the drive does not have", Field::Word(remaps, at!(remap))),
        key("seed", "seed of every random number stream of the drive and the workload", 
            Field::Count(SEEDS, at!(seed))),
        key("limit", "most requests to run", Field::Count(1..=u64::MAX, at!(limit))),
        key("speed", "factor by which times are divided", Field::Real(1e-3..=1e9, at!(speed))),
        key("queue_depth", "requests kept outstanding; their times are ignored", Field::Count(1..=65_536, at!(queue_depth))),
        key("idle", "share of the time that the drive should idle; times are scaled to reach it",
            Field::Real(1e-6..=0.999_999, at!(idle))),
        key("requests", "whether to save a file of every request for every point", Field::Flag(at!(requests))),
        key("design", "how points are chosen from the axes",
            words!(design,
                "grid" => Design::Grid, "every combination of the axes' values";
                "list" => Design::List, "the points listed in [[point]] tables";
                "random" => Design::Random, "each axis drawn independently";
                "latin_hypercube" => Design::LatinHypercube, "each axis cut into as many parts as there are points, with one point in each part";
            )),
        key("points", "number of points (random, latin_hypercube)", Field::Count(1..=POINTS_MAX, at!(points))),
        key("design_seed", "seed of the design (random, latin_hypercube)", Field::Count(SEEDS, at!(design_seed))),
    ]
}

const COLUMNS: &str = "such as ts=us,op=rw,lba=512,len=bytes";
const DEVICES: &str = "a device's number in quotes, or \"side-by-side\"";

fn key(path: &'static str, about: &'static str, field: Field<Spec>) -> Key<Spec> {
    Key { path, about: about.into(), required: false, field, needs: Vec::new() }
}

/// The specification of a sweep that has been read, with the place of each setting in the file.
pub(super) struct Read {
    pub spec: Spec,
    /// Place of each key that is set: file and line.
    pub origins: BTreeMap<&'static str, Origin>,
    /// Settings `key=value` of the drive that all runs of the sweep share.
    pub set: Vec<String>,
    /// The axes of the sweep, in the order of the file.
    pub axes: Vec<Axis>,
    /// Points that a sweep of the design "list" names one by one: for each point, the index of its
    /// value on each axis; `None` for an axis that the point does not have.
    pub rows: Vec<Vec<Option<usize>>>,
}

impl Read {
    /// Returns true if the text of the sweep's specification sets `key`, a key such as `trace` or
    /// `design`.
    pub fn says(&self, key: &str) -> bool {
        self.origins.contains_key(key)
    }

    /// Returns the options for reading traces, and the mapping of their addresses.
    pub fn options(&self) -> (ReadOptions, Remap) {
        let spec = &self.spec;
        let options = ReadOptions {
            format: self.says("format").then(|| Format::by_name(spec.format)).flatten(),
            lenient: self.says("lenient").then_some(spec.lenient / 100.0),
            device: device_id(&spec.device_id).unwrap_or_default(),
            columns: CsvColumns::parse(&spec.columns).ok(),
            spread: Spread::by_name(&spec.spread),
            ..ReadOptions::default()
        };
        (options, Remap::by_name(spec.remap).unwrap_or_default())
    }
}

/// Reads the specification of a sweep. Reports all errors in keys and values at once.
pub(super) fn read(text: &str, name: &str, keys: &mut Keys) -> Result<Read, Diagnostics> {
    let (settings, syntax) = read_toml_with_rows(text, name, Some(ROWS));
    let below = |setting: &Setting, section: &str| {
        let rest = setting.path.strip_prefix(section);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    let (rows, rest): (Vec<_>, Vec<_>) = settings.into_iter().partition(|it| below(it, ROWS));
    let (axes, rest): (Vec<_>, Vec<_>) = rest.into_iter().partition(|it| below(it, "axis"));
    let (set, rest): (Vec<_>, Vec<_>) = rest.into_iter().partition(|it| it.path == "set");
    let mut builder = ConfigBuilder::new(self::keys(), Spec::default()).listed(LISTING);
    builder.note(syntax);
    builder.apply(&rest);
    let mut diagnostics = Diagnostics::default();
    let built = diagnostics.take(builder.finish_with_origins(name, ""));
    let set = diagnostics.take(always(&set, keys)).unwrap_or_default();
    let axes = diagnostics.take(axis::axes(&axes, keys)).unwrap_or_default();
    let listed = diagnostics.take(axis::rows(&rows, keys));
    let Some((spec, origins)) = built else { return Err(sorted(diagnostics)) };
    let is_list = spec.design == Design::List;
    let first = axes.first().map(|axis| axis.origin.clone());
    let (listed, rows_given) = (listed.unwrap_or_default(), rows.first());
    let (axes, rows) = if is_list { listed } else { (axes, Vec::new()) };
    let read = Read { spec, origins, set, axes, rows };
    diagnostics.0.extend(misplaced(&read, first.as_ref(), rows_given).0);
    diagnostics.0.extend(exclusive(&read, name).0);
    diagnostics.0.extend(fixed_axes(&read, keys).0);
    let sound = diagnostics.0.is_empty();
    if sound {
        diagnostics.take(super::design::check(&read, name));
    }
    sorted(diagnostics).or(read)
}

/// Sorts diagnostics by their line; those without a line come last.
fn sorted(mut diagnostics: Diagnostics) -> Diagnostics {
    diagnostics.0.sort_by_key(|diagnostic| diagnostic.line.unwrap_or(u64::MAX));
    diagnostics.unique()
}

/// Reads the drive settings `key=value` that all points of a sweep share, and checks them against
/// the drive's configuration keys.
fn always(set: &[Setting], keys: &mut Keys) -> Result<Vec<String>, Diagnostics> {
    let mut diagnostics = Diagnostics::default();
    let mut all = Vec::new();
    for setting in set {
        let expected = "a list of \"key=value\"";
        let Value::List(items) = &setting.value else {
            let what = format!("`set`: expected a list, found {}", setting.value.kind());
            diagnostics.push(setting.origin.diagnostic(what).expected(expected));
            continue;
        };
        for item in items {
            let Value::Text(text) = item else {
                let what = format!("`set`: an item is {}", item.kind());
                diagnostics.push(setting.origin.diagnostic(what).expected(expected));
                continue;
            };
            let here = |diagnostic: Diagnostic| Diagnostic {
                file: setting.origin.file.clone(),
                line: setting.origin.line,
                ..diagnostic
            };
            let read = read_flag("set", text).and_then(|flag| keys.accepts(&flag));
            match read {
                Ok(()) => all.push(text.clone()),
                Err(wrong) => diagnostics.0.extend(wrong.0.into_iter().map(here)),
            }
        }
    }
    diagnostics.or(all)
}

/// Rejects axes of a sweep whose key `set` fixes: `set` would override them, so that all points
/// would be equal.
fn fixed_axes(read: &Read, keys: &Keys) -> Diagnostics {
    let mut diagnostics = Diagnostics::default();
    let hint = "leave it out of `set`".to_string();
    for flag in read.set.iter().filter_map(|text| read_flag("set", text).ok()) {
        let knob = keys.knob(&flag.path);
        for axis in read.axes.iter().filter(|axis| Some(axis.knob) == knob) {
            let what = format!("the axis `{}` is also fixed by `set`", axis.name);
            diagnostics.push(axis.origin.diagnostic(what).hint(hint.clone()));
        }
        if let Some(origin) = read.origins.get("seed").filter(|_| flag.path == "seed") {
            let what = "the key `seed` sets the seed, and so does `set`";
            diagnostics.push(origin.diagnostic(what).hint(hint.clone()));
        }
    }
    diagnostics
}

/// Rejects keys of a sweep that belong to another design, and keys for traces where there are none.
fn misplaced(read: &Read, axis: Option<&Origin>, row: Option<&Setting>) -> Diagnostics {
    let mut diagnostics = Diagnostics::default();
    let design = read.spec.design;
    let drawn = matches!(design, Design::Random | Design::LatinHypercube);
    for key in ["points", "design_seed"] {
        if let Some(origin) = read.origins.get(key).filter(|_| !drawn) {
            let what = format!("`{key}` applies only to the designs random and latin_hypercube");
            diagnostics.push(origin.diagnostic(what));
        }
    }
    if let Some(row) = row.filter(|_| design != Design::List) {
        let what = "`[[point]]` applies only to sweeps whose `design` is \"list\"";
        diagnostics.push(row.origin.diagnostic(what).hint("design = \"list\"".to_string()));
    }
    if let Some(axis) = axis.filter(|_| design == Design::List) {
        let what = "`[axis]` does not apply to sweeps whose `design` is \"list\"";
        diagnostics.push(axis.diagnostic(what).expected("[[point]] tables, one for each point"));
    }
    let traces = read.says("trace") || read.axes.iter().any(|axis| axis.name == "trace");
    for key in READING {
        if let Some(origin) = read.origins.get(key).filter(|_| !traces) {
            diagnostics.push(
                origin.diagnostic(format!("`{key}` applies only to traces, and none is given")),
            );
        }
    }
    diagnostics
}

/// Rejects keys of a sweep that exclude each other, and points without a source of requests.
fn exclusive(read: &Read, name: &str) -> Diagnostics {
    let mut diagnostics = Diagnostics::default();
    for group in [&REPLAY_SPEEDS[..], &SOURCES] {
        let said: Vec<&str> = group.iter().copied().filter(|key| read.says(key)).collect();
        if let [first, second, ..] = said[..] {
            let what = format!("`{first}` and `{second}` are both given");
            diagnostics.push(read.origins[second].diagnostic(what).hint(
                "leave out one of the two keys: a sweep may have only one of them".to_string(),
            ));
        }
        for row in super::design::shapes(read) {
            let axes: Vec<&Axis> = row
                .iter()
                .map(|&axis| &read.axes[axis])
                .filter(|it| group.contains(&&*it.name))
                .collect();
            if let [first, second, ..] = axes[..] {
                let what = format!("`{}` and `{}` exclude each other", first.name, second.name);
                diagnostics.push(second.origin.diagnostic(what).hint(
                    "leave out one of the two axes: a sweep may have only one of them".to_string(),
                ));
            }
            let sourced = axes.iter().any(|it| SOURCES.contains(&&*it.name)) || !said.is_empty();
            if group == SOURCES && !sourced {
                let what = "neither `workload` nor `trace` is given";
                diagnostics
                    .push(Diagnostic::new(name, what).hint("workload = \"demo\"".to_string()));
            }
        }
    }
    diagnostics.unique()
}
