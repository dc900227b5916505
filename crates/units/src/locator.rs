//! Finds the page, block, plane or die of something without a division: the simulation loop does so
//! several times per page (`docs/performance.md`).

use std::ops::Range;

use crate::{BlockId, DieId, Geometry, Lpn, PlaneId, Ppn, UnitId};

/// An address in a flash page: of the page itself, or of a mapping unit in the page.
pub trait InPage: Copy {
    /// Returns the flash page of this address in the drive of `locator`. An address that is null,
    /// such as that of an unmapped page, gives a null page.
    fn page(self, locator: &Locator) -> Ppn;
}

impl InPage for Ppn {
    #[inline]
    fn page(self, _: &Locator) -> Ppn {
        self
    }
}

impl InPage for UnitId {
    /// A page holds one unit. Real drives pack four units of 4 KiB into a page of 16 KiB; support
    /// for that would begin here and in [`Locator::first_unit`].
    #[inline]
    fn page(self, _: &Locator) -> Ppn {
        Ppn(self.0)
    }
}

/// Divides any `u32` by a divisor known in advance, using a multiplication instead of a division.
#[derive(Clone, Copy, Debug)]
struct Divisor {
    by: u32,
    reciprocal: u64,
}

impl Divisor {
    fn new(by: u32) -> Self {
        Self { by, reciprocal: u64::MAX / u64::from(by) }
    }

    /// Returns `n / by`, exactly. Let `r = floor((2^64 - 1) / by)`, which is below `2^64 / by` by
    /// at most one. Then `(n + 1) r / 2^64` is below `(n + 1) / by` by less than `1 / by`, so its
    /// integer part equals that of `n / by` for all 32-bit `n` and `by` (Robison, "N-bit unsigned
    /// division via N-bit multiply-add", ARITH-17, 2005).
    #[inline]
    fn divide(self, n: u32) -> u32 {
        let product = (u128::from(n) + 1) * u128::from(self.reciprocal);
        (product >> 64) as u32
    }

    #[inline]
    fn remainder(self, n: u32) -> u32 {
        n - self.divide(n) * self.by
    }
}

/// Answers the location queries of a [`Geometry`] with precomputed divisions.
#[derive(Clone, Copy, Debug)]
pub struct Locator {
    pages_per_block: Divisor,
    blocks_per_plane: Divisor,
    pages_per_plane: Divisor,
    planes_per_die: Divisor,
    pages_per_die: Divisor,
    /// Ones in place of the trailing zero bits of the number of pages per block. A page number plus
    /// one that has ones under this mask is not a multiple of the pages per block: a quick test
    /// that most pages are not the last of their block.
    behind_last: u32,
    dies: u32,
    page_size: u64,
    /// Binary logarithm of the page size; `None` if the size is not a power of two.
    page_shift: Option<u32>,
}

impl Locator {
    /// Returns a locator for a drive of this geometry, with the divisions precomputed.
    pub fn new(geometry: &Geometry) -> Self {
        let pages_per_plane = geometry.pages_per_plane();
        Self {
            pages_per_block: Divisor::new(geometry.pages_per_block),
            blocks_per_plane: Divisor::new(geometry.blocks_per_plane),
            pages_per_plane: Divisor::new(pages_per_plane),
            planes_per_die: Divisor::new(geometry.planes_per_die),
            pages_per_die: Divisor::new(pages_per_plane * geometry.planes_per_die),
            behind_last: (1 << geometry.pages_per_block.trailing_zeros()) - 1,
            dies: geometry.dies(),
            page_size: geometry.page_size.0,
            page_shift: geometry
                .page_size
                .0
                .is_power_of_two()
                .then(|| geometry.page_size.0.trailing_zeros()),
        }
    }

    /// Returns the number of the logical page that holds a byte of the drive. The result for a byte
    /// beyond the drive is arbitrary.
    #[inline]
    pub fn page_at(&self, offset: u64) -> Lpn {
        Lpn(match self.page_shift {
            Some(shift) => offset >> shift,
            None => offset / self.page_size,
        } as u32)
    }

    /// Returns the size of a page in bytes.
    #[inline]
    pub fn page_size(&self) -> u64 {
        self.page_size
    }

    /// Returns the flash page of a page or mapping unit; the null page for a null unit.
    #[inline]
    pub fn page_of(&self, at: impl InPage) -> Ppn {
        at.page(self)
    }

    /// Returns the first mapping unit of a flash page; the null unit for the null page.
    #[inline]
    pub fn first_unit(&self, page: Ppn) -> UnitId {
        UnitId(page.0)
    }

    /// Returns the mapping unit at a position in a block; units are programmed in the order of
    /// positions.
    #[inline]
    pub fn unit(&self, block: BlockId, place: u32) -> UnitId {
        UnitId(block.0 * self.pages_per_block.by + place)
    }

    /// Returns the index of a mapping unit in its block: see [`Locator::unit`].
    #[inline]
    pub fn place_in_block(&self, unit: UnitId) -> u32 {
        self.pages_per_block.remainder(unit.0)
    }

    /// Returns true if a mapping unit is the last of its block. If the block size is even, a mask
    /// rejects most units before the division.
    #[inline]
    pub fn is_last_of_block(&self, unit: UnitId) -> bool {
        (unit.0 + 1) & self.behind_last == 0
            && self.place_in_block(unit) + 1 == self.pages_per_block.by
    }

    /// Returns the block of a mapping unit, and the unit's index in the block.
    #[inline]
    pub fn block_and_place(&self, unit: UnitId) -> (BlockId, u32) {
        let block = self.block_of(unit);
        (block, unit.0 - block.0 * self.pages_per_block.by)
    }

    /// Returns the range of the numbers of a block's mapping units, in programming order.
    #[inline]
    pub fn units_of(&self, block: BlockId) -> Range<u32> {
        let first = block.0 * self.pages_per_block.by;
        first..first + self.pages_per_block.by
    }

    /// Returns the block of a page or mapping unit, like [`Geometry::block_of`] but without
    /// divisions.
    #[inline]
    pub fn block_of(&self, at: impl InPage) -> BlockId {
        BlockId(self.pages_per_block.divide(at.page(self).0))
    }

    /// Returns the position of a page in its block, like [`Geometry::offset_in_block`] but without
    /// divisions.
    #[inline]
    pub fn offset_in_block(&self, page: Ppn) -> u32 {
        self.pages_per_block.remainder(page.0)
    }

    /// Returns the plane of a page or mapping unit.
    #[inline]
    pub fn plane_of(&self, at: impl InPage) -> PlaneId {
        PlaneId(self.pages_per_plane.divide(at.page(self).0))
    }

    /// Returns the plane of a block, like [`Geometry::plane_of_block`] but without divisions.
    #[inline]
    pub fn plane_of_block(&self, block: BlockId) -> PlaneId {
        PlaneId(self.blocks_per_plane.divide(block.0))
    }

    /// Returns the index of a block within its plane.
    #[inline]
    pub fn place_in_plane(&self, block: BlockId) -> u32 {
        self.blocks_per_plane.remainder(block.0)
    }

    /// Returns the die of a plane.
    ///
    /// # Panics
    /// If the drive has no such plane. Tables indexed by die rely on this check ([`crate::Table`]).
    #[inline]
    pub fn die_of_plane(&self, plane: PlaneId) -> DieId {
        self.die(self.planes_per_die.divide(plane.0))
    }

    /// Returns the die of a flash page or of a mapping unit in it.
    ///
    /// # Panics
    /// If the drive has no such page.
    #[inline]
    pub fn die_of(&self, at: impl InPage) -> DieId {
        self.die(self.pages_per_die.divide(at.page(self).0))
    }

    #[inline]
    fn die(&self, die: u32) -> DieId {
        assert!(die < self.dies, "a die beyond the drive");
        DieId(die)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Bytes, Rng};

    const GEOMETRY: Geometry = Geometry {
        channels: 3,
        chips_per_channel: 2,
        dies_per_chip: 2,
        planes_per_die: 3,
        blocks_per_plane: 5,
        pages_per_block: 7,
        page_size: Bytes(4096),
    };

    #[test]
    fn a_multiplication_divides_exactly() {
        let mut rng = Rng::stream(1, "locator");
        let edges = [1, 2, 3, 5, 7, 64, 255, 256, 641, 65_535, 65_536, u32::MAX - 1, u32::MAX];
        let random = (0..2000).map(|_| (rng.below(u64::from(u32::MAX)) >> rng.below(32)).max(1));
        let divisors: Vec<u32> = edges.into_iter().chain(random.map(|by| by as u32)).collect();
        for by in divisors {
            let divisor = Divisor::new(by);
            let last = u32::MAX / by * by;
            let near = [0, 1, by - 1, by, by.saturating_add(1), last, last - 1, u32::MAX];
            let random: Vec<u32> = (0..50).map(|_| rng.below(1 << 32) as u32).collect();
            for n in near.into_iter().chain(random) {
                assert_eq!((divisor.divide(n), divisor.remainder(n)), (n / by, n % by), "{n}/{by}");
            }
        }
    }

    #[test]
    fn bytes_lie_in_pages_of_any_size() {
        for page_size in [512, 2048, 2560, 4096, 1 << 20] {
            let geometry = Geometry { page_size: Bytes(page_size), ..GEOMETRY };
            let locator = Locator::new(&geometry);
            for offset in
                [0, 1, page_size - 1, page_size, 7 * page_size - 1, 123_456_789 * page_size]
            {
                assert_eq!(u64::from(locator.page_at(offset).0), offset / page_size);
            }
        }
    }

    #[test]
    fn a_locator_answers_as_its_geometry() {
        let geometry = GEOMETRY;
        let locator = Locator::new(&geometry);
        for page in (0..geometry.pages()).map(Ppn) {
            let block = geometry.block_of(page);
            let plane = geometry.plane_of_block(block);
            assert_eq!(locator.block_of(page), block);
            assert_eq!(locator.offset_in_block(page), geometry.offset_in_block(page));
            assert_eq!(locator.plane_of(page), plane);
            assert_eq!(locator.plane_of_block(block), plane);
            assert_eq!(locator.die_of_plane(plane), geometry.die_of_plane(plane));
            assert_eq!(locator.die_of(page), geometry.die_of(page));
            let unit = locator.first_unit(page);
            assert_eq!(locator.page_of(unit), page);
            assert_eq!(locator.block_of(unit), block);
            assert_eq!(locator.unit(block, locator.place_in_block(unit)), unit);
            assert_eq!(locator.block_and_place(unit), (block, locator.place_in_block(unit)));
            let units = locator.units_of(block);
            assert_eq!(UnitId(units.start), locator.unit(block, 0));
            assert_eq!(UnitId(units.end), locator.unit(BlockId(block.0 + 1), 0));
        }
    }
}
