//! `fowler run --split`: each device of a trace on a drive of its own, one after the other.

use crate::args::Run;
use crate::{Exit, commands, console, fit, requests};
use fowler_experiment::diagnostic::{Diagnostic, Diagnostics};
use fowler_experiment::trace;
use fowler_experiment::workload::replayable;

/// Runs every device. What goes wrong with one does not keep the others from running; the command
/// ends as the worst of them does.
pub(crate) fn execute(mut arguments: Run) -> Result<Exit, Diagnostics> {
    let load = &arguments.setup.load;
    let Some(path) = load.source.trace.clone() else {
        let what = "a generated workload has no devices";
        return Err(Diagnostic::new("--split", what).expected("--trace FILE").into());
    };
    // What is wrong with the command is said before the trace is read for its devices.
    let mut diagnostics = Diagnostics::default();
    fit::run_spec(load, arguments.scheme.as_slice(), &mut diagnostics);
    if requests::columns(&path).is_some() {
        let what = "a Parquet or Arrow file holds the requests of a single device";
        diagnostics.push(Diagnostic::new("--split", what));
    }
    diagnostics.or(())?;
    replayable(&path)?;
    let devices = trace::devices(&path, &fit::read_options(&load.reading)?)?;
    let (folder, json) = (arguments.setup.out.take(), arguments.setup.json);
    let mut worst = Exit::Done;
    for (place, (number, name)) in devices.iter().enumerate() {
        arguments.setup.load.reading.device_id = Some(number.to_string());
        arguments.setup.out = folder.as_ref().map(|it| it.join(format!("device-{number}")));
        if json {
            let before = if place == 0 { "[" } else { "," };
            console::print(&format!("{before}\n"));
        } else {
            let space = if place == 0 { "" } else { "\n" };
            console::print(&format!(
                "{space}device    {name}, {} of {}\n",
                place + 1,
                devices.len()
            ));
        }
        let exit = commands::run(&arguments).unwrap_or_else(|diagnostics| {
            console::complain(&diagnostics);
            Exit::BadInput
        });
        if exit != Exit::Done {
            worst = exit;
        }
        if matches!(exit, Exit::Stopped | Exit::Fault) {
            break;
        }
    }
    if json {
        console::print("]\n");
    }
    Ok(worst)
}
