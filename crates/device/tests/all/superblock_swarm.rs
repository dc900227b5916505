//! Random drives with superblocks under random requests, checked as they run.
//!
//! Slow: sixty drives of each kind, with all laws checked at every event of one drive in ten, at
//! every seventh of the others, or at every thousandth.

use crate::support::program_order::ProgramOrder;
use crate::support::random::{life, one_of};
use crate::support::superblocks::{
    aging, built, cached, covered, drawn, erring, handled, lazy, leveled, of_other_units, requests,
    scrubbed, streamed, wearing_out, zones,
};
use fowler_device::policy::die_order::{self, DieOrderKind};
use fowler_device::policy::redundancy::RedundancyKind;
use fowler_device::policy::scrub::ScrubKind;
use fowler_device::policy::throttle::ThrottleKind;
use fowler_device::policy::victim::{self, VictimKind};
use fowler_device::policy::wear::WearKind;
use fowler_device::*;
use fowler_units::{Rng, Span};

/// A drive that is overwritten in any order never waits for itself.
#[test]
fn zones_are_written_whatever_the_drive() {
    write_zones("zones", 2, |_, config| config);
}

#[test]
fn zones_are_written_whatever_the_cache() {
    write_zones("zones in a cache", 2, cached);
}

#[test]
fn zones_are_written_whatever_the_age() {
    write_zones("zones that age", 2, aging);
}

#[test]
fn zones_are_written_whatever_the_units() {
    write_zones("zones and units", 2, of_other_units);
}

#[test]
fn zones_are_written_whatever_stays() {
    write_zones("zones that stay", 2, lazy);
}

#[test]
fn zones_are_written_whatever_the_errors() {
    write_zones("zones that err", 2, erring);
}

#[test]
fn zones_are_written_whatever_the_parity() {
    write_zones("zones with parity", 2, covered);
}

#[test]
fn zones_are_written_whatever_the_victim() {
    write_zones("zones and victims", 2, victims);
}

#[test]
fn zones_are_written_whatever_the_streams() {
    write_zones("zones and streams", 2, streamed);
}

#[test]
fn zones_are_written_whatever_the_wear() {
    write_zones("zones and wear", 2, leveled);
}

#[test]
fn zones_are_written_whatever_is_scrubbed() {
    write_zones("zones that are scrubbed", 2, scrubbed);
}

#[test]
fn zones_are_written_whatever_is_combined() {
    write_zones("zones and all", 3, combined);
}

/// Alters a drive in several of all ways, one after another in any order. A way that cannot be
/// combined with the earlier ones is left out; where it draws again what they have drawn, it holds.
fn combined(rng: &mut Rng, mut config: Config) -> Config {
    type Alter = fn(&mut Rng, Config) -> Config;
    let mut all: [Alter; 12] = [
        cached,
        aging,
        covered,
        erring,
        lazy,
        scrubbed,
        streamed,
        leveled,
        victims,
        wearing_out,
        throttled,
        hurried,
    ];
    for left in (1..=all.len()).rev() {
        let next = rng.below(left as u64) as usize;
        if rng.chance(0.3) {
            config = if_sound(config, |config| all[next](rng, config));
        }
        all.swap(next, left - 1);
    }
    if rng.chance(0.3) {
        config = if_sound(config, |config| of_other_units(rng, config));
    }
    config
}

/// Returns the altered drive, or the one before if the altered one cannot be built.
fn if_sound(config: Config, alter: impl FnOnce(Config) -> Config) -> Config {
    let altered = alter(config.clone());
    if altered.layout().is_ok() { altered } else { config }
}

/// Lets the drive throttle its writes, unless it has an SLC cache.
fn throttled(rng: &mut Rng, mut config: Config) -> Config {
    if !config.slc.is_on() {
        life(&mut config, rng, ThrottleKind::ALL);
    }
    config
}

/// Gives requests the shortest deadline, after which they are served before all others.
fn hurried(_: &mut Rng, mut config: Config) -> Config {
    config.die_order = die_order::Params { name: DieOrderKind::Rhio, deadline: Span::ms(10) };
    config
}

/// Lets a drive choose its victims by another policy, with or without a cache or data that ages.
fn victims(rng: &mut Rng, config: Config) -> Config {
    let mut config = match rng.below(3) {
        0 => cached(rng, config),
        1 => aging(rng, config),
        _ => config,
    };
    let name = one_of(rng, &[VictimKind::Fifo, VictimKind::DChoices, VictimKind::CostBenefit]);
    config.victim = victim::Params { name, d: 1 + rng.below(3) as u32 };
    config
}

/// The last superblocks of this drive gain less than a command holds, so padding would eat the room
/// that collection gains.
#[test]
fn zones_are_written_where_padding_eats_the_gain() {
    assert!(write_zones_of(1354, "zones in a cache", cached), "it could not be built");
}

/// Writes zones on many drives, of which at least one in `least` can be built.
fn write_zones(stream: &str, least: u64, altered: impl Fn(&mut Rng, Config) -> Config) {
    let drives = if cfg!(debug_assertions) { 60 } else { 600 };
    let ran = (0..drives).filter(|&seed| write_zones_of(seed, stream, &altered)).count();
    assert!(ran as u64 * least > drives, "only {ran} of {drives} drives could be built");
}

/// The maximum number of events, so that a drive that collects forever fails instead of running on:
/// seed 1354 takes a hundredth of it.
const EVENTS_MOST: u64 = 10_000_000;

/// Writes zones on the drive of a seed. Returns true if the drive could be built.
fn write_zones_of(seed: u64, stream: &str, altered: impl Fn(&mut Rng, Config) -> Config) -> bool {
    let mut rng = Rng::stream(seed, stream);
    let config = drawn(&mut rng);
    let mut config = altered(&mut rng, config);
    let streams = config.open_streams() + u32::from(config.wear.name != WearKind::Off);
    config.geometry.blocks_per_plane = 16 + rng.below(48) as u32 + 8 * (streams - 2);
    config.over_provisioning = one_of(&mut rng, &[0.15, 0.25, 0.4, 0.6]);
    let raid5 = config.redundancy.name == RedundancyKind::Raid5;
    if streams > 2 || config.redundancy.has_stripes() && !raid5 {
        config.over_provisioning = (config.over_provisioning + 0.25).min(0.8);
    }
    config.precondition.fill = 1.0;
    let Ok(mut device) = built(&config) else { return false };
    let logical = config.layout().expect("it was built").logical.0;
    let mut all = zones(&mut rng, logical, 1500);
    handled(&mut Rng::stream(seed, "handles"), &mut all);
    let order = ProgramOrder::new(&config, format!("seed {seed} of {stream}"));
    let mut probe = (Vec::<Completion>::new(), order);
    let depth = 1 + rng.below(u64::from(config.queue.depth)) as u32;
    let mut events = 0;
    device.run_watched(all.iter().copied(), Pacing::Closed { depth }, &mut probe, |device| {
        events += 1;
        if events % 1000 == 0 {
            device.check_superblocks().unwrap_or_else(|law| panic!("seed {seed}: {law:?}"));
        }
        assert!(events < EVENTS_MOST, "seed {seed} of {stream} does not end");
    });
    assert_eq!(probe.0.len(), all.len(), "seed {seed}");
    device.check_superblocks().unwrap_or_else(|law| panic!("seed {seed}: {law:?}"));
    true
}

/// Every request is answered, its blame is its latency, and every law holds: at every event of one
/// drive in ten, at every seventh event of the others.
#[test]
fn nothing_is_lost_whatever_the_drive() {
    lose_nothing("superblocks", 0, |_, config| config);
}

/// Returns the sums of two counts of scrubbing.
fn added(one: Scrubbed, other: Scrubbed) -> Scrubbed {
    Scrubbed {
        pages: one.pages + other.pages,
        under_load: one.under_load + other.under_load,
        unreadable: one.unreadable + other.unreadable,
        blocks: one.blocks + other.blocks,
        moved: one.moved + other.moved,
        left: one.left + other.left,
        postponed: one.postponed + other.postponed,
    }
}

/// As [`nothing_is_lost_whatever_the_drive`], whichever superblocks are collected.
#[test]
fn nothing_is_lost_whatever_the_victim() {
    lose_nothing("superblocks and victims", 12, victims);
}

/// As [`nothing_is_lost_whatever_the_drive`], with programs of pages, and units that are pages.
#[test]
fn nothing_is_lost_whatever_the_units() {
    lose_nothing("superblocks of other units", 12, of_other_units);
}

/// As [`nothing_is_lost_whatever_the_drive`], with parity by wear and by stage of life, and
/// superblocks that are refreshed by age and by reads.
#[test]
fn nothing_is_lost_whatever_the_parity() {
    let counts = lose_nothing("superblocks with parity", 12, covered);
    assert!(counts.aged.refreshed > 0, "no superblock was refreshed");
}

/// As [`nothing_is_lost_whatever_the_drive`], with data divided into streams.
#[test]
fn nothing_is_lost_whatever_the_streams() {
    lose_nothing("superblocks and streams", 12, streamed);
}

/// As [`nothing_is_lost_whatever_the_drive`], with cold data that moves into worn superblocks.
#[test]
fn nothing_is_lost_whatever_the_wear() {
    let counts = lose_nothing("superblocks that are leveled", 12, leveled);
    assert!(counts.programs[Source::Wear] > 300, "{:?}", counts.programs);
}

/// As [`nothing_is_lost_whatever_the_drive`], with an SLC cache, which is also folded in pauses,
/// and interrupted there.
#[test]
fn nothing_is_lost_whatever_the_cache() {
    let counts = lose_nothing("superblocks with a cache", 12, cached);
    let SlcCounts { cached, folded, erased } = counts.slc;
    assert!(cached > 0 && folded > 0 && erased > 0, "{counts:?}");
    assert!(counts.collections.background > 0, "{counts:?}");
}

/// As [`nothing_is_lost_whatever_the_drive`], with data that ages, whose reads are repeated.
#[test]
fn nothing_is_lost_whatever_the_age() {
    let counts = lose_nothing("superblocks that age", 12, aging);
    assert!(counts.uncorrectable > 0, "{counts:?}");
    let (retries, retried) = (counts.retries_at[0], counts.aged.retried);
    assert!(counts.aged.refreshed > 5, "{counts:?}");
    assert!(retried > 0 && retries > retried && counts.aged.units >= retries, "{counts:?}");
}

/// As [`nothing_is_lost_whatever_the_drive`], with units that stay in the buffer until room is
/// needed.
#[test]
fn nothing_is_lost_whatever_stays() {
    let counts = lose_nothing("superblocks that stay", 12, lazy);
    assert!(counts.left.values().all(|&left| left > 100), "{counts:?}");
    assert!(counts.buffer_read_hits > 1000, "{counts:?}");
}

/// As [`nothing_is_lost_whatever_the_drive`], with cells that err by sensing level, programmed at
/// steps and voltages of all kinds.
#[test]
fn nothing_is_lost_whatever_the_errors() {
    let counts = lose_nothing("superblocks that err", 12, erring);
    assert!(counts.reads_at[..3].iter().all(|&reads| reads > 100), "{counts:?}");
    assert!(counts.uncorrectable > 0 && counts.retries_at[1] > 0, "{counts:?}");
}

/// As [`nothing_is_lost_whatever_the_drive`], with data that is read in the background, and goes on
/// being read when the host has left.
#[test]
fn nothing_is_lost_whatever_is_scrubbed() {
    let counts = lose_nothing("superblocks that are scrubbed", 12, scrubbed).scrubbed;
    let Scrubbed { pages, under_load, unreadable, blocks, moved, left, .. } = counts;
    assert!(pages > 10_000 && blocks > 300 && under_load > 100, "{counts:?}");
    assert!(unreadable > 0 && moved > 10 && left > 30, "{counts:?}");
}

/// As [`nothing_is_lost_whatever_the_drive`], with several of all these at once.
#[test]
fn nothing_is_lost_whatever_is_combined() {
    let counts = lose_nothing("superblocks and all", 12, combined);
    let waited = counts.throttled.delayed + counts.throttled.stopped;
    assert!(waited > Span::ZERO && counts.scrubbed.pages > 0, "{counts:?}");
}

/// Adds those counters of a drive that the tests of many drives ask for.
fn add(sum: &mut Counters, counters: &Counters) {
    sum.slc.cached += counters.slc.cached;
    sum.slc.folded += counters.slc.folded;
    sum.slc.erased += counters.slc.erased;
    sum.programs[Source::Wear] += counters.programs[Source::Wear];
    sum.collections.background += counters.collections.background;
    for level in 0..sum.reads_at.len() {
        sum.reads_at[level] += counters.reads_at[level];
    }
    for level in 0..sum.retries_at.len() {
        sum.retries_at[level] += counters.retries_at[level];
    }
    sum.throttled.delayed += counters.throttled.delayed;
    sum.throttled.stopped += counters.throttled.stopped;
    sum.uncorrectable += counters.uncorrectable;
    sum.buffer_read_hits += counters.buffer_read_hits;
    for class in AccessClass::ALL {
        sum.left[class] += counters.left[class];
    }
    sum.aged.retried += counters.aged.retried;
    sum.aged.units += counters.aged.units;
    sum.aged.refreshed += counters.aged.refreshed;
    sum.scrubbed = added(sum.scrubbed, counters.scrubbed);
}

/// Returns the sum of the counters of all drives.
fn lose_nothing(
    stream: &str,
    pauses: u64,
    altered: impl Fn(&mut Rng, Config) -> Config,
) -> Counters {
    let drives = if cfg!(debug_assertions) { 60 } else { 600 };
    let mut ran = 0;
    let mut sum = Counters::default();
    for seed in 0..drives {
        let mut rng = Rng::stream(seed, stream);
        let config = drawn(&mut rng);
        let config = altered(&mut rng, config);
        let Ok(mut device) = built(&config) else { continue };
        ran += 1;
        device.check_superblocks().unwrap_or_else(|law| panic!("seed {seed}, at first: {law:?}"));
        let logical = config.layout().expect("it was built").logical.0;
        let mut all = requests(&mut rng, logical, 600, pauses);
        handled(&mut Rng::stream(seed, "handles"), &mut all);
        let pacing = match rng.below(2) {
            0 => Pacing::Open,
            _ => Pacing::Closed { depth: 1 + rng.below(u64::from(config.queue.depth)) as u32 },
        };
        let order = ProgramOrder::new(&config, format!("seed {seed} of {stream}"));
        let mut probe = (Vec::<Completion>::new(), order);
        let mut events = 0u64;
        device.run_watched(all.iter().copied(), pacing, &mut probe, |device| {
            events += 1;
            assert!(events < EVENTS_MOST, "seed {seed} of {stream} does not end");
            if events.is_multiple_of(if seed % 10 == 0 { 1 } else { 7 }) {
                let law = device.check_superblocks();
                law.unwrap_or_else(|law| panic!("seed {seed}, event {events}: {law:?}"));
            }
        });
        let (answers, _) = probe;
        assert_eq!(answers.len(), all.len(), "seed {seed}");
        for answer in &answers {
            assert_eq!(answer.blame.total(), answer.latency(), "seed {seed}: {:?}", answer.io);
        }
        if config.scrub.name != ScrubKind::Off {
            device.rest_until(device.now() + config.scrub.period, &mut ());
            let law = device.check_superblocks();
            law.unwrap_or_else(|law| panic!("seed {seed}, after a period: {law:?}"));
        }
        let counters = device.counters();
        let of_host = counters.programs[Source::Host];
        let absorbed = counters.buffer_write_hits;
        assert!(of_host <= counters.pages_written - absorbed, "seed {seed}: {of_host}");
        assert!(counters.slc.cached <= of_host, "seed {seed}: {:?}", counters.slc);
        add(&mut sum, &counters);
    }
    assert!(ran * 4 > drives * 3, "only {ran} of {drives} drives could be built");
    sum
}
