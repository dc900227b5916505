//! RHIO's order on whole drives: Figure 3, reads before writes, and deadlines that hold whatever is
//! reordered.

use crate::support::program_order::ProgramOrder;
use crate::support::small;
use crate::support::superblocks::{built, tiny};
use fowler_device::blame::Part;
use fowler_device::policy::die_order::{self, DieOrderKind};
use fowler_device::policy::placement::Dies;
use fowler_device::policy::redundancy::RedundancyKind;
use fowler_device::reliability::ModelKind;
use fowler_device::*;
use fowler_units::{Bytes, Deadline, HostIo, HostOp, Nanos, Rng, Span};

/// A drive of one chip with a channel of its own and no data; nothing is collected.
fn one_chip(deadline: Span) -> Config {
    let mut config = small();
    config.geometry.channels = 1;
    config.geometry.chips_per_channel = 1;
    config.geometry.planes_per_die = 1;
    config.geometry.blocks_per_plane = 512;
    config.buffer.size = Bytes(0);
    config.queue = QueueConfig { depth: 1024, max_reads: 1024, max_writes: 1024, ..config.queue };
    config.precondition.fill = 0.0;
    config.reliability.model = ModelKind::Analytic;
    config.die_order.name = DieOrderKind::Rhio;
    config.die_order.deadline = deadline;
    config
}

fn io(at: Span, page: u64, pages: u32, op: HostOp) -> HostIo {
    HostIo::new(op, Nanos::ZERO + at, page * 4096, pages * 4096)
}

fn served(config: &Config, requests: &[HostIo]) -> Vec<Completion> {
    let mut completions: Vec<Completion> = Vec::new();
    let mut device = Device::new(config).unwrap_or_else(|why| panic!("{why:?}"));
    device.run(requests.iter().copied(), Pacing::Open, &mut completions);
    completions
}

/// Six reads wait for one chip; the page of R3 was written last, then those of R5, R0, R4, R1, R2.
#[test]
fn figure_3_the_youngest_data_is_read_first() {
    let written = [2, 1, 4, 0, 5, 3];
    let mut requests: Vec<HostIo> = written
        .iter()
        .enumerate()
        .map(|(turn, &page)| io(Span::ms(200 * turn as u64), page, 1, HostOp::Write))
        .collect();
    // One read is being served when the six arrive.
    requests.push(io(Span::ms(2000), 6, 1, HostOp::Write));
    requests.push(io(Span::ms(3000), 6, 1, HostOp::Read));
    requests.extend((0..6).map(|page| io(Span::ms(3000), page, 1, HostOp::Read)));
    let completions = served(&one_chip(Span::ms(1280)), &requests);
    let read: Vec<u64> = completions
        .iter()
        .filter(|completion| completion.io.op == HostOp::Read)
        .map(|completion| completion.io.offset / 4096)
        .collect();
    assert_eq!(read, [6, 3, 5, 0, 4, 1, 2]);
}

/// Returns when the chip took up the only page of a request.
fn taken_up(completion: &Completion) -> Nanos {
    let service = [Part::Sense, Part::Transfer, Part::SoftSensing, Part::Retry, Part::Program];
    let took: Span = service.iter().map(|&part| completion.blame[part]).sum();
    Nanos(completion.done.0 - took.0)
}

/// Returns when the only page of a request began to wait for the chip.
fn entered(completion: &Completion) -> Nanos {
    completion.io.at + completion.blame[Part::QueueFull] + completion.blame[Part::BufferFull]
}

/// Returns requests for one page each, at twice the rate that the chip can serve. No page is
/// written twice: a write would join one that waits.
fn overload(rng: &mut Rng, count: u64) -> Vec<HostIo> {
    let mut at = 0;
    (0..count)
        .map(|number| {
            at += rng.below(100_000);
            let op = if rng.chance(0.4) { HostOp::Read } else { HostOp::Write };
            let page = if op == HostOp::Write { number } else { rng.below(count) };
            io(Span(at), page, 1, op)
        })
        .collect()
}

/// No request past its deadline is passed over: at no moment does the chip take up a page while an
/// earlier page that waits there belongs to a request that has waited for longer than the deadline.
#[test]
fn nothing_waits_past_its_deadline_because_of_the_order() {
    for seed in 0..20 {
        let mut rng = Rng::stream(seed, "rhio/deadline");
        let deadline = Span::ms(10 * (1 + seed % 4));
        let mut config = one_chip(deadline);
        // In every other drive most requests wait before the queues, and their deadlines run there
        // too.
        if seed % 2 == 1 {
            config.queue =
                QueueConfig { depth: 1024, max_reads: 64, max_writes: 64, ..config.queue };
        }
        let requests = overload(&mut rng, 1500);
        let completions = served(&config, &requests);
        let times: Vec<[Nanos; 3]> = completions
            .iter()
            // A read of a page that was never written transfers nothing.
            .filter(|completion| completion.blame[Part::Transfer] > Span::ZERO)
            .map(|completion| [completion.io.at, entered(completion), taken_up(completion)])
            .collect();
        let waited = times.iter().filter(|[came, entered, _]| came < entered).count();
        assert!(seed % 2 == 0 || waited > 100, "seed {seed}: {waited} waited");
        let (mut late, mut passed) = (0, 0);
        for &[came, _, began] in &times {
            late += u32::from(began > came + deadline);
            for &[earlier, entered, then] in &times {
                let overtaken = earlier < came && entered < began && then > began;
                passed += u32::from(overtaken);
                assert!(
                    !overtaken || began <= earlier + deadline,
                    "seed {seed}: what came at {came:?} was taken up at {began:?} before what came at {earlier:?}"
                );
            }
        }
        assert!(late > 50 && passed > 50, "seed {seed}: {late} late, {passed} passed over");
    }
}

#[test]
fn no_write_is_taken_up_while_a_read_waits_within_its_deadline() {
    let mut rng = Rng::stream(1, "rhio/reads");
    let requests = overload(&mut rng, 100);
    let completions = served(&one_chip(Span::ms(1280)), &requests);
    let of = |op: HostOp| completions.iter().filter(move |completion| completion.io.op == op);
    let mut waits = 0;
    for write in of(HostOp::Write) {
        let began = taken_up(write);
        for read in of(HostOp::Read).filter(|completion| completion.latency() > Span::ZERO) {
            waits += u32::from(write.io.at < read.io.at && taken_up(read) < began);
            assert!(!(read.io.at < began && taken_up(read) > began), "{read:?} after {write:?}");
        }
    }
    assert!(waits > 10, "{waits} reads went before a write that had come earlier");
}

/// Returns when a request is due as a command can express it: in steps of 10 ms, at least one.
fn due(completion: &Completion, default: Span) -> Nanos {
    let own = completion
        .io
        .deadline
        .span()
        .map(|span| Span::ms((span.0 / 10_000_000).clamp(1, 128) * 10));
    completion.io.at + own.unwrap_or(default)
}

/// As above, where requests have deadlines of their own: no overdue request is passed over by one
/// that is due later.
#[test]
fn a_request_with_a_deadline_of_its_own_does_not_wait_past_it_because_of_the_order() {
    const DRIVE: Span = Span::ms(1280);
    for seed in 0..20 {
        let mut rng = Rng::stream(seed, "rhio/own deadlines");
        let mut requests = overload(&mut rng, 1000);
        for io in &mut requests {
            if rng.chance(0.3) {
                // Shorter than a step, between two steps, and longer than a command can say.
                *io = io.with_deadline(Deadline::after(Span(rng.below(45_000_000))));
            } else if rng.chance(0.1) {
                *io = io.with_deadline(Deadline::after(Span::ms(5_000)));
            }
        }
        let completions = served(&one_chip(DRIVE), &requests);
        let times: Vec<[Nanos; 3]> = completions
            .iter()
            .filter(|completion| completion.blame[Part::Transfer] > Span::ZERO)
            .map(|completion| [due(completion, DRIVE), entered(completion), taken_up(completion)])
            .collect();
        let mut late = 0;
        for &[mine, _, began] in &times {
            late += u32::from(mine < began);
            for &[other, entered, then] in &times {
                let overdue = entered < began && began < then && other < began;
                assert!(
                    !overdue || mine <= other,
                    "seed {seed}: at {began:?} what was due at {other:?} waited for what was due at {mine:?}"
                );
            }
        }
        assert!(late > 50, "seed {seed}: {late} late");
    }
}

/// The pages of a superblock have their places before they wait for a die. Nothing that is overdue
/// is programmed before earlier pages of its block: neither before parity, for which no request
/// waits, nor, of two passes that are due at once, before the first.
#[test]
fn an_overdue_program_does_not_pass_earlier_pages_of_its_block() {
    for (seed, passes) in [(1, 1), (2, 1), (3, 2), (4, 2)] {
        let mut config = tiny();
        config.redundancy.name = RedundancyKind::Raid5;
        (config.superblocks.parity, config.over_provisioning) = (3, 0.7);
        config.die_order = die_order::Params { name: DieOrderKind::Rhio, deadline: Span::ms(10) };
        (config.flash.program_passes, config.flash.first_pass_iterations) = (passes, 5);
        // Room for so many commands that they wait longer than the deadline.
        config.buffer.size = Bytes(8 << 20);
        config.queue = QueueConfig { depth: 4096, ..config.queue };
        let mut device = built(&config).unwrap_or_else(|why| panic!("{why:?}"));
        let units = config.layout().expect("it was built").logical.0 / 4096;
        let mut rng = Rng::stream(seed, "rhio/superblocks");
        let begins = rng.below(units);
        let writes = (0..2 * units).map(|n| io(Span::ZERO, (begins + n) % units, 1, HostOp::Write));
        let order = ProgramOrder::new(&config, format!("seed {seed}, {passes} passes"));
        let mut probe = (Vec::<Completion>::new(), order);
        device.run(writes, Pacing::Open, &mut probe);
        // The last commands of the buffer wait for all before them.
        let late = probe.0.iter().filter(|it| it.latency() > Span::ms(10)).count();
        assert!(probe.1.programs > 500 && late > 500, "{} programs, {late} late", probe.1.programs);
    }
}

/// A write that joins a waiting one brings its deadline along, whether few wait or many.
#[test]
fn a_write_that_joins_another_hastens_it() {
    for reads in [1, 40] {
        let mut requests = vec![io(Span::ZERO, 100, 1, HostOp::Write)];
        requests.extend((0..40).map(|page| io(Span::ms(1 + page), page, 1, HostOp::Write)));
        let start = Span::ms(1000);
        // These are more reads than the chip can serve, so that a write would wait for its
        // deadline.
        let flood = (0..3000).map(|n| io(start + Span::us(20 * n), n % reads, 1, HostOp::Read));
        requests.extend(flood.clone().take(5));
        requests.push(io(start + Span::us(100), 100, 1, HostOp::Write));
        let joining = io(start + Span::us(100), 100, 1, HostOp::Write);
        requests.push(joining.with_deadline(Deadline::after(Span::ms(10))));
        requests.extend(flood.skip(5));
        let completions = served(&one_chip(Span::ms(1280)), &requests);
        let written =
            completions.iter().filter(|it| it.io.op == HostOp::Write && it.io.at >= Nanos(start.0));
        let took: Vec<Span> = written.map(Completion::latency).collect();
        assert_eq!(took.len(), 2);
        assert!(took.iter().all(|&it| it > Span::ms(10) && it < Span::ms(12)), "{reads}: {took:?}");
    }
}

/// Equation (1): the mean over requests, in the order issued, of the time of the request and of all
/// requests before it.
fn equation_1(order: &[(u32, Span)]) -> f64 {
    let n = order.len();
    let terms = order
        .iter()
        .zip(0..)
        .map(|(&(pages, page), place)| u64::from(pages) * page.0 * (n - place) as u64);
    terms.sum::<u64>() as f64 / n as f64
}

/// Figure 2 on a drive of four chips, where stripe units hold whole requests: equation (1) gives
/// the mean response to the nanosecond. Striped page by page it does not.
#[test]
fn figure_2_and_equation_1_hold_where_a_request_lies_on_one_chip() {
    const SIZES: [u32; 6] = [8, 2, 4, 2, 2, 4];
    let mean = |order, stripe_unit| {
        let mut config = one_chip(Span::ms(1280));
        (config.geometry.channels, config.geometry.chips_per_channel) = (2, 2);
        config.die_order.name = order;
        config.placement.dies = Dies::ByAddress;
        config.placement.stripe_unit = stripe_unit;
        // Every 32 pages the same chip comes again; another write is in service there.
        let mut requests = vec![io(Span::ZERO, 0, 1, HostOp::Write)];
        let six =
            SIZES.iter().zip(1..).map(|(&pages, at)| io(Span(1), 32 * at, pages, HostOp::Write));
        requests.extend(six);
        let completions = served(&config, &requests);
        let (first, six) = completions.split_first().unwrap();
        assert_eq!(first.io.offset, 0);
        let order: Vec<u64> =
            six.iter().map(|completion| completion.io.offset / 4096 / 32 - 1).collect();
        let page = config.timing.bus_transfer + config.timing.program(0);
        let sizes: Vec<(u32, Span)> = order.iter().map(|&at| (SIZES[at as usize], page)).collect();
        // The requests wait for the write in service, too.
        let in_service = (page - Span(1)).0 as f64;
        let sum: u64 = six.iter().map(|completion| completion.latency().0).sum();
        (order, sum as f64 / 6.0 - in_service, equation_1(&sizes))
    };
    let (order, measured, expected) = mean(DieOrderKind::Fifo, 8);
    assert_eq!((order, measured), (vec![0, 1, 2, 3, 4, 5], expected));
    let (order, measured, expected) = mean(DieOrderKind::Rhio, 8);
    assert_eq!((order, measured), (vec![1, 3, 4, 2, 5, 0], expected));
    let (_, measured, expected) = mean(DieOrderKind::Fifo, 1);
    assert!(measured < 0.7 * expected, "four chips share the pages: {measured} of {expected}");
}
