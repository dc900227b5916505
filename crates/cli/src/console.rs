//! The one place that writes to the terminal.

use crate::wrap::{wrapped, wrapped_command};
use clap::error::{ContextKind, ContextValue};
use console::{Style, Term};
use fowler_experiment::diagnostic::{Diagnostics, escaped, escaped_json, escaped_lines};
use std::borrow::Cow;
use std::cell::Cell;
use std::io::{self, Write};
use std::path::Path;

/// The output of a command that is returned to the caller instead of being written.
#[derive(Default)]
pub(crate) struct Kept {
    /// Text that the command would have written to standard output.
    pub text: String,
    /// Errors in the command's input.
    pub diagnostics: Diagnostics,
}

thread_local! {
    static KEPT: Cell<Option<Kept>> = const { Cell::new(None) };
}

/// Calls `act`, such as a command of `fowler`; its output to the terminal and its errors are
/// captured and returned with its result instead of being printed.
pub(crate) fn keep<T>(act: impl FnOnce() -> T) -> (T, Kept) {
    KEPT.set(Some(Kept::default()));
    let done = act();
    (done, KEPT.take().unwrap_or_default())
}

/// Adds output to the text captured on this thread by calling `put`, if a caller captures this
/// thread's output instead of printing it; returns true if so.
fn kept(put: impl FnOnce(&mut Kept)) -> bool {
    let mut kept = KEPT.take();
    let keeps = kept.as_mut().map(put).is_some();
    KEPT.set(kept);
    keeps
}

/// The fewest columns that a terminal is assumed to have.
const NARROWEST: usize = 60;

/// The most columns that a terminal is assumed to have.
const WIDEST: usize = 10_000;

/// Returns the number of columns of standard output: from COLUMNS, as shells export it, or from the
/// terminal. `None` if it is no terminal: then a script finds every line and every table whole.
pub(crate) fn width() -> Option<usize> {
    columns(&Term::stdout())
}

#[allow(clippy::disallowed_methods, reason = "the width is of the terminal, not of a run")]
fn columns(terminal: &Term) -> Option<usize> {
    let asked = std::env::var("COLUMNS").ok().and_then(|it| it.trim().parse().ok());
    let of_terminal = || terminal.size_checked().map_or(80, |(_, columns)| usize::from(columns));
    let columns = asked.filter(|&it| it > 0).or_else(|| terminal.is_term().then(of_terminal));
    columns.map(|columns| columns.clamp(NARROWEST, WIDEST))
}

/// Returns the number of columns of standard error; `None` if it is no terminal.
fn error_width() -> Option<usize> {
    columns(&Term::stderr())
}

/// Returns the text with lines that fit standard output, if that is a terminal; the continuation of
/// a line is indented by `hang` columns.
pub(crate) fn fitted(text: &str, hang: usize) -> String {
    wrapped(text, width(), hang)
}

/// Returns a line with a label of `columns` columns, and a command that can be copied however
/// narrow standard output is.
pub(crate) fn labelled_command(label: &str, columns: usize, command: &str) -> String {
    let command = wrapped_command(&escaped(command), width(), columns, columns);
    format!("{label:<columns$}{command}\n")
}

/// Returns a line with a label of `columns` columns, and a text that begins and continues after
/// them.
pub(crate) fn labelled(label: &str, columns: usize, text: &str) -> String {
    // The label is there when the text is broken, so that a blank one is no indentation.
    let line = format!("{:_<columns$}{text}\n", "");
    format!("{label:<columns$}{}", &wrapped(&line, width(), columns)[columns..])
}

/// Returns the text in bold, where standard output is a terminal and NO_COLOR does not forbid it.
pub(crate) fn strong(text: &str) -> String {
    Style::new().for_stdout().bold().apply_to(text).to_string()
}

/// Returns the line that names the file of results to open.
pub(crate) fn opens(file: &Path) -> String {
    format!("open      {}\n", escaped(&file.display().to_string()))
}

/// Writes a result to standard output. A reader that has seen enough, such as `head`, is no error.
/// Names from the user may be any text: no part of them commands the terminal.
pub(crate) fn print(text: &str) {
    if kept(|kept| kept.text.push_str(text)) {
        return;
    }
    let text = if text.starts_with(['{', '[']) { escaped_json(text) } else { emphasis_only(text) };
    let mut out = io::stdout().lock();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    if let Err(error) = written
        && error.kind() != io::ErrorKind::BrokenPipe
    {
        note(&format!("standard output cannot be written: {error}"));
        std::process::exit(2);
    }
}

/// Prints the help of a command, if some of its lines are wider than standard output: clap breaks
/// all lines but the one with the usage. Returns true if the help was printed.
pub(crate) fn print_narrow(help: &str) -> bool {
    let fitted = fitted(help, 4);
    let is_wide = fitted != help;
    if is_wide {
        print(&fitted);
    }
    is_wide
}

/// Escape sequences around text emphasized by [`strong`].
const EMPHASIS: [&str; 2] = ["\u{1b}[1m", "\u{1b}[0m"];

/// Returns the text without any terminal command but those of [`strong`], and these only on a
/// terminal.
fn emphasis_only(text: &str) -> Cow<'_, str> {
    if !console::colors_enabled() {
        return escaped_lines(text);
    }
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\u{1b}') {
        let (before, command) = rest.split_at(at);
        shown.push_str(&escaped_lines(before));
        let known = EMPHASIS.into_iter().find(|it| command.starts_with(it));
        let length = known.map_or(1, str::len);
        let (command, after) = command.split_at(length);
        shown.push_str(if known.is_some() { command } else { "\\u{1b}" });
        rest = after;
    }
    shown.push_str(&escaped_lines(rest));
    Cow::Owned(shown)
}

/// Reports diagnostics about the input on standard error.
pub(crate) fn complain(diagnostics: &Diagnostics) {
    if kept(|kept| kept.diagnostics.0.extend_from_slice(&diagnostics.0)) {
        return;
    }
    let (shown, rest) = diagnostics.shown();
    for diagnostic in shown {
        let word = Style::new().for_stderr().red().bold().apply_to("error:");
        let text = format!("error: {diagnostic}");
        let fit = |line: &str| match line {
            // The user's own text is repeated unchanged.
            line if line.starts_with("    text: ") => line.into(),
            line => wrapped(line, error_width(), 4),
        };
        let text = text.lines().map(fit).collect::<Vec<String>>().join("\n");
        error_line(&format!("{word}{}", text.trim_start_matches("error:")));
    }
    if let Some(rest) = rest {
        error_line(&rest);
    }
}

/// Prints the error of a wrong flag without the command's usage. Of several errors, only the last
/// one shows the usage.
pub(crate) fn wrong_flag(error: &mut clap::Error) {
    error.insert(ContextKind::Usage, ContextValue::None);
    let text = error.render();
    let text =
        if console::colors_enabled_stderr() { text.ansi().to_string() } else { text.to_string() };
    let what = text.split("For more information").next().unwrap_or_default();
    error_line(&format!("{}\n", what.trim_end()));
}

/// Prints a note on standard error.
pub(crate) fn note(text: &str) {
    error_line(&wrapped(&escaped_lines(text), error_width(), 4));
}

/// Names the file of results to open on standard error, where standard output has other uses. A
/// caller that is a program knows the file.
pub(crate) fn note_opens(file: &Path) {
    if !kept(|_| ()) {
        error_line(opens(file).trim_end());
    }
}

/// Prints lines on standard error. An error of writing is ignored: nobody could be told.
fn error_line(text: &str) {
    let _gone = writeln!(io::stderr().lock(), "{text}");
}

/// Standard output as a stream, for results too large to hold. A reader that has seen enough ends
/// the program in good order.
pub(crate) struct Stdout(io::BufWriter<io::Stdout>);

impl Stdout {
    /// Returns a new stream to standard output.
    pub fn new() -> Stdout {
        Stdout(io::BufWriter::new(io::stdout()))
    }
}

fn unless_closed<T>(result: io::Result<T>) -> io::Result<T> {
    if result.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::BrokenPipe) {
        std::process::exit(0);
    }
    result
}

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        unless_closed(self.0.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        unless_closed(self.0.flush())
    }
}
