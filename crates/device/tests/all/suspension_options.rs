//! The options of suspension that the hand-derived cases leave at their defaults: limits, a die
//! without shadow buffer, reads of part of the drive's own work.

use crate::support::{scheme, small};
use fowler_device::policy::die_order::DieOrderKind;
use fowler_device::policy::suspension::SuspendingReads;
use fowler_device::{
    ChipCommand, ChipOp, ChipResult, Completion, Config, Device, Pacing, run_chip,
};
use fowler_units::{HostIo, HostOp, Nanos, Span};

/// A write at time zero and reads at the times given, in nanoseconds, on an SLC die under IPS.
fn run(change: impl Fn(&mut Config), reads: &[u64]) -> Vec<ChipResult> {
    let mut config = small();
    scheme(&mut config, "PES_IPS");
    change(&mut config);
    let mut commands = vec![ChipCommand { at: Nanos(0), op: ChipOp::Write }];
    commands.extend(reads.iter().map(|&at| ChipCommand { at: Nanos(at), op: ChipOp::Read }));
    run_chip(&config, &commands)
}

fn done(results: &[ChipResult]) -> Vec<u64> {
    results.iter().map(|result| result.done.0 / 1000).collect()
}

#[test]
fn without_a_shadow_buffer_the_data_comes_over_the_bus_again() {
    // Transfer to 20, program phase to 40, read to 70; then 3 us or 20 us, and 120 us of phases.
    assert_eq!(done(&run(|_| {}, &[25_000])), [193, 70]);
    let without = |config: &mut Config| config.suspension.shadow_buffer = false;
    assert_eq!(done(&run(without, &[25_000])), [210, 70]);
    // A read during the second transfer waits for that transfer, goes first, and costs a third.
    let results = run(without, &[25_000, 80_000]);
    assert_eq!(done(&results), [20 + 20 + 30 + 20 + 30 + 20 + 120, 70, 120]);
    assert_eq!(results[0].suspensions, 2);
}

#[test]
fn an_operation_bears_so_many_suspensions_and_no_more() {
    let limit = |config: &mut Config| config.suspension.max_suspends = Some(1);
    let results = run(limit, &[25_000, 100_000]);
    assert_eq!(results[0].suspensions, 1);
    // The second read waits for the program to end at 193.
    assert_eq!(done(&results), [193, 70, 223]);
    let none = |config: &mut Config| config.suspension.max_suspends = Some(0);
    assert_eq!(done(&run(none, &[25_000])), [160, 190]);
}

#[test]
fn an_operation_is_left_alone_until_it_has_made_its_progress() {
    let owed = |config: &mut Config| config.suspension.min_progress = Span::us(30);
    // The cells start at 20; at 50 the read may interrupt, and the phase then running ends at 68.
    for arrival in [10_000, 19_999, 20_000, 49_999, 50_000] {
        assert_eq!(done(&run(owed, &[arrival]))[1], 98, "arrival at {arrival}");
    }
    // The program, resumed at 98, has made its progress again at 128; its verify ends at 129.
    assert_eq!(done(&run(owed, &[20_000, 98_001]))[2], 159);
}

#[test]
fn a_die_that_saves_its_state_serves_the_read_later() {
    let delay = |config: &mut Config| config.suspension.delay = Span::us(5);
    // The phase ends at 40; saved at 45, read by 75; then 3 us of reload and 120 us of phases.
    assert_eq!(done(&run(delay, &[25_000])), [198, 75]);
    // A second read that comes while the state is saved waits for that alone.
    assert_eq!(done(&run(delay, &[25_000, 42_000])), [228, 75, 105]);
    // During the transfer there is no state yet (S14).
    assert_eq!(done(&run(delay, &[10_000]))[1], 50);
    // A reload that is broken off has no state either: resumed at 75, broken off at 76.
    assert_eq!(done(&run(delay, &[25_000, 76_000])), [229, 75, 106]);
    // Without suspension the delay has no effect.
    let never = |config: &mut Config| {
        delay(config);
        config.suspension.name = fowler_device::policy::suspension::SuspensionKind::Never;
    };
    assert_eq!(done(&run(never, &[25_000])), [160, 190]);
}

#[test]
fn an_operation_is_off_the_cells_for_a_limited_time_and_no_longer() {
    // On the cells from 20: the limit is 120.
    let limit = |config: &mut Config| config.suspension.max_time = Some(Span::us(100));
    // Suspended at 40, resumed at 70. The verify of 101 to 109 belongs to a read at 109.
    assert_eq!(done(&run(limit, &[25_000, 109_000])), [226, 70, 139]);
    // A nanosecond later the next phase runs to 129: the program is left alone, until 193.
    let results = run(limit, &[25_000, 109_001]);
    assert_eq!(done(&results), [193, 70, 223]);
    assert_eq!(results[0].suspensions, 1);
    // Reads that begin at 40, 70 and 100; at 130 the program goes first, with its reload.
    assert_eq!(
        done(&run(limit, &[25_000, 26_000, 27_000, 28_000])),
        [130 + 3 + 120, 70, 100, 130, 130 + 3 + 120 + 30]
    );
    // A program that has not been on the cells yet has all of its time.
    assert_eq!(done(&run(limit, &[10_000]))[1], 50);
    // Nor does a read go before the second transfer of a program without a shadow buffer any more:
    // it comes at 131 us, one microsecond into that transfer.
    let without = |config: &mut Config| {
        limit(config);
        config.suspension.shadow_buffer = false;
    };
    let results = run(without, &[25_000, 26_000, 27_000, 131_000]);
    assert_eq!(done(&results), [130 + 20 + 120, 70, 100, 130, 130 + 20 + 120 + 30]);
    // The delay counts: the phase ends at 109, the state is saved at 120.
    let late = |config: &mut Config| {
        limit(config);
        config.suspension.delay = Span::us(11);
    };
    assert_eq!(done(&run(late, &[105_000])), [160, 190]);
    let delay = |config: &mut Config| {
        limit(config);
        config.suspension.delay = Span::ns(10_999);
    };
    assert_eq!(run(delay, &[100_000])[1].done, Nanos(104_000 + 10_999 + 30_000));
}

#[test]
fn an_erase_in_steps_is_suspended_between_them() {
    // An erase of 1,500 us in steps of 400, of which the first is what is left: it can be suspended
    // at 300, 700, 1,100 and 1,500 us, and during its verify. The reset belongs to the step.
    let mut config = small();
    scheme(&mut config, "PES_IPS");
    config.suspension.erase_step = Span::us(400);
    let run = |at: u64| {
        let erase = ChipCommand { at: Nanos(0), op: ChipOp::Erase };
        let read = ChipCommand { at: Nanos(at), op: ChipOp::Read };
        run_chip(&config, &[erase, read])
    };
    // (arrival, free, what is left: re-bias, pulse, verify)
    for (arrival, free, left) in [
        (1, 300_000, 4 + 1200 + 8),
        (300_000, 300_000, 4 + 1200 + 8),
        (300_001, 700_000, 4 + 800 + 8),
        (1_099_999, 1_100_000, 4 + 400 + 8),
        (1_100_001, 1_500_000, 8),
        (1_500_000, 1_500_000, 8),
        (1_500_001, 1_504_001, 8),
    ] {
        let results = run(arrival);
        let read = free + 30_000;
        let expected = [Nanos(read + left * 1000), Nanos(read)];
        assert_eq!([results[0].done, results[1].done], expected, "arrival at {arrival}");
        assert_eq!(results[0].suspensions, 1);
    }
}

/// Times in microseconds at which a drive of one SLC die answers requests, by IPS. A request has a
/// time in microseconds, an operation and a number of bytes, and a page of its own.
fn answered(change: impl Fn(&mut Config), requests: &[(u64, HostOp, u32)]) -> Vec<u64> {
    let mut config = small();
    config.geometry.channels = 1;
    config.geometry.chips_per_channel = 1;
    config.geometry.planes_per_die = 1;
    scheme(&mut config, "PES_IPS");
    change(&mut config);
    let io = |(page, &(at, op, bytes)): (u64, &(u64, HostOp, u32))| {
        HostIo::new(op, Nanos(at * 1_000), page * 4_096, bytes)
    };
    let given: Vec<HostIo> = (0..).zip(requests).map(io).collect();
    let mut device = Device::new(&config).expect("a drive that works");
    let mut completions: Vec<Completion> = Vec::new();
    device.run(given.iter().copied(), Pacing::Open, &mut completions);
    let done = |io: &HostIo| completions.iter().find(|it| it.io == *io).expect("an answer").done;
    given.iter().map(|io| done(io).0 / 1_000).collect()
}

/// The read of the old page for a write of half a page is work of the drive's own.
#[test]
fn a_read_of_the_drives_own_suspends_only_where_all_reads_may() {
    let requests = [(0, HostOp::Write, 4_096), (25, HostOp::Write, 2_048)];
    // The first program ends at 20 + 5 x 28 = 160. Then the read, to 190, and the second program.
    assert_eq!(answered(|_| {}, &requests), [160, 160 + 30 + 160]);
    let all = |config: &mut Config| config.suspension.reads = SuspendingReads::All;
    // The phase that runs at 25 ends at 40; the read, to 70; then 3 us of reload, a verify of 8 and
    // four times 28 us: 193. The second program was ready at 70 and waits for the first.
    assert_eq!(answered(all, &requests), [193, 193 + 160]);
}

/// Reads of the drive's own among those of the host, by arrival: of the half page that is written
/// at 25 us, then of the host at 26 us.
#[test]
fn reads_in_order_of_arrival_wait_for_one_that_may_not_suspend() {
    let requests =
        [(0, HostOp::Write, 4_096), (25, HostOp::Write, 2_048), (26, HostOp::Read, 4_096)];
    let in_order = |config: &mut Config| config.die_order.name = DieOrderKind::AllReadsFirst;
    let all = |config: &mut Config| config.suspension.reads = SuspendingReads::All;
    // The read of the half page is first in line and may not suspend, so both wait for the program:
    // 160 to 190, and 190 to 220. The second program has been ready since 190.
    assert_eq!(answered(in_order, &requests), [160, 220 + 160, 220]);
    // It may: 40 to 70, the host's to 100, and the program ends 123 us later.
    let both = |config: &mut Config| {
        in_order(config);
        all(config);
    };
    assert_eq!(answered(both, &requests), [223, 223 + 160, 100]);
    // Under read_first the host's read passes it: 40 to 70, then the other to 100.
    assert_eq!(answered(all, &requests), [223, 223 + 160, 70]);
    // Without the option the host's read alone suspends, 40 to 70; the first program ends at 193,
    // the other read at 223, the second program at 383.
    assert_eq!(answered(|_| {}, &requests), [193, 193 + 30 + 160, 70]);
}
