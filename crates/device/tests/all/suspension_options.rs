//! The options of suspension that the hand-derived cases leave at their defaults: limits, a die
//! without shadow buffer, reads of part of the drive's own work.

use crate::support::{scheme, small};
use fowler_device::{ChipCommand, ChipOp, ChipResult, Config, run_chip};
use fowler_units::{Nanos, Span};

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
