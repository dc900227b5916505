//! What a flash operation is and on whose account it runs: the words in which time and wear are
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

/// On whose account a transaction runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Source {
    /// The host.
    Host,
    /// Garbage collection.
    Gc,
    /// Wear levelling.
    Wear,
    /// Programming anew what could stay where it is, to read it sooner or longer.
    Refresh,
    /// Keeping the parity of stripes, and bringing back what could not be read.
    Parity,
}

impl Source {
    /// How many there are.
    pub const COUNT: usize = 5;
    /// What the accounts are called, in order.
    pub const NAMES: [&'static str; Source::COUNT] =
        ["host", "collection", "wear levelling", "refreshing", "parity"];
}
