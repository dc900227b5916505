//! Random drives and random requests, from a seed.

use super::{mlc, slc, small};
use fowler_device::policy::die_order::DieOrderKind;
use fowler_device::policy::hotness::Detector;
use fowler_device::policy::placement::{Dies, PlacementKind};
use fowler_device::policy::redundancy::{
    AboveNUpdate, CachePower, CutPrograms, RedundancyKind, UpdateOrder,
};
use fowler_device::policy::replacement::ReplacementKind;
use fowler_device::policy::scrub::ScrubKind;
use fowler_device::policy::sensing::SensingKind;
use fowler_device::policy::step::StepKind;
use fowler_device::policy::suspension::{self, SuspensionKind};
use fowler_device::policy::throttle::{self, Enforcement, EpochRule, ThrottleKind};
use fowler_device::policy::victim::VictimKind;
use fowler_device::policy::voltage::VoltageKind;
use fowler_device::policy::wear::WearKind;
use fowler_device::reliability::{ModelKind, RateTable, StrengthSource};
use fowler_device::*;
use fowler_nand::{CancelledProgram, Reload};
use fowler_units::{ByteRate, Bytes, HostIo, HostOp, Nanos, Rng, Span};

pub fn one_of<T: Copy>(rng: &mut Rng, all: &[T]) -> T {
    all[rng.below(all.len() as u64) as usize]
}

fn between(rng: &mut Rng, low: u32, high: u32) -> u32 {
    low + rng.below(u64::from(high - low + 1)) as u32
}

/// The policies to choose from.
pub struct Choice {
    die_order: Vec<DieOrderKind>,
    suspension: Vec<SuspensionKind>,
    victim: Vec<VictimKind>,
    wear: Vec<WearKind>,
    throttle: Vec<ThrottleKind>,
    /// True if bit errors may be modeled and access classes may be on.
    cells: bool,
    /// The protections of stripes to choose from.
    redundancy: Vec<RedundancyKind>,
}

impl Choice {
    /// Every policy there is.
    pub fn all() -> Self {
        Self {
            die_order: DieOrderKind::ALL.to_vec(),
            suspension: SuspensionKind::ALL.to_vec(),
            victim: VictimKind::ALL.to_vec(),
            wear: WearKind::ALL.to_vec(),
            throttle: ThrottleKind::ALL.to_vec(),
            cells: true,
            redundancy: RedundancyKind::ALL.to_vec(),
        }
    }

    /// Every policy there is, on drives whose stripes are protected by `by`.
    pub fn protected(by: RedundancyKind) -> Self {
        Self { redundancy: vec![by], ..Self::all() }
    }

    /// A fixed set of policies: the drives drawn from it must not change when a policy is added.
    pub fn fixed() -> Self {
        use {DieOrderKind as D, SuspensionKind as S, VictimKind as V, WearKind as W};
        Self {
            die_order: vec![D::Fifo, D::ReadFirst],
            suspension: vec![S::Never, S::Ips, S::Ipc],
            victim: vec![V::Greedy, V::Fifo, V::DChoices, V::CostBenefit],
            wear: vec![W::Off, W::HotColdSwap],
            throttle: Vec::new(),
            cells: false,
            redundancy: Vec::new(),
        }
    }
}

/// Draws a drive of some hundred pages, random in every respect. Some cannot work; those are
/// refused.
pub fn drive(rng: &mut Rng, seed: u64, choice: &Choice) -> Config {
    let mut config = small();
    config.seed = seed;
    let g = &mut config.geometry;
    g.channels = between(rng, 1, 3);
    g.chips_per_channel = between(rng, 1, 2);
    g.dies_per_chip = between(rng, 1, 2);
    g.planes_per_die = between(rng, 1, 3);
    g.blocks_per_plane = between(rng, 4, 10);
    g.pages_per_block = between(rng, 1, 9);
    g.page_size = Bytes(one_of(rng, &[512, 2048, 4096, 16384]));
    config.plane_mode = one_of(rng, &[PlaneMode::Lockstep, PlaneMode::Independent]);
    config.over_provisioning = 0.2 + 0.7 * rng.unit();
    config.timing = one_of(rng, &[slc(), mlc()]);
    config.program_erase = one_of(
        rng,
        &[ProgramErase::Nominal, ProgramErase::Nominal, ProgramErase::AsRead, ProgramErase::Zero],
    );
    let pages = u64::from(between(rng, 0, 12));
    config.buffer = BufferConfig {
        size: Bytes(pages * config.geometry.page_size.0),
        ack: one_of(rng, &[Ack::OnInsert, Ack::OnProgram]),
        evict_ahead: between(rng, 1, 6),
        ..config.buffer
    };
    config.queue = QueueConfig {
        depth: between(rng, 1, 12),
        max_reads: between(rng, 1, 12),
        max_writes: between(rng, 1, 12),
        ..config.queue
    };
    // Admission has a random stream of its own: drives of recorded digests draw nothing from it.
    if choice.cells && Rng::stream(seed, "admission").chance(0.5) {
        config.admission = Admission::InOrder;
    }
    config.host = LinkConfig {
        bandwidth: ByteRate(one_of(rng, &[0, 50_000_000, 2_000_000_000])),
        command: one_of(rng, &[Span::ZERO, Span::us(3)]),
        ..config.host
    };
    if choice.cells && Rng::stream(seed, "duplex").chance(0.3) {
        config.host.duplex = Duplex::Half;
    }
    if choice.cells {
        let rng = &mut Rng::stream(seed, "trims");
        (config.host.cores, config.host.core_time) = (between(rng, 0, 3), Span::us(2));
        config.host.trim = one_of(rng, &[Span::ZERO, LinkConfig::TRIM, Span::ms(1)]);
        config.host.trim_entry = one_of(rng, &[Span::ZERO, LinkConfig::TRIM_ENTRY, Span::us(50)]);
    }
    config.gc.foreground_below = between(rng, 2, 3);
    config.gc.background_below = between(rng, 2, 5);
    config.gc.idle_after = one_of(rng, &[Span::ZERO, Span::us(100), Span::ms(1)]);
    config.gc.frontier = one_of(rng, &[GcFrontier::Own, GcFrontier::Shared]);
    config.precondition.fill = one_of(rng, &[0.0, 0.5, 1.0]);
    config.precondition.pattern =
        one_of(rng, &[Pattern::Sequential, Pattern::Random, Pattern::Steady, Pattern::Rested]);
    config.unwritten_reads = one_of(rng, &[UnwrittenReads::Preconditioned, UnwrittenReads::Zero]);
    config.partial_writes =
        one_of(rng, &[PartialWrites::ReadModifyWrite, PartialWrites::Overwrite]);
    policies(&mut config, rng, choice);
    if !choice.redundancy.is_empty() {
        redundancy(&mut config, rng, choice);
    }
    if choice.cells {
        scrub(&mut config, seed);
        bad_blocks(&mut config, seed);
    }
    config
}

/// Lets every block fail early on some drives. Draws from a stream of its own.
fn bad_blocks(config: &mut Config, seed: u64) {
    let mut own = Rng::stream(seed, "bad blocks");
    config.bad_blocks = bad_blocks::Params {
        share: one_of(&mut own, &[0.0, 0.0, 0.1, 0.5]),
        shape: one_of(&mut own, &[0.1, 1.0, 20.0]),
        erases: one_of(&mut own, &[0.0, 0.5, 1.0]),
    };
}

/// Draws the scrubbing from a stream of its own, so that the other choices of a seed stay the same.
fn scrub(config: &mut Config, seed: u64) {
    let mut own = Rng::stream(seed, "scrub");
    config.scrub.name = if own.chance(0.3) { ScrubKind::Patrol } else { ScrubKind::Off };
    // The shortest period lets some dies read a quarter of their time.
    config.scrub.period = one_of(&mut own, &[Span::ms(200), Span::ms(5_000)]);
    config.scrub.margin = one_of(&mut own, &[0.01, 0.3, 1.0]);
}

/// Draws stripes as far as there are chips for them, on drives with room for the contents of their
/// caches.
fn redundancy(config: &mut Config, rng: &mut Rng, choice: &Choice) {
    let chips = config.geometry.chips();
    let params = &mut config.redundancy;
    params.name = one_of(rng, &choice.redundancy);
    let widths: Vec<u32> = (2..=chips).filter(|width| chips.is_multiple_of(*width)).collect();
    if widths.is_empty() {
        params.name = RedundancyKind::Unprotected;
        return;
    }
    params.stripe = one_of(rng, &widths) - 1;
    params.parity_cache = Bytes(u64::from(between(rng, 2, 6)) * config.geometry.page_size.0);
    params.n_update = between(rng, 0, params.stripe);
    params.cut_off = between(rng, 0, 3);
    params.all_above = between(rng, 0, 40);
    params.integrity = rng.chance(0.7);
    params.cache = one_of(rng, &[CachePower::Protected, CachePower::Volatile]);
    config.reliability.cycles_spread = between(rng, 0, 4);
    params.worn_above = (config.reliability.cycles + between(rng, 0, 6)).min(2999);
    params.reads = between(rng, 20, 400);
    params.retention = one_of(rng, &[Span::ms(5), Span::ms(500), params.retention]);
    // The orders of updates have a stream of their own, so that the other choices of a seed stay
    // the same.
    let mut own = Rng::stream(config.seed, "orders of updates");
    params.update_order = one_of(&mut own, &[UpdateOrder::ProgramFirst, UpdateOrder::ReadFirst]);
    params.flush_moved = own.chance(0.3);
    params.limit_growth = one_of(&mut own, &[0.0, 0.01]);
    if !params.integrity && own.chance(0.3) {
        params.above_n_update = AboveNUpdate::Replace;
    }
    let mut own = Rng::stream(config.seed, "programs cut off");
    if params.cache == CachePower::Volatile && params.integrity && own.chance(0.5) {
        (params.cut_programs, params.word_line) = (CutPrograms::Torn, between(&mut own, 1, 3));
    }
    if params.name != RedundancyKind::Unprotected {
        config.geometry.blocks_per_plane += 4;
    }
}

fn policies(config: &mut Config, rng: &mut Rng, choice: &Choice) {
    config.die_order.name = one_of(rng, &choice.die_order);
    config.suspension = suspension::Params {
        name: one_of(rng, &choice.suspension),
        reads: one_of(rng, &[suspension::SuspendingReads::Host, suspension::SuspendingReads::All]),
        cancelled_program: one_of(rng, &[CancelledProgram::Redo, CancelledProgram::Reached]),
        reload: one_of(rng, &[Reload::Abort, Reload::Finish]),
        shadow_buffer: rng.chance(0.7),
        max_suspends: one_of(rng, &[None, Some(1), Some(3)]),
        min_progress: one_of(rng, &[Span::ZERO, Span::us(30)]),
        // The others are drawn below, or by the swarm of superblocks.
        ..suspension::Params::default()
    };
    // Drives of recorded digests draw nothing from this stream.
    if choice.cells {
        let own = &mut Rng::stream(config.seed, "limits of suspension");
        let times = [None, Some(Span::us(1)), Some(Span::us(700))];
        config.suspension.max_time = one_of(own, &times);
        config.suspension.erase_step = one_of(own, &[Span::ZERO, Span::ns(1), Span::us(400)]);
        let transfers = [ProgramTransfer::Page, ProgramTransfer::Command];
        config.flash.program_transfer = one_of(own, &transfers);
        config.flash.decode = one_of(own, &[Span::ZERO, Span::us(7)]);
        config.flash.read_command = one_of(own, &[Span::ZERO, Span::us(3)]);
        config.host.page_list = one_of(own, &[Span::ZERO, Span::us(2)]);
    }
    config.victim.name = one_of(rng, &choice.victim);
    config.victim.d = between(rng, 1, 3);
    config.wear.name = one_of(rng, &choice.wear);
    config.wear.threshold = between(rng, 0, 4);
    if !choice.throttle.is_empty() {
        life(config, rng, &choice.throttle);
    }
    if choice.cells {
        streams(config, rng);
        cells(config, rng);
        sound(config);
    }
}

/// A life of a moment, with room for a few hundred pages, in epochs and periods to match.
pub fn life(config: &mut Config, rng: &mut Rng, throttles: &[ThrottleKind]) {
    config.throttle = throttle::Params {
        name: one_of(rng, throttles),
        enforcement: one_of(rng, &[Enforcement::Pessimistic, Enforcement::Optimistic]),
        epoch: one_of(rng, &[EpochRule::Auto, EpochRule::Fixed]),
        epoch_length: one_of(rng, &[Span::ms(1), Span::ms(50)]),
        window: one_of(rng, &[Span::us(500), Span::ms(3)]),
        period: one_of(rng, &[Span::us(100), Span::us(500)]),
        // No life is longer.
        history: Span::ms(400),
        ..throttle::Params::default()
    };
    config.life.target = one_of(rng, &[Span::ms(120), Span::ms(400)]);
    config.life.cycles = one_of(rng, &[0.05, 1.0, 3000.0]);
    config.life.dilation = one_of(rng, &[1, 2]);
}

/// Drops settings that would be refused for other reasons than size: a swarm of refusals tests
/// nothing.
fn sound(config: &mut Config) {
    if config.reliability.model == ModelKind::Off {
        config.voltage.name = VoltageKind::Nominal;
    }
    if config.buffer.size == Bytes(0) {
        config.buffer.cache_reads = false;
        config.hotness.detectors &= !HITS;
    }
    let apart =
        config.hotness.detectors & HITS != 0 && config.placement.name == PlacementKind::Streams;
    if config.voltage.name == VoltageKind::ByHotness && !apart {
        config.voltage.name = VoltageKind::High;
    }
}

/// The detector of hits in the buffer.
const HITS: u32 = 1 << Detector::BufferHits as u32;

fn streams(config: &mut Config, rng: &mut Rng) {
    config.hotness.detectors = one_of(rng, &[0, 1, 2, 3]);
    config.hotness.watermark = one_of(rng, &[0.6, 0.95, 1.0]);
    config.hotness.hot_up_to = Bytes(one_of(rng, &[0, 1, 3]) * config.geometry.page_size.0);
    config.placement.name = one_of(rng, &[PlacementKind::SingleStream, PlacementKind::Streams]);
    // Each stream has open blocks of its own.
    config.geometry.blocks_per_plane += config.host_streams() - 1;
    config.geometry.blocks_per_plane += config.moved_streams() - 1;
    config.placement.dies = one_of(rng, &[Dies::Rotate, Dies::ByAddress]);
    config.placement.hot_to_strong = rng.chance(0.5);
    config.step.name = one_of(rng, StepKind::ALL);
    config.voltage.name = one_of(rng, VoltageKind::ALL);
    config.replacement.name = one_of(rng, ReplacementKind::ALL);
    config.replacement.window = between(rng, 1, 6);
    config.buffer.cache_reads = rng.chance(0.5);
    config.buffer.read_hot =
        one_of(rng, &[ReadHot::OnDirty, ReadHot::OnEvict, ReadHot::RewriteOnIdle]);
    config.die_order.deadline = one_of(rng, &[Span::ms(10), Span::ms(1280)]);
}

/// Draws cells at the end of their life, so that many reads climb and some fail.
fn cells(config: &mut Config, rng: &mut Rng) {
    let reliability = &mut config.reliability;
    // Curves take some time to make.
    reliability.model = match rng.below(8) {
        0 | 1 => ModelKind::Analytic,
        2 => ModelKind::Table,
        3 => ModelKind::ByVoltage,
        _ => ModelKind::Off,
    };
    reliability.table = table(rng);
    if reliability.model == ModelKind::Table {
        config.voltage.name = VoltageKind::Nominal;
    }
    reliability.levels =
        if reliability.model == ModelKind::ByVoltage { 3 } else { between(rng, 1, 3) };
    reliability.cycles = one_of(rng, &[0, 2000, 3000, 3600]);
    reliability.oldest = one_of(rng, &[Span::ZERO, Span(30 * 86_400_000_000_000)]);
    reliability.strength = one_of(rng, &[StrengthSource::Oracle, StrengthSource::Measured]);
    reliability.measure_every = one_of(rng, &[Span::ms(100), Span::ms(10_000)]);
    // The rate has a stream of its own, so that the other choices of a seed stay the same.
    reliability.uber = one_of(&mut Rng::stream(config.seed, "uber"), &[0.0, 0.0, 0.0, 1e-8, 1e-7]);
    config.sensing.name = one_of(rng, SensingKind::ALL);
    config.sensing.inputs = rng.below(32) as u32;
}

/// Draws a table from no wear and no age up to pages that no level can read.
fn table(rng: &mut Rng) -> RateTable {
    let days = |days: u64| Span(days * 86_400_000_000_000);
    let mut rate = 1e-4;
    let mut row = || {
        rate *= 1.0 + 4.0 * rng.unit();
        vec![rate, (rate * 2.0).min(0.4), (rate * 8.0).min(0.4)]
    };
    RateTable {
        rates: vec![row(), row(), row()],
        cycles: vec![0.0, 2000.0, 3500.0],
        ages: vec![days(0), days(1), days(30)],
    }
}

/// As [`requests`], each over whole pages.
pub fn whole_pages(rng: &mut Rng, layout: &Layout, count: u64) -> Vec<HostIo> {
    let page = layout.geometry.page_size.0;
    let mut all = requests(rng, layout, count);
    for io in &mut all {
        io.offset = io.offset / page * page;
        io.size = (u64::from(io.size).div_ceil(page) * page) as u32;
        io.size = io.size.min((layout.logical.0 - io.offset) as u32);
    }
    all
}

/// Returns `count` random requests of every kind, with random times of arrival.
pub fn requests(rng: &mut Rng, layout: &Layout, count: u64) -> Vec<HostIo> {
    let mut at = 0;
    let gap = one_of(rng, &[1, 20_000, 200_000, 3_000_000]);
    let capacity = layout.logical.0;
    let page = layout.geometry.page_size.0;
    let whole_pages = rng.chance(0.5);
    (0..count)
        .map(|_| {
            at += rng.below(gap);
            let op = one_of(
                rng,
                &[
                    HostOp::Read,
                    HostOp::Read,
                    HostOp::Write,
                    HostOp::Write,
                    HostOp::Write,
                    HostOp::Trim,
                    HostOp::Flush,
                ],
            );
            let unit = if whole_pages { page } else { 512 };
            let size = unit * (1 + rng.below(4 * page / unit));
            let size = size.min(capacity) / unit * unit;
            let offset = rng.below((capacity - size) / unit + 1) * unit;
            let size = if op == HostOp::Flush { 0 } else { size as u32 };
            HostIo::new(op, Nanos(at), if size == 0 { 0 } else { offset }, size)
        })
        .collect()
}

/// Returns true if reads of this drive may fail though no fault strikes.
pub fn may_err(config: &Config) -> bool {
    config.reliability.model != ModelKind::Off || config.reliability.uber > 0.0
}
