//! A buffer that evicts lazily: cases derived by hand. On [`tiny`] a command holds 24 units.

use super::buffer::State;
use super::cases::{UNIT, drive, read, tiny};
use crate::config::{Config, Eviction, Pattern};
use crate::event_loop::{Device, Pacing};
use crate::mapping::page_map::Location;
use crate::observe::operation::Source;
use crate::policy::hotness::Detector;
use crate::policy::placement::PlacementKind;
use crate::policy::replacement::ReplacementKind;
use crate::policy::sensing::SensingKind;
use crate::policy::voltage::VoltageKind;
use crate::reliability::ModelKind;
use crate::superblocks::Superblocks;
use crate::{AccessClass, Voltage};
use fowler_units::{BlockId, Bytes, HostIo, HostOp, Lpn, Nanos, Span};

/// A drive full of data written in order, with a buffer of 64 units. A command of each die takes
/// 96, so half of them are kept free.
fn lazy() -> Config {
    let mut config = tiny();
    config.precondition.pattern = Pattern::Sequential;
    config.buffer.size = Bytes(64 * UNIT);
    config.buffer.eviction = Eviction::Lazy;
    config.buffer.evict_ahead = 4;
    config
}

/// A write of a unit, in its turn.
fn write(turn: u64, unit: u64) -> HostIo {
    HostIo::new(HostOp::Write, Nanos(turn * 1_000_000), unit * UNIT, UNIT as u32)
}

fn served(config: &Config, requests: impl IntoIterator<Item = HostIo>) -> Device<Superblocks> {
    let mut device = drive(config);
    let requests: Vec<HostIo> = requests.into_iter().collect();
    let last = read(Span::ms(1_000), 1000, 1);
    device.run(requests.into_iter().chain([last]), Pacing::Open, &mut ());
    device.check_superblocks().unwrap_or_else(|law| panic!("{law:?}"));
    device
}

fn is_buffered(device: &Device<Superblocks>, unit: u32) -> bool {
    matches!(device.superblocks().map.place(Lpn(unit)), Location::Buffer(_))
}

/// Of 64 frames, 32 can be written before fewer than 32 are free. The next unit evicts the least
/// recently used ones: as many as a command takes. A unit that is read or written again meanwhile
/// is not among them.
#[test]
fn units_stay_until_room_is_needed() {
    let before = served(&lazy(), (0..32).map(|unit| write(unit, unit)));
    assert_eq!(before.counters().programs.sum(), 0);
    let requests = (0..32).map(|unit| write(unit, unit));
    let used = [read(Span::ms(60), 0, 1), write(61, 1), write(62, 32)];
    let after = served(&lazy(), requests.chain(used));
    assert_eq!(after.counters().programs[Source::Host], 24);
    assert_eq!((after.counters().buffer_read_hits, after.counters().buffer_write_hits), (1, 1));
    for unit in 0..33 {
        let evicted = (2..26).contains(&unit);
        assert_eq!(is_buffered(&after, unit), !evicted, "unit {unit}");
    }
}

/// An eager buffer programs the same units as soon as there are 24.
#[test]
fn an_eager_buffer_keeps_nothing() {
    let mut config = lazy();
    config.buffer.eviction = Eviction::Eager;
    config.buffer.evict_ahead = tiny().buffer.evict_ahead;
    let device = served(&config, (0..60).map(|unit| write(unit, unit)));
    assert_eq!(device.counters().programs[Source::Host], 48);
    assert!((0..60).all(|unit| is_buffered(&device, unit) == (unit >= 48)));
}

/// A unit that was read is in the buffer for the next read, and its copy in the flash stays valid.
/// Once room is needed it is dropped, at no cost, before units that were written (`clean_first`),
/// or if it was used least recently (`lru`).
#[test]
fn what_was_read_stays_clean() {
    for (replacement, programmed) in [(ReplacementKind::CleanFirst, 0), (ReplacementKind::Lru, 24)]
    {
        let mut config = lazy();
        config.buffer.cache_reads = true;
        config.replacement.name = replacement;
        // A unit of each of ten flash pages, twice.
        let reads = (0..10).map(|at| read(Span::ms(at), 500 + 4 * at, 1));
        let again = (0..10).map(|at| read(Span::ms(100 + at), 500 + 4 * at, 1));
        let before = served(&config, reads.clone().chain(again.clone()));
        assert_eq!(before.counters().buffer_read_hits, 10);
        // The last read, which ends the run, brings one more.
        assert_eq!(before.counters().reads[Source::Host], 11);
        // 26 written units and 10 clean ones: 4 of them leave.
        let written = (0..26).map(|unit| write(20 + unit, unit));
        let device =
            served(&config, written.chain(again.clone()).chain(std::iter::once(write(500, 60))));
        let clean = device.superblocks().buffer.held().filter(|it| it.2 == State::Clean).count();
        assert_eq!(device.counters().programs[Source::Host], programmed, "{replacement:?}");
        assert!(clean > 0, "{replacement:?}");
    }
}

/// Units that were mostly read before they are evicted are programmed at boosted voltages, units
/// that were only written at reduced ones, and each kind has superblocks of its own.
#[test]
fn voltages_follow_the_use_in_the_buffer() {
    let mut config = lazy();
    config.geometry.blocks_per_plane = 64;
    config.gc.foreground_below = 6;
    config.buffer.size = Bytes(512 * UNIT);
    config.hotness.detectors = 1 << Detector::BufferHits as u32;
    config.placement.name = PlacementKind::Streams;
    config.reliability.model = ModelKind::ByVoltage;
    config.voltage.name = VoltageKind::ByHotness;
    config.sensing.name = SensingKind::Model;
    config.sensing.inputs = 2;
    // The first 100 units are each read 20 times after their write, the others never.
    let writes = (0..400).map(|unit| write(unit, unit));
    let reads = (0..2000).map(|at| read(Span::ms(600) + Span::us(at * 100), at % 100, 1));
    let more = (0..600).map(|at| write(900 + at, 600 + at));
    let mut all: Vec<HostIo> = writes.chain(reads).chain(more).collect();
    all.sort_by_key(|io| io.at);
    let mut device = drive(&config);
    device.run(all, Pacing::Open, &mut ());
    device.check_superblocks().unwrap_or_else(|law| panic!("{law:?}"));
    let layer = device.superblocks();
    let condition = device.flash.condition().expect("cells err");
    let mut programmed = [0; 2];
    for unit in 0..400 {
        let Location::Flash(place) = layer.map.place(Lpn(unit)) else { continue };
        let superblock = layer.shape.superblock_of(place);
        let (expected, class) = match unit < 100 {
            true => (Voltage::Boosted, AccessClass::ReadHot),
            false => (Voltage::Reduced, AccessClass::WriteHot),
        };
        assert_eq!(layer.streams.tag_of(superblock).class(), class, "unit {unit}");
        let page = layer.shape.place(place).1;
        let block = BlockId(page.0 / layer.layout.geometry.pages_per_block);
        assert_eq!(condition.block(block).mode.voltage, expected, "unit {unit}");
        programmed[usize::from(unit < 100)] += 1;
    }
    assert!(programmed.iter().all(|&count| count >= 90), "{programmed:?}");
}
