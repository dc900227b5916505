//! Tests the moments at which a die's behavior changes, one nanosecond before each moment and at
//! it.
//!
//! The arithmetic of the crate is compared with a simple model that walks the phases one by one.

use fowler_nand::{
    CancelledProgram, CellOp, EraseOp, Interrupt, PerPageType, ProgramOp, Reload, SuspendAt, Timing,
};
use fowler_units::{Nanos, Span};

fn slc() -> Timing {
    Timing {
        bus_transfer: Span::us(20),
        read: PerPageType::uniform(Span::us(10)),
        program_phase: Span::us(20),
        verify_phase: Span::us(8),
        program_iterations: PerPageType::uniform(5),
        erase_pulse: Span::us(1500),
        erase_verify: Span::us(8),
        voltage_reset: Span::us(4),
        buffer_load: Span::us(3),
    }
}

fn mlc() -> Timing {
    Timing {
        bus_transfer: Span::us(40),
        read: PerPageType::uniform(Span::us(25)),
        verify_phase: Span::us(24),
        program_iterations: PerPageType::uniform(15),
        erase_pulse: Span::us(3300),
        erase_verify: Span::us(24),
        ..slc()
    }
}

fn program(timing: &Timing) -> CellOp {
    let iterations = timing.program_iterations.at(0);
    CellOp::Program(ProgramOp::new(iterations, CancelledProgram::Redo, Reload::Abort))
}

/// Interrupts a fresh operation `into` its run. Returns the wait of the read in nanoseconds, or
/// `None` if the operation completes first.
fn wait(fresh: CellOp, timing: &Timing, rule: SuspendAt, into: u64) -> Option<u64> {
    let mut op = fresh;
    let start = Nanos(1_000_000);
    op.run(start, timing);
    let now = start + Span(into);
    match op.interrupt(now, timing, rule) {
        Interrupt::Off { at, .. } => Some((at - now).0),
        Interrupt::Completes => None,
    }
}

/// The simple model: walks the phases of an undisturbed program.
fn walked_wait(timing: &Timing, rule: SuspendAt, into: u64) -> Option<u64> {
    let (program, verify, reset) =
        (timing.program_phase.0, timing.verify_phase.0, timing.voltage_reset.0);
    let phases = 2 * timing.program_iterations.at(0);
    let mut start = 0;
    for phase in 0..phases {
        let length = if phase % 2 == 0 { program } else { verify };
        let end = start + length;
        if into <= end {
            let active = into < end - reset;
            return match rule {
                SuspendAt::Anywhere if active => Some(reset),
                _ if phase + 1 == phases => None,
                _ => Some(end - into),
            };
        }
        start = end;
    }
    None
}

#[test]
fn a_program_agrees_with_its_twin_on_both_sides_of_every_gate() {
    for timing in [slc(), mlc()] {
        let whole = timing.program(0).0;
        let reset = timing.voltage_reset.0;
        let mut moments = vec![0, 1, whole - 1, whole];
        for gate in (0..=whole).step_by(4_000) {
            moments.extend([gate.saturating_sub(1), gate, gate + 1]);
            moments.extend([gate.saturating_sub(reset), gate + reset - 1]);
        }
        for rule in [SuspendAt::PhaseEnd, SuspendAt::Anywhere] {
            for &into in moments.iter().filter(|&&into| into <= whole) {
                let got = wait(program(&timing), &timing, rule, into);
                assert_eq!(got, walked_wait(&timing, rule, into), "{rule:?} at {into}");
            }
        }
    }
}

#[test]
fn a_phase_can_be_cancelled_until_its_reset_begins_and_not_after() {
    let timing = slc();
    let wait = |into| wait(program(&timing), &timing, SuspendAt::Anywhere, into);
    // The first program phase is 20 us, the last 4 us of which are the reset (S3).
    assert_eq!(wait(15_999), Some(4_000), "one nanosecond before the reset: it starts at once");
    assert_eq!(wait(16_000), Some(4_000), "as the reset starts: the phase runs to its end");
    assert_eq!(wait(16_001), Some(3_999));
    assert_eq!(wait(19_999), Some(1));
    assert_eq!(wait(20_000), Some(0), "at the phase's end (S15)");
    assert_eq!(wait(20_001), Some(4_000), "into the verify");
    // The last verify ends the program at 140 us; its reset begins at 136 us.
    assert_eq!(wait(135_999), Some(4_000));
    assert_eq!(wait(136_000), None, "the program completes");
}

#[test]
fn inter_phase_suspension_has_two_points_per_iteration() {
    for timing in [slc(), mlc()] {
        let whole = timing.program(0).0;
        let mut served: Vec<u64> = (0..=whole)
            .step_by(500)
            .map(|into| {
                let left = wait(program(&timing), &timing, SuspendAt::PhaseEnd, into);
                left.map_or(whole, |left| into + left)
            })
            .collect();
        served.dedup();
        // Section 4.2: 2 N points, of which the last is the completion.
        assert_eq!(served.len() as u32, 2 * timing.program_iterations.at(0));
    }
}

#[test]
fn mean_extra_waits_are_those_of_the_paper() {
    // Equation (1): (T_p^2 + T_v^2) / (2 (T_p + T_v)); under cancellation reset - reset^2 / (T_p +
    // T_v).
    for (timing, ips, ipc) in
        [(slc(), 58.0 / 7.0, 4.0 - 16.0 / 28.0), (mlc(), 122.0 / 11.0, 4.0 - 16.0 / 44.0)]
    {
        let last = timing.iteration().0;
        let whole = timing.program(0).0;
        for (rule, theory) in [(SuspendAt::PhaseEnd, ips), (SuspendAt::Anywhere, ipc)] {
            // Uniform arrivals over all iterations but the last, in which completion comes in
            // between.
            let moments = (0..whole - last).step_by(10).map(|into| into + 5);
            let waits: Vec<u64> = moments
                .map(|into| wait(program(&timing), &timing, rule, into).expect("not the last"))
                .collect();
            let mean = waits.iter().sum::<u64>() as f64 / waits.len() as f64 / 1e3;
            // The step of 10 ns is below a thousandth of any phase.
            assert!((mean - theory).abs() < 0.005, "{rule:?}: {mean}, theory {theory}");
            if rule == SuspendAt::Anywhere {
                assert!(waits.iter().all(|&wait| wait <= timing.voltage_reset.0));
            }
        }
    }
}

#[test]
fn an_erase_loses_only_its_resets() {
    let timing = slc();
    let erase = || CellOp::Erase(EraseOp::new(&timing));
    let wait = |into| wait(erase(), &timing, SuspendAt::Anywhere, into);
    assert_eq!(wait(1_495_999), Some(4_000), "the pulse is cut");
    assert_eq!(wait(1_496_000), Some(4_000), "the pulse is in its own reset");
    assert_eq!(wait(1_499_999), Some(1));
    assert_eq!(wait(1_500_000), Some(0), "between pulse and verify");
    assert_eq!(wait(1_503_999), Some(4_000), "the verify is cancelled");
    assert_eq!(wait(1_504_000), None, "the erase completes");
    // S8: whatever the number of interruptions, the pulse adds up; each costs a re-bias on
    // resumption.
    let mut op = erase();
    let mut now = Nanos(0);
    let mut end = op.run(now, &timing);
    for _ in 0..10 {
        now = now + Span::us(100);
        let Interrupt::Off { at, counted } = op.interrupt(now, &timing, SuspendAt::Anywhere) else {
            panic!("an erase of 1.5 ms does not complete in 1 ms");
        };
        assert!(counted && at == now + Span::us(4));
        now = at + Span::us(30);
        end = op.run(now, &timing);
    }
    // 10 stretches of 100 us, of which all but the first began with 4 us of re-bias.
    let pulse_left = 1_500 - 100 - 9 * 96;
    assert_eq!(end - now, Span::us(4 + pulse_left + 8));
}
