//! Worked examples of the RHIO paper: Figure 2 on the whole drive with the pages of a request on
//! one chip, the others on a drive of a single chip.

use super::paper::Paper;
use crate::studies;
use fowler_device::blame::Part;
use fowler_device::{Completion, Pacing};
use fowler_experiment::device_spec::{DeviceSpec, Resolved, resolve};
use fowler_experiment::diagnostic::Diagnostics;
use fowler_experiment::scheme::Scheme;
use fowler_experiment::workload::Control;
use fowler_units::{Deadline, HostIo, HostOp, Nanos, Rng, Span};

/// Sizes in pages of the writes W0 to W5 in the RHIO paper's Figure 2.
pub(super) const SIZES: [u32; 6] = [8, 2, 4, 2, 2, 4];
/// Arrival time of the requests in worked examples of the RHIO paper that test the order of
/// service; the drive has completed all earlier requests by then.
const LATER: Span = Span::ms(3000);
/// Number of random one-page requests, more than the chip can sustain, that test RHIO's order of
/// service: writes must not start before reads that arrived earlier.
const RANDOM: u64 = 2000;

/// Returns the time per page of a write of `pages` pages in the example of the RHIO paper's Figure
/// 2, in microseconds.
fn page_us(pages: u32) -> f64 {
    match pages {
        2 => 200.0,
        4 => 220.0,
        _ => 240.0,
    }
}

/// Returns the mean response time in microseconds of the writes in the RHIO paper's Figure 2 when
/// issued in this order, by its equation (1); `page` gives the time per page for a number of pages.
fn equation_1(order: &[usize], page: impl Fn(u32) -> f64) -> f64 {
    let n = order.len() as f64;
    let term = |(place, &write): (usize, &usize)| {
        page(SIZES[write]) * f64::from(SIZES[write]) * (n - place as f64)
    };
    order.iter().enumerate().map(term).sum::<f64>() / n
}

/// Results of serving the writes of the RHIO paper's Figure 2 on a simulated drive.
pub(super) struct Served {
    /// Numbers (0 to 5) of the six writes of the RHIO paper's Figure 2, in order of completion.
    pub order: Vec<usize>,
    /// Mean response time of the writes in microseconds.
    pub mean: f64,
    /// Mean response time of the writes by equation (1) of the RHIO paper, for the simulated order
    /// and the drive's own time per page, in microseconds.
    pub expected: f64,
}

impl Served {
    /// Returns the mean response time of the writes in the RHIO paper's Figure 2 by its equation
    /// (1), for the simulated order and the paper's times per page, in microseconds.
    pub fn printed(&self) -> f64 {
        equation_1(&self.order, page_us)
    }
}

/// Returns the description of the RHIO paper's drive in full size and without stored data; `unit`
/// neighbouring pages lie on one chip.
fn whole_drive(
    paper: &Paper,
    scheme: &str,
    set: &[&str],
    unit: u32,
) -> Result<Resolved, Diagnostics> {
    let mut all = vec![
        format!("policy.placement.stripe_unit={unit}"),
        "precondition.fill=0".into(),
        "reliability.cycles=0".into(),
        // With 21 references every block of a new drive can take a coarse step, so that hot writes
        // would take less time per page than the one with which `expected` evaluates equation (1).
        "reliability.levels=2".into(),
        "policy.die_order.deadline=1280ms".into(),
    ];
    all.extend(set.iter().map(|it| (*it).to_string()));
    let spec = paper.device(&all);
    resolve(&spec.source()?, &Scheme::load(scheme)?, &spec)
}

/// Returns a drive of one chip without data, on which no GC happens, under RHIO with the order of
/// service `die_order`.
fn one_chip(paper: &Paper, die_order: &str) -> Result<Resolved, Diagnostics> {
    let mut set = vec![
        "geometry.channels=1".to_string(),
        "geometry.chips_per_channel=1".into(),
        "precondition.fill=0".into(),
        "reliability.cycles=0".into(),
        // The order sees only the requests that have a tag of NCQ.
        "queue.depth=1024".into(),
        format!("policy.die_order={die_order}"),
    ];
    if die_order == "rhio" {
        // Long enough that none of the requests without a deadline of their own is overdue.
        set.push("policy.die_order.deadline=1280ms".into());
    }
    let spec = paper.device(&set);
    resolve(&spec.source()?, &Scheme::load("rhio")?, &spec)
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

/// Serves the six writes of the RHIO paper's Figure 2, which arrive together on the whole drive.
/// `unit` neighbouring pages lie on one chip.
pub(super) fn figure_2(paper: &Paper, order: Order, unit: u32) -> Result<Served, Diagnostics> {
    let (scheme, set): (&str, &[&str]) = match order {
        Order::FirstCome => ("noop", &[]),
        Order::Alone => ("noop", &["policy.die_order=rhio"]),
        Order::Rhio => ("rhio", &[]),
    };
    let drive = whole_drive(paper, scheme, set, unit)?;
    let (size, chips) = (drive.config.geometry.page_size.0, drive.config.geometry.chips());
    // Distance in pages after which units as large as the largest write come to the same chip
    // again.
    let apart = u64::from(paper.whole_requests * chips);
    let writes = SIZES.iter().zip(0..);
    let requests = writes
        .map(|(&pages, number)| io(&drive, Span::ZERO, number * apart, pages, HostOp::Write))
        .collect();
    let completions = served(&drive, requests)?;
    let number = |completion: &Completion| (completion.io.offset / size / apart) as usize;
    let order: Vec<usize> = completions.iter().map(number).collect();
    let sum: Span = completions.iter().map(Completion::latency).sum();
    let timing = drive.config.effective_timing();
    let page = (timing.bus_transfer + timing.program(0)).as_us();
    let expected = equation_1(&order, |_| page);
    Ok(Served { order, mean: sum.as_us() / SIZES.len() as f64, expected })
}

/// Order in which the drive serves the six writes of Figure 2 in the paper on RHIO, an I/O
/// scheduler.
#[derive(Clone, Copy, Debug)]
pub(super) enum Order {
    /// Writes are served in order of arrival, as under the baseline NOOP.
    FirstCome,
    /// Writes are served in RHIO's order, without RHIO's other techniques.
    Alone,
    /// Writes are served under RHIO with all its techniques.
    Rhio,
}

/// Returns the numbers of six waiting reads in order of completion. The data of R3 was written
/// last, before it that of R5, R0, R4, R1 and R2 (Figure 3 of the RHIO paper).
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
    let reads = completions.iter().filter(|completion| completion.io.op == HostOp::Read);
    Ok(reads.map(|completion| completion.io.offset / page).filter(|&read| read < 6).collect())
}

/// Returns the time at which the chip started the only page of a request.
fn taken_up(completion: &Completion) -> Nanos {
    let service = [Part::Sense, Part::Transfer, Part::SoftSensing, Part::Retry, Part::Program];
    let took: Span = service.iter().map(|&part| completion.blame[part]).sum();
    Nanos(completion.done.0 - took.0)
}

/// Returns random one-page requests for the RHIO study's one-chip drive, at a rate higher than the
/// chip can sustain. With `deadlines`, some requests must be started within 10 to 40 ms.
fn overload(drive: &Resolved, deadlines: bool) -> Vec<HostIo> {
    let mut rng = Rng::stream(1, "rhio/reads");
    let mut at = 0;
    let requests = (0..RANDOM).map(|number| {
        at += rng.below(600_000);
        let op = if rng.chance(0.4) { HostOp::Read } else { HostOp::Write };
        let page = if op == HostOp::Write { number } else { rng.below(RANDOM) };
        let io = io(drive, Span(at), page, 1, op);
        let due = if deadlines && rng.chance(0.3) { 1 + rng.below(4) } else { 0 };
        if due > 0 { io.with_deadline(Deadline::after(Span::ms(10 * due))) } else { io }
    });
    requests.collect()
}

/// Counts writes started while an earlier read waited, and reads started while an earlier write
/// waited, under the order of service `die_order`.
pub(super) fn writes_before_reads(
    paper: &Paper,
    die_order: &str,
) -> Result<(usize, usize), Diagnostics> {
    let drive = one_chip(paper, die_order)?;
    let completions = served(&drive, overload(&drive, false))?;
    let of = |op: HostOp| {
        let waited =
            |completion: &&Completion| completion.io.op == op && completion.latency() > Span::ZERO;
        completions
            .iter()
            .filter(waited)
            .map(|completion| (completion.io.at, taken_up(completion)))
            .collect::<Vec<_>>()
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

/// Returns two counts: requests started while another request with an earlier, missed deadline
/// waited, and requests started after their own deadline. Some requests have deadlines of their
/// own.
pub(super) fn passed_when_overdue(paper: &Paper) -> Result<(usize, usize), Diagnostics> {
    let drive = one_chip(paper, "rhio")?;
    let completions = served(&drive, overload(&drive, true))?;
    let default = drive.config.die_order.deadline;
    let due = |completion: &Completion| {
        completion.io.at + completion.io.deadline.span().unwrap_or(default)
    };
    let waited = completions.iter().filter(|completion| completion.latency() > Span::ZERO);
    let all: Vec<[Nanos; 3]> = waited
        .map(|completion| [completion.io.at, due(completion), taken_up(completion)])
        .collect();
    let (mut passed, mut late) = (0, 0);
    for &[_, mine, began] in &all {
        late += usize::from(mine < began);
        for &[came, other, then] in &all {
            passed += usize::from(came < began && began < then && other < began && other < mine);
        }
    }
    Ok((passed, late))
}

/// Returns the shortest deadline that a drive accepts and the smallest step between deadlines, in
/// milliseconds.
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
        let unit = paper.whole_requests;
        for (order, expected, mean) in [
            (Order::FirstCome, [0, 1, 2, 3, 4, 5], "3320.0"),
            (Order::Alone, [1, 3, 4, 2, 5, 0], "2053.3"),
            (Order::Rhio, [1, 3, 4, 2, 5, 0], "2053.3"),
        ] {
            let figure = figure_2(&paper, order, unit).unwrap();
            assert_eq!(figure.order, expected, "{order:?}");
            assert_eq!(format!("{:.1}", figure.printed()), mean, "{order:?}");
            assert!((figure.mean - figure.expected).abs() < 1e-6, "{order:?}: {}", figure.mean);
        }
        // Striped page by page, the writes use many chips at once.
        let striped = figure_2(&paper, Order::FirstCome, 1).unwrap();
        assert!(striped.mean < 0.7 * striped.expected, "{} {}", striped.mean, striped.expected);
        assert_eq!(figure_3(&paper).unwrap(), [3, 5, 0, 4, 1, 2]);
        assert_eq!(deadlines(&paper).unwrap(), (10, 10));
        for (die_order, reads_first) in [("rhio", true), ("read_first", true), ("fifo", false)] {
            let (before, after) = writes_before_reads(&paper, die_order).unwrap();
            let (never, often) = if reads_first { (before, after) } else { (after, before) };
            assert!(never == 0 && often > 100, "{die_order}: {before} {after}");
        }
        let (passed, late) = passed_when_overdue(&paper).unwrap();
        assert!(passed == 0 && late > 100, "{passed} {late}");
    }
}
