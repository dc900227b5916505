//! Reads a file of measurements and checks its form. All errors are reported at once.

use super::fio;
use super::kind::Kind;
use super::topics::{self, Facts, Setup};
use fowler_experiment::diagnostic::{Diagnostic, Diagnostics, printable};
use fowler_experiment::text_file;
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};

/// Size of the largest file of measurements that is read, in bytes: many times the largest known
/// one.
const MAX_BYTES: u64 = 16 << 20;
/// Largest number of measured rows (one per run of a benchmark) in a file of measurements, over all
/// of the file's drives.
const ROWS_MOST: usize = 100_000;
/// Number of problems in the rows of a file of measurements that are listed; further ones are only
/// counted.
const WRONG_ROWS_SHOWN: usize = 20;

/// Units that a file of measurements may use: the key in the file's object `units`, and the words
/// with which its text must begin.
const UNITS: [(&str, &str); 5] = [
    ("latency", "us"),
    ("write_us", "us"),
    ("mb_s", "10^6 bytes/s"),
    ("capacity_gb", "10^9 bytes"),
    ("user_gib", "2^30 bytes"),
];

/// Keys of a measured row that describe the conditions of the measurement, for all kinds of
/// measurement. Together they distinguish the rows of one drive.
pub const SETUP: [&str; 27] = [
    "offered_write_iops",
    "pattern",
    "init",
    "theta",
    "zones",
    "active_zones",
    "zone_gib",
    "io_kib",
    "campaign",
    "used_gib",
    "overwritten_x_used",
    "write_limit_mb_s",
    "read_qd",
    "write_bs",
    "write_qd",
    "write_rw",
    "write_jobs",
    "series",
    "engine",
    "block_bytes",
    "op",
    "kib",
    "threads",
    "jobs",
    "qd_per_job",
    "result",
    "size",
];

/// A file of measurements of real drives.
#[derive(Clone, Debug)]
pub struct Measured {
    /// Path from which the file of measurements was read.
    pub path: PathBuf,
    /// Title of the file of measurements.
    pub title: String,
    /// Kind of measurement (such as latency under load) that the file's rows hold.
    pub kind: Kind,
    /// Description of the measurement's protocol (its kind, load and probe), as in the file of
    /// measurements.
    pub protocol: Map<String, Value>,
    /// Numbers of threads, queue depths, arrivals and rates that the protocol of a measurement
    /// states, by topic (part of the measurement, such as `probe`).
    pub setup: Setup,
    /// Remarks: on jobs in fio output and on those not used; for a file in the project's own
    /// format, on facts and keys that it states and that its kind of measurement does not read.
    pub notes: Vec<String>,
    /// The measured drives of the file, with their rows.
    pub drives: Vec<MeasuredDrive>,
}

/// A measured drive of a file, with its rows.
#[derive(Clone, Debug)]
pub struct MeasuredDrive {
    /// Model of the drive.
    pub model: String,
    /// Name of the sample, if the file has several drives of one model.
    pub sample: Option<String>,
    /// Everything that the file of measurements says about the drive, by key, except the measured
    /// rows.
    pub facts: Map<String, Value>,
    /// Measured rows of the drive.
    pub rows: Vec<Row>,
}

impl MeasuredDrive {
    /// Returns a number that the file of measurements states about the drive as a whole, by its
    /// key; `None` if it states none.
    pub fn number(&self, key: &str) -> Option<f64> {
        self.facts.get(key).and_then(Value::as_f64)
    }
}

/// A row of measurements: the conditions of one run, and its results.
#[derive(Clone, Debug)]
pub struct Row {
    /// Number of the row among the rows of its drive, from 1.
    pub number: usize,
    /// Keys and values of a measured row, as in the file of measurements.
    pub values: Map<String, Value>,
    /// Values of a measured row under flat keys, those of nested ones joined by dots:
    /// `read_us.p99`.
    flat: Vec<(String, Value)>,
}

impl Row {
    /// Returns a measured row with the number `number` (its place among its drive's rows) and these
    /// keys and values.
    pub fn new(number: usize, values: Map<String, Value>) -> Row {
        let mut flat = Vec::new();
        for (key, value) in &values {
            flatten(key, value, &mut flat);
        }
        Row { number, values, flat }
    }

    /// Returns the flat keys of a measured row, those of nested values joined by dots:
    /// `read_us.p99`.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.flat.iter().map(|(key, _)| key.as_str())
    }

    /// Returns the numeric values of a measured row, each with its flat key, such as `read_us.p99`.
    pub fn numbers(&self) -> impl Iterator<Item = (&str, f64)> {
        self.flat.iter().filter_map(|(key, value)| Some((key.as_str(), value.as_f64()?)))
    }

    /// Returns the keys of a measured row that describe the conditions of a measurement of this
    /// kind, such as the request size, with their values.
    pub fn setup(&self, kind: Kind) -> impl Iterator<Item = (&'static str, String)> {
        SETUP.iter().filter(move |key| kind.is_condition(key)).filter_map(|key| {
            let value = self.values.get(*key).filter(|value| !value.is_null())?;
            Some((*key, as_text(value)))
        })
    }

    fn get(&self, key: &str) -> Option<&Value> {
        self.flat.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// Returns the number that a measured row has under `key`; `None` if it has none.
    pub fn number(&self, key: &str) -> Option<f64> {
        self.get(key).and_then(Value::as_f64)
    }

    /// Returns the value that a measured row has under `key`, if it is a whole number from 1 to
    /// `most`.
    pub fn count(&self, key: &str, most: u32) -> Option<u32> {
        let number = self.number(key)?;
        (number.fract() == 0.0 && (1.0..=f64::from(most)).contains(&number))
            .then_some(number as u32)
    }

    /// Returns the value of a key in a measured row as text; `None` if the row has no such key or
    /// its value is `null`.
    pub fn text(&self, key: &str) -> Option<String> {
        self.get(key).filter(|value| !value.is_null()).map(as_text)
    }
}

fn as_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn flatten(key: &str, value: &Value, flat: &mut Vec<(String, Value)>) {
    match value {
        Value::Object(map) => {
            for (inner, value) in map {
                flatten(&format!("{key}.{inner}"), value, flat);
            }
        }
        Value::Array(items) => {
            for (index, value) in items.iter().enumerate() {
                flatten(&format!("{key}.{index}"), value, flat);
            }
        }
        single => flat.push((key.to_string(), single.clone())),
    }
}

impl Measured {
    /// Returns the threads, depth, share of writes, arrivals and rate that the measurement's
    /// protocol states on a topic, such as `probe`; empty if the protocol does not have the topic.
    pub fn facts(&self, topic: &str) -> Facts {
        self.setup.get(topic).copied().unwrap_or_default()
    }

    /// Returns the name of the file of measurements without folder and extension.
    pub fn stem(&self) -> String {
        self.path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
    }
}

/// Reads a file of measurements.
///
/// # Errors
/// Everything that is wrong with the file.
pub fn read(path: &Path) -> Result<Measured, Diagnostics> {
    let name = path.display().to_string();
    parse(&text_file::read(path, MAX_BYTES)?, &name, path)
}

/// Reads the text of a file of measurements; `name` is for messages.
pub(super) fn parse(text: &str, name: &str, path: &Path) -> Result<Measured, Diagnostics> {
    let value: Value = serde_json::from_str(text).map_err(|error| {
        let line = error.line();
        let wrong = text.lines().nth(line.saturating_sub(1)).unwrap_or_default();
        let what = if error.is_eof() { "the file ends too early" } else { "this is no JSON" };
        let message = error.to_string();
        let hint = message.split(" at line").next().unwrap_or_default().to_string();
        Diagnostic::new(name, what)
            .line((line > 0).then_some(line as u64))
            .text(wrong.trim())
            .expected("a JSON object")
            .hint(hint)
    })?;
    let Value::Object(mut file) = value else {
        return Err(Diagnostic::new(name, "this is no JSON object").into());
    };
    if fio::is_output(&file) {
        return fio::read(&file, name, path);
    }
    let mut check = Check { name, diagnostics: Diagnostics::default(), wrong_rows: 0 };
    let title = check.text(&file, "title", "").unwrap_or_default();
    let protocol = check.object(&mut file, "protocol", "what was done, in words by topic");
    let units = check.object(&mut file, "units", "the unit of each kind of number");
    check.units(&units.unwrap_or_default());
    let drives = check.drives(file.remove("drives"));
    let protocol = protocol.unwrap_or_default();
    let kind = check.kind(&protocol, &drives);
    let read = kind.map(|kind| {
        let (wrong, mut notes) = (&mut check.diagnostics, Vec::new());
        let rows = drives.iter().flat_map(|drive| &drive.rows).map(|row| &row.values);
        let rows: Vec<&Map<String, Value>> = rows.collect();
        let setup = topics::read((name, text), kind, &protocol, &rows, wrong, &mut notes);
        notes.extend(unread_keys(kind, &drives));
        (setup, notes)
    });
    check.diagnostics.or(())?;
    let (Some(kind), Some((setup, notes))) = (kind, read) else {
        return Err(Diagnostic::new(
            name,
            "the kind of measurement cannot be told from this file; name it with `protocol.kind`",
        )
        .into());
    };
    Ok(Measured { path: path.to_path_buf(), title, kind, protocol, setup, notes, drives })
}

/// Returns a remark for each key that would describe the conditions of rows of another kind, but
/// that no simulation of this kind reads.
fn unread_keys(kind: Kind, drives: &[MeasuredDrive]) -> Vec<String> {
    let has =
        |key: &str| drives.iter().flat_map(|drive| &drive.rows).any(|row| row.text(key).is_some());
    let unread = SETUP.iter().filter(|key| !kind.is_condition(key) && has(key));
    let note = |key: &&str| {
        format!("the `{key}` of rows is not simulated: rows of {} have no such key", kind.name())
    };
    unread.map(note).collect()
}

/// Checks the parts of a file of measurements, and collects all errors.
struct Check<'a> {
    name: &'a str,
    diagnostics: Diagnostics,
    wrong_rows: usize,
}

impl Check<'_> {
    fn wrong(&mut self, what: impl Into<String>, expected: &str) {
        self.diagnostics.push(Diagnostic::new(self.name, what).expected(expected));
    }

    fn text(&mut self, map: &Map<String, Value>, key: &str, of: &str) -> Option<String> {
        match map.get(key) {
            Some(Value::String(text)) if !text.trim().is_empty() => Some(text.clone()),
            Some(_) => {
                self.wrong(format!("{of}`{key}` is no text"), "text in quotes");
                None
            }
            None => {
                self.wrong(format!("{of}`{key}` is missing"), "text in quotes");
                None
            }
        }
    }

    fn object(
        &mut self,
        map: &mut Map<String, Value>,
        key: &str,
        expected: &str,
    ) -> Option<Map<String, Value>> {
        match map.remove(key) {
            Some(Value::Object(inner)) if !inner.is_empty() => Some(inner),
            Some(_) => {
                self.wrong(format!("`{key}` is not an object with keys"), expected);
                None
            }
            None => {
                self.wrong(format!("`{key}` is missing"), expected);
                None
            }
        }
    }

    fn units(&mut self, units: &Map<String, Value>) {
        for (unit, begins) in UNITS {
            let Some(value) = units.get(unit) else { continue };
            let text = value.as_str().unwrap_or_default();
            let rest = text.strip_prefix(begins);
            if rest.is_none_or(|rest| rest.starts_with(|c: char| c.is_alphanumeric())) {
                let what = format!("`units.{unit}` is {}", printable(value.to_string()));
                self.wrong(what, &format!("\"{begins}\""));
            }
        }
        let per_second = units.get("iops").and_then(Value::as_str);
        if per_second.is_some_and(|text| !text.contains("per second")) {
            self.wrong("`units.iops` is not per second", "\"operations per second\"");
        }
    }

    fn drives(&mut self, drives: Option<Value>) -> Vec<MeasuredDrive> {
        let Some(Value::Array(drives)) = drives else {
            self.wrong("`drives` is missing or no list", "a list of drives with rows");
            return Vec::new();
        };
        if drives.is_empty() {
            self.wrong("there is no drive", "a list of drives with rows");
        }
        let mut rows_so_far = 0;
        let mut read = Vec::new();
        for (number, drive) in (1..).zip(drives) {
            let Value::Object(mut drive) = drive else {
                self.wrong(
                    format!("drive {number} is no object"),
                    "an object with `model`, `rows`",
                );
                continue;
            };
            let model = self.text(&drive, "model", &format!("drive {number}: "));
            let rows = drive.remove("rows");
            let model = model.unwrap_or_else(|| format!("drive {number}"));
            let rows = self.rows(rows, &model, &mut rows_so_far);
            let sample = drive.get("sample").filter(|sample| !sample.is_null()).map(as_text);
            read.push(MeasuredDrive { model, sample, facts: drive, rows });
        }
        if self.wrong_rows > WRONG_ROWS_SHOWN {
            let more = self.wrong_rows - WRONG_ROWS_SHOWN;
            self.wrong(format!("{more} more rows are wrong"), "rows that are objects");
        }
        read
    }

    fn rows(&mut self, rows: Option<Value>, model: &str, so_far: &mut usize) -> Vec<Row> {
        let model = printable(model);
        let Some(Value::Array(rows)) = rows else {
            self.wrong(format!("{model}: `rows` is missing or no list"), "a list of objects");
            return Vec::new();
        };
        *so_far += rows.len();
        if *so_far > ROWS_MOST {
            self.wrong(format!("{model}: over {ROWS_MOST} rows"), "fewer rows in a file");
            return Vec::new();
        }
        let mut read = Vec::new();
        for (number, row) in (1..).zip(rows) {
            match row {
                Value::Object(values) if !values.is_empty() => read.push(Row::new(number, values)),
                _ => {
                    self.wrong_rows += 1;
                    if self.wrong_rows <= WRONG_ROWS_SHOWN {
                        self.wrong(format!("{model}: row {number} is no object"), "an object");
                    }
                }
            }
        }
        read
    }

    /// Returns the kind of protocol: named by `protocol.kind`, or recognized by the keys of the
    /// file and of its rows.
    fn kind(&mut self, protocol: &Map<String, Value>, drives: &[MeasuredDrive]) -> Option<Kind> {
        let names = Kind::names().collect::<Vec<_>>().join(", ");
        if let Some(named) = protocol.get("kind") {
            let known = named.as_str().and_then(Kind::by_name);
            if known.is_none() {
                let what = format!("`protocol.kind` {} is not known", printable(named.to_string()));
                self.wrong(what, &format!("one of {names}"));
            }
            return known;
        }
        let first = drives
            .iter()
            .flat_map(|drive| &drive.rows)
            .find_map(|row| Kind::of(protocol, &row.values));
        if first.is_none() && !protocol.is_empty() && !drives.is_empty() {
            let row = drives.iter().find_map(|drive| drive.rows.first());
            let keys = |map: &Map<String, Value>| {
                map.keys().take(12).map(printable).collect::<Vec<_>>().join(", ")
            };
            let rows = row.map_or("nothing".into(), |row| keys(&row.values));
            let what = format!(
                "the kind of measurement is not known: `protocol` has the keys {}, and the rows \
                 have the keys {rows}",
                keys(protocol)
            );
            let hint = format!("name the kind of measurement with `protocol.kind`: one of {names}");
            self.diagnostics.push(Diagnostic::new(self.name, what).hint(hint));
        }
        first
    }
}
