//! `make bench`: requests per second and nanoseconds per flash event by workload, on 8 channels of
//! 8 dies and 128 GiB of 4 KiB pages. Each row is compared with its *floor*: the same requests with
//! only the work that no event-driven simulator can leave out.

#![allow(clippy::disallowed_methods, reason = "a benchmark reads the clock of the machine")]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a benchmark says what it measured")]

mod budget;
mod drive;
mod features;
mod floor;
mod generated_traces;
mod instructions;
mod length;
mod memory;
mod parallel;
mod parse;
mod requests;
mod scaling;
mod table;
mod time_to_ready;
mod traces;
mod workload;

use clap::Parser;
use std::path::PathBuf;
use std::process::ExitCode;

/// Measures the speed of Fowler on one core.
///
/// Without a flag: runs every workload on a drive of 8 channels with 8 dies each and 128 GiB, with
/// all latency histograms and blame, and compares it with its floor (see floor.rs).
#[derive(Parser)]
#[command(name = "fowler-bench")]
struct Arguments {
    /// Measure only rows whose names contain one of these
    #[arg(value_name = "PART")]
    named: Vec<String>,
    /// Rounds of each row; the table shows medians
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..))]
    rounds: u16,
    /// Run one round of each row
    #[arg(long)]
    quick: bool,
    /// Measure the memory of one drive
    #[arg(long, group = "what")]
    memory: bool,
    /// Compare instructions per request on small drives with benches/budget.toml, and fail if a row
    /// takes over 5 % more (needs valgrind)
    #[arg(long, group = "what")]
    instructions: bool,
    /// Write the counts to the budget
    #[arg(long, requires = "instructions")]
    write: bool,
    /// Measure requests per second by dies, queue depth and length of the run; prints tables and
    /// writes figures to --out
    #[arg(long, group = "what")]
    scaling: bool,
    /// Go up to 10^8 requests, which takes a minute
    #[arg(long, requires = "scaling")]
    long: bool,
    /// Compare time and memory of one run of 10^9 requests with one of 10^7 (takes minutes)
    #[arg(long, group = "what")]
    billion: bool,
    /// Do one of the runs of --billion
    #[arg(long, group = "what", hide = true, value_name = "REQUESTS")]
    length_one: Option<u64>,
    /// The folder for figures
    #[arg(long, value_name = "DIR", default_value = "target/bench")]
    out: PathBuf,
    /// Measure megabytes of decompressed trace text read per second, by format, and decompression
    /// alone
    #[arg(long, group = "what")]
    parse: bool,
    /// Measure what cell models and schemes cost in requests per second
    #[arg(long, group = "what")]
    features: bool,
    /// Measure how well independent runs use all cores
    #[arg(long, group = "what")]
    parallel: bool,
    /// Measure time and memory until drives of 128 GiB and 16 TiB are ready for a first request
    /// (takes minutes and 8 GB)
    #[arg(long, group = "what")]
    ready: bool,
    /// Build one of the drives of --ready
    #[arg(long, group = "what", hide = true, value_name = "KEY")]
    ready_one: Option<String>,
    /// Run one row of the budget, for callgrind
    #[arg(long, group = "what", hide = true, value_name = "KEY")]
    perform: Option<String>,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

/// Runs the measurement that the arguments ask for. Returns true if everything is within its
/// budget.
fn run(arguments: &Arguments) -> Result<bool, String> {
    let rounds = usize::from(if arguments.quick { 1 } else { arguments.rounds });
    if let Some(key) = &arguments.perform {
        instructions::perform(key)?;
    } else if let Some(key) = &arguments.ready_one {
        time_to_ready::perform(key)?;
    } else if arguments.ready {
        time_to_ready::print(&arguments.named)?;
    } else if arguments.write {
        budget::write()?;
    } else if arguments.instructions {
        return budget::compare();
    } else if arguments.scaling {
        scaling::print(&arguments.out, if arguments.long { 8 } else { 7 })?;
    } else if arguments.billion {
        length::print()?;
    } else if let Some(requests) = arguments.length_one {
        length::perform(requests)?;
    } else if arguments.parse {
        parse::print(&arguments.named, rounds);
    } else if arguments.parallel {
        parallel::print();
    } else if arguments.features {
        features::print(&arguments.named, rounds);
    } else if arguments.memory {
        memory::print();
    } else {
        table::print(&arguments.named, rounds);
    }
    Ok(true)
}
