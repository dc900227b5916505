//! Files that a package installs beside the program: completions of shells, and pages of the
//! manual.

use super::Arguments;
use crate::action::Action;
use crate::console;
use crate::exit::Exit;
use clap::{Command, CommandFactory, Subcommand};
use clap_complete::Shell;
use clap_mangen::Man;
use fowler_experiment::atomic_file::{AtomicFile, unwritable};
use fowler_experiment::diagnostic::Diagnostics;
use fowler_experiment::disk;
use std::io::Write;
use std::path::{Path, PathBuf};

#[derive(Debug, Subcommand)]
pub(crate) enum Package {
    /// Print a shell completion script (docs/install.md says where it goes)
    Completions {
        /// Shell that is to run the completion script
        shell: Shell,
    },
    /// Print the manual page, or write one page for each command
    Man {
        /// Write all pages into this folder: fowler.1, fowler-run.1 and so on
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
    },
}

impl Action for Package {
    fn fans_out(&self) -> bool {
        false
    }

    fn execute(self) -> Result<Exit, Diagnostics> {
        match self {
            Package::Completions { shell } => {
                let mut script = Vec::new();
                clap_complete::generate(shell, &mut Arguments::command(), "fowler", &mut script);
                console::print(&String::from_utf8_lossy(&script));
            }
            Package::Man { out: None } => console::print(&page(&manual())),
            Package::Man { out: Some(folder) } => {
                disk::create_folder(&folder).map_err(|error| unwritable(&folder, &error))?;
                let count = write(&manual(), &folder)?;
                console::note(&format!("{count} pages written to {}", folder.display()));
                console::note_opens(&folder.join(Man::new(manual()).get_filename()));
            }
        }
        Ok(Exit::Done)
    }
}

/// Returns the command as the manual describes it: with every subcommand, and with the version but
/// not the commit.
fn manual() -> Command {
    let mut command = Arguments::command().version(env!("CARGO_PKG_VERSION"));
    command = command.disable_help_subcommand(true);
    command.build();
    command
}

fn page(command: &Command) -> String {
    let source = format!("fowler {}", env!("CARGO_PKG_VERSION"));
    let mut page = Vec::new();
    let rendered = Man::new(command.clone()).source(source).render(&mut page);
    rendered.expect("memory takes what is written");
    String::from_utf8_lossy(&page).into_owned()
}

/// Writes the manual page of a command and of all commands below it; returns the number of pages.
fn write(command: &Command, folder: &Path) -> Result<usize, Diagnostics> {
    let path = folder.join(Man::new(command.clone()).get_filename());
    let mut file = AtomicFile::create(&path)?;
    file.write_all(page(command).as_bytes()).map_err(|error| unwritable(&path, &error))?;
    file.finish()?;
    let below = command.get_subcommands().filter(|it| !it.is_hide_set());
    below.map(|command| write(command, folder)).try_fold(1, |sum, count| Ok(sum + count?))
}
