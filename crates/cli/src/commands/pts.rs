//! `fowler pts`: a drive under the tests of SNIA's PTS, or the verdict on rounds from a file.

use crate::action::Action;
use crate::exit::Exit;
use crate::flags::{Answer, Bar, Drive, PageFolder, Policies};
use crate::output::{Output, Wanted};
use crate::{console, fit, pages, progress, sheets, signals};
use clap::Args;
use fowler_experiment::diagnostic::{Diagnostic, Diagnostics};
use fowler_experiment::numbers::counted;
use fowler_experiment::workload::Control;
use fowler_experiment::{Bytes, Span};
use fowler_standards::{
    self, Edition, Pts as Results, PtsSpec, Purge, Test, Watch, parse_stimulus, series,
};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Test a drive by SNIA's Performance Test Specification: rounds until steady state, write
/// saturation with its causes, recovery, demand
#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 done, whether or not steady state was reached; 2 the input is wrong; 130 stopped with \
                        Ctrl-C, tests finished until then printed"
)]
pub(crate) struct Pts {
    #[command(flatten)]
    pub drive: Drive,
    #[command(flatten)]
    pub policies: Policies,
    /// Which tests, separated by commas: iops, tp (throughput), lat (latency), wsat (write
    /// saturation), hir (host idle recovery), xsr (cross stimulus recovery), ecw (enterprise
    /// composite workload), dirth (demand intensity and response time histogram)
    #[arg(long, value_name = "TESTS", default_value = "iops,tp,lat,wsat")]
    pub test: String,
    /// As PTS for clients: write cache on, 8 GiB of the drive in pieces of 2 MiB
    #[arg(long, conflicts_with = "enterprise")]
    pub client: bool,
    /// As PTS for enterprises: write cache off
    #[arg(long)]
    pub enterprise: bool,
    /// Simulated length of a minute of the test; less than 60s is quicker, but not PTS
    #[arg(long, value_name = "TIME", default_value = "60s")]
    pub minute: String,
    /// State that a purge leaves: format (no data, blocks keep their wear) or fob (a new drive)
    #[arg(long, value_name = "WHAT", default_value = "format", value_parser = ["format", "fob"])]
    pub purge: String,
    /// The share of the LBAs that is tested, from the first on
    #[arg(long, value_name = "SHARE", default_value_t = 1.0)]
    pub active_range: f64,
    /// Amount of the tested LBAs (--active-range) to use, in pieces of 2 MiB spread over them
    /// [default: all]
    #[arg(long, value_name = "SIZE")]
    pub active_amount: Option<String>,
    /// Number of host threads, for tests of PTS that do not prescribe it
    #[arg(long, value_name = "N", default_value_t = 4)]
    pub threads: u32,
    /// Outstanding requests per host thread, for tests of PTS that do not prescribe them
    #[arg(long, value_name = "N", default_value_t = 64)]
    pub queue_depth: u32,
    /// Requests of the DIRTH test (response times by demand): their size, and the shares of reads
    /// and writes
    #[arg(long, value_name = "STIMULUS", default_value = "8KiB 65/35")]
    pub stimulus: String,
    /// Run the write saturation test (wsat) for a whole simulated day, however much is written by
    /// then
    #[arg(long)]
    pub day: bool,
    /// Simulate nothing: report the round in which a series of measured rounds (a JSON list of
    /// numbers) is steady; - is standard input
    #[arg(long, value_name = "FILE.json", conflicts_with_all = ["device", "set", "seed", "scheme",
        "test", "client", "enterprise", "minute", "purge", "active_range", "active_amount",
        "threads", "queue_depth", "stimulus", "day", "out"])]
    pub steady: Option<PathBuf>,
    #[command(flatten)]
    pub answer: Answer,
    #[command(flatten)]
    pub folder: PageFolder,
    #[command(flatten)]
    pub progress: Bar,
}

impl Action for Pts {
    fn execute(self) -> Result<Exit, Diagnostics> {
        match &self.steady {
            Some(file) => steady(file, self.answer.json),
            None => test(&self),
        }
    }
}

/// Answers in which round a series of rounds that somebody else measured is steady.
fn steady(file: &Path, json: bool) -> Result<Exit, Diagnostics> {
    let file = if file == Path::new("-") { Path::new("/dev/stdin") } else { file };
    let series = series::read(file)?;
    console::print(&match json {
        true => format!("{:#}\n", series.json()),
        false => sheets::text(&series.sheet()),
    });
    Ok(Exit::Done)
}

fn test(arguments: &Pts) -> Result<Exit, Diagnostics> {
    let schemes: Vec<String> = arguments.policies.scheme.iter().cloned().collect();
    let inputs = fit::drive_files(&arguments.drive, &schemes);
    let mut diagnostics = Diagnostics::default();
    let spec = diagnostics.take(spec(arguments));
    if let Some(spec) = &spec {
        diagnostics.0.extend(fowler_standards::check(spec).0);
    }
    let wanted = Wanted { pictures: true, ..Wanted::default() };
    let output = Output::open(arguments.folder.out.as_deref(), wanted, &inputs, |_| Vec::new());
    let output = diagnostics.take(output);
    diagnostics.or(())?;
    let (Some(output), Some(spec)) = (output, spec) else { return Ok(Exit::Fault) };
    let bar = progress::Shares::new(arguments.progress.quiet, "purging the drive");
    let shares = Mutex::new(vec![0.0; spec.tests.len()]);
    let watch = Watch {
        control: Control { stop: signals::stop_flag(), progress: &|step| bar.follow(step) },
        share: &|number, share| {
            let mut shares = shares.lock().unwrap_or_else(PoisonError::into_inner);
            shares[number] = share;
            // Set under the lock, so that the bar never goes backwards.
            bar.set(shares.iter().sum::<f64>() / shares.len() as f64);
        },
        say: &|text| bar.say(text),
    };
    let results = fowler_standards::run(&spec, watch);
    bar.clear();
    let results = results?;
    if results.tested.is_empty() {
        console::note("stopped before a test was finished: there is no result");
        return Ok(Exit::Stopped);
    }
    shown(&results, &output, arguments)?;
    if results.stopped.is_empty() {
        return Ok(Exit::Done);
    }
    let names: Vec<&str> = results.stopped.iter().map(|test| test.name()).collect();
    let count = counted(names.len() as u64, "test");
    console::note(&format!("stopped: {count} without a result ({})", names.join(", ")));
    Ok(Exit::Stopped)
}

/// Prints the results of the SNIA PTS tests of a drive, and writes the files that the flags ask
/// for.
fn shown(results: &Results, output: &Output, arguments: &Pts) -> Result<(), Diagnostics> {
    let json = format!("{:#}\n", results.json());
    output.summary(&json)?;
    let written =
        arguments.folder.out.as_deref().map(|folder| pages::pts(results, folder)).transpose()?;
    console::print(&if arguments.answer.json { json } else { report(results) });
    if let (Some((files, warnings)), Some(folder)) = (written, &arguments.folder.out) {
        output.list("pts", files.iter().map(|file| folder.join(file)))?;
        warnings.iter().for_each(|warning| console::note(&format!("note: {warning}")));
        let files = files.len() + 1;
        console::note(&format!(
            "{} written to {}",
            counted(files as u64, "file"),
            folder.display()
        ));
        if let Some(page) = pages::PAGE {
            console::note_opens(&folder.join(page));
        }
    }
    Ok(())
}

fn report(results: &Results) -> String {
    let mut text = sheets::text(&results.settings()) + &sheets::text(&results.overview());
    for tested in &results.tested {
        // The other tables are in the folder.
        for sheet in tested.sheets().iter().take(tested.shown()) {
            text.push_str(&sheets::text(sheet));
        }
    }
    text
}

fn spec(arguments: &Pts) -> Result<PtsSpec, Diagnostics> {
    let mut diagnostics = Diagnostics::default();
    let tests = diagnostics.take(Test::list(&arguments.test));
    let minute = diagnostics.take(quantity::<Span>("--minute", &arguments.minute));
    let amount =
        arguments.active_amount.as_deref().map(|text| quantity::<Bytes>("--active-amount", text));
    let amount = diagnostics.take(amount.transpose()).flatten();
    if amount == Some(Bytes(0)) {
        let diagnostic = Diagnostic::new("--active-amount", "no test is selected");
        diagnostics.push(diagnostic.text("0B").expected("2MiB or more"));
    }
    let stimulus = diagnostics.take(parse_stimulus(&arguments.stimulus));
    let edition = match (arguments.client, arguments.enterprise) {
        (true, _) => Some(Edition::Client),
        (_, true) => Some(Edition::Enterprise),
        _ => None,
    };
    let usual = PtsSpec::of(fit::device(&arguments.drive));
    diagnostics.or(PtsSpec {
        scheme: arguments.policies.scheme.clone(),
        tests: tests.unwrap_or_default(),
        edition,
        purge: if arguments.purge == "fob" { Purge::Fob } else { Purge::Format },
        minute: minute.unwrap_or(usual.minute),
        active_share: arguments.active_range,
        active_amount: amount.unwrap_or(usual.active_amount),
        threads: arguments.threads,
        depth: arguments.queue_depth,
        stimulus: stimulus.unwrap_or_else(|| usual.stimulus.clone()),
        whole_day: arguments.day,
        ..usual
    })
}

/// Reads the value of a flag that is a number with its unit.
fn quantity<T>(flag: &str, text: &str) -> Result<T, Diagnostics>
where
    T: std::str::FromStr<Err = fowler_experiment::QuantityError>,
{
    let wrong = |error: fowler_experiment::QuantityError| {
        Diagnostics::from(Diagnostic::new(flag, error.reason).expected(error.expected))
    };
    text.parse().map_err(wrong)
}
