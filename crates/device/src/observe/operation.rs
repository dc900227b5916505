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
    /// The source is a request of the host.
    Host,
    /// The source is garbage collection.
    Gc,
    /// The source is wear leveling.
    Wear,
    /// The source is refresh: reprogramming data that could stay in place, to make reads faster or
    /// data last longer.
    Refresh,
    /// The source is parity: updating the parity of stripes, and recovering unreadable pages.
    Parity,
}

impl Source {
    /// All sources of transactions, in the order of their numbers.
    pub const ALL: [Source; 5] =
        [Source::Host, Source::Gc, Source::Wear, Source::Refresh, Source::Parity];

    /// Returns the name of the source in JSON and tables.
    pub fn name(self) -> &'static str {
        ["host", "GC", "wear leveling", "refresh", "parity"][self as usize]
    }
}

fowler_units::enumerated! {
    Source:
    /// A value for each source of transactions.
    pub BySource
}
