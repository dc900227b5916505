//! `fowler physics`: the models of flash cells, shown.

use crate::args::Physics;
use crate::{Exit, console, pages, sheets};
use fowler_experiment::diagnostic::Diagnostics;
use fowler_report::cell_models;
use std::fmt::Write;

pub(crate) fn execute(arguments: &Physics) -> Result<Exit, Diagnostics> {
    let text = match arguments {
        Physics::Constants => sheets::text(&cell_models::constants()),
        Physics::Sensitivity => sheets::text(&cell_models::sensitivity()),
        Physics::Plot { out } => {
            let plotted = pages::plot(out)?;
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
