//! The requests held up by one that finds no room in a queue of pages (`queue.admission`).

use crate::support::small;
use fowler_device::blame::Part;
use fowler_device::*;
use fowler_units::{HostIo, HostOp, Nanos, Span};

/// Returns the time for which each request waits for room. The requests arrive together, one page
/// each.
fn waits(admission: Admission, limits: (u32, u32), asked: &[(HostOp, u64)]) -> Vec<Span> {
    let mut config = small();
    config.admission = admission;
    (config.queue.max_reads, config.queue.max_writes) = limits;
    let mut device = Device::new(&config).expect("a sound drive");
    let io = |&(op, page): &(HostOp, u64)| HostIo::new(op, Nanos::ZERO, page * 4096, 4096);
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
