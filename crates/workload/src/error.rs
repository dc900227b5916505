//! What can be wrong with a trace, said so that it can be put right: every problem at once, each
//! with its line, the offending text, what was expected and, where there is one, a hint.

use std::collections::BTreeMap;
use std::fmt;

/// How many problems of one cause are kept with their text; the rest is counted.
pub const SAMPLES_PER_CAUSE: usize = 5;

/// The longest piece of offending text that is shown.
const SHOWN_CHARS: usize = 120;

/// Why a line of a trace cannot be used. Bad lines are counted by cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cause {
    /// The header row is missing or names other columns.
    Header,
    /// A column is missing.
    TooFewColumns,
    /// There are more columns than the format has.
    TooManyColumns,
    /// A number was due and the text is none.
    NotANumber,
    /// A number, or the end of the range it describes, is larger than the simulator counts.
    TooLarge,
    /// A moment before time zero.
    NegativeTime,
    /// An operation code that the format does not define.
    UnknownOp,
    /// A read, write or trim of no bytes.
    ZeroLength,
    /// A flush that names a range.
    FlushWithRange,
    /// An earlier moment than a request that was already handed on.
    BackInTime,
    /// A second host's requests in a file that should hold one host's.
    OtherHost,
    /// A line longer than any record of any format.
    LineTooLong,
    /// A well-formed event that is not a request's arrival. Passed over as a remark, never bad.
    OtherEvent,
}

impl Cause {
    /// The cause in words, as used in counts: "3 lines: not a number".
    pub fn words(self) -> &'static str {
        match self {
            Cause::Header => "not the header that is due",
            Cause::TooFewColumns => "too few columns",
            Cause::TooManyColumns => "too many columns",
            Cause::NotANumber => "not a number",
            Cause::TooLarge => "number too large",
            Cause::NegativeTime => "negative time",
            Cause::UnknownOp => "unknown operation",
            Cause::ZeroLength => "zero length",
            Cause::FlushWithRange => "flush with a range",
            Cause::BackInTime => "back in time beyond the reorder window",
            Cause::OtherHost => "another host",
            Cause::LineTooLong => "line too long",
            Cause::OtherEvent => "not the arrival of a request",
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.words())
    }
}

/// One thing that is wrong.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Problem {
    /// The line of the file, from 1; none where the problem is not one line's.
    pub line: Option<u64>,
    /// The offending text, cut short, control characters escaped; may be empty.
    pub text: String,
    /// What is wrong.
    pub what: String,
    /// What would have been right; may be empty.
    pub expected: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl Problem {
    /// A problem of the whole file or of no file at all.
    pub fn new(what: impl Into<String>) -> Problem {
        Problem { what: what.into(), ..Problem::default() }
    }

    /// The same with what would have been right.
    pub fn expected(mut self, expected: impl Into<String>) -> Problem {
        self.expected = expected.into();
        self
    }

    /// The same with what to do about it.
    pub fn hint(mut self, hint: impl Into<String>) -> Problem {
        self.hint = Some(hint.into());
        self
    }

    /// The same with the text that is wrong.
    pub fn text(mut self, text: &[u8]) -> Problem {
        self.text = shown(text);
        self
    }
}

/// `text` as it can be printed on one line: control and invalid bytes escaped, cut to a length.
pub(crate) fn shown(text: &[u8]) -> String {
    let cut = &text[..text.len().min(4 * SHOWN_CHARS)];
    let mut line = String::new();
    let mut chars = 0;
    for part in cut.utf8_chunks() {
        let escaped = part.valid().chars().flat_map(|c| {
            let plain = c == '"' || c == '\'' || !(c.is_control() || c == '\u{feff}');
            (!plain).then(|| c.escape_default()).into_iter().flatten().chain(plain.then_some(c))
        });
        for c in escaped {
            if chars == SHOWN_CHARS {
                return line + "...";
            }
            line.push(c);
            chars += 1;
        }
        for byte in part.invalid() {
            if chars >= SHOWN_CHARS {
                return line + "...";
            }
            line.push_str(&format!("\\x{byte:02x}"));
            chars += 4;
        }
    }
    if cut.len() < text.len() { line + "..." } else { line }
}

/// Everything that is wrong with one trace, remapping or generator.
#[derive(Clone, Debug, Default, PartialEq, Eq, thiserror::Error)]
pub struct TraceError {
    /// The trace's name.
    pub file: String,
    /// What is wrong, in order of lines; of each cause the first few.
    pub problems: Vec<Problem>,
    /// How many bad lines there are of each cause, those shown included.
    pub counts: BTreeMap<Cause, u64>,
}

impl TraceError {
    /// An error of one problem.
    pub fn one(file: impl Into<String>, problem: Problem) -> TraceError {
        TraceError { file: file.into(), problems: vec![problem], counts: BTreeMap::new() }
    }

    /// How many bad lines there are in all.
    pub fn bad_lines(&self) -> u64 {
        self.counts.values().sum()
    }
}

impl fmt::Display for TraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.problems.iter().enumerate() {
            let separator = if index == 0 { "" } else { "\n" };
            write!(f, "{separator}{}", self.file)?;
            if let Some(line) = problem.line {
                write!(f, ":{line}")?;
            }
            write!(f, ": {}", problem.what)?;
            if !problem.text.is_empty() {
                write!(f, "\n    text: {}", problem.text)?;
            }
            if !problem.expected.is_empty() {
                write!(f, "\n    expected: {}", problem.expected)?;
            }
            if let Some(hint) = &problem.hint {
                write!(f, "\n    hint: {hint}")?;
            }
        }
        let lines = |count| if count == 1 { "line" } else { "lines" };
        if self.bad_lines() > self.problems.len() as u64 {
            for (cause, &count) in &self.counts {
                write!(f, "\n{}: {count} {} in all: {cause}", self.file, lines(count))?;
            }
        }
        Ok(())
    }
}

/// The bad lines of one cause.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Skipped {
    /// How many there are.
    pub count: u64,
    /// The first few of them.
    pub samples: Vec<Problem>,
}

/// Bad lines by cause, with samples.
pub(crate) type Tally = BTreeMap<Cause, Skipped>;

/// Counts a bad line; the problem is worded only if it becomes a sample.
pub(crate) fn tally(tally: &mut Tally, cause: Cause, problem: impl FnOnce() -> Problem) {
    let skipped = tally.entry(cause).or_default();
    skipped.count += 1;
    if skipped.samples.len() < SAMPLES_PER_CAUSE {
        skipped.samples.push(problem());
    }
}

/// The error that a tally amounts to.
pub(crate) fn error_of(file: &str, tally: &Tally) -> TraceError {
    let mut problems: Vec<Problem> =
        tally.values().flat_map(|skipped| skipped.samples.iter().cloned()).collect();
    problems.sort_by_key(|problem| problem.line);
    let counts = tally.iter().map(|(&cause, skipped)| (cause, skipped.count)).collect();
    TraceError { file: file.into(), problems, counts }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offending_text_is_escaped_and_cut() {
        assert_eq!(shown(b"a\tb\x1b[31m\xff'"), "a\\tb\\u{1b}[31m\\xff'");
        let long = shown(&[b'x'; 1000]);
        assert_eq!(long, "x".repeat(120) + "...");
        assert_eq!(shown(&[0xff; 40]).len(), 120 + 3);
        assert_eq!(shown("\u{feff}1".as_bytes()), "\\u{feff}1");
    }

    #[test]
    fn an_error_says_all_it_knows() {
        let mut bad = Tally::new();
        for line in 1..=7 {
            tally(&mut bad, Cause::NotANumber, || Problem {
                line: Some(line),
                ..Problem::new("`x` is not a number").text(b"1,x").expected("digits")
            });
        }
        tally(&mut bad, Cause::ZeroLength, || Problem {
            line: Some(3),
            ..Problem::new("a read of no bytes").hint("remove it")
        });
        let error = error_of("t.csv", &bad);
        assert_eq!(error.bad_lines(), 8);
        let text = error.to_string();
        assert!(text.starts_with(
            "t.csv:1: `x` is not a number\n    text: 1,x\n    expected: digits\nt.csv:2: "
        ));
        assert!(text.contains("t.csv:3: a read of no bytes\n    hint: remove it"));
        assert!(
            text.ends_with(
                "t.csv: 7 lines in all: not a number\nt.csv: 1 line in all: zero length"
            )
        );
    }
}
