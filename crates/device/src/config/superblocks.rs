//! The configuration of parity within superblocks (RAIN).

/// Parity within superblocks (RAIN).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SuperblockConfig {
    /// Number of program commands of which one programs the parity of the others; 0 for no parity.
    pub parity: u32,
}
