//! Drives for the tests of this room.

use crate::config::tests::shaped;
use crate::config::{Config, Mapping, Pattern, SuperblockConfig};
use fowler_nand::PerPageType;
use fowler_units::{Bytes, Geometry, Span};

/// Four dies of two planes on two channels, pages of four units, three pages to a word line.
pub(super) fn tiny() -> Config {
    let mut config = shaped(Geometry {
        channels: 2,
        chips_per_channel: 2,
        dies_per_chip: 1,
        planes_per_die: 2,
        blocks_per_plane: 24,
        pages_per_block: 12,
        page_size: Bytes(16 << 10),
    });
    config.superblocks = SuperblockConfig {
        mapping: Mapping::Superblocks,
        unit: Bytes(4096),
        word_line: 3,
        parity: 0,
    };
    config.timing.read = PerPageType::new(&[Span::us(40), Span::us(60), Span::us(80)]).unwrap();
    config.buffer.size = Bytes(1 << 20);
    config.over_provisioning = 0.4;
    config.gc.background_below = config.gc.foreground_below;
    config.precondition.pattern = Pattern::Steady;
    config
}
