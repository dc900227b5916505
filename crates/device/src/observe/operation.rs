//! What a flash operation is and on whose behalf it runs: the terms in which time and wear are
//! accounted for.

/// What a transaction does to the flash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Op {
    /// Sense a page and transfer it out.
    Read,
    /// Transfer a page in and program it.
    Program,
    /// Erase a block.
    Erase,
}

/// On whose behalf a transaction runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Source {
    /// The host.
    Host,
    /// Garbage collection.
    Gc,
    /// Wear leveling.
    Wear,
    /// Programming anew what could stay where it is, to read it sooner or longer.
    Refresh,
    /// Keeping the parity of stripes, and bringing back what could not be read.
    Parity,
}

impl Source {
    /// Every source.
    pub const ALL: [Source; 5] =
        [Source::Host, Source::Gc, Source::Wear, Source::Refresh, Source::Parity];

    /// What it is called.
    pub fn name(self) -> &'static str {
        ["host", "GC", "wear leveling", "refresh", "parity"][self as usize]
    }
}

fowler_units::enumerated! {
    Source:
    /// A value for each source.
    pub BySource
}
