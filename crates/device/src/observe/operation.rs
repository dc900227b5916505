//! Flash operations and their sources: the terms in which time and wear are accounted for.

/// Kind of a flash operation: read, program or erase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Op {
    /// A read: a page is sensed and transferred out.
    Read,
    /// A program: a page is transferred in and programmed.
    Program,
    /// An erase of a block.
    Erase,
}

/// The source of a transaction: the host, or a kind of background work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Source {
    /// Host requests are the source of the transaction.
    Host,
    /// Garbage collection is the source of the transaction.
    Gc,
    /// Wear leveling is the source of the transaction.
    Wear,
    /// Refresh is the source of the transaction: it reprograms data that could stay in place, to
    /// make reads faster or data last longer.
    Refresh,
    /// Redundancy is the source of the transaction: it updates the parity of stripes, or recovers
    /// unreadable pages.
    Parity,
}

impl Source {
    /// All sources of transactions, in the order of their numbers.
    pub const ALL: [Source; 5] =
        [Source::Host, Source::Gc, Source::Wear, Source::Refresh, Source::Parity];

    /// Returns the name of the source of a transaction (such as GC) in JSON and tables.
    pub fn name(self) -> &'static str {
        ["host", "GC", "wear leveling", "refresh", "parity"][self as usize]
    }
}

fowler_units::enumerated! {
    Source:
    /// A value for each source of transactions.
    pub BySource
}
