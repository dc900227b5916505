//! `make bench`: requests per second and nanoseconds per flash event by workload, on 8 channels of
//! 8 dies and 128 GiB of 4 KiB pages, each beside its *floor*: the same requests with only what no
//! event-driven simulator can do without.

#![allow(clippy::disallowed_methods, reason = "a benchmark reads the clock of the machine")]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a benchmark says what it measured")]

mod budget;
mod drive;
mod features;
mod floor;
mod instructions;
mod length;
mod memory;
mod parallel;
mod parse;
mod ready;
mod requests;
mod scaling;
mod table;
mod traces;
mod workload;

use clap::Parser;
use std::path::PathBuf;
use std::process::ExitCode;

/// How fast Fowler is, on one core.
///
/// Without a flag: every workload on a drive of 8 channels, 8 dies each and 128 GiB, with all
/// latency histograms and blame, each beside its floor (see floor.rs for what that is).
#[derive(Parser)]
#[command(name = "fowler-bench")]
struct Arguments {
    /// Only the rows whose names contain one of these
    #[arg(value_name = "PART")]
    named: Vec<String>,
    /// Rounds of each row, of which the median is shown
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..))]
    rounds: u16,
    /// One round of each row
    #[arg(long)]
    quick: bool,
    /// How much memory one drive takes, instead of how fast it is
    #[arg(long, group = "what")]
    memory: bool,
    /// Instructions per request on small drives, compared with benches/budget.toml: fails where one
    /// is more than 5 % dearer (needs valgrind)
    #[arg(long, group = "what")]
    instructions: bool,
    /// Makes what was counted the budget
    #[arg(long, requires = "instructions")]
    write: bool,
    /// Requests per second by dies, queue depth and length of the run: tables, and pictures in
    /// --out
    #[arg(long, group = "what")]
    scaling: bool,
    /// Up to 10^8 requests, which takes a minute
    #[arg(long, requires = "scaling")]
    long: bool,
    /// One run of 10^9 requests beside one of 10^7, how long each takes and how much memory: takes
    /// minutes
    #[arg(long, group = "what")]
    billion: bool,
    /// Does one of those runs
    #[arg(long, group = "what", hide = true, value_name = "REQUESTS")]
    length_one: Option<u64>,
    /// Where pictures go
    #[arg(long, value_name = "DIR", default_value = "target/bench")]
    out: PathBuf,
    /// Megabytes of unpacked trace text read per second, by format, beside unpacking alone
    #[arg(long, group = "what")]
    parse: bool,
    /// What models of the cells and schemes cost in requests per second, each beside the same drive
    /// without it
    #[arg(long, group = "what")]
    features: bool,
    /// How much of all cores independent runs use, compared with one run after another
    #[arg(long, group = "what")]
    parallel: bool,
    /// How long drives of 128 GiB and 16 TiB take to be ready for a first request, and how much
    /// memory; takes minutes and 8 GB
    #[arg(long, group = "what")]
    ready: bool,
    /// Makes one of those drives ready
    #[arg(long, group = "what", hide = true, value_name = "KEY")]
    ready_one: Option<String>,
    /// Does one of the tasks that have a budget, for callgrind to look at
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

/// Returns whether everything is as it should be.
fn run(arguments: &Arguments) -> Result<bool, String> {
    let rounds = usize::from(if arguments.quick { 1 } else { arguments.rounds });
    if let Some(key) = &arguments.perform {
        instructions::perform(key)?;
    } else if let Some(key) = &arguments.ready_one {
        ready::perform(key)?;
    } else if arguments.ready {
        ready::print(&arguments.named)?;
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
