//! Latency of a light probe next to random writes of a given rate: protocol `latency-under-load`.
//!
//! The drive was filled in order, overwritten three times at random, and never trimmed. Threads of
//! a probe and of a load issue requests as the protocol states: number of threads, share of writes,
//! arrival law, requests in flight. A request that arrives while all slots of its thread are taken
//! waits before its latency is measured, so a saturated drive sees a closed loop.

use super::addresses::Addresses;
use super::bench::Findings;
use super::estimate::Estimate;
use super::inputs::positive;
use super::job::{Job, KERNEL, Length, Needs, Role, State, StreamPlan};
use super::plan::{Plan, Simulated};
use crate::measurements::{Arrivals, Pick};
use crate::streams::Pace;
use fowler_metrics::Kind;
use fowler_units::Span;

/// Highest request rate that is accepted from a file, per second.
const RATE_MOST: f64 = 1e8;
/// Time at the start of a run in which latencies are not recorded. The initial state is steady, so
/// only the buffer, the queues, and the blocks that GC keeps erased must settle.
const WARM_UP: Span = Span::ms(500);
/// Number of times that a block of every plane is filled before latencies are recorded.
const TURNS: f64 = 2.0;
/// Largest latency in the measurement's histogram in microseconds, whose buckets are 1 us wide; a
/// percentile is the upper edge of its bucket.
const CUT_US: f64 = 19_998.0;

pub(super) fn plan(pick: &Pick<'_>) -> Result<Plan, String> {
    let rate = positive(pick, "offered_write_iops", RATE_MOST)?;
    let (probe, load) = (stated(pick, "probe")?, stated(pick, "load")?);
    let of_probe = probe.rate.ok_or("`protocol.probe` states no `rate`")?;
    let probe_writes = of_probe * probe.write_share;
    // The rate that is offered counts the writes of the probe and all requests of the load.
    if rate <= probe_writes {
        return Err(format!(
            "`offered_write_iops`, which counts the writes of the probe, is {rate}; the probe alone writes {probe_writes} a second"
        ));
    }
    let mut streams = stream(&probe, of_probe, Role::Probe);
    streams.extend(stream(&load, rate - probe_writes, Role::Load));
    let job = Job {
        name: format!("probe beside {rate} writes/s"),
        state: State::Steady,
        streams,
        length: Length::Tail { warm_up: WARM_UP, turns: TURNS },
        needs: Needs::Tail,
    };
    Ok(Plan {
        jobs: vec![job],
        read,
        left_out: vec![
            ("read_us.min", "a minimum or maximum depends on the length of the measurement"),
            ("read_us.max", "a minimum or maximum depends on the length of the measurement"),
            ("write_us.min", "a minimum or maximum depends on the length of the measurement"),
            ("write_us.max", "a minimum or maximum depends on the length of the measurement"),
            ("spread_us", "the spread of three passes, not a property of the drive"),
        ],
    })
}

/// Numbers and arrivals that a latency measurement's protocol states about the threads of the
/// probe, whose latencies are recorded, or of the load.
struct Stated {
    threads: u32,
    depth: u32,
    write_share: f64,
    arrivals: Arrivals,
    /// Requests per second of all threads together.
    rate: Option<f64>,
}

fn stated(pick: &Pick<'_>, topic: &str) -> Result<Stated, String> {
    let facts = pick.file.facts(topic);
    let missing = |key: &str| format!("`protocol.{topic}` states no `{key}`");
    Ok(Stated {
        threads: facts.threads.ok_or_else(|| missing("threads"))?,
        depth: facts.depth.ok_or_else(|| missing("depth"))?,
        write_share: facts.write_share.ok_or_else(|| missing("write_share"))?,
        arrivals: facts.arrivals.ok_or_else(|| missing("arrivals"))?,
        rate: facts.rate,
    })
}

/// Returns the streams of threads that issue `rate` requests per second in all.
fn stream(stated: &Stated, rate: f64, role: Role) -> Vec<StreamPlan> {
    let gap = f64::from(stated.threads) / rate * 1e9;
    let gap = Span(gap.round().max(1.0) as u64);
    let stream = StreamPlan {
        role,
        reads: 1.0 - stated.write_share,
        pace: match stated.arrivals {
            Arrivals::Poisson => Pace::Poisson(gap),
            Arrivals::Fixed => Pace::Every(gap),
            Arrivals::Closed => Pace::Closed,
        },
        ..StreamPlan::writes(Addresses::Uniform, 4096, stated.depth, KERNEL)
    };
    vec![stream; stated.threads as usize]
}

const PERCENTILES: [(&str, f64); 6] =
    [("p10", 0.1), ("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999), ("p99.99", 0.9999)];

fn read(_: &Pick<'_>, findings: &[&Findings]) -> Vec<Simulated> {
    let it = findings[0];
    let all = (0.0, 1.0);
    let mut simulated = vec![
        Simulated::new("achieved_write_iops", it.iops(None, Kind::Write, all)),
        Simulated::new("achieved_read_iops", it.iops(None, Kind::Read, all)),
    ];
    for (kind, name) in [(Kind::Read, "read_us"), (Kind::Write, "write_us")] {
        let tally = it.latencies(Role::Probe, kind);
        if let Some(mean) = tally.mean_us() {
            simulated.push(Simulated::new(format!("{name}.mean"), mean));
        }
        let quantiles = tally.quantiles_us(PERCENTILES.map(|(_, p)| p));
        for ((percentile, _), quantile) in PERCENTILES.iter().zip(quantiles) {
            let Some(quantile) = quantile else { continue };
            simulated.push(Simulated::new(format!("{name}.{percentile}"), as_counted(quantile)));
        }
    }
    let load = it.latencies(Role::Load, Kind::Write).quantiles_us([0.5, 0.99, 0.999]);
    for (percentile, quantile) in ["p50", "p99", "p99.9"].iter().zip(load) {
        let Some(quantile) = quantile else { continue };
        let metric = format!("load_thread_write_us.{percentile}");
        simulated.push(Simulated::new(metric, as_counted(quantile)));
    }
    simulated
}

/// Returns a simulated latency as the measurement would report it: rounded up to 1 us, and cut at
/// the end of its histogram.
pub(super) fn as_counted(us: Estimate) -> Estimate {
    us.map(|us| (us.floor() + 1.0).min(CUT_US))
}
