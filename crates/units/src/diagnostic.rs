//! Diagnostics of bad input: all errors at once, each with its file, line, offending text, the
//! expected input and, where possible, a hint. Every crate that reads user input reports errors
//! this way.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;

/// Largest length of the offending text that a diagnostic quotes, in characters as printed.
const PRINTED_CHARS: usize = 120;

/// Largest number of errors in the user's input that are printed; further errors are only counted.
pub const PROBLEMS_SHOWN: usize = 20;

/// A problem in the user's input, with its place and a hint.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Diagnostic {
    /// Name of the file, or of the flag that carried the value; empty if the error has no
    /// particular place.
    pub file: String,
    /// Number of the line that has the problem in the user's file, counted from 1; `None` if
    /// unknown.
    pub line: Option<u64>,
    /// The offending text as formatted by [`printable`]; may be empty.
    pub text: String,
    /// Description of the problem with the input.
    pub what: String,
    /// Description of the input that would be valid where the offending text is; may be empty.
    pub expected: String,
    /// Advice on how to fix the problem; `None` if there is none.
    pub hint: Option<String>,
    /// Error number of the operating system, if one of its operations failed.
    pub os: Option<i32>,
}

/// All problems of an input. Never empty when used as an error.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diagnostics(pub Vec<Diagnostic>);

impl Diagnostic {
    /// Creates a diagnostic about `file`, or about no file if that is empty.
    pub fn new(file: impl Into<String>, what: impl Into<String>) -> Diagnostic {
        Diagnostic { file: file.into(), ..Diagnostic::of(what) }
    }

    /// Creates a diagnostic without a file. A caller that knows the file fills it in.
    pub fn of(what: impl Into<String>) -> Diagnostic {
        Diagnostic { what: what.into(), ..Diagnostic::default() }
    }

    /// Sets the number of the line that has the problem in the user's file, counted from 1.
    pub fn line(mut self, line: impl Into<Option<u64>>) -> Diagnostic {
        self.line = line.into();
        self
    }

    /// Sets the offending text, formatted by [`printable`].
    pub fn text(mut self, text: impl AsRef<[u8]>) -> Diagnostic {
        self.text = printable(text);
        self
    }

    /// Sets the description of valid input that is printed with the error.
    pub fn expected(mut self, expected: impl Into<String>) -> Diagnostic {
        self.expected = expected.into();
        self
    }

    /// Sets the hint: advice on how to correct the input.
    pub fn hint(mut self, hint: impl Into<Option<String>>) -> Diagnostic {
        self.hint = hint.into();
        self
    }

    /// Sets the error number of the operating system, if it gave one.
    pub fn os(mut self, number: Option<i32>) -> Diagnostic {
        self.os = number;
        self
    }
}

/// Returns true for an invisible character with an effect: a control character, which may command a
/// terminal, a byte order mark, and the marks, embeddings, overrides and isolates of the
/// bidirectional algorithm (Unicode Standard Annex 9), which make text read differently from its
/// bytes (CVE-2021-42574).
pub fn is_command(c: char) -> bool {
    let bidirectional = matches!(
        c,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    );
    c.is_control() || bidirectional || c == '\u{feff}'
}

/// Formats `text` for printing on one line: characters that command, and invalid bytes, are
/// escaped, and the result is cut to 120 characters.
pub fn printable(text: impl AsRef<[u8]>) -> String {
    let text = text.as_ref();
    let cut = &text[..text.len().min(4 * PRINTED_CHARS)];
    let mut line = String::new();
    let mut chars = 0;
    for part in cut.utf8_chunks() {
        let escaped = part.valid().chars().flat_map(|c| {
            let plain = !is_command(c);
            (!plain).then(|| c.escape_default()).into_iter().flatten().chain(plain.then_some(c))
        });
        for c in escaped {
            if chars == PRINTED_CHARS {
                return line + "...";
            }
            line.push(c);
            chars += 1;
        }
        for byte in part.invalid() {
            if chars >= PRINTED_CHARS {
                return line + "...";
            }
            line.push_str(&format!("\\x{byte:02x}"));
            chars += 4;
        }
    }
    if cut.len() < text.len() { line + "..." } else { line }
}

/// Returns `text` with every invisible command character escaped (see `is_command`).
pub fn escaped(text: &str) -> Cow<'_, str> {
    escaped_if(text, is_command)
}

/// Returns `text` with every invisible command character escaped, except line breaks (see
/// `is_command`).
pub fn escaped_lines(text: &str) -> Cow<'_, str> {
    escaped_if(text, |c| is_command(c) && c != '\n')
}

/// Returns a JSON text whose strings have every command character escaped in JSON's form. Outside
/// of strings, JSON contains none but line ends.
pub fn escaped_json(text: &str) -> Cow<'_, str> {
    if !text.contains(|c| is_command(c) && c != '\n') {
        return Cow::Borrowed(text);
    }
    // All commands are in the Basic Multilingual Plane, and have four digits.
    let escape = |c: char| match c {
        '\n' => c.to_string(),
        c if is_command(c) => format!("\\u{:04x}", u32::from(c)),
        c => c.to_string(),
    };
    Cow::Owned(text.chars().map(escape).collect())
}

fn escaped_if(text: &str, commands: fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(commands) {
        return Cow::Borrowed(text);
    }
    let escape = |c: char| if commands(c) { c.escape_default().to_string() } else { c.into() };
    Cow::Owned(text.chars().map(escape).collect())
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.file.is_empty() {
            f.write_str(&escaped(&self.file))?;
            if let Some(line) = self.line {
                write!(f, ":{line}")?;
            }
            f.write_str(": ")?;
        }
        // All of these texts may quote the input.
        f.write_str(&escaped_lines(&self.what))?;
        if !self.text.is_empty() {
            write!(f, "\n    text: {}", self.text)?;
        }
        if !self.expected.is_empty() {
            write!(f, "\n    expected: {}", escaped_lines(&self.expected))?;
        }
        if let Some(hint) = &self.hint {
            write!(f, "\n    hint: {}", escaped_lines(hint))?;
        }
        Ok(())
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (shown, rest) = self.shown();
        for (index, diagnostic) in shown.iter().enumerate() {
            let separator = if index == 0 { "" } else { "\n" };
            write!(f, "{separator}{diagnostic}")?;
        }
        rest.map_or(Ok(()), |rest| write!(f, "\n{rest}"))
    }
}

impl std::error::Error for Diagnostics {}

impl Diagnostics {
    /// Returns `value` if these diagnostics, the errors found in the user's input, are empty.
    ///
    /// # Errors
    /// All problems, if there are any.
    pub fn or<T>(self, value: T) -> Result<T, Diagnostics> {
        if self.0.is_empty() { Ok(value) } else { Err(self) }
    }

    /// Moves the errors out of `result` into `self`. Returns the value of `result`, if it has one.
    pub fn take<T>(&mut self, result: Result<T, Diagnostics>) -> Option<T> {
        result.map_err(|diagnostics| self.0.extend(diagnostics.0)).ok()
    }

    /// Removes duplicate diagnostics.
    pub fn unique(mut self) -> Diagnostics {
        let mut kept = BTreeSet::new();
        self.0.retain(|diagnostic| kept.insert(diagnostic.clone()));
        self
    }

    /// Returns the diagnostics to print, and a line that counts the omitted ones, if any.
    pub fn shown(&self) -> (&[Diagnostic], Option<String>) {
        let shown = self.0.len().min(PROBLEMS_SHOWN);
        let rest = self.0.len() - shown;
        (&self.0[..shown], (rest > 0).then(|| format!("{rest} more problems are not shown")))
    }

    /// Adds a diagnostic to the list.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.0.push(diagnostic);
    }
}

impl From<Diagnostic> for Diagnostics {
    fn from(diagnostic: Diagnostic) -> Diagnostics {
        Diagnostics(vec![diagnostic])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_quotes_the_input_cannot_command_a_terminal() {
        let (what, hint) = ("unknown option `\u{1b}[2J`", Some("one\ntwo\u{7}".to_string()));
        let said = Diagnostic::new("a\n", what).expected("\u{9b}1m").hint(hint).to_string();
        let expected = "a\\n: unknown option `\\u{1b}[2J`\n    expected: \\u{9b}1m\n    hint: \
            one\ntwo\\u{7}";
        assert_eq!(said, expected);
    }

    #[test]
    fn a_diagnostic_says_all_it_knows() {
        let diagnostic = Diagnostic::new("drive.toml", "`25` has no unit")
            .line(7)
            .text("read = \"25\"")
            .expected("a length of time")
            .hint("write 25us".to_string());
        assert_eq!(
            diagnostic.to_string(),
            "drive.toml:7: `25` has no unit\n    text: read = \"25\"\n    expected: a length of \
             time\n    hint: write 25us"
        );
        let both = Diagnostics(vec![Diagnostic::of("one").line(3), Diagnostic::new("f", "two")]);
        assert_eq!(both.to_string(), "one\nf: two");
    }

    #[test]
    fn offending_text_is_escaped_and_cut() {
        assert_eq!(printable(b"a\tb\x1b[31m\xff'"), "a\\tb\\u{1b}[31m\\xff'");
        assert_eq!(printable([b'x'; 1000]), "x".repeat(120) + "...");
        assert_eq!(printable([0xff; 40]).len(), 120 + 3);
        assert_eq!(printable("\u{feff}\"1\""), "\\u{feff}\"1\"");
        assert_eq!(Diagnostic::of("x").text("a\x1b[31m\u{feff}b").text, "a\\u{1b}[31m\\u{feff}b");
    }

    #[test]
    fn file_names_cannot_command_a_terminal() {
        let diagnostic = Diagnostic::new("a\x1b[31m\x07.toml", "bad");
        assert_eq!(diagnostic.to_string(), "a\\u{1b}[31m\\u{7}.toml: bad");
        assert_eq!(escaped("größe.toml"), "größe.toml");
        for c in "\u{61c}\u{200e}\u{200f}\u{202a}\u{202e}\u{2066}\u{2069}\u{9b}\u{7}\u{7f}".chars()
        {
            let (text, shown) = (format!("a{c}b\n"), format!("a{}b", c.escape_default()));
            assert_eq!(printable(text.trim_end_matches('\n')), shown);
            assert_eq!(escaped(&text), format!("{shown}\\n"));
            assert_eq!(escaped_lines(&text), format!("{shown}\n"));
            assert_eq!(escaped_json(&text), format!("a\\u{:04x}b\n", u32::from(c)));
        }
        let plain = "\u{200d}\u{2065}\u{5d0}\u{1f600}\n";
        assert!(matches!(escaped_json(plain), Cow::Borrowed(_)), "letters of any script stay");
        assert_eq!(escaped_lines(plain), plain);
    }

    #[test]
    fn a_long_list_is_cut_and_counted() {
        let all = |count| Diagnostics((0..count).map(|n| Diagnostic::of(n.to_string())).collect());
        assert_eq!(all(PROBLEMS_SHOWN).to_string().lines().count(), PROBLEMS_SHOWN);
        let text = all(PROBLEMS_SHOWN + 3).to_string();
        assert_eq!(text.lines().count(), PROBLEMS_SHOWN + 1);
        assert!(text.ends_with("\n3 more problems are not shown"), "{text}");
    }

    #[test]
    fn what_is_wrong_is_gathered_and_told_once() {
        let mut all = Diagnostics::default();
        assert_eq!(all.clone().or(1), Ok(1));
        assert_eq!(all.take(Ok(2)), Some(2));
        assert_eq!(all.take(Err::<u8, _>(Diagnostic::of("a").into())), None);
        all.push(Diagnostic::of("a"));
        assert_eq!(all.clone().unique().0.len(), 1);
        assert_eq!(all.clone().or(1), Err(all));
    }
}
