//! The units of the flash translation layer (FTL): mapping unit, reclaim unit and program unit.

use fowler_units::Bytes;

/// Mapping unit, reclaim unit and program unit of the flash translation layer (FTL). By default, as
/// on drives of about 2010, all three are small: a page is mapped and programmed, and a block is
/// reclaimed by GC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FtlConfig {
    /// Size of a mapping unit, which divides the page size; `None` for a whole page.
    pub unit: Option<Bytes>,
    /// Reclaim unit of the drive: the part of the flash that is filled, collected and erased
    /// together.
    pub reclaim_unit: ReclaimUnit,
    /// Program unit of the drive: the pages that one command programs.
    pub program_unit: ProgramUnit,
}

/// The part of the flash that is filled, collected and erased together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReclaimUnit {
    /// A block: each die is written, collected and erased on its own.
    Block,
    /// A superblock: one block of every plane of the drive.
    Superblock,
}

impl ReclaimUnit {
    /// Returns a noun for messages: `block` or `superblock`.
    pub fn noun(self) -> &'static str {
        match self {
            ReclaimUnit::Block => "block",
            ReclaimUnit::Superblock => "superblock",
        }
    }
}

/// The pages that one command programs on each plane of a die.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramUnit {
    /// One page on each plane of the die.
    Page,
    /// All pages of a word line on each plane of the die.
    WordLine,
}

impl Default for FtlConfig {
    fn default() -> Self {
        Self { unit: None, reclaim_unit: ReclaimUnit::Block, program_unit: ProgramUnit::Page }
    }
}

impl FtlConfig {
    /// Returns true if the drive's reclaim unit is a superblock.
    pub fn has_superblocks(&self) -> bool {
        self.reclaim_unit == ReclaimUnit::Superblock
    }
}
