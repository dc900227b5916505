//! The action of a command. The file of a command implements it for the struct of its flags.

use crate::exit::Exit;
use crate::stdin::TraceInput;
use fowler_experiment::diagnostic::Diagnostics;

/// A command that can be executed.
pub(crate) trait Action {
    /// Returns the traces that the command reads. Each may be standard input, and is then replaced
    /// by a copy of it.
    fn traces(&mut self) -> Vec<TraceInput<'_>> {
        Vec::new()
    }

    /// Returns true if several things run at the same time. Other commands start no threads.
    fn fans_out(&self) -> bool {
        true
    }

    /// Does what the user asked for.
    fn execute(self) -> Result<Exit, Diagnostics>;
}
