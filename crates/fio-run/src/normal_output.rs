//! fio's normal output, followed by what Fowler adds.

use super::json::{of_whole, rates};
use super::plan::Direction;
use super::results::{Entry, Fio, criterion};
use super::stats::{BATCHES, BOUNDS, Depths, Done, LEVELS, Latency, Stage, Summary};
use fowler_device::Counters;
use fowler_experiment::numbers;
use fowler_units::escaped_lines;
use std::fmt::Write;

/// Width, in characters, of a number that is shortened with a unit prefix (such as `k`) in fio's
/// normal (human-readable) output.
const SHORT: usize = 4;
/// Number of latency percentiles on each line of fio's normal (human-readable) output.
const IN_A_LINE: usize = 4;
/// Number of latency classes, each with its share of requests, on each line of fio's normal
/// (human-readable) output.
const PLACES_IN_A_LINE: usize = 5;

impl Fio {
    /// Returns the result in fio's normal output, for people.
    pub fn normal(&self) -> String {
        let mut text = String::new();
        for entry in &self.entries {
            job(&mut text, entry).expect("text grows");
        }
        let groups = self.entries.iter().map(|entry| entry.group + 1).max().unwrap_or(0);
        for group in 0..groups {
            let of = self.entries.iter().filter(|entry| entry.group == group).collect::<Vec<_>>();
            status(&mut text, group, &of).expect("text grows");
        }
        self.about(&mut text).expect("text grows");
        // Names are the user's.
        escaped_lines(&text).into_owned()
    }

    /// Appends to `text` the drive and its write amplification, the host costs of requests, and
    /// notes about how the jobs were understood.
    fn about(&self, text: &mut String) -> std::fmt::Result {
        let outcome = &self.outcome;
        let layout = &outcome.drive.layout;
        writeln!(text, "\nFowler:")?;
        writeln!(
            text,
            "  drive     {}, scheme {}: {}, {}",
            outcome.drive.device,
            outcome.drive.scheme,
            numbers::bytes(layout.logical.0),
            outcome.precondition,
        )?;
        let waf = |counters: &Counters| match (counters.waf(), self.withheld(counters)) {
            (_, Some(reason)) => format!("withheld ({reason})"),
            (Some(waf), None) => format!("{waf:.3}"),
            (None, None) => "-".into(),
        };
        write!(text, "  WAF       {} in the whole run", waf(&outcome.counters))?;
        // A single group is the whole run.
        let groups = self.groups.iter().enumerate().filter(|_| self.groups.len() > 1);
        for (number, counters) in groups {
            let own = counters.as_ref().map_or("-".into(), waf);
            write!(text, "; {own} in group {number}")?;
        }
        writeln!(
            text,
            "\n  host      {} to hand over a request, {} to collect its answer, one core for each process (assumed)",
            self.costs.submission, self.costs.completion,
        )?;
        for (number, region) in self.regions.iter().enumerate() {
            let label = if number == 0 { "regions" } else { "" };
            let (from, length) = (region.start, numbers::bytes(region.length));
            writeln!(text, "  {label:<9} {}: {length} from byte {from}", region.name)?;
        }
        if !self.no_effect.is_empty() {
            writeln!(text, "  no effect {}", self.no_effect.join(", "))?;
        }
        self.notes.iter().try_for_each(|note| writeln!(text, "  note      {note}"))
    }
}

/// Returns a number in at most `places` characters, as fio prints it: `1383k`, `24.8k`.
fn short(value: u64, places: usize, base: u64, units: [&str; 6]) -> String {
    let (mut scaled, mut unit) = (value as f64, 0);
    let digits = |value: f64| (value.max(1.0).log10().floor() as usize) + 1;
    while digits(scaled.round()) > places && unit + 1 < units.len() {
        scaled /= base as f64;
        unit += 1;
    }
    let decimals = match unit {
        0 => 0,
        _ => places.saturating_sub(digits(scaled) + 1),
    };
    // Halves are rounded up.
    let one = 10_f64.powi(decimals as i32);
    format!("{:.decimals$}{}", (scaled * one).round() / one, units[unit])
}

const PLAIN: [&str; 6] = ["", "k", "M", "G", "T", "P"];
const BINARY: [&str; 6] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
const DECIMAL: [&str; 6] = ["B", "kB", "MB", "GB", "TB", "PB"];

fn size(bytes: u64) -> String {
    short(bytes, SHORT, 1024, BINARY)
}

fn both_rates(bytes_per_s: u64) -> String {
    format!("{}/s ({}/s)", size(bytes_per_s), short(bytes_per_s, SHORT, 1000, DECIMAL))
}

fn job(text: &mut String, entry: &Entry) -> std::fmt::Result {
    let Entry { name, group, processes, stats, .. } = entry;
    writeln!(
        text,
        "{name}: (groupid={group}, jobs={processes}): err={:2}: pid=0: Thu Jan  1 00:00:00 1970",
        entry.error
    )?;
    for which in Direction::ALL {
        if stats.done[which].requests > 0 {
            direction(text, entry, which)?;
        }
    }
    let all = stats.requests();
    for (unit, counts) in [
        ("nsec", &stats.table.ns[..]),
        ("usec", &stats.table.us[..]),
        ("msec", &stats.table.ms[..]),
    ] {
        table(text, unit, counts, all)?;
    }
    if stats.syncs.summary.count > 0 {
        writeln!(text, "  fsync/fdatasync/sync_file_range:")?;
        latency(text, "sync", &stats.syncs.summary)?;
        percentiles(text, "sync", &stats.syncs, &entry.recorded.percentiles)?;
    }
    writeln!(text, "  cpu          : usr=0.00%, sys=0.00%, ctx=0, majf=0, minf=0")?;
    depths(text, &stats.depths, all)?;
    let [reads, writes, trims] = Direction::ALL.map(|which| stats.done[which].requests);
    let syncs = stats.syncs.summary.count;
    writeln!(
        text,
        "     issued rwts: total={reads},{writes},{trims},{syncs} short=0,0,0,0 dropped=0,0,0,0"
    )?;
    let (latency, window, percentile) = entry
        .target
        .as_ref()
        .map_or((0, 0, 100.0), |it| (it.latency.0, it.window.0 / 1_000, it.percentile));
    writeln!(
        text,
        "     latency   : target={latency}, window={window}, percentile={percentile:.2}%, depth={}",
        entry.depth
    )?;
    if let Some((steady, found)) = &entry.steady {
        let attained = if found.attained { "yes" } else { "no" };
        writeln!(
            text,
            "  steadystate  : attained={attained}, {}, value={:.3}",
            criterion(steady),
            found.value
        )?;
    }
    Ok(())
}

fn direction(text: &mut String, entry: &Entry, which: Direction) -> std::fmt::Result {
    let (done, ran_ms) = (&entry.stats.done[which], entry.stats.ran_ms());
    let (bytes_per_s, iops) = rates(done, ran_ms);
    let name = if entry.recorded.unified { "mixed" } else { which.name() };
    writeln!(
        text,
        "  {name}: IOPS={}, BW={}({}/{ran_ms}msec)",
        short(iops as u64, SHORT, 1000, PLAIN),
        both_rates(bytes_per_s),
        size(done.bytes),
    )?;
    for stage in Stage::ALL {
        let latencies = &done.latencies[stage as usize];
        if latencies.summary.count > 0 {
            latency(text, stage.name(), &latencies.summary)?;
        }
    }
    for stage in Stage::ALL {
        let latencies = &done.latencies[stage as usize];
        if entry.recorded.of[stage as usize] && latencies.summary.count > 0 {
            percentiles(text, stage.name(), latencies, &entry.recorded.percentiles)?;
        }
    }
    samples(text, done, ran_ms)
}

fn samples(text: &mut String, done: &Done, ran_ms: u64) -> std::fmt::Result {
    let Summary { min, max, mean, count, .. } = done.bandwidth;
    if count > 0 {
        writeln!(
            text,
            "   bw (  KiB/s): min={min:5}, max={max:5}, per={:.2}%, avg={mean:5.2}, stdev={:5.2}, samples={count}",
            of_whole(done, ran_ms),
            done.bandwidth.deviation(),
        )?;
    }
    let Summary { min, max, mean, count, .. } = done.iops;
    if count > 0 {
        writeln!(
            text,
            "   iops        : min={min:5}, max={max:5}, avg={mean:5.2}, stdev={:5.2}, samples={count}",
            done.iops.deviation(),
        )?;
    }
    Ok(())
}

/// Returns the unit in which fio's normal (human-readable) output prints latencies that range from
/// `min` to `max` nanoseconds, and the length of that unit in nanoseconds.
fn unit(min: u64, max: u64) -> (&'static str, u64) {
    match (min, max) {
        (2_000_001.., 100_000_000..) => ("msec", 1_000_000),
        (2_001.., 100_000..) => ("usec", 1_000),
        _ => ("nsec", 1),
    }
}

fn latency(text: &mut String, name: &str, of: &Summary) -> std::fmt::Result {
    let (unit, ns) = unit(of.min, of.max);
    writeln!(
        text,
        "    {name:>4} ({unit}): min={}, max={}, avg={:5.2}, stdev={:5.2}",
        short(of.min / ns, 6, 1000, PLAIN),
        short(of.max / ns, 6, 1000, PLAIN),
        of.mean / ns as f64,
        of.deviation() / ns as f64,
    )
}

fn percentiles(text: &mut String, name: &str, of: &Latency, shares: &[f64]) -> std::fmt::Result {
    let all: Vec<(f64, u64)> = of.buckets.percentiles(shares).collect();
    let (Some(first), Some(last)) = (all.first(), all.last()) else { return Ok(()) };
    let (unit, ns) = unit(first.1, last.1);
    writeln!(text, "    {name} percentiles ({unit}):")?;
    let width = (last.1 / ns).to_string().len().max(4) + 1;
    let lines = all.chunks(IN_A_LINE);
    let count = lines.len();
    for (number, line) in lines.enumerate() {
        let cell = |(share, value): &(f64, u64)| format!("{share:5.2}th=[{:>width$}]", value / ns);
        let cells: Vec<String> = line.iter().map(cell).collect();
        let end = if number + 1 < count { "," } else { "" };
        writeln!(text, "     | {}{end}", cells.join(", "))?;
    }
    Ok(())
}

fn table(text: &mut String, unit: &str, counts: &[u64], all: u64) -> std::fmt::Result {
    let name = |place: usize| match place {
        10 => "2000".to_string(),
        11 => ">=2000".to_string(),
        _ => BOUNDS[place].to_string(),
    };
    let some = counts.iter().enumerate().filter(|&(_, &count)| count > 0);
    let cells: Vec<String> = some
        .map(|(place, &count)| {
            format!("{}={:.2}%", name(place), 100.0 * count as f64 / all.max(1) as f64)
        })
        .collect();
    let mut lines = cells.chunks(PLACES_IN_A_LINE);
    lines.try_for_each(|line| writeln!(text, "  lat ({unit})   : {}", line.join(", ")))
}

fn depths(text: &mut String, depths: &Depths, all: u64) -> std::fmt::Result {
    let line = |names: &[&str], counts: &[u64], all: u64| {
        let share = |&count: &u64| 100.0 * count as f64 / all.max(1) as f64;
        let cells = names.iter().zip(counts).map(|(name, it)| format!("{name}={:.1}%", share(it)));
        cells.collect::<Vec<_>>().join(", ")
    };
    let sum = |counts: &[u64]| counts.iter().sum::<u64>();
    writeln!(text, "  IO depths    : {}", line(&LEVELS, &depths.levels, all))?;
    let submits = line(&BATCHES, &depths.submits, sum(&depths.submits));
    writeln!(text, "     submit    : {submits}")?;
    let completes = line(&BATCHES, &depths.completes, sum(&depths.completes));
    writeln!(text, "     complete  : {completes}")
}

fn status(text: &mut String, group: usize, entries: &[&Entry]) -> std::fmt::Result {
    writeln!(text, "\nRun status group {group} (all jobs):")?;
    for which in Direction::ALL {
        let of: Vec<_> = entries
            .iter()
            .filter(|entry| entry.stats.done[which].requests > 0)
            .map(|entry| (&entry.stats.done[which], entry.stats.ran_ms()))
            .collect();
        let Some(longest) = of.iter().map(|&(_, ran_ms)| ran_ms).max() else { continue };
        let shortest = of.iter().map(|&(_, ran_ms)| ran_ms).min().unwrap_or(longest);
        let bytes: u64 = of.iter().map(|(done, _)| done.bytes).sum();
        let each: Vec<u64> = of.iter().map(|&(done, ran_ms)| rates(done, ran_ms).0).collect();
        let all = u128::from(bytes) * 1_000 / u128::from(longest.max(1));
        let (slow, fast) = (each.iter().min().unwrap_or(&0), each.iter().max().unwrap_or(&0));
        let decimal = |value: u64| short(value, SHORT, 1000, DECIMAL);
        let unified = entries.iter().any(|entry| entry.recorded.unified);
        let name = if unified { "MIXED".to_string() } else { which.name().to_uppercase() };
        writeln!(
            text,
            "  {name:>5}: bw={}, {}/s-{}/s ({}/s-{}/s), io={} ({}), run={shortest}-{longest}msec",
            both_rates(all as u64),
            size(*slow),
            size(*fast),
            decimal(*slow),
            decimal(*fast),
            size(bytes),
            decimal(bytes),
        )?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_as_short_as_fio_prints_them() {
        for (value, text) in [(0, "0"), (9_999, "9999"), (24_830, "24.8k"), (1_382_500, "1383k")] {
            assert_eq!(short(value, SHORT, 1000, PLAIN), text);
        }
        assert_eq!(size(22_650_880), "21.6MiB");
        assert_eq!(size(10_117_120), "9880KiB");
        assert_eq!(both_rates(5_662_720_000), "5400MiB/s (5663MB/s)");
        assert_eq!(short(14_166, 6, 1000, PLAIN), "14166");
        assert_eq!((unit(40, 14_166).0, unit(3_000, 100_000).0), ("nsec", "usec"));
    }
}
