//! The drive that is measured, and the results of a run on it.

use crate::requests::PAGE;
use fowler_device::policy::die_order::DieOrderKind;
use fowler_device::policy::redundancy::RedundancyKind;
use fowler_device::policy::suspension::SuspensionKind;
use fowler_device::*;
use fowler_metrics::Recorder;
use fowler_nand::{PerPageType, Timing};
use fowler_units::{Bytes, Geometry, HostIo, Span};
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// Time to sense a page on the benchmark's drives.
pub const SENSE: Span = Span::us(50);

/// The state of a drive at the start of a workload.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Every logical page was written once, in the order of addresses.
    Sequential,
    /// The drive is in steady state under random writes, with these policies.
    Steady(DieOrderKind, SuspensionKind),
}

/// Counts and times of one run of a benchmark.
pub struct Measured {
    /// Number of requests served.
    pub requests: u64,
    /// Number of logical pages read or written by the requests.
    pub pages: u64,
    /// Operations of the flash during the run.
    pub work: Work,
    /// Wall time of the run, in seconds.
    pub seconds: f64,
}

/// Operations of the flash during a run, by purpose.
#[derive(Clone, Copy, Debug, Default)]
pub struct Work {
    /// Number of pages that the host read.
    pub pages_read: u64,
    /// Number of pages that the host wrote.
    pub pages_written: u64,
    /// Number of flash reads for host reads; fewer than pages if the write buffer served some.
    pub reads: u64,
    /// Number of flash reads before programs: of the old page of a partial write, or of a page that
    /// GC moves.
    pub reads_before: u64,
    /// Number of programs of host data.
    pub programs: u64,
    /// Number of pages moved by GC and wear leveling.
    pub moves: u64,
    /// Number of blocks erased.
    pub erases: u64,
    /// Number of times that a program or erase was suspended for a read.
    pub suspensions: u64,
}

impl Work {
    fn between(before: &Counters, after: &Counters) -> Work {
        let upto = |c: &Counters| Work {
            pages_read: c.pages_read,
            pages_written: c.pages_written,
            reads: c.reads[Source::Host] - c.merge_reads,
            reads_before: c.merge_reads + c.reads[Source::Gc] + c.reads[Source::Wear],
            programs: c.programs[Source::Host],
            moves: c.programs[Source::Gc] + c.programs[Source::Wear],
            erases: c.erases.sum(),
            suspensions: c.suspensions,
        };
        let (from, to) = (upto(before), upto(after));
        Work {
            pages_read: to.pages_read - from.pages_read,
            pages_written: to.pages_written - from.pages_written,
            reads: to.reads - from.reads,
            reads_before: to.reads_before - from.reads_before,
            programs: to.programs - from.programs,
            moves: to.moves - from.moves,
            erases: to.erases - from.erases,
            suspensions: to.suspensions - from.suspensions,
        }
    }

    /// Returns the number of flash events of host reads: the ends of sensing and of transfer.
    pub fn read_events(&self) -> u64 {
        2 * self.reads
    }

    /// Returns the flash events that host writes cause: two for each program and each read before
    /// it, one for each erase, and two for each suspension (cells free; end after resuming).
    pub fn write_events(&self) -> u64 {
        2 * (self.programs + self.moves + self.reads_before) + self.erases + 2 * self.suspensions
    }

    /// Returns the write amplification of the run; 1 without writes.
    pub fn waf(&self) -> f64 {
        if self.programs == 0 {
            return 1.0;
        }
        (self.programs + self.moves) as f64 / self.programs as f64
    }
}

impl Measured {
    /// Returns the wall time per request, in nanoseconds.
    pub fn ns_per_request(&self) -> f64 {
        self.seconds * 1e9 / self.requests as f64
    }

    /// Returns the number of flash events that the requests of the run need.
    pub fn events(&self) -> u64 {
        self.work.read_events() + self.work.write_events()
    }
}

/// Returns the geometry of the benchmark's drive: 8 channels of 8 dies, 128 GiB of 4 KiB pages.
pub fn geometry() -> Geometry {
    Geometry {
        channels: 8,
        chips_per_channel: 8,
        dies_per_chip: 1,
        planes_per_die: 1,
        blocks_per_plane: 2048,
        pages_per_block: 256,
        page_size: Bytes(PAGE),
    }
}

/// Returns the operating times of all drives of the benchmark.
pub fn timing() -> Timing {
    Timing {
        bus_transfer: Span::us(4),
        read: PerPageType::uniform(SENSE),
        program_phase: Span::us(20),
        verify_phase: Span::us(24),
        program_iterations: PerPageType::uniform(15),
        erase_pulse: Span::us(3300),
        erase_verify: Span::us(24),
        voltage_reset: Span::us(4),
        buffer_load: Span::us(3),
    }
}

/// Returns the configuration of a drive of this geometry, with 28 % spare capacity and greedy GC.
pub fn config(geometry: Geometry, state: State) -> Config {
    let (pattern, order, suspension) = match state {
        State::Sequential => (Pattern::Sequential, DieOrderKind::ReadFirst, SuspensionKind::Never),
        State::Steady(order, suspension) => (Pattern::Steady, order, suspension),
    };
    // 64 MiB for 128 GiB; on a small drive a few more pages than can be outstanding.
    let buffer = Bytes((geometry.raw().0 / 2048).max(4 << 20));
    let mut config = Config {
        over_provisioning: 0.28,
        over_provisioning_base: OpBase::Logical,
        buffer: BufferConfig {
            size: buffer,
            ack: Ack::OnProgram,
            evict_ahead: 64,
            cache_reads: false,
            read_hot: ReadHot::OnDirty,
            ..BufferConfig::default()
        },
        gc: GcConfig {
            foreground_below: 4,
            background_below: 4,
            idle_after: Span::ms(1),
            frontier: GcFrontier::Own,
        },
        precondition: PreconditionConfig {
            fill: 1.0,
            pattern,
            access_class: AccessClass::Mixed,
            warm_up: 0,
        },
        ..Config::new(geometry, timing())
    };
    config.die_order.name = order;
    config.suspension.name = suspension;
    config
}

/// Builds the drive of a configuration, preconditioned.
pub fn build(config: &Config) -> Device {
    Device::new(config).unwrap_or_else(|refusals| panic!("{refusals:?}"))
}

/// Builds a small drive with superblocks, in steady state: 16 dies of four planes on eight
/// channels, pages of 16 KiB, three of them to a word line, parity over 31 commands.
pub fn with_superblocks() -> Device<Superblocks> {
    let geometry = Geometry {
        channels: 8,
        chips_per_channel: 2,
        dies_per_chip: 1,
        planes_per_die: 4,
        blocks_per_plane: 48,
        pages_per_block: 96,
        page_size: Bytes(4 * PAGE),
    };
    let mut config = config(geometry, State::Steady(DieOrderKind::ReadFirst, SuspensionKind::Ipc));
    config.ftl = FtlConfig {
        unit: Some(Bytes(PAGE)),
        reclaim_unit: ReclaimUnit::Superblock,
        program_unit: ProgramUnit::WordLine,
    };
    config.flash.word_line = 3;
    config.superblocks.parity = 32;
    config.redundancy.name = RedundancyKind::Raid5;
    config.timing.read = PerPageType::new(&[SENSE; 3]).expect("three types");
    config.buffer = BufferConfig { size: Bytes(16 << 20), ..BufferConfig::default() };
    let watch = PreconditionWatch { stop: &AtomicBool::new(false), progress: &|_| () };
    let device = Device::<Superblocks>::with_superblocks(&config, watch);
    device.unwrap_or_else(|refusals| panic!("{refusals:?}")).expect("nobody stops it")
}

/// Serves requests on a drive, and records every latency and all blame.
pub fn serve(
    device: &mut Device,
    requests: impl IntoIterator<Item = HostIo>,
    pacing: Pacing,
) -> Measured {
    let mut recorder = Recorder::new();
    let before = device.counters();
    let start = Instant::now();
    device.run(requests, pacing, &mut recorder);
    let seconds = start.elapsed().as_secs_f64();
    let work = Work::between(&before, &device.counters());
    let pages = work.pages_read + work.pages_written;
    Measured { requests: recorder.requests(), pages, work, seconds }
}
