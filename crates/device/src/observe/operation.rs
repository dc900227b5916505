//! Flash operations and their sources: the terms in which time and wear are accounted for.

/// The kinds of operations that a transaction performs on the flash.
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

/// The cause of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Source {
    /// The host.
    Host,
    /// Garbage collection.
    Gc,
    /// Wear leveling.
    Wear,
    /// Reprogramming data that could stay in place, to make reads faster or data last longer.
    Refresh,
    /// Updating the parity of stripes, and recovering unreadable pages.
    Parity,
}

impl Source {
    /// Every source.
    pub const ALL: [Source; 5] =
        [Source::Host, Source::Gc, Source::Wear, Source::Refresh, Source::Parity];

    /// Returns the name of the source in JSON and tables.
    pub fn name(self) -> &'static str {
        ["host", "GC", "wear leveling", "refresh", "parity"][self as usize]
    }
}

fowler_units::enumerated! {
    Source:
    /// A value for each source.
    pub BySource
}
