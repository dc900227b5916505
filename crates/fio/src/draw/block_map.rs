//! A map of the blocks of a file that had their turn: a bitmap with summaries, so that the next
//! free block is found in a few words however full the map is.

/// Map of the blocks of a file that a random job has accessed: a bit per block. One bit of the next
/// level says that a whole word of bits is set.
#[derive(Clone, Debug)]
pub(crate) struct BlockMap {
    levels: Vec<Vec<u64>>,
    blocks: u64,
}

impl BlockMap {
    /// Returns a map of `blocks` blocks, all free.
    pub fn new(blocks: u64) -> BlockMap {
        let mut levels = Vec::new();
        let mut bits = blocks.max(1);
        loop {
            let words = bits.div_ceil(64);
            levels.push(vec![0; words as usize]);
            if words == 1 {
                break;
            }
            bits = words;
        }
        let mut map = BlockMap { levels, blocks };
        map.clear();
        map
    }

    /// Marks all blocks of the file as free.
    pub fn clear(&mut self) {
        let mut bits = self.blocks;
        for level in &mut self.levels {
            level.fill(0);
            // Blocks beyond the end are never free.
            let (word, used) = ((bits / 64) as usize, bits % 64);
            if let Some(last) = level.get_mut(word) {
                *last = !0 << used;
            }
            bits = bits.div_ceil(64);
        }
    }

    /// Returns true if no request has been drawn for the block of the file yet; false for a block
    /// beyond the end of the file.
    #[inline]
    pub fn is_free(&self, block: u64) -> bool {
        block < self.blocks && self.levels[0][(block / 64) as usize] >> (block % 64) & 1 == 0
    }

    /// Returns the first block of the file, from `block` on and then from the beginning, for which
    /// no request has been drawn yet; `None` if there is none.
    pub fn next_free(&self, block: u64) -> Option<u64> {
        self.free_from(block).or_else(|| self.free_from(0))
    }

    fn free_from(&self, block: u64) -> Option<u64> {
        let mut position = block;
        let mut level = 0;
        // Upwards, until a word has something free at or behind the position.
        loop {
            let words = self.levels.get(level)?;
            let word = (position / 64) as usize;
            let free = words.get(word).map_or(0, |word| !word & (!0 << (position % 64)));
            if free != 0 {
                position = word as u64 * 64 + u64::from(free.trailing_zeros());
                break;
            }
            position = word as u64 + 1;
            level += 1;
        }
        while level > 0 {
            level -= 1;
            let free = !self.levels[level][position as usize];
            position = position * 64 + u64::from(free.trailing_zeros());
        }
        Some(position)
    }

    /// Marks as taken the free blocks of a file from `block` on, at most `count` and up to the
    /// first taken one. Returns their number. If the last block of the file is among them, blocks
    /// beyond the end, up to a multiple of 64, are counted, too, as in fio.
    pub fn take(&mut self, block: u64, count: u64) -> u64 {
        let mut taken = 0;
        while taken < count && self.is_free(block + taken) {
            self.set(block + taken);
            taken += 1;
        }
        if taken > 0 && block + taken == self.blocks {
            let spare = self.blocks.next_multiple_of(64) - self.blocks;
            taken += spare.min(count - taken);
        }
        taken
    }

    #[inline]
    fn set(&mut self, block: u64) {
        let mut position = block;
        for level in &mut self.levels {
            let word = &mut level[(position / 64) as usize];
            *word |= 1 << (position % 64);
            if *word != !0 {
                break;
            }
            position /= 64;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_block_has_its_turn_once() {
        for blocks in [1, 3, 63, 64, 65, 4096, 4097, 300_000] {
            let mut map = BlockMap::new(blocks);
            let mut seen = vec![false; blocks as usize];
            let mut place = blocks / 2;
            for _ in 0..blocks {
                place = map.next_free(place).expect("a free block");
                assert!(!std::mem::replace(&mut seen[place as usize], true), "{blocks}: {place}");
                assert_eq!(map.take(place, 1), 1);
                place = (place * 7919 + 13) % blocks;
            }
            assert_eq!(map.next_free(place), None, "{blocks}");
            map.clear();
            assert_eq!(map.next_free(blocks - 1), Some(blocks - 1), "{blocks}");
        }
    }

    #[test]
    fn a_range_ends_at_the_first_that_is_taken() {
        let mut map = BlockMap::new(200);
        assert_eq!(map.take(70, 2), 2);
        assert_eq!(map.take(60, 20), 10);
        assert_eq!(map.take(60, 20), 0);
        assert_eq!(map.take(195, 8), 8);
        assert_eq!(map.next_free(195), Some(0));
        assert_eq!(map.next_free(64), Some(72));
    }
}
