//! `fowler fio`: runs a fio job file on a simulated drive, or prints its requests.

use crate::action::Action;
use crate::console::Stdout;
use crate::exit::{Exit, combine_exit, exit_of, stopped_or};
use crate::flags::{Bar, Drive, Page, Policies};
use crate::output::{Output, Wanted, write};
use crate::{console, fit, progress, signals};
use clap::Args;
use fowler_experiment::Span;
use fowler_experiment::atomic_file::{Named, clashes, stored, writable};
use fowler_experiment::contents;
use fowler_experiment::diagnostic::{Diagnostic, Diagnostics};
use fowler_experiment::timeline::{Choice, TIMELINE, Timeline};
use fowler_experiment::workload::Control;
use fowler_fio_run::{FioSpec, HostCosts, Jobs, Seeding};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Name of the file of fio's output in a folder of results.
const FIO: &str = "fio.json";
const FORMATS: [&str; 4] = ["normal", "terse", "json", "json+"];

/// Run a fio job file on a drive, in simulated time; the output has fio's format, so that tools for
/// fio can read it
#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 done; 2 the input is wrong; 130 stopped with Ctrl-C, results until then printed"
)]
pub(crate) struct Fio {
    #[command(flatten)]
    pub drive: Drive,
    #[command(flatten)]
    pub policies: Policies,
    /// The job file; - is standard input
    #[arg(value_name = "JOB.fio")]
    pub job: PathBuf,
    /// What to print, separated by commas: normal (for people), terse (version 3), json, json+
    /// (with buckets of latencies)
    #[arg(long, value_name = "FORMATS", value_delimiter = ',', default_value = "normal")]
    pub output_format: Vec<String>,
    /// Write the output into this file instead of standard output
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Write summary.json, fio.json (json+), report.html and the logs of the jobs into this folder;
    /// without it, logs go into the current folder, as with fio
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub page: Page,
    /// Record the activity of dies and channels as timeline.json for ui.perfetto.dev, in the folder
    /// of --out: a window such as 10ms..12ms since the first request, or around the slowest K
    /// requests
    #[arg(long, value_name = "FROM..UNTIL|slowest:K", requires = "out")]
    pub timeline: Option<String>,
    /// Value of `${NAME}` in the job file; may be given several times. A name without a value is
    /// empty: the environment is not read
    #[arg(long, value_name = "NAME=VALUE")]
    pub env: Vec<String>,
    /// Version of fio whose random sequences are reproduced: up to 3.34 (3.33), or from 3.35 on
    /// (3.35)
    #[arg(long, value_name = "VERSION", default_value = "3.35", value_parser = ["3.33", "3.35"])]
    pub fio_seeding: String,
    /// Time that the host takes to submit a request, on the one core of each process
    #[arg(long, value_name = "TIME", default_value = "2us")]
    pub submission: String,
    /// Time that the host takes to process the completion of a request
    #[arg(long, value_name = "TIME", default_value = "2us")]
    pub completion: String,
    /// Simulate nothing: print the requests as CSV (job,op,offset,length), each job in order, at
    /// depth 1 and without times
    #[arg(long, conflicts_with_all = ["output_format", "output", "out", "report", "timeline",
        "submission", "completion"])]
    pub sequence: bool,
    #[command(flatten)]
    pub progress: Bar,
}

impl Action for Fio {
    fn execute(self) -> Result<Exit, Diagnostics> {
        let mut diagnostics = Diagnostics::default();
        let spec = spec(&self, &mut diagnostics);
        if self.sequence {
            diagnostics.or(())?;
            return sequence(&spec);
        }
        let choice = self.timeline.as_deref().map(|text| Choice::parse(text, "--timeline"));
        let choice = diagnostics.take(choice.transpose()).flatten();
        for format in self.output_format.iter().filter(|it| !FORMATS.contains(&it.as_str())) {
            let what = format!("`{format}` is not an output format of fio");
            diagnostics.push(Diagnostic::new("--output-format", what).expected(FORMATS.join(", ")));
        }
        let jobs = diagnostics.take(spec.prepare());
        let output = diagnostics.take(open(&self, jobs.as_ref()));
        diagnostics.or(())?;
        let (Some(output), Some(jobs)) = (output, jobs) else { return Ok(Exit::Fault) };
        let bar = progress::Requests::new(self.progress.quiet);
        let control = Control { stop: signals::stop_flag(), progress: &|step| bar.follow(step) };
        let wanted = fowler_fio_run::Wanted {
            logs: logs_in(&self).to_path_buf(),
            detail: output.reports(),
            requests: None,
        };
        let ran = match choice {
            None => jobs.run(wanted, control).map(|ran| (ran, None, Diagnostics::default())),
            Some(choice) => {
                let recorded = jobs.record(wanted, choice, control);
                recorded.map(|(ran, timeline, incomplete)| (ran, Some(timeline), incomplete))
            }
        };
        bar.clear();
        match ran {
            Err(diagnostics) => stopped_or(diagnostics, control),
            Ok((ran, timeline, incomplete)) => shown(ran, timeline, incomplete, &output, &self),
        }
    }
}

/// Returns the folder for the log files of the fio jobs: that of `--out`, or the current folder.
fn logs_in(arguments: &Fio) -> &Path {
    arguments.out.as_deref().unwrap_or(Path::new("."))
}

/// Returns the specification of the fio run that the flags describe, as far as they are valid;
/// errors go to `diagnostics`.
fn spec(arguments: &Fio, diagnostics: &mut Diagnostics) -> FioSpec {
    let mut environment = BTreeMap::new();
    for text in &arguments.env {
        match text.split_once('=') {
            Some((name, value)) if !name.is_empty() => {
                environment.insert(name.to_string(), value.to_string());
            }
            _ => {
                let what = format!("`{text}` names no variable");
                diagnostics.push(Diagnostic::new("--env", what).expected("NAME=VALUE"));
            }
        }
    }
    let mut time = |flag: &str, text: &str| {
        text.trim().parse::<Span>().unwrap_or_else(|error| {
            diagnostics.push(Diagnostic::new(flag, error.to_string()).expected("such as 2us"));
            Span::ZERO
        })
    };
    let submission = time("--submission", &arguments.submission);
    let completion = time("--completion", &arguments.completion);
    let stdin = arguments.job == Path::new("-");
    FioSpec {
        path: if stdin { "/dev/stdin".into() } else { arguments.job.clone() },
        environment,
        seeding: if arguments.fio_seeding == "3.33" { Seeding::V333 } else { Seeding::V335 },
        device: fit::device(&arguments.drive),
        scheme: arguments.policies.scheme.clone(),
        costs: HostCosts { submission, completion },
    }
}

/// Prints the requests of the jobs as CSV, without simulating them.
fn sequence(spec: &FioSpec) -> Result<Exit, Diagnostics> {
    let mut out = Stdout::new();
    let mut written = Ok(());
    spec.sequence(&mut |text| {
        if written.is_ok() {
            written = out.write_all(text.as_bytes());
        }
    })?;
    let failed = |error| Diagnostic::new("standard output", format!("cannot be written: {error}"));
    written.and_then(|()| out.flush()).map_err(failed)?;
    Ok(Exit::Done)
}

/// Opens the output files, and finds everything that cannot be written before anything is
/// simulated.
fn open(arguments: &Fio, jobs: Option<&Jobs>) -> Result<Output, Diagnostics> {
    let schemes: Vec<String> = arguments.policies.scheme.iter().cloned().collect();
    let mut inputs = fit::drive_files(&arguments.drive, &schemes);
    inputs.push(("the job file".into(), arguments.job.clone()));
    let named = |flag: &str, path: PathBuf| -> Named { (flag.to_string(), path) };
    let mut others: Vec<Named> = Vec::new();
    others.extend(arguments.output.iter().map(|it| named("--output", it.clone())));
    others.extend(arguments.out.iter().map(|it| named("--out", it.join(FIO))));
    let logs = jobs.map_or_else(Vec::new, |jobs| jobs.logs(logs_in(arguments)));
    others.extend(logs.iter().map(|it| named("a log of the jobs", it.clone())));
    let mut diagnostics = clashes(&inputs, &others);
    let wanted = Wanted {
        report: arguments.page.report.as_ref(),
        runs: true,
        timeline: arguments.timeline.is_some(),
        ..Wanted::default()
    };
    let output = Output::open(arguments.out.as_deref(), wanted, &inputs, |_| Vec::new());
    let output = diagnostics.take(output);
    for (_, path) in &others {
        diagnostics.take(match path.parent() == arguments.out.as_deref() {
            true => stored(path).and_then(|()| writable(path)),
            false => writable(path),
        });
    }
    diagnostics.or(())?;
    output.ok_or_else(Diagnostics::default)
}

/// Prints the results of the fio jobs that were run on the simulated drive, and writes the files
/// that the flags ask for.
fn shown(
    ran: fowler_fio_run::Fio,
    timeline: Option<Timeline>,
    incomplete: Diagnostics,
    output: &Output,
    arguments: &Fio,
) -> Result<Exit, Diagnostics> {
    let text: String = arguments.output_format.iter().map(|it| in_format(&ran, it)).collect();
    output.summary(&format!("{:#}\n", ran.outcome.json()))?;
    let mut files: Vec<PathBuf> = Vec::new();
    if let Some(folder) = &arguments.out {
        files.extend(ran.logs.iter().cloned());
        files.push(folder.join(FIO));
        write(&folder.join(FIO), &in_format(&ran, "json+"))?;
    }
    let outcomes = [ran.outcome];
    output.report(&outcomes, None, &[])?;
    output.list("fio", files)?;
    match &arguments.output {
        Some(file) => write(file, &text)?,
        None => console::print(&text),
    }
    output.note_opens();
    let mut diagnostics = incomplete;
    if let (Some(timeline), Some(folder)) = (timeline, &arguments.out) {
        let file = folder.join(TIMELINE);
        let written = timeline.write(&file).and_then(|()| contents::add(folder, &file));
        diagnostics.take(written);
    }
    Ok(combine_exit(exit_of(&outcomes), &diagnostics))
}

fn in_format(ran: &fowler_fio_run::Fio, format: &str) -> String {
    match format {
        "terse" => ran.terse(),
        "json" => format!("{:#}\n", ran.json(false)),
        "json+" => format!("{:#}\n", ran.json(true)),
        _ => ran.normal(),
    }
}
