//! Parity within superblocks, and superblocks of which a block has failed.

/// Parity within superblocks, and the fate of a superblock of which a block has failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SuperblockConfig {
    /// Number of program commands of which one programs the parity of the others; 0 for no parity.
    pub parity: u32,
    /// The part of a superblock that is retired with a block of it that fails.
    pub retire: Retire,
}

/// The part of a superblock that is retired with a block of it that fails.
/// See docs/decisions/superblocks.md, "What becomes of a superblock with a bad block?".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Retire {
    /// Retires the failed block, and the blocks of the other planes of its die, which are
    /// programmed together with it.
    #[default]
    Block,
    /// Retires the whole superblock that contains the failed block.
    Superblock,
}
