//! Simulated runs of `fowler run` and `fowler compare`: files, progress and report.

use crate::exit::{Exit, exit_of, stopped_or};
use crate::flags::Setup;
use crate::output::{Output, Wanted};
use crate::table::Grid;
use crate::{console, fit, progress, report, signals};
use fowler_experiment::diagnostic::Diagnostics;
use fowler_experiment::memory::Need;
use fowler_experiment::numbers::{self, counted_as};
use fowler_experiment::outcome::Outcome;
use fowler_experiment::run::RunSpec;
use fowler_experiment::seeds::Spread;
use fowler_experiment::workload::Control;
use fowler_experiment::{compare, run};
use std::path::{Path, PathBuf};

/// What was simulated.
pub(crate) struct Results {
    pub outcomes: Vec<Outcome>,
    pub spread: Option<Spread>,
    pub json: serde_json::Value,
}

/// What `run` and `compare` have in common: flags, files, progress, report.
pub(crate) fn measured(
    command: &str,
    setup: &Setup,
    schemes: &[String],
    timeline: bool,
    logs: impl FnOnce(&Path) -> Vec<PathBuf>,
    simulate: impl FnOnce(&RunSpec, Control<'_>) -> Result<Results, Diagnostics>,
) -> Result<Exit, Diagnostics> {
    // Everything that is wrong is said at once, so each of these looks before any gives up.
    let mut diagnostics = Diagnostics::default();
    let inputs = fit::files(&setup.load, schemes);
    let (requests, report) = (setup.requests.as_ref(), setup.page.report.as_ref());
    let wanted = Wanted { requests, report, runs: true, timeline, pictures: false };
    let output = Output::open(setup.out.as_deref(), wanted, &inputs, logs);
    let output = diagnostics.take(output);
    let spec = fit::run_spec(&setup.load, schemes, &mut diagnostics);
    diagnostics.or(())?;
    let (Some(output), Some(spec)) = (output, spec) else { return Ok(Exit::Fault) };
    if setup.dry_run {
        console::print(&dry_run(command, &spec, schemes)?);
        return Ok(Exit::Done);
    }
    let spec = RunSpec { requests: output.requests(), detail: output.reports(), ..spec };
    let bar = progress::Requests::new(setup.load.progress.quiet);
    let control = Control { stop: signals::stop_flag(), progress: &|step| bar.follow(step) };
    let simulated = simulate(&spec, control);
    bar.clear();
    let Results { outcomes, spread, json } = match simulated {
        Err(diagnostics) => return stopped_or(diagnostics, control),
        Ok(simulated) => simulated,
    };
    let json = format!("{json:#}\n");
    output.summary(&json)?;
    output.report(&outcomes, spread.as_ref())?;
    output.list(command, [])?;
    if setup.answer.json {
        console::print(&json);
        output.note_opens();
    } else {
        console::print(&(report::report(&outcomes, spread.as_ref()) + &output.opens()));
    }
    let missing = schemes.len().saturating_sub(outcomes.len());
    if missing > 0 {
        let missing = counted_as(missing as u64, "scheme has", "schemes have");
        console::note(&format!("stopped: {missing} no result"));
    }
    Ok(match exit_of(&outcomes) {
        Exit::Done if missing > 0 => Exit::Stopped,
        exit => exit,
    })
}

/// The drives, and the memory that their runs would take.
fn dry_run(command: &str, spec: &RunSpec, schemes: &[String]) -> Result<String, Diagnostics> {
    let source = spec.device.source()?;
    let schemes: Vec<_> = match schemes {
        [] => vec![None],
        named => named.iter().map(|name| Some(name.as_str())).collect(),
    };
    let mut drives = Vec::new();
    let mut grid =
        Grid::new(["scheme", "capacity", "pages"].map(str::to_string).into()).words(0..1);
    for name in &schemes {
        let drive = run::drive(spec, &source, *name)?;
        let pages = u64::from(drive.layout.logical_pages);
        grid.row(vec![
            drive.scheme.clone(),
            numbers::bytes(drive.layout.logical.0),
            numbers::whole(pages),
        ]);
        drives.push(drive);
    }
    let memory = if command == "compare" {
        let (need, at_once) = compare::need(drives.iter(), spec.replay_speed);
        need.report(at_once)
    } else {
        // A single run caches no image.
        let mut need = Need::caching(0);
        drives.iter().for_each(|drive| need.add(drive, spec.replay_speed.copies()));
        need.report(1)
    };
    Ok(grid.text() + &memory + "\n")
}
