//! The flags that several commands share, each declared once. A command flattens the groups that it
//! takes between its own flags, and help shows them in that order. The experiment crate checks
//! values against files and drives.

use crate::stdin::{self, TraceInput};
use clap::Args;
use fowler_experiment::Format;
use std::path::PathBuf;
use std::sync::LazyLock;

/// The flags that choose the drive.
#[derive(Clone, Debug, Args)]
pub(crate) struct Drive {
    /// The drive: a preset or a file that ends in .toml
    #[arg(long, value_name = "PRESET|FILE.toml", default_value = "tlc")]
    pub device: String,
    #[command(flatten)]
    pub settings: Settings,
}

/// The flags that change the configuration of a drive.
#[derive(Clone, Debug, Args)]
pub(crate) struct Settings {
    /// Set a configuration key, such as timing.read=30us (see `fowler presets --keys`)
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// The seed of every random number stream
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
}

/// The flag that chooses the scheme of a drive.
#[derive(Debug, Args)]
pub(crate) struct Policies {
    /// Policy choices: a scheme, a file that ends in .toml, or several joined by `+`
    #[arg(long, value_name = "SCHEME")]
    pub scheme: Option<String>,
}

/// The argument that names files of measurements of real drives.
#[derive(Debug, Args)]
pub(crate) struct Measured {
    /// JSON files of measurements of real drives; each row holds the numbers of one measurement
    /// (see docs/real-drives.md)
    #[arg(id = "measured", value_name = "MEASURED.json", required = true)]
    pub files: Vec<PathBuf>,
}

/// The flags that set how long each measurement of a real drive is simulated, and the size of the
/// simulated drive.
#[derive(Debug, Args)]
pub(crate) struct Effort {
    /// A quick estimate, in minutes: smaller drives, and p99.9 known to 10 % instead of 5 %
    #[arg(long)]
    pub brief: bool,
    /// Maximum capacity of the simulated drive, which stands for the measured drive with fewer and
    /// smaller blocks [default: 48GiB where tail latency is measured, 6GiB where the drive is
    /// overwritten several times]
    #[arg(long, value_name = "SIZE")]
    pub capacity: Option<String>,
    /// Multiply the length of measurements of tail latency by this number, such as 2, to see
    /// whether results have converged
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub longer: u32,
}

/// The flags that choose the source of requests: a trace or a generator.
#[derive(Clone, Debug, Default, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct Source {
    /// The requests: a block trace, plain or packed with zstd or gzip; - is standard input
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
    /// True if the user named standard input as the trace, and `trace` is the copy of it.
    #[arg(skip)]
    pub from_stdin: bool,
    /// Generated workload: a preset or a file that ends in .toml
    #[arg(long, value_name = "PRESET|FILE.toml", conflicts_with = "remap")]
    pub workload: Option<String>,
}

/// Help of the flag `--format`: a line for each trace format.
pub(crate) static FORMATS: LazyLock<String> = LazyLock::new(|| {
    let lines =
        Format::ALL.iter().map(|format| format!("\n  {:<14} {}", format.name(), format.help()));
    format!("Formats:{}", lines.collect::<String>())
});

/// The flags for reading a trace.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct Reading {
    /// Format of the trace (`fowler trace info --help` lists the formats); needed if the text does
    /// not show it
    #[arg(long, value_name = "FORMAT")]
    pub format: Option<String>,
    /// Skip bad lines, up to this percentage of all lines
    #[arg(long, value_name = "PCT")]
    pub lenient: Option<String>,
    /// Columns of a CSV in order, such as ts=us,op=rw,lba=512,len=bytes; also dev=name or
    /// dev=number, _ for a column to skip, ... for any further columns, header for a first line to
    /// skip, blanks or tabs as the separator
    #[arg(long, value_name = "COLUMNS", conflicts_with = "format")]
    pub columns: Option<String>,
    /// Spread arrivals recorded in whole seconds over each second: evenly [default: even], as
    /// Poisson arrivals, or not at all
    #[arg(long, value_name = "even|poisson|none")]
    pub spread: Option<String>,
    /// Device to read from a trace of several devices: a number, or side-by-side for all of them in
    /// one address space
    #[arg(long, value_name = "N|side-by-side")]
    pub device_id: Option<String>,
}

/// The flag for addresses beyond the end of the drive.
#[derive(Clone, Debug, Args)]
pub(crate) struct Addresses {
    /// What happens to addresses that the drive does not have: error, modulo or compact
    #[arg(long, value_name = "REMAP", default_value = "error")]
    pub remap: String,
}

/// The flags for the replay speed of requests.
#[derive(Clone, Debug, Args)]
#[group(multiple = false)]
pub(crate) struct ReplaySpeed {
    /// Ignore the times: a request is issued as soon as fewer than N are outstanding
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=65536))]
    pub queue_depth: Option<u32>,
    /// Divide the arrival times by this factor
    #[arg(long, value_name = "FACTOR")]
    pub speed: Option<f64>,
    /// Scale the arrival times so that the drive is idle for this share of the time, such as 0.7
    #[arg(long, value_name = "SHARE")]
    pub idle: Option<f64>,
}

/// The flag for the number of requests.
#[derive(Clone, Debug, Args)]
pub(crate) struct Length {
    /// Maximum number of requests to run
    #[arg(long, value_name = "N")]
    pub limit: Option<u64>,
}

/// The flags for a drive and the requests that it serves.
#[derive(Clone, Debug, Args)]
pub(crate) struct Load {
    #[command(flatten)]
    pub drive: Drive,
    #[command(flatten)]
    pub source: Source,
    #[command(flatten)]
    pub reading: Reading,
    #[command(flatten)]
    pub addresses: Addresses,
    #[command(flatten)]
    pub replay_speed: ReplaySpeed,
    /// Let something fail at a time, such as "10s chip 3"; several faults are separated by commas
    /// or given one by one, in order of time. Units, numbered from 0: page N uncorrectable (a
    /// logical page), parity N (of a stripe), block N, plane N, die N, chip N, channel N. They lose
    /// what they hold. Dies, and those of chips and channels, stay failed unless there are spare
    /// ones (failed_dies.spare); all others continue empty. Or, unnoticed, miscorrected N (a
    /// logical page reads as something else) and misdirected N (its write landed on another page).
    /// Or power SPAN, such as "30s power 2s": off for so long. Or "every 10s page": random units of
    /// a kind, at that time apart on average
    #[arg(long, value_name = "FAULT", value_delimiter = ',')]
    pub fault: Vec<String>,
    #[command(flatten)]
    pub length: Length,
    #[command(flatten)]
    pub progress: Bar,
}

impl Load {
    /// Returns the trace that the command reads, if it reads one; `needed` computes how many of the
    /// trace's requests are needed, from the limit that the user gave.
    pub fn traces(&mut self, needed: impl Fn(Option<u64>) -> Option<u64>) -> Vec<TraceInput<'_>> {
        let Load { source, reading, length, .. } = self;
        let limit = needed(length.limit);
        source.from_stdin |= source.trace.as_deref().is_some_and(stdin::is_named);
        source.trace.iter_mut().map(|trace| TraceInput::new(trace, reading, limit)).collect()
    }
}

/// The flags that `run` and `compare` share.
#[derive(Debug, Args)]
pub(crate) struct Setup {
    #[command(flatten)]
    pub load: Load,
    /// Run nothing; check all inputs, and report how much memory the drives would take
    #[arg(long)]
    pub dry_run: bool,
    /// Print every number and cause of latency, instead of the short report: findings, a chart and
    /// the numbers that matter most
    #[arg(long)]
    pub full: bool,
    #[command(flatten)]
    pub answer: Answer,
    /// Write summary.json and report.html (and requests.parquet, when asked for) into this folder
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub page: Page,
    /// Write every request with its causes of latency, as columns (.parquet) or text (.csv);
    /// without FILE, requests.parquet in the folder of --out
    #[arg(long, value_name = "FILE", num_args = 0..=1)]
    pub requests: Option<Option<PathBuf>>,
}

/// The argument for the trace of a command that reads only a trace.
#[derive(Debug, Args)]
pub(crate) struct TraceFile {
    /// The trace; - is standard input
    pub file: PathBuf,
}

/// The flag for the file that requests are written to.
#[derive(Debug, Args)]
pub(crate) struct Target {
    /// Output file [default: standard output]
    pub to: Option<PathBuf>,
}

/// The argument for the folders of shards that a command joins.
#[derive(Debug, Args)]
pub(crate) struct Shards {
    /// The folders of all shards, in any order
    #[arg(value_name = "DIR", required = true)]
    pub folders: Vec<PathBuf>,
}

/// The flag that prints the result for a program instead of a person.
#[derive(Debug, Args)]
pub(crate) struct Answer {
    /// Print the result as one JSON object
    #[arg(long)]
    pub json: bool,
}

/// The flag for the folder of a result that is only a summary.
#[derive(Debug, Args)]
pub(crate) struct SummaryFolder {
    /// Write summary.json into this folder
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

/// The flag for the folder of a result that has tables and pictures.
#[derive(Debug, Args)]
pub(crate) struct PageFolder {
    /// Write summary.json, tables (CSV), pictures (SVG) and a page of both (report.html) into this
    /// folder
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

/// The flag for the HTML page of a run.
#[derive(Debug, Args)]
pub(crate) struct Page {
    /// Write the results as an HTML page with pictures, which needs no other files; without FILE,
    /// into the folder of --out
    #[arg(long, value_name = "FILE.html", num_args = 0..=1)]
    pub report: Option<Option<PathBuf>>,
}

/// The flag for the progress bar.
#[derive(Clone, Debug, Args)]
pub(crate) struct Bar {
    /// No progress on standard error
    #[arg(long)]
    pub quiet: bool,
}
