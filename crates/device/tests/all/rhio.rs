//! RHIO's order on whole drives: Figure 3, reads before writes, and deadlines that hold whatever is
//! reordered.

use crate::support::small;
use fowler_device::blame::Part;
use fowler_device::policy::die_order::DieOrderKind;
use fowler_device::reliability::ModelKind;
use fowler_device::*;
use fowler_units::{Bytes, HostIo, HostOp, Nanos, Rng, Span};

/// One chip with a channel of its own and no data; nothing is collected.
fn one_chip(deadline: Span) -> Config {
    let mut config = small();
    config.geometry.channels = 1;
    config.geometry.chips_per_channel = 1;
    config.geometry.planes_per_die = 1;
    config.geometry.blocks_per_plane = 512;
    config.buffer.size = Bytes(0);
    config.queue = QueueConfig { depth: 1024, max_reads: 1024, max_writes: 1024 };
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
        .filter(|its| its.io.op == HostOp::Read)
        .map(|its| its.io.offset / 4096)
        .collect();
    assert_eq!(read, [6, 3, 5, 0, 4, 1, 2]);
}

/// When the chip took up the only page of a request.
fn taken_up(its: &Completion) -> Nanos {
    let service = [Part::Sense, Part::Transfer, Part::SoftSensing, Part::Retry, Part::Program];
    let took: Span = service.iter().map(|&part| its.blame[part]).sum();
    Nanos(its.done.0 - took.0)
}

/// When its page came to wait for the chip.
fn entered(its: &Completion) -> Nanos {
    its.io.at + its.blame[Part::QueueFull] + its.blame[Part::BufferFull]
}

/// Requests for one page each, at twice what the chip can do. No page is written twice: a write
/// would join one that waits.
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

/// Nobody is passed over once the deadline is over: at no moment is a page taken up while one that
/// waits there, of a request that came earlier, has a request that has waited for longer than the
/// deadline.
#[test]
fn nothing_waits_past_its_deadline_because_of_the_order() {
    for seed in 0..20 {
        let mut rng = Rng::stream(seed, "rhio/deadline");
        let deadline = Span::ms(10 * (1 + seed % 4));
        let mut config = one_chip(deadline);
        // In every other drive most wait before the queues, and their deadlines run there too.
        if seed % 2 == 1 {
            config.queue = QueueConfig { depth: 1024, max_reads: 64, max_writes: 64 };
        }
        let requests = overload(&mut rng, 1500);
        let completions = served(&config, &requests);
        let times: Vec<[Nanos; 3]> = completions
            .iter()
            // Of a page that was never written there is nothing to read.
            .filter(|its| its.blame[Part::Transfer] > Span::ZERO)
            .map(|its| [its.io.at, entered(its), taken_up(its)])
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
    let of = |op: HostOp| completions.iter().filter(move |its| its.io.op == op);
    let mut waits = 0;
    for write in of(HostOp::Write) {
        let began = taken_up(write);
        for read in of(HostOp::Read).filter(|its| its.latency() > Span::ZERO) {
            waits += u32::from(write.io.at < read.io.at && taken_up(read) < began);
            assert!(!(read.io.at < began && taken_up(read) > began), "{read:?} after {write:?}");
        }
    }
    assert!(waits > 10, "{waits} reads went before a write that had come earlier");
}
