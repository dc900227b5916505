//! The command `fowler`: flags and messages over the experiment crate.
//!
//! Results go to standard output, everything else to standard error. Exit codes: 0 done; 2 the
//! input is wrong, with everything that is wrong; 130 stopped by the user, results until then
//! printed; 1 a fault of this program, or theory and simulation disagree.

mod args;
mod ask;
mod calibrate;
mod check;
mod commands;
mod console;
mod diff;
mod endurance;
mod fio;
mod fit;
mod flags;
mod fleet;
mod lifetime;
mod output;
#[cfg(feature = "package")]
mod package;
mod pages;
mod physics;
mod progress;
mod pts;
mod reading;
mod report;
#[cfg(feature = "papers")]
mod reproduce;
mod requests;
mod schema;
mod schemas;
mod score;
mod sheets;
mod signals;
mod split;
mod stdin;
#[cfg(feature = "papers")]
mod study;
mod sweep;
mod table;
mod traces;
mod validation;
mod wrap;

use fowler_experiment::fan_out;
use fowler_experiment::numbers;
use std::ffi::OsString;

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done.
    Done,
    /// The input is wrong; what is wrong has been said.
    BadInput,
    /// The user stopped it.
    Stopped,
    /// The fault is ours.
    Fault,
}

impl Exit {
    fn code(self) -> u8 {
        match self {
            Exit::Done => 0,
            Exit::Fault => 1,
            Exit::BadInput => 2,
            Exit::Stopped => 130,
        }
    }
}

/// Prints help, the version, or what is wrong with the flags.
fn said(mut errors: Vec<clap::Error>) -> Exit {
    let Some(error) = errors.pop() else { return Exit::Fault };
    errors.iter_mut().for_each(console::wrong_flag);
    let help = !error.use_stderr();
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

/// Does what `arguments` ask for, the name of the program first, and returns the exit code.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    signals::outlive_file_limits();
    let arguments = match flags::parse(arguments) {
        Ok(arguments) => arguments,
        Err(errors) => return said(errors).code(),
    };
    // A panic is a bug of ours: its message has been printed by the hook, the exit code says the
    // rest.
    let ended = std::panic::catch_unwind(|| {
        fan_out::start()?;
        commands::execute(arguments.command)
    });
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
