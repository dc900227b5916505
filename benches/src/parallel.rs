//! How well independent runs use all cores. `fowler compare` and the studies work like this: they
//! distribute whole runs over the threads of rayon.
//!
//! On a shared machine wall time says little. The number of cores that the runs had shows that.
//! Processor time, compared with one run after another, shows how much the runs slow each other.

use crate::drive;
use crate::table::median;
use crate::workload::MIXED_IPC;
use fowler_units::Geometry;
use rayon::prelude::*;
use std::time::Instant;

const ROUNDS: usize = 3;
/// Number of runs for each core.
const RUNS: usize = 2;
const REQUESTS: u64 = 3_000_000;

/// Builds a drive and runs it, as every run of a comparison does. Returns the wall time in seconds.
fn run() -> f64 {
    let start = Instant::now();
    // 8 GiB, because there are as many drives in memory as cores.
    let geometry = Geometry { blocks_per_plane: 256, pages_per_block: 128, ..drive::geometry() };
    let mut device = MIXED_IPC.drive(geometry);
    let requests = MIXED_IPC.requests(&device, REQUESTS);
    drive::serve(&mut device, requests, MIXED_IPC.pacing());
    start.elapsed().as_secs_f64()
}

/// Times the same runs one after another and on all cores, and prints how well they used the cores.
pub fn print() {
    let cores = rayon::current_num_threads();
    let runs = RUNS * cores;
    println!(
        "| {runs} runs | shortest, s | one core, s | {cores} cores, s | efficiency | cores had | \
         processor time, one / all |"
    );
    println!("|---|--:|--:|--:|--:|--:|--:|");
    let mut efficiencies = Vec::new();
    for round in 1..=ROUNDS {
        let mut shortest = f64::INFINITY;
        let one = timed(|| (0..runs).for_each(|_| shortest = shortest.min(run())));
        let all = timed(|| {
            (0..runs).into_par_iter().for_each(|_| {
                run();
            });
        });
        let efficiency = one.wall / (cores as f64 * all.wall);
        println!(
            "| round {round} | {shortest:.2} | {:.2} | {:.2} | {:.1} % | {:.2} | {:.2} |",
            one.wall,
            all.wall,
            100.0 * efficiency,
            all.processor / all.wall,
            one.processor / all.processor
        );
        efficiencies.push(efficiency);
    }
    println!("\nmedian efficiency on {cores} cores: {:.1} %", 100.0 * median(&mut efficiencies));
}

/// Time that a set of runs took, in seconds.
struct Took {
    wall: f64,
    /// Processor time of the runs; NaN if the system does not report it.
    processor: f64,
}

fn timed(work: impl FnOnce()) -> Took {
    let (start, before) = (Instant::now(), processor_seconds());
    work();
    let processor = before.zip(processor_seconds()).map_or(f64::NAN, |(from, to)| to - from);
    Took { wall: start.elapsed().as_secs_f64(), processor }
}

/// Returns the processor time of this process so far in seconds, from the system's ticks of 10 ms
/// (Linux).
pub fn processor_seconds() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // User and system time are fields 14 and 15. Field 2, in parentheses, may contain spaces.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    let (user, system): (f64, f64) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
    Some((user + system) / 100.0)
}
