//! The error for a text whose format could not be determined.

use crate::Format;
use fowler_units::Diagnostic;

/// A format that fits a text, and a summary of the text as read in this format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Format that fits the text.
    pub format: Format,
    /// The span, read share and mean size of the first requests when read in this format.
    pub reading: String,
}

/// The format could not be determined: several formats fit, or none does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undetected {
    /// Trace formats that fit the text of the trace; empty if none does.
    pub candidates: Vec<Candidate>,
    /// The first line that is not blank or a comment.
    pub first_line: String,
    /// The nearest format, and why it does not fit; `None` if some format fits.
    pub nearest: Option<(Format, String)>,
    /// Advice on reading the trace file with `--columns`, if its text shows how; `None` if not.
    pub otherwise: Option<String>,
}

impl Undetected {
    /// Returns the error that the format of a trace could not be determined, with the formats that
    /// fit, or how to describe the columns, as hints.
    pub fn diagnostic(&self) -> Diagnostic {
        let mut diagnostic = if self.candidates.is_empty() {
            let why = match &self.nearest {
                Some((format, why)) => format!("none fits; the nearest is `{format}`: {why}"),
                None => "none fits".to_string(),
            };
            let known = format!("one of these formats: {}", Format::names());
            let describe = "describe its columns, such as --columns ts=us,op=rw,lba=512,len=bytes \
                            (fowler trace info --help)";
            let hint = self.otherwise.clone().unwrap_or_else(|| describe.to_string());
            Diagnostic::of(format!("cannot detect the trace format: {why}"))
                .expected(known)
                .hint(hint)
        } else {
            let readings: Vec<String> = self
                .candidates
                .iter()
                .map(|candidate| format!("`{}` ({})", candidate.format, candidate.reading))
                .collect();
            Diagnostic::of("the trace format is ambiguous: several fit and differ in their units")
                .hint(format!("choose one with --format: {}", readings.join(" or ")))
        };
        diagnostic.text.clone_from(&self.first_line);
        diagnostic
    }
}
