//! Random reads next to sequential writes of a limited rate: protocol `read-write-interference`.
//!
//! One job writes 128 KiB in order, one request at a time, at a limited rate; another reads 4 KiB
//! at random with `read_qd` requests in flight. Both poll from user space. The drive is full, and
//! sequential overwrites leave GC little to copy.

use super::addresses::Addresses;
use super::bench::Findings;
use super::inputs::{count, number};
use super::job::{Job, Length, Needs, POLLED, Role, State, StreamPlan};
use super::plan::{Plan, Simulated};
use crate::measurements::Pick;
use crate::streams::Pace;
use fowler_metrics::Kind;
use fowler_units::Span;

const DEPTH_MOST: u32 = 65_536;
const LIMIT_MOST: f64 = 1e6;
const WRITE_BLOCK: u32 = 128 << 10;
/// Number of bytes in a MiB. `write_limit_mb_s` is in fio's unit, MiB/s.
const MIB: f64 = (1u64 << 20) as f64;
const WARM_UP: Span = Span::ms(300);

pub(super) fn plan(pick: &Pick<'_>) -> Result<Plan, String> {
    let depth = count(pick, "read_qd", DEPTH_MOST)?;
    let limit = number(pick, "write_limit_mb_s")?;
    if !(0.0..=LIMIT_MOST).contains(&limit) {
        return Err(format!("`write_limit_mb_s` is {limit}; expected 0 to {LIMIT_MOST}"));
    }
    let (block, writers) = (written_block(pick)?, pick.row.count("write_jobs", 64).unwrap_or(1));
    let mut streams = vec![StreamPlan::reads(Addresses::Uniform, 4096, depth, POLLED)];
    if limit > 0.0 {
        let gap = f64::from(block) * f64::from(writers) / (limit * MIB) * 1e9;
        let slots = pick.row.count("write_qd", DEPTH_MOST);
        let slots = slots.or(pick.file.facts("workload").depth).unwrap_or(1);
        let addresses = match pick.row.text("write_rw").as_deref() {
            None | Some("write") => Addresses::InOrder,
            Some("randwrite") => Addresses::Uniform,
            Some(other) => {
                return Err(format!("`write_rw` is `{other}`; expected write or randwrite"));
            }
        };
        let writer = StreamPlan {
            pace: Pace::Every(Span(gap.round().max(1.0) as u64)),
            ..StreamPlan::writes(addresses, block, slots, POLLED)
        };
        streams.extend(std::iter::repeat_n(writer, writers as usize));
    }
    let job = Job {
        name: format!("{depth} reads beside {limit} MiB/s of writes"),
        state: State::Sequential(1.0),
        streams,
        length: Length::Tail { warm_up: WARM_UP, turns: if limit > 0.0 { 1.0 } else { 0.0 } },
        needs: Needs::Tail,
    };
    let extreme = "a minimum or maximum depends on the length of the measurement";
    let left_out = ["read.min_us", "read.max_us", "write.min_us", "write.max_us"];
    Ok(Plan { jobs: vec![job], read, left_out: left_out.map(|key| (key, extreme)).into() })
}

fn written_block(pick: &Pick<'_>) -> Result<u32, String> {
    let Some(text) = pick.row.text("write_bs") else { return Ok(WRITE_BLOCK) };
    let kib: Option<u32> = text.strip_suffix('k').and_then(|number| number.parse().ok());
    let block = kib.filter(|kib| (4..=1 << 20).contains(kib)).map(|kib| kib << 10);
    block.ok_or_else(|| format!("`write_bs` is `{text}`; expected a size such as 128k"))
}

fn read(_: &Pick<'_>, findings: &[&Findings]) -> Vec<Simulated> {
    let it = findings[0];
    let mut simulated = Vec::new();
    for (name, role, kind) in
        [("read", Role::Probe, Kind::Read), ("write", Role::Load, Kind::Write)]
    {
        let tally = it.latencies(role, kind);
        if tally.count() == 0 {
            continue;
        }
        let all = (0.0, 1.0);
        simulated.push(Simulated::new(format!("{name}.iops"), it.iops(Some(role), kind, all)));
        simulated.push(Simulated::new(format!("{name}.mb_s"), it.mb_s(kind, all)));
        simulated.extend(of_fio(tally, &format!("{name}.")));
    }
    simulated
}

/// Returns mean and percentiles of simulated latencies, under the keys that a file of measurements
/// made from a fio result uses, such as `p99_us`.
pub(super) fn of_fio(tally: &super::tally::Tally, prefix: &str) -> Vec<Simulated> {
    let names = [
        ("p1_us", 0.01),
        ("p50_us", 0.5),
        ("p90_us", 0.9),
        ("p99_us", 0.99),
        ("p99.9_us", 0.999),
        ("p99.99_us", 0.9999),
    ];
    let mean = tally.mean_us().map(|mean| Simulated::new(format!("{prefix}mean_us"), mean));
    let quantiles = tally.quantiles_us(names.map(|(_, p)| p));
    let named = names.iter().zip(quantiles);
    let quantiles = named.filter_map(|((name, _), quantile)| {
        quantile.map(|quantile| Simulated::new(format!("{prefix}{name}"), quantile))
    });
    mean.into_iter().chain(quantiles).collect()
}
