//! Random reads and writes by queue depth and number of jobs: protocols `samsung-980pro-reads` and
//! `sata-queue-depth`.
//!
//! Jobs run in a closed loop, each with `qd_per_job` requests in flight. Reads run on a drive that
//! was filled in order; writes of 60 s run on a drive that was written before, which is taken to be
//! in steady state.

use super::addresses::Addresses;
use super::bench::Findings;
use super::inputs::{count, refuse_open_loop};
use super::interference::of_fio;
use super::job::{ADAPTER, Job, Length, Needs, PINNED, POLLED, Role, State, StreamPlan};
use super::plan::{Plan, Simulated};
use crate::measurements::{Kind as FileKind, Pick};
use crate::streams::HostPath;
use fowler_metrics::Kind;
use fowler_units::Span;

const DEPTH_MOST: u32 = 65_536;
const JOBS_MOST: u32 = 1_024;
const BLOCK_MOST: u32 = 64 << 20;
const WARM_UP: Span = Span::ms(50);

pub(super) fn plan(pick: &Pick<'_>) -> Result<Plan, String> {
    let (jobs, depth) = (count(pick, "jobs", JOBS_MOST)?, count(pick, "qd_per_job", DEPTH_MOST)?);
    let block = match pick.row.number("block_bytes") {
        Some(_) => count(pick, "block_bytes", BLOCK_MOST)?,
        None => 4096,
    };
    if !block.is_multiple_of(512) {
        return Err(format!("`block_bytes` is {block}; expected a multiple of 512"));
    }
    let writes = match pick.row.text("op").as_deref() {
        None | Some("randread") => false,
        Some("randwrite") => true,
        Some(other) => return Err(format!("`op` is `{other}`; expected randread or randwrite")),
    };
    // A row that names its operation says it all; the others follow the protocol.
    let share = pick.file.facts("workload").write_share.filter(|_| pick.row.text("op").is_none());
    let share = share.unwrap_or(if writes { 1.0 } else { 0.0 });
    let writes = share > 0.0;
    refuse_open_loop(pick, "workload")?;
    let stream = StreamPlan {
        reads: 1.0 - share,
        ..StreamPlan::reads(Addresses::Uniform, block, depth, host(pick)?)
    };
    let word = if writes { "writes" } else { "reads" };
    let job = Job {
        name: format!("{jobs} x {depth} {word} of {block} B"),
        state: if writes { State::Steady } else { State::Sequential(1.0) },
        streams: vec![stream; jobs as usize],
        length: Length::Tail { warm_up: WARM_UP, turns: if writes { 2.0 } else { 0.0 } },
        needs: Needs::Tail,
    };
    let extreme = "a minimum or maximum depends on the length of the measurement";
    let left_out = vec![("min_us", extreme), ("max_us", extreme)];
    Ok(Plan { jobs: vec![job], read, left_out })
}

/// Returns the host path of the measurement: the time that a request spends in the host.
fn host(pick: &Pick<'_>) -> Result<HostPath, String> {
    match pick.row.text("engine").as_deref() {
        Some("spdk") => Ok(POLLED),
        Some("io_uring" | "libaio") => Ok(PINNED),
        Some(other) => Err(format!("`engine` is `{other}`; expected io_uring, libaio or spdk")),
        None if pick.file.kind == FileKind::DepthGrid => Ok(ADAPTER),
        None => Ok(PINNED),
    }
}

fn read(_: &Pick<'_>, findings: &[&Findings]) -> Vec<Simulated> {
    let it = findings[0];
    let (read, write) =
        (it.latencies(Role::Probe, Kind::Read), it.latencies(Role::Probe, Kind::Write));
    let (kind, tally) = match read.count() {
        0 => (Kind::Write, write),
        _ => (Kind::Read, read),
    };
    let all = (0.0, 1.0);
    let mut simulated = vec![
        Simulated::new("iops", it.iops(None, kind, all)),
        Simulated::new("mb_s", it.mb_s(kind, all)),
    ];
    simulated.extend(of_fio(tally, ""));
    simulated
}
