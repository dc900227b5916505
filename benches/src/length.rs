//! Whether a long run takes as long for each request as a short one, and no more memory.
//!
//! Each run is a process of its own, which is this program again: the system tells how much memory
//! a process has had resident at most. The short one is run before the long one and after it, since
//! minutes pass in between and the machine may have become slower. Processor time is what to look
//! at where others use the machine too.

use crate::drive;
use crate::memory::peak_bytes;
use crate::parallel::processor_seconds;
use crate::workload::RANDOM_READ;
use std::process::Command;

const SHORT: u64 = 10_000_000;
const LONG: u64 = 1_000_000_000;

/// Serves so many random reads on one drive and says how long it took and how much memory.
///
/// # Errors
/// If the system does not report it.
pub fn perform(requests: u64) -> Result<(), String> {
    let mut device = RANDOM_READ.drive(drive::geometry());
    let source = RANDOM_READ.requests(&device, requests);
    let before =
        peak_bytes().ok_or("this system does not report how much memory a process has had")?;
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

/// Prints the table.
///
/// # Errors
/// If a run fails.
pub fn print() -> Result<(), String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    println!(
        "| random reads | wall s | ns/request | processor ns/request | MB resident before it | and after |"
    );
    println!("|--:|--:|--:|--:|--:|--:|");
    for requests in [SHORT, LONG, SHORT] {
        let run = Command::new(&program).args(["--length-one", &requests.to_string()]).status();
        let run = run.map_err(|error| format!("cannot run itself: {error}"))?;
        if !run.success() {
            return Err(format!("{requests} requests were not served: {run}"));
        }
    }
    Ok(())
}
