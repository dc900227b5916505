//! Small drives for tests.
#![allow(dead_code, reason = "every test file uses its own share of these")]

pub mod algebra;
pub mod fading;
pub mod fault_tally;
pub mod program_order;
pub mod random;
pub mod superblocks;

use fowler_device::policy::{die_order, suspension};
use fowler_device::*;
use fowler_nand::{PerPageType, Timing};
use fowler_units::{Bytes, Geometry, Span};

/// Table 1 of the PES paper, SLC column.
pub fn slc() -> Timing {
    Timing {
        bus_transfer: Span::us(20),
        read: PerPageType::uniform(Span::us(10)),
        program_phase: Span::us(20),
        verify_phase: Span::us(8),
        program_iterations: PerPageType::uniform(5),
        erase_pulse: Span::us(1500),
        erase_verify: Span::us(8),
        voltage_reset: Span::us(4),
        buffer_load: Span::us(3),
    }
}

/// Table 1 of the PES paper, MLC column.
pub fn mlc() -> Timing {
    Timing {
        bus_transfer: Span::us(40),
        read: PerPageType::uniform(Span::us(25)),
        program_phase: Span::us(20),
        verify_phase: Span::us(24),
        program_iterations: PerPageType::uniform(15),
        erase_pulse: Span::us(3300),
        erase_verify: Span::us(24),
        voltage_reset: Span::us(4),
        buffer_load: Span::us(3),
    }
}

/// A drive of a few thousand pages.
pub fn small() -> Config {
    let geometry = Geometry {
        channels: 2,
        chips_per_channel: 2,
        dies_per_chip: 1,
        planes_per_die: 2,
        blocks_per_plane: 16,
        pages_per_block: 8,
        page_size: Bytes(4096),
    };
    Config {
        over_provisioning: 0.3,
        buffer: BufferConfig {
            size: Bytes(64 * 4096),
            ack: Ack::OnProgram,
            evict_ahead: 8,
            cache_reads: false,
            read_hot: ReadHot::OnDirty,
            ..BufferConfig::default()
        },
        queue: QueueConfig { depth: 64, max_reads: 64, max_writes: 64, ..QueueConfig::default() },
        gc: GcConfig {
            foreground_below: 2,
            background_below: 3,
            idle_after: Span::ms(1),
            frontier: GcFrontier::Own,
        },
        ..Config::new(geometry, slc())
    }
}

/// Makes `config` one of the PES paper's schemes.
pub fn scheme(config: &mut Config, name: &str) {
    use die_order::DieOrderKind::{Fifo, ReadFirst};
    use suspension::SuspensionKind::{Ipc, Ips, Never};
    (config.die_order.name, config.suspension.name) = match name {
        "FIFO" => (Fifo, Never),
        "RPS" => (ReadFirst, Never),
        "PES_IPS" => (ReadFirst, Ips),
        "PES_IPC" => (ReadFirst, Ipc),
        other => panic!("no scheme {other}"),
    };
}
