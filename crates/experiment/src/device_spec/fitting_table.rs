//! Checks the values of the table `[calibrate]`, as far as every command can. The table does not
//! change a drive, and only `fowler calibrate` and `fowler score` know its keys; but an empty value
//! or NaN is an error for every command.

use super::FITTING;
use crate::diagnostic::Diagnostics;
use crate::document::{self, Setting, Value};

/// Returns a diagnostic for each empty or invalid value in the `calibrate` table of a drive file.
/// Errors of syntax are left to the code that reads the drive.
pub(super) fn check(text: &str, file: &str) -> Diagnostics {
    // An array of tables below a table is read like one at the top level.
    let rows = format!("{FITTING}_parameter");
    let text = text.replace(&format!("[[{FITTING}.parameter]]"), &format!("[[{rows}]]"));
    if !text.contains(FITTING) {
        return Diagnostics::default();
    }
    let (settings, _) = document::read_toml_with_rows(&text, file, Some(&rows));
    let belongs = |setting: &&Setting| {
        let rest = setting
            .path
            .strip_prefix(FITTING)
            .and_then(|it| it.strip_prefix('.').or_else(|| it.strip_prefix("_parameter.")));
        rest.is_some()
    };
    let wrong = settings.iter().filter(belongs).filter_map(|setting| {
        let why = refused(&setting.value)?;
        let key = setting.path.rsplit('.').next().unwrap_or_default();
        let key = crate::diagnostic::printable(key);
        let what = format!("`{key}` of [{FITTING}] {why}");
        Some(setting.origin.diagnostic(what).expected(
            "a finite number, a text, list or table that is not empty, or a file without this key",
        ))
    });
    Diagnostics(wrong.collect())
}

/// Returns the reason to refuse a value that is empty or not finite in the table `[calibrate]` of a
/// drive file, which sets up `fowler calibrate`; `None` for a valid value.
fn refused(value: &Value) -> Option<&'static str> {
    match value {
        Value::Real(number) if number.is_nan() => Some("is not a number (NaN)"),
        Value::Real(number) if number.is_infinite() => Some("is infinite"),
        Value::Text(text) | Value::Bare(text) if text.trim().is_empty() => Some("is empty"),
        Value::List(items) if items.is_empty() => Some("is empty"),
        Value::List(items) => items.iter().find_map(refused),
        Value::EmptyTable => Some("is empty"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "[calibrate]\nmodel = \"m\"\nfitted = [\"a\"]\n\n[[calibrate.parameter]]\n\
                        key = \"k\"\nlow = 0.5\nhigh = [1, 2.5]\nsource = \"s\"\n";

    #[test]
    fn what_says_nothing_is_refused_with_its_line() {
        assert_eq!(check(GOOD, "d.toml"), Diagnostics::default());
        assert_eq!(check("[calibrate]\n", "d.toml"), Diagnostics::default());
        for (from, to, line, why) in [
            ("\"m\"", "\"\"", 2, "`model` of [calibrate] is empty"),
            ("\"m\"", "nan", 2, "`model` of [calibrate] is not a number (NaN)"),
            ("[\"a\"]", "[]", 3, "`fitted` of [calibrate] is empty"),
            ("[\"a\"]", "[\"a\", \" \"]", 3, "`fitted` of [calibrate] is empty"),
            ("0.5", "-nan", 7, "`low` of [calibrate] is not a number"),
            ("2.5", "nan", 8, "`high` of [calibrate] is not a number"),
            ("2.5", "inf", 8, "`high` of [calibrate] is infinite"),
            ("\"s\"", "\"  \"", 9, "`source` of [calibrate] is empty"),
        ] {
            let text = GOOD.replacen(from, to, 1);
            let wrong = check(&text, "d.toml");
            let said = wrong.to_string();
            assert_eq!(wrong.0.len(), 1, "{to}: {said}");
            assert!(said.contains(&format!("d.toml:{line}")) && said.contains(why), "{to}: {said}");
        }
    }
}
