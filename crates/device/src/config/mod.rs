//! Everything that makes one drive different from another. Plain data: reading it from text, with
//! every complaint at once, is the business of the crates above; what cannot work is refused here.
//!
//! - `layout.rs`: the sizes that follow from a configuration, and why it is refused.
//! - `stripes.rs`: the stripes that fit.

pub mod layout;
pub mod stripes;

use crate::policy::custom::Policies;
use crate::policy::{
    die_order, hotness, placement, redundancy, replacement, sensing, step, suspension, throttle,
    victim, voltage, wear,
};
use crate::{endurance, reliability};
use fowler_nand::{CancelledProgram, PerPageType, Reload, Timing};
use fowler_units::{ByteRate, Bytes, Geometry, Span};

/// A complete drive.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// The shape of the flash array.
    pub geometry: Geometry,
    /// Share of the capacity that the host does not see, in `[0, 1)` of raw, or any non-negative
    /// share of the logical capacity, as [`Config::over_provisioning_base`] says.
    pub over_provisioning: f64,
    /// What [`Config::over_provisioning`] is a share of.
    pub over_provisioning_base: OpBase,
    /// Whether the planes of a die work together or each on its own.
    pub plane_mode: PlaneMode,
    /// Operating times of the flash.
    pub timing: Timing,
    /// Whether programs and erases take their nominal times (the paper's PER and PE0 do not).
    pub program_erase: ProgramErase,
    /// The write buffer.
    pub buffer: BufferConfig,
    /// The bounded queues between host and flash.
    pub queue: QueueConfig,
    /// The link to the host.
    pub host: LinkConfig,
    /// Garbage collection.
    pub gc: GcConfig,
    /// The state of the drive before the first request.
    pub precondition: PreconditionConfig,
    /// What a read of a page that was never written does.
    pub unwritten_reads: UnwrittenReads,
    /// What a write of part of a page does.
    pub partial_writes: PartialWrites,
    /// Which waiting transaction a die serves next.
    pub die_order: die_order::Params,
    /// Whether it may interrupt what runs.
    pub suspension: suspension::Params,
    /// What kind of data is written.
    pub hotness: hotness::Params,
    /// Which open block takes it.
    pub placement: placement::Params,
    /// At what ISPP step it is programmed.
    pub step: step::Params,
    /// At what threshold voltages.
    pub voltage: voltage::Params,
    /// Which page leaves the buffer.
    pub replacement: replacement::Params,
    /// With how many reference voltages a page is read.
    pub sensing: sensing::Params,
    /// How fast its cells accumulate errors.
    pub reliability: reliability::Params,
    /// Which block to collect.
    pub victim: victim::Params,
    /// When to swap hot and cold data for the sake of wear.
    pub wear: wear::Params,
    /// What protects a stripe.
    pub redundancy: redundancy::Params,
    /// When writes may enter.
    pub throttle: throttle::Params,
    /// How long the drive is to live, and what its cells endure.
    pub life: endurance::Params,
    /// What takes the place of policies named above.
    pub policies: Policies,
    /// The seed of every random stream of the device.
    pub seed: u64,
}

/// The base of the over-provisioning share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpBase {
    /// Of the raw capacity: spare / raw.
    Raw,
    /// Of the capacity the host sees: spare / logical.
    Logical,
}

/// How the planes of a die work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlaneMode {
    /// A die runs one command at a time; host pages at the same offset on several planes are
    /// programmed together.
    Lockstep,
    /// Each plane is busy on its own; only the bus is shared.
    /// See docs/decisions/flash.md, "What are independent planes?".
    Independent,
}

/// How long programs and erases take.
/// See docs/decisions/flash.md, "How long do programs take under PER and PE0?".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramErase {
    /// As the timing says.
    Nominal,
    /// As long as a read's sensing: PER of the PES paper, section 3.2.
    AsRead,
    /// No time at all: PE0 of the PES paper, section 3.2.
    Zero,
}

/// The write buffer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BufferConfig {
    /// Its size; zero leaves only the pages that are on their way to the flash.
    pub size: Bytes,
    /// When a write is complete.
    pub ack: Ack,
    /// Pages that are free or on their way out, so that a burst finds room (`on_insert` only).
    pub evict_ahead: u32,
    /// Whether a page that was read from the flash stays in the buffer.
    pub cache_reads: bool,
    /// What becomes of a page that leaves clean and has been read hot.
    pub read_hot: ReadHot,
    /// `rewrite_on_idle` only: up to this share of the frames, in (0, 1], holds pages that wait to
    /// be programmed anew; they are lost to all others. At least one.
    pub rewrite_share: f64,
}

/// What becomes of a page that leaves the buffer clean and has been read hot (HIRE, section 3.1,
/// which leaves it open).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadHot {
    /// Nothing: its copy in the flash stays as it was programmed.
    OnDirty,
    /// It is read from then on as if it had been programmed as its use asks for: what the paper's
    /// numbers need, and no cell can do.
    OnEvict,
    /// It is programmed anew in idle time.
    RewriteOnIdle,
}

/// When a write is complete for the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ack {
    /// When its data is in the buffer (which must then survive a loss of power).
    OnInsert,
    /// When its data is in the flash; it is sent there at once.
    OnProgram,
}

/// The bounded queues of the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueConfig {
    /// Host requests in the device at once; more wait outside.
    pub depth: u32,
    /// Host page reads waiting or in service at once.
    pub max_reads: u32,
    /// Host page writes on their way to the flash at once.
    pub max_writes: u32,
}

/// The link to the host: one server for each direction, first come first served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkConfig {
    /// Its rate; zero makes data transfers free.
    pub bandwidth: ByteRate,
    /// Time each command occupies the inbound direction.
    pub command: Span,
}

/// Garbage collection, per plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GcConfig {
    /// GC competes with the host when a plane has fewer erased blocks than this.
    pub foreground_below: u32,
    /// GC in idle time continues until a plane has this many erased blocks.
    pub background_below: u32,
    /// How long a die must be idle before background GC starts on it.
    pub idle_after: Span,
    /// Whether moved pages go to the open block of host writes or to one of their own.
    pub frontier: GcFrontier,
}

/// Where collected pages go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GcFrontier {
    /// To an open block of their own: young host data and old survivors stay apart.
    Own,
    /// To the block that host writes fill.
    Shared,
}

/// The state of the drive before the first request; reached in no simulated time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PreconditionConfig {
    /// Share of the logical pages that hold data, `[0, 1]`.
    pub fill: f64,
    /// How they were written.
    pub pattern: Pattern,
}

/// How the drive came to its state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// Written once, in address order.
    Sequential,
    /// Written once, in random order.
    Random,
    /// Written over and over in random order, by a host that never pauses, until write
    /// amplification is steady.
    Steady,
    /// The same by a host that pauses: GC in idle time has kept the drive at
    /// [`GcConfig::background_below`].
    /// See docs/decisions/precondition.md, 'What state is "rested"?'.
    Rested,
}

/// What a read of a page that was never written does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnwrittenReads {
    /// It takes the time of a read of the die where the page would lie: data written before the
    /// run.
    Preconditioned,
    /// The mapping answers it: zeroes, no flash.
    Zero,
    /// It is an error of the workload.
    Error,
}

/// What a write of part of a page does when the rest of the page holds data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartialWrites {
    /// The old page is read before the new one is programmed.
    ReadModifyWrite,
    /// The page is programmed without reading the old one, as simulators without sector state do.
    Overwrite,
}

impl Config {
    /// A drive of this shape and speed with everything else as a plain drive has it: first come
    /// first served, no suspension, greedy GC, a volatile-safe buffer of 64 MiB, no spare
    /// capacity (which must be set), filled once in address order.
    pub fn new(geometry: Geometry, timing: Timing) -> Self {
        Self {
            geometry,
            over_provisioning: 0.0,
            over_provisioning_base: OpBase::Raw,
            plane_mode: PlaneMode::Lockstep,
            timing,
            program_erase: ProgramErase::Nominal,
            buffer: BufferConfig {
                size: Bytes(64 << 20),
                ack: Ack::OnInsert,
                evict_ahead: 16,
                cache_reads: false,
                read_hot: ReadHot::OnDirty,
                rewrite_share: 0.125,
            },
            queue: QueueConfig { depth: 1024, max_reads: 1024, max_writes: 1024 },
            host: LinkConfig { bandwidth: ByteRate(0), command: Span::ZERO },
            gc: GcConfig {
                foreground_below: 3,
                background_below: 8,
                idle_after: Span::ms(1),
                frontier: GcFrontier::Own,
            },
            precondition: PreconditionConfig { fill: 1.0, pattern: Pattern::Sequential },
            unwritten_reads: UnwrittenReads::Preconditioned,
            partial_writes: PartialWrites::ReadModifyWrite,
            die_order: die_order::Params {
                name: die_order::DieOrderKind::Fifo,
                deadline: Span::ms(100),
            },
            suspension: suspension::Params {
                name: suspension::SuspensionKind::Never,
                reads: suspension::SuspendingReads::Host,
                cancelled_program: CancelledProgram::Redo,
                reload: Reload::Abort,
                shadow_buffer: true,
                max_suspends: None,
                min_progress: Span::ZERO,
            },
            hotness: hotness::Params { detectors: 0, hot_up_to: Bytes(0), watermark: 0.95 },
            placement: placement::Params {
                name: placement::PlacementKind::SingleStream,
                dies: placement::Dies::Rotate,
                hot_to_strong: false,
            },
            step: step::Params { name: step::StepKind::Nominal },
            voltage: voltage::Params { name: voltage::VoltageKind::Nominal },
            replacement: replacement::Params {
                name: replacement::ReplacementKind::CleanFirst,
                window: 64,
            },
            sensing: sensing::Params { name: sensing::SensingKind::WorstCase, inputs: 0 },
            reliability: reliability::Params::default(),
            victim: victim::Params { name: victim::VictimKind::Greedy, d: 10 },
            wear: wear::Params { name: wear::WearKind::Off, threshold: 100 },
            redundancy: redundancy::Params::default(),
            throttle: throttle::Params::default(),
            life: endurance::Params::default(),
            policies: Policies::default(),
            seed: 1,
        }
    }

    /// The operating times in force: the nominal ones, or those of PER and PE0.
    /// See docs/decisions/flash.md, "How long does PER take with several page types?".
    pub fn effective_timing(&self) -> Timing {
        let without_verify =
            Timing { verify_phase: Span::ZERO, erase_verify: Span::ZERO, ..self.timing };
        match self.program_erase {
            ProgramErase::Nominal => self.timing,
            // As many iterations of a nanosecond as the read of that page type takes.
            ProgramErase::AsRead => Timing {
                program_phase: Span::ns(1),
                program_iterations: self.timing.read.map(|read| read.0 as u32),
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

    /// A drive of that shape, with the times of two-bit cells.
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
