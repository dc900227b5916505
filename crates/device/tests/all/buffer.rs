//! The write buffer: the pages found in it, the page that leaves first, the data that a flush waits
//! for, and the cost of a write of part of a page.

use crate::support::small;
use fowler_device::blame::Part;
use fowler_device::*;
use fowler_units::{Bytes, HostIo, HostOp, Nanos, Span};

/// A drive with a buffer of four pages, one of which stays free; writes are acknowledged on
/// insertion.
fn drive() -> Device {
    let mut config = small();
    config.buffer =
        BufferConfig { size: Bytes(4 * 4096), ack: Ack::OnInsert, evict_ahead: 1, ..config.buffer };
    Device::new(&config).expect("a sound drive")
}

/// Requests a millisecond apart: each finds the drive at rest.
fn run(device: &mut Device, requests: &[(HostOp, u64, u32)]) -> Vec<Completion> {
    let mut completions: Vec<Completion> = Vec::new();
    let io = |(n, &(op, offset, size)): (usize, &(HostOp, u64, u32))| {
        HostIo::new(op, Nanos(1_000_000 * (n as u64 + 1)), offset, size)
    };
    device.run(requests.iter().enumerate().map(io), Pacing::Open, &mut completions);
    device.check().unwrap_or_else(|law| panic!("{}", law.0));
    completions
}

const PAGE: u32 = 4096;

fn write(page: u64) -> (HostOp, u64, u32) {
    (HostOp::Write, page * 4096, PAGE)
}

fn read(page: u64) -> (HostOp, u64, u32) {
    (HostOp::Read, page * 4096, PAGE)
}

#[test]
fn the_page_used_longest_ago_leaves_first_and_a_read_counts_as_use() {
    let mut device = drive();
    // Page 0 is written first but read again, so that page 1 is the oldest when room is needed.
    let asked =
        [write(0), write(1), write(2), read(0), write(3), read(0), read(2), read(3), read(1)];
    let done = run(&mut device, &asked);
    let hits: Vec<bool> = done[5..].iter().map(|c| c.latency() == Span::ZERO).collect();
    assert_eq!(hits, [true, true, true, false], "only page 1 has left");
    assert_eq!(device.counters().programs[Source::Host], 1);
    assert_eq!(device.counters().buffer_read_hits, 4);
}

#[test]
fn a_page_written_again_is_programmed_once() {
    let mut device = drive();
    run(&mut device, &[write(0), write(0), write(0), (HostOp::Flush, 0, 0)]);
    let c = device.counters();
    assert_eq!((c.pages_written, c.buffer_write_hits, c.programs[Source::Host]), (3, 2, 1));
}

#[test]
fn a_flush_waits_for_what_was_written_before_it() {
    let mut device = drive();
    let done =
        run(&mut device, &[write(0), write(1), (HostOp::Flush, 0, 0), (HostOp::Flush, 0, 0)]);
    // Each of the two pages goes to a die of its own: one transfer of 20 us and one program of 140
    // us.
    assert_eq!(done[2].io.op, HostOp::Flush);
    assert_eq!(done[2].latency(), Span::us(160));
    assert_eq!(done[3].latency(), Span::ZERO, "nothing is left to wait for");
    // A page that the flash has stays in the buffer for reads.
    let again = run(&mut device, &[read(0)]);
    assert_eq!(again[0].latency(), Span::ZERO);
}

#[test]
fn part_of_a_page_hits_only_for_the_part_that_is_there() {
    let mut device = drive();
    let sector = |op, n: u64| (op, 8 * 4096 + n * 512, 512);
    let asked = [sector(HostOp::Write, 0), sector(HostOp::Read, 0), sector(HostOp::Read, 1)];
    let done = run(&mut device, &asked);
    assert_eq!(done[1].latency(), Span::ZERO);
    assert_eq!(done[2].latency(), Span::us(30), "the rest of the page is in the flash");
}

#[test]
fn a_write_of_part_of_a_page_reads_the_old_page_first() {
    for (partial, reads, latency) in
        [(PartialWrites::ReadModifyWrite, 1, 190), (PartialWrites::Overwrite, 0, 160)]
    {
        let mut config = small();
        config.partial_writes = partial;
        let mut device = Device::new(&config).expect("a sound drive");
        let done = run(&mut device, &[(HostOp::Write, 4096, 512)]);
        assert_eq!(device.counters().merge_reads, reads);
        assert_eq!(done[0].latency(), Span::us(latency));
        assert_eq!(done[0].blame[Part::Merge], Span::us(30 * reads));
    }
}

#[test]
fn a_trimmed_page_is_forgotten_wherever_it_is() {
    let mut device = drive();
    let trim = |page: u64| (HostOp::Trim, page * 4096, PAGE);
    run(&mut device, &[write(0), trim(0), trim(5), read(0), read(5)]);
    let c = device.counters();
    assert_eq!((c.pages_trimmed, c.unwritten_reads, c.buffer_read_hits), (2, 2, 0));
    assert!(!device.holds(fowler_units::Lpn(0)) && !device.holds(fowler_units::Lpn(5)));
}
