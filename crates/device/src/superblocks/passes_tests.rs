//! Programs in two passes: cases derived by hand, to the nanosecond, and what garbage collection
//! does between the passes.
//!
//! The drive of the cases has one die, whose superblocks have four word lines. A command of 24
//! units is transferred in 240 us, for each pass. The first takes 5 x (20 + 24) = 220 us on the
//! cells, the second 15 x 44 = 660 us: 460 and 900 us with their transfers.

use super::cases::{UNIT, answer_to, drive, protect, read, tiny};
use crate::config::{Config, FlashConfig, Pattern};
use crate::event_loop::Pacing;
use crate::mapping::page_map::Location;
use crate::observe::completion::Completion;
use crate::observe::counters::Counters;
use crate::observe::operation::Source;
use crate::policy::die_order::DieOrderKind;
use crate::policy::suspension::SuspensionKind;
use fowler_units::{Bytes, HostIo, HostOp, Lpn, Nanos, Rng, Span};

const COMMAND: u64 = 24;

fn two_passes() -> FlashConfig {
    FlashConfig { program_passes: 2, first_pass_iterations: 5, ..tiny().flash }
}

/// One die, which holds nothing.
fn one_die() -> Config {
    let mut config = Config { flash: two_passes(), ..tiny() };
    (config.geometry.channels, config.geometry.chips_per_channel) = (1, 1);
    config.precondition.pattern = Pattern::Sequential;
    config.precondition.fill = 0.0;
    config
}

fn write(command: u64) -> HostIo {
    let size = (COMMAND * UNIT) as u32;
    HostIo::new(HostOp::Write, Nanos::ZERO, command * COMMAND * UNIT, size)
}

/// Serves requests. Returns how long each took, in microseconds, in the order given, when each
/// command was programmed, and what was counted.
fn serve(config: &Config, requests: &[HostIo]) -> (Vec<u64>, Vec<u64>, Counters) {
    let mut device = drive(config);
    let (mut answers, mut programmed) = (Vec::<Completion>::new(), Vec::new());
    // The last read comes long after all else.
    let all = requests.iter().copied().chain([read(Span::us(900_000), 0, 1)]);
    device.run_watched(all, Pacing::Open, &mut answers, |device| {
        device.check_superblocks().expect("the laws");
        let programs = device.counters().programs.sum();
        while (programmed.len() as u64) < programs / COMMAND {
            programmed.push(device.now().0 / 1000);
        }
    });
    let took = |io: &HostIo| answer_to(io, &answers).latency().0 / 1000;
    (requests.iter().map(took).collect(), programmed, device.counters())
}

/// The passes of word lines 0 to 3, which are a superblock: first of 0 and 1, second of 0, first of
/// 2, second of 1, first of 3, second of 2 and of 3. Of the next superblock, the last is never
/// followed by another.
#[test]
fn the_second_pass_follows_the_first_of_the_next_word_line() {
    let requests: Vec<HostIo> = (0..6).map(write).collect();
    for (cache_program, expected) in [
        // First passes end at 460, 920, 2280 and 3640 us; then at 5900 and 6360.
        (false, [1820, 3180, 4540, 5440, 7260]),
        // All transfers but the first are hidden, except for 20 us where one of 240 us has only a
        // first pass of 220 us to hide behind: before each second pass that follows one.
        (true, [1380, 2280, 3180, 3840, 4980]),
    ] {
        let mut config = one_die();
        config.flash.cache_program = cache_program;
        let (took, programmed, counters) = serve(&config, &requests);
        assert_eq!(took, [0; 6]);
        assert_eq!(programmed, expected, "cache program {cache_program}");
        // A unit counts once, in however many passes it is programmed.
        assert_eq!(counters.programs[Source::Host], 5 * COMMAND);
        // First passes of all six, second passes of five.
        assert_eq!(counters.operations, 11);
    }
}

/// Between the passes, data are read from the buffer.
#[test]
fn what_is_between_its_passes_is_read_from_the_buffer() {
    let late = 100_000;
    for (at, unit, took) in [
        // The first pass of command 0 has ended, and that of command 1 is on the cells.
        (600, 0, 0),
        // The second pass of command 0 ends at 1,820 us.
        (1800, 0, 0),
        (1900, 0, 50),
        // The second word line never has a second pass: nothing follows it.
        (late, COMMAND, 0),
    ] {
        let (reads, _, counters) =
            serve(&one_die(), &[write(0), write(1), read(Span::us(at), unit, 1)]);
        assert_eq!(reads[2], took, "unit {unit} at {at} us");
        assert_eq!(counters.buffer_read_hits, u64::from(took == 0));
    }
}

/// A read suspends either pass. It comes 60 us into the first pass, whose phase ends after 4 us;
/// and 40 us into the second, whose verify ends after 4 us.
#[test]
fn either_pass_is_suspended() {
    let mut config = one_die();
    config.precondition.fill = 0.5;
    config.die_order.name = DieOrderKind::ReadFirst;
    config.suspension.name = SuspensionKind::Ips;
    let writes = || [write(7), write(8)];
    for (at, programmed) in [(300, 1820 + 50 + 3), (1200, 1820 + 50 + 3)] {
        let requests: Vec<HostIo> =
            writes().into_iter().chain([read(Span::us(at), 0, 1)]).collect();
        let (took, done, counters) = serve(&config, &requests);
        assert_eq!((took[2], &done[..]), (54, &[programmed][..]), "at {at}");
        assert_eq!(counters.suspensions, 1);
    }
}

/// A word line keeps its place in the buffer until its second pass has ended. The smallest buffer
/// holds one of each die, and two more; a smaller one is refused, with the numbers.
#[test]
fn the_buffer_keeps_a_word_line_of_each_die() {
    let mut config = one_die();
    config.buffer.size = Bytes(3 * COMMAND * UNIT);
    let requests: Vec<HostIo> = (0..5).map(write).collect();
    assert_eq!(serve(&config, &requests).0, [0, 0, 0, 1820, 3180]);
    config.buffer.size = Bytes(3 * COMMAND * UNIT - 1);
    let refused = config.layout().expect_err("too small");
    let [refusal] = &refused[..] else { panic!("{refused:?}") };
    assert_eq!(refusal.keys, ["flash.program_passes", "buffer.size"]);
    for part in ["71 units of 4KiB", "each of 1 dies", "must hold 72 units"] {
        assert!(refusal.what.contains(part), "{part}: {}", refusal.what);
    }
    assert!(refusal.hint.as_ref().is_some_and(|hint| hint.contains("288KiB")), "{refusal:?}");
    config.flash.program_passes = 3;
    assert!(config.layout().expect_err("three")[0].what.contains("expected 1 or 2"));
}

/// Parity is programmed in two passes like all else, and is due after as many commands.
#[test]
fn parity_has_two_passes() {
    let mut config = one_die();
    protect(&mut config, 2);
    config.over_provisioning = 0.7;
    let (_, programmed, counters) = serve(&config, &[write(0), write(1), write(2)]);
    // Word lines 0 to 3 are data, parity, data, parity, as far as the parity of the last is due:
    // before the next that stores data.
    assert_eq!(programmed[..3], [1820, 3180, 4540]);
    assert_eq!(counters.programs[Source::Parity], 2 * COMMAND);
    assert_eq!(counters.programs[Source::Host], 2 * COMMAND);
}

/// Units that garbage collection moves leave their victim after the first pass, so that the victim
/// can be erased, and are read from the controller until the second has ended. Moving them costs no
/// more programs than in one pass.
#[test]
fn collection_does_not_wait_for_the_second_pass() {
    let mut wafs = Vec::new();
    for flash in [tiny().flash, two_passes()] {
        let mut config = Config { flash, ..tiny() };
        config.geometry.blocks_per_plane = 100;
        config.over_provisioning = 0.3;
        let mut device = drive(&config);
        let logical = u64::from(device.superblocks().map.logical());
        let mut rng = Rng::stream(7, "writes");
        let writes = (0..logical)
            .map(|_| HostIo::new(HostOp::Write, Nanos::ZERO, rng.below(logical) * UNIT, 4096));
        let (mut between, mut events) = (0u64, 0u64);
        device.run_watched(writes, Pacing::Closed { depth: 32 }, &mut (), |device| {
            events += 1;
            if events.is_multiple_of(997) {
                device.check_superblocks().expect("the laws");
                let layer = device.superblocks();
                let held = |&page: &Lpn| match layer.map.place(page) {
                    Location::Flash(unit) => layer.is_between_passes(unit),
                    _ => false,
                };
                between += layer.map.pages().filter(held).count() as u64;
            }
        });
        assert_eq!(between > 0, flash.program_passes == 2);
        wafs.push(device.counters().waf().expect("it was written"));
    }
    let off = wafs[1] / wafs[0] - 1.0;
    assert!(off.abs() < 0.03, "{wafs:?}");
}
