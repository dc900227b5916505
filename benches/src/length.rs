//! Compares the time per request and the memory of a long run with those of a short one.
//!
//! Each run is a process of its own that executes this program again, because the system reports
//! the peak memory of a process. The short run is repeated after the long one, since minutes pass
//! in between and the machine may have become slower. On a shared machine, look at processor time.

use crate::drive;
use crate::memory::peak_bytes;
use crate::parallel::processor_seconds;
use crate::workload::RANDOM_READ;
use std::process::Command;

const SHORT: u64 = 10_000_000;
const LONG: u64 = 1_000_000_000;

/// Serves `requests` random reads on one drive, and prints the time and the memory that it took.
///
/// # Errors
/// If the system does not report it.
pub fn perform(requests: u64) -> Result<(), String> {
    let mut device = RANDOM_READ.drive(drive::geometry());
    let source = RANDOM_READ.requests(&device, requests);
    let before = peak_bytes().ok_or("this system does not report the peak memory of a process")?;
    let begun = processor_seconds().unwrap_or(f64::NAN);
    let measured = drive::serve(&mut device, source, RANDOM_READ.pacing());
    assert_eq!(measured.requests, requests, "every request was answered and counted");
    assert_eq!(measured.work.reads, requests, "and every page read");
    let processor = processor_seconds().unwrap_or(f64::NAN) - begun;
    let peak = peak_bytes().unwrap_or(before);
    println!(
        "| {requests} | {:.1} | {:.1} | {:.1} | {:.1} | {:.1} |",
        measured.seconds,
        measured.ns_per_request(),
        processor * 1e9 / requests as f64,
        before as f64 / 1e6,
        peak as f64 / 1e6
    );
    Ok(())
}

/// Measures runs of several lengths and prints their times and memory.
///
/// # Errors
///
/// If a run fails.
pub fn print() -> Result<(), String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    println!(
        "| random reads | wall s | ns/request | processor ns/request | peak MB before | peak MB after |"
    );
    println!("|--:|--:|--:|--:|--:|--:|");
    for requests in [SHORT, LONG, SHORT] {
        let run = Command::new(&program).args(["--length-one", &requests.to_string()]).status();
        let run = run.map_err(|error| format!("cannot start {}: {error}", program.display()))?;
        if !run.success() {
            return Err(format!("the run of {requests} requests failed: {run}"));
        }
    }
    Ok(())
}
