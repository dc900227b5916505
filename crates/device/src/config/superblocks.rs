//! The unit of a drive's mapping, and the shape of its superblocks.

use fowler_units::Bytes;

/// The unit of the mapping, and the shape of superblocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SuperblockConfig {
    /// The unit of the mapping.
    pub mapping: Mapping,
    /// The size of a unit, a divisor of the page size.
    pub unit: Bytes,
    /// The number of pages of a word line, which are programmed at once: 3 for TLC.
    pub word_line: u32,
    /// The number of commands of which one programs parity over the others (RAIN); 0 for none.
    pub parity: u32,
}

/// The unit of the mapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mapping {
    /// Flash pages; each die is written, collected and erased on its own.
    Pages,
    /// Units of a page, in superblocks.
    Superblocks,
}

impl Default for SuperblockConfig {
    fn default() -> Self {
        Self { mapping: Mapping::Pages, unit: Bytes(4096), word_line: 1, parity: 0 }
    }
}
