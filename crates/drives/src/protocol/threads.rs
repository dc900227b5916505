//! Throughput by the number of threads: protocol `peak-by-threads`.
//!
//! Threads with the requests in flight that the protocol states, each over a 4 GiB file of its own,
//! until each has moved 4 GiB. The drive is full of other files and was not preconditioned, so
//! writes of a few seconds find erased blocks: the simulated drive is filled once, in order.

use super::addresses::Addresses;
use super::bench::Findings;
use super::inputs::{count, refuse_open_loop, user_bytes};
use super::interference::of_fio;
use super::job::{Job, Length, Needs, PINNED, Role, State, StreamPlan};
use super::plan::{Plan, Simulated};
use crate::measurements::Pick;
use fowler_metrics::Kind;
use fowler_units::Span;

const THREADS_MOST: u32 = 1_024;
const WARM_UP: Span = Span::ms(20);
/// Size of a thread's file in bytes.
const FILE: f64 = 4.0 * (1u64 << 30) as f64;

pub(super) fn plan(pick: &Pick<'_>) -> Result<Plan, String> {
    refuse_open_loop(pick, "workload")?;
    let (threads, kib) = (count(pick, "threads", THREADS_MOST)?, count(pick, "kib", 1 << 16)?);
    let drive = user_bytes(pick).ok_or("the capacity of the drive is not known")?;
    let op = pick.row.text("op").unwrap_or_default();
    let (addresses, reads) = match op.as_str() {
        "rand_read" => (Addresses::Uniform, 1.0),
        "rand_write" => (Addresses::Uniform, 0.0),
        "seq_read" => (Addresses::InOrder, 1.0),
        "seq_write" => (Addresses::InOrder, 0.0),
        other => {
            return Err(format!(
                "`op` is `{other}`; expected rand_read, rand_write, seq_read or seq_write"
            ));
        }
    };
    let depth = pick.file.facts("workload").depth.ok_or("`protocol.workload` states no `depth`")?;
    let files = (f64::from(threads) * FILE / drive).min(1.0);
    // Threads over files of their own are threads over all of them, where addresses are random.
    let stream = StreamPlan {
        reads,
        space: files,
        ..StreamPlan::reads(addresses, kib << 10, depth, PINNED)
    };
    let job = Job {
        name: format!("{threads} threads, {op} of {kib} KiB"),
        state: State::Sequential(1.0),
        streams: vec![stream; threads as usize],
        // Reads leave the drive as it is, so they may go on until their tail is known.
        length: match reads {
            0.0 => Length::Moved { times: files, counted_from: 0.0 },
            _ => Length::Tail { warm_up: WARM_UP, turns: 0.0 },
        },
        needs: if reads > 0.0 { Needs::Tail } else { Needs::Blocks },
    };
    let extreme = "a minimum or maximum depends on the length of the measurement";
    let left_out = vec![
        ("min_us", extreme),
        ("max_us", extreme),
        ("seconds", "follows from the size of the files"),
    ];
    Ok(Plan { jobs: vec![job], read, left_out })
}

fn read(pick: &Pick<'_>, findings: &[&Findings]) -> Vec<Simulated> {
    let it = findings[0];
    let writes = pick.row.text("op").is_some_and(|op| op.ends_with("write"));
    let kind = if writes { Kind::Write } else { Kind::Read };
    let all = (0.0, 1.0);
    let mut simulated = vec![
        Simulated::new("iops", it.iops(None, kind, all)),
        Simulated::new("mb_s", it.mb_s(kind, all)),
    ];
    simulated.extend(of_fio(it.latencies(Role::Probe, kind), ""));
    simulated
}
