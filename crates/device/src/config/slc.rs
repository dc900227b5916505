//! The SLC cache of a drive with superblocks.

use fowler_nand::Timing;
use fowler_units::Span;

/// Superblocks that take host writes with one bit per cell: a word line holds one page instead of
/// [`crate::FlashConfig::word_line`], and that page is programmed and read faster. The data of
/// these superblocks is folded into others later. See docs/decisions/superblocks.md, "What is the
/// SLC cache?".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlcConfig {
    /// Superblocks set aside for the cache, which are never used otherwise; 0 for none.
    pub fixed: u32,
    /// The maximum number of erased superblocks that are used in SLC mode besides; 0 for none.
    pub dynamic: u32,
    /// The number of erased superblocks that `dynamic` leaves untouched.
    pub keep_erased: u32,
    /// The path of host data while the cache is full.
    pub when_full: WhenFull,
    /// The idle time of the host after which the cache is folded.
    pub fold_after: Span,
    /// The time to sense a page in SLC mode.
    pub read_time: Span,
    /// ISPP iterations of a program in SLC mode.
    pub iterations: u32,
}

/// The path of host data while the cache is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhenFull {
    /// The data bypasses the cache, as on a drive without one.
    Direct,
    /// The data waits in the buffer until a superblock of the cache has been emptied.
    Wait,
}

impl Default for SlcConfig {
    fn default() -> Self {
        Self {
            fixed: 0,
            dynamic: 0,
            keep_erased: 8,
            when_full: WhenFull::Direct,
            fold_after: Span::ms(100),
            read_time: Span::us(25),
            iterations: 4,
        }
    }
}

impl SlcConfig {
    /// Returns true if the drive has an SLC cache.
    pub fn is_on(&self) -> bool {
        self.fixed > 0 || self.dynamic > 0
    }

    /// Returns the operating times of the pages of a word line, and of the single page of a word
    /// line in SLC mode.
    pub(super) fn timing(&self, usual: Timing, word_line: u32) -> Timing {
        Timing {
            read: usual.read.with_slc(word_line, self.read_time),
            program_iterations: usual.program_iterations.with_slc(word_line, self.iterations),
            ..usual
        }
    }
}
