//! The axes of a sweep: the keys that vary, and their values.

use super::spec::{self, AXES, Spec};
use crate::device_spec;
use crate::diagnostic::{Diagnostic, Diagnostics, printable};
use crate::document::{Origin, Setting, Value};
use crate::field::{Complaint, Field, nearest};
use crate::keys::{self, Key, former_keys};
use fowler_device::Config;
use std::collections::BTreeMap;

pub(super) const DRIVE: &str = "a preset, or a file that ends in .toml";
pub(super) const SCHEME: &str = "a scheme, a file that ends in .toml, or several joined by +";
pub(super) const WORKLOAD: &str = "a preset, or a file that ends in .toml";
pub(super) const TRACE: &str = "the file of a trace";

/// Value of a sweep's axis, as a number or text for analyses.
#[derive(Clone, Debug, PartialEq)]
pub enum Level {
    /// A number: times in nanoseconds, sizes in bytes, rates in bytes per second.
    Number(f64),
    /// A value that is not a number: a name, a word or a list.
    Text(String),
}

impl std::fmt::Display for Level {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Level::Number(number) => write!(f, "{number}"),
            Level::Text(text) => f.write_str(text),
        }
    }
}

/// A value chosen for an axis of a sweep: as a level for analyses, and as TOML for the
/// configuration.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Chosen {
    pub level: Level,
    /// Value that a run of a sweep gives to the key of this axis, written in TOML for the
    /// configuration.
    pub text: String,
}

/// The key that an axis varies: one of the sweep's specification, or one of the drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Knob {
    Own(&'static str),
    Drive(&'static str),
}

/// An axis of a sweep: a key, and the values that it takes.
#[derive(Clone, Debug)]
pub(super) struct Axis {
    pub name: String,
    pub knob: Knob,
    pub levels: Levels,
    pub origin: Origin,
}

/// The values of a sweep's axis: a list or a range.
#[derive(Clone, Debug)]
pub(super) enum Levels {
    List(Vec<Chosen>),
    Range(Range),
}

/// A range of numbers as the values of a sweep's axis.
#[derive(Clone, Debug)]
pub(super) struct Range {
    pub from: f64,
    pub to: f64,
    pub log: bool,
    pub steps: Option<u64>,
}

impl Range {
    /// Returns the number at a fraction of the range of a sweep's axis, 0 at its lower end (`from`)
    /// and 1 at its upper end (`to`), linearly or logarithmically.
    pub fn at(&self, share: f64) -> f64 {
        let Range { from, to, .. } = *self;
        let number = if self.log {
            // `libm` gives the same bits on every machine.
            libm::exp(libm::log(from) + share * (libm::log(to) - libm::log(from)))
        } else {
            from + share * (to - from)
        };
        number.clamp(from, to)
    }
}

/// Every key that an axis of a sweep may vary: those of the sweep's file and those of the drive.
/// Values are checked by storing them in `spec` and `config`, which serve no other purpose.
pub(super) struct Keys {
    own: Vec<Key<Spec>>,
    drive: Vec<Key<Config>>,
    spec: Spec,
    config: Config,
}

impl Keys {
    pub fn new() -> Keys {
        let own = spec::keys().into_iter().filter(|key| AXES.contains(&key.path)).collect();
        Keys { own, drive: keys::all(), spec: Spec::default(), config: device_spec::defaults() }
    }

    /// Returns the key of the sweep or of the drive with this name; `None` if no axis of a sweep
    /// may vary a key of this name.
    pub fn knob(&self, name: &str) -> Option<Knob> {
        let own = self.own.iter().find(|key| key.path == name).map(|key| Knob::Own(key.path));
        // `policy.x.name` means the same as `policy.x`.
        let slot = name.strip_suffix(".name").filter(|slot| slot.starts_with("policy."));
        let wanted = slot.unwrap_or(name);
        let drive = || self.drive.iter().find(|key| key.path == wanted);
        own.or_else(|| drive().map(|key| Knob::Drive(key.path)))
    }

    fn expected(&self, knob: Knob) -> String {
        match knob {
            Knob::Own(path) => field(&self.own, path).expected(),
            Knob::Drive(path) => field(&self.drive, path).expected(),
        }
    }

    /// Checks a value of a sweep's axis against the key that the axis varies, and returns it as a
    /// level for analyses and as TOML for the configuration.
    pub fn choose(&mut self, knob: Knob, value: &Value) -> Result<Chosen, Complaint> {
        match knob {
            Knob::Own(path) => chosen(field(&self.own, path), &mut self.spec, value),
            Knob::Drive(path) => chosen(field(&self.drive, path), &mut self.config, value),
        }
    }

    /// Returns the value that a configuration key accepts and that is nearest to `number`, such as
    /// the nearest whole number; `None` for keys that take no numbers.
    pub fn nearest(&mut self, knob: Knob, number: f64) -> Option<Chosen> {
        let value = match knob {
            Knob::Own(path) => field(&self.own, path).value(number),
            Knob::Drive(path) => field(&self.drive, path).value(number),
        };
        self.choose(knob, &value?).ok()
    }

    /// Checks a setting of a drive against its key alone, not against the rest of the drive.
    pub fn accepts(&mut self, setting: &Setting) -> Result<(), Diagnostics> {
        let knob = match self.knob(&setting.path) {
            Some(knob @ Knob::Drive(_)) => knob,
            // The seed of a specification is the seed of the drive.
            Some(Knob::Own("seed")) => Knob::Drive("seed"),
            _ => return Err(self.unknown(&setting.path, &setting.origin, false).into()),
        };
        match self.choose(knob, &setting.value) {
            Ok(_) => Ok(()),
            Err(complaint) => {
                Err(self.refused(&setting.path, knob, &setting.origin, complaint).into())
            }
        }
    }

    fn refused(&self, name: &str, knob: Knob, origin: &Origin, complaint: Complaint) -> Diagnostic {
        let diagnostic = origin.diagnostic(format!("`{name}`: {}", complaint.what));
        diagnostic.expected(self.expected(knob)).hint(complaint.hint)
    }

    fn unknown(&self, name: &str, origin: &Origin, own: bool) -> Diagnostic {
        let paths = self.drive.iter().map(|key| key.path);
        let last = |path: &'static str| path.rsplit('.').next().unwrap_or(path);
        let ending = name.rsplit('.').next().unwrap_or(name);
        let meant = paths.clone().find(|path| last(path) == ending);
        let all = paths.chain(AXES.into_iter().filter(|_| own));
        let meant = meant.or_else(|| nearest(name, all));
        let hint = meant.map(|path| format!("did you mean `{path}`?"));
        let hint = former_keys::advice(name).or(hint);
        let what = if own { "unknown axis" } else { "unknown key" };
        let diagnostic = origin.diagnostic(format!("{what} `{}`", printable(name)));
        let known = if own {
            format!("one of {}, or a configuration key of the drive", AXES.join(", "))
        } else {
            "a configuration key of the drive".into()
        };
        let listing = "`fowler presets --keys` lists the keys of the drive";
        diagnostic.expected(known).hint(hint.or(Some(listing.into())))
    }
}

fn field<'a, T>(keys: &'a [Key<T>], path: &str) -> &'a Field<T> {
    let key = keys.iter().find(|key| key.path == path);
    &key.expect("a knob is made of a key").field
}

fn chosen<T>(field: &Field<T>, target: &mut T, value: &Value) -> Result<Chosen, Complaint> {
    field.read(target, value)?;
    let text = field.print(target);
    let bare = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(&text);
    let level = field.number(target).map_or_else(|| Level::Text(bare.into()), Level::Number);
    Ok(Chosen { level, text })
}

/// The settings of one axis while a sweep's file is read: the whole axis, such as a list of values,
/// or the parts of its range (`from`, `to`, `scale` and `steps`).
#[derive(Default)]
struct Parts<'a> {
    whole: Option<&'a Setting>,
    range: BTreeMap<&'static str, &'a Setting>,
}

pub(super) const RANGE: [&str; 4] = ["from", "to", "scale", "steps"];
/// The words that the `scale` of an axis accepts.
pub(super) const SCALES: [&str; 2] = ["linear", "log"];

/// Splits a path below `axis.` into the key that the axis varies and the part of its range, if any.
fn named(setting: &Setting) -> (String, Option<&'static str>) {
    let rest = setting.path.strip_prefix("axis.").unwrap_or("");
    if let Some(inside) = rest.strip_prefix('"')
        && let Some((name, part)) = inside.split_once('"')
    {
        let part = part.strip_prefix('.');
        let known = part.and_then(|part| RANGE.into_iter().find(|known| *known == part));
        // Further parts belong to the name, which is then unknown.
        let more = part.filter(|_| known.is_none()).map_or(String::new(), |it| format!(".{it}"));
        return (format!("{name}{more}"), known);
    }
    let range = RANGE.into_iter().find_map(|part| {
        let name = rest.strip_suffix(part)?.strip_suffix('.')?;
        Some((name.to_string(), Some(part)))
    });
    let listed = matches!(setting.value, Value::List(_));
    range.filter(|_| !listed).unwrap_or_else(|| (rest.to_string(), None))
}

/// Reads the axes of a sweep from the settings below `[axis]`, in the order of the file.
pub(super) fn axes(settings: &[Setting], keys: &mut Keys) -> Result<Vec<Axis>, Diagnostics> {
    let mut diagnostics = Diagnostics::default();
    let mut order: Vec<(String, Parts<'_>)> = Vec::new();
    for setting in settings {
        if setting.path == "axis" {
            if setting.value != Value::EmptyTable {
                let what = format!("`axis` must be a table of axes, not {}", setting.value.kind());
                diagnostics.push(setting.origin.diagnostic(what).expected("[axis]"));
            }
            continue;
        }
        let (name, part) = named(setting);
        let index = order.iter().position(|(other, _)| *other == name).unwrap_or_else(|| {
            order.push((name, Parts::default()));
            order.len() - 1
        });
        let parts = &mut order[index].1;
        match part {
            Some(part) => drop(parts.range.insert(part, setting)),
            None => parts.whole = Some(setting),
        }
    }
    let mut axes: Vec<Axis> = Vec::new();
    for (name, parts) in &order {
        let Some(axis) = diagnostics.take(axis(name, parts, keys)) else { continue };
        if let Some(twice) = axes.iter().find(|other| other.knob == axis.knob) {
            let what = format!("`{}` and `{name}` are the same axis", twice.name);
            diagnostics.push(axis.origin.diagnostic(what));
        }
        axes.push(axis);
    }
    diagnostics.or(axes)
}

fn axis(name: &str, parts: &Parts<'_>, keys: &mut Keys) -> Result<Axis, Diagnostics> {
    let any = parts.whole.or_else(|| parts.range.values().copied().min_by_key(|it| it.origin.line));
    let Some(any) = any else { return Err(Diagnostic::new("", "an axis is empty").into()) };
    let origin = any.origin.clone();
    let Some(knob) = keys.knob(name) else { return Err(keys.unknown(name, &origin, true).into()) };
    let levels = match parts.whole {
        Some(setting) => list(name, knob, setting, keys)?,
        None => range(name, knob, &parts.range, &origin, keys)?,
    };
    Ok(Axis { name: name.into(), knob, levels, origin })
}

const VALUES: &str =
    "a list of values, or a range such as { from = 1, to = 8 }, with scale = \"log\" or steps = 5";

fn list(name: &str, knob: Knob, setting: &Setting, keys: &mut Keys) -> Result<Levels, Diagnostics> {
    let origin = &setting.origin;
    let Value::List(items) = &setting.value else {
        let what = format!("`{name}`: expected a list of values, found {}", setting.value.kind());
        let hint = "a key with one value for every point goes outside [axis]".to_string();
        return Err(origin.diagnostic(what).expected(VALUES).hint(hint).into());
    };
    if items.is_empty() {
        return Err(origin.diagnostic(format!("`{name}` has no values")).expected(VALUES).into());
    }
    let mut diagnostics = Diagnostics::default();
    let mut levels: Vec<Chosen> = Vec::new();
    for item in items {
        match keys.choose(knob, item) {
            Ok(level) if levels.contains(&level) => {
                let what = format!("`{name}`: {} is listed twice", level.text);
                diagnostics.push(origin.diagnostic(what));
            }
            Ok(level) => levels.push(level),
            Err(complaint) => diagnostics.push(keys.refused(name, knob, origin, complaint)),
        }
    }
    alike(&mut levels);
    diagnostics.or(Levels::List(levels))
}

/// Treats all values of a sweep's axis as words if it mixes numbers and words.
fn alike(levels: &mut [Chosen]) {
    if levels.iter().any(|it| matches!(it.level, Level::Text(_))) {
        for it in levels {
            let bare = it.text.trim_matches('"');
            it.level = Level::Text(bare.into());
        }
    }
}

fn range(
    name: &str,
    knob: Knob,
    parts: &BTreeMap<&'static str, &Setting>,
    origin: &Origin,
    keys: &mut Keys,
) -> Result<Levels, Diagnostics> {
    let mut diagnostics = Diagnostics::default();
    let mut end = |part: &str| {
        let Some(setting) = parts.get(part) else {
            diagnostics
                .push(origin.diagnostic(format!("`{name}`: `{part}` is missing")).expected(VALUES));
            return None;
        };
        match keys.choose(knob, &setting.value) {
            Ok(Chosen { level: Level::Number(number), .. }) => Some(number),
            Ok(_) => {
                let what = format!("`{name}` takes no numbers, so it cannot have a range");
                diagnostics.push(setting.origin.diagnostic(what).expected("a list of values"));
                None
            }
            Err(complaint) => {
                diagnostics.push(keys.refused(name, knob, &setting.origin, complaint));
                None
            }
        }
    };
    let ends = (end("from"), end("to"));
    let log = match parts.get("scale").map(|setting| (setting, &setting.value)) {
        None => false,
        Some((_, Value::Text(word))) if word == SCALES[0] => false,
        Some((_, Value::Text(word))) if word == SCALES[1] => true,
        Some((setting, _)) => {
            let diagnostic = setting.origin.diagnostic(format!("`{name}`: unknown scale"));
            diagnostics.push(diagnostic.expected("\"linear\" or \"log\""));
            false
        }
    };
    let steps = match parts.get("steps").map(|setting| (setting, &setting.value)) {
        None => None,
        Some((_, Value::Whole(steps))) if (2..=i128::from(spec::POINTS_MAX)).contains(steps) => {
            Some(*steps as u64)
        }
        Some((setting, _)) => {
            let diagnostic =
                setting.origin.diagnostic(format!("`{name}`: invalid number of steps"));
            diagnostics.push(
                diagnostic.expected(format!("a whole number from 2 to {}", spec::POINTS_MAX)),
            );
            None
        }
    };
    let (Some(from), Some(to)) = ends else { return Err(diagnostics) };
    if from >= to {
        let what = format!("`{name}`: the range from {from} to {to} is empty");
        diagnostics.push(origin.diagnostic(what).expected("`from` less than `to`"));
    }
    if log && from <= 0.0 {
        let what = format!("`{name}`: a logarithmic range cannot begin at {from}");
        diagnostics.push(origin.diagnostic(what).expected("`from` greater than 0"));
    }
    diagnostics.or(Levels::Range(Range { from, to, log, steps }))
}

/// Points of a sweep with a list design: all axes that occur, and for each point the index of its
/// value on each axis.
type Rows = (Vec<Axis>, Vec<Vec<Option<usize>>>);

/// Reads the `[[point]]` tables, which list the points of a sweep.
pub(super) fn rows(settings: &[Setting], keys: &mut Keys) -> Result<Rows, Diagnostics> {
    let mut diagnostics = Diagnostics::default();
    let mut axes: Vec<Axis> = Vec::new();
    let mut rows: Vec<Vec<Option<usize>>> = Vec::new();
    for setting in settings {
        let origin = &setting.origin;
        let rest = setting.path.strip_prefix(spec::ROWS).and_then(|it| it.strip_prefix('.'));
        let (index, name) = rest.map_or(("", ""), |it| it.split_once('.').unwrap_or((it, "")));
        let Ok(index) = index.parse::<usize>() else {
            let what = format!("`{}` must be a table with the values of a point", spec::ROWS);
            diagnostics.push(origin.diagnostic(what).expected("[[point]]"));
            continue;
        };
        rows.resize_with(rows.len().max(index + 1), Vec::new);
        if name.is_empty() {
            continue;
        }
        let name = name.strip_prefix('"').and_then(|it| it.strip_suffix('"')).unwrap_or(name);
        let Some(knob) = keys.knob(name) else {
            diagnostics.push(keys.unknown(name, origin, true));
            continue;
        };
        let level = match keys.choose(knob, &setting.value) {
            Ok(level) => level,
            Err(complaint) => {
                diagnostics.push(keys.refused(name, knob, origin, complaint));
                continue;
            }
        };
        let axis = axes.iter().position(|axis| axis.knob == knob).unwrap_or_else(|| {
            let levels = Levels::List(Vec::new());
            axes.push(Axis { name: name.into(), knob, levels, origin: origin.clone() });
            axes.len() - 1
        });
        let Levels::List(levels) = &mut axes[axis].levels else { continue };
        let place = levels.iter().position(|other| *other == level).unwrap_or(levels.len());
        if place == levels.len() {
            levels.push(level);
        }
        let row = &mut rows[index];
        row.resize(row.len().max(axis + 1), None);
        if row[axis].replace(place).is_some() {
            diagnostics.push(origin.diagnostic(format!("`{name}` is set twice in one point")));
        }
    }
    for row in &mut rows {
        row.resize(axes.len(), None);
    }
    for axis in &mut axes {
        if let Levels::List(levels) = &mut axis.levels {
            alike(levels);
        }
    }
    diagnostics.or((axes, rows))
}
