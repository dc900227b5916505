//! Measurements of real drives: files, their protocols, and the selection of rows.
//!
//! **Owns** the form of a file of measurements: title, protocol, units, drives, rows. **May touch**
//! only the file it reads. It does not know how a row is simulated: that is the room `protocol`.
//!
//! - `file.rs`: reading and checking a file.
//! - `fio.rs`: output of fio, read as such a file. `fio_patterns.rs`: writes by address pattern in
//!   such output.
//! - `kind.rs`: kinds of protocols. `topics.rs`: the facts that a protocol states. `words.rs`: such
//!   facts in sentences.
//! - `filter.rs`: filters on rows.

mod file;
mod filter;
mod fio;
mod fio_patterns;
mod kind;
mod topics;
mod words;

pub use file::{Measured, MeasuredDrive, Row, SETUP, read};
pub use filter::Filter;
pub use kind::Kind;
pub use topics::{Facts, Setup};
pub use words::Arrivals;

use fowler_experiment::diagnostic::{Diagnostic, Diagnostics};
use fowler_experiment::field::nearest;

/// A measured row that the user chose with `--rows`, with its file of measurements and its drive.
#[derive(Clone, Copy, Debug)]
pub struct Pick<'a> {
    /// File of measurements that has the row.
    pub file: &'a Measured,
    /// Measured drive that the row belongs to.
    pub drive: &'a MeasuredDrive,
    /// The measured row (conditions and results of one run of a benchmark) that the user chose.
    pub row: &'a Row,
}

impl Pick<'_> {
    /// Returns the value that a measured row has for a key; the keys `file`, `model` and `sample`
    /// stand for the row's file of measurements and its drive.
    pub fn value(&self, key: &str) -> Option<String> {
        match key {
            "file" => Some(self.file.stem()),
            "model" => Some(self.drive.model.clone()),
            "sample" => self.drive.sample.clone(),
            _ => self.row.text(key),
        }
    }

    /// Returns the name of a measured row in a fitted drive file: kind of measurement, drive, and
    /// the keys that describe the conditions. The name stays valid when rows are added to the file
    /// of measurements or the file is renamed.
    pub fn identity(&self) -> String {
        let sample = self.drive.sample.as_ref().map_or(String::new(), |it| format!(", {it}"));
        let keys: Vec<String> =
            self.row.setup(self.file.kind).map(|(key, value)| format!("{key}={value}")).collect();
        format!("{}: {}{sample}: {}", self.file.kind.name(), self.drive.model, keys.join(" "))
    }

    /// Returns the place of a measured row (file of measurements, drive and number), for messages.
    pub fn place(&self) -> String {
        let sample = self.drive.sample.as_ref().map_or(String::new(), |it| format!(", {it}"));
        format!("{}: {}{sample}: row {}", self.file.stem(), self.drive.model, self.row.number)
    }
}

/// Returns remarks on the measured files: the jobs of fio output that were read, those that are not
/// used, and facts of a protocol that are not simulated. Files that cannot be read have no remarks.
pub fn notes(paths: &[std::path::PathBuf]) -> Vec<String> {
    let each = paths.iter().filter_map(|path| read(path).ok());
    let of_file = |file: Measured| {
        let stem = file.stem();
        file.notes.into_iter().map(move |note| format!("{stem}: {note}")).collect::<Vec<_>>()
    };
    each.flat_map(of_file).collect()
}

/// Returns the measured rows in `files` that at least one of the filters of `--rows` wants, in the
/// order of the files; all rows if there is no filter.
///
/// # Errors
/// If a filter names a key that no row has, or no row is picked.
pub fn pick<'a>(files: &'a [Measured], filters: &[Filter]) -> Result<Vec<Pick<'a>>, Diagnostics> {
    let all: Vec<Pick<'a>> = files
        .iter()
        .flat_map(|file| file.drives.iter().map(move |drive| (file, drive)))
        .flat_map(|(file, drive)| drive.rows.iter().map(move |row| Pick { file, drive, row }))
        .collect();
    let mut diagnostics = Diagnostics::default();
    for filter in filters {
        refuse_unknown_keys(filter, &all, &mut diagnostics);
    }
    let mut diagnostics = diagnostics.or(Diagnostics::default())?;
    for filter in filters {
        if !all.iter().any(|pick| filter.wants(pick)) {
            diagnostics.push(nothing(filter, &all));
        }
    }
    let wanted = |pick: &Pick<'_>| filters.is_empty() || filters.iter().any(|it| it.wants(pick));
    diagnostics.or(all.into_iter().filter(wanted).collect())
}

fn refuse_unknown_keys(filter: &Filter, all: &[Pick<'_>], diagnostics: &mut Diagnostics) {
    for key in filter.keys() {
        if all.iter().any(|pick| pick.value(key).is_some()) {
            continue;
        }
        let mut keys: Vec<&str> = vec!["file", "model", "sample"];
        for pick in all {
            for key in pick.row.keys().filter(|key| !key.contains('.')) {
                if !keys.contains(&key) {
                    keys.push(key);
                }
            }
        }
        let hint = nearest(key, keys.iter().copied()).map(|near| format!("did you mean `{near}`?"));
        let what = format!(
            "no measured row has the key `{}`",
            fowler_experiment::diagnostic::printable(key)
        );
        diagnostics.push(
            Diagnostic::new("--rows", what)
                .text(&filter.text)
                .expected(format!("one of {}", keys.join(", ")))
                .hint(hint),
        );
    }
}

/// Returns an error for a filter that picks no row: the condition that no row meets, and the values
/// that exist.
fn nothing(filter: &Filter, all: &[Pick<'_>]) -> Diagnostic {
    const SHOWN: usize = 12;
    let what = Diagnostic::new("--rows", "no measured row meets the filter").text(&filter.text);
    let lonely = filter.keys().find(|key| !all.iter().any(|pick| filter.holds(key, pick)));
    let Some(key) = lonely else {
        return what.hint(
            "each condition of the filter holds for some measured row, but no row meets all of them"
                .to_string(),
        );
    };
    let mut values: Vec<String> = Vec::new();
    for value in all.iter().filter_map(|pick| pick.value(key)) {
        if !values.contains(&value) {
            values.push(value);
        }
    }
    let more = values.len().saturating_sub(SHOWN);
    values.truncate(SHOWN);
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    what.expected(format!("`{key}` as in the file: {}{rest}", values.join(", ")))
}

#[cfg(test)]
mod tests;
