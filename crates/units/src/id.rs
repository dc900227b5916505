//! IDs: `u32` newtypes, each of which indexes only its own columns ([`crate::IdVec`]).

/// A `u32` that identifies an item of one kind.
pub trait Id: Copy + Eq {
    /// No item; never a valid index.
    const NONE: Self;
    /// Returns the ID of the `index`-th item.
    ///
    /// # Panics
    /// If `index` does not fit in a `u32` below [`Id::NONE`].
    fn new(index: usize) -> Self;
    /// Returns the ID as an index into the item's columns.
    fn index(self) -> usize;
    /// Returns true if the ID identifies an item.
    #[inline]
    fn is_some(self) -> bool {
        self != Self::NONE
    }
}

macro_rules! ids {
    ($($(#[$doc:meta])* $Id:ident),+ $(,)?) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
        pub struct $Id(pub u32);
        impl Id for $Id {
            const NONE: Self = Self(u32::MAX);
            #[inline]
            fn new(index: usize) -> Self {
                assert!(index < u32::MAX as usize, concat!(stringify!($Id), " space exhausted"));
                Self(index as u32)
            }
            #[inline]
            fn index(self) -> usize {
                self.0 as usize
            }
        }
    )+ };
}

ids! {
    /// A channel: the bus that one or more chips share.
    ChannelId,
    /// A die: executes one command at a time.
    DieId,
    /// A plane of a die, numbered over the whole drive; a separate allocation pool.
    PlaneId,
    /// A block, numbered over the whole drive, plane by plane.
    BlockId,
    /// A physical page, numbered over the whole drive, block by block.
    Ppn,
    /// A mapping unit in the flash, numbered page by page: the target of a mapping entry. Every
    /// flash page holds one unit ([`crate::Locator::page_of`]).
    UnitId,
    /// A logical page: a range of host addresses as large as a mapping unit.
    Lpn,
    /// A flash transaction in flight.
    TxnId,
    /// A host request in flight.
    ReqId,
    /// A page frame of the write buffer.
    FrameId,
    /// A stripe: the logical pages that share a parity page.
    StripeId,
    /// An entry of the parity cache.
    ParityId,
}
