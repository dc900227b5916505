//! The defaults of a drive. Geometry and timing have none: their values here only fill the struct
//! until the description, which must set every one, replaces them.

use fowler_device::Config;
use fowler_nand::{PerPageType, Timing};
use fowler_units::{Bytes, Geometry, Span};

/// Returns the drive's configuration before any key is set: the default of every key.
pub(crate) fn config() -> Config {
    let geometry = Geometry {
        channels: 1,
        chips_per_channel: 1,
        dies_per_chip: 1,
        planes_per_die: 1,
        blocks_per_plane: 1,
        pages_per_block: 1,
        page_size: Bytes(4096),
    };
    Config::new(geometry, timing())
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
