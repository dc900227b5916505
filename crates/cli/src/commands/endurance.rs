//! `fowler endurance`: the amount of data that a host can write before the cells reach their rated
//! cycles, or what a real drive's counters show.

use crate::action::Action;
use crate::exit::Exit;
use crate::flags::{
    Addresses, Answer, Bar, Drive, Policies, Reading, Settings, Source, SummaryFolder,
};
use crate::output::{Output, Wanted};
use crate::stdin::TraceInput;
use crate::{console, fit, progress, sheets, signals};
use clap::Args;
use fowler_drives::smart::{self, Model, Question, SmartAnswer};
use fowler_experiment::Bytes;
use fowler_experiment::diagnostic::{Diagnostic, Diagnostics, escaped};
use fowler_experiment::workload::Control;
use fowler_standards::Watch;
use fowler_standards::endurance::{self, EnduranceSpec, Load};
use std::path::PathBuf;

/// The preset drive that is simulated if no drive is named.
const DEVICE: &str = "tlc";
/// Largest value of the flag `--tbw`, in terabytes.
const TBW_MOST: f64 = 1e9;
/// Largest write amplification that the flag `--waf` takes.
const WAF_MOST: f64 = 1000.0;

/// Amount of data that a host can write before the cells reach their rated cycles: TBW, DWPD and
/// UBER, in the manner of JESD218 and JESD219; or, with --smart, what the counters of a real drive
/// show
#[derive(Debug, Args)]
#[command(
    after_help = "With --smart nothing is simulated: the answer is how much was written in how many hours, what that is a \
                        day, the drive's own WAF, and the years that are left. --device then lends its rated cycles, capacity \
                        and link."
)]
pub(crate) struct Endurance {
    /// Standard by which the endurance of the drive is measured
    #[arg(long, value_name = "STANDARD", default_value = "jesd219", value_parser = ["jesd219"])]
    pub standard: String,
    /// The drive: a preset or a file that ends in .toml [default: tlc; none with --smart]
    #[arg(long, value_name = "PRESET|FILE.toml")]
    pub device: Option<String>,
    #[command(flatten)]
    pub settings: Settings,
    #[command(flatten)]
    pub policies: Policies,
    /// Measure a client drive: a trace of yours replaces the client workload, which JEDEC sells
    #[arg(long)]
    pub client: bool,
    /// With --client: a block trace, plain or packed with zstd or gzip; - is standard input
    #[arg(long, value_name = "FILE", requires = "client")]
    pub trace: Option<PathBuf>,
    #[command(flatten)]
    pub reading: Reading,
    #[command(flatten)]
    pub addresses: Addresses,
    /// Years over which drive writes per day are counted [default: the drive's lifetime.target]
    #[arg(long, value_name = "N")]
    pub years: Option<f64>,
    /// Simulate nothing: evaluate the counters of a real drive, from `nvme smart-log` (text or -o
    /// json), `smartctl -j -x`, `nvme ocp smart-add-log -o json`, `nvme endurance-log -o json`; may
    /// be given several times for logs of one drive; - is standard input
    #[arg(long, value_name = "FILE", conflicts_with_all = ["scheme", "client", "trace", "format",
        "lenient", "columns", "spread", "device_id", "remap", "years", "standard"])]
    pub smart: Vec<PathBuf>,
    /// With --smart: an earlier log of the same drive; the difference shows its present write rate
    #[arg(long, value_name = "FILE", requires = "smart")]
    pub since: Vec<PathBuf>,
    /// With --smart: select the logs of one drive by its serial number or device name
    #[arg(long, value_name = "NAME", requires = "smart")]
    pub drive: Option<String>,
    /// With --smart: rated amount of host writes in the data sheet, in TB or with a unit, such as
    /// 1.2PB
    #[arg(long, value_name = "TB", requires = "smart")]
    pub tbw: Option<String>,
    /// With --smart: capacity of the drive as the host sees it [default: from the log, or from
    /// --device]
    #[arg(long, value_name = "SIZE", requires = "smart")]
    pub capacity: Option<String>,
    /// With --smart: write amplification, where the log does not count writes to the flash
    #[arg(long, value_name = "N", requires = "smart")]
    pub waf: Option<f64>,
    #[command(flatten)]
    pub answer: Answer,
    #[command(flatten)]
    pub folder: SummaryFolder,
    #[command(flatten)]
    pub progress: Bar,
}

impl Action for Endurance {
    fn traces(&mut self) -> Vec<TraceInput<'_>> {
        let Endurance { trace, reading, .. } = self;
        trace.iter_mut().map(|trace| TraceInput::new(trace, reading, None)).collect()
    }

    fn execute(self) -> Result<Exit, Diagnostics> {
        if !self.smart.is_empty() {
            return counters(&self);
        }
        let schemes: Vec<String> = self.policies.scheme.iter().cloned().collect();
        let mut inputs = fit::drive_files(&self.simulated(), &schemes);
        inputs.extend(self.trace.iter().map(|path| ("--trace".to_string(), path.clone())));
        let mut diagnostics = Diagnostics::default();
        let spec = diagnostics.take(spec(&self));
        if let Some(spec) = &spec {
            diagnostics.0.extend(endurance::check(spec).0);
        }
        let wanted = Wanted::default();
        let output = Output::open(self.folder.out.as_deref(), wanted, &inputs, |_| Vec::new());
        let output = diagnostics.take(output);
        diagnostics.or(())?;
        let (Some(output), Some(spec)) = (output, spec) else { return Ok(Exit::Fault) };
        let bar = progress::Shares::new(self.progress.quiet, "purging the drive");
        let watch = Watch {
            control: Control { stop: signals::stop_flag(), progress: &|step| bar.follow(step) },
            share: &|_, share| bar.set(share),
            say: &|text| bar.say(text),
        };
        let answer = endurance::endurance(&spec, watch);
        bar.clear();
        let Some(answer) = answer? else {
            console::note("stopped: there is no result");
            return Ok(Exit::Stopped);
        };
        let json = format!("{:#}\n", answer.json());
        output.summary(&json)?;
        output.list("endurance", [])?;
        if self.answer.json {
            console::print(&json);
            output.note_opens();
        } else {
            let uber = answer.uber_sheet();
            // A drive without bit errors has only the line that says so.
            let uber = match uber.rows.is_empty() {
                true => console::fitted(&format!("{}\n", uber.title), 0),
                false => sheets::text(&uber),
            };
            let tables = sheets::text(&answer.sheet()) + &uber;
            console::print(&(tables + &output.opens()));
        }
        Ok(Exit::Done)
    }
}

impl Endurance {
    /// Returns the flags of the drive that is simulated.
    fn simulated(&self) -> Drive {
        let device = self.device.clone().unwrap_or_else(|| DEVICE.into());
        Drive { device, settings: self.settings.clone() }
    }
}

/// Prints the wear and the remaining life that the counters of a real drive show.
fn counters(arguments: &Endurance) -> Result<Exit, Diagnostics> {
    let mut diagnostics = Diagnostics::default();
    let question = diagnostics.take(question(arguments));
    let mut all = |flag: &str, paths: &[PathBuf]| {
        let stdin = paths.iter().filter(|path| path.as_os_str() == "-").count();
        if stdin > 1 {
            diagnostics.push(Diagnostic::new(flag, "standard input can be only one of the logs"));
            return Vec::new();
        }
        paths.iter().flat_map(|path| diagnostics.take(smart::read(path))).flatten().collect()
    };
    let (now, since) = (all("--smart", &arguments.smart), all("--since", &arguments.since));
    let files = arguments.smart.iter().map(|path| ("--smart".to_string(), path.clone()));
    let since_files = arguments.since.iter().map(|path| ("--since".to_string(), path.clone()));
    let mut inputs: Vec<_> = files.chain(since_files).collect();
    if arguments.device.is_some() {
        inputs.extend(fit::drive_files(&arguments.simulated(), &[]));
    }
    let folder = arguments.folder.out.as_deref();
    let diagnostics = diagnostics.or(Diagnostics::default())?;
    let logs = smart::choose(now, since, arguments.drive.as_deref())?;
    let output = Output::open(folder, Wanted::default(), &inputs, |_| Vec::new())?;
    diagnostics.or(())?;
    let answer = smart::answer(logs, question.unwrap_or_default());
    let json = format!("{:#}\n", answer.json());
    output.summary(&json)?;
    output.list("endurance", [])?;
    if arguments.answer.json {
        console::print(&json);
        output.note_opens();
    } else {
        console::print(&(words(&answer) + &output.opens()));
    }
    Ok(Exit::Done)
}

/// Formats the answer of `fowler endurance --smart` about a real drive: a sentence on its life,
/// implausible SMART counters, the table of rates and years left, and notes on missing answers.
fn words(answer: &SmartAnswer) -> String {
    let line =
        |head: &str, text: &String| console::fitted(&format!("{head}: {}\n", escaped(text)), 4);
    let mut text = console::fitted(&format!("{}\n", answer.verdict()), 0) + "\n";
    text.extend(answer.doubts.iter().map(|doubt| line("doubt", doubt)));
    if !answer.doubts.is_empty() {
        text.push('\n');
    }
    text += &sheets::text(&answer.sheet());
    text.extend(answer.notes.iter().map(|note| line("note", note)));
    text
}

fn question(arguments: &Endurance) -> Result<Question, Diagnostics> {
    let mut diagnostics = Diagnostics::default();
    let model = arguments.device.as_ref().map(|_| Model::of(&fit::device(&arguments.simulated())));
    let model = diagnostics.take(model.transpose()).flatten();
    if arguments.device.is_none()
        && (!arguments.settings.set.is_empty() || arguments.settings.seed.is_some())
    {
        let what = "needs --device, which is not given";
        diagnostics.push(Diagnostic::new("--set or --seed", what));
    }
    let tbw = diagnostics.take(arguments.tbw.as_deref().map(terabytes).transpose()).flatten();
    let capacity = arguments.capacity.as_deref().map(|text| amount("--capacity", text));
    let capacity = diagnostics.take(capacity.transpose()).flatten();
    let waf = arguments.waf;
    if let Some(waf) = waf.filter(|waf| !(*waf > 0.0 && *waf <= WAF_MOST)) {
        let what = Diagnostic::new("--waf", format!("{waf} is not a write amplification"));
        diagnostics.push(what.expected("above 0, and at most 1000"));
    }
    diagnostics.or(Question { model, tbw, capacity, waf })
}

/// Returns the bytes of a number of terabytes, or of an amount with its unit.
fn terabytes(text: &str) -> Result<f64, Diagnostics> {
    match text.trim().parse::<f64>() {
        Ok(tb) if tb > 0.0 && tb <= TBW_MOST => Ok(tb * 1e12),
        Ok(_) => {
            let what =
                Diagnostic::new("--tbw", "this is no plausible rating of terabytes written (TBW)")
                    .text(text);
            Err(what
                .expected("the terabytes that the drive is rated to write: above 0, at most 1e9")
                .into())
        }
        // Data sheets also state petabytes, which is no unit of this program elsewhere.
        Err(_) => match text.trim().strip_suffix("PB").map(|number| number.trim().parse::<f64>()) {
            Some(Ok(pb)) if pb > 0.0 && pb * 1e3 <= TBW_MOST => Ok(pb * 1e15),
            _ => amount("--tbw", text),
        },
    }
}

/// Returns the bytes of an amount with its unit, which must be above zero.
fn amount(flag: &str, text: &str) -> Result<f64, Diagnostics> {
    match text.trim().parse::<Bytes>() {
        Ok(Bytes(0)) => Err(Diagnostic::new(flag, "nothing").text(text).expected("above 0").into()),
        Ok(Bytes(bytes)) => Ok(bytes as f64),
        Err(error) => {
            Err(Diagnostic::new(flag, error.reason).text(text).expected(error.expected).into())
        }
    }
}

fn spec(arguments: &Endurance) -> Result<EnduranceSpec, Diagnostics> {
    let Endurance { trace, reading, addresses, .. } = arguments;
    let load = match (arguments.client, trace) {
        (true, None) => {
            let what = "the client workload of JESD219A replays a trace that JEDEC sells, which is not available here";
            let hint = "name a trace of your own: --trace FILE".to_string();
            return Err(Diagnostic::new("--client", what).hint(hint).into());
        }
        (_, Some(_)) => {
            let source = Source { trace: trace.clone(), ..Source::default() };
            Load::Client(Box::new(fit::workload(&source, reading, &addresses.remap)?))
        }
        (false, None) => {
            fit::no_reading(reading, "needs --trace, which is not given")?;
            Load::Enterprise
        }
    };
    Ok(EnduranceSpec {
        device: fit::device(&arguments.simulated()),
        scheme: arguments.policies.scheme.clone(),
        load,
        years: arguments.years,
    })
}
