//! Parity within superblocks.

/// Parity within superblocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SuperblockConfig {
    /// The number of commands of which one programs parity over the others (RAIN); 0 for none.
    pub parity: u32,
}
