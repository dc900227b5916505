//! The flags. Checking them against files and drives is the experiment crate's business.

use crate::fleet::{Fleet, LifetimeAction};
pub(crate) use crate::reading::Reading;
use crate::traces::Trace;
use clap::{Args, Parser, Subcommand};
use fowler_experiment::seeds;
#[cfg(feature = "papers")]
use fowler_papers::{Paper, STUDIES};
use std::path::PathBuf;

/// A laboratory for solid-state drives: how slow are reads and writes, and exactly why.
#[derive(Debug, Parser)]
#[command(name = "fowler", version = env!("FOWLER_VERSION"), max_term_width = 100)]
#[command(
    after_help = "Exit codes: 0 done; 2 the input is wrong, and everything that is wrong has been \
                        said; 130 stopped with Ctrl-C, results until then printed; 1 a fault of the program, or theory and simulation disagree"
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Four answers about a trace: how slow and why, what it costs in flash, how long the drive
    /// lives, and which scheme is better
    Ask(Ask),
    /// One drive under one workload
    Run(Run),
    /// The same workload under several schemes: one table, with ratios to the first scheme
    Compare(Compare),
    /// Why the slowest requests were slow: what each waited for, operation by operation
    Explain(Explain),
    /// Raw flash commands on one die: CSV in (at_ns,op), CSV out
    /// (at_ns,op,start_ns,done_ns,suspensions)
    Chip(Chip),
    /// A whole life: years, capacity, wear and throttling under a workload that is repeated to the
    /// end of it
    #[command(
        after_help = "Exit codes: 0 done; 2 the input is wrong; 130 stopped with Ctrl-C: what is done is \
                            saved there, and the same command resumes from it to the same bytes"
    )]
    Lifetime(Lifetime),
    /// A job file of fio on a drive, in simulated time; the output is fio's, so that tools for
    /// fio read it
    #[command(
        after_help = "Exit codes: 0 done; 2 the input is wrong; 130 stopped with Ctrl-C, results until then printed"
    )]
    Fio(crate::fio::Fio),
    /// A drive under the tests of SNIA's Performance Test Specification: rounds until steady state,
    /// write saturation with its causes, recovery, demand
    #[command(
        after_help = "Exit codes: 0 done, whether or not steady state was reached; 2 the input is wrong; 130 stopped with \
                            Ctrl-C, tests finished until then printed"
    )]
    Pts(crate::pts::Pts),
    /// What a host can write before the cells have had their cycles: TBW, DWPD and UBER, in the
    /// manner of JESD218 and JESD219
    Endurance(crate::endurance::Endurance),
    /// A paper's tables and figures beside its published numbers, and a verdict on each
    #[command(
        after_help = "Exit codes: 0 done, whatever the verdicts; 2 the input is wrong; 130 stopped with \
                            Ctrl-C: what is finished is saved, and the same command resumes from there"
    )]
    #[cfg(feature = "papers")]
    Reproduce(Reproduce),
    /// What systems buy together: every subset of them on one drive, at three ages, under several
    /// workloads
    #[command(
        after_help = "Exit codes: 0 done; 2 the input is wrong; 130 stopped with Ctrl-C: what is finished is saved, and \
                            the same command resumes from there"
    )]
    #[cfg(feature = "papers")]
    Study(Study),
    /// A paper's tables and figures (not in this build)
    #[cfg(not(feature = "papers"))]
    Reproduce(NotBuilt),
    /// What systems buy together (not in this build)
    #[cfg(not(feature = "papers"))]
    Study(NotBuilt),
    /// Many runs by one specification: grids, lists, random and Latin hypercube designs; every
    /// finished run is saved
    #[command(
        after_help = "Exit codes: 0 done, whatever points failed; 2 the input is wrong; 130 stopped with Ctrl-C: what is \
                            finished is saved, and the same command resumes from there, as it does after any other end"
    )]
    Sweep(Sweep),
    /// The simulator against theory: queues, bounds, write amplification, conservation laws
    #[command(
        after_help = "Exit codes: 0 every expectation agrees with theory; 1 one does not, which is a fault \
                            of the program; 2 the input is wrong; 130 stopped with Ctrl-C, results until \
                            then printed"
    )]
    Validate(Validate),
    /// Whether a folder of results holds what was written there, and nothing damaged or left over
    #[command(
        after_help = "Exit codes: 0 every file is what was written; 2 something is damaged, missing or left over"
    )]
    Check(Check),
    /// What changed from one stored result to another: what was asked for, the numbers, the causes
    /// of latency, and what of that is chance
    Diff(Diff),
    /// A drive against measurements of a real one: every row simulated as it was measured
    #[command(
        after_help = "Exit codes: 0 done, however far off the drive is; 2 the input is wrong; 130 stopped with \
                            Ctrl-C: the rows that were done until then are printed"
    )]
    Score(Score),
    /// A few parameters of a drive fitted to measured rows, with the simulator in the loop
    #[command(
        after_help = "The drive file declares at most six parameters, each with its bounds and where these are from:\n\n  \
                            [[calibrate.parameter]]\n  key = \"timing.program_phase\"\n  low = \"30us\"\n  high = \"60us\"\n  \
                            source = \"the data sheet\"\n\nExit codes: 0 done; 2 the input is wrong; 130 stopped with Ctrl-C: nothing is written"
    )]
    Calibrate(Calibrate),
    /// The models of flash cells: bit errors, sensing levels, program steps; every constant and
    /// what it does
    #[command(subcommand)]
    Physics(Physics),
    /// Look at, convert and generate workloads
    #[command(subcommand)]
    Trace(Trace),
    /// List the built-in devices, workloads and schemes, or print one as TOML
    Presets(Presets),
    /// Print JSON Schemas of configurations and results, for editors and programs
    Schema(crate::schema::Schema),
    #[cfg(feature = "package")]
    #[command(flatten)]
    Package(crate::package::Package),
}

#[derive(Debug, Args)]
pub(crate) struct Ask {
    /// A block trace, plain or packed with zstd or gzip; - is standard input
    #[arg(value_name = "TRACE")]
    pub trace: PathBuf,
    /// Whether it was standard input, and is a copy of that.
    #[arg(skip)]
    pub piped: bool,
    #[command(flatten)]
    pub drive: Drive,
    #[command(flatten)]
    pub reading: Reading,
    /// Requests at most, from the start of the trace
    #[arg(long, value_name = "N", default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(1..=2_000_000))]
    pub limit: u64,
    /// Compare schemes with N seeds
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=seeds::MOST as i64))]
    pub seeds: u32,
    /// Print choices and answers as one JSON object
    #[arg(long)]
    pub json: bool,
    /// Write summary.json and report.html into this folder
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// No progress on standard error
    #[arg(long)]
    pub quiet: bool,
}

/// How much is simulated for each row.
#[derive(Debug, Args)]
pub(crate) struct Effort {
    /// A look in minutes: smaller drives, and p99.9 to 10 instead of 5 %
    #[arg(long)]
    pub brief: bool,
    /// Let drives of at most this capacity stand for the measured one, with fewer and smaller
    /// blocks [default: 48GiB for tails, 6GiB where the drive is written several times]
    #[arg(long, value_name = "SIZE")]
    pub capacity: Option<String>,
    /// Simulate tails this many times as long, such as 2, to see whether results have converged
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub longer: u32,
}

#[derive(Debug, Args)]
pub(crate) struct Score {
    /// The drive: a preset or a file that ends in .toml
    #[arg(value_name = "PRESET|FILE.toml")]
    pub drive: String,
    /// Measured files
    #[arg(value_name = "MEASURED.json", required = true)]
    pub measured: Vec<PathBuf>,
    /// Only rows that meet all of these conditions; may be given several times. Keys are those of
    /// the rows (see docs/real-drives.md), and file, model and sample
    #[arg(long, value_name = "KEY=VALUE,KEY=A..B,KEY=A|B")]
    pub rows: Vec<String>,
    /// Policy choices: a scheme, a file that ends in .toml, or several joined by `+`
    #[arg(long, value_name = "SCHEME")]
    pub scheme: Option<String>,
    /// Change a configuration key, such as timing.read=30us (see `fowler presets --keys`)
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// The seed of every random stream
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    #[command(flatten)]
    pub effort: Effort,
    /// Write the result as one JSON object into this file, or print it instead of the table
    #[arg(long, value_name = "FILE.json", num_args = 0..=1)]
    pub json: Option<Option<PathBuf>>,
    /// Write summary.json, tables (CSV), pictures (SVG) and a page of both (report.html) into this
    /// folder
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// No progress on standard error
    #[arg(long)]
    pub quiet: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Calibrate {
    /// Measured files
    #[arg(value_name = "MEASURED.json", required = true)]
    pub measured: Vec<PathBuf>,
    /// The drive, which declares what may be fitted: a preset or a file that ends in .toml
    #[arg(long, value_name = "PRESET|FILE.toml")]
    pub drive: String,
    /// The rows that are fitted, all of one model; may be given several times
    #[arg(long, value_name = "KEY=VALUE,KEY=A..B,KEY=A|B", required = true)]
    pub rows: Vec<String>,
    /// The number of these rows that is fitted, such as read_us.p99; may be given several times
    /// [default: those that tell most of each protocol]
    #[arg(long, value_name = "NUMBER")]
    pub metric: Vec<String>,
    /// Policy choices: a scheme, a file that ends in .toml, or several joined by `+`
    #[arg(long, value_name = "SCHEME")]
    pub scheme: Option<String>,
    /// Change a configuration key before the fit
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    #[command(flatten)]
    pub effort: Effort,
    /// Drives tried at most
    #[arg(long, value_name = "N", default_value_t = 80, value_parser = tries())]
    pub tries: usize,
    /// Where the search begins besides at the drive's own values
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// The fitted drive
    #[arg(long, value_name = "FILE.toml")]
    pub out: PathBuf,
    /// No progress on standard error
    #[arg(long)]
    pub quiet: bool,
}

/// The numbers of drives that a search may try.
fn tries() -> impl clap::builder::TypedValueParser<Value = usize> {
    use clap::builder::TypedValueParser;
    clap::value_parser!(u32).range(10..=10_000).map(|tries| tries as usize)
}

#[derive(Debug, Args)]
pub(crate) struct Run {
    /// Policy choices: a scheme, a file that ends in .toml, or several joined by `+`
    #[arg(long, value_name = "SCHEME")]
    pub scheme: Option<String>,
    /// Write what dies and channels did as timeline.json, for Perfetto (ui.perfetto.dev) or Chrome,
    /// into the folder of --out: in a window since the first request, or in the lives of the
    /// slowest K requests
    #[arg(long, value_name = "FROM..UNTIL|slowest:K", requires = "out")]
    pub timeline: Option<String>,
    /// Run each device of a trace on a drive of its own, one after the other; with --out, into a
    /// folder for each
    #[arg(long, requires = "trace", conflicts_with_all = ["device_id", "requests", "report"])]
    pub split: bool,
    #[command(flatten)]
    pub setup: Setup,
}

#[derive(Debug, Args)]
pub(crate) struct Explain {
    /// Policy choices: a scheme, a file that ends in .toml, or several joined by `+`
    #[arg(long, value_name = "SCHEME")]
    pub scheme: Option<String>,
    /// How many requests
    #[arg(long, value_name = "K", default_value_t = 5)]
    pub slowest: usize,
    #[command(flatten)]
    pub load: Load,
}

#[derive(Debug, Args)]
pub(crate) struct Compare {
    /// The schemes, separated by commas; `+` joins
    #[arg(long, value_name = "A,B,C+D", value_delimiter = ',', required = true)]
    pub schemes: Vec<String>,
    /// Run every scheme with N seeds, from that of the drive on, and add 95 % confidence intervals:
    /// they tell a difference from chance
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=seeds::MOST as i64))]
    pub seeds: u32,
    #[command(flatten)]
    pub setup: Setup,
}

/// What `run` and `compare` share.
#[derive(Debug, Args)]
pub(crate) struct Setup {
    #[command(flatten)]
    pub load: Load,
    /// Run nothing; check everything, and say how much memory the drives would take
    #[arg(long)]
    pub dry_run: bool,
    /// Print the result as one JSON object
    #[arg(long)]
    pub json: bool,
    /// Write summary.json and report.html (and requests.parquet, when asked for) into this folder
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Write a page with pictures, which needs nothing else to be read; without FILE into the
    /// folder of --out
    #[arg(long, value_name = "FILE.html", num_args = 0..=1)]
    pub report: Option<Option<PathBuf>>,
    /// Write every request with its causes, as columns (.parquet) or text (.csv); without FILE
    /// requests.parquet in the folder of --out
    #[arg(long, value_name = "FILE", num_args = 0..=1)]
    pub requests: Option<Option<PathBuf>>,
}

/// A drive and what it is to do.
#[derive(Debug, Args)]
pub(crate) struct Load {
    #[command(flatten)]
    pub drive: Drive,
    #[command(flatten)]
    pub source: Source,
    #[command(flatten)]
    pub reading: Reading,
    /// What happens to addresses that the drive does not have: error, modulo or compact
    #[arg(long, value_name = "REMAP", default_value = "error", conflicts_with = "workload")]
    pub remap: String,
    #[command(flatten)]
    pub replay_speed: ReplaySpeed,
    /// Let something fail at a time, such as "10s chip 3"; may be given several times, in order of
    /// time. Units, numbered from 0: page N uncorrectable (a logical page), parity N (of a stripe),
    /// block N, plane N, die N, chip N, channel N. They lose what they hold. Dies, and those of
    /// chips and channels, stay failed unless there are spare ones (failed_dies.spare); all others
    /// continue empty. Or, unnoticed, miscorrected N (a logical page reads as something else) and
    /// misdirected N (its write landed on another page). Or power SPAN, such as "30s power 2s": off
    /// for so long. Or "every 10s page": random units of a kind, at that time apart on average
    #[arg(long, value_name = "FAULT")]
    pub fault: Vec<String>,
    /// Requests at most
    #[arg(long, value_name = "N")]
    pub limit: Option<u64>,
    /// No progress on standard error
    #[arg(long)]
    pub quiet: bool,
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct Lifetime {
    #[command(subcommand)]
    pub action: Option<LifetimeAction>,
    #[command(flatten)]
    pub drive: Drive,
    #[command(flatten)]
    pub source: Source,
    #[command(flatten)]
    pub reading: Reading,
    /// What happens to addresses that the drive does not have: error, modulo or compact
    #[arg(long, value_name = "REMAP", default_value = "error", conflicts_with = "workload")]
    pub remap: String,
    /// Policy choices: a scheme, a file that ends in .toml, or several joined by `+`
    #[arg(long, value_name = "SCHEME")]
    pub scheme: Option<String>,
    /// The target life in years of 365 days; otherwise that of the drive, lifetime.target
    #[arg(long, value_name = "N")]
    pub years: Option<f64>,
    /// One simulated repetition stands for so many [default: the fewest at which a life takes a
    /// minute or two]
    #[arg(long, value_name = "K")]
    pub dilation: Option<u32>,
    /// Not once more at twice the dilation, to see what that changes
    #[arg(long)]
    pub no_check: bool,
    #[command(flatten)]
    pub fleet: Fleet,
    /// Print the result as one JSON object
    #[arg(long)]
    pub json: bool,
    /// Write summary.json, the table (CSV), pictures (SVG), a page of both (report.html) and each
    /// drive of a fleet (CSV, Parquet) into this folder, and save progress there; without it,
    /// progress is saved in $XDG_CACHE_HOME/fowler or ~/.cache/fowler
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Save what is done so far after every so many page writes, or drives of a fleet (at most
    /// 4,000,000 of these)
    #[arg(long, value_name = "N", default_value_t = 100_000_000)]
    pub save_every: u64,
    /// No progress on standard error
    #[arg(long)]
    pub quiet: bool,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct Drive {
    /// The drive: a preset or a file that ends in .toml
    #[arg(long, value_name = "PRESET|FILE.toml", default_value = "tlc")]
    pub device: String,
    /// Change a configuration key, such as timing.read=30us (see `fowler presets --keys`)
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// The seed of every random stream
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
}

#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct Source {
    /// The requests: a block trace, plain or packed with zstd or gzip; - is standard input
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
    /// The requests: a generator
    #[arg(long, value_name = "PRESET|FILE.toml")]
    pub workload: Option<String>,
}

#[derive(Debug, Args)]
#[group(multiple = false)]
pub(crate) struct ReplaySpeed {
    /// Ignore the times: a request is issued as soon as fewer than N are outstanding
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=65536))]
    pub queue_depth: Option<u32>,
    /// Divide the times by this factor
    #[arg(long, value_name = "FACTOR")]
    pub speed: Option<f64>,
    /// Divide the times by the factor at which the drive idles for this share of the time, such as
    /// 0.7
    #[arg(long, value_name = "SHARE")]
    pub idle: Option<f64>,
}

#[derive(Debug, Args)]
pub(crate) struct Chip {
    #[command(flatten)]
    pub drive: Drive,
    /// Policy choices: a scheme, a file that ends in .toml, or several joined by `+`
    #[arg(long, value_name = "SCHEME")]
    pub scheme: Option<String>,
    /// The commands: CSV with the header at_ns,op; op is read, write (transfer in, then program),
    /// program (data already in the page buffer) or erase
    pub file: PathBuf,
}

/// A command that this program was built without; what follows it is not looked at.
#[cfg(not(feature = "papers"))]
#[derive(Debug, Args)]
pub(crate) struct NotBuilt {
    #[arg(hide = true, trailing_var_arg = true, allow_hyphen_values = true)]
    _rest: Vec<String>,
}

/// What papers there are, in a line of help.
#[cfg(feature = "papers")]
fn papers() -> String {
    let named = |paper: &Paper| format!("{} ({})", paper.name(), paper.about());
    let mut papers: Vec<String> = STUDIES.iter().map(named).collect();
    let last = papers.pop().unwrap_or_default();
    format!("The paper: {} or {last}", papers.join(", "))
}

#[cfg(feature = "papers")]
#[derive(Debug, Args)]
pub(crate) struct Reproduce {
    #[arg(help = papers())]
    pub paper: String,
    /// A folder of real traces; those of the paper's workloads are shown beside the synthetic
    /// stand-ins
    #[arg(long, value_name = "DIR")]
    pub traces: Option<PathBuf>,
    /// Where tables (CSV), figures (SVG), a page of both (report.html) and finished runs go
    /// [default: results/PAPER, with --limit results/PAPER-look]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Requests of each run at most: a look, not a reproduction
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub limit: Option<u64>,
    /// Only what the paper shows: leave out the studies of its open choices and of starvation
    #[arg(long)]
    pub brief: bool,
    /// No progress on standard error
    #[arg(long)]
    pub quiet: bool,
}

#[cfg(feature = "papers")]
#[derive(Debug, Args)]
pub(crate) struct Study {
    /// The study: all (the 32 subsets of PES, RHIO, HIRE, READY and DA-RAID-5)
    #[arg(value_parser = ["all"])]
    pub study: String,
    /// This workload instead of the study's own; may be given several times
    #[arg(long, value_name = "PRESET|FILE.toml")]
    pub workload: Vec<String>,
    /// This trace instead of the study's own workloads, times as recorded, addresses compacted; may
    /// be given several times
    #[arg(long, value_name = "FILE")]
    pub trace: Vec<PathBuf>,
    /// The format of the traces; without it the format must be certain from the text
    #[arg(long, value_name = "FORMAT", requires = "trace")]
    pub format: Option<String>,
    /// A folder of real traces; those that the study knows are taken beside its stand-ins
    #[arg(long, value_name = "DIR", conflicts_with_all = ["workload", "trace"])]
    pub traces: Option<PathBuf>,
    /// Where tables (CSV), pictures (SVG), a page of both (report.html) and finished runs go
    /// [default: results/study-all, with --limit results/study-all-look]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Requests of each run at most [default: 300,000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub limit: Option<u64>,
    /// Seeds that every run is repeated with; effects then have confidence intervals
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=10))]
    pub seeds: u32,
    /// No progress on standard error
    #[arg(long)]
    pub quiet: bool,
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
#[cfg_attr(not(feature = "parquet"), allow(dead_code, reason = "without Parquet no sweep is run"))]
pub(crate) struct Sweep {
    #[command(subcommand)]
    pub action: Option<SweepAction>,
    #[command(flatten)]
    pub points: Option<SweepPoints>,
}

#[derive(Debug, Subcommand)]
#[cfg_attr(not(feature = "parquet"), allow(dead_code, reason = "without Parquet no sweep is run"))]
pub(crate) enum SweepAction {
    /// Join the shards of a sweep into one folder, with the bytes that one run of it would have
    Merge {
        /// The folders of all shards, in any order
        #[arg(value_name = "DIR", required = true)]
        folders: Vec<PathBuf>,
        /// The folder of the whole sweep
        #[arg(long, value_name = "DIR")]
        out: PathBuf,
        /// No progress on standard error
        #[arg(long)]
        quiet: bool,
    },
}

#[derive(Debug, Args)]
#[cfg_attr(not(feature = "parquet"), allow(dead_code, reason = "without Parquet no sweep is run"))]
pub(crate) struct SweepPoints {
    /// The specification (docs/sweeps.md explains it)
    #[arg(value_name = "SPEC.toml")]
    pub specification: PathBuf,
    /// Where points go, each a file of its own [default: results/SPEC; of a shard
    /// results/SPEC-shards/i-of-n]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Run only the i-th of n parts, from 1/n to n/n, each in a folder of its own: `fowler sweep
    /// merge` joins them
    #[arg(long, value_name = "i/n")]
    pub shard: Option<String>,
    /// Runs at once [default: as many as there are cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// Run points that failed once more
    #[arg(long)]
    pub retry: bool,
    /// Run nothing; say how many points there are, and show the first
    #[arg(long)]
    pub dry_run: bool,
    /// No progress on standard error
    #[arg(long)]
    pub quiet: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Diff {
    /// A folder of `fowler run` or `fowler compare`, or a summary file
    #[arg(value_name = "FIRST")]
    pub first: PathBuf,
    /// Another one; runs under the same scheme belong together
    #[arg(value_name = "SECOND")]
    pub second: PathBuf,
    /// Write a page of both: what differs, and the lines of both on the same axes. Needs folders
    #[arg(long, value_name = "FILE.html")]
    pub report: Option<PathBuf>,
    /// Print everything as one JSON object
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Check {
    /// The folder: of a run, a comparison, a sweep, a life or a study
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    /// Remove leftovers of killed programs, and damaged results, which the same command then
    /// computes again
    #[arg(long)]
    pub repair: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Validate {
    /// Fewer requests and smaller drives, with tolerances two to three times as wide: seconds, not
    /// minutes
    #[arg(long)]
    pub quick: bool,
    /// Only one group (die, "extra wait", bounds, gc, laws), or expectations whose name
    /// contains this
    #[arg(long, value_name = "TEXT")]
    pub only: Option<String>,
    /// Change a configuration key of the simulated drives and not of the theory, to see the check
    /// fail
    #[arg(long, value_name = "KEY=VALUE")]
    pub spoil: Vec<String>,
    /// Print the result as one JSON object
    #[arg(long)]
    pub json: bool,
    /// Write summary.json into this folder
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// No progress on standard error
    #[arg(long)]
    pub quiet: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Physics {
    /// Every curve as a picture (SVG) and as columns (CSV), and how far models and papers agree
    Plot {
        /// Where to
        #[arg(long, value_name = "DIR", default_value = "results/physics")]
        out: PathBuf,
    },
    /// What each constant that nobody printed does to bit errors, sensing levels and steps
    Sensitivity,
    /// Every constant, with its unit, its source or that it is assumed, and the range that is swept
    Constants,
}

#[derive(Debug, Args)]
pub(crate) struct Presets {
    /// The one to print
    pub name: Option<String>,
    /// Its kind, where a device and a scheme have the same name
    #[arg(long, value_name = "KIND", requires = "name", value_parser = ["device", "workload", "scheme"])]
    pub kind: Option<String>,
    /// List every configuration key with what it takes
    #[arg(long, conflicts_with = "name")]
    pub keys: bool,
}
