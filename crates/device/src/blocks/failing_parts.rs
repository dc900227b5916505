//! The parts of a drive that go out of service when a block of theirs fails, and the room that goes
//! with them: all that a life of failing blocks needs to know of a drive whose data is not
//! simulated.

use crate::config::Config;

/// Parts of a drive that go out of service one by one as blocks fail, for a simulation of its life
/// without its data. The parts form groups of equal size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailingParts {
    /// Number of groups of parts. A group is a superblock or, on a page-mapped drive, a die if RAID
    /// stripes tie data to its die, and else a single block.
    pub groups: u32,
    /// Number of parts in each group. Each part fails on its own, such as the blocks of a
    /// superblock that lie on one die.
    pub parts: u32,
    /// Number of flash blocks in each part, all of which go out of service when one of them fails.
    pub blocks: u32,
    /// Capacity of a group of parts by the number of its parts that have failed, 0 to `parts`: in
    /// pages, or in mapping units on a drive with superblocks. At 0, all parts of the group are out
    /// of service.
    pub room: Vec<u64>,
    /// True if data cannot leave the group of parts that holds it (a die, on drives with RAID
    /// stripes). Each group then has its own share of the spare capacity, and the drive is worn out
    /// when the first group has used up its share.
    pub apart: bool,
}

impl FailingParts {
    /// Returns the parts of a page-mapped drive that fail one by one: its blocks. Their groups are
    /// the dies if stripes keep data on its die; otherwise each block is a group of its own.
    pub(crate) fn of_pages(config: &Config) -> FailingParts {
        let geometry = &config.geometry;
        let (blocks, pages) = (geometry.blocks(), u64::from(geometry.pages_per_block));
        let apart = config.redundancy.has_stripes();
        let groups = if apart { geometry.dies() } else { blocks };
        let parts = blocks / groups;
        let room = (0..=u64::from(parts)).rev().map(|left| left * pages).collect();
        FailingParts { groups, parts, blocks: 1, room, apart }
    }
}
