//! The tests of random requests: IOPS by size and mix, and latency with one request at a time.

use super::rig::Rig;
use super::rounds::{self, Point, Rounds, Variable};
use super::stimulus::{Addresses, Stimulus};
use super::test_progress::TestProgress;

/// Request sizes of the IOPS test in bytes, in the order of a round.
pub const IOPS_SIZES: [u32; 8] =
    [1 << 20, 128 << 10, 64 << 10, 32 << 10, 16 << 10, 8 << 10, 4096, 512];
/// Shares of reads in the IOPS test, in the order of a round.
pub const IOPS_READS: [f64; 7] = [1.0, 0.95, 0.65, 0.5, 0.35, 0.05, 0.0];
/// Request sizes of the latency test in bytes, in the order of a round.
pub const LATENCY_SIZES: [u32; 3] = [8 << 10, 4096, 512];
/// Shares of reads in the latency test, in the order of a round.
pub const LATENCY_READS: [f64; 3] = [1.0, 0.65, 0.0];
/// Request size in bytes whose pure writes must become steady in the IOPS and latency tests.
const TRACKED: u32 = 4096;

/// Results of the IOPS or the latency test: random requests of every size with every share of
/// reads.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix {
    /// Sizes of the random requests of the IOPS or latency test, in bytes, in the order of a round.
    pub sizes: Vec<u32>,
    /// Shares of reads (0 to 1) among the random requests of the IOPS or latency test, in the order
    /// of a round.
    pub reads: Vec<f64>,
    /// Measurements of the test's rounds. The loads of a round are ordered by share of reads, then
    /// by size.
    pub rounds: Rounds,
}

impl Matrix {
    /// Returns the index in a round of the load with this request size and share of reads, given
    /// by their indices.
    pub fn place(&self, size: usize, reads: usize) -> usize {
        reads * self.sizes.len() + size
    }
}

/// Runs a test of random requests, of every size with every share of reads. `None` if stopped.
pub(super) fn run(
    rig: &mut Rig<'_>,
    (sizes, reads): (&[u32], &[f64]),
    (threads, depth): (u32, u32),
    variable: Variable,
    progress: &TestProgress<'_>,
) -> Option<Matrix> {
    let point = |reads: f64, size: u32| Point {
        stimulus: Stimulus::of(Addresses::Uniform, reads, size),
        threads,
        depth,
        minutes: 1,
    };
    let points: Vec<Point> = reads
        .iter()
        .flat_map(|&reads| sizes.iter().map(move |&size| (reads, size)))
        .map(|(reads, size)| point(reads, size))
        .collect();
    let tracked =
        |point: &Point| point.stimulus.reads == 0.0 && point.stimulus.largest() == TRACKED;
    let tracked = points.iter().position(tracked).expect("4 KiB writes are an element");
    let rounds = rounds::run(rig, points, (tracked, variable), progress)?;
    Some(Matrix { sizes: sizes.to_vec(), reads: reads.to_vec(), rounds })
}
