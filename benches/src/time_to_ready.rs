//! The time and memory until a drive is ready for its first request.
//!
//! Each row is a process of its own that executes this program again, because the system reports
//! the peak memory of a process, not of one of its drives.

use crate::drive::{self, State};
use crate::memory::peak_bytes;
use crate::parallel::processor_seconds;
use fowler_device::policy::die_order::DieOrderKind;
use fowler_device::policy::suspension::SuspensionKind;
use fowler_device::{Config, Pattern};
use fowler_units::{Bytes, Geometry};
use std::process::Command;
use std::time::Instant;

/// A drive whose time to be ready is measured.
struct Readied {
    key: &'static str,
    name: &'static str,
    geometry: fn() -> Geometry,
    /// Preconditioning pattern of the drive; `None` for an empty drive.
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

/// Returns the geometry of a 16 TiB drive: 16 channels of 16 dies with two planes each, 2^30 pages
/// of 16 KiB.
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

/// Builds the drive `key` once, and prints the time and the memory that it took.
///
/// # Errors
/// If there is no such row, or the system does not report memory.
pub fn perform(key: &str) -> Result<(), String> {
    let readied = ALL.iter().find(|it| it.key == key).ok_or(format!("unknown row `{key}`"))?;
    let start = Instant::now();
    let device = drive::build(&readied.config());
    let seconds = start.elapsed().as_secs_f64();
    let processor = processor_seconds().unwrap_or(f64::NAN);
    let peak = peak_bytes().ok_or("this system does not report the peak memory of a process")?;
    let pages = f64::from(device.layout().geometry.pages());
    println!(
        "| {} | {seconds:.2} | {processor:.2} | {:.0} | {:.2} |",
        readied.name,
        peak as f64 / 1e6,
        (peak as f64 - 64e6) / pages
    );
    Ok(())
}

/// Measures and prints the drives whose names contain one of `named`, or all if `named` is empty.
///
/// # Errors
///
/// If a drive cannot be built.
pub fn print(named: &[String]) -> Result<(), String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    println!("| drive | s until ready | processor s | peak MB | bytes per page beyond 64 MB |");
    println!("|---|--:|--:|--:|--:|");
    let asked = |it: &&Readied| named.is_empty() || named.iter().any(|part| it.name.contains(part));
    for readied in ALL.iter().filter(asked) {
        let status = Command::new(&program).args(["--ready-one", readied.key]).status();
        let status =
            status.map_err(|error| format!("cannot start {}: {error}", program.display()))?;
        if !status.success() {
            return Err(format!("building the drive \"{}\" failed: {status}", readied.name));
        }
    }
    Ok(())
}
