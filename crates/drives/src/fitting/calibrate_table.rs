//! The table `[calibrate]` of a drive file: the parameters that may be fitted, their bounds, and
//! the public source of the bounds; and the choices, of which a fit tries every option. In a fitted
//! drive, the table also has the measured numbers that the drive was fitted to, and the covariance
//! of the parameters.
//!
//! Invariants, which reading the table checks: at most [`MOST`] parameters, and at most
//! [`CHOICES_MOST`] choices of 2 to [`OPTIONS_MOST`] different options; the covariance has a row
//! and a column for each parameter. Everything wrong with a table is reported at once.

use super::choice::{CHOICES_MOST, Choice, OPTIONS_MOST};
use super::quantity::Quantity;
use crate::measurements::{Filter, Measured};
use fowler_experiment::device_spec::{self, DeviceSpec, FITTING, Resolved};
use fowler_experiment::diagnostic::{Diagnostic, Diagnostics};
use fowler_experiment::document::{self, Origin, Setting, Value};
use fowler_experiment::presets::Source;
use fowler_experiment::scheme::Scheme;
use std::collections::BTreeSet;

/// Largest number of parameters of a fit. More could fit any rows, and then predict nothing.
pub const MOST: usize = 6;
/// Name of the array of TOML tables in a drive file that declare what a fit may change: numeric
/// parameters, and choices between options such as policies.
const PARAMETER: &str = "parameter";
/// Keys of a TOML table in a drive file that declares a parameter to fit: configuration key,
/// bounds, and their public source.
const KEYS: [&str; 4] = ["key", "low", "high", "source"];
/// Keys of a TOML table in a drive file that declares a choice, of which a fit tries every option:
/// the options, and their public source.
const CHOICE_KEYS: [&str; 2] = ["options", "source"];

/// A configuration key that may be fitted to measurements, with its bounds.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// Configuration key that is fitted.
    pub key: String,
    /// Smallest value that a fit may give the parameter.
    pub low: Quantity,
    /// Largest value that a fit may give the parameter.
    pub high: Quantity,
    /// Public source that both bounds of the parameter are taken from, in words.
    pub source: String,
}

impl Parameter {
    /// Returns the value of the parameter at a position between its bounds: 0 is the lower bound, 1
    /// the upper one.
    pub fn at(&self, position: f64) -> Quantity {
        Quantity::between(&self.low, &self.high, position)
    }

    /// Returns the setting `key=value` for the parameter at a position between its bounds, from 0
    /// to 1.
    pub fn setting(&self, position: f64) -> String {
        format!("{}={}", self.key, self.at(position).print())
    }
}

/// The table `[calibrate]` of a drive file: parameters to fit and, in a fitted drive, the fit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CalibrateTable {
    /// Model of the real drive that the drive file describes, by its vendor's name.
    pub model: Option<String>,
    /// Parameters of the drive file that a fit to measurements may change, with their bounds.
    pub parameters: Vec<Parameter>,
    /// Settings, such as policies, for which the fit tries every option, in the order in which it
    /// takes them.
    pub choices: Vec<Choice>,
    /// Covariance of the fitted parameters, in positions between their bounds (0 to 1), by row;
    /// empty if the drive was not fitted.
    pub spread: Vec<Vec<f64>>,
    /// Measured numbers that the drive was fitted to, each as `identity of the row: key`.
    pub fitted: Vec<String>,
}

impl CalibrateTable {
    /// Reads the table `[calibrate]` of a drive file; returns an empty one if the file has none.
    ///
    /// # Errors
    /// Everything that is wrong with the table.
    pub fn read(source: &Source) -> Result<CalibrateTable, Diagnostics> {
        // Parameters are an array of tables below a table: its settings are read as one file, and
        // found by their place in it.
        let text = source
            .text
            .replace(&format!("[[{FITTING}.{PARAMETER}]]"), &format!("[[{FITTING}_{PARAMETER}]]"));
        let rows = format!("{FITTING}_{PARAMETER}");
        let (settings, wrong) = document::read_toml_with_rows(&text, &source.name, Some(&rows));
        // Errors of syntax are reported where the drive is read.
        if !wrong.0.is_empty() {
            return Err(wrong);
        }
        let mut reader = Reader {
            declared: CalibrateTable::default(),
            spread_at: None,
            wrong: Diagnostics::default(),
        };
        let mut parameters: Vec<Vec<&Setting>> = Vec::new();
        for setting in &settings {
            if let Some(rest) = setting.path.strip_prefix(&format!("{rows}.")) {
                let number = rest.split('.').next().and_then(|it| it.parse::<usize>().ok());
                let Some(number) = number.filter(|&number| number < ROWS_MOST) else { continue };
                parameters.resize_with(parameters.len().max(number + 1), Vec::new);
                parameters[number].push(setting);
            } else if let Some(key) = setting.path.strip_prefix(&format!("{FITTING}.")) {
                reader.other(key, setting);
            }
        }
        for settings in &parameters {
            reader.parameter(settings, &rows);
        }
        reader.check_counts(&parameters);
        reader.wrong.or(reader.declared)
    }

    /// Checks that the drive can be built with each fitted parameter at each of its bounds, and
    /// with each option among which the fit chooses.
    ///
    /// # Errors
    /// Every bound and option with which the drive cannot be built, with the reason.
    pub fn check(&self, drive: &Resolved) -> Result<(), Diagnostics> {
        let mut wrong = Diagnostics::default();
        for option in self.choices.iter().flat_map(|choice| &choice.options) {
            if let Err(mut why) = with(drive, option.clone()) {
                let what = format!(
                    "the drive cannot be built with the option {}; the reasons follow",
                    option.join(", ")
                );
                wrong.push(Diagnostic::new(&drive.device, what));
                wrong.0.append(&mut why.0);
            }
        }
        for parameter in &self.parameters {
            for (position, bound) in [(0.0, "lower"), (1.0, "upper")] {
                let set = vec![parameter.setting(position)];
                if let Err(mut why) = with(drive, set) {
                    let what = format!(
                        "the drive cannot be built with the {bound} bound of `{}`; the reasons \
                         follow",
                        parameter.key
                    );
                    wrong.push(Diagnostic::new(&drive.device, what));
                    wrong.0.append(&mut why.0);
                }
            }
        }
        wrong.or(())
    }

    /// Returns true if a fit decides the value of a configuration key: it is a parameter, or an
    /// option of a choice sets it.
    pub(super) fn decides(&self, key: &str) -> bool {
        let mut settings = self.choices.iter().flat_map(|it| &it.options).flatten();
        self.parameters.iter().any(|it| it.key == key) || settings.any(|it| key_of(it) == key)
    }

    /// Returns the positions (0 to 1 between the bounds) of the parameters in the drive as
    /// described.
    pub(super) fn start(&self, drive: &Resolved) -> Result<Vec<f64>, Diagnostics> {
        let (settings, wrong) = document::read_toml(&drive.text, &drive.device);
        wrong.or(())?;
        let own = |parameter: &Parameter| {
            let named = format!("{}.name", parameter.key);
            let setting = settings.iter().find(|it| it.path == parameter.key || it.path == named);
            let value = setting.and_then(|setting| Quantity::of(&setting.value));
            value.map_or(0.5, |value| value.position(&parameter.low, &parameter.high))
        };
        Ok(self.parameters.iter().map(own).collect())
    }

    /// Returns the filters with the condition added that a row is of this drive's model. The
    /// condition is left out if a filter names a model, or if no file has rows of this model: the
    /// drive is then compared with drives of other models.
    pub fn filters(&self, filters: &[Filter], files: &[Measured]) -> Vec<Filter> {
        let names_one = filters.iter().any(|filter| filter.keys().any(|key| key == "model"));
        let model = self.model.as_ref().filter(|_| !names_one && !self.is_of_others(files));
        let Some(model) = model else {
            return filters.to_vec();
        };
        match filters {
            [] => vec![Filter::of_model(model)],
            some => some.iter().map(|filter| filter.clone().and_model(model)).collect(),
        }
    }
}

impl CalibrateTable {
    /// Returns true if the drive was fitted to a model (of a real drive) that has no measured rows
    /// in `files`.
    pub fn is_of_others(&self, files: &[Measured]) -> bool {
        let has = |model: &String| {
            files.iter().flat_map(|file| &file.drives).any(|drive| drive.model == *model)
        };
        self.model.as_ref().is_some_and(|model| !has(model))
    }
}

/// Largest number of declared parameters and choices that are read from the table `[calibrate]` of
/// a drive file; a fit allows far fewer.
const ROWS_MOST: usize = 1_000;

/// Returns the drive file `drive`, with the settings `key=value` in `set` applied, as a new drive.
pub(super) fn with(drive: &Resolved, set: Vec<String>) -> Result<Resolved, Diagnostics> {
    let spec = DeviceSpec {
        device: drive.device.clone(),
        text: Some(drive.text.clone()),
        set,
        ..DeviceSpec::default()
    };
    device_spec::resolve(&spec.source()?, &Scheme::none(), &spec)
}

/// Returns true if `text` (the name of a measured number in a fitted drive file) names the measured
/// row by its number in a file, as in `row 3`.
fn names_a_number(text: &str) -> bool {
    text.split(": ")
        .any(|part| part.strip_prefix("row ").is_some_and(|rest| rest.parse::<u32>().is_ok()))
}

/// Returns true if a square matrix is symmetric, with variances from 0 to 1 on the diagonal and no
/// correlation beyond 1.
fn is_covariance(matrix: &[Vec<f64>]) -> bool {
    let cells = (0..matrix.len()).flat_map(|row| (0..matrix.len()).map(move |it| (row, it)));
    cells.into_iter().all(|(row, column)| {
        let (one, other) = (matrix[row][row], matrix[column][column]);
        let covariance = matrix[row][column];
        (0.0..=1.0).contains(&one)
            && covariance.total_cmp(&matrix[column][row]).is_eq()
            && covariance * covariance <= one * other * 1.001
    })
}

/// Returns the numbers of a list; `None` if the value is no list of finite numbers.
fn numbers(value: &Value) -> Option<Vec<f64>> {
    let number = |value: &Value| match value {
        Value::Whole(number) => Some(*number as f64),
        Value::Real(number) => Some(*number).filter(|number| number.is_finite()),
        _ => None,
    };
    match value {
        Value::List(items) => items.iter().map(number).collect(),
        _ => None,
    }
}

/// Returns the options among which a fit chooses, each a list of settings `key=value` without
/// blanks around key and value; `None` if the value has another form, if an option is empty or
/// sets a key twice, or if two options are equal.
fn options(value: &Value) -> Option<Vec<Vec<String>>> {
    let Value::List(items) = value else { return None };
    let setting = |value: &Value| match value {
        Value::Text(text) => {
            let (key, value) = text.split_once('=')?;
            Some(format!("{}={}", key.trim(), value.trim()))
        }
        _ => None,
    };
    let option = |value: &Value| match value {
        Value::List(settings) => settings.iter().map(setting).collect::<Option<Vec<_>>>(),
        _ => None,
    };
    let options: Vec<Vec<String>> = items.iter().map(option).collect::<Option<_>>()?;
    let differ = options.iter().enumerate().all(|(at, one)| !options[..at].contains(one));
    let set_once = |option: &Vec<String>| {
        let keys: Vec<&str> = option.iter().map(|it| key_of(it)).collect();
        !keys.is_empty() && keys.iter().enumerate().all(|(at, key)| !keys[..at].contains(key))
    };
    let fit = differ && options.iter().all(set_once) && (2..=OPTIONS_MOST).contains(&options.len());
    fit.then_some(options)
}

/// Returns the key of a setting `key=value`.
fn key_of(setting: &str) -> &str {
    setting.split('=').next().unwrap_or_default()
}

struct Reader {
    declared: CalibrateTable,
    /// Place in the drive file of the key `spread`, the covariance of the fitted parameters; `None`
    /// if the file does not have the key.
    spread_at: Option<Origin>,
    wrong: Diagnostics,
}

impl Reader {
    /// Reads a key of the table `[calibrate]` that declares no parameter.
    fn other(&mut self, key: &str, setting: &Setting) {
        match (key, &setting.value) {
            ("model", Value::Text(model)) => self.declared.model = Some(model.clone()),
            ("fitted", Value::List(items)) => {
                for item in items {
                    match item {
                        Value::Text(text) if names_a_number(text) => {
                            let what =
                                "`fitted` names a row by its position in the file".to_string();
                            let expected = "a row by its keys, such as \"latency_under_load: MODEL, SAMPLE: \
                                 offered_write_iops=10000: read_us.p50\"";
                            let it = setting.origin.diagnostic(what).text(text).expected(expected);
                            self.wrong.push(it);
                        }
                        Value::Text(text) => self.declared.fitted.push(text.clone()),
                        other => {
                            let what = format!("`fitted` holds {}", other.kind());
                            let expected = "rows with the key of a number, as text";
                            self.wrong.push(setting.origin.diagnostic(what).expected(expected));
                        }
                    }
                }
            }
            ("spread", Value::List(rows)) if rows.iter().all(|row| numbers(row).is_some()) => {
                self.declared.spread = rows.iter().filter_map(numbers).collect();
                self.spread_at = Some(setting.origin.clone());
            }
            // A fit has written this text for people.
            ("about", Value::Text(_)) => {}
            ("model" | "fitted" | "about" | "spread", other) => {
                let what = format!("`{key}` is {}", other.kind());
                let expected = match key {
                    "fitted" => "a list of texts",
                    "spread" => "a list of lists of numbers",
                    _ => "text",
                };
                self.wrong.push(setting.origin.diagnostic(what).expected(expected));
            }
            _ => {
                let key = fowler_experiment::diagnostic::printable(key);
                let what = format!("unknown key `{key}` of [{FITTING}]");
                let expected = format!(
                    "the key model, fitted or spread in the table [{FITTING}], or a table \
                     [[{FITTING}.{PARAMETER}]]"
                );
                self.wrong.push(setting.origin.diagnostic(what).expected(expected));
            }
        }
    }

    /// Reports an error if the table `[calibrate]` declares more parameters or choices than a fit
    /// may have, or if the size of the covariance matrix is not the number of parameters. `tables`
    /// are the settings of each declaration; the errors name their places.
    fn check_counts(&mut self, tables: &[Vec<&Setting>]) {
        let (parameters, choices) = (self.declared.parameters.len(), self.declared.choices.len());
        let last = tables.last().and_then(|it| it.first()).map(|it| it.origin.clone());
        let last = last.unwrap_or_default();
        for (count, most, name) in [
            (parameters, MOST, "parameters are declared"),
            (choices, CHOICES_MOST, "choices are declared"),
        ] {
            if count > most {
                let what = last.diagnostic(format!("{count} {name}"));
                self.wrong.push(what.expected(format!("at most {most}")));
            }
        }
        let keys = |choice: &Choice| {
            let all = choice.options.iter().flatten().map(|it| key_of(it).to_string());
            all.collect::<BTreeSet<_>>()
        };
        let mut taken: Vec<String> =
            self.declared.parameters.iter().map(|it| it.key.clone()).collect();
        for key in self.declared.choices.iter().flat_map(keys) {
            if taken.contains(&key) {
                let printable = fowler_experiment::diagnostic::printable(&key);
                self.wrong.push(last.diagnostic(format!("`{printable}` is declared twice")));
            }
            taken.push(key);
        }
        self.check_spread();
    }

    /// Reports a key `spread` that is no covariance matrix of the declared parameters.
    fn check_spread(&mut self) {
        let (spread, parameters) = (&self.declared.spread, self.declared.parameters.len());
        let Some(origin) = &self.spread_at else { return };
        if spread.len() != parameters || spread.iter().any(|row| row.len() != parameters) {
            let what = format!("`spread` of [{FITTING}] has {} rows", spread.len());
            let expected = format!(
                "`spread` as the covariance matrix of the fitted parameters: {parameters} rows of \
                 {parameters} numbers"
            );
            self.wrong.push(origin.diagnostic(what).expected(expected));
        } else if !is_covariance(spread) {
            let what = format!("`spread` of [{FITTING}] is no covariance matrix");
            let expected =
                "variances from 0 to 1, and equal covariances below and above the diagonal";
            self.wrong.push(origin.diagnostic(what).expected(expected));
        }
    }

    /// Reads a TOML table that declares a parameter to fit or, if it has the key `options`,
    /// settings among which the fit chooses.
    fn parameter(&mut self, settings: &[&Setting], rows: &str) {
        let Some(first) = settings.first() else { return };
        let name = |setting: &Setting| {
            let rest = setting.path.strip_prefix(&format!("{rows}.")).unwrap_or_default();
            rest.split_once('.').map_or(String::new(), |(_, key)| key.to_string())
        };
        let find = |key: &str| settings.iter().find(|it| name(it) == key).copied();
        let (keys, kind): (&[&str], _) = match find("options") {
            Some(_) => (&CHOICE_KEYS, "choice"),
            None => (&KEYS, "parameter"),
        };
        let before = self.wrong.0.len();
        for setting in settings.iter().filter(|it| !keys.contains(&name(it).as_str())) {
            let what = format!("unknown key `{}` of a {kind}", name(setting));
            self.wrong.push(setting.origin.diagnostic(what).expected(keys.join(", ")));
        }
        let missing: Vec<&str> = keys.iter().copied().filter(|key| find(key).is_none()).collect();
        if !missing.is_empty() {
            let what = format!("a {kind} has no {}", missing.join(", no "));
            self.wrong.push(first.origin.diagnostic(what).expected(keys.join(", ")));
        }
        let mut text = |key: &str| match find(key).map(|it| (&it.value, &it.origin)) {
            Some((Value::Text(text), _)) if !text.trim().is_empty() => text.clone(),
            Some((_, origin)) => {
                let what = format!("`{key}` of a {kind} says nothing");
                self.wrong.push(origin.diagnostic(what).expected("text"));
                String::new()
            }
            None => String::new(),
        };
        let (key, source) = (text("key"), text("source"));
        if let Some(setting) = find("options") {
            match options(&setting.value) {
                Some(options) => self.declared.choices.push(Choice { options, source }),
                None => {
                    let what = "`options`, which the fit compares, are no lists of settings";
                    let expected = format!(
                        "`options` as 2 to {OPTIONS_MOST} different lists of drive settings, such as \
                         [[\"queue.admission=in_order\"], [\"queue.admission=reads_pass\"]]"
                    );
                    self.wrong.push(setting.origin.diagnostic(what).expected(expected));
                }
            }
            return;
        }
        if self.declared.parameters.iter().any(|other| other.key == key) && !key.is_empty() {
            self.wrong.push(first.origin.diagnostic(format!("`{key}` is declared twice")));
        }
        if let Some((low, high)) = self.bounds(&key, find("low"), find("high"))
            && self.wrong.0.len() == before
        {
            self.declared.parameters.push(Parameter { key, low, high, source });
        }
    }

    /// Reads the bounds of the parameter `key`; `None` if one is missing.
    fn bounds(
        &mut self,
        key: &str,
        low: Option<&Setting>,
        high: Option<&Setting>,
    ) -> Option<(Quantity, Quantity)> {
        let mut bound = |of: &str, setting: Option<&Setting>| {
            let setting = setting?;
            let quantity = Quantity::of(&setting.value);
            if quantity.is_none() {
                let what =
                    format!("`{of}` of `{key}` is neither a number nor a quantity with a unit");
                let expected = "a value of the key, such as \"25us\" or 0.28";
                self.wrong.push(setting.origin.diagnostic(what).expected(expected));
            }
            quantity
        };
        let (first, second) = (bound("low", low), bound("high", high));
        let (first, second) = (first?, second?);
        if let Some(why) = Quantity::refuse(&first, &second) {
            let origin = low.map(|it| it.origin.clone()).unwrap_or_default();
            self.wrong.push(origin.diagnostic(format!("`{key}`: {why}")));
        }
        Some((first, second))
    }
}
