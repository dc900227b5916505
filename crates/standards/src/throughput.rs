//! The throughput test: sequential reads and writes of large blocks.

use super::rig::Rig;
use super::rounds::{self, Point, Rounds, Variable};
use super::stimulus::{Addresses, Stimulus};
use super::test_progress::TestProgress;

/// Sizes in bytes. Each has a purge, a preconditioning and a steady state of its own.
pub const SIZES: [u32; 2] = [128 << 10, 1 << 20];
/// Index of reads in a round.
pub const READ: usize = 0;
/// Index of writes in a round.
pub const WRITE: usize = 1;

/// Runs the rounds of one size. `None` if it was stopped.
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
