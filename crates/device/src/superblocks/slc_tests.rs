//! The SLC cache: cases derived by hand, to the nanosecond, and the rate of a drive that folds
//! while it is written.
//!
//! The drive of the cases has one die of two planes. A command in SLC mode transfers two pages of
//! four units in 2 x 40 us and programs for 4 x (20 + 24) = 176 us: 256 us for 8 units. With all
//! bits of a cell it is 6 x 40 + 15 x 44 = 900 us for 24 units. A superblock has four commands: 96
//! units, or 32 in SLC mode. A page in SLC mode is sensed in 25 us. An erase takes 3,324 us.

use super::Superblocks;
use super::cases::{UNIT, drive, tiny};
use crate::config::{Config, Pattern, WhenFull};
use crate::event_loop::{Device, Pacing};
use crate::mapping::page_map::Location;
use crate::observe::completion::Completion;
use crate::observe::counters::SlcCounts;
use crate::observe::operation::Source;
use fowler_nand::PerPageType;
use fowler_units::{Bytes, HostIo, HostOp, Lpn, Nanos, Rng, Span};

/// A drive of one die that holds nothing, with two superblocks in SLC mode: 64 units. Its buffer
/// holds 48.
fn cached() -> Config {
    let mut config = tiny();
    (config.geometry.channels, config.geometry.chips_per_channel) = (1, 1);
    config.buffer.size = Bytes(48 * UNIT);
    config.precondition.pattern = Pattern::Sequential;
    config.precondition.fill = 0.0;
    config.slc.fixed = 2;
    config
}

fn io(op: HostOp, at_us: u64, unit: u64) -> HostIo {
    HostIo::new(op, Nanos(at_us * 1000), unit * UNIT, UNIT as u32)
}

fn writes(at_us: u64, units: std::ops::Range<u64>) -> Vec<HostIo> {
    units.map(|unit| io(HostOp::Write, at_us, unit)).collect()
}

/// A count of the cache that has changed, and when, in microseconds.
type Change = (u64, SlcCounts);

/// Serves requests. Returns how long each took in microseconds, in the order given, and when the
/// counts of the cache changed.
fn serve(device: &mut Device<Superblocks>, requests: &[HostIo]) -> (Vec<u64>, Vec<Change>) {
    let mut answers: Vec<Completion> = Vec::new();
    let mut changes: Vec<Change> = Vec::new();
    device.run_watched(requests.iter().copied(), Pacing::Open, &mut answers, |device| {
        device.check_superblocks().expect("the laws");
        let counts = device.counters().slc;
        if changes.last().map_or(SlcCounts::default(), |&(_, last)| last) != counts {
            changes.push((device.now().0 / 1000, counts));
        }
    });
    let took = |io: &HostIo| {
        let same = |answer: &&Completion| {
            (answer.io.op, answer.io.offset, answer.io.at) == (io.op, io.offset, io.at)
        };
        let answer = answers.iter().find(same).expect("answered");
        assert_eq!(answer.blame.total(), answer.latency());
        answer.latency().0 / 1000
    };
    (requests.iter().map(took).collect(), changes)
}

/// When each of the first 160 units of a burst is taken: 48 at once, and then as many as each
/// command has stored.
fn expected(commands: impl IntoIterator<Item = (u64, usize)>) -> Vec<u64> {
    let mut all = vec![0; 48];
    for (done, units) in commands {
        all.extend(std::iter::repeat_n(done, units));
    }
    all.truncate(160);
    all
}

/// Eight commands fill the cache. Later units wait for whole commands that go past it, each of
/// which makes room for 24 units.
#[test]
fn a_burst_is_fast_until_the_cache_is_full() {
    let requests = writes(0, 0..160);
    let mut device = drive(&cached());
    let slc = (1..=8).map(|number| (256 * number, 8));
    let past = (1..=2).map(|number| (8 * 256 + 900 * number, 24));
    assert_eq!(serve(&mut device, &requests).0, expected(slc.chain(past)));
    assert_eq!(device.counters().slc.cached, 64);
    assert_eq!(device.counters().slc.folded, 0);
    // Without a cache all units are as slow as those that went past it.
    let mut config = cached();
    config.slc.fixed = 0;
    let all = (1..=5).map(|number| (900 * number, 24));
    assert_eq!(serve(&mut drive(&config), &requests).0, expected(all));
}

/// A unit is read from where it is: in SLC mode, or as the page type of its place has it.
#[test]
fn a_unit_is_read_as_it_was_programmed() {
    let mut device = drive(&cached());
    let mut requests = writes(0, 0..160);
    let of_slc = |unit| io(HostOp::Read, 50_000 + unit * 1000, unit);
    // The first page of each plane, the next command, and what went past the cache: pages of type
    // 0, 1 and 2.
    let reads = [(0, 25), (4, 25), (8, 25), (63, 25), (64, 40), (72, 60), (80, 80)];
    requests.extend(reads.map(|(unit, _)| of_slc(unit)));
    let (took, _) = serve(&mut device, &requests);
    assert_eq!(took[160..], reads.map(|(_, sense)| sense + 10));
}

/// Reads that come beside a program in SLC mode wait for its 256 us.
#[test]
fn a_read_waits_for_a_program_in_slc_mode() {
    let mut config = cached();
    config.precondition.fill = 0.5;
    let read = io(HostOp::Read, 1, 0);
    let requests = [writes(0, 200..208), vec![read]].concat();
    let (took, _) = serve(&mut drive(&config), &requests);
    assert_eq!(took[8..], [256 - 1 + 40 + 10]);
}

/// After 100 ms without a request, at 103,848 us, both superblocks are folded. Each of their pages
/// takes 25 + 40 us to read. Two commands of 24 units are on their way at most, so 12 pages of 16
/// are read first (780 us), and then programmed (twice 900 us). The first superblock is among them.
/// The other four pages are read after the second program (260 us), before the erase of the first
/// superblock (3,324 us); then their 16 units are programmed (900 us), and the second is erased.
#[test]
fn the_cache_is_folded_in_idle_time() {
    let mut device = drive(&cached());
    let again = writes(300_000, 0..64);
    let (took, changes) = serve(&mut device, &[writes(0, 0..160), again].concat());
    let begun = 3_848 + 100_000;
    let first_erased = begun + 780 + 2 * 900 + 260 + 3_324;
    let counts = |folded, erased| SlcCounts { cached: 64, folded, erased };
    let after = changes.iter().position(|&(at, _)| at >= begun).expect("it is folded");
    assert_eq!(
        changes[after..after + 4],
        [
            (begun, counts(48, 0)),
            // The last pages of the second are asked for when the first program has ended.
            (begun + 780 + 900, counts(64, 0)),
            (first_erased, counts(64, 1)),
            (first_erased + 900 + 3_324, counts(64, 2)),
        ]
    );
    let counters = device.counters();
    // Folding reads units and programs whole commands: twice 24, and 16 of which the rest is
    // padding.
    assert_eq!((counters.reads[Source::Gc], counters.programs[Source::Gc]), (64, 72));
    assert_eq!(counters.collections.background, 2);
    // Then the cache takes a burst again.
    assert_eq!(took[160..], expected((1..=2).map(|number| (256 * number, 8))));
    // Units that were not written again are where they were folded to or had gone to at first.
    let layer = device.superblocks();
    for page in Lpn(64).run(96) {
        let Location::Flash(unit) = layer.map.place(page) else { panic!("unit {page} is nowhere") };
        assert!(!layer.shape.is_slc(unit), "unit {page}");
    }
}

/// A request while the second superblock is being read: what has been read of it is stored, and the
/// rest stays until the host has been idle again.
#[test]
fn folding_in_idle_time_stops_for_a_request() {
    let mut device = drive(&cached());
    let begun = 3_848 + 100_000;
    let mut requests = writes(0, 0..160);
    // This read is answered much later: the die has 12 reads and two programs to do.
    requests.push(io(HostOp::Read, begun + 1, 159));
    requests.push(io(HostOp::Read, 400_000, 0));
    let (took, changes) = serve(&mut device, &requests);
    let answered = begun + 1 + took[160];
    let counts = |folded, erased| SlcCounts { cached: 64, folded, erased };
    let after: Vec<_> = changes.iter().filter(|&&(at, _)| at >= begun).copied().collect();
    // Four pages of the second have been asked for when the request comes.
    assert_eq!(after[0], (begun, counts(48, 0)));
    assert_eq!(after[1].1, counts(48, 1));
    let resumed = after.iter().find(|(_, slc)| slc.folded == 64).expect("it is folded");
    assert!(resumed.0 >= answered + 100_000, "{after:?}, answered at {answered}");
    assert_eq!(device.counters().slc.erased, 2);
}

/// A dynamic cache takes as many superblocks as leave enough erased: of the 24 of an empty drive
/// with 16 kept, 8 with 32 units each. On a drive that is half full the cache has fewer, and on a
/// full one none.
#[test]
fn a_dynamic_cache_shrinks_as_the_drive_fills() {
    for (fill, dynamic, keep_erased, cached) in
        [(0.0, 99, 16, 8 * 32), (0.0, 3, 16, 3 * 32), (0.5, 99, 12, 4 * 32), (1.0, 99, 12, 0)]
    {
        let mut config = self::cached();
        config.slc.fixed = 0;
        (config.slc.dynamic, config.slc.keep_erased) = (dynamic, keep_erased);
        config.precondition.fill = fill;
        let mut device = drive(&config);
        let end = io(HostOp::Read, 90_000, 0);
        serve(&mut device, &[writes(0, 0..480), vec![end]].concat());
        assert_eq!(device.counters().slc.cached, cached, "{fill} {dynamic} {keep_erased}");
    }
}

/// The long-term write rate of a drive that waits for its cache: each unit is programmed in SLC
/// mode, read, and programmed again, and the erase of a superblock of the cache is shared by its
/// units. Each die has a channel of its own and always something to do. The tolerance is four times
/// the largest deviation found.
#[test]
fn folding_takes_its_share_of_the_rate() {
    for (word_line, iterations) in [(3, 4), (3, 8), (2, 4), (4, 2)] {
        let mut config = cached();
        config.geometry.channels = 4;
        config.geometry.blocks_per_plane = 40;
        config.geometry.pages_per_block = 64 * word_line;
        config.flash.word_line = word_line;
        config.timing.read = PerPageType::uniform(Span::us(50));
        config.buffer.size = Bytes(1 << 20);
        config.slc.iterations = iterations;
        config.slc.when_full = WhenFull::Wait;
        config.slc.fixed = 4;
        let mut device = drive(&config);
        let shape = device.superblocks().shape;
        let of_a_die = f64::from(shape.slc_data_units()) / f64::from(shape.dies);
        let slc = (80.0 + 44.0 * f64::from(iterations)) / 8.0;
        let read = (25.0 + 40.0) / 4.0;
        let again = (80.0 * f64::from(word_line) + 660.0) / f64::from(8 * word_line);
        let theory = f64::from(shape.dies) / (slc + read + again + 3324.0 / of_a_die);
        let logical = u64::from(device.superblocks().map.logical());
        let mut answers: Vec<Completion> = Vec::new();
        device.run(writes(0, 0..logical), Pacing::Closed { depth: 64 }, &mut answers);
        // Once the cache is full.
        let [from, to] = [answers.len() / 4, answers.len() - 1];
        let took = answers[to].done - answers[from].done;
        let rate = (to - from) as f64 / (took.0 as f64 / 1000.0);
        let off = rate / theory - 1.0;
        assert!(off.abs() < 0.002, "{word_line} bits, {iterations}: {rate}, {theory} by theory");
    }
}

/// Write amplification counts what is folded: random writes over a small part of an empty drive,
/// all of which goes through the cache.
#[test]
fn what_is_folded_counts_as_written() {
    let mut config = cached();
    config.slc.when_full = WhenFull::Wait;
    config.buffer.size = Bytes(1 << 20);
    let mut device = drive(&config);
    let mut rng = Rng::stream(3, "writes");
    let all = (0..3000).map(|_| io(HostOp::Write, 0, rng.below(600)));
    device.run(all, Pacing::Closed { depth: 8 }, &mut ());
    let counters = device.counters();
    assert_eq!(counters.slc.cached, counters.programs[Source::Host]);
    assert!(counters.programs[Source::Gc] >= counters.slc.folded, "{counters:?}");
    let waf = counters.waf().expect("it was written");
    let host = counters.programs[Source::Host] as f64;
    assert!(waf >= 1.0 + counters.slc.folded as f64 / host - 0.05, "{waf} {counters:?}");
    let erased: u32 = device.superblocks().erase_counts().iter().sum();
    assert_eq!(u64::from(erased), counters.erases.sum(), "one die");
    assert!(counters.slc.erased < erased.into(), "{counters:?}");
}
