//! What a drive is like where its description does not say. Geometry and timing have no defaults: the
//! values here only fill the struct until the description, which must name every one, replaces them.

use fowler_device::policy::{die_order, suspension, victim, wear};
use fowler_device::{
    Ack, BufferConfig, Config, GcConfig, GcFrontier, LinkConfig, OpBase, PartialWrites, Pattern,
    PlaneMode, PreconditionConfig, ProgramErase, QueueConfig, UnwrittenReads,
};
use fowler_nand::{CancelledProgram, PerPageType, Reload, Timing};
use fowler_units::{ByteRate, Bytes, Geometry, Span};

/// The configuration before anything is set.
pub(crate) fn config() -> Config {
    Config {
        geometry: Geometry {
            channels: 1,
            chips_per_channel: 1,
            dies_per_chip: 1,
            planes_per_die: 1,
            blocks_per_plane: 1,
            pages_per_block: 1,
            page_size: Bytes(4096),
        },
        over_provisioning: 0.0,
        over_provisioning_base: OpBase::Raw,
        plane_mode: PlaneMode::Lockstep,
        timing: timing(),
        program_erase: ProgramErase::Nominal,
        buffer: BufferConfig { size: Bytes(64 << 20), ack: Ack::OnInsert, evict_ahead: 16 },
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
        die_order: die_order::Params { name: die_order::DieOrderKind::Fifo },
        suspension: suspension::Params {
            name: suspension::SuspensionKind::Never,
            reads: suspension::SuspendingReads::Host,
            cancelled_program: CancelledProgram::Redo,
            reload: Reload::Abort,
            shadow_buffer: true,
            max_suspends: None,
            min_progress: Span::ZERO,
        },
        victim: victim::Params { name: victim::VictimKind::Greedy, d: 10 },
        wear: wear::Params { name: wear::WearKind::Off, threshold: 100 },
        seed: 1,
    }
}

fn timing() -> Timing {
    Timing {
        bus_transfer: Span::ZERO,
        read: PerPageType::uniform(Span::ns(1)),
        program_phase: Span::ns(1),
        verify_phase: Span::ZERO,
        program_iterations: PerPageType::uniform(1),
        erase_pulse: Span::ns(1),
        erase_verify: Span::ZERO,
        voltage_reset: Span::ZERO,
        buffer_load: Span::ZERO,
    }
}
