//! Simulated runs of `fowler run` and `fowler compare`: files, progress and report.

use crate::command_line::CommandLine;
use crate::exit::{Exit, exit_of, stopped_or};
use crate::flags::Setup;
use crate::output::{Output, Wanted};
use crate::table::Grid;
use crate::{console, fit, progress, report, short_report, signals};
use fowler_experiment::candidates::Candidates;
use fowler_experiment::compare;
use fowler_experiment::diagnostic::Diagnostics;
use fowler_experiment::memory::Need;
use fowler_experiment::numbers::{self, counted_as};
use fowler_experiment::outcome::Outcome;
use fowler_experiment::run::RunSpec;
use fowler_experiment::seeds::Spread;
use fowler_experiment::workload::Control;
use std::path::{Path, PathBuf};

/// The results of simulated runs, for one command.
pub(crate) struct Results {
    pub outcomes: Vec<Outcome>,
    pub spread: Option<Spread>,
    pub json: serde_json::Value,
}

/// Executes `run` or `compare`, which share flags, files, progress and report.
pub(crate) fn measured(
    command: &str,
    setup: &Setup,
    candidates: &Candidates,
    timeline: bool,
    logs: impl FnOnce(&Path) -> Vec<PathBuf>,
    simulate: impl FnOnce(&RunSpec, Control<'_>) -> Result<Results, Diagnostics>,
) -> Result<Exit, Diagnostics> {
    // Everything that is wrong is said at once, so each of these looks before any gives up.
    let mut diagnostics = Diagnostics::default();
    let inputs = fit::files(&setup.load, candidates);
    let (requests, report) = (setup.requests.as_ref(), setup.page.report.as_ref());
    let wanted = Wanted { requests, report, runs: true, timeline, pictures: false };
    let output = Output::open(setup.out.as_deref(), wanted, &inputs, logs);
    let output = diagnostics.take(output);
    let spec = fit::run_spec(&setup.load, candidates, &mut diagnostics);
    diagnostics.or(())?;
    let (Some(output), Some(spec)) = (output, spec) else { return Ok(Exit::Fault) };
    if setup.dry_run {
        console::print(&dry_run(command, &spec, candidates)?);
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
    output.report(&outcomes, spread.as_ref(), &[])?;
    output.list(command, [])?;
    if setup.answer.json {
        console::print(&json);
        output.note_opens();
    } else {
        let text = match setup.full {
            true => report::report(&outcomes, spread.as_ref()),
            false => short_report::report(&outcomes, spread.as_ref(), &explains(setup, candidates)),
        };
        console::print(&(text + &output.opens()));
    }
    let missing = candidates.all().len().saturating_sub(outcomes.len());
    if missing > 0 {
        let noun = candidates.axis().noun();
        let missing = counted_as(missing as u64, &format!("{noun} has"), &format!("{noun}s have"));
        console::note(&format!("stopped: {missing} no result"));
    }
    Ok(match exit_of(&outcomes) {
        Exit::Done if missing > 0 => Exit::Stopped,
        exit => exit,
    })
}

/// Returns the command that explains the slowest requests of the first run.
fn explains(setup: &Setup, candidates: &Candidates) -> String {
    let mut load = setup.load.clone();
    let first = candidates.all().first();
    if let Some(first) = first {
        load.drive.device.clone_from(&first.device.device);
    }
    let scheme = first.and_then(|it| it.scheme.as_ref());
    CommandLine::of("explain").and(&load).with("--scheme", scheme).line()
}

/// Returns a description of the drives and of the memory that their runs would take.
fn dry_run(command: &str, spec: &RunSpec, candidates: &Candidates) -> Result<String, Diagnostics> {
    let mut drives = Vec::new();
    let heads = [candidates.axis().noun(), "capacity", "pages"];
    let mut grid = Grid::new(heads.map(str::to_string).into()).words(0..1);
    for candidate in candidates.all() {
        let drive = candidate.drive(spec)?;
        let pages = u64::from(drive.layout.logical_pages);
        grid.row(vec![
            drive.label().into(),
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
    Ok(grid.text() + &console::fitted(&format!("{memory}\n"), 4))
}
