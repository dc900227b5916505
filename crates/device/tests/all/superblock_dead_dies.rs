//! Random drives with superblocks whose dies fail for good, under random requests and other faults,
//! checked as they run. The laws say that nothing goes to a failed die, that every unit that cannot
//! be read was rebuilt, rewritten or lost, or waits and can be recovered, and that the room of all
//! superblocks is what the drive needs plus the spare, or the drive is read-only.
//!
//! Slow: 24 drives of each kind, with all laws checked at every fault and every 29th event.

use crate::superblock_faults::{
    Kind, failing, fault, kinds, load, protected, read_all, taken_so_far, times,
};
use crate::support::fault_tally::Tally;
use crate::support::random::one_of;
use crate::support::superblocks::{
    aging, built, cached, covered, drawn, erring, lazy, leveled, of_other_units, scrubbed,
    streamed, wearing_out,
};
use fowler_device::policy::redundancy::RedundancyKind;
use fowler_device::policy::scrub::ScrubKind;
use fowler_device::*;
use fowler_units::{ByteRate, DieId, Rng, Span};

/// The totals of a swarm: drives on which a die failed for good, those of them that became
/// read-only, those of these that have room, units rebuilt and lost, and requests that were
/// refused.
#[derive(Default, Debug)]
struct Totals {
    drives: u64,
    read_only: u64,
    stand_still: u64,
    rebuilt: u64,
    lost: u64,
    refused: u64,
}

/// Draws a fault that strikes whole dies.
fn fault_of_dies(rng: &mut Rng, config: &Config) -> Fault {
    let below = |rng: &mut Rng, count: u32| rng.below(count.into()) as u32;
    match rng.below(12) {
        0 => Fault::Channel(below(rng, config.geometry.channels)),
        1 => Fault::Chip(below(rng, config.geometry.chips())),
        _ => Fault::Die(DieId(below(rng, config.geometry.dies()))),
    }
}

/// State of a drive at the end of its case.
pub(crate) struct Ended {
    dies: FailedDieCounts,
    ledger: LossLedger,
    stands_still: bool,
    has_stripes: bool,
}

/// Runs the drive of a seed, some of whose dies fail for good; `None` if it cannot work.
pub(crate) fn case(seed: u64, (stream, altered): Kind, tally: &mut Tally) -> Option<Ended> {
    let mut rng = Rng::stream(seed, stream);
    let config = drawn(&mut rng);
    let config = altered(&mut rng, config);
    let mut config = failing(&mut rng, config);
    let rng = &mut Rng::stream(seed, &format!("{stream}/dies"));
    config.failed_dies.spare = one_of(rng, &[0, 0, 0, 1]);
    if rng.chance(0.8) {
        // Enough of the drive is left without a die.
        (config.geometry.channels, config.geometry.chips_per_channel) = (3, 2);
        config.geometry.blocks_per_plane += 8;
        if config.scrub.name == ScrubKind::Patrol {
            // Up to nine times as many pages are read.
            config.scrub.period = config.scrub.period * 9;
        }
        if config.superblocks.parity > 0 {
            config.superblocks.parity = one_of(rng, &[3, 4, 6]);
        }
        config.over_provisioning = one_of(rng, &[0.7, 0.8, 0.85]);
    }
    config.redundancy.rebuild_rate = ByteRate(one_of(rng, &[0, 0, 0, 100_000_000, 3_000_000]));
    let device = built(&config).ok()?;
    Some(run(device, &config, rng, &format!("seed {seed} of {stream}"), tally))
}

fn swarm(stream: &str) {
    let kind = *KINDS.iter().find(|kind| kind.0 == stream).expect("a kind of drive");
    let cases = times() * if cfg!(debug_assertions) { 24 } else { 400 };
    let (mut tally, mut totals, mut has_stripes) = (Tally::default(), Totals::default(), false);
    for seed in 0..cases {
        let Some(ended) = case(seed, kind, &mut tally) else { continue };
        has_stripes |= ended.has_stripes;
        totals.drives += u64::from(ended.dies.failed > 0);
        totals.read_only += u64::from(ended.dies.read_only.is_some());
        totals.stand_still += u64::from(ended.stands_still);
        totals.rebuilt += ended.ledger.rebuilt;
        totals.lost += ended.ledger.lost_in_all();
        totals.refused += ended.dies.refused;
    }
    let ran = tally.drives;
    assert!(ran * 2 > cases, "only {ran} of {cases} drives could be built");
    let Totals { drives, read_only, stand_still, rebuilt, lost, refused } = totals;
    assert!(drives > 10 && read_only > 0 && 3 * read_only < 2 * drives, "{stream}: {totals:?}");
    // A drive with room that finds none for the data of the host is rare.
    assert!(stand_still * 50 <= drives, "{stream}: {totals:?}");
    // Without parity nothing can be rebuilt.
    assert_eq!(rebuilt > 0, has_stripes, "{stream}: {totals:?}");
    assert!(lost > 0 && refused > 0, "{stream}: {totals:?}");
}

/// Serves requests on the drive of a seed while dies fail, and checks it.
fn run(
    mut device: Device<Superblocks>,
    config: &Config,
    rng: &mut Rng,
    case: &str,
    tally: &mut Tally,
) -> Ended {
    let layout = config.layout().expect("it was built");
    let all = load(rng, config.seed, layout.logical.0);
    let pacing = match rng.below(2) {
        0 => Pacing::Open,
        _ => Pacing::Closed { depth: 1 + rng.below(u64::from(config.queue.depth)) as u32 },
    };
    let (every, mut left) = (one_of(rng, &[100, 1000, 2000]), one_of(rng, &[1, 1, 1, 1, 2, 3]));
    let others = rng.chance(0.3);
    let mut answers: Vec<Completion> = Vec::new();
    let mut events = 0u64;
    device.run_with_faults(all.iter().copied(), pacing, &mut answers, |device| {
        events += 1;
        assert!(events < 10_000_000, "{case} does not end");
        let dies = left > 0 && rng.below(every) == 0;
        if dies || others && rng.below(2 * every) == 0 {
            left -= u32::from(dies);
            let fault = if dies { fault_of_dies(rng, config) } else { fault(rng, config, &layout) };
            let before = taken_so_far(device);
            device.inject(fault);
            tally.fault(fault, taken_so_far(device) > before);
            let law = device.check_superblocks();
            law.unwrap_or_else(|law| panic!("{case}, {fault:?} at {events}: {law:?}"));
        } else if events.is_multiple_of(29) {
            let law = device.check_superblocks();
            law.unwrap_or_else(|law| panic!("{case}, event {events}: {law:?}"));
        }
    });
    assert_eq!(answers.len(), all.len(), "{case}");
    for answer in &answers {
        assert_eq!(answer.blame.total(), answer.latency(), "{case}: {:?}", answer.io);
    }
    device.rest_until(device.now() + Span::ms(400), &mut ());
    device.check_superblocks().unwrap_or_else(|law| panic!("{case}, after a rest: {law:?}"));
    let counts = device.failed_dies().unwrap_or_default();
    if config.redundancy.flush_at_end && counts.read_only.is_none() {
        device.write_out(&mut ());
        assert!(
            !device.has_unwritten()
                || device.failed_dies().is_some_and(|it| it.read_only.is_some()),
            "{case}: the buffer was not written out"
        );
    }
    read_all(&mut device, &layout, case);
    assert_eq!(device.census().unfound(), 0, "{case}");
    let ledger = device.losses().expect("it notices losses");
    tally.drive(&ledger);
    Ended {
        dies: device.failed_dies().unwrap_or_default(),
        ledger,
        stands_still: device.stands_still(),
        has_stripes: config.redundancy.has_stripes(),
    }
}

kinds! {
    dead_dies_take_nothing_that_parity_covers, "dead dies" => protected;
    dead_dies_without_parity, "dead dies without parity" => |_, mut config| {
        config.superblocks.parity = 0;
        config.redundancy.name = RedundancyKind::Unprotected;
        config
    };
    dead_dies_whatever_the_cache, "dead dies and a cache" => |rng, config| {
        let config = cached(rng, config);
        protected(rng, config)
    };
    dead_dies_whatever_the_parity, "dead dies and coverage" => covered;
    dead_dies_whatever_the_units, "dead dies and other units" => |rng, config| {
        let config = of_other_units(rng, config);
        protected(rng, config)
    };
    dead_dies_whatever_stays, "dead dies and clean frames" => |rng, config| {
        let config = lazy(rng, config);
        protected(rng, config)
    };
    dead_dies_whatever_the_cells, "dead dies and cells" => |rng, config| {
        let config = if rng.chance(0.5) { aging(rng, config) } else { erring(rng, config) };
        protected(rng, config)
    };
    dead_dies_whatever_the_streams, "dead dies and streams" => |rng, config| {
        let config = streamed(rng, config);
        protected(rng, config)
    };
    dead_dies_whatever_is_scrubbed, "dead dies and scrubbing" => |rng, config| {
        let config = scrubbed(rng, config);
        if config.redundancy.has_stripes() { config } else { protected(rng, config) }
    };
    dead_dies_whatever_the_wear, "dead dies and wear" => |rng, config| {
        let config = leveled(rng, config);
        protected(rng, config)
    };
    dead_dies_whatever_the_blocks, "dead dies and bad blocks" => |rng, config| {
        let config = match rng.below(3) {
            0 => cached(rng, config),
            1 => covered(rng, config),
            _ => config,
        };
        let config = wearing_out(rng, config);
        protected(rng, config)
    };
}
