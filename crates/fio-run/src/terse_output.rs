//! fio's terse output, version 3: a line for each job, semicolons between fields, times in
//! microseconds.

use super::json::{LIKE, of_whole, rates};
use super::plan::Direction;
use super::results::{Entry, Fio};
use super::stats::{Stage, Summary};
use fowler_units::escaped;
use std::fmt::Write;

const VERSION: u32 = 3;
/// Number of fields for latency percentiles of each direction on a line of fio's terse output;
/// unused fields are filled with zeros.
const PERCENTILES: usize = 20;

impl Fio {
    /// Returns the terse output: a line for each job.
    pub fn terse(&self) -> String {
        let mut text = String::new();
        for entry in &self.entries {
            job(&mut text, entry).expect("text grows");
        }
        text
    }
}

fn job(text: &mut String, entry: &Entry) -> std::fmt::Result {
    // A semicolon would shift every later field.
    let name = entry.name.replace([';', '\n'], "_");
    let name = escaped(&name);
    write!(text, "{VERSION};{LIKE};{name};{};{}", entry.group, entry.error)?;
    direction(text, entry, Direction::Read)?;
    direction(text, entry, Direction::Write)?;
    write!(text, ";{:.6}%;{:.6}%;0;0;0", 0.0, 0.0)?;
    let stats = &entry.stats;
    let all = stats.requests();
    let share = |count: u64| 100.0 * count as f64 / all.max(1) as f64;
    stats.depths.levels.iter().try_for_each(|&count| write!(text, ";{:.1}%", share(count)))?;
    // Latencies below a microsecond count in the place below two microseconds.
    let below: u64 = stats.table.ns.iter().sum();
    let mut us = stats.table.us;
    us[0] += below;
    us.iter().try_for_each(|&count| write!(text, ";{:.2}%", share(count)))?;
    stats.table.ms.iter().try_for_each(|&count| write!(text, ";{:.2}%", share(count)))?;
    writeln!(text)
}

fn direction(text: &mut String, entry: &Entry, which: Direction) -> std::fmt::Result {
    let done = &entry.stats.done[which];
    let ran_ms = if done.requests > 0 { entry.stats.ran_ms() } else { 0 };
    let (bytes_per_s, iops) = rates(done, ran_ms);
    let (kib, kib_per_s) = (done.bytes / 1024, bytes_per_s / 1024);
    write!(text, ";{kib};{kib_per_s};{};{ran_ms}", iops as u64)?;
    let of = |stage: Stage| &done.latencies[stage as usize];
    summary(text, &of(Stage::Submission).summary)?;
    summary(text, &of(Stage::Completion).summary)?;
    let percentiled = if entry.recorded.of[Stage::Completion as usize] {
        Stage::Completion
    } else {
        Stage::Total
    };
    let shares = &entry.recorded.percentiles;
    let known: Vec<(f64, u64)> = of(percentiled).buckets.percentiles(shares).collect();
    for place in 0..PERCENTILES {
        match known.get(place) {
            Some((share, ns)) => write!(text, ";{share:.6}%={}", ns / 1_000)?,
            None => write!(text, ";0%=0")?,
        }
    }
    summary(text, &of(Stage::Total).summary)?;
    let Summary { min, max, mean, .. } = done.bandwidth;
    write!(
        text,
        ";{min};{max};{:.6}%;{mean:.6};{:.6}",
        of_whole(done, ran_ms),
        done.bandwidth.deviation()
    )
}

/// Writes smallest, largest and mean latency and their deviation, in microseconds.
fn summary(text: &mut String, of: &Summary) -> std::fmt::Result {
    let (min, max) = (of.min / 1_000, of.max / 1_000);
    write!(text, ";{min};{max};{:.6};{:.6}", of.mean / 1e3, of.deviation() / 1e3)
}
