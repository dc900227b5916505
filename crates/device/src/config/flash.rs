//! The word lines and registers of the dies, and programs in two passes.

use fowler_units::Span;

/// Word lines, registers and program passes of the dies, of which drives without superblocks have
/// only the costs of a read (`decode`, `read_command`). See docs/decisions/superblocks.md, "What is
/// a cache register?" and "What are two passes?".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlashConfig {
    /// Number of pages in a word line, one for each bit of a cell: 3 for TLC.
    pub word_line: u32,
    /// True if a page is sensed while the previous one crosses the channel (cache read).
    pub cache_read: bool,
    /// True if a word line is programmed while the data of the next one crosses the channel (cache
    /// program).
    pub cache_program: bool,
    /// Time for which decoding a page that was read occupies the channel, beyond the transfer.
    pub decode: Span,
    /// Time for which the command, the address and the status of a page read hold the channel,
    /// beyond the transfer, however much of the page is read.
    pub read_command: Span,
    /// Amount of data of a program command that crosses the channel without a pause.
    pub program_transfer: ProgramTransfer,
    /// The number of passes in which a word line is programmed: one or two.
    pub program_passes: u32,
    /// Number of ISPP iterations in the first program pass of a word line, on flash that programs
    /// word lines in two passes.
    pub first_pass_iterations: u32,
}

/// Granularity at which the data of a program command crosses the channel: no other die gets the
/// channel in between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramTransfer {
    /// One page at a time: other dies may get the channel between two pages.
    Page,
    /// The data of the whole command at once: no other die gets the channel in between.
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
            read_command: Span::ZERO,
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
