//! Write amplification and throughput by the share of the drive in use: protocol
//! `overprovisioning`.
//!
//! The first part of the drive was filled in order and is then overwritten uniformly with 4 KiB, in
//! a closed loop with the threads and requests in flight that the protocol states. All other blocks
//! stay erased, which adds over-provisioning.

use super::addresses::Addresses;
use super::bench::Findings;
use super::inputs::{positive, user_bytes};
use super::job::{Job, KERNEL, Length, Needs, State, StreamPlan};
use super::patterns::{STEADY, closed_loop, throughput};
use super::plan::{Plan, Simulated};
use crate::measurements::Pick;
use fowler_metrics::Kind;

const TIMES_MOST: f64 = 100.0;
/// Largest accepted ratio of the used size (`used_gib`) of a measured row to the drive's capacity.
/// It is above 1 because sizes in files are rounded.
const ROUNDED: f64 = 1.001;

pub(super) fn plan(pick: &Pick<'_>) -> Result<Plan, String> {
    let drive = user_bytes(pick).ok_or("the capacity of the drive is not known")?;
    let used = positive(pick, "used_gib", 1e9)? * (1u64 << 30) as f64;
    let times = positive(pick, "overwritten_x_used", TIMES_MOST)?.round().max(1.0);
    if used > drive * ROUNDED {
        return Err(format!(
            "the measured row uses {used} B, more than the drive's capacity of {drive} B"
        ));
    }
    let (threads, slots) = closed_loop(pick, "device_state")?;
    let share = (used / drive).min(1.0);
    let covering = |plan: StreamPlan| StreamPlan { space: share, ..plan };
    let writes = covering(StreamPlan::writes(Addresses::Uniform, 4096, slots, KERNEL));
    let own = Job {
        name: format!("{:.1} % in use, written {times} times", share * 100.0),
        state: State::Sequential(share),
        streams: vec![writes; threads],
        length: Length::Moved { times: times * share, counted_from: STEADY.0 },
        needs: Needs::Blocks,
    };
    let fill = Job {
        name: format!("sequential fill of {:.1} %", share * 100.0),
        state: State::Empty,
        streams: vec![covering(StreamPlan::writes(Addresses::InOrder, 512 << 10, 1, KERNEL))],
        length: Length::Moved { times: share, counted_from: 0.0 },
        needs: Needs::Blocks,
    };
    Ok(Plan { jobs: vec![own, fill], read, left_out: Vec::new() })
}

fn read(_: &Pick<'_>, findings: &[&Findings]) -> Vec<Simulated> {
    let (it, fill) = (findings[0], findings[1]);
    let mut simulated = throughput(it);
    if let Some((waf, _)) = it.waf((0.0, 1.0)) {
        simulated.push(Simulated::new("counted_waf_whole_run", waf));
    }
    if let Some((waf, _)) = fill.waf((0.0, 1.0)) {
        simulated.push(Simulated::new("counted_waf_of_the_fill", waf));
    }
    simulated.push(Simulated::new("fill_mb_s", fill.mb_s(Kind::Write, (0.0, 1.0))));
    simulated
}
