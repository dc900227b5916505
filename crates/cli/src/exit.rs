//! The ends that a command can have, and their exit codes.

use crate::{console, signals};
use fowler_experiment::device_spec::Axis;
use fowler_experiment::diagnostic::{Diagnostic, Diagnostics, escaped};
use fowler_experiment::outcome::{Ending, Outcome};
use fowler_experiment::workload::Control;
use std::sync::atomic::Ordering;

/// The way in which a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// The command finished without an error.
    Done,
    /// The input is wrong, and every error is reported.
    BadInput,
    /// The user stopped the command before its end.
    Stopped,
    /// The command failed because of a bug in this program.
    Fault,
}

impl Exit {
    /// Returns the exit code of the program.
    pub fn code(self) -> u8 {
        match self {
            Exit::Done => 0,
            Exit::Fault => 1,
            Exit::BadInput => 2,
            Exit::Stopped => 130,
        }
    }
}

/// Prints errors found beside the result of a command. Returns bad input, or a stop by the user, if
/// there are errors and the command ended well ([`Exit::Done`]); otherwise returns `exit`.
pub(crate) fn combine_exit(exit: Exit, diagnostics: &Diagnostics) -> Exit {
    console::complain(diagnostics);
    match exit {
        Exit::Done if diagnostics.0.is_empty() => Exit::Done,
        Exit::Done if signals::stop_flag().load(Ordering::Relaxed) => Exit::Stopped,
        Exit::Done => Exit::BadInput,
        worse => worse,
    }
}

/// Returns the end of a command that has no result: it was stopped before the first request, or its
/// input is wrong.
pub(crate) fn stopped_or(
    diagnostics: Diagnostics,
    control: Control<'_>,
) -> Result<Exit, Diagnostics> {
    if !control.stopped() {
        return Err(diagnostics);
    }
    console::note("stopped before the first request: there is no result");
    Ok(Exit::Stopped)
}

/// Returns the exit code of a command that has printed the results of its runs: a fault if a run
/// broke an invariant, else an error or a stop by the user if one ended a run.
pub(crate) fn exit_of(outcomes: &[Outcome]) -> Exit {
    let mut said: Vec<Diagnostic> = Vec::new();
    let mut exit = Exit::Done;
    for outcome in outcomes {
        if !outcome.laws().hold() {
            let (place, laws) = (outcome.drive.place(), outcome.laws());
            console::note(&format!(
                "fault: the run {place} breaks a law that every run obeys, so report a bug: {laws:?}"
            ));
            return Exit::Fault;
        }
        match &outcome.ending {
            Ending::Complete => {}
            Ending::Stopped => exit = if exit == Exit::Done { Exit::Stopped } else { exit },
            Ending::Failed(diagnostics) => {
                // Every run reports the same errors of the trace.
                let of_one_drive = outcomes.iter().any(|it| it.ending != outcome.ending);
                for diagnostic in &diagnostics.0 {
                    let mut diagnostic = diagnostic.clone();
                    if outcome.drive.axis() == Axis::Devices && of_one_drive {
                        diagnostic.what += &format!(" ({})", escaped(&outcome.drive.place()));
                    }
                    if !said.contains(&diagnostic) {
                        said.push(diagnostic);
                    }
                }
                exit = Exit::BadInput;
            }
        }
    }
    console::complain(&Diagnostics(said));
    exit
}
