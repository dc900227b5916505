//! Peak rates of client drives by the kernel's coefficient generator: protocol
//! `iocost-client-drives`.
//!
//! Six runs of 120 s over a file of 16 GiB: one request of 128 MiB, which the kernel splits, or 64
//! requests of 4 KiB in flight. The initial state of the measured drives is not known: the
//! simulated drive is filled once, in order.

use super::addresses::Addresses;
use super::bench::Findings;
use super::inputs::{positive, user_bytes};
use super::job::{FIO, Job, Length, Needs, State, StreamPlan};
use super::plan::{Plan, Simulated};
use crate::measurements::Pick;
use fowler_metrics::Kind;
use fowler_units::Span;

/// Size in bytes of the file on which the kernel's io.cost coefficient generator measures.
const FILE: f64 = 16.0 * (1u64 << 30) as f64;
/// Length of each run of the kernel's io.cost coefficient generator, in nanoseconds: 120 s.
const LASTS: Span = Span::ms(120_000);
/// Size in bytes of the requests into which the kernel splits one of 128 MiB: 1,280 KiB is its
/// usual limit (`max_sectors_kb`).
const CUT: u32 = 1_280 << 10;
/// Number of requests into which the kernel splits one of 128 MiB.
const CUTS: u32 = 102;
/// Number of requests of 4 KiB that the kernel's io.cost coefficient generator keeps in flight.
const SLOTS: u32 = 64;

/// Runs of the kernel's io.cost coefficient generator: name, reads or writes, true for sequential
/// addresses, bytes of a request, requests in flight.
const RUNS: [(&str, Kind, bool, u32, u32); 6] = [
    ("rbps_mb_s", Kind::Read, true, CUT, CUTS),
    ("rseqiops", Kind::Read, true, 4096, SLOTS),
    ("rrandiops", Kind::Read, false, 4096, SLOTS),
    ("wbps_mb_s", Kind::Write, true, CUT, CUTS),
    ("wseqiops", Kind::Write, true, 4096, SLOTS),
    ("wrandiops", Kind::Write, false, 4096, SLOTS),
];

pub(super) fn plan(pick: &Pick<'_>) -> Result<Plan, String> {
    let drive = match pick.row.number("size_gb") {
        None => user_bytes(pick).ok_or("the capacity of the drive is not known")?,
        Some(_) => positive(pick, "size_gb", 1e9)? * 1e9,
    };
    let measured = |name: &str| pick.row.number(&format!("measured.{name}")).is_some();
    if !RUNS.iter().any(|(name, ..)| measured(name)) {
        return Err("this submission has no run of the coefficient generator, only latencies \
            under memory pressure, which cannot be replayed"
            .into());
    }
    let job = |&(name, kind, in_order, block, depth): &(&str, Kind, bool, u32, u32)| {
        let addresses = if in_order { Addresses::InOrder } else { Addresses::Uniform };
        let stream = StreamPlan {
            reads: if kind == Kind::Read { 1.0 } else { 0.0 },
            space: (FILE / drive).min(1.0),
            ..StreamPlan::writes(addresses, block, depth, FIO)
        };
        Job {
            name: name.into(),
            state: State::Sequential(1.0),
            streams: vec![stream],
            length: match kind {
                Kind::Read => Length::Moved { times: READ_TIMES, counted_from: 0.1 },
                Kind::Write => Length::Lasting(LASTS),
            },
            needs: Needs::Blocks,
        }
    };
    let left_out = vec![("latency_under_load", "memory pressure of a host cannot be replayed")];
    Ok(Plan { jobs: RUNS.iter().map(job).collect(), read, left_out })
}

/// Amount of data read in each simulated run of the kernel's io.cost coefficient generator, in
/// capacities of the drive. The real runs last 120 s; reads do not change the drive, so less
/// suffices to find their rate.
const READ_TIMES: f64 = 0.1;

fn read(_: &Pick<'_>, findings: &[&Findings]) -> Vec<Simulated> {
    let rate = |(run, it): (&(&str, Kind, bool, u32, u32), &&Findings)| {
        let &(name, kind, ..) = run;
        let all = (0.0, 1.0);
        let estimate = match name.ends_with("mb_s") {
            true => it.mb_s(kind, all),
            false => it.iops(None, kind, all),
        };
        Simulated::new(format!("measured.{name}"), estimate)
    };
    RUNS.iter().zip(findings).map(rate).collect()
}
