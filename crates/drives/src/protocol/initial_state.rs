//! The time for which a fresh drive looks fast: protocol `initial-state`.
//!
//! The drive was erased, and then filled in order, filled in random order, or not filled. The
//! threads of the protocol write 4 KiB. The fills themselves are rows as well.

use super::addresses::{Addresses, Ranks};
use super::bench::Findings;
use super::inputs::positive;
use super::job::{Job, KERNEL, Length, Needs, State, StreamPlan};
use super::patterns::{STEADY, block, closed_loop, throughput};
use super::plan::{Plan, Simulated};
use crate::measurements::Pick;

const TIMES_MOST: f64 = 100.0;
/// Zipf exponent of measured rows that do not state one.
const THETA: f64 = 0.8;

pub(super) fn plan(pick: &Pick<'_>) -> Result<Plan, String> {
    let times = positive(pick, "overwritten_x_device", TIMES_MOST)?;
    let block = block(pick)?;
    let pattern = pick.row.text("pattern").unwrap_or_default();
    let theta = pick.row.number("theta").unwrap_or(THETA);
    if !(theta > 0.0 && theta <= 10.0) {
        return Err(format!("`theta` is {theta}; expected above 0, at most 10"));
    }
    let zipf = |ranks| Addresses::Zipf { theta, ranks };
    let (threads, most) = closed_loop(pick, "patterns")?;
    let (addresses, slots) = match pattern.as_str() {
        "uniform" => (Addresses::Uniform, most),
        "zipf-shuffle" => (zipf(Ranks::Permuted), most),
        "zipf-noshuffle" => (zipf(Ranks::InPlace), most),
        "fiozipf-shuffle" => (zipf(Ranks::Hashed), most),
        "sequential-noshuffle" => (Addresses::InOrder, 1),
        "sequential-shuffle" => (Addresses::EachOnce, most),
        other => {
            return Err(format!(
                "the pattern `{other}` is not known; known are uniform, zipf-shuffle, \
                 zipf-noshuffle, fiozipf-shuffle, sequential-noshuffle and sequential-shuffle"
            ));
        }
    };
    let state = match pick.row.text("init").as_deref() {
        Some("seq") => State::Sequential(1.0),
        Some("seqshuffle") => State::Shuffled,
        // A fill is of an empty drive.
        Some("none") | None => State::Empty,
        Some(other) => {
            return Err(format!("`init` is `{other}`; expected none, seq or seqshuffle"));
        }
    };
    let times = times.round().max(1.0);
    let job = Job {
        name: format!("{pattern}, written {times} times"),
        state,
        streams: vec![
            StreamPlan::writes(addresses, block, slots, KERNEL);
            if slots == 1 { 1 } else { threads }
        ],
        length: Length::Moved { times, counted_from: STEADY.0 },
        needs: Needs::Blocks,
    };
    let left_out = vec![("curve", "shown beside the row, not compared number by number")];
    Ok(Plan { jobs: vec![job], read, left_out })
}

fn read(_: &Pick<'_>, findings: &[&Findings]) -> Vec<Simulated> {
    throughput(findings[0])
}
