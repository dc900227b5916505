//! The requests held up by one that finds no room in a queue of pages (`queue.admission`).

use crate::support::small;
use fowler_device::blame::Part;
use fowler_device::*;
use fowler_units::{HostIo, HostOp, Nanos, QueueId, Span};

/// Returns the time for which each request waits for room. The requests arrive together, one page
/// each.
fn waits(admission: Admission, limits: (u32, u32), asked: &[(HostOp, u64)]) -> Vec<Span> {
    let mut config = small();
    config.admission = admission;
    (config.queue.max_reads, config.queue.max_writes) = limits;
    waits_on(&config, asked)
}

/// As [`waits`], on any drive. The queue of a request is that of the hundreds of its page.
fn waits_on(config: &Config, asked: &[(HostOp, u64)]) -> Vec<Span> {
    let mut device = Device::new(config).expect("a sound drive");
    let io = |&(op, page): &(HostOp, u64)| {
        let io = HostIo::new(op, Nanos::ZERO, page * 4096, 4096);
        io.with_queue(QueueId((page / 100) as u16))
    };
    let mut completions: Vec<Completion> = Vec::new();
    device.run(asked.iter().map(io), Pacing::Open, &mut completions);
    let of = |&(op, page): &(HostOp, u64)| {
        let mine = |it: &&Completion| it.io.op == op && it.io.offset == page * 4096;
        completions.iter().find(mine).expect("each is answered").blame[Part::QueueFull]
    };
    asked.iter().map(of).collect()
}

#[test]
fn a_write_without_room_holds_up_reads_only_in_order() {
    use HostOp::{Read, Write};
    let asked = [(Write, 0), (Write, 1), (Read, 2), (Read, 3)];
    let none = Span::ZERO;
    let write = Span::us(160);
    for (admission, reads) in [(Admission::ReadsPass, none), (Admission::InOrder, write)] {
        let waited = waits(admission, (64, 1), &asked);
        assert_eq!(waited, [none, write, reads, reads], "{admission:?}");
    }
}

#[test]
fn a_read_without_room_holds_up_writes_only_in_order() {
    use HostOp::{Read, Write};
    let asked = [(Read, 0), (Read, 1), (Write, 2)];
    let none = Span::ZERO;
    let read = Span::us(30);
    for (admission, write) in [(Admission::ReadsPass, none), (Admission::InOrder, read)] {
        let waited = waits(admission, (1, 64), &asked);
        assert_eq!(waited, [none, read, write], "{admission:?}");
    }
}

#[test]
fn with_room_for_all_both_are_the_same() {
    let asked: Vec<(HostOp, u64)> = (0..40)
        .map(|page| (if page % 3 == 0 { HostOp::Write } else { HostOp::Read }, page))
        .collect();
    for admission in [Admission::ReadsPass, Admission::InOrder] {
        assert!(waits(admission, (64, 64), &asked).iter().all(|&it| it == Span::ZERO));
    }
}

/// One write at a time goes to the flash, so the writes in line are served 160 us apart.
#[test]
fn shared_reads_wait_for_their_turn() {
    use HostOp::{Read, Write};
    let asked = [(Write, 0), (Write, 1), (Write, 2), (Write, 3), (Read, 4), (Read, 5)];
    let us = Span::us;
    for (behind, reads) in [(0, us(0)), (1, us(160)), (2, us(320)), (64, us(480))] {
        let mut config = small();
        config.admission = Admission::Shared;
        (config.queue.reads_behind, config.queue.max_writes) = (behind, 1);
        let expected = [us(0), us(160), us(320), us(480), reads, reads];
        assert_eq!(waits_on(&config, &asked), expected, "reads behind {behind} writes");
    }
}

/// The first queue sends five writes, and then the second queue two.
#[test]
fn queues_of_a_page_mapped_drive_take_turns() {
    let asked = [0, 1, 2, 3, 4, 100, 101].map(|page| (HostOp::Write, page));
    let (round, weighted) = (Arbitration::RoundRobin, Arbitration::Weighted);
    for (arbitration, taken, order) in [
        (Arbitration::Arrival, 1, [0, 1, 2, 3, 4, 5, 6]),
        // The second write is in line when the second queue sends its first.
        (round, 1, [0, 1, 3, 5, 6, 2, 4]),
        (round, 3, [0, 1, 2, 3, 5, 4, 6]),
        (weighted, 1, [0, 1, 4, 5, 6, 2, 3]),
    ] {
        let mut config = small();
        (config.queue.arbitration, config.queue.taken) = (arbitration, taken);
        config.queue.weights = "1 2".parse().expect("weights");
        config.queue.max_writes = 1;
        let expected = order.map(|place| Span::us(160 * place));
        assert_eq!(waits_on(&config, &asked), expected, "{arbitration:?}, {taken} taken");
    }
}
