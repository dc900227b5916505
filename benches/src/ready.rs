//! How long a drive takes to be ready for its first request, and how much memory it takes to get
//! there.
//!
//! Each row is a process of its own, which is this program again: the system tells how much memory
//! a process has had resident at most, not how much it had for one of its drives.

use crate::drive::{self, State};
use crate::memory::peak_bytes;
use crate::parallel::processor_seconds;
use fowler_device::policy::die_order::DieOrderKind;
use fowler_device::policy::suspension::SuspensionKind;
use fowler_device::{Config, Pattern};
use fowler_units::{Bytes, Geometry};
use std::process::Command;
use std::time::Instant;

/// A drive that is made ready.
struct Readied {
    key: &'static str,
    name: &'static str,
    geometry: fn() -> Geometry,
    /// How it is written; not at all, if there is no pattern.
    pattern: Option<Pattern>,
}

const fn small(key: &'static str, name: &'static str, pattern: Option<Pattern>) -> Readied {
    Readied { key, name, geometry: drive::geometry, pattern }
}

const fn large(key: &'static str, name: &'static str, pattern: Pattern) -> Readied {
    Readied { key, name, geometry: sixteen_tib, pattern: Some(pattern) }
}

const ALL: [Readied; 8] = [
    small("fresh", "128 GiB, fresh", None),
    small("sequential", "128 GiB, sequential", Some(Pattern::Sequential)),
    small("random", "128 GiB, random", Some(Pattern::Random)),
    small("steady", "128 GiB, steady", Some(Pattern::Steady)),
    small("rested", "128 GiB, rested", Some(Pattern::Rested)),
    large("16t_sequential", "16 TiB, sequential", Pattern::Sequential),
    large("16t_random", "16 TiB, random", Pattern::Random),
    large("16t_steady", "16 TiB, steady", Pattern::Steady),
];

/// 16 channels of 16 dies of two planes, 16 TiB of 16 KiB pages: 2^30 of them.
fn sixteen_tib() -> Geometry {
    Geometry {
        channels: 16,
        chips_per_channel: 16,
        dies_per_chip: 1,
        planes_per_die: 2,
        blocks_per_plane: 1024,
        pages_per_block: 2048,
        page_size: Bytes(16 << 10),
    }
}

impl Readied {
    fn config(&self) -> Config {
        let steady = State::Steady(DieOrderKind::ReadFirst, SuspensionKind::Never);
        let mut config = drive::config((self.geometry)(), steady);
        match self.pattern {
            Some(pattern) => config.precondition.pattern = pattern,
            None => config.precondition.fill = 0.0,
        }
        config
    }
}

/// Makes the drive of `key` ready, once, and says how long it took and how much memory.
///
/// # Errors
/// If nothing has that name, or the system does not tell.
pub fn perform(key: &str) -> Result<(), String> {
    let readied = ALL.iter().find(|it| it.key == key).ok_or(format!("nothing is called {key}"))?;
    let start = Instant::now();
    let device = drive::build(&readied.config());
    let seconds = start.elapsed().as_secs_f64();
    let processor = processor_seconds().unwrap_or(f64::NAN);
    let peak = peak_bytes().ok_or("this system does not tell how much memory a process has had")?;
    let pages = f64::from(device.layout().geometry.pages());
    println!(
        "| {} | {seconds:.2} | {processor:.2} | {:.0} | {:.2} |",
        readied.name,
        peak as f64 / 1e6,
        (peak as f64 - 64e6) / pages
    );
    Ok(())
}

/// Prints the table, of the rows whose names contain one of `named` or of all.
///
/// # Errors
/// If a drive cannot be made ready.
pub fn print(named: &[String]) -> Result<(), String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    println!(
        "| drive | s until ready | processor s | MB resident at most | bytes per page beyond 64 MB |"
    );
    println!("|---|--:|--:|--:|--:|");
    let asked = |it: &&Readied| named.is_empty() || named.iter().any(|part| it.name.contains(part));
    for readied in ALL.iter().filter(asked) {
        let status = Command::new(&program).args(["--ready-one", readied.key]).status();
        let status = status.map_err(|error| format!("cannot run itself: {error}"))?;
        if !status.success() {
            return Err(format!("{} was not made ready: {status}", readied.name));
        }
    }
    Ok(())
}
