//! Faults of a trace: each cause, the number of lines affected, and diagnostics for the first few
//! lines.

use fowler_units::{Diagnostic, Diagnostics};
use std::collections::BTreeMap;
use std::fmt;

/// Number of bad lines of one cause that are saved as samples; further ones are only counted.
pub const SAMPLES_PER_CAUSE: usize = 5;

/// Why a line of a trace cannot be used. Bad lines are counted by cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cause {
    /// The header row of the trace is missing or names other columns than its format has.
    Header,
    /// The line of the trace lacks a column.
    TooFewColumns,
    /// The line has more columns than its format.
    TooManyColumns,
    /// A field is not a number where one is required.
    NotANumber,
    /// A number, or the end of the range it describes, exceeds what the simulator can represent.
    TooLarge,
    /// An arrival time before zero.
    NegativeTime,
    /// An operation code that the format does not define.
    UnknownOp,
    /// A read, write or trim of no bytes.
    ZeroLength,
    /// A flush with an offset or a size.
    FlushWithRange,
    /// A column that contradicts others of its line, or lines before it.
    Contradiction,
    /// A request earlier than one already returned, by more than the reorder window allows.
    BackInTime,
    /// A request of a second host; a trace must hold the requests of one host.
    OtherHost,
    /// The trace names more devices than a trace can have.
    TooManyDevices,
    /// A line longer than any record of any format.
    LineTooLong,
    /// A record of a binary format with a wrong magic number, version, type or length.
    BadRecord,
    /// A record of a binary format that ends before its last byte.
    CutShort,
    /// A well-formed event that is not a request's arrival. Skipped like a comment, never a bad
    /// line.
    OtherEvent,
}

impl Cause {
    /// Describes the cause of a bad line in a few words, as in "3 lines in total: not a number".
    pub fn words(self) -> &'static str {
        match self {
            Cause::Header => "missing or wrong header",
            Cause::TooFewColumns => "too few columns",
            Cause::TooManyColumns => "too many columns",
            Cause::NotANumber => "not a number",
            Cause::TooLarge => "number too large",
            Cause::NegativeTime => "negative time",
            Cause::UnknownOp => "unknown operation",
            Cause::ZeroLength => "zero length",
            Cause::FlushWithRange => "flush with a range",
            Cause::Contradiction => "contradictory columns",
            Cause::BackInTime => "out of order beyond the reorder window",
            Cause::OtherHost => "more than one host",
            Cause::TooManyDevices => "more than 65,536 devices",
            Cause::LineTooLong => "line too long",
            Cause::BadRecord => "not a record",
            Cause::CutShort => "record cut short",
            Cause::OtherEvent => "not a request arrival",
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.words())
    }
}

/// All errors found in one trace, in one remapping of addresses to a drive, or in one workload
/// generator.
#[derive(Clone, Debug, Default, PartialEq, Eq, thiserror::Error)]
pub struct TraceError {
    /// Name of the trace, usually its path.
    pub file: String,
    /// The first few diagnostics of each cause, in line order. Their `file` may be empty.
    pub diagnostics: Vec<Diagnostic>,
    /// The number of bad lines of each cause, including those with a diagnostic.
    pub counts: BTreeMap<Cause, u64>,
}

impl TraceError {
    /// Returns the error of the trace `file` with a single diagnostic.
    pub fn one(file: impl Into<String>, diagnostic: Diagnostic) -> TraceError {
        TraceError { file: file.into(), diagnostics: vec![diagnostic], counts: BTreeMap::new() }
    }

    /// Returns the number of bad lines of the trace, over all causes.
    pub fn bad_lines(&self) -> u64 {
        self.counts.values().sum()
    }
}

impl fmt::Display for TraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Diagnostics::from(self.clone()).fmt(f)
    }
}

impl From<TraceError> for Diagnostics {
    /// Returns every diagnostic in order, each with the trace's name, then the counts by cause if
    /// there are more bad lines than diagnostics.
    fn from(error: TraceError) -> Diagnostics {
        let more = error.bad_lines() > error.diagnostics.len() as u64;
        let TraceError { file, mut diagnostics, counts } = error;
        diagnostics.iter_mut().for_each(|it| it.file.clone_from(&file));
        if more {
            diagnostics.extend(counts.iter().map(|(cause, count)| {
                let lines = if *count == 1 { "line" } else { "lines" };
                Diagnostic::new(file.clone(), format!("{count} {lines} in total: {cause}"))
            }));
        }
        Diagnostics(diagnostics)
    }
}

/// Bad lines of one cause that were skipped or rejected.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Skipped {
    /// Number of bad lines with this cause.
    pub count: u64,
    /// Diagnostics of the first few bad lines with this cause.
    pub samples: Vec<Diagnostic>,
}

/// Bad lines of one trace by cause, with samples of each cause.
pub(crate) type Tally = BTreeMap<Cause, Skipped>;

/// Counts a bad line. `diagnostic` is called only if the line becomes a sample.
pub(crate) fn tally(tally: &mut Tally, cause: Cause, diagnostic: impl FnOnce() -> Diagnostic) {
    let skipped = tally.entry(cause).or_default();
    skipped.count += 1;
    if skipped.samples.len() < SAMPLES_PER_CAUSE {
        skipped.samples.push(diagnostic());
    }
}

/// Converts counts of bad lines into the error for the trace called `file`.
pub(crate) fn error_of(file: &str, tally: &Tally) -> TraceError {
    let mut diagnostics: Vec<Diagnostic> =
        tally.values().flat_map(|skipped| skipped.samples.iter().cloned()).collect();
    diagnostics.sort_by_key(|diagnostic| diagnostic.line);
    let counts = tally.iter().map(|(&cause, skipped)| (cause, skipped.count)).collect();
    TraceError { file: file.into(), diagnostics, counts }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_shows_samples_and_counts() {
        let mut bad = Tally::new();
        for line in 1..=7 {
            tally(&mut bad, Cause::NotANumber, || {
                Diagnostic::of("`x` is not a number").text(b"1,x").expected("digits").line(line)
            });
        }
        tally(&mut bad, Cause::ZeroLength, || {
            Diagnostic::of("a read of no bytes").hint("remove it".to_string()).line(3)
        });
        let error = error_of("t.csv", &bad);
        assert_eq!(error.bad_lines(), 8);
        let text = error.to_string();
        assert!(text.starts_with(
            "t.csv:1: `x` is not a number\n    text: 1,x\n    expected: digits\nt.csv:2: "
        ));
        assert!(text.contains("t.csv:3: a read of no bytes\n    hint: remove it"));
        assert!(text.ends_with(
            "t.csv: 7 lines in total: not a number\nt.csv: 1 line in total: zero length"
        ));
    }
}
