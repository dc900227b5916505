//! `make bench`: requests per second and nanoseconds per flash event by workload, on 8 channels of 8
//! dies and 128 GiB of 4 KiB pages, each beside its *floor*: the same requests with only what no
//! event-driven simulator can do without.
//!
//! Rounds of drive and floor alternate, so that a machine whose speed drifts drifts for both; the
//! table gives the median of each and the median of the ratios round by round.

#![allow(clippy::disallowed_methods, reason = "a benchmark reads the clock of the machine")]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a benchmark says what it measured")]

mod drive;
mod floor;
mod memory;
mod parse;
mod requests;
mod traces;

use drive::{Measured, Workload};
use std::time::Instant;

const ROUNDS: usize = 5;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let flag = |name: &str| arguments.iter().any(|argument| argument == name);
    if flag("--memory") {
        return show_memory();
    }
    let rounds = if flag("--quick") { 1 } else { ROUNDS };
    let named: Vec<&String> = arguments.iter().filter(|a| !a.starts_with("--")).collect();
    let wanted = |name: &str| named.is_empty() || named.iter().any(|part| name.contains(*part));
    if flag("--parse") {
        return parse::show(rounds, wanted);
    }
    println!(
        "| workload | Mreq/s | ns/request | ns/flash event | floor ns/request | times the floor | WAF \
         | ready in s |"
    );
    println!("|---|--:|--:|--:|--:|--:|--:|--:|");
    for workload in Workload::ALL.into_iter().filter(|workload| wanted(workload.name())) {
        measure(workload, rounds);
    }
    for trace in traces::TRACES.into_iter().filter(|trace| wanted(trace.name)) {
        measure_trace(trace, rounds);
    }
}

/// Builds one preconditioned drive, serves a round on it, and says how much memory the process had.
fn show_memory() {
    let mut device = Workload::RandomWrite.drive();
    Workload::RandomWrite.serve(&mut device);
    let Some(peak) = memory::peak_bytes() else {
        return println!("this system does not tell how much memory a process has had");
    };
    let pages = f64::from(drive::geometry().pages());
    println!(
        "one drive of 128 GiB, preconditioned and run: resident at most {:.0} MB, {:.2} bytes per \
         physical page beyond 64 MB",
        peak as f64 / 1e6,
        (peak as f64 - 64e6) / pages
    );
}

fn measure(workload: Workload, rounds: usize) {
    let start = Instant::now();
    let fresh = workload.drive();
    let ready = start.elapsed().as_secs_f64();
    let (mut drives, mut floors) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        let measured = workload.run(&fresh);
        floors.push(floor::run(workload, &measured));
        drives.push(measured);
    }
    row(workload.name(), ready, &drives, &mut floors);
}

fn measure_trace(trace: traces::Trace, rounds: usize) {
    let start = Instant::now();
    let fresh = Workload::RandomRead.drive();
    let ready = start.elapsed().as_secs_f64();
    let Some(requests) = traces::load(trace, fresh.layout().logical.0) else {
        return println!("| {} | skipped: the trace is not here | | | | | | |", trace.name);
    };
    let (mut drives, mut floors) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        drives.push(drive::serve_trace(&fresh, &requests));
        floors.push(floor::run_trace(&requests));
    }
    row(trace.name, ready, &drives, &mut floors);
}

fn row(name: &str, ready: f64, drives: &[Measured], floors: &mut [f64]) {
    let mut per_request: Vec<f64> = drives.iter().map(Measured::ns_per_request).collect();
    let mut ratios: Vec<f64> = per_request.iter().zip(floors.iter()).map(|(d, f)| d / f).collect();
    let ns = median(&mut per_request);
    println!(
        "| {} | {:.2} | {:.0} | {:.0} | {:.0} | {:.2} | {:.2} | {:.2} |",
        name,
        1e3 / ns,
        ns,
        ns * drives[0].requests as f64 / drives[0].events as f64,
        median(floors),
        median(&mut ratios),
        drives[0].waf,
        ready,
    );
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
