//! IDs: `u32` newtypes, each of which indexes only its own columns ([`crate::IdVec`]).

/// A `u32` that identifies an item of one kind.
pub trait Id: Copy + Eq {
    /// The ID of no item; never a valid index.
    const NONE: Self;
    /// Returns the ID of the item with this index among the items of its kind, such as the blocks
    /// of a drive.
    ///
    /// # Panics
    /// If `index` does not fit in a `u32` below [`Id::NONE`].
    fn new(index: usize) -> Self;
    /// Returns the ID as an index into arrays with one value for each item of its kind.
    fn index(self) -> usize;
    /// Returns true if the ID identifies an item; false for [`Id::NONE`], the ID of no item.
    #[inline]
    fn is_some(self) -> bool {
        self != Self::NONE
    }
}

macro_rules! ids {
    ($($(#[$doc:meta])* $Id:ident),+ $(,)?) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
        #[repr(transparent)]
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
        impl std::fmt::Display for $Id {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(f)
            }
        }
    )+ };
}

ids! {
    /// Number of a channel: the bus that one or more chips share.
    ChannelId,
    /// Number of a die, which executes one command at a time.
    DieId,
    /// Number of a plane of a die, over the whole drive; a plane is a separate allocation pool.
    PlaneId,
    /// Number of a block, over the whole drive, plane by plane.
    BlockId,
    /// Number of a reclaim unit: blocks that are opened, filled, collected and erased together. On
    /// a drive with superblocks, a superblock: the blocks at this index of every plane.
    RuId,
    /// Number of a physical page, over the whole drive, block by block.
    Ppn,
    /// Number of a mapping unit in the flash, in the order of programming: the target of a mapping
    /// entry. A flash page holds one ([`crate::Locator::page_of`]), or several on a drive with
    /// superblocks.
    UnitId,
    /// Number of a logical page: a range of host addresses as large as a mapping unit.
    Lpn,
    /// Number of a flash transaction in flight.
    TxnId,
    /// Number of a host request in flight.
    ReqId,
    /// Number of a page frame of the write buffer.
    FrameId,
    /// Number of a stripe: the logical pages that share a parity page.
    StripeId,
    /// Number of an entry of the parity cache.
    ParityId,
}

macro_rules! places {
    ($($Id:ident),+) => { $(
        impl $Id {
            /// Returns the ID whose number is higher than that of this ID by `places`.
            #[inline]
            #[must_use]
            pub fn plus(self, places: u32) -> Self {
                Self(self.0 + places)
            }
            /// Returns `count` IDs in a row, the first of which is this one.
            #[inline]
            pub fn run(self, count: u32) -> impl DoubleEndedIterator<Item = Self> + Clone {
                (self.0..self.0 + count).map(Self)
            }
        }
    )+ };
}

// Units lie beside each other: a page, a command or a request has several in a row.
places! { UnitId, Lpn }
