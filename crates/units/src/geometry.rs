//! The shape of a drive and the numbering of its parts.
//!
//! Numbers run over the whole drive: dies channel by channel, planes die by die, blocks plane by
//! plane, pages block by block. One division therefore yields a part's parent.

use crate::{BlockId, Bytes, ChannelId, DieId, Id, PlaneId, Ppn};

/// Shape of a drive's flash array. All counts are at least one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// Number of channels: buses between the controller and the chips.
    pub channels: u32,
    /// Number of chips on each channel.
    pub chips_per_channel: u32,
    /// Number of dies in each chip; each die executes commands independently.
    pub dies_per_chip: u32,
    /// Number of planes in each die; each plane is a separate allocation pool.
    pub planes_per_die: u32,
    /// Number of blocks in each plane.
    pub blocks_per_plane: u32,
    /// Number of pages in each block.
    pub pages_per_block: u32,
    /// Amount of data in a page.
    pub page_size: Bytes,
}

impl Geometry {
    /// Returns the number of dies on one channel.
    pub fn dies_per_channel(&self) -> u32 {
        self.chips_per_channel * self.dies_per_chip
    }

    /// Returns the number of dies in the drive.
    pub fn dies(&self) -> u32 {
        self.channels * self.dies_per_channel()
    }

    /// Returns the number of planes in the drive.
    pub fn planes(&self) -> u32 {
        self.dies() * self.planes_per_die
    }

    /// Returns the number of blocks in the drive.
    pub fn blocks(&self) -> u32 {
        self.planes() * self.blocks_per_plane
    }

    /// Returns the number of physical pages in the drive; `None` if any product exceeds 2^64.
    pub fn pages_checked(&self) -> Option<u64> {
        [
            self.channels,
            self.chips_per_channel,
            self.dies_per_chip,
            self.planes_per_die,
            self.blocks_per_plane,
            self.pages_per_block,
        ]
        .iter()
        .try_fold(1u64, |product, &count| product.checked_mul(u64::from(count)))
    }

    /// Returns the number of physical pages in the drive.
    pub fn pages(&self) -> u32 {
        self.blocks() * self.pages_per_block
    }

    /// Returns the number of physical pages in one plane.
    pub fn pages_per_plane(&self) -> u32 {
        self.blocks_per_plane * self.pages_per_block
    }

    /// Returns the raw capacity: the bytes of all pages.
    pub fn raw(&self) -> Bytes {
        Bytes(u64::from(self.pages()) * self.page_size.0)
    }

    /// Returns the channel of a die.
    #[inline]
    pub fn channel_of_die(&self, die: DieId) -> ChannelId {
        ChannelId(die.0 / self.dies_per_channel())
    }

    /// Returns the die of a plane.
    #[inline]
    pub fn die_of_plane(&self, plane: PlaneId) -> DieId {
        DieId(plane.0 / self.planes_per_die)
    }

    /// Returns the plane of a block.
    #[inline]
    pub fn plane_of_block(&self, block: BlockId) -> PlaneId {
        PlaneId(block.0 / self.blocks_per_plane)
    }

    /// Returns the block of a physical page.
    #[inline]
    pub fn block_of(&self, page: Ppn) -> BlockId {
        BlockId(page.0 / self.pages_per_block)
    }

    /// Returns the position of a physical page in its block.
    #[inline]
    pub fn offset_in_block(&self, page: Ppn) -> u32 {
        page.0 % self.pages_per_block
    }

    /// Returns the first physical page of a block.
    #[inline]
    pub fn first_page(&self, block: BlockId) -> Ppn {
        Ppn(block.0 * self.pages_per_block)
    }

    /// Returns the die of a physical page.
    #[inline]
    pub fn die_of(&self, page: Ppn) -> DieId {
        DieId(page.0 / (self.pages_per_plane() * self.planes_per_die))
    }

    /// Iterates over the planes of a die, in order.
    pub fn planes_of_die(&self, die: DieId) -> impl Iterator<Item = PlaneId> + use<> {
        let first = die.0 * self.planes_per_die;
        (first..first + self.planes_per_die).map(PlaneId)
    }

    /// Iterates over the blocks of a plane, in order.
    pub fn blocks_of_plane(&self, plane: PlaneId) -> impl Iterator<Item = BlockId> + use<> {
        let first = plane.0 * self.blocks_per_plane;
        (first..first + self.blocks_per_plane).map(BlockId)
    }

    /// Returns the die at a position in striping order. Neighbors lie on different channels, so a
    /// run of pages uses every channel before using one twice.
    pub fn die_at_stripe(&self, position: u32) -> DieId {
        let (row, channel) = (position / self.channels, position % self.channels);
        DieId::new((channel * self.dies_per_channel() + row) as usize)
    }

    /// Returns the number of chips in the drive.
    pub fn chips(&self) -> u32 {
        self.channels * self.chips_per_channel
    }

    /// Returns the chip of a die, numbered channel by channel.
    pub fn chip_of_die(&self, die: DieId) -> u32 {
        die.0 / self.dies_per_chip
    }

    /// Returns the die at a position in an order in which consecutive dies, up to the number of
    /// chips, lie on different chips, and on different channels as far as there are enough.
    pub fn die_at_chip(&self, position: u32) -> DieId {
        let (turn, at) = (position / self.chips(), position % self.chips());
        let (row, channel) = (at / self.channels, at % self.channels);
        let chip = channel * self.chips_per_channel + row;
        DieId(chip * self.dies_per_chip + turn)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parents_are_a_division_away() {
        let geometry = Geometry {
            channels: 3,
            chips_per_channel: 2,
            dies_per_chip: 2,
            planes_per_die: 2,
            blocks_per_plane: 5,
            pages_per_block: 7,
            page_size: Bytes(4096),
        };
        let mut page = 0;
        for die in (0..geometry.dies()).map(DieId) {
            for plane in geometry.planes_of_die(die) {
                assert_eq!(geometry.die_of_plane(plane), die);
                for block in geometry.blocks_of_plane(plane) {
                    assert_eq!(geometry.plane_of_block(block), plane);
                    for offset in 0..geometry.pages_per_block {
                        assert_eq!(geometry.block_of(Ppn(page)), block);
                        assert_eq!(geometry.offset_in_block(Ppn(page)), offset);
                        assert_eq!(geometry.die_of(Ppn(page)), die);
                        page += 1;
                    }
                }
            }
        }
        assert_eq!(page, geometry.pages());
        let mut striped: Vec<_> =
            (0..geometry.dies()).map(|at| geometry.die_at_stripe(at)).collect();
        assert_eq!(striped[..4], [DieId(0), DieId(4), DieId(8), DieId(1)]);
        striped.sort_unstable();
        assert!(striped.into_iter().eq((0..geometry.dies()).map(DieId)), "each die has its turn");
    }
}
