//! A case derived by hand: what fills the last command of a superblock that gains little.

use super::cases::{UNIT, drive, read, tiny};
use crate::config::Pattern;
use crate::event_loop::Pacing;
use crate::observe::completion::Completion;
use crate::observe::operation::Source;
use fowler_units::{Bytes, HostIo, HostOp, Nanos, RuId, Span};

/// One die: a command stores 24 units, a superblock 96. Of 24 superblocks 20 are full of data
/// written in order. Then 216 units are written again: 20 of the first, 16 of the second, 10 of
/// each other. They fill two superblocks and open a third, so that one is left, and garbage
/// collection begins. The first superblock has 76 valid units, three commands and 4 units. Its
/// erase gains 20 units, less than a command, so the other 20 places of the fourth command take
/// units of the second superblock: it had 80 valid units, and has 60.
#[test]
fn the_last_command_takes_units_of_the_next_superblock() {
    let mut config = tiny();
    (config.geometry.channels, config.geometry.chips_per_channel) = (1, 1);
    config.over_provisioning = 1.0 / 6.0;
    (config.gc.foreground_below, config.gc.background_below) = (2, 2);
    config.buffer.size = Bytes(48 * UNIT);
    config.precondition.pattern = Pattern::Sequential;
    let mut device = drive(&config);
    assert_eq!(u64::from(device.superblocks().map.logical()), 20 * 96);
    let again =
        |superblock: u64, units: std::ops::Range<u64>| units.map(move |at| superblock * 96 + at);
    let units =
        again(0, 0..10).chain(again(1, 0..6)).chain((0..20).flat_map(|at| again(at, 10..20)));
    let writes: Vec<_> = units
        .map(|unit| HostIo::new(HostOp::Write, Nanos::ZERO, unit * UNIT, UNIT as u32))
        .collect();
    assert_eq!(writes.len(), 216);
    // The simulation runs on after the last write until this read comes.
    let read = read(Span::ms(1000), 0, 1);
    let mut answers: Vec<Completion> = Vec::new();
    let mut seen = Vec::new();
    device.run_watched(writes.into_iter().chain([read]), Pacing::Open, &mut answers, |device| {
        device.check_superblocks().expect("the laws");
        let (counters, layer) = (device.counters(), device.superblocks());
        let valid = [RuId(0), RuId(1)].map(|at| layer.map.valid(at));
        let moved = (counters.reads[Source::Gc], counters.programs[Source::Gc]);
        seen.push((moved, valid, layer.collector.carried));
    });
    // The 20 units that the first gained have gone to the second, and the host gets none of them.
    assert!(seen.contains(&((96, 96), [0, 60], 0)), "{seen:?}");
    // The second gains 36 units, so the rest of its last command is padded: 60 units take three
    // commands.
    assert!(seen.iter().any(|&(moved, ..)| moved == (156, 168)), "{seen:?}");
}
