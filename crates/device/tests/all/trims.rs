//! The time of a trim (`host.trim`, `host.trim_entry`), derived by hand.

use crate::support::small;
use fowler_device::blame::Part;
use fowler_device::*;
use fowler_units::{HostIo, HostOp, Nanos, Span};

const PAGE: u64 = 4096;
const TRIM: Span = LinkConfig::TRIM;
const ENTRY: Span = LinkConfig::TRIM_ENTRY;

fn full() -> Config {
    let mut config = small();
    config.precondition.fill = 1.0;
    config
}

fn io(op: HostOp, at: Span, page: u64, bytes: u64) -> HostIo {
    HostIo::new(op, Nanos::ZERO + at, page * PAGE, bytes as u32)
}

/// Returns the answers, in the order of the requests, which all differ. Each blame must be the
/// whole latency.
fn run(config: &Config, requests: &[HostIo]) -> Vec<Completion> {
    let mut device = Device::new(config).expect("a sound drive");
    let mut seen: Vec<Completion> = Vec::new();
    device.run(requests.iter().copied(), Pacing::Open, &mut seen);
    device.check().unwrap_or_else(|law| panic!("{}", law.0));
    let answer = |io: &HostIo| *seen.iter().find(|it| it.io == *io).expect("answered");
    let answers: Vec<Completion> = requests.iter().map(answer).collect();
    for it in &answers {
        assert_eq!(it.blame.total(), it.latency(), "{:?}", it.io);
    }
    answers
}

/// Entries count only where there is data: in the flash, in the buffer, and not twice.
#[test]
fn a_trim_takes_its_command_and_its_entries() {
    let config = full();
    let apart = |number: u64| Span::ms(number);
    let trims = [
        (io(HostOp::Trim, apart(1), 0, 4 * PAGE), 4),
        (io(HostOp::Trim, apart(2), 0, 4 * PAGE), 0),
        (io(HostOp::Trim, apart(3), 2, 4 * PAGE), 2),
        // Trims of less than a page, and of a page and a half.
        (io(HostOp::Trim, apart(4), 9, 512), 0),
        (io(HostOp::Trim, apart(5), 9, PAGE + 512), 1),
        // A trim of the whole drive at once.
        (io(HostOp::Trim, apart(6), 20, 300 * PAGE), 300),
    ];
    let answers = run(&config, &trims.map(|(io, _)| io));
    for (answer, (io, entries)) in answers.iter().zip(trims) {
        assert_eq!(answer.latency(), TRIM + ENTRY * entries, "{io:?}");
        assert_eq!(answer.blame[Part::Mapping], answer.latency());
    }
}

/// Without cores, trims wait for one another and for nothing else; nothing waits for them.
#[test]
fn one_trim_follows_the_other_and_holds_up_nothing_else() {
    let mut config = full();
    config.unwritten_reads = UnwrittenReads::Zero;
    let at = Span::ms(1);
    let requests = [
        io(HostOp::Trim, at, 0, 4 * PAGE),
        io(HostOp::Trim, at, 4, PAGE),
        io(HostOp::Flush, at, 0, 0),
        // This read finds nothing, long before the first trim is answered.
        io(HostOp::Read, at + Span::us(1), 4, PAGE),
        io(HostOp::Trim, at + Span::us(100), 8, PAGE),
        io(HostOp::Read, at + Span::us(100), 9, PAGE),
    ];
    let [first, second, flush, empty, third, read] = run(&config, &requests)[..] else {
        panic!("six answers")
    };
    let busy = TRIM + ENTRY * 4;
    assert_eq!(first.latency(), busy);
    assert_eq!(second.latency(), busy + TRIM + ENTRY);
    assert_eq!((flush.latency(), empty.latency()), (Span::ZERO, Span::ZERO));
    let before = busy + TRIM + ENTRY - Span::us(100);
    assert_eq!(third.latency(), before + TRIM + ENTRY);
    assert_eq!(read.latency(), config.timing.read.at(0) + config.timing.bus_transfer);
}

/// With two cores, two trims run at once, and a command that comes meanwhile waits for a core.
#[test]
fn trims_take_firmware_cores_and_hold_up_commands() {
    let mut config = full();
    config.host.cores = 2;
    config.host.core_time = Span::us(1);
    let at = Span::ms(1);
    let requests = [
        io(HostOp::Trim, at, 0, 4 * PAGE),
        io(HostOp::Trim, at, 4, PAGE),
        io(HostOp::Trim, at, 5, PAGE),
        io(HostOp::Read, at + Span::us(10), 9, PAGE),
    ];
    let [first, second, third, read] = run(&config, &requests)[..] else { panic!("four answers") };
    // The first trim takes the core that has not had its command, so the second command has the
    // other until 2 us.
    let us = Span::us;
    assert_eq!(first.latency(), us(1) + TRIM + ENTRY * 4);
    assert_eq!(second.latency(), us(2) + TRIM + ENTRY);
    // Both cores are busy when the command of the third trim comes.
    assert_eq!(third.latency(), second.latency() + us(1) + TRIM + ENTRY);
    assert_eq!(first.blame[Part::HostLink], us(1));
    assert_eq!(third.blame[Part::Mapping], TRIM + ENTRY);
    let in_flash = config.timing.read.at(0) + config.timing.bus_transfer;
    assert_eq!(read.latency(), first.latency() - us(10) + us(1) + in_flash);
    assert_eq!(read.blame[Part::HostLink], read.latency() - in_flash);
}

#[test]
fn a_trim_may_be_free() {
    let mut config = full();
    (config.host.trim, config.host.trim_entry) = (Span::ZERO, Span::ZERO);
    let [answer] = run(&config, &[io(HostOp::Trim, Span::ms(1), 0, 8 * PAGE)])[..] else {
        panic!("one answer")
    };
    assert_eq!(answer.latency(), Span::ZERO);
}

#[test]
fn times_of_trims_beyond_reason_are_refused() {
    let refused = |change: fn(&mut LinkConfig)| {
        let mut config = full();
        change(&mut config.host);
        let refusals = Device::new(&config).expect_err("refused");
        refusals.iter().flat_map(|it| it.keys.clone()).collect::<Vec<_>>()
    };
    assert_eq!(refused(|host| host.trim_entry = Span::us(1_001)), ["host.trim_entry"]);
    assert_eq!(refused(|host| host.trim = Span::ms(3_600_001)), ["host.trim"]);
}
