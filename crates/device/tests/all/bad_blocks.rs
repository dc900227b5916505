//! Blocks that fail: their number, the time of a failed program, the lost data (none), and the
//! moment at which the drive has no block left to lose.

use crate::support::small;
use fowler_device::policy::redundancy::{CachePower, RedundancyKind};
use fowler_device::*;
use fowler_physics::bad_blocks::FailureLaw;
use fowler_units::{Bytes, HostIo, Nanos, Rng, Span};

/// A drive that answers writes once they are in the flash, and whose blocks fail after about
/// `cycles`.
fn failing(cycles: f64, erases: f64) -> Config {
    let mut config = small();
    config.geometry.planes_per_die = 1;
    config.geometry.blocks_per_plane = 64;
    config.over_provisioning = 0.5;
    config.buffer.size = Bytes(0);
    config.buffer.ack = Ack::OnProgram;
    config.precondition.fill = 0.0;
    config.life.cycles = cycles;
    config.bad_blocks = bad_blocks::Params { share: 0.5, shape: 3.0, erases };
    config
}

fn writes(device: &Device, count: u64, gap: Span) -> Vec<HostIo> {
    let (mut rng, pages) = (Rng::stream(5, "bad blocks"), device.layout().logical_pages);
    let page = device.layout().geometry.page_size.0;
    (0..count)
        .map(|at| {
            let offset = rng.below(u64::from(pages)) * page;
            HostIo::write(Nanos(gap.0 * (at + 1)), offset, page as u32)
        })
        .collect()
}

fn run(device: &mut Device, requests: &[HostIo]) -> Vec<Completion> {
    let mut completions: Vec<Completion> = Vec::new();
    let mut events = 0u32;
    device.run_watched(requests.iter().copied(), Pacing::Open, &mut completions, |device| {
        // Each check visits every page.
        events += 1;
        if !events.is_multiple_of(64) {
            return;
        }
        device.check().unwrap_or_else(|law| panic!("at {}: {}", device.now().0, law.0));
    });
    device.check_data().unwrap_or_else(|law| panic!("in the end: {}", law.0));
    completions
}

/// On a drive that has one write at a time and collects no garbage, each failed program is one
/// program time, and nothing else differs. Programs that move the data of a failed block may fail,
/// too; nobody waits for those programs.
#[test]
fn a_failed_program_takes_as_long_as_another() {
    let config = failing(1.0, 0.0);
    let mut device = Device::new(&config).expect("a sound drive");
    // The writes cover a quarter of the pages of the drive: no block is erased.
    let requests = writes(&device, u64::from(device.layout().geometry.pages()) / 4, Span::ms(100));
    let completions = run(&mut device, &requests);
    let program = config.effective_timing().mean_program();
    let plain = config.timing.bus_transfer + program;
    let mut tries = [0u64; 8];
    for it in &completions {
        let extra = it.latency() - plain;
        assert_eq!(extra.0 % program.0, 0, "{it:?}");
        tries[(extra.0 / program.0) as usize] += 1;
    }
    let counts = device.bad_blocks().expect("blocks fail");
    let failed: u64 = tries.iter().enumerate().map(|(more, &count)| more as u64 * count).sum();
    assert!(failed > 5 && failed <= counts.programs, "{tries:?}, {counts:?}");
    assert_eq!(counts.erases, 0, "{counts:?}");
    assert_eq!(counts.retired, counts.programs, "each is emptied at once: the drive is idle");
}

/// The number of blocks that fail, against the law, within four standard deviations.
#[test]
fn as_many_blocks_fail_as_the_law_says() {
    for (erases, seed) in [(0.0, 1), (0.5, 2), (1.0, 3)] {
        let mut config = failing(16.0, erases);
        (config.seed, config.over_provisioning) = (seed, 0.8);
        let mut device = Device::new(&config).expect("a sound drive");
        let requests = writes(&device, 17_000, Span::ms(2));
        let mut completions: Vec<Completion> = Vec::new();
        device.run(requests.iter().copied(), Pacing::Open, &mut completions);
        let counts = device.bad_blocks().expect("blocks fail");
        // A retired block has failed before its last erase; the other blocks have survived all of
        // theirs.
        let law = FailureLaw { share: 0.5, cycles: 16.0, shape: 3.0 };
        let failed = counts.programs + counts.erases;
        let blocks = f64::from(device.layout().geometry.blocks());
        let cycles: f64 = device.erase_counts().iter().map(|&it| f64::from(it)).sum::<f64>();
        // The hazard that all blocks have gone through is the expected number of failures.
        let through: f64 =
            device.erase_counts().iter().map(|&it| -libm::log1p(-law.failed(f64::from(it)))).sum();
        assert!(
            failed > 20 && (failed as f64) < blocks,
            "seed {seed}: {counts:?}, {cycles} cycles"
        );
        let off = (failed as f64 - through).abs() / libm::sqrt(through);
        assert!(off < 4.0, "seed {seed}: {failed} failures, expected {through:.1}");
        if erases == 1.0 {
            assert_eq!(counts.programs, 0, "{counts:?}");
        }
        if erases == 0.5 {
            let by_erase = counts.erases as f64;
            let spread = libm::sqrt(0.25 * failed as f64);
            // A page that a full plane passes over makes the erase of its block fail.
            assert!((by_erase - 0.5 * failed as f64).abs() < 4.0 * spread, "{counts:?}");
        }
    }
}

/// Room shrinks block by block until the data just fits; from then on no block fails, and the drive
/// continues. On a drive without stripes no spare is left over, however many planes it has.
#[test]
fn the_spare_shrinks_to_nothing_and_not_below() {
    for (kind, channels, planes, erases) in [
        (RedundancyKind::Unprotected, 2, 1, 0.0),
        (RedundancyKind::Unprotected, 2, 2, 1.0),
        (RedundancyKind::Unprotected, 32, 1, 0.5),
        (RedundancyKind::Raid5, 5, 1, 0.5),
    ] {
        let mut config = failing(1.0, erases);
        (config.precondition.fill, config.over_provisioning) = (1.0, 0.3);
        (config.geometry.channels, config.geometry.planes_per_die) = (channels, planes);
        config.geometry.blocks_per_plane = 24;
        if kind == RedundancyKind::Raid5 {
            let stripes = crate::support::fading::striped(kind, CachePower::Protected);
            config.geometry = stripes.geometry;
            (config.redundancy, config.buffer) = (stripes.redundancy, stripes.buffer);
            config.over_provisioning = 0.6;
        }
        let mut device = Device::new(&config).expect("a sound drive");
        let layout = *device.layout();
        let spare = device.bad_blocks().expect("blocks fail").spare;
        let count = 6 * u64::from(layout.geometry.pages());
        let requests = writes(&device, count.min(30_000), Span::us(300));
        run(&mut device, &requests);
        let counts = device.bad_blocks().expect("blocks fail");
        let case = format!("{kind:?}, {channels} x {planes}, {erases}: spare {spare}, {counts:?}");
        let pages = u64::from(layout.geometry.pages_per_block);
        assert!(counts.worn_out.is_some(), "{case}");
        let failed = counts.programs + counts.erases;
        assert!(counts.retired <= failed, "{case}");
        if kind == RedundancyKind::Unprotected {
            assert_eq!(counts.spare, spare - failed * pages, "{case}");
            assert!(counts.spare < pages, "{case}");
        } else {
            // One die has given up all the blocks that it could; the others have at least as many
            // left.
            let dies = u64::from(layout.geometry.dies());
            assert!(counts.spare / dies < pages && counts.spare < spare, "{case}");
        }
    }
}

/// A drive with blocks that never fail within the run answers as one without such blocks.
#[test]
fn blocks_that_do_not_fail_change_nothing() {
    let answers = |share: f64| {
        let mut config = failing(1e9, 0.5);
        (config.bad_blocks.share, config.precondition.fill) = (share, 1.0);
        let mut device = Device::new(&config).expect("a sound drive");
        let requests = writes(&device, 5_000, Span::us(500));
        let completions = run(&mut device, &requests);
        assert_eq!(device.bad_blocks().is_some(), share > 0.0);
        completions.iter().map(|it| (it.io.offset, it.latency())).collect::<Vec<_>>()
    };
    assert_eq!(answers(0.0), answers(0.5));
}

/// A life without dies loses as many blocks as the whole drive, within four standard deviations;
/// and resumes from a checkpoint as if it had not been interrupted.
#[test]
fn a_life_loses_its_blocks_too() {
    let mut config = failing(8.0, 0.5);
    (config.precondition.fill, config.precondition.pattern) = (1.0, Pattern::Random);
    let image = PreconditionedImage::new(&config).expect("a sound drive");
    let fresh = || LifetimeDrive::new(&image, &config).expect("a sound drive");
    let mut device = Device::new(&config).expect("a sound drive");
    let requests = writes(&device, 6_000, Span::ms(2));
    let (first, second) = requests.split_at(3_000);

    let mut whole = fresh();
    whole.serve(requests.iter().copied(), |_, _| true);
    let mut half = fresh();
    half.serve(first.iter().copied(), |_, _| true);
    let so_far = half.bad_blocks().expect("blocks fail");
    assert!(so_far.programs > 0 && so_far.erases > 0, "{so_far:?}");
    let mut resumed = fresh().resumed(half.checkpoint()).expect("its own checkpoint");
    assert_eq!(resumed.bad_blocks(), Some(so_far));
    resumed.serve(second.iter().copied(), |_, _| true);
    let counts = whole.bad_blocks().expect("blocks fail");
    assert_eq!(resumed.bad_blocks(), Some(counts));
    assert_eq!(resumed.erase_counts(), whole.erase_counts());

    let mut completions: Vec<Completion> = Vec::new();
    device.run(requests.iter().copied(), Pacing::Open, &mut completions);
    let timed = device.bad_blocks().expect("blocks fail");
    // Both drives draw the same failures, but erase at different times.
    let [here, there] = [counts, timed].map(|it| (it.programs + it.erases) as f64);
    assert!((here - there).abs() < 0.2 * here, "{counts:?}, {timed:?}");
}

/// At a dilation of ten a tenth of the writes costs as many blocks, within four standard
/// deviations.
#[test]
fn a_dilated_cycle_fails_as_many_blocks_as_those_it_stands_for() {
    let mut config = failing(60.0, 0.5);
    config.over_provisioning = 0.6;
    (config.precondition.fill, config.precondition.pattern) = (1.0, Pattern::Random);
    let failed = |dilation: u32, count: u64| {
        let mut config = config.clone();
        config.life.dilation = dilation;
        let image = PreconditionedImage::new(&config).expect("a sound drive");
        let mut drive = LifetimeDrive::new(&image, &config).expect("a sound drive");
        let device = Device::new(&config).expect("a sound drive");
        let requests = writes(&device, count, Span::us(100));
        drive.serve(requests.iter().copied(), |_, _| true);
        let counts = drive.bad_blocks().expect("blocks fail");
        assert_eq!(counts.worn_out, None, "{counts:?}");
        (counts.programs + counts.erases) as f64
    };
    let (one, ten) = (failed(1, 60_000), failed(10, 6_000));
    assert!(one > 20.0 && (one - ten).abs() < 4.0 * libm::sqrt(one + ten), "{one}, {ten}");
}
