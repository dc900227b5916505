//! The SLC cache of a drive with superblocks.

use fowler_nand::Timing;
use fowler_units::Span;

/// An SLC cache: superblocks that take host writes with one bit per cell. A word line then holds
/// one page instead of [`crate::FlashConfig::word_line`], and that page is programmed and read
/// faster. The data of these superblocks is folded into others later. See
/// docs/decisions/superblocks.md, "What is the SLC cache?".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlcConfig {
    /// Number of superblocks set aside for the SLC cache and used for nothing else.
    pub fixed: u32,
    /// Maximum number of erased superblocks used in SLC mode in addition to those reserved for the
    /// SLC cache (`slc.static`); 0 for none.
    pub dynamic: u32,
    /// Number of erased superblocks that the dynamic SLC cache leaves untouched.
    pub keep_erased: u32,
    /// The path of host data while the SLC cache is full.
    pub when_full: WhenFull,
    /// Idle time of the host after which the SLC cache is folded.
    pub fold_after: Span,
    /// Time to sense a page in SLC mode.
    pub read_time: Span,
    /// Number of ISPP iterations of a program in SLC mode.
    pub iterations: u32,
}

/// The path of host data while the SLC cache is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhenFull {
    /// Host data bypasses the full SLC cache and is programmed at all bits per cell.
    Direct,
    /// Host data waits in the write buffer until a superblock of the SLC cache has been folded (its
    /// data moved to blocks with all bits per cell) and erased.
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
