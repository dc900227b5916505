//! The command `fowler`: flags and messages over the experiments.
//!
//! Results go to standard output, everything else to standard error. Exit codes: 0 done; 2 the
//! input is wrong, with everything that is wrong; 130 stopped by the user, results until then
//! printed; 1 a fault of this program, or theory and simulation disagree.

mod action;
mod chart;
mod command_line;
mod commands;
mod console;
mod exit;
mod fit;
mod flags;
mod fleet;
mod life_report;
#[cfg(not(feature = "papers"))]
mod missing_papers;
mod output;
mod pages;
mod parser;
mod progress;
mod report;
mod requests;
mod runs;
mod schemas;
mod sheets;
mod short_report;
mod signals;
mod stdin;
mod table;
mod wrap;

use exit::Exit;
use fowler_experiment::diagnostic::{Diagnostic, Diagnostics};
use std::ffi::OsString;
use std::sync::atomic::AtomicBool;

/// Prints help, the version, or the errors in the flags.
fn said(mut errors: Vec<clap::Error>) -> Exit {
    let Some(error) = errors.pop() else { return Exit::Fault };
    errors.iter_mut().for_each(console::wrong_flag);
    let help = !error.use_stderr();
    if help && console::print_narrow(&error.render().to_string()) {
        return Exit::Done;
    }
    match error.print() {
        Ok(()) if help => Exit::Done,
        Err(error) if help && error.kind() == std::io::ErrorKind::BrokenPipe => Exit::Done,
        Err(error) if help => {
            console::note(&format!("standard output cannot be written: {error}"));
            Exit::BadInput
        }
        // If even standard error is gone, there is nobody to tell.
        Ok(()) | Err(_) => Exit::BadInput,
    }
}

/// Executes the command in `arguments`, whose first is the program's name; returns the exit code.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    signals::outlive_file_limits();
    let arguments = match parser::parse(arguments) {
        Ok(arguments) => arguments,
        Err(errors) => return said(errors).code(),
    };
    // A panic is a bug of ours: its message has been printed by the hook, the exit code says the
    // rest.
    let ended = std::panic::catch_unwind(|| commands::execute(arguments));
    let exit = match ended {
        Ok(Ok(exit)) => exit,
        Ok(Err(diagnostics)) => {
            console::complain(&diagnostics);
            Exit::BadInput
        }
        Err(_) => {
            console::note("this is a fault of the program, not of its input: please report it");
            Exit::Fault
        }
    };
    exit.code()
}

/// Result of a command that another program called.
#[derive(Debug)]
pub enum Answer {
    /// The text that the command would have written to standard output.
    Text(String),
    /// The user stopped the command.
    Stopped,
}

/// Executes the command in `arguments` within another program: results are returned, and `stop`
/// replaces signals.
///
/// # Errors
///
/// All errors in the input.
pub fn answer(
    arguments: impl IntoIterator<Item = OsString>,
    stop: &'static AtomicBool,
) -> Result<Answer, Diagnostics> {
    let arguments = parser::parse(arguments).map_err(|errors| {
        let wrong = |error: &clap::Error| {
            let text = error.render().to_string();
            Diagnostic::new("", text.trim_start_matches("error: ").trim_end())
        };
        Diagnostics(errors.iter().map(wrong).collect())
    })?;
    let (ended, kept) = console::keep(|| signals::heard_by(stop, || commands::execute(arguments)));
    let exit = ended?;
    kept.diagnostics.or(())?;
    match exit {
        Exit::Stopped => Ok(Answer::Stopped),
        Exit::Done | Exit::BadInput | Exit::Fault => Ok(Answer::Text(kept.text)),
    }
}
