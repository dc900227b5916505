//! Measurements of real drives: the files, their protocols, and the selection of rows.
//!
//! **Owns** the form of such a file: title, protocol, units, drives, rows. **May touch** only the
//! file it reads. It knows what is in a row, and nothing about how a row is simulated: that is the
//! room `protocol`.
//!
//! - `file.rs`: reading and checking a file.
//! - `fio.rs`: output of fio as such a file.
//! - `kind.rs`: which protocol a file follows. `topics.rs`: the facts that a protocol states.
//!   `words.rs`: such facts in sentences.
//! - `filter.rs`: which rows are wanted.

mod file;
mod filter;
mod fio;
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

/// A wanted row, with the file and the drive that it belongs to.
#[derive(Clone, Copy, Debug)]
pub struct Pick<'a> {
    /// The file.
    pub file: &'a Measured,
    /// The drive.
    pub drive: &'a MeasuredDrive,
    /// The row.
    pub row: &'a Row,
}

impl Pick<'_> {
    /// Returns the value of a key of the row, or of `file`, `model` and `sample`.
    pub fn value(&self, key: &str) -> Option<String> {
        match key {
            "file" => Some(self.file.stem()),
            "model" => Some(self.drive.model.clone()),
            "sample" => self.drive.sample.clone(),
            _ => self.row.text(key),
        }
    }

    /// Returns the identity of the row in a fitted drive file: protocol, drive, and the keys that
    /// say how the row was measured. Other rows may be added to a file, or its name be changed.
    pub fn identity(&self) -> String {
        let sample = self.drive.sample.as_ref().map_or(String::new(), |it| format!(", {it}"));
        let keys: Vec<String> =
            self.row.setup().map(|(key, value)| format!("{key}={value}")).collect();
        format!("{}: {}{sample}: {}", self.file.kind.name(), self.drive.model, keys.join(" "))
    }

    /// Returns the place of the row, for messages.
    pub fn place(&self) -> String {
        let sample = self.drive.sample.as_ref().map_or(String::new(), |it| format!(", {it}"));
        format!("{}: {}{sample}: row {}", self.file.stem(), self.drive.model, self.row.number)
    }
}

/// Returns the remarks on files that can be read: what output of fio holds, and what is not used.
pub fn notes(paths: &[std::path::PathBuf]) -> Vec<String> {
    let each = paths.iter().filter_map(|path| read(path).ok());
    let of_file = |file: Measured| {
        let stem = file.stem();
        file.notes.into_iter().map(move |note| format!("{stem}: {note}")).collect::<Vec<_>>()
    };
    each.flat_map(of_file).collect()
}

/// Returns the rows that at least one of `filters` wants, in the order of the files; all without a
/// filter.
///
/// # Errors
/// A filter names a key that no row has, or no row is wanted.
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
        let what =
            format!("no row has the key `{}`", fowler_experiment::diagnostic::printable(key));
        diagnostics.push(
            Diagnostic::new("--rows", what)
                .text(&filter.text)
                .expected(format!("one of {}", keys.join(", ")))
                .hint(hint),
        );
    }
}

/// Returns a diagnostic that names the condition which leaves no row, and the values that exist.
fn nothing(filter: &Filter, all: &[Pick<'_>]) -> Diagnostic {
    const SHOWN: usize = 12;
    let what = Diagnostic::new("--rows", "no row is like that").text(&filter.text);
    let lonely = filter.keys().find(|key| !all.iter().any(|pick| filter.holds(key, pick)));
    let Some(key) = lonely else {
        return what.hint("each condition holds for some row, but no row meets all".to_string());
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
