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
