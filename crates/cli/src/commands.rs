//! The commands.

use crate::args::{Chip, Command, Compare, Explain, Presets, Run, Setup};
use crate::output::{Output, Wanted};
use crate::table::Grid;
use crate::wrap::wrapped_comments;
use crate::{
    Exit, ask, calibrate, check, console, diff, endurance, fio, fit, lifetime, physics, progress,
    pts, report, schemas, score, signals, split, stdin, sweep, traces, validation,
};
#[cfg(feature = "papers")]
use crate::{reproduce, study};
use fowler_experiment::contents;
use fowler_experiment::device::{self, Resolved};
use fowler_experiment::diagnostic::{Diagnostic, Diagnostics};
use fowler_experiment::memory::Need;
use fowler_experiment::numbers::{self, counted_as};
use fowler_experiment::outcome::{Ending, Outcome};
use fowler_experiment::presets::{self, Folder};
use fowler_experiment::progress::Progress;
use fowler_experiment::requests::log_path;
use fowler_experiment::run::RunSpec;
use fowler_experiment::scheme::Scheme;
use fowler_experiment::seeds::{self, Spread};
use fowler_experiment::timeline::{self, Choice, Recorded, TIMELINE};
use fowler_experiment::workload::Control;
use fowler_experiment::{chip, compare, field, generator, keys, run};
use fowler_report::verdict;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

/// Does what the user asked for.
pub(crate) fn execute(mut command: Command) -> Result<Exit, Diagnostics> {
    // It is removed when the command is done.
    let _copy = stdin::copied(&mut command)?;
    match command {
        Command::Ask(arguments) => ask::execute(&arguments),
        Command::Run(arguments) if arguments.split => split::execute(arguments),
        Command::Run(arguments) => run(&arguments),
        Command::Compare(arguments) => compare(&arguments),
        Command::Explain(arguments) => explain(&arguments),
        Command::Chip(arguments) => chip(&arguments),
        Command::Lifetime(arguments) => lifetime::execute(&arguments),
        Command::Endurance(arguments) => endurance::execute(&arguments),
        Command::Pts(arguments) => pts::execute(&arguments),
        Command::Fio(arguments) => fio::execute(&arguments),
        #[cfg(feature = "papers")]
        Command::Reproduce(arguments) => reproduce::execute(&arguments),
        #[cfg(feature = "papers")]
        Command::Study(arguments) => study::execute(&arguments),
        #[cfg(not(feature = "papers"))]
        Command::Reproduce(_) | Command::Study(_) => {
            let what = "this program was built without the papers (its Cargo feature `papers`)";
            let hint = "build it with its default features".to_string();
            Err(Diagnostic::new("", what).hint(hint).into())
        }
        Command::Sweep(arguments) => sweep::execute(&arguments),
        Command::Check(arguments) => check::execute(&arguments),
        Command::Diff(arguments) => diff::execute(&arguments),
        Command::Validate(validate) => validation::execute(&validate),
        Command::Score(arguments) => score::execute(&arguments),
        Command::Calibrate(arguments) => calibrate::execute(&arguments),
        Command::Physics(show) => physics::execute(&show),
        Command::Trace(trace) => traces::execute(trace),
        Command::Presets(arguments) => list(&arguments),
        Command::Schema(arguments) => Ok(crate::schema::execute(&arguments)),
        #[cfg(feature = "package")]
        Command::Package(command) => crate::package::execute(&command),
    }
}

pub(crate) fn run(arguments: &Run) -> Result<Exit, Diagnostics> {
    let logs = |path: &Path| vec![path.to_path_buf()];
    let choice = arguments.timeline.as_deref().map(|text| Choice::parse(text, "--timeline"));
    let choice = match choice.transpose() {
        Ok(choice) => choice,
        Err(diagnostics) => return Err(with_setup(diagnostics, arguments)),
    };
    let folder = arguments.setup.out.clone();
    let mut seen = None;
    let wanted = choice.is_some();
    let schemes = arguments.scheme.as_slice();
    let exit = measured("run", &arguments.setup, schemes, wanted, logs, |spec, control| {
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
        match arguments.setup.json {
            true => console::note_opens(&file),
            false => console::print(&console::opens(&file)),
        }
    }
    Ok(combine_exit(exit, &diagnostics))
}

/// How it ends when there is something wrong besides: what is worse than that, or was the user's
/// wish, stays.
pub(crate) fn combine_exit(exit: Exit, diagnostics: &Diagnostics) -> Exit {
    console::complain(diagnostics);
    match exit {
        Exit::Done if diagnostics.0.is_empty() => Exit::Done,
        Exit::Done if signals::stop_flag().load(Ordering::Relaxed) => Exit::Stopped,
        Exit::Done => Exit::BadInput,
        worse => worse,
    }
}

/// What is wrong with the rest of the command is said as well.
fn with_setup(mut diagnostics: Diagnostics, arguments: &Run) -> Diagnostics {
    fit::run_spec(&arguments.setup.load, arguments.scheme.as_slice(), &mut diagnostics);
    diagnostics
}

fn explain(arguments: &Explain) -> Result<Exit, Diagnostics> {
    let mut diagnostics = Diagnostics::default();
    let choice = diagnostics.take(timeline::slowest(arguments.slowest, "--slowest"));
    let choice = choice.map(Choice::Explained);
    let spec = fit::run_spec(&arguments.load, arguments.scheme.as_slice(), &mut diagnostics);
    diagnostics.or(())?;
    let (Some(choice), Some(spec)) = (choice, spec) else { return Ok(Exit::Fault) };
    let bar = progress::Requests::new(arguments.load.quiet);
    let control = Control { stop: signals::stop_flag(), progress: &|step| bar.follow(step) };
    let recorded = timeline::record(&spec, choice, control);
    bar.clear();
    let Recorded { outcome, timeline, diagnostics } = match recorded {
        Err(diagnostics) => return stopped_or(diagnostics, control),
        Ok(recorded) => recorded,
    };
    let texts = timeline.explain(&outcome).into_iter().map(|it| it.text);
    console::print(&report::explanations(&outcome, texts));
    Ok(combine_exit(exit_of(&[outcome]), &diagnostics))
}

fn compare(arguments: &Compare) -> Result<Exit, Diagnostics> {
    let schemes = &arguments.schemes;
    let logs = |path: &Path| schemes.iter().map(|it| log_path(path, it)).collect();
    measured("compare", &arguments.setup, schemes, false, logs, |spec, control| {
        let seeds = arguments.seeds;
        let (outcomes, spread) = seeds::compare_over(spec, schemes, seeds, control)?;
        let ran = spread.as_ref().map_or(1, Spread::seeds);
        if ran < seeds as usize {
            console::note(&format!("stopped: {ran} of {seeds} seeds have results"));
        }
        let json = verdict::comparison_json(&outcomes, spread.as_ref());
        Ok(Results { outcomes, spread, json })
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

/// What was simulated.
struct Results {
    outcomes: Vec<Outcome>,
    spread: Option<Spread>,
    json: serde_json::Value,
}

/// What `run` and `compare` have in common: flags, files, progress, report.
fn measured(
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
    let (requests, report) = (setup.requests.as_ref(), setup.report.as_ref());
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
    let bar = progress::Requests::new(setup.load.quiet);
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
    if setup.json {
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

/// Ends a command that has no result: it was stopped before the first request, or its input is
/// wrong.
pub(crate) fn stopped_or(
    diagnostics: Diagnostics,
    control: Control<'_>,
) -> Result<Exit, Diagnostics> {
    if !control.stopped() {
        return Err(diagnostics);
    }
    console::note("stopped before the first request: there is no result");
    Ok(Exit::Stopped)
}

/// The results are out; what cut them short decides the exit code.
pub(crate) fn exit_of(outcomes: &[Outcome]) -> Exit {
    let mut said: Vec<&Diagnostic> = Vec::new();
    let mut exit = Exit::Done;
    for outcome in outcomes {
        if !outcome.laws().hold() {
            let (scheme, laws) = (&outcome.drive.scheme, outcome.laws());
            console::note(&format!("fault: the run under {scheme} breaks a law: {laws:?}"));
            return Exit::Fault;
        }
        match &outcome.ending {
            Ending::Complete => {}
            Ending::Stopped => exit = if exit == Exit::Done { Exit::Stopped } else { exit },
            Ending::Failed(diagnostics) => {
                // The same trace is wrong in the same way under every scheme.
                said.extend(
                    diagnostics.0.iter().filter(|it| !said.contains(it)).collect::<Vec<_>>(),
                );
                exit = Exit::BadInput;
            }
        }
    }
    console::complain(&Diagnostics(said.into_iter().cloned().collect()));
    exit
}

fn chip(arguments: &Chip) -> Result<Exit, Diagnostics> {
    let mut diagnostics = Diagnostics::default();
    let drive = diagnostics.take(resolve(&arguments.drive, arguments.scheme.as_deref()));
    let commands = diagnostics.take(chip::read(&arguments.file));
    diagnostics.or(())?;
    let (Some(drive), Some(commands)) = (drive, commands) else { return Ok(Exit::Fault) };
    console::print(&chip::chip(&drive.config, &commands));
    Ok(Exit::Done)
}

/// The drive of commands that replay nothing.
pub(crate) fn resolve(
    drive: &crate::args::Drive,
    scheme: Option<&str>,
) -> Result<Resolved, Diagnostics> {
    let spec = fit::device(drive);
    let schemes: Vec<String> = scheme.into_iter().map(str::to_string).collect();
    run::check(&spec, &schemes, None, &[]).or(())?;
    let scheme = scheme.map_or(Ok(Scheme::none()), Scheme::load)?;
    device::resolve(&spec.source()?, &scheme, &spec)
}

fn list(arguments: &Presets) -> Result<Exit, Diagnostics> {
    let text = match &arguments.name {
        None if arguments.keys => key_list(),
        None => preset_list(),
        Some(name) => {
            let text = one_preset(name, arguments.kind.as_deref())?;
            console::print(&wrapped_comments(&text, console::width()));
            note_namesakes(name, arguments.kind.as_deref());
            return Ok(Exit::Done);
        }
    };
    console::print(&text);
    Ok(Exit::Done)
}

/// The preset of that name, the first if several kinds have one, as a file.
fn one_preset(name: &str, kind: Option<&str>) -> Result<String, Diagnostics> {
    let wanted = |folder: Folder| kind.is_none_or(|kind| folder.word() == kind);
    match presets::find(name).find(|(folder, _)| wanted(*folder)) {
        Some((folder, preset)) => Ok(schemas::line(folder) + preset.text),
        None => Err(unknown_preset(name, kind).into()),
    }
}

/// Says that presets of other kinds have the same name: without a kind, only the first is printed.
fn note_namesakes(name: &str, kind: Option<&str>) {
    if kind.is_some() {
        return;
    }
    for (folder, _) in presets::find(name).skip(1) {
        let word = folder.word();
        console::note(&format!(
            "note: a {word} has the same name; `fowler presets {name} --kind {word}` prints it"
        ));
    }
}

fn unknown_preset(name: &str, kind: Option<&str>) -> Diagnostic {
    let kinds = Folder::ALL.into_iter().filter(|it| kind.is_none_or(|kind| it.word() == kind));
    let names = kinds.flat_map(Folder::presets).map(|preset| preset.name);
    let other = presets::find(name).next().map(|(folder, _)| format!("it is a {}", folder.word()));
    let near = || field::nearest(name, names).map(|near| format!("did you mean \"{near}\"?"));
    Diagnostic::new("", format!("unknown {} `{name}`", kind.unwrap_or("preset")))
        .hint(other.or_else(near).or(Some("`fowler presets` lists them".into())))
}

fn preset_list() -> String {
    let mut text = String::new();
    let names = Folder::ALL.into_iter().flat_map(Folder::presets).map(|preset| preset.name.len());
    let width = names.max().unwrap_or(0) + 2;
    for folder in Folder::ALL {
        writeln!(text, "{}s", folder.word()).expect("text grows");
        for preset in folder.presets() {
            let line = format!("  {:<width$}{}\n", preset.name, preset.about());
            text.push_str(&console::fitted(&line, width));
        }
    }
    text
}

fn key_list() -> String {
    let mut text = String::from("keys of a device\n");
    for key in keys::all() {
        describe(&mut text, &key);
    }
    text.push_str("\nkeys of a workload\n");
    for key in generator::keys() {
        describe(&mut text, &key);
    }
    text
}

fn describe<T>(text: &mut String, key: &keys::Key<T>) {
    let required = if key.required { " (required)" } else { "" };
    writeln!(text, "  {}{required}", key.path).expect("text grows");
    let about = format!("      {}: {}\n", key.about, key.field.expected());
    text.push_str(&console::fitted(&about, 2));
    for (word, about) in key.field.words() {
        text.push_str(&console::fitted(&format!("        {word:<20}{about}\n"), 20));
    }
}
