//! The commands of the papers in a program that was built without them.

use crate::action::Action;
use crate::exit::Exit;
use clap::Args;
use fowler_experiment::diagnostic::{Diagnostic, Diagnostics};

/// A paper's tables and figures (not in this build)
#[derive(Debug, Args)]
pub(crate) struct Reproduce {
    #[command(flatten)]
    rest: Rest,
}

/// Gains of five published systems, alone and combined (not in this build)
#[derive(Debug, Args)]
pub(crate) struct Study {
    #[command(flatten)]
    rest: Rest,
}

/// The words after the name of a command that this build does not have, which are ignored.
#[derive(Debug, Args)]
struct Rest {
    #[arg(hide = true, trailing_var_arg = true, allow_hyphen_values = true)]
    _rest: Vec<String>,
}

impl Action for Reproduce {
    fn execute(self) -> Result<Exit, Diagnostics> {
        refused()
    }
}

impl Action for Study {
    fn execute(self) -> Result<Exit, Diagnostics> {
        refused()
    }
}

fn refused() -> Result<Exit, Diagnostics> {
    let what = "this program was built without the papers (its Cargo feature `papers`)";
    let hint = "build it with its default features".to_string();
    Err(Diagnostic::new("", what).hint(hint).into())
}
