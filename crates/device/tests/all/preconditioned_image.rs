//! A drive that begins from a preconditioned image behaves like the drive that was preconditioned
//! for itself.

use crate::support::random::{Choice, drive, requests as random_requests};
use crate::support::{scheme, small};
use fowler_device::policy::placement::{Dies, PlacementKind};
use fowler_device::policy::sensing::{self, SensingKind};
use fowler_device::policy::step::StepKind;
use fowler_device::policy::victim::VictimKind;
use fowler_device::reliability::ModelKind;
use fowler_device::*;
use fowler_units::{HostIo, HostOp, Nanos, Rng, Span};
use std::panic::AssertUnwindSafe;

fn requests(pages: u32) -> Vec<HostIo> {
    let mut rng = Rng::stream(7, "aged");
    let request = |index: u64| {
        let offset = rng.below(u64::from(pages)) * 4096;
        let op = if rng.chance(0.5) { HostOp::Read } else { HostOp::Write };
        HostIo::new(op, Nanos(index * 40_000), offset, 4096)
    };
    (0..20_000).map(request).collect()
}

#[test]
fn a_run_from_an_aged_drive_is_the_run_of_the_drive() {
    for pattern in [Pattern::Sequential, Pattern::Random, Pattern::Steady, Pattern::Rested] {
        let mut base = small();
        base.precondition.pattern = pattern;
        base.victim.name = VictimKind::DChoices;
        let image = PreconditionedImage::new(&base).unwrap();
        for name in ["FIFO", "RPS", "PES_IPS", "PES_IPC"] {
            let mut config = base.clone();
            scheme(&mut config, name);
            config.queue.max_writes = 7;
            config.admission = Admission::InOrder;
            config.partial_writes = PartialWrites::Overwrite;
            let mut drives = [Device::new(&config).unwrap(), image.device(&config).unwrap()];
            let pages = drives[0].layout().logical_pages;
            for drive in &mut drives {
                drive.run(requests(pages), Pacing::Open, &mut ());
                drive.check().unwrap_or_else(|law| panic!("{}", law.0));
            }
            let [own, image] =
                drives.map(|it| (it.now(), it.counters(), it.erase_counts().to_vec()));
            assert!(
                own.1.programs[Source::Gc] > 0 || pattern == Pattern::Sequential,
                "{pattern:?} collects"
            );
            assert_eq!(own, image, "{name} {pattern:?}");
        }
    }
}

/// Drives share an image whether their data has classes or not, however their cells err and
/// whatever their controller knows.
#[test]
fn runs_that_differ_in_cells_and_kinds_of_data_share_an_aged_drive() {
    let mut base = small();
    base.precondition.pattern = Pattern::Rested;
    base.hotness.detectors = 1;
    base.placement.name = PlacementKind::Streams;
    let image = PreconditionedImage::new(&base).unwrap();
    let mut config = base.clone();
    config.placement.hot_to_strong = true;
    config.step.name = StepKind::ByStrength;
    config.sensing = sensing::Params { name: SensingKind::Model, inputs: 1 };
    config.reliability.model = ModelKind::Analytic;
    (config.reliability.cycles, config.reliability.levels) = (2500, 2);
    config.reliability.oldest = Span(30 * 86_400_000_000_000);
    let mut drives = [Device::new(&config).unwrap(), image.device(&config).unwrap()];
    let pages = drives[0].layout().logical_pages;
    for drive in &mut drives {
        drive.run(requests(pages), Pacing::Open, &mut ());
    }
    let [own, image] = drives.map(|it| (it.now(), it.counters(), it.erase_counts().to_vec()));
    assert!(own.1.reads_at[1] > 0 && own.1.programs[Source::Gc] > 0, "{:?}", own.1);
    assert_eq!(own, image);
    config.hotness.detectors = 0;
    assert!(!config.ages_like(&base), "one stream needs a block less in reserve");
    config = base.clone();
    config.placement.dies = Dies::ByAddress;
    assert!(!config.ages_like(&base), "data would lie on other dies");
    let like = config.clone();
    config.placement.stripe_unit = 4;
    assert!(!config.ages_like(&like), "and on others again");
}

/// However a page was written, it lies on the die of its address, the pages of a stripe unit on
/// one.
#[test]
fn before_the_first_request_neighbors_lie_on_the_die_of_their_stripe_unit() {
    let patterns = [Pattern::Sequential, Pattern::Random, Pattern::Steady, Pattern::Rested];
    for (pattern, length) in patterns.into_iter().flat_map(|it| [1, 3].map(|unit| (it, unit))) {
        let case = format!("{pattern:?}, units of {length}");
        let mut config = small();
        config.precondition.pattern = pattern;
        config.placement.dies = Dies::ByAddress;
        config.placement.stripe_unit = length;
        config.gc.idle_after = Span::ms(3_000_000);
        let mut device = Device::new(&config).unwrap();
        device.check().unwrap_or_else(|law| panic!("{case}: {}", law.0));
        // The pages of a unit wait for each other, the next one goes by another channel.
        let units = device.layout().logical_pages / length - 1;
        let (length, at_once) = (u64::from(length), u64::from(length) + 1);
        let reads = (0..u64::from(units) * at_once).map(|n| {
            let (unit, turn) = (n / at_once, n % at_once);
            HostIo::read(Nanos(unit * 1_000_000), (unit * length + turn) * 4096, 4096)
        });
        let mut completions: Vec<Completion> = Vec::new();
        device.run(reads, Pacing::Open, &mut completions);
        let one = config.timing.read.at(0) + config.timing.bus_transfer;
        for completion in &completions {
            let (unit, page) = (completion.io.at.0 / 1_000_000, completion.io.offset / 4096);
            let turn = (page - length * unit) % length + 1;
            assert_eq!(completion.latency(), one * turn, "{case}: page {page} of unit {unit}");
        }
    }
}

#[test]
fn another_drives_data_are_not_taken() {
    let base = small();
    let mut other = base.clone();
    other.geometry.pages_per_block *= 2;
    assert!(!other.ages_like(&base));
    let image = PreconditionedImage::new(&base).unwrap();
    assert!(std::panic::catch_unwind(AssertUnwindSafe(|| image.device(&other))).is_err());
}

#[test]
fn a_drive_that_has_had_pauses_begins_with_what_gc_could_erase() {
    let collected = |pattern| {
        let mut config = small();
        config.precondition.pattern = pattern;
        config.geometry.blocks_per_plane = 64;
        (config.gc.foreground_below, config.gc.background_below) = (4, 12);
        let mut drive = Device::new(&config).unwrap();
        // A block or so of every plane is written; then there is nothing to do but to collect.
        let writes = requests(2000).into_iter().take(64).map(|it| it.with_op(HostOp::Write));
        let late = requests(1)[..1].to_vec().into_iter();
        let late = late.map(|it| it.with_at(Nanos(60_000_000_000)).with_op(HostOp::Read));
        drive.run(writes.chain(late), Pacing::Open, &mut ());
        drive.counters().collections.background
    };
    let (busy, rested) = (collected(Pattern::Steady), collected(Pattern::Rested));
    assert!(busy >= 6 * 8, "a drive that had no pause catches up in one, on 8 planes: {busy}");
    assert!(2 * rested < busy, "one that had some does what the writes made necessary: {rested}");
}

/// The drive has some 700 pages on four dies: a stripe unit of that size would lie on one die.
#[test]
fn a_stripe_unit_that_gives_one_die_more_than_it_holds_is_refused() {
    let mut config = small();
    (config.placement.dies, config.placement.stripe_unit) = (Dies::ByAddress, 700);
    let refusals = config.layout().unwrap_err();
    let keys = |it: &Refusal| it.keys.contains(&"policy.placement.stripe_unit");
    assert!(refusals.iter().any(keys), "{refusals:?}");
    config.placement.dies = Dies::Rotate;
    assert!(config.layout().is_ok(), "in turn, what one cannot take goes to the next");
    // A drive that is too large is refused before its dies are counted.
    (config.geometry.channels, config.geometry.chips_per_channel) = (u32::MAX, u32::MAX);
    let refusals = config.layout().unwrap_err();
    assert!(refusals.iter().any(|it| it.keys.contains(&"geometry")), "{refusals:?}");
}

fn saved(image: &PreconditionedImage) -> Vec<u32> {
    let mut words = Vec::new();
    let put = image.save_state(&mut |more| {
        words.extend_from_slice(more);
        Ok(())
    });
    put.expect("memory takes everything");
    words
}

/// Returns the image that was saved as these words, all of which it reads.
fn read_back(config: &Config, words: &[u32]) -> Result<PreconditionedImage, String> {
    let mut rest = words;
    let read = PreconditionedImage::with_saved_state(config, &mut |into| {
        let (now, later) = rest.split_at_checked(into.len()).ok_or("it ends too early")?;
        into.copy_from_slice(now);
        rest = later;
        Ok(())
    })?;
    if rest.is_empty() { Ok(read) } else { Err("words are left over".into()) }
}

/// A drive from a saved state has the same completions, counters and wear as one that was
/// preconditioned for itself, whatever the drive.
#[test]
fn a_drive_from_its_saved_state_is_the_drive_that_was_preconditioned() {
    let (mut worked, mut collected) = (0, 0);
    for seed in 0..600 {
        let mut rng = Rng::stream(seed, "saved images");
        let mut config = drive(&mut rng, seed, &Choice::all());
        let patterns = [Pattern::Sequential, Pattern::Random, Pattern::Steady, Pattern::Rested];
        config.precondition.pattern = patterns[rng.below(4) as usize];
        if config.victim.name == VictimKind::DChoices {
            continue;
        }
        let (Ok(image), Ok(fresh)) = (PreconditionedImage::new(&config), Device::new(&config))
        else {
            continue;
        };
        let words = saved(&image);
        let read = read_back(&config, &words).unwrap_or_else(|why| panic!("seed {seed}: {why}"));
        assert!(saved(&read) == words, "seed {seed}: the words of what was read differ");
        let never = std::sync::atomic::AtomicBool::new(false);
        let watch = PreconditionWatch { stop: &never, progress: &|_| () };
        let drives = [fresh, read.into_device(watch).expect("nobody stops it")];
        let requests = random_requests(&mut rng, drives[0].layout(), 300);
        let [own, resumed] = drives.map(|mut drive| {
            let mut completions: Vec<Completion> = Vec::new();
            drive.run(requests.iter().copied(), Pacing::Open, &mut completions);
            drive.check().unwrap_or_else(|law| panic!("seed {seed}: {}", law.0));
            let end = (drive.now(), drive.counters(), drive.erase_counts().to_vec());
            (completions, end, drive.preconditioned().to_string())
        });
        assert!(own == resumed, "seed {seed}: {:?} instead of {:?}", resumed.1, own.1);
        worked += 1;
        collected += u32::from(own.1.1.programs[Source::Gc] > 0);
    }
    assert!(worked > 100 && collected > 20, "{worked} drives, of which {collected} collected");
}
