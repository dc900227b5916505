//! The ensemble of stand-ins: of the traces of which the paper prints four mean latencies and
//! nothing else, every workload found here that fits those four is as good as another.
//!
//! Two families: reads and writes in batches of their own, batches being independent; and busy
//! spells in which reads and writes mix, as in the excerpt of Financial1. Each is searched for the
//! latencies of Table 2 under FIFO; other schemes are never run here. Of all candidates within the
//! bound, members are chosen that are far from each other in their keys.

use super::search::{halton, nelder_mead};
use super::{IDLE, SOME_RATE, rounded};
use fowler_experiment::common_speed::{TestBed, Trial};
use fowler_experiment::device_spec::Source;
use fowler_experiment::diagnostic::Diagnostics;
use fowler_experiment::workload::{Control, WorkloadSpec};
use rayon::prelude::*;
use std::sync::atomic::AtomicBool;

/// The most that the sum of squares of the four residuals, in natural logarithms, may be: their
/// root mean square is a factor of 1.4. Assumed, before any gain was known.
const BOUND: f64 = 4.0 * 0.3365 * 0.3365;
/// The most members of the ensemble for each trace.
const MEMBERS: usize = 8;
/// Search effort for each family of spells: the number of even starts, of best starts that are
/// searched further, and of candidates in each such search.
const STARTS: u32 = 12;
const SEARCHED: usize = 2;
const CANDIDATES: usize = 11;
/// Largest accepted difference between a candidate's idle share and the target share `IDLE`, both
/// from 0 to 1.
const NEAR: f64 = 0.02;
/// Approximate number of pages that a candidate reads and writes on the SLC drive, and the range of
/// its number of requests.
const PAGES: f64 = 300_000.0;
const REQUESTS: std::ops::RangeInclusive<f64> = 15_000.0..=60_000.0;

/// The keys that differ between members.
#[derive(Clone, Copy, Debug)]
struct Shape {
    reads: f64,
    read_size: f64,
    read_batch: f64,
    write_size: f64,
    write_batch: f64,
    /// The rate in a busy spell over the mean rate, and the requests of a spell; zero for
    /// independent batches.
    peak: f64,
    spell: f64,
}

/// A trace: its name, Table 2's latencies of it (SLC read and write, MLC read and write, in ms),
/// the requests of its members, and its present stand-in.
struct Trace {
    name: &'static str,
    published: [f64; 4],
    requests: u64,
    stand_in: Shape,
}

const fn batches(sizes: [f64; 2], reads: f64, batch: [f64; 2]) -> Shape {
    let [read_size, write_size] = sizes;
    let [read_batch, write_batch] = batch;
    Shape { reads, read_size, read_batch, write_size, write_batch, peak: 0.0, spell: 0.0 }
}

#[rustfmt::skip]
const TRACES: [Trace; 4] = [
    Trace { name: "DAP", published: [1.92, 6.85, 5.74, 11.74], requests: 100_000,
        stand_in: batches([36_352.0, 65_536.0], 0.68, [35.0, 27.0]) },
    Trace { name: "MSN", published: [4.13, 4.58, 8.47, 25.21], requests: 300_000,
        stand_in: batches([18_944.0, 4096.0], 0.672, [151.0, 304.0]) },
    Trace { name: "C3", published: [0.25, 2.85, 0.52, 6.30], requests: 60_000,
        stand_in: batches([13_824.0, 65_536.0], 0.82, [1.0, 11.5]) },
    Trace { name: "C8", published: [0.44, 2.33, 0.56, 4.54], requests: 60_000,
        stand_in: batches([89_600.0, 65_536.0], 0.82, [1.0, 9.49]) },
];

/// A family: how the search's four numbers, logarithms, become a shape.
#[derive(Clone, Copy, Debug)]
enum Family {
    Batches { write_size: f64 },
    Spells { write_size: f64 },
}

/// In a spell, reads and writes come in batches as in the excerpt of Financial1.
const EXCERPT_BATCH: f64 = 1.7;
/// Sizes of writes in spells. Assumed: records, and the largest transfers of the time.
const WRITE_SIZES: [f64; 3] = [4096.0, 16_384.0, 65_536.0];

impl Family {
    fn name(self) -> &'static str {
        match self {
            Family::Batches { .. } => "batches",
            Family::Spells { .. } => "spells",
        }
    }

    /// The range of each number. No more reads than F2 has, the highest share by the paper.
    fn ranges(self) -> [[f64; 2]; 4] {
        let (reads, read_size) = ([0.05, 0.82], [512.0, 262_144.0]);
        match self {
            Family::Batches { .. } => [reads, read_size, [1.0, 400.0], [1.0, 400.0]],
            Family::Spells { .. } => [reads, read_size, [2.0, 1000.0], [4.0, 1500.0]],
        }
    }

    fn shape(self, logs: &[f64]) -> Shape {
        let ranges = self.ranges();
        let at = |axis: usize| logs[axis].exp().clamp(ranges[axis][0], ranges[axis][1]);
        let read_size = (at(1) / 512.0).round().max(1.0) * 512.0;
        let reads = rounded(at(0));
        let (a, b) = (rounded(at(2)), rounded(at(3)));
        match self {
            Family::Batches { write_size } => batches([read_size, write_size], reads, [a, b]),
            Family::Spells { write_size } => Shape {
                peak: a,
                spell: b,
                ..batches([read_size, write_size], reads, [EXCERPT_BATCH; 2])
            },
        }
    }

    /// An even start, away from the ends of the ranges.
    fn start(self, number: u32) -> Vec<f64> {
        let unit: [f64; 4] = halton(number);
        let ranges = self.ranges();
        let one = |axis: usize| {
            let [low, high] = ranges[axis].map(f64::ln);
            low + (high - low) * (0.1 + 0.8 * unit[axis])
        };
        (0..4).map(one).collect()
    }
}

impl Shape {
    /// Pages of `page` bytes that a request reads, and those that it writes, on average. A request
    /// at any sector touches one more than it fills.
    fn pages(&self, page: f64) -> [f64; 2] {
        let of = |size: f64| (size + page - 512.0) / page;
        [self.reads * of(self.read_size), (1.0 - self.reads) * of(self.write_size)]
    }

    /// Approximate time for which one request keeps dies busy, in microseconds. Pages of a stripe
    /// are programmed together: half the time for each.
    fn work(&self, drive: usize) -> f64 {
        let (page, read, write) = [(2048.0, 30.0, 80.0), (4096.0, 65.0, 350.0)][drive];
        let [reads, writes] = self.pages(page);
        reads * read + writes * write
    }

    /// Coordinates of the shape in the space of all shapes: the natural logarithms of the seven
    /// keys.
    fn place(&self) -> [f64; 7] {
        let Shape { reads, read_size, read_batch, write_size, write_batch, peak, spell } = *self;
        let spells = [peak.max(1.0), spell.max(1.0)];
        [reads, read_size, read_batch, write_size, write_batch, spells[0], spells[1]].map(f64::ln)
    }

    fn distance(&self, other: &Shape) -> f64 {
        self.place().iter().zip(other.place()).map(|(a, b)| (a - b) * (a - b)).sum()
    }

    /// The lines of a workload file.
    fn lines(&self, requests: u64, rate: f64) -> String {
        let Shape { reads, read_size, read_batch, write_size, write_batch, peak, spell } = *self;
        let (arrivals, persistence) = if peak > 0.0 {
            let busy_us = 1e6 * spell / (rate * peak);
            let quiet_us = busy_us * (peak - 1.0);
            let text = format!(
                "{{ kind = \"bursts\", busy_rate = {:?}, quiet_rate = 0.0, \
                 mean_busy = \"{:.0}us\", mean_quiet = \"{:.0}us\" }}",
                rounded(rate * peak),
                rounded(busy_us).max(1.0),
                rounded(quiet_us).max(1.0)
            );
            (text, 0.35)
        } else {
            (format!("{{ kind = \"poisson\", rate = {:?} }}", rounded(rate)), 0.0)
        };
        format!(
            "requests = {requests}\narrivals = {arrivals}\n\
             mix = {{ reads = {reads:?}, persistence = {persistence:?} }}\n\
             space = {{ share = 0.5, alignment = \"512B\" }}\n\
             reads = {{ batch = {read_batch:?}, sizes = \"{read_size}B\" }}\n\
             writes = {{ batch = {write_batch:?}, sizes = \"{write_size}B\" }}\n"
        )
    }

    fn workload(&self, requests: u64) -> WorkloadSpec {
        let text = self.lines(requests, SOME_RATE);
        WorkloadSpec::Generated(Source { name: "candidate".into(), text })
    }
}

/// A shape that was tried: its family, its factors, and the sum of squared residuals.
#[derive(Clone, Debug)]
struct Tried {
    family: Family,
    shape: Shape,
    factors: [f64; 2],
    reached: [f64; 4],
    cost: f64,
}

/// Estimates of the replay speed for each drive: the speed factor times the work of a request, in
/// microseconds.
type Speeds = [f64; 2];

/// Replays a shape at about the speed at which a drive idles as long as the paper says.
fn replayed(
    bed: &TestBed,
    workload: &WorkloadSpec,
    mut factor: f64,
    control: Control<'_>,
) -> Result<Option<(f64, Trial)>, Diagnostics> {
    for _ in 0..6 {
        let trial = bed.trial(workload, factor, control)?;
        if (trial.idle - IDLE).abs() <= NEAR {
            return Ok(Some((factor, trial)));
        }
        let idle = trial.idle.clamp(0.01, 0.999);
        factor *= (IDLE.ln() / idle.ln()).clamp(0.1, 10.0);
    }
    Ok(None)
}

fn tried(
    (trace, family, shape): (&Trace, Family, Shape),
    beds: &[TestBed],
    speeds: &mut Speeds,
    control: Control<'_>,
) -> Option<Tried> {
    let pages = shape.pages(2048.0).iter().sum::<f64>();
    let requests = (PAGES / pages).clamp(*REQUESTS.start(), *REQUESTS.end()) as u64;
    let workload = shape.workload(requests);
    let (mut factors, mut reached) = ([0.0; 2], [f64::NAN; 4]);
    for (drive, bed) in beds.iter().enumerate() {
        let first = speeds[drive] / shape.work(drive);
        // A workload that cannot be replayed is not a candidate.
        let (factor, trial) = replayed(bed, &workload, first, control).ok()??;
        speeds[drive] = factor * shape.work(drive);
        factors[drive] = factor;
        reached[2 * drive] = trial.read_ms?;
        reached[2 * drive + 1] = trial.write_ms?;
    }
    let square = |(ours, published): (&f64, f64)| (ours / published).ln().powi(2);
    let cost = reached.iter().zip(trace.published).map(square).sum();
    Some(Tried { family, shape, factors, reached, cost })
}

/// Everything that was tried of a family of a trace.
fn searched(trace: &Trace, family: Family, beds: &[TestBed], control: Control<'_>) -> Vec<Tried> {
    let mut all: Vec<Tried> = Vec::new();
    // At first such that dies are busy for a tenth of the time: 1e6 us, 16 dies, `SOME_RATE`.
    let mut speeds: Speeds = [0.1 * 16.0 * 1e6 / SOME_RATE; 2];
    let mut cost = |logs: &[f64]| {
        let found = tried((trace, family, family.shape(logs)), beds, &mut speeds, control);
        let cost = found.as_ref().map_or(1e9, |it| it.cost);
        all.extend(found);
        cost
    };
    let starts: Vec<Vec<f64>> = match family {
        Family::Batches { .. } => {
            let Shape { reads, read_size, read_batch, write_batch, .. } = trace.stand_in;
            vec![[reads, read_size, read_batch, write_batch].map(f64::ln).to_vec()]
        }
        Family::Spells { .. } => {
            let mut starts: Vec<(f64, Vec<f64>)> = (1..=STARTS)
                .map(|number| family.start(number))
                .map(|start| (cost(&start), start))
                .collect();
            starts.sort_by(|a, b| a.0.total_cmp(&b.0));
            starts.into_iter().take(SEARCHED).map(|(_, start)| start).collect()
        }
    };
    for start in starts {
        nelder_mead(&start, CANDIDATES, &mut cost);
    }
    all
}

/// The best of each family, then whoever is farthest from those chosen.
fn chosen(mut pool: Vec<Tried>) -> Vec<Tried> {
    pool.sort_by(|a, b| a.cost.total_cmp(&b.cost));
    pool.retain(|it| it.cost <= BOUND);
    let mut members: Vec<Tried> = Vec::new();
    for name in ["batches", "spells"] {
        members.extend(pool.iter().find(|it| it.family.name() == name).cloned());
    }
    let away = |it: &Tried, members: &[Tried]| {
        let nearest = members.iter().map(|other| it.shape.distance(&other.shape));
        nearest.fold(f64::MAX, f64::min)
    };
    while members.len() < MEMBERS {
        let farthest = pool.iter().max_by(|a, b| away(a, &members).total_cmp(&away(b, &members)));
        match farthest.filter(|it| away(it, &members) > 1e-6) {
            Some(next) => members.push(next.clone()),
            None => break,
        }
    }
    members.sort_by(|a, b| a.cost.total_cmp(&b.cost));
    members
}

/// Searches and prints the members of every trace, or of those in `wanted`.
pub fn write(beds: &[TestBed], wanted: &[String]) -> Result<(), Diagnostics> {
    let stop = AtomicBool::new(false);
    let control = Control { stop: &stop, progress: &|_| () };
    let asked = |trace: &&Trace| wanted.is_empty() || wanted.iter().any(|it| it == trace.name);
    let searches: Vec<(&Trace, Family)> = TRACES
        .iter()
        .filter(asked)
        .flat_map(|trace| {
            let batches = Family::Batches { write_size: trace.stand_in.write_size };
            let spells = WRITE_SIZES.map(|write_size| Family::Spells { write_size });
            [batches].into_iter().chain(spells).map(move |family| (trace, family))
        })
        .collect();
    let found: Vec<(&str, Vec<Tried>)> = searches
        .par_iter()
        .map(|&(trace, family)| (trace.name, searched(trace, family, beds, control)))
        .collect();
    for trace in TRACES.iter().filter(asked) {
        let of = |(name, _): &&(&str, Vec<Tried>)| *name == trace.name;
        let pool: Vec<Tried> = found.iter().filter(of).flat_map(|(_, all)| all.clone()).collect();
        let within = pool.iter().filter(|it| it.cost <= BOUND).count();
        println!(
            "\n# {}: {} candidates, {within} of them within the bound",
            trace.name,
            pool.len()
        );
        for member in chosen(pool) {
            print(trace, &member);
        }
    }
    Ok(())
}

/// Prints a member. Its rate is such that the factors are about those of the paper, 15.
fn print(trace: &Trace, member: &Tried) {
    let rate = SOME_RATE * (member.factors[0] * member.factors[1]).sqrt() / 15.0;
    println!("\n[[member]]");
    println!("trace = \"{}\"", trace.name);
    println!("family = \"{}\"", member.family.name());
    println!("# searched: {:.3?} ms, sum of squares {:.3}", member.reached, member.cost);
    println!("[member.workload]");
    print!("{}", member.shape.lines(trace.requests, rate));
}
