//! Ids: `u32` newtypes that index only their own columns ([`crate::IdVec`]).

/// A `u32` that names one thing of one kind.
pub trait Id: Copy + Eq {
    /// No thing at all; never a valid index.
    const NONE: Self;
    /// The id of the `index`-th thing.
    ///
    /// # Panics
    /// If `index` does not fit in a `u32` below [`Id::NONE`].
    fn new(index: usize) -> Self;
    /// The position of the thing in its columns.
    fn index(self) -> usize;
    /// Whether this names a thing at all.
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
    /// A die: the unit that is busy.
    DieId,
    /// A plane of a die, numbered over the whole drive; an allocation pool of its own.
    PlaneId,
    /// A block, numbered over the whole drive, plane by plane.
    BlockId,
    /// A physical page, numbered over the whole drive, block by block.
    Ppn,
    /// A mapping unit in the flash, numbered page by page: what the mapping points at. Every
    /// flash page holds one ([`crate::Locator::page_of`]).
    UnitId,
    /// A logical page: as many bytes of the host's addresses as a mapping unit holds.
    Lpn,
    /// A flash transaction in flight.
    TxnId,
    /// A host request in flight.
    ReqId,
    /// A page frame of the write buffer.
    FrameId,
    /// A stripe: the logical pages that share a parity page.
    StripeId,
    /// A place of the parity cache.
    ParityId,
}
