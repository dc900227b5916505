//! The parts of a drive that go out of service when a block of theirs fails, and the room that goes
//! with them: all that a life of failing blocks needs to know of a drive whose data is not
//! simulated.

use crate::config::Config;

/// The parts of a drive that fail one by one, in groups that are equal to each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailingParts {
    /// Number of groups: blocks or dies of a page-mapped drive, or superblocks.
    pub groups: u32,
    /// Number of parts of a group.
    pub parts: u32,
    /// Number of blocks of a part, all of which go out of service when one of them fails.
    pub blocks: u32,
    /// Room of a group after so many of its parts have failed, 0 to `parts`, in the pages or
    /// mapping units in which the spare of the drive is counted. Where no room is left, all parts
    /// of the group are out of service.
    pub room: Vec<u64>,
    /// True if data cannot leave its group, so that each group has its own share of the spare and
    /// the first one without any ends the drive.
    pub apart: bool,
}

impl FailingParts {
    /// Returns the parts of a page-mapped drive: its blocks, in groups by die where stripes keep
    /// the data of a die on it.
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
