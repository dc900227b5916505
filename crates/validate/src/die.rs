//! Validates one die under Poisson arrivals, with the same flash array that every drive uses.

use super::drives::{Drive, FLASHES, SUSPENSIONS, die_times};
use super::expectation::{Allowed, Group, Point, Row};
use super::spec::ValidateSpec;
use fowler_device::{ChipCommand, ChipOp, ChipResult, Config, run_chip};
use fowler_experiment::diagnostic::Diagnostics;
use fowler_experiment::sample::{interval, mean};
use fowler_experiment::workload::Control;
use fowler_theory::die::{self, DieTimes, Load, Suspension};
use fowler_units::{Nanos, Rng};

const LOADS: [f64; 3] = [0.3, 0.5, 0.7];
const READ_SHARES: [f64; 3] = [0.2, 0.5, 0.8];
const LOADS_OF_READS_ALONE: [f64; 4] = [0.3, 0.5, 0.7, 0.8];
/// Number of requests to a die in one replication. The first and the last 2 % are not measured: a
/// queue at 80 % load needs some hundred requests to forget its empty start, and the last requests
/// have fewer behind them.
const REPLICATION: usize = 100_000;
const MARGIN: usize = REPLICATION / 50;
/// For the full validation of one die: relative tolerance of the mean that theory predicts, and the
/// fewest requests that are simulated to measure that mean.
const FULL: (f64, f64) = (0.01, 1e6);
const QUICK: (f64, f64) = (0.03, 5e5);
/// Number of writes in a replication of a die that always has a write to do, and number of those
/// not measured at either end.
const WRITES: usize = 2_000;
const WRITES_MARGIN: usize = WRITES / 50;
/// Share of time that reads take on the die that always has a write to do.
const LOAD_OF_READS: f64 = 0.3;

const SUSPENSIONS_OF: &str = "suspensions of a write";

/// Function that returns the number measured for one simulated flash command that the validation
/// averages, such as the response time in microseconds.
type Measure = fn(&ChipCommand, &ChipResult) -> f64;

/// An expectation about the mean of a value: its name, its unit, the theoretical mean, the
/// operation, and the value to average.
#[derive(Clone, Copy)]
struct Mean(&'static str, &'static str, f64, ChipOp, Measure);

fn response(command: &ChipCommand, result: &ChipResult) -> f64 {
    (result.done - command.at).as_us()
}

fn service(_: &ChipCommand, result: &ChipResult) -> f64 {
    (result.done - result.start).as_us()
}

fn suspensions(_: &ChipCommand, result: &ChipResult) -> f64 {
    f64::from(result.suspensions)
}

/// Returns the mean times that theory predicts for the commands of a load to one die under a
/// scheme; empty if the load has no steady state.
fn means(scheme: &str, times: &DieTimes, load: &Load) -> Vec<Mean> {
    let both = |means: Option<die::Means>| {
        means.map_or_else(Vec::new, |means| {
            vec![
                Mean("read mean", "us", means.read, ChipOp::Read, response),
                Mean("write mean", "us", means.write, ChipOp::Write, response),
            ]
        })
    };
    let suspended = |suspension: Suspension| {
        suspension.means(times, load).map_or_else(Vec::new, |means| {
            vec![
                Mean("read mean", "us", means.read, ChipOp::Read, response),
                Mean("write, start to end", "us", means.completion, ChipOp::Write, service),
                Mean(SUSPENSIONS_OF, "", means.suspensions, ChipOp::Write, suspensions),
            ]
        })
    };
    match scheme {
        "fifo" if load.writes == 0.0 => die::md1(times.read, load.reads)
            .map(|mean| Mean("read mean", "us", mean, ChipOp::Read, response))
            .into_iter()
            .collect(),
        "fifo" => both(die::fifo(times, load)),
        "rps" => both(die::read_first(times, load)),
        "pes_ips" => suspended(Suspension::InterPhase),
        _ => suspended(Suspension::IntraPhase),
    }
}

/// Returns the number of replications, of [`REPLICATION`] requests each, after which the relative
/// standard error of each mean is a quarter of `tolerance`; at least `least` requests in all. At a
/// load of 0.7, the mean wait of a million requests scatters by 0.8 % or more.
///
/// Waits follow the planning formulas of Whitt ("Planning queueing simulations", Management Science
/// 35, 1989): the exact one for M/M/1, times `(1 + c^2) / 2` for service times with a squared
/// coefficient of variation of `c^2`, as in heavy traffic. Suspensions, of which theory expects
/// `suspensions` per request, scatter like the counts of a Poisson process: their number must be
/// one over the squared error.
fn replications(
    times: &DieTimes,
    (load, share): (f64, f64),
    suspensions: Option<f64>,
    (tolerance, least): (f64, f64),
) -> usize {
    let (read, write) = (times.read, times.write());
    let mean = share * read + (1.0 - share) * write;
    let square = share * read * read + (1.0 - share) * write * write;
    let variation = square / (mean * mean); // 1 + c^2
    let exponential =
        (2.0 + load * (5.0 + load * (load - 4.0))) / (load * (1.0 - load) * (1.0 - load));
    let wanted = (exponential * variation / 2.0).max(suspensions.map_or(0.0, |each| 1.0 / each));
    let error = tolerance / 4.0;
    let requests = (wanted / (error * error)).max(least);
    (requests / REPLICATION as f64).ceil() as usize
}

pub(super) fn points(spec: &ValidateSpec) -> Result<Vec<Point>, Diagnostics> {
    let effort = if spec.quick { QUICK } else { FULL };
    let mut points = Vec::new();
    for flash in FLASHES {
        let drive = |scheme: &str| Drive::new(flash, scheme, &[], spec);
        for load in LOADS_OF_READS_ALONE {
            let title = format!("{flash} fifo, load {load}, reads alone");
            points.push(poisson(title, &drive("fifo")?, "fifo", (load, 1.0), effort));
        }
        for scheme in ["fifo", "rps", "pes_ips", "pes_ipc"] {
            let drive = drive(scheme)?;
            for (load, share) in LOADS.iter().flat_map(|&it| READ_SHARES.map(|share| (it, share))) {
                let title = format!("{flash} {scheme}, load {load}, reads {:.0} %", 100.0 * share);
                points.push(poisson(title, &drive, scheme, (load, share), effort));
            }
        }
        for (scheme, suspension) in SUSPENSIONS {
            let count = if spec.quick { 10 } else { 100 };
            let title =
                format!("{flash} {scheme}, saturated with writes, read load {LOAD_OF_READS}");
            points.push(saturated(title, &drive(scheme)?, suspension, (count, effort.0)));
        }
    }
    Ok(points)
}

/// A Poisson process of flash commands at `rate` per microsecond, from time zero.
struct Poisson {
    rate: f64,
    at_us: f64,
    rng: Rng,
}

impl Poisson {
    /// Returns the Poisson process of one replication, which is equal for all schemes.
    fn new(rate: f64, replication: usize, stream: &str) -> Poisson {
        Poisson { rate, at_us: 0.0, rng: Rng::stream(replication as u64, stream) }
    }

    /// Returns the next flash command: a read with probability `reads`, otherwise a write.
    fn next(&mut self, reads: f64) -> ChipCommand {
        self.at_us -= libm::log(1.0 - self.rng.unit()) / self.rate;
        let op = if self.rng.chance(reads) { ChipOp::Read } else { ChipOp::Write };
        ChipCommand { at: Nanos((self.at_us * 1e3) as u64), op }
    }
}

fn poisson(
    title: String,
    drive: &Drive,
    scheme: &str,
    (load, share): (f64, f64),
    effort: (f64, f64),
) -> Point {
    let times = die_times(&drive.stated);
    let offered = Load::offered(&times, load, share);
    let expected = means(scheme, &times, &offered);
    let suspended = expected.iter().find(|Mean(what, ..)| *what == SUSPENSIONS_OF);
    let each = suspended.map(|Mean(_, _, mean, ..)| mean * (1.0 - share));
    let count = replications(&times, (load, share), each, effort);
    let config = drive.simulated.clone();
    // All schemes get the same arrivals; each load has a random stream of its own.
    let stream = format!("validate/die/{}/{load}/{share}", drive.flash);
    let name = title.clone();
    Point::new(Group::Die, title, move |control| {
        let mut samples = vec![Vec::new(); expected.len()];
        for replication in 0..count {
            if control.stopped() {
                return None;
            }
            let mut process = Poisson::new(offered.reads + offered.writes, replication, &stream);
            let commands: Vec<_> = (0..REPLICATION).map(|_| process.next(share)).collect();
            replicate(&config, &commands, &expected, &mut samples);
            control.served(REPLICATION as u64);
        }
        let rows =
            expected.iter().zip(&samples).map(|(&Mean(what, unit, theory, ..), sample)| Row {
                group: Group::Die,
                what: format!("{name}: {what}"),
                unit,
                theory,
                measured: mean(sample),
                half_width: interval(sample).map(|estimate| estimate.half_width),
                allowed: Allowed::within(effort.0),
                requests: (count * REPLICATION) as u64,
            });
        Some(rows.collect())
    })
}

fn replicate(
    config: &Config,
    commands: &[ChipCommand],
    expected: &[Mean],
    samples: &mut [Vec<f64>],
) {
    let results = run_chip(config, commands);
    let measured = MARGIN..commands.len() - MARGIN;
    for (&Mean(_, _, _, op, measure), sample) in expected.iter().zip(samples) {
        let (mut sum, mut count) = (0.0, 0.0);
        for (command, result) in commands[measured.clone()].iter().zip(&results[measured.clone()]) {
            if command.op == op {
                sum += measure(command, result);
                count += 1.0;
            }
        }
        sample.push(sum / count);
    }
}

/// Measures the write throughput of a die that always has a write to do, next to Poisson reads.
fn saturated(
    title: String,
    drive: &Drive,
    suspension: Suspension,
    (count, tolerance): (usize, f64),
) -> Point {
    let times = die_times(&drive.stated);
    let reads = LOAD_OF_READS / times.read;
    let capacity = suspension.write_capacity(&times, reads).expect("reads leave time for writes");
    let config = drive.simulated.clone();
    let stream = format!("validate/die/{}/saturated", drive.flash);
    let name = title.clone();
    Point::new(Group::Die, title, move |control: Control<'_>| {
        let (mut sample, mut requests) = (Vec::new(), 0);
        // Generate reads for twice as long as the writes should take, so that they outlast the
        // writes.
        let until = Nanos((2e3 * WRITES as f64 / capacity) as u64);
        for replication in 0..count {
            if control.stopped() {
                return None;
            }
            let write = ChipCommand { at: Nanos::ZERO, op: ChipOp::Write };
            let mut process = Poisson::new(reads, replication, &stream);
            let reads = std::iter::repeat_with(|| process.next(1.0)).take_while(|it| it.at < until);
            let commands: Vec<ChipCommand> =
                std::iter::repeat_n(write, WRITES).chain(reads).collect();
            let results = run_chip(&config, &commands);
            // Measure from the end of one write to the end of another: whole cycles with the reads
            // between them.
            let took = results[WRITES - 1].done - results[WRITES_MARGIN].done;
            sample.push((WRITES - 1 - WRITES_MARGIN) as f64 / took.as_s());
            requests += commands.len() as u64;
            control.served(commands.len() as u64);
        }
        Some(vec![Row {
            group: Group::Die,
            what: format!("{name}: writes"),
            unit: "per s",
            theory: capacity * 1e6,
            measured: mean(&sample),
            half_width: interval(&sample).map(|estimate| estimate.half_width),
            allowed: Allowed::within(tolerance),
            requests,
        }])
    })
}
