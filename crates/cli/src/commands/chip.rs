//! `fowler chip`: raw flash commands on one die.

use crate::action::Action;
use crate::console;
use crate::exit::Exit;
use crate::fit::resolve;
use crate::flags::{Drive, Policies};
use clap::Args;
use fowler_experiment::chip;
use fowler_experiment::diagnostic::Diagnostics;
use std::path::PathBuf;

/// Raw flash commands on one die: CSV in (at_ns,op), CSV out
/// (at_ns,op,start_ns,done_ns,suspensions)
#[derive(Debug, Args)]
pub(crate) struct Chip {
    #[command(flatten)]
    pub drive: Drive,
    #[command(flatten)]
    pub policies: Policies,
    /// The commands: CSV with the header at_ns,op; op is read, write (transfer in, then program),
    /// program (data already in the page buffer) or erase
    pub file: PathBuf,
}

impl Action for Chip {
    fn fans_out(&self) -> bool {
        false
    }

    fn execute(self) -> Result<Exit, Diagnostics> {
        let mut diagnostics = Diagnostics::default();
        let drive = diagnostics.take(resolve(&self.drive, self.policies.scheme.as_deref()));
        let commands = diagnostics.take(chip::read(&self.file));
        diagnostics.or(())?;
        let (Some(drive), Some(commands)) = (drive, commands) else { return Ok(Exit::Fault) };
        console::print(&chip::chip(&drive.config, &commands));
        Ok(Exit::Done)
    }
}
