//! `make bench`: requests per second and nanoseconds per flash event by workload, on 8 channels of 8
//! dies and 128 GiB of 4 KiB pages, each beside its *floor*: the same requests with only what no
//! event-driven simulator can do without.
//!
//! Rounds of drive and floor alternate, so that a machine whose speed drifts drifts for both; the
//! table gives the median of each and the median of the ratios round by round.

#![allow(clippy::disallowed_methods, reason = "a benchmark reads the clock of the machine")]

mod drive;
mod floor;
mod memory;
mod requests;

use drive::{Measured, Workload};
use std::time::Instant;

const ROUNDS: usize = 5;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let rounds = if arguments.iter().any(|a| a == "--quick") { 1 } else { ROUNDS };
    let wanted: Vec<&String> = arguments.iter().filter(|a| !a.starts_with("--")).collect();
    println!(
        "| workload | Mreq/s | ns/request | ns/flash event | floor ns/request | times the floor | WAF |"
    );
    println!("|---|--:|--:|--:|--:|--:|--:|");
    for workload in Workload::ALL {
        if wanted.is_empty() || wanted.iter().any(|name| workload.name().contains(name.as_str())) {
            measure(workload, rounds);
        }
    }
    println!();
    if let Some(peak) = memory::peak_bytes() {
        let pages = f64::from(drive::geometry().pages());
        println!(
            "resident at most {:.0} MB: {:.2} bytes per physical page beyond 64 MB",
            peak as f64 / 1e6,
            (peak as f64 - 64e6) / pages
        );
    }
}

fn measure(workload: Workload, rounds: usize) {
    let start = Instant::now();
    let fresh = workload.drive();
    let started = start.elapsed();
    let mut drives: Vec<Measured> = Vec::new();
    let mut floors = Vec::new();
    for _ in 0..rounds {
        let measured = workload.run(&fresh);
        floors.push(floor::run(workload, &measured));
        drives.push(measured);
    }
    let mut per_request: Vec<f64> = drives.iter().map(Measured::ns_per_request).collect();
    let mut ratios: Vec<f64> = per_request.iter().zip(&floors).map(|(d, f)| d / f).collect();
    let ns = median(&mut per_request);
    println!(
        "| {} | {:.2} | {:.0} | {:.0} | {:.0} | {:.2} | {:.2} |",
        workload.name(),
        1e3 / ns,
        ns,
        ns * drives[0].requests as f64 / drives[0].events as f64,
        median(&mut floors),
        median(&mut ratios),
        drives[0].waf,
    );
    eprintln!("{}: ready in {:.2} s", workload.name(), started.as_secs_f64());
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
