//! The parts of a drive with superblocks that go out of service when a block of theirs fails, and
//! the room that is left after each: for a life without data ([`crate::blocks::failing_parts`]). By
//! the rule of `superblocks.retire`, a part is a die's share of a superblock, or a whole
//! superblock.

use super::bad_blocks::BadBlocks;
use super::gaps::Gaps;
use super::shape::Shape;
use crate::blocks::failing_parts::FailingParts;
use crate::config::{Config, Retire};

impl Config {
    /// Returns the parts of the drive that fail one by one, on any kind of drive; `None` if no
    /// block fails.
    ///
    /// The capacity of a superblock that stays in service without some of its dies is that with the
    /// missing dies evenly spaced in striping order. If a stripe has fewer commands than there are
    /// dies, the true capacity depends on which dies are missing.
    pub fn failing_parts(&self) -> Option<FailingParts> {
        if !self.ftl.has_superblocks() {
            return self.blocks_fail().then(|| FailingParts::of_pages(self));
        }
        let shape = Shape::new(self);
        let bad = BadBlocks::new(self, &shape, &vec![0; shape.superblocks as usize])?;
        let (dies, planes) = (shape.dies, Shape::geometry_of(self).planes_per_die);
        let (parts, blocks) = match self.superblocks.retire {
            Retire::Superblock => (1, dies * planes),
            Retire::Block => (dies, planes),
        };
        let room = |failed: u32| {
            let mut gaps = Gaps::none(&shape);
            (0..failed).for_each(|it| gaps.fail(&shape, it * dies / failed, None));
            u64::from(bad.room(&shape, Some(&gaps)))
        };
        let room = (0..=parts).map(room).collect();
        let groups = shape.superblocks - self.slc.fixed;
        Some(FailingParts { groups, parts, blocks, room, apart: false })
    }
}

#[cfg(test)]
mod tests {
    use super::super::cases::{protect, tiny};
    use super::*;
    use crate::config::bad_blocks::Params;

    /// A superblock of four dies with four commands of 24 units each goes on while half of its data
    /// is left.
    #[test]
    fn a_superblock_shrinks_by_dies_or_goes_as_a_whole() {
        let mut config = tiny();
        assert_eq!(config.failing_parts(), None);
        config.bad_blocks = Params { share: 0.01, ..Params::default() };
        config.superblocks.retire = Retire::Block;
        let unit = 24;
        let parts = config.failing_parts().unwrap();
        let planes = config.geometry.planes_per_die;
        assert_eq!((parts.groups, parts.parts), (config.geometry.blocks_per_plane, 4));
        assert_eq!((parts.blocks, parts.apart), (planes, false));
        assert_eq!(parts.room, [16 * unit, 12 * unit, 8 * unit, 0, 0]);
        config.superblocks.retire = Retire::Superblock;
        let parts = config.failing_parts().unwrap();
        assert_eq!((parts.parts, parts.blocks), (1, 4 * planes));
        assert_eq!(parts.room, [16 * unit, 0]);
        // With parity in every fourth command, each die holds a quarter of the rest, and the parity
        // moves to a die that is left.
        protect(&mut config, 4);
        config.superblocks.retire = Retire::Block;
        assert_eq!(config.failing_parts().unwrap().room, [12 * unit, 8 * unit, 0, 0, 0]);
    }

    #[test]
    fn blocks_of_pages_fail_alone_and_stripes_keep_them_apart() {
        let mut config = Config::new(tiny().geometry, tiny().timing);
        assert_eq!(config.failing_parts(), None);
        config.bad_blocks = Params { share: 0.01, ..Params::default() };
        let (blocks, pages) = (config.geometry.blocks(), config.geometry.pages_per_block);
        let parts = config.failing_parts().unwrap();
        assert_eq!((parts.groups, parts.parts, parts.blocks), (blocks, 1, 1));
        assert_eq!((parts.room, parts.apart), (vec![u64::from(pages), 0], false));
        config.redundancy.name = crate::policy::redundancy::RedundancyKind::Raid5;
        let parts = config.failing_parts().unwrap();
        assert_eq!((parts.groups * parts.parts, parts.apart), (blocks, true));
        assert_eq!(parts.room[0], u64::from(parts.parts * pages));
    }
}
