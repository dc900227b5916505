//! Files of SMART and health logs: text or JSON, with one log or several.

use super::log::{EXPECTED, SmartLog};
use super::{json, text};
use fowler_experiment::diagnostic::{Diagnostic, Diagnostics};
use fowler_experiment::text_file;
use std::path::Path;

/// Size of the largest file of logs that is read, in bytes. The longest log, of `smartctl -x -j`,
/// has some 100 KiB.
const LARGEST: u64 = 4 << 20;

/// Reads the SMART and health logs in a file; `-` is standard input.
///
/// # Errors
/// Everything that is wrong with the file.
pub fn read(path: &Path) -> Result<Vec<SmartLog>, Diagnostics> {
    let is_stdin = path == Path::new("-");
    let file = if is_stdin { Path::new("/dev/stdin") } else { path };
    parse(&text_file::read(file, LARGEST)?, &path.display().to_string())
}

/// Reads the SMART and health logs in a text; `file` names the text in messages. Never panics,
/// whatever the text.
///
/// # Errors
/// Everything that is wrong with the text.
pub fn parse(text: &str, file: &str) -> Result<Vec<SmartLog>, Diagnostics> {
    let text = text.trim_start_matches('\u{feff}');
    if let Some(at) = text.find('\0') {
        let line = text[..at].matches('\n').count() as u64 + 1;
        let hint = "PowerShell saves UTF-16: convert the file to UTF-8".to_string();
        let what = Diagnostic::new(file, "the file has zero bytes, so it is not UTF-8 text");
        return Err(what.line(line).expected(EXPECTED).hint(hint).into());
    }
    let logs = match text.trim_start().chars().next() {
        None => Err(Diagnostic::new(file, "the file is empty").expected(EXPECTED).into()),
        Some('{' | '[') => json::logs(text, file),
        Some(_) => text::logs(text, file),
    }?;
    if logs.is_empty() {
        return Err(Diagnostic::new(file, "no SMART or health log is in this file")
            .expected(EXPECTED)
            .into());
    }
    Ok(logs)
}
