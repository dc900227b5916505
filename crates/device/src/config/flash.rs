//! The word lines and the registers of the dies, and programs in two passes.

use fowler_units::Span;

/// Word lines, registers and program passes of the dies of a drive with superblocks. See
/// docs/decisions/superblocks.md, "What is a cache register?" and "What are two passes?".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlashConfig {
    /// The number of pages of a word line, one for each bit of a cell: 3 for TLC.
    pub word_line: u32,
    /// Cache read: a page is sensed while the previous page crosses the channel.
    pub cache_read: bool,
    /// Cache program: a word line is programmed while the data of the next one crosses the channel.
    pub cache_program: bool,
    /// Time for which the channel's decoder holds the channel for a page that was read, beyond the
    /// transfer.
    pub decode: Span,
    /// The part of a program command of several pages that crosses the channel at once.
    pub program_transfer: ProgramTransfer,
    /// The number of passes in which a word line is programmed: one or two.
    pub program_passes: u32,
    /// ISPP iterations of the first of two passes.
    pub first_pass_iterations: u32,
}

/// The part of a program command that crosses the channel without a gap for other dies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramTransfer {
    /// A page: other dies get the channel between two pages.
    Page,
    /// The whole command.
    Command,
}

impl Default for FlashConfig {
    fn default() -> Self {
        let (cache_read, cache_program) = (false, false);
        Self {
            word_line: 1,
            cache_read,
            cache_program,
            decode: Span::ZERO,
            program_transfer: ProgramTransfer::Page,
            program_passes: 1,
            first_pass_iterations: 5,
        }
    }
}

impl FlashConfig {
    /// Returns true if the dies have a cache register.
    pub fn caches(&self) -> bool {
        self.cache_read || self.cache_program
    }
}
