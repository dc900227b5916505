//! The latency of a light probe beside random writes of a rate: `latency-under-load`.
//!
//! The drive was filled in order, overwritten three times at random, and never trimmed. The probe
//! is one thread at fixed intervals of 100 us, a fair coin between reads and writes. Six threads
//! write at Poisson times, 1 % reads among them. Each has at most 64 requests in flight; what comes
//! while all are taken waits outside of the clock. A saturated drive therefore sees a closed loop.

use super::addresses::Addresses;
use super::bench::Findings;
use super::estimate::Estimate;
use super::inputs::positive;
use super::job::{Job, KERNEL, Length, Needs, Role, State, StreamPlan};
use super::plan::{Plan, Simulated};
use crate::measurements::Pick;
use crate::streams::Pace;
use fowler_metrics::Kind;
use fowler_units::Span;

/// The probe's operations a second, half of which are writes, and its interval.
const PROBE_WRITES: f64 = 5_000.0;
const PROBE_EVERY: Span = Span::us(100);
/// The threads that load the drive, the share of reads of each, and the slots of every thread.
const THREADS: u32 = 6;
const LOAD_READS: f64 = 0.01;
const SLOTS: u32 = 64;
/// The highest rate that is believed.
const RATE_MOST: f64 = 1e8;
/// Time for which answers do not count. The state before is steady, so that only the buffer, the
/// queues, and the blocks that GC has ready must settle.
const WARM_UP: Span = Span::ms(500);
/// Blocks of every plane that are filled before answers count.
const TURNS: f64 = 2.0;
/// Measured latencies were counted in buckets of 1 us and cut here; a percentile is the upper edge
/// of its bucket.
const CUT_US: f64 = 19_998.0;

pub(super) fn plan(pick: &Pick<'_>) -> Result<Plan, String> {
    let rate = positive(pick, "offered_write_iops", RATE_MOST)?;
    if rate <= PROBE_WRITES {
        return Err(format!(
            "`offered_write_iops` is {rate}; the probe alone writes {PROBE_WRITES} a second"
        ));
    }
    let probe = StreamPlan {
        reads: 0.5,
        pace: Pace::Every(PROBE_EVERY),
        ..StreamPlan::reads(Addresses::Uniform, 4096, SLOTS, KERNEL)
    };
    let gap = f64::from(THREADS) / (rate - PROBE_WRITES) * 1e9;
    let load = StreamPlan {
        reads: LOAD_READS,
        pace: Pace::Poisson(Span(gap.round().max(1.0) as u64)),
        ..StreamPlan::writes(Addresses::Uniform, 4096, SLOTS, KERNEL)
    };
    let mut streams = vec![probe];
    streams.extend(std::iter::repeat_n(load, THREADS as usize));
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
            ("read_us.min", "an extreme depends on how long is measured"),
            ("read_us.max", "an extreme depends on how long is measured"),
            ("write_us.min", "an extreme depends on how long is measured"),
            ("write_us.max", "an extreme depends on how long is measured"),
            ("spread_us", "the spread of three passes, not a property of the drive"),
        ],
    })
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

/// Returns a latency as the measurement counts it.
pub(super) fn as_counted(us: Estimate) -> Estimate {
    us.map(|us| (us.floor() + 1.0).min(CUT_US))
}
