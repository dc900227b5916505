//! Steady write throughput by address pattern: protocol `write-patterns`.
//!
//! The drive was erased and filled once in order. Then the threads of the protocol write 4 KiB by
//! the address pattern, for several drive writes; or one thread writes 512 KiB, one request at a
//! time, into open zones. The result is the mean over 60 to 99 % of the run.

use super::addresses::{Addresses, Ranks};
use super::bench::Findings;
use super::estimate::Estimate;
use super::inputs::{count, number, positive, refuse_open_loop, user_bytes};
use super::job::{self, Job, KERNEL, Length, Needs, Role, State, StreamPlan};
use super::latency::as_counted;
use super::plan::{Plan, Simulated};
use crate::measurements::Pick;
use fowler_metrics::Kind;

/// Part of the run that is measured, as shares (0 to 1) of its time.
pub(super) const STEADY: (f64, f64) = (0.6, 0.99);
/// Largest amount of data that a measured row may write to the drive, in capacities of the drive.
const TIMES_MOST: f64 = 100.0;
/// Largest number of open zones that a measured row of zoned writes may state.
const OPEN_MOST: u32 = 65_536;
/// Largest number of sets of pages, each with a size and a share of the writes, that a measured row
/// may state.
const SETS_MOST: usize = 1_000;

pub(super) fn plan(pick: &Pick<'_>) -> Result<Plan, String> {
    let times = positive(pick, "overwritten_x_device", TIMES_MOST)?;
    let block = block(pick)?;
    let pattern = pick.row.text("pattern").unwrap_or_default();
    let addresses = addresses(pick, &pattern)?;
    let (threads, slots) = closed_loop(pick, "patterns_4k")?;
    let own = match addresses {
        Addresses::Zones { .. } => {
            only_writes(pick, "seq_zones")?;
            // Without words on it, one request is in flight.
            let facts = pick.file.facts("seq_zones");
            let (threads, slots) = (facts.threads.unwrap_or(1), facts.depth.unwrap_or(1));
            written(&pattern, addresses, (threads as usize, slots, block), times)
        }
        _ => written(&pattern, addresses, (threads, slots, block), times),
    };
    let mut jobs = vec![own, job::fill()];
    if pick.row.number("ratio_to_uniform").is_some() {
        jobs.push(written("uniform", Addresses::Uniform, (threads, slots, block), UNIFORM_TIMES));
    }
    let left_out = vec![
        ("steady_sd_mb_s", "the scatter of one-second samples"),
        ("curve", "shown beside the row, not compared number by number"),
    ];
    Ok(Plan { jobs, read, left_out })
}

/// Amount of data that the simulated benchmark job with uniformly random addresses writes, in
/// capacities of the drive, as the measured job did. The `ratio_to_uniform` of other address
/// patterns compares their throughput with that of this job.
const UNIFORM_TIMES: f64 = 5.0;

/// Returns the job that writes an address pattern after a sequential fill.
pub(super) fn written(
    pattern: &str,
    addresses: Addresses,
    (threads, slots, block): (usize, u32, u32),
    times: f64,
) -> Job {
    // Rows that were written 4.98 and 5 times need one job.
    let times = times.round().max(1.0);
    let detail = match &addresses {
        Addresses::Zipf { theta, .. } => format!(" {theta}"),
        Addresses::Sets(sets) | Addresses::Ranges(sets) => format!(" of {} sets", sets.len()),
        Addresses::Zones { open, .. } => format!(", {open} open"),
        Addresses::Uniform | Addresses::InOrder | Addresses::EachOnce => String::new(),
    };
    let needs = match addresses {
        Addresses::Zones { .. } => Needs::Pieces,
        _ => Needs::Blocks,
    };
    let stream = StreamPlan::writes(addresses, block, slots, KERNEL);
    Job {
        name: format!("{pattern}{detail}, written {times} times"),
        state: State::Sequential(1.0),
        streams: vec![stream; threads],
        length: Length::Moved { times, counted_from: STEADY.0 },
        needs,
    }
}

/// Returns the number of threads, and the writes in flight of each, that a section of a file's
/// protocol (`topic`) states.
pub(super) fn closed_loop(pick: &Pick<'_>, topic: &str) -> Result<(usize, u32), String> {
    let facts = pick.file.facts(topic);
    let missing = |key: &str| format!("`protocol.{topic}` states no `{key}`");
    only_writes(pick, topic)?;
    let threads = facts.threads.ok_or_else(|| missing("threads"))?;
    Ok((threads as usize, facts.depth.ok_or_else(|| missing("depth"))?))
}

/// Refuses a section of a file's protocol that states reads or an open loop.
fn only_writes(pick: &Pick<'_>, topic: &str) -> Result<(), String> {
    if pick.file.facts(topic).write_share.is_some_and(|share| share < 1.0) {
        return Err(format!(
            "`protocol.{topic}` states a share of reads; only pure writes can be simulated for \
             this kind of measurement"
        ));
    }
    refuse_open_loop(pick, topic)
}

/// Returns the bytes of a request, as the key `io_kib` of the picked measured row states them.
pub(super) fn block(pick: &Pick<'_>) -> Result<u32, String> {
    Ok(count(pick, "io_kib", 1 << 20)? << 10)
}

fn addresses(pick: &Pick<'_>, pattern: &str) -> Result<Addresses, String> {
    match pattern {
        "uniform" => Ok(Addresses::Uniform),
        "zipf" => {
            Ok(Addresses::Zipf { theta: positive(pick, "theta", 10.0)?, ranks: Ranks::Permuted })
        }
        "zipf_of_fio" => {
            Ok(Addresses::Zipf { theta: positive(pick, "theta", 10.0)?, ranks: Ranks::Hashed })
        }
        "zones" | "zones_read_only" => sets(pick).map(Addresses::Sets),
        "ranges" => sets(pick).map(Addresses::Ranges),
        "seq_zones" => {
            let bytes = positive(pick, "zone_gib", 1e6)? * (1u64 << 30) as f64;
            let drive = user_bytes(pick).ok_or("the capacity of the drive is not known")?;
            let open = count(pick, "active_zones", OPEN_MOST)?;
            if bytes > drive {
                return Err(format!("`zone_gib` is {bytes} B, more than the drive of {drive} B"));
            }
            Ok(Addresses::Zones { size: bytes / drive, open })
        }
        other => Err(format!(
            "the pattern `{other}` is not known; known are uniform, zipf, zipf_of_fio, zones, \
             zones_read_only, ranges and seq_zones"
        )),
    }
}

/// Returns the sets of pages into which a measured row divides the drive, each with its share (0 to
/// 1) of the pages and of the writes.
fn sets(pick: &Pick<'_>) -> Result<Vec<(f64, f64)>, String> {
    let mut sets = Vec::new();
    while pick.row.number(&format!("zones.{}.size", sets.len())).is_some() {
        let at = sets.len();
        let size = positive(pick, &format!("zones.{at}.size"), 1.0)?;
        let share = number(pick, &format!("zones.{at}.write_share"))?;
        if !(0.0..=1.0).contains(&share) {
            return Err(format!("`zones.{at}.write_share` is {share}; expected 0 to 1"));
        }
        sets.push((size, share));
        if sets.len() > SETS_MOST {
            return Err(format!("over {SETS_MOST} sets of pages"));
        }
    }
    if sets.iter().all(|&(_, share)| share == 0.0) {
        return Err("no set of `zones` is written".into());
    }
    Ok(sets)
}

fn read(_: &Pick<'_>, findings: &[&Findings]) -> Vec<Simulated> {
    let (it, fill) = (findings[0], findings[1]);
    let steady = it.mb_s(Kind::Write, STEADY);
    let sequential = fill.mb_s(Kind::Write, (0.0, 1.0));
    let mut simulated = throughput(it);
    simulated.extend([
        Simulated::new("ratio_to_sequential", steady.over(sequential)),
        Simulated::new("implied_waf", sequential.over(steady)),
        Simulated::new("sequential_mb_s", sequential),
    ]);
    if let Some(uniform) = findings.get(2) {
        let ratio = steady.over(uniform.mb_s(Kind::Write, STEADY));
        simulated.push(Simulated::new("ratio_to_uniform", ratio));
    }
    simulated
}

/// Returns the numbers that every row of write throughput has: throughput and write amplification.
pub(super) fn throughput(it: &Findings) -> Vec<Simulated> {
    let middle = (STEADY.0 + STEADY.1) / 2.0;
    let halves = [(STEADY.0, middle), (middle, STEADY.1)];
    let [first, second] = halves.map(|half| it.mb_s(Kind::Write, half));
    let mut simulated = vec![
        Simulated::new("steady_mb_s", it.mb_s(Kind::Write, STEADY)),
        Simulated::new("steady_iops", it.iops(None, Kind::Write, STEADY)),
        Simulated::new("trend", Estimate::bare(second.value / first.value)),
    ];
    let [p50, p999] = it.latencies(Role::Load, Kind::Write).quantiles_us([0.5, 0.999]);
    let percentiles = [("write_us.p50", p50), ("write_us_p50", p50), ("write_us.p99.9", p999)];
    for (metric, quantile) in percentiles {
        if let Some(quantile) = quantile {
            simulated.push(Simulated::new(metric, as_counted(quantile)));
        }
    }
    if let Some((waf, copied)) = it.waf(STEADY) {
        simulated.push(Simulated::new("counted_waf", waf));
        simulated.push(Simulated::new("counted_nand_reads_per_host_byte", copied));
    }
    simulated
}
