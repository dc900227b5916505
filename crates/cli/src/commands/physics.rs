//! `fowler physics`: the models of flash cells, shown.

use crate::action::Action;
use crate::exit::Exit;
use crate::{console, pages, sheets};
use clap::Subcommand;
use fowler_experiment::diagnostic::Diagnostics;
use fowler_report::cell_models;
use std::fmt::Write;
use std::path::PathBuf;

/// Models of flash cells: bit errors, sensing levels, program steps; every constant and its effect
#[derive(Debug, Subcommand)]
pub(crate) enum Physics {
    /// Every curve of the flash cell models as a picture (SVG) and as columns (CSV), and how far
    /// the models agree with published numbers
    Plot {
        /// Folder for the curves of the flash cell models, as pictures (SVG) and columns (CSV)
        #[arg(long, value_name = "DIR", default_value = "results/physics")]
        out: PathBuf,
    },
    /// Sensitivity of bit errors, sensing levels and program steps to each assumed constant of the
    /// flash cell models
    Sensitivity,
    /// Every constant of the flash cell models, with its unit, its source (or that it is assumed),
    /// and the range of the sensitivity study
    Constants,
}

impl Action for Physics {
    fn fans_out(&self) -> bool {
        false
    }

    fn execute(self) -> Result<Exit, Diagnostics> {
        let text = match self {
            Physics::Constants => sheets::text(&cell_models::constants()),
            Physics::Sensitivity => {
                sheets::text(&cell_models::sensitivity())
                    + "\n"
                    + &sheets::text(&cell_models::sensitivity_of_word_lines())
            }
            Physics::Plot { out } => {
                let plotted = pages::plot(&out)?;
                let mut text = String::new();
                for warning in &plotted.warnings {
                    let _grows = writeln!(text, "note: {warning}");
                }
                let _grows =
                    writeln!(text, "written to {}: {}", out.display(), plotted.files.join(", "));
                let first = plotted.files.iter().find(|file| file.ends_with(".svg"));
                sheets::text(&cell_models::agreement())
                    + &console::fitted(&text, 4)
                    + &first.map_or_else(String::new, |file| console::opens(&out.join(file)))
            }
        };
        console::print(&text);
        Ok(Exit::Done)
    }
}
