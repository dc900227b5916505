//! Blocks that fail on drives with superblocks: their number, the time of a failed program, the
//! lost data (none), and the moment at which the drive has no block left to lose.
//!
//! Slow: forty drives of each kind, with all laws checked at every 37th event.

use crate::support::random::one_of;
use crate::support::superblocks::{
    aging, built, cached, covered, drawn, erring, handled, lazy, leveled, of_other_units, requests,
    streamed, tiny, wearing_out,
};
use fowler_device::policy::redundancy::{CachePower, RedundancyKind};
use fowler_device::*;
use fowler_physics::bad_blocks::FailureLaw;
use fowler_units::{HostIo, HostOp, Nanos, Rng, Span};

/// A drive of 64 superblocks that holds little, and whose blocks fail after about `cycles`.
fn failing(cycles: f64, erases: f64) -> Config {
    let mut config = tiny();
    config.geometry.blocks_per_plane = 64;
    config.over_provisioning = 0.8;
    config.precondition.pattern = Pattern::Sequential;
    config.precondition.fill = 0.0;
    config.life.cycles = cycles;
    config.bad_blocks = bad_blocks::Params { share: 0.5, shape: 3.0, erases };
    config
}

/// Writes of `units` units each to places drawn at random, one after the other.
fn writes(device: &Device<Superblocks>, count: u64, units: u64, gap: Span) -> Vec<HostIo> {
    let mut rng = Rng::stream(5, "bad superblocks");
    let logical = device.layout().logical.0 / 4096;
    let io = |at: u64, rng: &mut Rng| {
        let offset = rng.below(logical - units) * 4096;
        HostIo::write(Nanos(gap.0 * (at + 1)), offset, (units * 4096) as u32)
    };
    (0..count).map(|at| io(at, &mut rng)).collect()
}

fn run(device: &mut Device<Superblocks>, requests: &[HostIo], case: &str) -> Vec<Completion> {
    let mut answers: Vec<Completion> = Vec::new();
    let mut events = 0u32;
    device.run_watched(requests.iter().copied(), Pacing::Open, &mut answers, |device| {
        events += 1;
        if events.is_multiple_of(512) {
            let law = device.check_superblocks();
            law.unwrap_or_else(|law| panic!("{case} at {}: {}", device.now().0, law.0));
        }
    });
    device.check_superblocks().unwrap_or_else(|law| panic!("{case}, in the end: {}", law.0));
    answers
}

/// A flush that waits for one command waits for one more program if that of the command fails, and
/// nothing else differs. The superblock that all commands go to does not become full.
#[test]
fn a_failed_program_takes_as_long_as_another() {
    let mut config = failing(1.0, 0.0);
    config.bad_blocks.shape = 1.0;
    config.redundancy.cache = CachePower::Volatile;
    config.redundancy.integrity = true;
    (config.geometry.channels, config.geometry.planes_per_die) = (8, 1);
    config.geometry.pages_per_block = 96;
    let mut device = built(&config).expect("a sound drive");
    let flush = |io: HostIo| [io, HostIo::new(HostOp::Flush, io.at + Span::us(500), 0, 0)];
    let requests = writes(&device, 250, 1, Span::ms(100));
    let requests: Vec<HostIo> = requests.into_iter().flat_map(flush).collect();
    let answers = run(&mut device, &requests, "flushes");
    let program = config.effective_timing().mean_program();
    let flushes = answers.iter().filter(|it| it.io.op == HostOp::Flush);
    let least = flushes.clone().map(Completion::latency).min().expect("a flush");
    let mut tries = [0u64; 8];
    for it in flushes {
        let extra = it.latency() - least;
        assert_eq!(extra.0 % program.0, 0, "{it:?}, beyond {least}");
        tries[(extra.0 / program.0) as usize] += 1;
    }
    let counts = device.bad_blocks().expect("blocks fail");
    let failed: u64 = tries.iter().zip(0..).map(|(&count, more)| more * count).sum();
    assert!(failed > 3 && counts.programs == failed, "{tries:?}, {counts:?}");
    assert_eq!((counts.erases, counts.retired), (0, 0), "{counts:?}");
    assert_eq!(device.losses().expect("it notices losses").lost_in_all(), 0);
}

/// The number of blocks that fail, against the law, within four standard deviations.
#[test]
fn as_many_blocks_fail_as_the_law_says() {
    for (retire, erases, seed) in
        [(Retire::Block, 0.0, 1), (Retire::Block, 0.5, 2), (Retire::Block, 1.0, 3)]
    {
        let mut config = failing(16.0, erases);
        (config.seed, config.over_provisioning, config.superblocks.retire) = (seed, 0.9, retire);
        config.geometry.blocks_per_plane = 128;
        let mut device = built(&config).expect("a sound drive");
        let requests = writes(&device, 12_000, 24, Span::ms(1));
        let case = format!("{retire:?}, {erases}, seed {seed}");
        run(&mut device, &requests, &case);
        let counts = device.bad_blocks().expect("blocks fail");
        let law = FailureLaw { share: 0.5, cycles: 16.0, shape: 3.0 };
        let failed = counts.programs + counts.erases;
        let planes = f64::from(device.layout().geometry.planes());
        // The hazard that all blocks have gone through is the expected number of failures, but
        // those of dies that have dropped out of their superblock go through no more of it.
        let cycles = device.superblocks().erase_counts();
        let through = |&it: &u32| planes * -libm::log1p(-law.failed(f64::from(it)));
        let most: f64 = cycles.iter().map(through).sum();
        let out = (counts.retired + counts.sound) as f64 / (planes * cycles.len() as f64);
        let least = most * (1.0 - out);
        let failed = failed as f64;
        let four = |expected: f64| 4.0 * libm::sqrt(expected);
        assert!(failed > 30.0 && out < 0.5, "{case}: {counts:?}");
        assert!(
            failed > least - four(least) && failed < most + four(most),
            "{case}: {failed} failures, expected {least:.1} to {most:.1}"
        );
        assert_eq!(counts.programs == 0, erases == 1.0, "{case}: {counts:?}");
        assert_eq!(counts.worn_out, None, "{case}: {counts:?}");
    }
}

/// Room shrinks until the data just fits: by whole superblocks, or by the parts of dies. From then
/// on no block fails, and the drive continues.
#[test]
fn the_spare_shrinks_to_nothing_and_not_below() {
    for (retire, erases, parity) in [
        (Retire::Superblock, 0.5, 0),
        (Retire::Superblock, 0.0, 4),
        (Retire::Block, 1.0, 0),
        (Retire::Block, 0.5, 4),
    ] {
        let mut config = failing(2.0, erases);
        (config.precondition.fill, config.over_provisioning) = (1.0, 0.55);
        (config.superblocks.retire, config.superblocks.parity) = (retire, parity);
        if parity > 0 {
            config.redundancy.name = RedundancyKind::Raid5;
        }
        config.redundancy.integrity = true;
        let mut device = built(&config).expect("a sound drive");
        let spare = device.bad_blocks().expect("blocks fail").spare;
        let requests = writes(&device, 4_000, 24, Span::ms(2));
        let case = format!("{retire:?}, {erases}, parity {parity}");
        run(&mut device, &requests, &case);
        let counts = device.bad_blocks().expect("blocks fail");
        // A superblock of 16 commands of 24 units; a quarter of them is parity, or none.
        let superblock = if parity > 0 { 288 } else { 384 };
        let lost = spare - counts.spare;
        let case = format!("{case}: spare {spare}, {counts:?}");
        assert!(counts.worn_out.is_some() && counts.retired > 0, "{case}");
        assert_eq!(device.losses().expect("it notices losses").lost_in_all(), 0, "{case}");
        let unit = if retire == Retire::Superblock { superblock } else { superblock / 4 };
        if parity == 0 || retire == Retire::Superblock {
            assert_eq!(lost % unit, 0, "{case}");
        }
        // A superblock of which less than half would be left goes as a whole.
        assert!(counts.spare < superblock, "{case}");
    }
}

/// A drive with blocks that never fail within the run answers as one without such blocks.
#[test]
fn blocks_that_do_not_fail_change_nothing() {
    let answers = |share: f64, retire: Retire, passes: u32| {
        let mut config = failing(1e9, 0.5);
        (config.bad_blocks.share, config.superblocks.retire) = (share, retire);
        (config.precondition.fill, config.over_provisioning) = (1.0, 0.4);
        config.flash.program_passes = passes;
        let mut device = built(&config).expect("a sound drive");
        let requests = writes(&device, 3_000, 8, Span::us(700));
        let answers = run(&mut device, &requests, "no failure");
        assert_eq!(device.bad_blocks().is_some(), share > 0.0);
        answers.iter().map(|it| (it.io.offset, it.latency())).collect::<Vec<_>>()
    };
    for passes in [1, 2] {
        let without = answers(0.0, Retire::Block, passes);
        assert_eq!(without, answers(0.5, Retire::Block, passes));
        assert_eq!(without, answers(0.5, Retire::Superblock, passes));
    }
}

fn life(config: &Config) -> LifetimeDrive {
    let never = std::sync::atomic::AtomicBool::new(false);
    let watch = PreconditionWatch { stop: &never, progress: &|_| () };
    LifetimeDrive::watched(config, watch).expect("a sound drive").expect("nobody stops it")
}

/// A life without dies loses as many blocks as the whole drive, and resumes from a checkpoint as if
/// it had not been interrupted.
#[test]
fn a_life_loses_its_blocks_too() {
    for (retire, parity) in [(Retire::Block, 0), (Retire::Block, 4), (Retire::Superblock, 0)] {
        let mut config = failing(10.0, 0.5);
        (config.superblocks.retire, config.superblocks.parity) = (retire, parity);
        if parity > 0 {
            config.redundancy.name = RedundancyKind::Raid5;
        }
        (config.precondition.fill, config.precondition.pattern) = (1.0, Pattern::Random);
        let mut device = built(&config).expect("a sound drive");
        let requests = writes(&device, 4_000, 24, Span::ms(2));
        let (first, second) = requests.split_at(2_000);
        let case = format!("{retire:?}, parity {parity}");

        let mut whole = life(&config);
        whole.serve(requests.iter().copied(), |_, _| true);
        let mut half = life(&config);
        half.serve(first.iter().copied(), |_, _| true);
        let so_far = half.bad_blocks().expect("blocks fail");
        assert!(so_far.programs > 0 && so_far.erases > 0, "{case}: {so_far:?}");
        let mut resumed = life(&config).resumed(half.checkpoint()).expect("its own checkpoint");
        assert_eq!(resumed.bad_blocks(), Some(so_far), "{case}");
        resumed.serve(second.iter().copied(), |_, _| true);
        let counts = whole.bad_blocks().expect("blocks fail");
        assert_eq!(resumed.bad_blocks(), Some(counts), "{case}");
        assert_eq!(resumed.erase_counts(), whole.erase_counts(), "{case}");
        let mut other = config.clone();
        other.bad_blocks.share = 0.0;
        assert!(life(&other).resumed(half.checkpoint()).is_err(), "{case}: no block could fail");

        run(&mut device, &requests, &case);
        let timed = device.bad_blocks().expect("blocks fail");
        // Both drives draw the same failures, but erase at different times.
        let [here, there] = [counts, timed].map(|it| (it.programs + it.erases) as f64);
        assert!((here - there).abs() < 0.2 * here + 3.0, "{case}: {counts:?}, {timed:?}");
    }
}

/// Random drives of which many blocks fail: every request is answered, every law holds, and nothing
/// is lost.
fn swarm(stream: &str, altered: impl Fn(&mut Rng, Config) -> Config) {
    let drives = if cfg!(debug_assertions) { 40 } else { 600 };
    let (mut ran, mut sum) = (0, BadBlockCounts::default());
    for seed in 0..drives {
        let mut rng = Rng::stream(seed, stream);
        let config = drawn(&mut rng);
        let config = altered(&mut rng, config);
        let mut config = wearing_out(&mut rng, config);
        config.geometry.blocks_per_plane += one_of(&mut rng, &[0, 8]);
        config.redundancy.integrity = rng.chance(0.5);
        let Ok(mut device) = built(&config) else { continue };
        ran += 1;
        let case = format!("seed {seed} of {stream}");
        let logical = config.layout().expect("it was built").logical.0;
        let mut all = requests(&mut rng, logical, 900, 12);
        handled(&mut Rng::stream(seed, "handles"), &mut all);
        let pacing = match rng.below(2) {
            0 => Pacing::Open,
            _ => Pacing::Closed { depth: 1 + rng.below(u64::from(config.queue.depth)) as u32 },
        };
        let mut answers: Vec<Completion> = Vec::new();
        let mut events = 0u64;
        device.run_watched(all.iter().copied(), pacing, &mut answers, |device| {
            events += 1;
            assert!(events < 10_000_000, "{case} does not end");
            if events.is_multiple_of(37) {
                let law = device.check_superblocks();
                law.unwrap_or_else(|law| panic!("{case}, event {events}: {law:?}"));
            }
        });
        assert_eq!(answers.len(), all.len(), "{case}");
        let fading =
            config.aging.is_on() || config.reliability.model != reliability::ModelKind::Off;
        if let Some(ledger) = device.losses().filter(|_| !fading) {
            assert_eq!(ledger.lost_in_all(), 0, "{case}");
        }
        let counts = device.bad_blocks().expect("blocks fail");
        sum.programs += counts.programs;
        sum.erases += counts.erases;
        sum.retired += counts.retired;
        sum.delayed += counts.delayed;
    }
    assert!(ran * 2 > drives, "only {ran} of {drives} drives could be built");
    assert!(sum.programs > 20 && sum.erases > 20 && sum.retired > 20, "{stream}: {sum:?}");
}

#[test]
fn nothing_is_lost_whatever_the_drive() {
    swarm("bad superblocks", |_, config| config);
}

#[test]
fn nothing_is_lost_whatever_the_cache() {
    swarm("bad superblocks of a cache", cached);
}

#[test]
fn nothing_is_lost_whatever_the_units() {
    swarm("bad superblocks of other units", of_other_units);
}

#[test]
fn nothing_is_lost_whatever_the_parity() {
    swarm("bad superblocks with parity", covered);
}

#[test]
fn nothing_is_lost_whatever_the_streams() {
    swarm("bad superblocks and streams", streamed);
}

#[test]
fn nothing_is_lost_whatever_the_wear() {
    swarm("bad superblocks that are leveled", leveled);
}

#[test]
fn nothing_is_lost_whatever_stays() {
    swarm("bad superblocks and frames", lazy);
}

#[test]
fn nothing_is_lost_whatever_the_age() {
    swarm("bad superblocks that age", |rng, config| match rng.below(2) {
        0 => aging(rng, config),
        _ => erring(rng, config),
    });
}
