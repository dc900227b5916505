//! Blocks that fail: how many, what a failed program takes, what is lost (nothing), and when the
//! drive has no block left to lose.

use crate::support::small;
use fowler_device::policy::redundancy::{CachePower, RedundancyKind};
use fowler_device::*;
use fowler_physics::bad_blocks::FailureLaw;
use fowler_units::{Bytes, HostIo, Nanos, Rng, Span};

/// Writes that are answered once they are in the flash; blocks fail after so many cycles.
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
/// too; nobody waits for those.
#[test]
fn a_failed_program_takes_as_long_as_another() {
    let config = failing(0.01, 0.0);
    let mut device = Device::new(&config).expect("a sound drive");
    // A quarter of its pages: no block is erased.
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
    assert!(failed > 10 && failed <= counts.programs, "{tries:?}, {counts:?}");
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
        // A block that could not be spared at that moment fails one cycle later.
        assert!(counts.postponed * 20 < counts.retired, "{counts:?}");
        // A retired block has failed before its last erase; the others have survived all of theirs.
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
        if erases == 0.5 {
            let by_erase = counts.erases as f64;
            let spread = libm::sqrt(0.25 * failed as f64);
            // The rest of a cycle in which a page was passed over counts as an erase.
            assert!((by_erase - 0.5 * failed as f64).abs() < 4.0 * spread, "{counts:?}");
        }
    }
}

/// Room shrinks block by block until the data just fits; from then on no block is given up, and the
/// drive goes on.
#[test]
fn the_spare_shrinks_to_nothing_and_not_below() {
    for (kind, erases) in [
        (RedundancyKind::Unprotected, 0.0),
        (RedundancyKind::Unprotected, 1.0),
        (RedundancyKind::Raid5, 0.5),
    ] {
        let mut config = failing(1.0, erases);
        config.precondition.fill = 1.0;
        if kind == RedundancyKind::Raid5 {
            let stripes = crate::support::fading::striped(kind, CachePower::Protected);
            config.geometry = stripes.geometry;
            (config.redundancy, config.buffer) = (stripes.redundancy, stripes.buffer);
            config.over_provisioning = 0.6;
        }
        let mut device = Device::new(&config).expect("a sound drive");
        let requests = writes(&device, 6_000, Span::ms(1));
        run(&mut device, &requests);
        let counts = device.bad_blocks().expect("blocks fail");
        let case = format!("{kind:?}, {erases}: {counts:?}");
        assert!(counts.worn_out.is_some() && counts.postponed > 0, "{case}");
        let layout = *device.layout();
        let blocks = u64::from(layout.geometry.planes()) * u64::from(layout.plane_limit())
            / u64::from(layout.geometry.pages_per_block);
        let needed =
            u64::from(layout.mapped_pages).div_ceil(layout.geometry.pages_per_block.into());
        assert!(counts.retired <= blocks - needed, "{case}");
        if kind == RedundancyKind::Unprotected {
            assert!(counts.retired + 1 >= blocks - needed, "{case}: {blocks} {needed}");
        }
    }
}

/// The same drive with blocks that never fail within the run answers as one without such blocks.
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
/// and it goes on from a checkpoint as if it had not been interrupted.
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
    // Both draw the same fates, but erase at different times.
    let [here, there] = [counts, timed].map(|it| (it.programs + it.erases) as f64);
    assert!((here - there).abs() < 4.0 * libm::sqrt(here), "{counts:?}, {timed:?}");
}
