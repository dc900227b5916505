//! What is wrong with an input, said so that it can be put right; all of it at once.

use fowler_workload::TraceError;
use std::fmt;

/// The longest offending text that is repeated.
const SHOWN_CHARS: usize = 120;

/// One thing that is wrong.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Problem {
    /// Where: a file, or the flag that carried the value; empty if it is nowhere in particular.
    pub file: String,
    /// The line, from 1, where there is one.
    pub line: Option<u64>,
    /// The offending text; may be empty.
    pub text: String,
    /// What is wrong.
    pub what: String,
    /// What would have been right; may be empty.
    pub expected: String,
    /// What to do about it.
    pub hint: Option<String>,
}

/// Everything that is wrong with an input. As an error it is never empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Problems(pub Vec<Problem>);

impl Problem {
    /// A problem of `file`, or of no file if that is empty.
    pub fn new(file: impl Into<String>, what: impl Into<String>) -> Problem {
        Problem { file: file.into(), what: what.into(), ..Problem::default() }
    }

    /// The same at a line.
    pub fn line(mut self, line: Option<u64>) -> Problem {
        self.line = line;
        self
    }

    /// The same with the offending text, cut to a length and with control characters escaped.
    pub fn text(mut self, text: &str) -> Problem {
        self.text = shown(text.trim());
        self
    }

    /// The same with what would have been right.
    pub fn expected(mut self, expected: impl Into<String>) -> Problem {
        self.expected = expected.into();
        self
    }

    /// The same with what to do about it.
    pub fn hint(mut self, hint: impl Into<Option<String>>) -> Problem {
        self.hint = hint.into();
        self
    }
}

/// `text` as it can be printed on one line.
pub fn shown(text: &str) -> String {
    let mut line = String::new();
    for (count, c) in text.chars().enumerate() {
        if count == SHOWN_CHARS {
            return line + "...";
        }
        if c.is_control() || c == '\u{feff}' {
            line.extend(c.escape_default());
        } else {
            line.push(c);
        }
    }
    line
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.file.is_empty() {
            f.write_str(&self.file)?;
            if let Some(line) = self.line {
                write!(f, ":{line}")?;
            }
            f.write_str(": ")?;
        }
        f.write_str(&self.what)?;
        if !self.text.is_empty() {
            write!(f, "\n    text: {}", self.text)?;
        }
        if !self.expected.is_empty() {
            write!(f, "\n    expected: {}", self.expected)?;
        }
        if let Some(hint) = &self.hint {
            write!(f, "\n    hint: {hint}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.0.iter().enumerate() {
            let separator = if index == 0 { "" } else { "\n" };
            write!(f, "{separator}{problem}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Problems {}

impl Problems {
    /// `value` if nothing is wrong, else what is.
    pub fn or<T>(self, value: T) -> Result<T, Problems> {
        if self.0.is_empty() { Ok(value) } else { Err(self) }
    }

    /// Takes over the problems of `result`; its value, if it has one.
    pub fn take<T>(&mut self, result: Result<T, Problems>) -> Option<T> {
        result.map_err(|problems| self.0.extend(problems.0)).ok()
    }

    /// The same, each once.
    pub fn unique(self) -> Problems {
        let mut kept: Vec<Problem> = Vec::new();
        for problem in self.0 {
            if !kept.contains(&problem) {
                kept.push(problem);
            }
        }
        Problems(kept)
    }

    /// Adds one.
    pub fn push(&mut self, problem: Problem) {
        self.0.push(problem);
    }
}

impl From<Problem> for Problems {
    fn from(problem: Problem) -> Problems {
        Problems(vec![problem])
    }
}

impl From<TraceError> for Problems {
    /// Keeps the problems in order; where more lines are bad than are shown, the counts follow.
    fn from(error: TraceError) -> Problems {
        let more = error.bad_lines() > error.problems.len() as u64;
        let file = error.file;
        let mut problems: Vec<Problem> = error
            .problems
            .into_iter()
            .map(|problem| Problem {
                file: file.clone(),
                line: problem.line,
                text: problem.text,
                what: problem.what,
                expected: problem.expected,
                hint: problem.hint,
            })
            .collect();
        if more {
            problems.extend(error.counts.iter().map(|(cause, count)| {
                let lines = if *count == 1 { "line" } else { "lines" };
                Problem::new(file.clone(), format!("{count} {lines} in all: {cause}"))
            }));
        }
        Problems(problems)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_says_all_it_knows() {
        let problem = Problem::new("drive.toml", "`25` has no unit")
            .line(Some(7))
            .text("  read = \"25\"\t")
            .expected("a length of time")
            .hint("write 25us".to_string());
        assert_eq!(
            problem.to_string(),
            "drive.toml:7: `25` has no unit\n    text: read = \"25\"\n    expected: a length of \
             time\n    hint: write 25us"
        );
        let both = Problems(vec![Problem::new("", "one"), Problem::new("f", "two")]);
        assert_eq!(both.to_string(), "one\nf: two");
    }

    #[test]
    fn offending_text_cannot_break_the_terminal() {
        let problem = Problem::new("", "x").text("a\x1b[31m\u{feff}b");
        assert_eq!(problem.text, "a\\u{1b}[31m\\u{feff}b");
        assert_eq!(Problem::new("", "x").text(&"y".repeat(500)).text.len(), 123);
    }
}
