//! Cases derived by hand, to the nanosecond. The drive is [`tiny`]: four dies of two planes, pages
//! of four units, three pages to a word line, so that a command stores 24 units. Sensing takes 40,
//! 60 or 80 us by page type, a unit crosses the bus in 10 us, a program takes 15 x (20 + 24) = 660
//! us on the cells. The buffer answers at once.

use super::Superblocks;
use super::cases::{UNIT, drive, protect, tiny};
use crate::config::{Admission, Arbitration, Config, Pattern, PlaneMode};
use crate::event_loop::{Device, Pacing};
use crate::mapping::page_map::Location;
use crate::observe::completion::Completion;
use crate::observe::operation::Source;
use crate::policy::die_order::DieOrderKind;
use crate::policy::placement::StreamId;
use crate::policy::suspension::SuspensionKind;
use fowler_units::{Bytes, DieId, HostIo, HostOp, Lpn, Nanos, QueueId, Span};

const COMMAND: u64 = 24;

/// [`tiny`], half full of data written in order.
fn half_full() -> Config {
    let mut config = tiny();
    config.precondition.pattern = Pattern::Sequential;
    config.precondition.fill = 0.5;
    config
}

fn io(op: HostOp, at_us: u64, unit: u64, units: u64) -> HostIo {
    HostIo::new(op, Nanos(at_us * 1000), unit * UNIT, (units * UNIT) as u32)
}

/// Serves requests. Returns how long each took, in microseconds, in the order given.
fn latencies(device: &mut Device<Superblocks>, requests: &[HostIo]) -> Vec<u64> {
    let mut answers: Vec<Completion> = Vec::new();
    device.run(requests.iter().copied(), Pacing::Open, &mut answers);
    let took = |io: &HostIo| {
        let same = |answer: &&Completion| (answer.io.op, answer.io.offset) == (io.op, io.offset);
        let answer = answers.iter().find(same).expect("answered");
        assert_eq!(answer.blame.total(), answer.latency());
        assert_eq!(answer.latency().0 % 1000, 0, "whole microseconds here");
        answer.latency().0 / 1000
    };
    requests.iter().map(took).collect()
}

/// A unit of the host on a die, in the first page of a word line.
fn unit_on(device: &Device<Superblocks>, die: DieId) -> u64 {
    let layer = device.superblocks();
    let on_die = |page: &Lpn| match layer.map.place(*page) {
        Location::Flash(unit) => {
            layer.shape.place(unit).0 == die && unit.0 % layer.shape.units_per_command == 0
        }
        _ => false,
    };
    u64::from(layer.map.pages().find(on_die).expect("every die holds data").0)
}

#[test]
fn a_page_is_sensed_once_and_its_units_are_transferred() {
    let read = |unit, units| io(HostOp::Read, 0, unit, units);
    for (request, lockstep, independent) in [
        (read(0, 1), 40 + 10, 40 + 10),
        // The third page of a word line over two planes is the first of the next type. With
        // independent planes, each has its own word line of three pages.
        (read(8, 1), 60 + 10, 80 + 10),
        (read(16, 1), 80 + 10, 60 + 10),
        (read(1, 3), 40 + 3 * 10, 40 + 3 * 10),
        (read(0, 4), 40 + 4 * 10, 40 + 4 * 10),
        // The last unit of a page and the first of the next: on the other plane, one after the
        // other, or on the same plane.
        (read(3, 2), 2 * (40 + 10), 40 + 10 + 60 + 10),
        // Two dies on two channels sense side by side. With independent planes, a command is half
        // as long, and the units lie on three dies.
        (read(20, 8), 80 + 4 * 10, 80 + 4 * 10),
    ] {
        for (plane_mode, expected) in
            [(PlaneMode::Lockstep, lockstep), (PlaneMode::Independent, independent)]
        {
            let config = Config { plane_mode, ..half_full() };
            let took = latencies(&mut drive(&config), &[request]);
            assert_eq!(took, [expected], "{request:?}, {plane_mode:?}");
        }
    }
}

/// A command transfers its six pages, 40 us each, and programs them at once. A read of its die
/// waits for that, or suspends it.
#[test]
fn a_word_line_is_programmed_at_once() {
    for (suspension, at, expected) in [
        // At the same moment the die serves the read first (S15).
        (SuspensionKind::Never, 0, 40 + 10),
        (SuspensionKind::Never, 1, 239 + 660 + 40 + 10),
        (SuspensionKind::Never, 500, 400 + 40 + 10),
        // During the transfer: the read goes between it and the cells (S14).
        (SuspensionKind::Ips, 100, 140 + 40 + 10),
        // 10 us into a program phase of 20 us; 10 us into the verify phase of 24 us that follows.
        (SuspensionKind::Ips, 250, 10 + 40 + 10),
        (SuspensionKind::Ips, 270, 14 + 40 + 10),
        // Cut off at once: the voltages are discharged in 4 us.
        (SuspensionKind::Ipc, 250, 4 + 40 + 10),
    ] {
        let delayed = at > 239 && suspension != SuspensionKind::Never;
        for delay in [0, 70] {
            let took = beside_a_program(suspension, Span::us(delay), at);
            let expected = expected + if delayed { delay } else { 0 };
            assert_eq!(took, [0, expected], "{suspension:?} + {delay} us at {at} us");
        }
    }
}

/// Returns how long a write of a whole command takes, and a read of its die at a moment.
fn beside_a_program(suspension: SuspensionKind, delay: Span, at: u64) -> Vec<u64> {
    let mut config = half_full();
    config.suspension.name = suspension;
    config.suspension.delay = delay;
    config.die_order.name = DieOrderKind::ReadFirst;
    let mut device = drive(&config);
    let layer = device.superblocks();
    let open =
        layer.commands.open_of(super::commands::Stream::Host(StreamId(0))).expect("half full");
    let die = layer.shape.die_at(open.command % layer.shape.dies);
    let unit = unit_on(&device, die);
    // Units that no read asks for.
    let written = io(HostOp::Write, 0, 200, COMMAND);
    latencies(&mut device, &[written, io(HostOp::Read, at, unit, 1)])
}

/// Data that does not fill a command stays in the buffer, and reads find it there.
#[test]
fn a_command_waits_until_it_is_full() {
    let mut device = drive(&half_full());
    let requests = [io(HostOp::Write, 0, 200, COMMAND - 1), io(HostOp::Read, 5000, 201, 4)];
    assert_eq!(latencies(&mut device, &requests), [0, 0]);
    assert_eq!(device.counters().programs.sum(), 0);
    assert_eq!(device.counters().buffer_read_hits, 4);
    assert_eq!(latencies(&mut device, &[io(HostOp::Write, 0, 300, 1)]), [0]);
    latencies(&mut device, &[io(HostOp::Read, 5000, 0, 1)]);
    assert_eq!(device.counters().programs[Source::Host], COMMAND);
}

/// Every third command is parity: of what is programmed for the host, half as much again.
#[test]
fn parity_follows_its_stripe() {
    let mut config = half_full();
    protect(&mut config, 3);
    config.over_provisioning = 0.6;
    config.precondition.fill = 0.0;
    let mut device = drive(&config);
    let requests: Vec<_> = (0..5).map(|at| io(HostOp::Write, 0, at * COMMAND, COMMAND)).collect();
    latencies(&mut device, &requests);
    latencies(&mut device, &[io(HostOp::Read, 9000, 0, 1)]);
    let programs = device.counters().programs;
    assert_eq!((programs[Source::Host], programs[Source::Parity]), (5 * COMMAND, 2 * COMMAND));
}

/// Three commands at once on one core of 5 us; 3 us more for each, which hold up nobody.
#[test]
fn a_core_handles_one_command_at_a_time() {
    for (cores, expected) in [(0, [3, 3, 3]), (1, [8, 13, 18]), (2, [8, 8, 13]), (8, [8, 8, 8])] {
        let mut config = half_full();
        (config.host.cores, config.host.core_time) = (cores, Span::us(5));
        config.host.latency = Span::us(3);
        let requests = [200, 201, 202].map(|unit| io(HostOp::Write, 0, unit, 1));
        assert_eq!(latencies(&mut drive(&config), &requests), expected, "{cores} cores");
    }
}

/// The buffer holds two commands. Five are written at once: two find room, the third and fourth
/// wait for the programs of the first two, and the fifth for that of the third. The dies of
/// the commands lie on two channels in turn; each channel transfers one command after the other,
/// page by page in turn if both wait. A read of data in no buffer, on a die without programs,
/// waits behind as many writes as the rule says.
#[test]
fn reads_wait_behind_as_many_writes_as_the_rule_says() {
    for (admission, reads_behind, waits_for) in [
        (Admission::ReadsPass, 0, None),
        (Admission::Shared, 0, None),
        (Admission::Shared, 1, Some(2)),
        (Admission::Shared, 2, Some(3)),
        (Admission::Shared, 9, Some(4)),
        (Admission::InOrder, 0, Some(4)),
    ] {
        let mut config = half_full();
        config.admission = admission;
        config.queue.reads_behind = reads_behind;
        config.buffer.size = Bytes(2 * COMMAND * UNIT);
        config.die_order.name = DieOrderKind::ReadFirst;
        let mut device = drive(&config);
        let writes = (0..5).map(|at| io(HostOp::Write, 0, 200 + at * COMMAND, COMMAND));
        let requests: Vec<_> = writes.chain([io(HostOp::Read, 0, 3, 1)]).collect();
        let mut answers: Vec<Completion> = Vec::new();
        device.run(requests.iter().copied(), Pacing::Open, &mut answers);
        let done = |offset| {
            let answer = answers
                .iter()
                .find(|answer| answer.io.offset == offset && answer.io.at == Nanos(0));
            answer.expect("answered").done.0
        };
        // When the read was admitted: it waited in line as long as its blame says.
        let read = answers.iter().find(|answer| answer.io.op == HostOp::Read).expect("answered");
        let admitted = read.blame[crate::observe::blame::Part::QueueFull].0;
        let expected = waits_for.map_or(0, |write| done((200 + write * COMMAND) * UNIT));
        assert_eq!(admitted, expected, "{admission:?} {reads_behind}");
    }
}

/// Reads that come while writes are served are let through together, after every third write.
#[test]
fn reads_take_turns_with_writes() {
    let mut config = half_full();
    config.admission = Admission::Shared;
    config.queue.reads_behind = 3;
    config.buffer.size = Bytes(2 * COMMAND * UNIT);
    config.die_order.name = DieOrderKind::ReadFirst;
    let write = |at| io(HostOp::Write, 0, 200 + at * COMMAND, COMMAND);
    // Eight writes: six wait in line, and are served two at a time, because two dies program side
    // by side. The reads come at once, after two writes, and after four.
    let mut requests: Vec<_> = (0..8).map(write).collect();
    let mut answers: Vec<Completion> = Vec::new();
    drive(&config).run(requests.iter().copied(), Pacing::Open, &mut answers);
    let moment = |number: u64| {
        let answer = answers.iter().find(|answer| answer.io.offset == write(number).offset);
        answer.expect("answered").done
    };
    let read = |unit, at| HostIo::new(HostOp::Read, at, unit * UNIT, UNIT as u32);
    let later = Span::us(1);
    requests.push(read(3, Nanos(0)));
    requests.push(read(4, moment(2) + later));
    requests.push(read(5, moment(4) + later));
    let mut answers: Vec<Completion> = Vec::new();
    drive(&config).run(requests.iter().copied(), Pacing::Open, &mut answers);
    let done =
        |offset| answers.iter().find(|answer| answer.io.offset == offset).expect("answered").done;
    let admitted = |unit: u64| {
        let answer =
            answers.iter().find(|answer| answer.io.offset == unit * UNIT).expect("answered");
        answer.io.at + answer.blame[crate::observe::blame::Part::QueueFull]
    };
    for (unit, after) in [(3, 4), (4, 4), (5, 7)] {
        assert_eq!(admitted(unit), done(write(after).offset), "the read of unit {unit}");
    }
}

/// The buffer holds two commands. The first queue sends five writes at once, the second two, and
/// then a third queue reads. One write that waits is taken from the queues, or three.
#[test]
fn queues_hand_over_in_turn() {
    use Arbitration::{Arrival, RoundRobin, Weighted};
    for (arbitration, taken, expected) in [
        (Arrival, 1, [0, 1, 2, 3, 4, 5, 6]),
        // The third of the first queue is in line when the second queue sends its first.
        (RoundRobin, 1, [0, 1, 2, 5, 3, 6, 4]),
        (RoundRobin, 3, [0, 1, 2, 3, 4, 5, 6]),
        (RoundRobin, 2, [0, 1, 2, 3, 5, 4, 6]),
        (Weighted, 1, [0, 1, 2, 5, 6, 3, 4]),
    ] {
        let mut config = half_full();
        config.buffer.size = Bytes(2 * COMMAND * UNIT);
        config.queue.arbitration = arbitration;
        config.queue.weights = "1 2".parse().expect("weights");
        config.queue.taken = taken;
        let requests = (0..7).map(|at| {
            let queue = QueueId(u16::from(at >= 5));
            io(HostOp::Write, 0, 200 + at * COMMAND, COMMAND).with_queue(queue)
        });
        let mut answers: Vec<Completion> = Vec::new();
        drive(&config).run(requests, Pacing::Open, &mut answers);
        let order = answers.iter().map(|answer| (answer.io.offset / UNIT - 200) / COMMAND);
        assert_eq!(order.collect::<Vec<_>>(), expected, "{arbitration:?} {taken}");
    }
}

/// A buffer of 48 frames, paced from a half of it. The first 24 units enter at once. The n-th after
/// them lets the next wait for n 24ths of 240 us, until the program of the first 24, which ends
/// after 900 us, has made room.
#[test]
fn units_enter_a_paced_buffer_the_slower_the_fuller_it_is() {
    let mut config = half_full();
    config.buffer.size = Bytes(2 * COMMAND * UNIT);
    config.buffer.pace = Span::us(240);
    config.buffer.pace_from = 0.5;
    let mut device = drive(&config);
    let requests: Vec<_> = (0..40).map(|at| io(HostOp::Write, 0, 200 + at, 1)).collect();
    let took = latencies(&mut device, &requests);
    assert!(took[..25].iter().all(|&took| took == 0), "{took:?}");
    // 10 us after the first, 20 us after the second of them: triangular numbers.
    let paced: Vec<u64> = (1..13).map(|after| 10 * after * (after + 1) / 2).collect();
    assert_eq!(took[25..37], paced);
    // The 13th enters 130 us after the 12th, after 910 us: the 24 frames are free by then, and 14
    // are in use. Nothing paces the others.
    assert_eq!(took[37..], [910, 910, 910]);
    // A full buffer that is not paced waits for the program alone.
    config.buffer.pace = Span::ZERO;
    let requests: Vec<_> = (0..49).map(|at| io(HostOp::Write, 0, 200 + at, 1)).collect();
    assert_eq!(latencies(&mut drive(&config), &requests)[47..], [0, 900]);
}
