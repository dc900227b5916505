//! Tests which unit of a block is the last. Garbage collection relies on the answer: a block whose
//! last page goes unnoticed is never collected.

use fowler_units::{Bytes, Geometry, Locator, UnitId};

fn locator(blocks: u32, pages_per_block: u32) -> Locator {
    Locator::new(&Geometry {
        channels: 1,
        chips_per_channel: 1,
        dies_per_chip: 1,
        planes_per_die: 1,
        blocks_per_plane: blocks,
        pages_per_block,
        page_size: Bytes(4096),
    })
}

/// Odd lengths, powers of two, and lengths between that have some low bits clear.
#[test]
fn a_block_of_any_length_has_one_last_unit() {
    for pages in [1, 2, 3, 4, 6, 7, 8, 12, 48, 63, 64, 65, 96, 100, 1152, 4096] {
        let locator = locator(5, pages);
        for unit in 0..5 * pages {
            let expected = unit % pages == pages - 1;
            assert_eq!(locator.is_last_of_block(UnitId(unit)), expected, "{unit} of {pages}");
        }
    }
}

/// Drives with as many units as ids can name, or nearly as many.
#[test]
fn the_last_unit_of_the_largest_drives_is_found() {
    for (blocks, pages) in [(65_535, 65_537), (65_537, 65_535), (65_535, 65_536), (1, u32::MAX)] {
        let locator = locator(blocks, pages);
        let last = blocks * pages - 1;
        assert!(locator.is_last_of_block(UnitId(last)), "{blocks} of {pages}");
        assert!(!locator.is_last_of_block(UnitId(last - 1)), "{blocks} of {pages}");
        let before = (blocks - 1) * pages;
        assert!(blocks == 1 || locator.is_last_of_block(UnitId(before - 1)), "{blocks} of {pages}");
        assert!(!locator.is_last_of_block(UnitId(before)), "{blocks} of {pages}");
    }
}
