//! The commands, one file each. A command's file has the struct of its flags, with its help, and
//! implements [`Action`] for it. Flags that several commands share are in `flags.rs`.

use crate::action::Action;
use crate::exit::Exit;
#[cfg(not(feature = "papers"))]
use crate::missing_papers;
use crate::stdin::{self, TraceInput};
use clap::{Parser, Subcommand};
use fowler_experiment::diagnostic::Diagnostics;
use fowler_experiment::{cache_folder, fan_out, image_store};

/// Declares a module and a variant of [`Command`] for each line of the table: the file, the struct
/// of flags, and the kind of command for clap if it is not a plain one. A command `of` a Cargo
/// feature is there only with that feature; without it, the struct after `or` takes its place.
macro_rules! commands {
    ($($(#[command($kind:ident)])? $file:ident::$name:ident
        $(of $feature:literal $(or $other:path)?)?;)*) => {
        $(
            $(#[cfg(feature = $feature)])?
            mod $file;
        )*

        /// Subcommand of the program.
        #[derive(Debug, Subcommand)]
        pub(crate) enum Command {
            $(
                $(#[cfg(feature = $feature)])?
                $(#[command($kind)])?
                $name($file::$name),
                $($(
                    #[cfg(not(feature = $feature))]
                    $name($other),
                )?)?
            )*
        }

        impl Action for Command {
            fn traces(&mut self) -> Vec<TraceInput<'_>> {
                match self {
                    $(
                        $(#[cfg(feature = $feature)])?
                        Command::$name(command) => command.traces(),
                        $($(
                            #[cfg(not(feature = $feature))]
                            Command::$name(command) => <$other as Action>::traces(command),
                        )?)?
                    )*
                }
            }

            fn fans_out(&self) -> bool {
                match self {
                    $(
                        $(#[cfg(feature = $feature)])?
                        Command::$name(command) => command.fans_out(),
                        $($(
                            #[cfg(not(feature = $feature))]
                            Command::$name(command) => <$other as Action>::fans_out(command),
                        )?)?
                    )*
                }
            }

            fn execute(self) -> Result<Exit, Diagnostics> {
                match self {
                    $(
                        $(#[cfg(feature = $feature)])?
                        Command::$name(command) => command.execute(),
                        $($(
                            #[cfg(not(feature = $feature))]
                            Command::$name(command) => <$other as Action>::execute(command),
                        )?)?
                    )*
                }
            }
        }
    };
}

// The order is that of `fowler --help`.
commands! {
    ask::Ask;
    run::Run;
    compare::Compare;
    explain::Explain;
    chip::Chip;
    lifetime::Lifetime;
    fio::Fio;
    pts::Pts;
    endurance::Endurance;
    reproduce::Reproduce of "papers" or missing_papers::Reproduce;
    study::Study of "papers" or missing_papers::Study;
    sweep::Sweep;
    validate::Validate;
    check::Check;
    diff::Diff;
    score::Score;
    calibrate::Calibrate;
    measure::Measure;
    #[command(subcommand)] physics::Physics;
    #[command(subcommand)] trace::Trace;
    presets::Presets;
    schema::Schema;
    #[command(flatten)] package::Package of "package";
}

/// A laboratory for solid-state drives: how slow are reads and writes, and exactly why.
#[derive(Debug, Parser)]
#[command(name = "fowler", version = env!("FOWLER_VERSION"), max_term_width = 100)]
#[command(
    after_help = "Exit codes: 0 done; 2 the input is wrong, and every error is reported; 130 \
        stopped with Ctrl-C, results until then printed; 1 a fault of the program, or theory and \
        simulation disagree"
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub command: Command,
    /// Do not read or save states of drives and lives in the folder of caches ($FOWLER_CACHE, or
    /// fowler in $XDG_CACHE_HOME or ~/.cache)
    #[arg(long, global = true)]
    pub no_cache: bool,
}

/// Executes the command that the user asked for.
pub(crate) fn execute(arguments: Arguments) -> Result<Exit, Diagnostics> {
    let Arguments { mut command, no_cache } = arguments;
    image_store::keep_in(cache_folder::path().filter(|_| !no_cache));
    // The copy is removed when the command is done.
    let _copy = stdin::copied(command.traces())?;
    if command.fans_out() {
        fan_out::start()?;
    }
    command.execute()
}
