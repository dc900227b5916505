//! `make bench`: requests per second and nanoseconds per flash event by workload, on 8 channels of 8
//! dies and 128 GiB of 4 KiB pages, each beside its *floor*: the same requests with only what no
//! event-driven simulator can do without.

#![allow(clippy::disallowed_methods, reason = "a benchmark reads the clock of the machine")]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a benchmark says what it measured")]

mod drive;
mod floor;
mod memory;
mod requests;
mod table;
mod traces;
mod workload;

use clap::Parser;

/// How fast Fowler is, on one core.
///
/// Without a flag: every workload on a drive of 8 channels, 8 dies each and 128 GiB, with all latency
/// histograms and blame, each beside its floor (see floor.rs for what that is).
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
    #[arg(long)]
    memory: bool,
}

fn main() {
    let arguments = Arguments::parse();
    if arguments.memory {
        return memory::print();
    }
    let rounds = if arguments.quick { 1 } else { arguments.rounds };
    table::print(&arguments.named, usize::from(rounds));
}
