//! The complete description of a drive, as plain data. The crates above read it from text;
//! configurations that cannot work are rejected here, with all reasons at once.
//!
//! - `aging.rs`: the aging of data on a drive with superblocks.
//! - `constraints.rs`: constraints between settings, which a drive must meet to work at all.
//! - `flash.rs`: the word lines and registers of the dies, and programs in two passes.
//! - `ftl.rs`: the units of the mapping, of garbage collection and of programs.
//! - `layout.rs`: the sizes derived from a configuration, and the reasons for rejecting it.
//! - `queues.rs`: the number of requests in the drive, their order, and their waiting for each
//!   other.
//! - `scrubbing.rs`: the shortest possible period of scrubbing.
//! - `slc.rs`: the SLC cache of a drive with superblocks.
//! - `stripes.rs`: the stripes that fit.
//! - `superblocks.rs`: parity within superblocks, and superblocks with bad blocks.
//! - `units.rs`: the size of a mapping unit, and why a drive cannot have it.

mod aging;
pub(crate) mod bad_blocks;
pub(crate) mod constraints;
pub(crate) mod endurance;
pub(crate) mod failed_dies;
mod flash;
mod ftl;
pub mod layout;
mod queues;
pub(crate) mod reliability;
mod scrubbing;
mod slc;
pub mod stripes;
mod superblocks;
mod units;

use crate::policy::custom::Policies;
use crate::policy::placement::StreamLimits;
use crate::policy::stream_tag::{AccessClass, StreamTag};
use crate::policy::voltage::VoltageKind;
use crate::policy::{
    die_order, hotness, placement, redundancy, replacement, scrub, sensing, step, suspension,
    throttle, victim, voltage, wear,
};
pub use aging::{AgingConfig, Coding, Tracking};
pub use flash::{FlashConfig, ProgramTransfer};
use fowler_nand::{PerPageType, Timing};
use fowler_units::{ByteRate, Bytes, Geometry, Span};
pub use ftl::{FtlConfig, ProgramUnit, ReclaimUnit};
pub use queues::{Admission, Arbitration, QueueConfig, Weights};
pub use slc::{SlcConfig, WhenFull};
pub use superblocks::{Retire, SuperblockConfig};

/// Complete configuration of a drive.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Geometry of the flash array.
    pub geometry: Geometry,
    /// Spare capacity, hidden from the host, as a share: in `[0, 1)` of the raw capacity, or any
    /// non-negative share of the logical capacity, according to [`Config::over_provisioning_base`].
    pub over_provisioning: f64,
    /// Capacity that [`Config::over_provisioning`] is a share of: raw or logical.
    pub over_provisioning_base: OpBase,
    /// Operation of the planes of a die: in lockstep, or independently.
    pub plane_mode: PlaneMode,
    /// Operating times of the flash chips.
    pub timing: Timing,
    /// Times of programs and erases: nominal, or those of two baselines in the PES paper on program
    /// and erase suspension: PER (as long as sensing for a read) and PE0 (zero).
    pub program_erase: ProgramErase,
    /// Units of the mapping, of garbage collection and of programs.
    pub ftl: FtlConfig,
    /// Number of program commands that share a parity command within superblocks.
    pub superblocks: SuperblockConfig,
    /// Word lines and registers of the dies, and the passes of their programs.
    pub flash: FlashConfig,
    /// The SLC cache of a drive with superblocks.
    pub slc: SlcConfig,
    /// Aging of the data on a drive with superblocks.
    pub aging: AgingConfig,
    /// Size and rules of the write buffer.
    pub buffer: BufferConfig,
    /// Sizes and order of the bounded queues between host and flash.
    pub queue: QueueConfig,
    /// The rule for which requests wait behind one that finds no room in the queues.
    pub admission: Admission,
    /// Link to the host.
    pub host: LinkConfig,
    /// Parameters of garbage collection.
    pub gc: GcConfig,
    /// The state of the drive before the first request.
    pub precondition: PreconditionConfig,
    /// Behavior of the drive on a read of a page that was never written: answer from the flash,
    /// with zeroes, or with an error.
    pub unwritten_reads: UnwrittenReads,
    /// Behavior of the drive on a write of part of a page: read the old page first
    /// (read-modify-write), or not.
    pub partial_writes: PartialWrites,
    /// The policy that chooses the waiting transaction that a die serves next.
    pub die_order: die_order::Params,
    /// The rule by which a die suspends the running operation for a read.
    pub suspension: suspension::Params,
    /// Detectors that classify written data by how often it is used.
    pub hotness: hotness::Params,
    /// The policy that chooses the open block for written data.
    pub placement: placement::Params,
    /// The policy that chooses the ISPP step of a program.
    pub step: step::Params,
    /// The policy that chooses the voltages of a program.
    pub voltage: voltage::Params,
    /// The policy that chooses the page that leaves the buffer next.
    pub replacement: replacement::Params,
    /// The policy that chooses the sensing level with which a page is first read.
    pub sensing: sensing::Params,
    /// Model of bit errors in the cells by wear, age and reads, and of the error-correcting code.
    pub reliability: reliability::Params,
    /// The model of blocks that fail for good.
    pub bad_blocks: bad_blocks::Params,
    /// The dies that take the place of failed ones.
    pub failed_dies: failed_dies::Params,
    /// The policy that chooses the block that GC collects next.
    pub victim: victim::Params,
    /// The policy of static wear leveling, which swaps hot and cold data.
    pub wear: wear::Params,
    /// Parameters of scrubbing, which reads all data in the background.
    pub scrub: scrub::Params,
    /// Protection of pages by stripes with parity (RAID), and refresh.
    pub redundancy: redundancy::Params,
    /// Policy that delays writes for the sake of the drive's lifetime.
    pub throttle: throttle::Params,
    /// The target lifetime of the drive, and the endurance of its cells.
    pub life: endurance::Params,
    /// Custom policies, from outside this crate, each of which replaces the policy chosen by its
    /// name.
    pub policies: Policies,
    /// Seed of every random stream of the drive.
    pub seed: u64,
}

/// The capacity that over-provisioning is a share of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpBase {
    /// Over-provisioning is spare divided by raw capacity.
    Raw,
    /// Over-provisioning is spare divided by logical capacity, which the host sees.
    Logical,
}

/// Operation of the planes of a die: all execute one command together (lockstep), or each executes
/// its own commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlaneMode {
    /// A die executes one command at a time; host pages at the same offset on several planes are
    /// programmed together.
    Lockstep,
    /// Each plane executes its own commands; only the bus is shared.
    /// See docs/decisions/flash.md, "What are independent planes?".
    Independent,
}

/// Times of programs and erases, as configured or as in two baselines of the PES paper (program and
/// erase suspension). See docs/decisions/flash.md, "How long do programs take under PER and PE0?".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramErase {
    /// Programs and erases take the nominal times of the configuration.
    Nominal,
    /// Programs and erases take as long as sensing for a read: PER of the PES paper, section 3.2.
    AsRead,
    /// Programs and erases take no time: PE0 of the PES paper, section 3.2.
    Zero,
}

/// Parameters of the write buffer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BufferConfig {
    /// Size of the write buffer. With zero, it holds only pages on their way to the flash.
    pub size: Bytes,
    /// The moment at which a write is acknowledged.
    pub ack: Ack,
    /// Moment at which buffered data is programmed: as soon as there is enough for a program, or
    /// only when room is needed. Used only if a write is acknowledged when it enters the buffer
    /// (`buffer.ack = "on_insert"`).
    pub eviction: Eviction,
    /// Number of page frames kept free or about to become free under lazy eviction, so that a burst
    /// of writes finds room.
    pub evict_ahead: u32,
    /// True if a page read from the flash stays in the buffer.
    pub cache_reads: bool,
    /// The treatment of a read-hot page that leaves the buffer clean.
    pub read_hot: ReadHot,
    /// Maximum share of the write buffer's frames, in (0, 1], whose pages wait to be reprogrammed;
    /// other pages cannot use these frames (`rewrite_on_idle` only). At least one frame.
    pub rewrite_share: f64,
    /// Time between two mapping units that enter a full buffer; zero to not limit the rate.
    pub pace: Span,
    /// Share of the buffer, in [0, 1), from which the entry of mapping units is rate-limited: the
    /// time between two units grows linearly, from zero at this share to `pace` when the buffer is
    /// full.
    pub pace_from: f64,
}

impl Default for BufferConfig {
    fn default() -> Self {
        Self {
            size: Bytes(64 << 20),
            ack: Ack::OnInsert,
            eviction: Eviction::Usual,
            evict_ahead: 16,
            cache_reads: false,
            read_hot: ReadHot::OnDirty,
            rewrite_share: 0.125,
            pace: Span::ZERO,
            pace_from: 0.5,
        }
    }
}

/// The rule by which data leaves the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Eviction {
    /// Lazy eviction if a program takes a page, eager eviction if it takes a word line.
    Usual,
    /// Eager eviction: data leaves as soon as there is enough for a program.
    Eager,
    /// Lazy eviction: the least recently used data leaves when room is needed.
    Lazy,
}

/// The treatment of a read-hot page that leaves the buffer clean (HIRE, section 3.1, which leaves
/// this open).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadHot {
    /// The copy of a read-hot page in the flash stays as it was programmed.
    OnDirty,
    /// After eviction the page is read as if it had been programmed at the voltages of its access
    /// class. The numbers of the HIRE paper require this, but no real cell can do it.
    OnEvict,
    /// The page is reprogrammed in idle time, at the voltages of its access class.
    RewriteOnIdle,
}

/// The moment at which a write is acknowledged to the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ack {
    /// Acknowledged when the data is in the buffer (which must then survive power loss).
    OnInsert,
    /// Acknowledged when the data is in the flash; it is programmed immediately.
    OnProgram,
}

/// Use of the host link by its two directions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Duplex {
    /// Full duplex: each direction has a link of its own, like the lanes of PCIe.
    #[default]
    Full,
    /// Half duplex: one transfer at a time, in either direction, as on SATA.
    Half,
}

/// The link to the host, which serves in order of arrival, and the firmware that handles commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkConfig {
    /// Bandwidth of the link; zero makes data transfers take no time.
    pub bandwidth: ByteRate,
    /// Use of the link by its two directions: full or half duplex.
    pub duplex: Duplex,
    /// Time for which each command occupies the inbound direction of the link.
    pub command: Span,
    /// Additional time of a command whose data lie in more than two memory pages of the host: the
    /// drive fetches a list of the others. See docs/decisions/host.md, "What does a large command
    /// cost?".
    pub page_list: Span,
    /// Number of firmware cores that handle commands, each one at a time; with zero, commands take
    /// no core time.
    pub cores: u32,
    /// Time for which a command occupies a firmware core.
    pub core_time: Span,
    /// Additional latency of a command, which delays no other command: doorbell, fetch, interrupt,
    /// and the host's own path.
    pub latency: Span,
    /// Time for which a trim occupies the firmware: one of its cores or, without cores, the single
    /// unit that changes the mapping.
    pub trim: Span,
    /// Additional time of a trim for each mapping entry that it invalidates.
    pub trim_entry: Span,
}

impl LinkConfig {
    /// The time of a trim of one page, from a trim of 4 KiB on a U.2 NVMe drive at depth 1: 71 us
    /// on average and 63 us at least, of which the host has some 5 us
    /// (<https://github.com/axboe/fio/issues/764>).
    pub const TRIM: Span = Span::us(65);

    /// Additional time of a trim for each mapping entry: a trim of 512 KiB on a 2 TB NVMe drive
    /// took 178 us, and trims of 512 KiB over 74 GiB took 27 s
    /// (<https://github.com/axboe/fio/issues/396>), which is 0.84 us for each 4 KiB beyond the
    /// first. The time of a one-page trim, [`LinkConfig::TRIM`], was measured on another drive.
    pub const TRIM_ENTRY: Span = Span::ns(800);

    /// Largest number of bytes whose memory pages a command names itself, in its two PRP entries,
    /// with memory pages of 4 KiB and data that begin at one (NVMe Base Specification, "PRP Entry
    /// and List").
    const WITHOUT_LIST: u64 = 8192;

    /// Returns the time for which a command with `bytes` of data, without those data, occupies the
    /// inbound direction of the link.
    #[inline]
    pub fn command_of(&self, bytes: u64) -> Span {
        let list = if bytes > Self::WITHOUT_LIST { self.page_list } else { Span::ZERO };
        self.command + list
    }
}

impl Default for LinkConfig {
    fn default() -> Self {
        let duplex = Duplex::Full;
        Self {
            bandwidth: ByteRate(0),
            duplex,
            command: Span::ZERO,
            page_list: Span::ZERO,
            cores: 0,
            core_time: Span::ZERO,
            latency: Span::ZERO,
            trim: Self::TRIM,
            trim_entry: Self::TRIM_ENTRY,
        }
    }
}

/// Parameters of garbage collection (GC), which runs per plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GcConfig {
    /// GC competes with the host (foreground GC) on a plane with fewer erased blocks than this.
    pub foreground_below: u32,
    /// Number of erased blocks of a plane up to which background GC continues.
    pub background_below: u32,
    /// Idle time of a die after which background GC starts on it.
    pub idle_after: Span,
    /// The open block that takes pages moved by GC.
    pub frontier: GcFrontier,
}

/// The open block that takes pages moved by GC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GcFrontier {
    /// A separate open block, so that new host data and moved pages stay apart.
    Own,
    /// The open block that host writes fill takes moved pages, too.
    Shared,
}

/// The state of the drive before the first request; reaching it takes no simulated time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PreconditionConfig {
    /// Share of the logical pages that hold data, in `[0, 1]`.
    pub fill: f64,
    /// Pattern in which the pages were written before the run.
    pub pattern: Pattern,
    /// Access class of the preconditioned pages, on drives that distinguish classes (HIRE, section
    /// 3.1): the pages lie in blocks of that class, at its voltages.
    pub access_class: AccessClass,
    /// Number of requests of the workload that are served but not measured. Only the runner of the
    /// workload uses it.
    pub warm_up: u64,
}

/// The history by which the drive reached its initial state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// Every page that holds data was written once, in address order.
    Sequential,
    /// Every page that holds data was written once, in random order.
    Random,
    /// Pages were overwritten repeatedly in random order, by a host that never pauses, until write
    /// amplification is steady.
    Steady,
    /// Pages were overwritten repeatedly in random order until write amplification is steady, by a
    /// host that pauses: background GC has kept [`GcConfig::background_below`] blocks of each plane
    /// erased. See docs/decisions/precondition.md, 'What state is "rested"?'.
    Rested,
}

/// Behavior of the drive on a read of a page that was never written: answer from the flash, with
/// zeroes, or with an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnwrittenReads {
    /// A read of a page never written reads the flash, on the die that would hold the page, as if
    /// the page had been written before the run.
    Preconditioned,
    /// The drive answers a read of a page never written with zeroes, without a flash access.
    Zero,
    /// A read of a page never written is an error of the workload.
    Error,
}

/// Behavior of the drive on a write of part of a page, if other parts of the page hold data: read
/// the old page first (read-modify-write), or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartialWrites {
    /// The old page is read before the new one is programmed (read-modify-write).
    ReadModifyWrite,
    /// A write of part of a page programs the new page without reading the old one, as in
    /// simulators that do not track which sectors of a page are written.
    Overwrite,
}

impl Config {
    /// Returns true if data stays in the buffer until room is needed (lazy eviction).
    pub fn evicts_lazily(&self) -> bool {
        match self.buffer.eviction {
            Eviction::Usual => !self.ftl.has_superblocks(),
            Eviction::Eager => false,
            Eviction::Lazy => true,
        }
    }

    /// Returns the number of streams and of placement handles that a placement policy can use on
    /// this drive.
    pub(crate) fn stream_limits(&self) -> StreamLimits {
        self.placement.limits(self.voltage.name == VoltageKind::ByHotness)
    }

    /// Returns the number of streams that the host's data is divided into, each with an open block
    /// in every plane or an open superblock.
    pub fn host_streams(&self) -> u32 {
        self.placement.host_streams(self.hotness.tags()) as u32
    }

    /// Returns the number of streams of data that garbage collection has moved.
    pub fn moved_streams(&self) -> u32 {
        self.placement.moved_streams(self.hotness.classes()) as u32
    }

    /// Returns the number of streams (kinds of data kept in separate open blocks), of host data and
    /// of data that GC moved. Their open blocks are taken from the spare capacity.
    pub fn open_streams(&self) -> u32 {
        self.host_streams() + self.moved_streams()
    }

    /// Creates a drive of this geometry and timing with plain defaults: first come first served, no
    /// suspension, greedy GC, a nonvolatile buffer of 64 MiB, no spare capacity (which must be
    /// set), filled once in address order.
    pub fn new(geometry: Geometry, timing: Timing) -> Self {
        Self {
            geometry,
            over_provisioning: 0.0,
            over_provisioning_base: OpBase::Raw,
            plane_mode: PlaneMode::Lockstep,
            timing,
            program_erase: ProgramErase::Nominal,
            ftl: FtlConfig::default(),
            superblocks: SuperblockConfig::default(),
            flash: FlashConfig::default(),
            slc: SlcConfig::default(),
            aging: AgingConfig::default(),
            buffer: BufferConfig::default(),
            queue: QueueConfig::default(),
            admission: Admission::ReadsPass,
            host: LinkConfig::default(),
            gc: GcConfig {
                foreground_below: 3,
                background_below: 8,
                idle_after: Span::ms(1),
                frontier: GcFrontier::Own,
            },
            precondition: PreconditionConfig {
                fill: 1.0,
                pattern: Pattern::Sequential,
                access_class: AccessClass::Mixed,
                warm_up: 0,
            },
            unwritten_reads: UnwrittenReads::Preconditioned,
            partial_writes: PartialWrites::ReadModifyWrite,
            die_order: die_order::Params {
                name: die_order::DieOrderKind::Fifo,
                deadline: Span::ms(100),
            },
            suspension: suspension::Params::default(),
            hotness: hotness::Params { detectors: 0, hot_up_to: Bytes(0), watermark: 0.95 },
            placement: placement::Params {
                name: placement::PlacementKind::SingleStream,
                dies: placement::Dies::Rotate,
                stripe_unit: 1,
                hot_to_strong: false,
                handles: StreamTag::HANDLES.into(),
                isolation: placement::Isolation::Initial,
            },
            step: step::Params { name: step::StepKind::Nominal },
            voltage: voltage::Params { name: VoltageKind::Nominal },
            replacement: replacement::Params {
                name: replacement::ReplacementKind::CleanFirst,
                window: 64,
            },
            sensing: sensing::Params { name: sensing::SensingKind::WorstCase, inputs: 0 },
            reliability: reliability::Params::default(),
            bad_blocks: bad_blocks::Params::default(),
            failed_dies: failed_dies::Params::default(),
            victim: victim::Params { name: victim::VictimKind::Greedy, d: 10 },
            wear: wear::Params { name: wear::WearKind::Off, threshold: 100 },
            scrub: scrub::Params::default(),
            redundancy: redundancy::Params::default(),
            throttle: throttle::Params::default(),
            life: endurance::Params::default(),
            policies: Policies::default(),
            seed: 1,
        }
    }

    /// Returns the operating times of reads ([`Config::effective_timing`]), with the time to decode
    /// a page added to that of the transfer.
    pub fn read_timing(&self) -> Timing {
        let mut timing = self.effective_timing();
        let transfers = match self.ftl.has_superblocks() {
            true => self.geometry.page_size.0 / self.unit().0,
            false => 1,
        };
        timing.bus_transfer += Span(self.flash.decode.0 / transfers);
        timing
    }

    /// Returns the operating times in effect: nominal, or those of the PES paper's (program and
    /// erase suspension) baselines PER, where programs and erases are as fast as a read, and PE0,
    /// where they take no time. With superblocks, a transfer is that of a mapping unit, and an SLC
    /// cache adds a page type. See docs/decisions/flash.md, "How long does PER take with several
    /// page types?".
    pub fn effective_timing(&self) -> Timing {
        let mut nominal = self.timing;
        if self.ftl.has_superblocks() {
            nominal.bus_transfer.0 /= self.geometry.page_size.0 / self.unit().0;
            if self.slc.is_on() {
                nominal = self.slc.timing(nominal, self.flash.word_line);
            }
        }
        let without_verify =
            Timing { verify_phase: Span::ZERO, erase_verify: Span::ZERO, ..nominal };
        match self.program_erase {
            ProgramErase::Nominal => nominal,
            // Programs have iterations of one nanosecond: their number gives the read time of the
            // page type.
            ProgramErase::AsRead => Timing {
                program_phase: Span::ns(1),
                program_iterations: nominal.read.map(|read| read.0 as u32),
                erase_pulse: self.timing.read.values()[0],
                ..without_verify
            },
            ProgramErase::Zero => Timing {
                program_phase: Span::ZERO,
                program_iterations: PerPageType::uniform(1),
                erase_pulse: Span::ZERO,
                ..without_verify
            },
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Creates a drive of this geometry, with the times of two-bit cells.
    pub(crate) fn shaped(geometry: Geometry) -> Config {
        let timing = Timing {
            bus_transfer: Span::us(40),
            read: PerPageType::uniform(Span::us(25)),
            program_phase: Span::us(20),
            verify_phase: Span::us(24),
            program_iterations: PerPageType::uniform(15),
            erase_pulse: Span::us(3300),
            erase_verify: Span::us(24),
            voltage_reset: Span::us(4),
            buffer_load: Span::us(3),
        };
        Config::new(geometry, timing)
    }
}
