//! `fowler ask`: four answers about a trace.

use crate::action::Action;
use crate::command_line::CommandLine;
use crate::exit::Exit;
use crate::flags::{Bar, Reading, Settings};
use crate::output::{Output, Wanted};
use crate::stdin::TraceInput;
use crate::{console, fit, progress, signals, stdin};
use clap::Args;
use fowler_experiment::diagnostic::{Diagnostics, escaped};
use fowler_experiment::seeds;
use fowler_experiment::workload::{Control, replayable};
use fowler_report::ask::{self, AskSpec, Asked, Drives, LongUse};
use fowler_report::verdict;
use std::path::{Path, PathBuf};

/// Simulates long use of the drive as `fowler lifetime` does.
const LONG_USE: LongUse = LongUse {
    why_not: fowler_lifetime::why_not,
    write_amplification: fowler_lifetime::write_amplification,
};

/// Width of the labels at the beginning of lines in the answers of `fowler ask`, in characters.
const LABEL: usize = 12;
/// Default limit on the number of requests that `fowler ask` replays.
const LIMIT: u64 = 1_000_000;

/// Four answers about a trace: how slow and why, what it costs in flash, how long the drive
/// lives, and which scheme or drive is better
#[derive(Debug, Args)]
pub(crate) struct Ask {
    /// A block trace, plain or packed with zstd or gzip; - is standard input
    #[arg(value_name = "TRACE")]
    pub trace: PathBuf,
    /// True if the trace came from standard input, of which `trace` is then a copy.
    #[arg(skip)]
    pub piped: bool,
    /// The drive: a preset or a file that ends in .toml [default: a drive fitted to measurements
    /// that has room for the trace; the other fitted drives get short answers]
    #[arg(long, value_name = "PRESET|FILE.toml")]
    pub device: Option<String>,
    #[command(flatten)]
    pub settings: Settings,
    /// Several drives, separated by commas: presets or files that end in .toml. For each drive: how
    /// slow the requests of the trace are and why, their cost in flash, and the life of the drive;
    /// then the drives are compared, and the schemes on each drive
    #[arg(long, value_name = "A,B,C.toml", value_delimiter = ',', conflicts_with = "device")]
    pub devices: Vec<String>,
    #[command(flatten)]
    pub reading: Reading,
    /// Requests at most, from the start of the trace
    #[arg(long, value_name = "N", default_value_t = LIMIT, value_parser = clap::value_parser!(u64).range(1..=2_000_000))]
    pub limit: u64,
    /// Compare schemes or drives with N seeds
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=seeds::MOST as i64))]
    pub seeds: u32,
    /// Print the answers about the trace (latency, cost in flash, life, better schemes or drives),
    /// and the choices made for you (such as the drive), as one JSON object
    #[arg(long)]
    pub json: bool,
    /// Write summary.json and report.html into this folder
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub progress: Bar,
}

impl Action for Ask {
    fn traces(&mut self) -> Vec<TraceInput<'_>> {
        self.piped = stdin::is_named(&self.trace);
        // Answers say how long the trace is, unless the user has said how much of it counts.
        let limit = Some(self.limit).filter(|&limit| limit != LIMIT);
        vec![TraceInput::new(&mut self.trace, &self.reading, limit)]
    }

    fn execute(self) -> Result<Exit, Diagnostics> {
        let mut diagnostics = Diagnostics::default();
        let options = diagnostics.take(fit::read_options(&self.reading));
        diagnostics.take(replayable(&self.trace));
        let drives = diagnostics.take(self.drives());
        let mut inputs = match &drives {
            Some(Drives::Several(candidates)) => fit::candidate_files(candidates),
            Some(Drives::One(device)) => fit::device_file(device),
            _ => Vec::new(),
        };
        inputs.push(("TRACE".into(), self.trace.clone()));
        let wanted = Wanted { runs: true, ..Wanted::default() };
        let output = Output::open(self.out.as_deref(), wanted, &inputs, |_| Vec::new());
        let output = diagnostics.take(output);
        diagnostics.or(())?;
        let (Some(options), Some(output), Some(drives)) = (options, output, drives) else {
            return Ok(Exit::Fault);
        };
        let spec = AskSpec {
            path: self.trace.clone(),
            options,
            flags: flags(&self),
            drives,
            limit: self.limit,
            seeds: self.seeds,
            detail: output.reports(),
        };
        let bar = progress::Requests::new(self.progress.quiet);
        let control = Control { stop: signals::stop_flag(), progress: &|step| bar.follow(step) };
        let asked = ask::ask(&spec, LONG_USE, control);
        bar.clear();
        let asked = match asked {
            Err(_) if control.stopped() => {
                console::note("stopped before there was an answer");
                return Ok(Exit::Stopped);
            }
            asked => asked?,
        };
        let mut json = verdict::comparison_json(&asked.outcomes, asked.spread.as_ref());
        json["ask"] = asked.json();
        output.summary(&format!("{json:#}\n"))?;
        output.report(&asked.outcomes, asked.spread.as_ref(), &asked.passages())?;
        output.list("ask", [])?;
        if self.json {
            console::print(&format!("{:#}\n", asked.json()));
            output.note_opens();
        } else {
            console::print(&(report(&asked) + &output.opens()));
        }
        Ok(Exit::Done)
    }
}

impl Ask {
    /// Returns the drive or the drives that the flags name.
    ///
    /// # Errors
    /// If the list of drives has fewer than two, or one of them twice.
    fn drives(&self) -> Result<Drives, Diagnostics> {
        let named = self.device.as_deref().map(|name| fit::device_of(name, &self.settings));
        match (self.devices.is_empty(), named) {
            (true, None) => Ok(Drives::Fitted(fit::device_of("", &self.settings))),
            (true, Some(named)) => Ok(Drives::One(named)),
            (false, _) => fit::devices(&self.devices, &self.settings, &[]).map(Drives::Several),
        }
    }
}

/// Returns the flags that name the trace and the settings of the drive, for proposed commands.
fn flags(arguments: &Ask) -> String {
    let trace = if arguments.piped { Path::new("-") } else { &arguments.trace };
    let command = CommandLine::of("run").with("--trace", Some(trace.display()));
    command.and(&arguments.reading).and(&arguments.settings).flags()
}

fn report(asked: &Asked) -> String {
    let mut text = String::new();
    for choice in &asked.choices {
        text += &console::labelled(choice.of, LABEL, &escaped(&choice.why));
    }
    let mut question = "";
    for answer in &asked.answers {
        if answer.question != question {
            question = answer.question;
            text += &format!("\n{}\n", console::strong(question));
        }
        if let Some(drive) = &answer.drive {
            text += &format!("{}\n", escaped(drive));
        }
        text += &console::labelled("", LABEL, &escaped(&answer.text));
        text += &console::labelled("confidence", LABEL, &escaped(&answer.confidence));
        text += &console::labelled_command("next", LABEL, &answer.next);
    }
    text
}
