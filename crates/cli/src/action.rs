//! The action of a command. The file of a command implements it for the struct of its flags.

use crate::exit::Exit;
use crate::stdin::TraceInput;
use fowler_experiment::diagnostic::Diagnostics;

/// A subcommand of `fowler`, such as `run`, with its arguments, ready to be executed.
pub(crate) trait Action {
    /// Returns the traces that a subcommand of `fowler` (such as `run`) reads. The caller replaces
    /// the path `-`, standard input, by the path of a temporary copy.
    fn traces(&mut self) -> Vec<TraceInput<'_>> {
        Vec::new()
    }

    /// Returns true if the command uses several threads. Other commands start no threads.
    fn fans_out(&self) -> bool {
        true
    }

    /// Executes the subcommand of `fowler` whose parsed flags `self` holds, and returns the exit
    /// status.
    fn execute(self) -> Result<Exit, Diagnostics>;
}
