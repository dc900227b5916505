//! What the registers of the dies can do beside their cells.

/// What the cache register of each die of a drive with superblocks is used for.
/// See docs/decisions/superblocks.md, "What is a cache register?".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlashConfig {
    /// Cache read: a page is sensed while the one read before it crosses the channel.
    pub cache_read: bool,
    /// Cache program: a word line is programmed while the data of the next cross the channel.
    pub cache_program: bool,
}

impl FlashConfig {
    /// Returns whether the dies have no cache register.
    pub fn is_plain(&self) -> bool {
        *self == FlashConfig::default()
    }
}
