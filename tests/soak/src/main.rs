//! `make soak`: random faults, kills, full disks and damaged files until the time is over.
//!
//! Each *bout* has a seed, which is printed and repeats it. There are two kinds. A bout of drives
//! (`drives.rs`) runs random drives under random faults, and holds what is lost against linear
//! algebra. A bout of stored state (`stored_state.rs`) runs a command, disturbs it and damages what
//! it has written, lets the same command resume, and compares the bytes with those of an
//! undisturbed run.
//!
//! Everything runs in child processes with a time limit, so that a panic, an abort or a hang ends a
//! bout and not the soak. The children are this program: `soak drives SEED`, and `soak fowler ...`,
//! which is the command `fowler` on a disk that may fail (`disk.rs`).

#![allow(clippy::disallowed_methods, reason = "it runs by the clock and waits for other processes")]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "it says what it does")]

mod children;
mod damage;
mod disk;
mod drives;
mod files;
mod jobs;
mod stored_state;
mod tally;

// The random drives and the models are those of the tests of the drive. They stay where the
// ordinary tests run them.
#[path = "../../../crates/device/tests/all/fault_schedule.rs"]
#[allow(dead_code, unused_imports, reason = "its tests run with the drive")]
mod fault_schedule;
#[path = "../../../crates/device/tests/all/faults.rs"]
#[allow(dead_code, unused_imports, reason = "its tests run with the drive")]
mod faults;
#[path = "../../../crates/device/tests/all/power.rs"]
#[allow(dead_code, unused_imports, reason = "its tests run with the drive")]
mod power;
#[path = "../../../crates/device/tests/all/superblock_dead_dies.rs"]
#[allow(dead_code, unused_imports, reason = "its tests run with the drive")]
mod superblock_dead_dies;
#[path = "../../../crates/device/tests/all/superblock_faults.rs"]
#[allow(dead_code, unused_imports, reason = "its tests run with the drive")]
mod superblock_faults;
#[path = "../../../crates/device/tests/all/support/mod.rs"]
mod support;

use clap::Parser;
use fowler_units::Rng;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tally::Tally;

/// Runs random bouts of faults, kills, full disks and damaged files, until the time is over or one
/// fails.
#[derive(Parser)]
#[command(name = "soak")]
struct Arguments {
    /// How long
    #[arg(long, default_value_t = 10.0, value_name = "N")]
    minutes: f64,
    /// The first seed; without --bouts only this one (default: from the clock)
    #[arg(long)]
    seed: Option<u64>,
    /// So many bouts, however long they take
    #[arg(long, value_name = "N")]
    bouts: Option<u64>,
    /// Where commands write; what a failed bout wrote stays there
    #[arg(long, value_name = "DIR", default_value = "target/soak")]
    folder: PathBuf,
    /// Spoil every bout of a kind, to see that this is found
    #[arg(long, hide = true)]
    spoil: Option<Kind>,
}

/// Kind of a bout: random drives, or stored state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Kind {
    Drives,
    Stored,
}

impl Kind {
    fn of(seed: u64) -> Kind {
        if Rng::stream(seed, "soak").chance(0.5) { Kind::Drives } else { Kind::Stored }
    }
}

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    match arguments.next().as_ref().and_then(|it| it.to_str()) {
        Some("fowler") => ExitCode::from(disk::fowler(arguments)),
        Some("drives") => drives::child(arguments),
        _ => soak(&Arguments::parse()),
    }
}

/// Bouts from the first seed on.
fn soak(arguments: &Arguments) -> ExitCode {
    let end = Instant::now() + Duration::from_secs_f64(arguments.minutes.clamp(0.0, 1e6) * 60.0);
    let first = arguments.seed.unwrap_or_else(clock);
    let bouts = arguments.bouts.or(arguments.seed.map(|_| 1));
    let mut tally = Tally::new(end, bouts);
    for seed in first.. {
        let left = tally.bouts() < bouts.unwrap_or(u64::MAX);
        if !left || bouts.is_none() && Instant::now() >= end {
            break;
        }
        tally.begin(seed);
        let folder = arguments.folder.join(seed.to_string());
        let kind = Kind::of(seed);
        let spoilt = arguments.spoil == Some(kind);
        let result = match kind {
            Kind::Drives => drives::bout(seed, spoilt, &mut tally),
            Kind::Stored => stored_state::bout(seed, &folder, spoilt, &mut tally),
        };
        match result {
            Ok(summary) => tally.print(&format!("seed {seed}: {summary}")),
            Err(failure) => {
                tally.print("");
                eprintln!("seed {seed} failed: {failure}");
                if folder.exists() {
                    eprintln!("what it wrote is in {}", folder.display());
                }
                eprintln!("`make soak SEED={seed}` repeats it");
                print!("{tally}");
                return ExitCode::from(1);
            }
        }
    }
    print!("{tally}");
    ExitCode::SUCCESS
}

/// A first seed that other soaks hardly have, short enough to be typed.
fn clock() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Rng::stream(now.as_nanos() as u64, "clock").below(1_000_000_000)
}
