//! The peak memory of the process.

use crate::drive;
use crate::workload::RANDOM_WRITE;

/// Builds one preconditioned drive, serves a round of random writes on it, and prints the peak
/// memory of the process.
pub fn print() {
    let mut device = RANDOM_WRITE.drive(drive::geometry());
    let requests = RANDOM_WRITE.requests(&device, RANDOM_WRITE.requests);
    drive::serve(&mut device, requests, RANDOM_WRITE.pacing());
    let Some(peak) = peak_bytes() else {
        return println!("this system does not report the peak memory of a process");
    };
    let pages = f64::from(drive::geometry().pages());
    println!(
        "one drive of 128 GiB, preconditioned and run: peak memory {:.0} MB, {:.2} bytes per \
         physical page beyond 64 MB",
        peak as f64 / 1e6,
        (peak as f64 - 64e6) / pages
    );
}

/// Returns the peak memory of this process in bytes (`VmHWM`); `None` if the system does not report
/// it (only Linux does).
pub fn peak_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib * 1024)
}
