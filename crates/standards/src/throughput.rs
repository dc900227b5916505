//! The throughput test: sequential reads and writes of large blocks.

use super::rig::Rig;
use super::rounds::{self, Point, Rounds, Variable};
use super::stimulus::{Addresses, Stimulus};
use super::test_progress::TestProgress;

/// Request sizes of the throughput test in bytes. The drive is purged, preconditioned and brought
/// to steady state for each.
pub const SIZES: [u32; 2] = [128 << 10, 1 << 20];
/// Index of the load of reads in a round of the throughput test.
pub const READ: usize = 0;
/// Index, from 0, of the load that writes among the loads of a round of the throughput test.
pub const WRITE: usize = 1;

/// Runs the rounds of the throughput test with one request size. `None` if stopped.
pub(super) fn run(
    rig: &mut Rig<'_>,
    size: u32,
    (threads, depth): (u32, u32),
    progress: &TestProgress<'_>,
) -> Option<Rounds> {
    let point = |reads: f64| Point {
        stimulus: Stimulus::of(Addresses::Sequential, reads, size),
        threads,
        depth,
        minutes: 1,
    };
    rounds::run(rig, vec![point(1.0), point(0.0)], (WRITE, Variable::Throughput), progress)
}
