//! The paper's worked examples on a one-chip drive: the order in which it serves waiting requests,
//! and the result of equation (1) for that order.

use super::paper::Paper;
use fowler_device::blame::Part;
use fowler_device::{Completion, Pacing};
use fowler_experiment::device::{DeviceSpec, Resolved, resolve};
use fowler_experiment::diagnostic::Diagnostics;
use fowler_experiment::scheme::Scheme;
use fowler_experiment::studies;
use fowler_experiment::workload::Control;
use fowler_units::{HostIo, HostOp, Nanos, Rng, Span};

/// Pages of W0 to W5 (Figure 2).
pub(super) const SIZES: [u32; 6] = [8, 2, 4, 2, 2, 4];
/// When the waiting requests arrive; longer than anything already in service takes.
const LATER: Span = Span::ms(3000);
/// The number of requests in the search for writes served before reads.
const RANDOM: u64 = 2000;

/// Returns the time per page of a write of this many pages in the example, in microseconds.
fn page_us(pages: u32) -> f64 {
    match pages {
        2 => 200.0,
        4 => 220.0,
        _ => 240.0,
    }
}

/// Equation (1): returns the mean response time of the example's writes, issued in this order.
pub(super) fn equation_1(order: &[usize]) -> f64 {
    let n = order.len() as f64;
    let term = |(place, &write): (usize, &usize)| {
        page_us(SIZES[write]) * f64::from(SIZES[write]) * (n - place as f64)
    };
    order.iter().enumerate().map(term).sum::<f64>() / n
}

/// Returns the mean of their completion times, one after another.
pub(super) fn mean_completion(order: &[usize]) -> f64 {
    let mut clock = 0.0;
    let completion = |&write: &usize| {
        clock += page_us(SIZES[write]) * f64::from(SIZES[write]);
        clock
    };
    order.iter().map(completion).sum::<f64>() / order.len() as f64
}

/// Returns a one-chip drive without data, on which no GC happens.
fn one_chip(paper: &Paper, scheme: &str) -> Result<Resolved, Diagnostics> {
    let set = [
        "geometry.channels=1",
        "geometry.chips_per_channel=1",
        "precondition.fill=0",
        "reliability.cycles=0",
        "policy.die_order.deadline=1280ms",
    ];
    let spec = paper.device(&set.map(String::from));
    resolve(&spec.source()?, &Scheme::load(scheme)?, &spec)
}

fn served(drive: &Resolved, requests: Vec<HostIo>) -> Result<Vec<Completion>, Diagnostics> {
    let mut completions: Vec<Completion> = Vec::new();
    let mut device = studies::drive(&drive.device, &drive.config, Control::UNWATCHED)?;
    device.run(requests, Pacing::Open, &mut completions);
    Ok(completions)
}

fn io(drive: &Resolved, at: Span, page: u64, pages: u32, op: HostOp) -> HostIo {
    let size = drive.config.geometry.page_size.0;
    HostIo::new(op, Nanos::ZERO + at, page * size, pages * size as u32)
}

/// Returns the order in which the six writes of Figure 2 complete, by their numbers. Another write
/// is in service when they arrive.
pub(super) fn figure_2(paper: &Paper, scheme: &str) -> Result<Vec<usize>, Diagnostics> {
    let drive = one_chip(paper, scheme)?;
    let mut requests = vec![io(&drive, Span::ZERO, 1000, 1, HostOp::Write)];
    let numbered = || SIZES.iter().zip((0..).step_by(16));
    requests.extend(
        numbered().map(|(&pages, page)| io(&drive, Span::us(1), page, pages, HostOp::Write)),
    );
    let completions = served(&drive, requests)?;
    let page = drive.config.geometry.page_size.0;
    let numbers = completions.iter().map(|its| (its.io.offset / page / 16) as usize);
    Ok(numbers.filter(|&number| number < SIZES.len()).collect())
}

/// Returns the order in which six waiting reads complete, by their numbers. R3's data was written
/// last, then those of R5, R0, R4, R1 and R2 (Figure 3).
pub(super) fn figure_3(paper: &Paper) -> Result<Vec<u64>, Diagnostics> {
    let drive = one_chip(paper, "rhio")?;
    let written = [2, 1, 4, 0, 5, 3].into_iter().zip(0u64..);
    let mut requests: Vec<HostIo> = written
        .map(|(page, turn)| io(&drive, Span::ms(200 * turn), page, 1, HostOp::Write))
        .collect();
    requests.push(io(&drive, Span::ms(2000), 6, 1, HostOp::Write));
    requests.push(io(&drive, LATER, 6, 1, HostOp::Read));
    requests.extend((0..6).map(|page| io(&drive, LATER, page, 1, HostOp::Read)));
    let page = drive.config.geometry.page_size.0;
    let completions = served(&drive, requests)?;
    let reads = completions.iter().filter(|its| its.io.op == HostOp::Read);
    Ok(reads.map(|its| its.io.offset / page).filter(|&read| read < 6).collect())
}

/// Returns when the chip started the only page of a request.
fn taken_up(its: &Completion) -> Nanos {
    let service = [Part::Sense, Part::Transfer, Part::SoftSensing, Part::Retry, Part::Program];
    let took: Span = service.iter().map(|&part| its.blame[part]).sum();
    Nanos(its.done.0 - took.0)
}

/// Counts writes started while an earlier read waited, and reads started while an earlier write
/// waited, for random one-page requests at a rate the chip cannot sustain.
pub(super) fn writes_before_reads(paper: &Paper) -> Result<(usize, usize), Diagnostics> {
    let drive = one_chip(paper, "rhio")?;
    let mut rng = Rng::stream(1, "rhio/reads");
    let mut at = 0;
    let requests = (0..RANDOM).map(|number| {
        at += rng.below(600_000);
        let op = if rng.chance(0.4) { HostOp::Read } else { HostOp::Write };
        let page = if op == HostOp::Write { number } else { rng.below(RANDOM) };
        io(&drive, Span(at), page, 1, op)
    });
    let completions = served(&drive, requests.collect())?;
    let of = |op: HostOp| {
        let waited = |its: &&Completion| its.io.op == op && its.latency() > Span::ZERO;
        completions.iter().filter(waited).map(|its| (its.io.at, taken_up(its))).collect::<Vec<_>>()
    };
    let (reads, writes) = (of(HostOp::Read), of(HostOp::Write));
    let (mut before, mut after) = (0, 0);
    for &(written, write) in &writes {
        for &(came, read) in &reads {
            before += usize::from(came < write && write < read);
            after += usize::from(written < came && read < write);
        }
    }
    Ok((before, after))
}

/// Returns the shortest deadline that a drive accepts, and the step to the next, in milliseconds.
pub(super) fn deadlines(paper: &Paper) -> Result<(u64, u64), Diagnostics> {
    let scheme = Scheme::load("rhio")?;
    let accepts = |count: &u64| {
        let spec: DeviceSpec = paper.device(&[format!("policy.die_order.deadline={count}ms")]);
        spec.source().is_ok_and(|source| resolve(&source, &scheme, &spec).is_ok())
    };
    let accepted: Vec<u64> = (1..=25).filter(accepts).collect();
    let shortest = accepted.first().copied().unwrap_or(0);
    Ok((shortest, accepted.get(1).map_or(0, |next| next - shortest)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_examples_come_out_as_printed() {
        let paper = Paper::open().unwrap();
        assert_eq!(figure_2(&paper, "noop").unwrap(), [0, 1, 2, 3, 4, 5]);
        let order = figure_2(&paper, "rhio").unwrap();
        assert_eq!(order, [1, 3, 4, 2, 5, 0]);
        assert_eq!(format!("{:.1}", equation_1(&order)), "2053.3");
        assert_eq!(equation_1(&[0, 1, 2, 3, 4, 5]), 3320.0);
        for order in [vec![0, 1, 2, 3, 4, 5], order] {
            assert!((equation_1(&order) - mean_completion(&order)).abs() < 1e-9);
        }
        assert_eq!(figure_3(&paper).unwrap(), [3, 5, 0, 4, 1, 2]);
        assert_eq!(deadlines(&paper).unwrap(), (10, 10));
        let (before, after) = writes_before_reads(&paper).unwrap();
        assert!(before == 0 && after > 100, "{before} {after}");
    }
}
