//! Random drives with superblocks, and requests for them.

use super::mlc;
use super::random::one_of;
use fowler_device::policy::die_order::DieOrderKind;
use fowler_device::policy::hotness::Detector;
use fowler_device::policy::placement::{Isolation, PlacementKind};
use fowler_device::policy::redundancy::RedundancyKind;
use fowler_device::policy::replacement::ReplacementKind;
use fowler_device::policy::scrub::{self, ScrubKind};
use fowler_device::policy::sensing::SensingKind;
use fowler_device::policy::step::StepKind;
use fowler_device::policy::suspension::SuspensionKind;
use fowler_device::policy::victim::VictimKind;
use fowler_device::policy::voltage::VoltageKind;
use fowler_device::policy::wear::WearKind;
use fowler_device::reliability::{ModelKind, References, RetryCost};
use fowler_device::*;
use fowler_nand::PerPageType;
use fowler_units::{
    ByteRate, Bytes, Geometry, HostIo, HostOp, Nanos, PlacementHandle, QueueId, Rng, Span,
};
use std::sync::atomic::AtomicBool;

static NEVER: AtomicBool = AtomicBool::new(false);

/// Builds a drive with superblocks, preconditioned.
pub fn built(config: &Config) -> Result<Device<Superblocks>, Vec<Refusal>> {
    let watch = PreconditionWatch { stop: &NEVER, progress: &|_| () };
    let device = Device::<Superblocks>::with_superblocks(config, watch)?;
    Ok(device.expect("nobody stops it"))
}

/// Four dies of two planes on two channels, pages of four units, three pages to a word line.
pub fn tiny() -> Config {
    let geometry = Geometry {
        channels: 2,
        chips_per_channel: 2,
        dies_per_chip: 1,
        planes_per_die: 2,
        blocks_per_plane: 24,
        pages_per_block: 12,
        page_size: Bytes(16 << 10),
    };
    let mut config = Config::new(geometry, mlc());
    config.ftl = FtlConfig {
        unit: Some(Bytes(4096)),
        reclaim_unit: ReclaimUnit::Superblock,
        program_unit: ProgramUnit::WordLine,
    };
    config.flash.word_line = 3;
    config.timing.read = PerPageType::new(&[Span::us(40), Span::us(60), Span::us(80)]).unwrap();
    config.buffer.size = Bytes(1 << 20);
    config.over_provisioning = 0.4;
    config.gc.background_below = config.gc.foreground_below;
    config.precondition.pattern = Pattern::Steady;
    config
}

/// Draws a drive with superblocks.
pub fn drawn(rng: &mut Rng) -> Config {
    let mut config = tiny();
    let geometry = &mut config.geometry;
    geometry.channels = 1 + rng.below(3) as u32;
    geometry.chips_per_channel = 1 + rng.below(2) as u32;
    geometry.planes_per_die = one_of(rng, &[1, 2, 4]);
    geometry.blocks_per_plane = 10 + rng.below(20) as u32;
    geometry.page_size = Bytes(4096 * one_of(rng, &[1, 2, 4]));
    config.plane_mode = one_of(rng, &[PlaneMode::Lockstep, PlaneMode::Independent]);
    config.flash.word_line = one_of(rng, &[1, 2, 3, 4]);
    config.superblocks.parity = one_of(rng, &[0, 0, 2, 3, 7]);
    if config.superblocks.parity > 12 / config.flash.word_line * config.geometry.channels {
        config.superblocks.parity = 0;
    }
    if config.superblocks.parity > 0 {
        config.redundancy.name = RedundancyKind::Raid5;
    }
    config.buffer.size = Bytes(4096 * (2 * 64 + rng.below(200)));
    config.over_provisioning = if config.superblocks.parity == 2 { 0.85 } else { 0.75 };
    config.gc.foreground_below = 2 + rng.below(2) as u32;
    config.gc.background_below = 0;
    config.admission = one_of(rng, &[Admission::ReadsPass, Admission::Shared, Admission::InOrder]);
    config.queue.reads_behind = rng.below(8) as u32;
    let orders = [Arbitration::Arrival, Arbitration::RoundRobin, Arbitration::Weighted];
    config.queue.arbitration = one_of(rng, &orders);
    config.queue.weights = one_of(rng, &["1", "3 1", "1 2 16"]).parse().expect("weights");
    config.buffer.pace = one_of(rng, &[Span::ZERO, Span::ns(300), Span::us(40)]);
    config.buffer.pace_from = one_of(rng, &[0.0, 0.5, 0.9]);
    config.queue.taken = 1 + rng.below(20) as u32;
    config.queue.depth = 1 + rng.below(64) as u32;
    config.queue.max_reads = 1 + rng.below(16) as u32;
    config.host.cores = rng.below(3) as u32;
    config.host.core_time = Span::us(rng.below(3));
    config.host.latency = Span::us(rng.below(9));
    config.die_order.name = one_of(rng, &[DieOrderKind::Fifo, DieOrderKind::ReadFirst]);
    let suspensions = [SuspensionKind::Never, SuspensionKind::Ips, SuspensionKind::Ipc];
    config.suspension.name = one_of(rng, &suspensions);
    config.suspension.delay = one_of(rng, &[Span::ZERO, Span::us(70)]);
    config.suspension.min_progress = one_of(rng, &[Span::ZERO, Span::us(150)]);
    let patterns = [Pattern::Sequential, Pattern::Random, Pattern::Steady];
    config.precondition.pattern = one_of(rng, &patterns);
    config.precondition.fill = one_of(rng, &[0.0, 0.5, 1.0]);
    config.seed = rng.below(1 << 32);
    what_dies_do(&mut Rng::stream(config.seed, "what dies do"), &mut config);
    let rng = &mut Rng::stream(config.seed, "link");
    config.host.duplex = one_of(rng, &[Duplex::Full, Duplex::Half]);
    config.host.bandwidth = one_of(rng, &[ByteRate(0), ByteRate(550_000_000)]);
    let rng = &mut Rng::stream(config.seed, "trims");
    config.host.trim = one_of(rng, &[Span::ZERO, Span::us(65), Span::ms(1)]);
    config.host.trim_entry = one_of(rng, &[Span::ZERO, Span::ns(800), Span::us(50)]);
    config
}

/// Draws the registers and passes of the dies, from a stream of its own, so that the other choices
/// of a seed stay the same.
fn what_dies_do(rng: &mut Rng, config: &mut Config) {
    config.flash.cache_read = rng.chance(0.5);
    config.flash.cache_program = rng.chance(0.5);
    config.suspension.shadow_buffer = rng.chance(0.7);
    config.flash.program_passes = 1 + rng.below(2) as u32;
    config.flash.first_pass_iterations = 1 + rng.below(20) as u32;
    if config.flash.program_passes == 2 {
        // There is room for a word line of each die, whatever its shape: of 6 dies with four
        // planes, or 24.
        config.buffer.size.0 += 4096 * 6 * 64;
    }
}

/// Adds an SLC cache: superblocks set aside, dynamic ones, or both.
pub fn cached(rng: &mut Rng, mut config: Config) -> Config {
    config.flash.word_line = one_of(rng, &[2, 3, 3, 4]);
    config.geometry.pages_per_block = 12 * (1 + rng.below(3) as u32);
    let types: &[Span] = match config.flash.word_line {
        3 => &[Span::us(40), Span::us(60), Span::us(80)],
        _ => &[Span::us(50)],
    };
    config.timing.read = PerPageType::new(types).expect("types");
    config.geometry.blocks_per_plane += 8;
    let (fixed, dynamic) = one_of(rng, &[(1, 0), (2, 0), (4, 0), (0, 1), (0, 9), (2, 3)]);
    config.slc = SlcConfig {
        fixed,
        dynamic,
        keep_erased: config.gc.foreground_below + rng.below(4) as u32,
        when_full: one_of(rng, &[WhenFull::Direct, WhenFull::Wait]),
        fold_after: one_of(rng, &[Span::us(100), Span::us(700), Span::ms(5)]),
        read_time: Span::us(25),
        iterations: 1 + rng.below(6) as u32,
    };
    config
}

/// Lets data age: data of some hours or of years, on cells that are fresh or beyond their life.
pub fn aging(rng: &mut Rng, mut config: Config) -> Config {
    if rng.chance(0.5) {
        config = cached(rng, config);
    }
    config.aging = AgingConfig {
        coding: one_of(rng, &[Coding::Balanced, Coding::Reflected]),
        correctable: one_of(rng, &[1e-3, 2e-3, 4e-3, 6e-3]),
        retry_entries: one_of(rng, &[5, 15, 31, 31]),
        retry_shift: one_of(rng, &[0.02, 0.05, 0.08, 0.1]),
        retry_overhead: one_of(rng, &[Span::ZERO, Span::us(1), Span::us(30)]),
        tracking: one_of(rng, &[Tracking::Off, Tracking::Superblock]),
        refresh_above: one_of(rng, &[0, 1, 1, 2]),
        ..AgingConfig::default()
    };
    config.reliability.cycles = one_of(rng, &[0, 500, 1000, 1500, 3000]);
    let hours = one_of(rng, &[0, 30, 300, 3000, 10_000]);
    config.reliability.oldest = Span::ms(3_600_000) * hours;
    config
}

/// Gives superblocks parity by any policy, on cells so worn and with limits so short that stages of
/// life change and superblocks are refreshed within a few thousand requests.
pub fn covered(rng: &mut Rng, mut config: Config) -> Config {
    config = match rng.below(4) {
        0 => cached(rng, config),
        1 => aging(rng, config),
        2 => streamed(rng, config),
        _ => config,
    };
    let policies = [
        RedundancyKind::Raid5,
        RedundancyKind::DisturbLimiting,
        RedundancyKind::WearAware,
        RedundancyKind::ByStage,
    ];
    let Geometry { channels, chips_per_channel, pages_per_block, .. } = config.geometry;
    let commands = pages_per_block / config.flash.word_line * channels * chips_per_channel;
    config.superblocks.parity = (4 + rng.below(5) as u32).min(commands);
    config.geometry.blocks_per_plane += 8;
    let redundancy = &mut config.redundancy;
    redundancy.name = one_of(rng, &policies);
    redundancy.worn_above = one_of(rng, &[0, 8, 500, 800]);
    redundancy.worn_erase_pulse = one_of(rng, &[Span::ZERO, Span::us(900)]);
    redundancy.all_above = rng.below(600) as u32;
    redundancy.retention = one_of(rng, &[Span::ms(40), Span::ms(400), Span::ms(3_600_000)]);
    redundancy.reads = one_of(rng, &[30, 200, 46_000]);
    if redundancy.reads > 1000 {
        redundancy.limit_growth = one_of(rng, &[0.0, 0.001]);
    }
    // Where cells do not age, only these policies know of age and wear.
    let name = redundancy.name;
    if name != RedundancyKind::Raid5 {
        config.reliability.cycles = one_of(rng, &[0, 3, 495]);
        config.reliability.oldest = one_of(rng, &[Span::ZERO, Span::ms(30)]);
    }
    if matches!(name, RedundancyKind::WearAware | RedundancyKind::ByStage) {
        config.reliability.cycles_spread = one_of(rng, &[0, 6]);
    }
    config
}

/// Draws the limits of suspension and what channels carry, from a random stream of its own.
fn limits_and_transfers(config: &mut Config) {
    let rng = &mut Rng::stream(config.seed, "limits and transfers");
    config.die_order.name = one_of(rng, DieOrderKind::ALL);
    config.suspension.max_time = one_of(rng, &[None, Some(Span::us(1)), Some(Span::ms(1))]);
    config.suspension.erase_step = one_of(rng, &[Span::ZERO, Span::us(1), Span::us(900)]);
    config.flash.decode = one_of(rng, &[Span::ZERO, Span::us(30)]);
    if !config.flash.cache_program {
        let transfers = [ProgramTransfer::Page, ProgramTransfer::Command];
        config.flash.program_transfer = one_of(rng, &transfers);
    }
    config.flash.read_command = one_of(rng, &[Span::ZERO, Span::us(5)]);
    config.host.page_list = one_of(rng, &[Span::ZERO, Span::us(2)]);
}

/// Programs pages, has units of whole pages, or both.
pub fn of_other_units(rng: &mut Rng, mut config: Config) -> Config {
    limits_and_transfers(&mut config);
    config = match rng.below(3) {
        0 => aging(rng, config),
        1 => erring(rng, config),
        _ => config,
    };
    config.slc = SlcConfig { fixed: 0, dynamic: 0, ..config.slc };
    let choices = [(true, false), (false, true), (true, true)];
    let (programs_pages, units_are_pages) = one_of(rng, &choices);
    if programs_pages {
        config.ftl.program_unit = ProgramUnit::Page;
        config.flash.program_passes = 1;
    }
    if units_are_pages {
        config.ftl.unit = None;
        config.buffer.size.0 *= config.geometry.page_size.0 / 4096;
    }
    config
}

/// Lets cells err by sensing level: fresh ones or ones beyond their life, read as well as they can
/// be or at the worst level, and hot data programmed as fast as its superblock bears.
pub fn erring(rng: &mut Rng, mut config: Config) -> Config {
    config = match rng.below(3) {
        0 => cached(rng, config),
        1 => {
            let config = streamed(rng, config);
            Config { aging: AgingConfig { coding: Coding::Off, ..config.aging }, ..config }
        }
        _ => config,
    };
    config.reliability = reliability::Params {
        model: one_of(rng, &[ModelKind::Analytic, ModelKind::Analytic, ModelKind::ByVoltage]),
        references: one_of(rng, &[References::Fixed, References::Tracked]),
        retry: one_of(rng, &[RetryCost::Whole, RetryCost::Increment]),
        cycles: rng.below(4000) as u32,
        cycles_spread: rng.below(500) as u32,
        oldest: one_of(rng, &[Span::ZERO, Span(86_400_000_000_000), Span(9 << 52)]),
        ..reliability::Params::default()
    };
    config.step.name = one_of(rng, StepKind::ALL);
    config.voltage.name = one_of(rng, &[VoltageKind::Nominal, VoltageKind::High, VoltageKind::Low]);
    config.sensing.name = one_of(rng, SensingKind::ALL);
    config.sensing.inputs = rng.below(32) as u32;
    config.placement.hot_to_strong =
        config.placement.name == PlacementKind::Streams && rng.chance(0.5);
    config
}

/// Lets units stay in the buffer until room is needed, after reads as well, and divides them by
/// their use there, each at voltages of its own.
pub fn lazy(rng: &mut Rng, mut config: Config) -> Config {
    config = match rng.below(4) {
        0 => cached(rng, config),
        1 => aging(rng, config),
        2 => streamed(rng, config),
        _ => config,
    };
    config.flash.program_passes = 1;
    config.buffer = BufferConfig {
        eviction: Eviction::Lazy,
        evict_ahead: 1 + rng.below(40) as u32,
        cache_reads: rng.chance(0.5),
        pace: Span::ZERO,
        ..config.buffer
    };
    config.replacement.name = one_of(rng, ReplacementKind::ALL);
    config.replacement.window = 1 + rng.below(20) as u32;
    let by_use = !config.slc.is_on() && !config.aging.is_on() && rng.chance(0.6);
    if by_use && config.placement.name != PlacementKind::Handles {
        config.hotness.detectors |= 1 << Detector::BufferHits as u32;
        config.placement.name = PlacementKind::Streams;
        config.reliability.model = one_of(rng, &[ModelKind::ByVoltage, ModelKind::Analytic]);
        config.voltage.name = one_of(rng, &[VoltageKind::Nominal, VoltageKind::ByHotness]);
        config.sensing.name = SensingKind::Model;
        config.sensing.inputs = 2;
        config.precondition.access_class = one_of(rng, &AccessClass::ALL);
        config.gc.foreground_below = config.moved_streams() + 1 + rng.below(3) as u32;
        config.geometry.blocks_per_plane += 3 * config.open_streams() + 6;
        config.buffer.size.0 += 4096 * 64 * u64::from(config.open_streams());
    }
    config
}

/// Reads all data in the background, on cells of any kind, and moves it at few errors or many.
pub fn scrubbed(rng: &mut Rng, mut config: Config) -> Config {
    config = match rng.below(5) {
        0 => aging(rng, config),
        1 => erring(rng, config),
        2 => covered(rng, config),
        3 => leveled(rng, config),
        _ => config,
    };
    // A read takes 130 us at most, and reads may take a quarter of the time.
    let geometry = config.geometry;
    let pages = geometry.planes() * geometry.blocks_per_plane * geometry.pages_per_block;
    let least = Span::us(4 * 130) * u64::from(pages);
    config.scrub = scrub::Params {
        name: ScrubKind::Patrol,
        period: least * (1 + rng.below(4)),
        margin: one_of(rng, &[0.02, 0.3, 0.7, 1.0]),
        stripes: rng.chance(0.7),
    };
    config
}

/// Divides the data of the host into streams: by the size of requests, or by two to eight handles.
pub fn streamed(rng: &mut Rng, mut config: Config) -> Config {
    if rng.chance(0.3) {
        config = aging(rng, config);
        config.slc = SlcConfig { fixed: 0, dynamic: 0, ..config.slc };
    }
    if rng.chance(0.3) {
        config.hotness.detectors = 1 << Detector::RequestSize as u32;
        config.hotness.hot_up_to = Bytes(one_of(rng, &[0, 4096, 16 << 10]));
        config.placement.name = PlacementKind::Streams;
    } else {
        config.placement.name = PlacementKind::Handles;
        config.placement.handles = 2 + rng.below(7) as u32;
        config.placement.isolation = one_of(rng, &[Isolation::Initial, Isolation::Persistent]);
    }
    config.victim.name = one_of(rng, VictimKind::ALL);
    config.victim.d = 1 + rng.below(3) as u32;
    let moved = config.moved_streams();
    let streams = config.open_streams();
    config.gc.foreground_below = moved + 1 + rng.below(3) as u32;
    config.geometry.blocks_per_plane += 3 * streams + 2 * config.gc.foreground_below;
    config.geometry.pages_per_block = 12 * (1 + rng.below(3) as u32);
    // Room for a word line of each of 6 dies with 64 units, for each stream.
    let lines = if config.flash.program_passes == 2 { 8 } else { 1 };
    config.buffer.size.0 += 4096 * 64 * u64::from(streams) * lines;
    config
}

/// Levels the wear of a drive, with or without streams, a cache or data that ages.
pub fn leveled(rng: &mut Rng, config: Config) -> Config {
    let mut config = match rng.below(4) {
        0 => cached(rng, config),
        1 => aging(rng, config),
        2 => streamed(rng, config),
        _ => config,
    };
    config.wear.name = WearKind::HotColdSwap;
    config.wear.threshold = rng.below(3) as u32;
    config.gc.foreground_below = config.gc.foreground_below.max(config.moved_streams() + 2);
    config.slc.keep_erased = config.slc.keep_erased.max(config.gc.foreground_below);
    config.gc.background_below = config.gc.background_below.min(config.gc.foreground_below);
    config.geometry.blocks_per_plane += 6;
    config.over_provisioning = config.over_provisioning.max(0.3);
    config
}

/// Gives the writes among requests a placement handle, or none.
pub fn handled(rng: &mut Rng, all: &mut [HostIo]) {
    let most = 1 + rng.below(9);
    for io in all.iter_mut().filter(|io| io.op == HostOp::Write) {
        io.placement = match rng.below(10) {
            0 => PlacementHandle::NONE,
            _ => PlacementHandle(rng.below(most) as u8),
        };
    }
}

/// Returns requests at random times; of every `pauses` requests, one waits for up to 20 ms.
pub fn requests(rng: &mut Rng, logical: u64, count: u32, pauses: u64) -> Vec<HostIo> {
    let mut at = 0;
    let sectors = logical / 512;
    let hot = 1 + rng.below(sectors / 2);
    (0..count)
        .map(|_| {
            at += rng.below(60_000);
            if pauses > 0 && rng.below(pauses) == 0 {
                at += rng.below(20_000_000);
            }
            let op = match rng.below(20) {
                0 => return HostIo::flush(Nanos(at)),
                1 => HostOp::Trim,
                2..=8 => HostOp::Read,
                _ => HostOp::Write,
            };
            let size = if rng.chance(0.3) { 1 + rng.below(200) } else { 8 * (1 + rng.below(4)) };
            let size = size.min(sectors);
            let place = if rng.chance(0.5) { rng.below(hot) } else { rng.below(sectors) };
            let first = place.min(sectors - size);
            let io = HostIo::new(op, Nanos(at), first * 512, (size * 512) as u32);
            io.with_queue(QueueId(one_of(rng, &[0, 0, 1, 2, 7, 300])))
        })
        .collect()
}

/// Returns large writes in order into a few open zones; a full zone is followed by one chosen at
/// random. Superblocks then hold very different shares of valid data when they are emptied, several
/// at a time.
pub fn zones(rng: &mut Rng, logical: u64, count: u32) -> Vec<HostIo> {
    let zone = (logical / (4 + rng.below(60))).next_multiple_of(4096);
    let size = (4096 * (1 + rng.below(128))).min(zone);
    let all = logical / zone;
    let mut open: Vec<(u64, u64)> = (0..1 + rng.below(8)).map(|_| (rng.below(all), 0)).collect();
    (0..count)
        .map(|_| {
            let which = rng.below(open.len() as u64) as usize;
            let (number, written) = &mut open[which];
            if *written + size > zone {
                (*number, *written) = (rng.below(all), 0);
            }
            let at = *number * zone + *written;
            *written += size;
            HostIo::new(HostOp::Write, Nanos::ZERO, at, size as u32)
        })
        .collect()
}

/// Lets blocks fail: many of them, so that superblocks lose parts or are retired, and the spare of
/// some drives is used up.
pub fn wearing_out(rng: &mut Rng, mut config: Config) -> Config {
    config.bad_blocks = bad_blocks::Params {
        share: one_of(rng, &[0.1, 0.5]),
        shape: one_of(rng, &[1.0, 3.0]),
        erases: one_of(rng, &[0.0, 0.5, 1.0]),
    };
    config.life.cycles = one_of(rng, &[1.0, 4.0, 10.0]);
    config.superblocks.retire = one_of(rng, &[Retire::Block, Retire::Block, Retire::Superblock]);
    config
}
