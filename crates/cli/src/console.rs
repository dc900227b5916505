//! The one place that writes to the terminal.

use fowler_experiment::diagnostic::Diagnostics;
use std::io::{self, Write};

/// Writes a result to standard output. A reader that has seen enough, such as `head`, is no error.
pub(crate) fn print(text: &str) {
    let mut out = io::stdout().lock();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    if let Err(error) = written
        && error.kind() != io::ErrorKind::BrokenPipe
    {
        note(&format!("standard output cannot be written: {error}"));
        std::process::exit(2);
    }
}

/// Says what is wrong with the input.
pub(crate) fn complain(diagnostics: &Diagnostics) {
    for diagnostic in &diagnostics.0 {
        note(&format!("error: {diagnostic}"));
    }
}

/// A line on standard error. If even that is gone there is nobody to tell.
pub(crate) fn note(text: &str) {
    let _gone = writeln!(io::stderr().lock(), "{text}");
}

/// Standard output as a stream, for results too large to hold. A reader that has seen enough ends
/// the program in good order.
pub(crate) struct Stdout(io::BufWriter<io::Stdout>);

impl Stdout {
    /// The stream.
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
