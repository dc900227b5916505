//! `fowler run`: runs one workload on one drive, or each device of a trace on a separate drive.

use crate::action::Action;
use crate::exit::{Exit, combine_exit};
use crate::flags::{Policies, Setup};
use crate::runs::{Results, measured};
use crate::stdin::TraceInput;
use crate::{console, fit, requests};
use clap::Args;
use fowler_experiment::candidates::Candidates;
use fowler_experiment::diagnostic::{Diagnostic, Diagnostics};
use fowler_experiment::progress::Progress;
use fowler_experiment::timeline::{self, Choice, Recorded, TIMELINE};
use fowler_experiment::workload::replayable;
use fowler_experiment::{contents, run, trace};
use std::path::Path;

/// One drive under one workload
#[derive(Debug, Args)]
pub(crate) struct Run {
    #[command(flatten)]
    pub policies: Policies,
    /// Record the activity of dies and channels as timeline.json, for Perfetto (ui.perfetto.dev) or
    /// Chrome, in the folder of --out: in a window since the first request, or around the slowest K
    /// requests
    #[arg(long, value_name = "FROM..UNTIL|slowest:K", requires = "out")]
    pub timeline: Option<String>,
    /// Run each device of a trace on a separate drive, one after the other; with --out, each in a
    /// separate folder
    #[arg(long, requires = "trace", conflicts_with_all = ["device_id", "requests", "report"])]
    pub split: bool,
    #[command(flatten)]
    pub setup: Setup,
}

impl Action for Run {
    fn traces(&mut self) -> Vec<TraceInput<'_>> {
        // Each device has the limit to itself.
        let split = self.split;
        self.setup.load.traces(|limit| limit.filter(|_| !split))
    }

    fn fans_out(&self) -> bool {
        self.split
    }

    fn execute(self) -> Result<Exit, Diagnostics> {
        if self.split { each_device(self) } else { one(&self) }
    }
}

impl Run {
    /// Returns the drive that the flags of `fowler run` name, under their scheme (policy set), as
    /// the only drive to simulate.
    fn candidate(&self) -> Candidates {
        fit::candidate(&self.setup.load.drive, self.policies.scheme.as_ref())
    }
}

/// Runs every device of a trace on a drive of its own. An error of one device does not keep the
/// others from running; the command ends as the worst of them does.
fn each_device(mut arguments: Run) -> Result<Exit, Diagnostics> {
    let load = &arguments.setup.load;
    let Some(path) = load.source.trace.clone() else {
        let what = "a generated workload has no devices";
        return Err(Diagnostic::new("--split", what).expected("--trace FILE").into());
    };
    // Errors of the command are reported before the trace is read for its devices.
    let mut diagnostics = Diagnostics::default();
    fit::run_spec(load, &arguments.candidate(), &mut diagnostics);
    if requests::columns(&path).is_some() {
        let what = "a Parquet or Arrow file holds the requests of a single device";
        diagnostics.push(Diagnostic::new("--split", what));
    }
    diagnostics.or(())?;
    replayable(&path)?;
    let devices = trace::devices(&path, &fit::read_options(&load.reading)?)?;
    let (folder, json) = (arguments.setup.out.take(), arguments.setup.answer.json);
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
        let exit = one(&arguments).unwrap_or_else(|diagnostics| {
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

fn one(arguments: &Run) -> Result<Exit, Diagnostics> {
    let logs = |path: &Path| vec![path.to_path_buf()];
    let choice = arguments.timeline.as_deref().map(|text| Choice::parse(text, "--timeline"));
    let choice = match choice.transpose() {
        Ok(choice) => choice,
        Err(diagnostics) => return Err(with_setup(diagnostics, arguments)),
    };
    let folder = arguments.setup.out.clone();
    let mut seen = None;
    let wanted = choice.is_some();
    let candidate = arguments.candidate();
    let exit = measured("run", &arguments.setup, &candidate, wanted, logs, |spec, control| {
        let outcome = match choice {
            Some(choice) => {
                let Recorded { outcome, timeline, diagnostics } =
                    timeline::record(spec, choice, control)?;
                seen = Some((timeline, diagnostics));
                outcome
            }
            None => {
                (control.progress)(Progress::Planned(1));
                run::Run::new(spec, control).outcome()?
            }
        };
        let json = outcome.json();
        Ok(Results { outcomes: vec![outcome], spread: None, json })
    })?;
    // The trace comes when everything else is out: what is wrong with it loses nothing.
    let (Some((timeline, mut diagnostics)), Some(folder)) = (seen, folder) else { return Ok(exit) };
    let file = folder.join(TIMELINE);
    let written = timeline.write(&file).and_then(|()| contents::add(&folder, &file));
    if diagnostics.take(written).is_some() {
        match arguments.setup.answer.json {
            true => console::note_opens(&file),
            false => console::print(&console::opens(&file)),
        }
    }
    Ok(combine_exit(exit, &diagnostics))
}

/// Returns `diagnostics`, errors in some flags of `fowler run`, with those in the flags for drive,
/// scheme and workload added, so that the user sees all errors at once.
fn with_setup(mut diagnostics: Diagnostics, arguments: &Run) -> Diagnostics {
    fit::run_spec(&arguments.setup.load, &arguments.candidate(), &mut diagnostics);
    diagnostics
}
