//! A linear feedback shift register over the blocks of a file: each block once, without a map.

/// The taps of registers of 3 to 40 bits, without the highest, by width. From tables of maximal
/// registers with exclusive nor, such as P. Alfke, Xilinx XAPP 052 (1996).
const TAPS: [&[u32]; 38] = [
    &[2],
    &[3],
    &[3],
    &[5],
    &[6],
    &[6, 5, 4],
    &[5],
    &[7],
    &[9],
    &[6, 4, 1],
    &[4, 3, 1],
    &[5, 3, 1],
    &[14],
    &[15, 13, 4],
    &[14],
    &[11],
    &[6, 2, 1],
    &[17],
    &[19],
    &[21],
    &[18],
    &[23, 22, 17],
    &[22],
    &[6, 2, 1],
    &[5, 2, 1],
    &[25],
    &[27],
    &[6, 4, 1],
    &[28],
    &[31, 29, 1],
    &[20],
    &[27, 2, 1],
    &[33],
    &[25],
    &[5, 4, 3, 2, 1],
    &[6, 5, 1],
    &[35],
    &[38, 21, 19],
];

/// Width in bits of the narrowest linear feedback shift register that draws the blocks of a file;
/// files of up to 7 blocks use it.
const NARROWEST: u32 = 3;

/// Shift register that draws each block of a file once.
#[derive(Clone, Debug)]
pub(crate) struct Lfsr {
    value: u64,
    blocks: u64,
    left: u64,
    fresh: bool,
    taps: u64,
    high: u64,
}

impl Lfsr {
    /// Returns a shift register for `blocks` blocks; `None` if no register is wide enough. Start it
    /// with [`Lfsr::reset`].
    pub fn new(blocks: u64) -> Option<Lfsr> {
        let needed = u64::BITS - blocks.leading_zeros();
        let width = needed.max(NARROWEST);
        let taps = TAPS.get((width - NARROWEST) as usize)?;
        let taps = taps.iter().chain([&width]).fold(0, |mask, tap| mask | 1 << (tap - 1));
        let high = 1 << (width - 1);
        Some(Lfsr { value: 0, blocks, left: 0, fresh: true, taps, high })
    }

    /// Restarts this shift register from `seed`, so that each block of the file can be drawn once
    /// more.
    pub fn reset(&mut self, seed: u64) {
        let all = (self.high << 1) - 1;
        self.value = seed & all;
        // The value that the register never leaves.
        if self.value == all {
            self.value = 0;
        }
        self.left = self.blocks;
        // The first time, fio leaves out the first value, whether or not it is a block.
        if self.fresh {
            self.value = self.after(self.value);
            self.fresh = false;
        }
    }

    fn after(&self, value: u64) -> u64 {
        let feedback = if value & 1 == 1 { 0 } else { self.taps };
        (value >> 1 | self.high) ^ feedback
    }

    /// Returns the number of the block of the file that the shift register visits next; `None`
    /// after it has visited every block once.
    #[inline]
    pub fn next_block(&mut self) -> Option<u64> {
        if self.left == 0 {
            return None;
        }
        self.left -= 1;
        loop {
            self.value = self.after(self.value);
            if self.value < self.blocks {
                return Some(self.value);
            }
        }
    }
}
