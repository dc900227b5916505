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
    /// How many there are.
    pub const COUNT: usize = 5;
    /// What the sources are called, in order.
    pub const NAMES: [&'static str; Source::COUNT] =
        ["host", "GC", "wear leveling", "refresh", "parity"];
}
