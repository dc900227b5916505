//! Ids: `u32` newtypes that index only their own columns.

use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

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
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
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
    /// A logical page.
    Lpn,
    /// A flash transaction in flight.
    TxnId,
    /// A host request in flight.
    ReqId,
    /// A page frame of the write buffer.
    SlotId,
}

/// A column that only its own id can index.
#[derive(Clone, Debug)]
pub struct IdVec<I, T> {
    raw: Vec<T>,
    id: PhantomData<I>,
}

impl<I: Id, T: Clone> IdVec<I, T> {
    /// `count` copies of `value`.
    pub fn filled(value: T, count: usize) -> Self {
        Self { raw: vec![value; count], id: PhantomData }
    }
}

impl<I: Id, T> IdVec<I, T> {
    /// How many things the column describes.
    pub fn len(&self) -> usize {
        self.raw.len()
    }

    /// Whether the column describes nothing.
    pub fn is_empty(&self) -> bool {
        self.raw.is_empty()
    }

    /// Every id of this column, ascending.
    pub fn ids(&self) -> impl Iterator<Item = I> + use<I, T> {
        (0..self.raw.len()).map(I::new)
    }

    /// The column as a plain slice, in the order of ids.
    pub fn as_slice(&self) -> &[T] {
        &self.raw
    }
}

impl<I: Id, T> FromIterator<T> for IdVec<I, T> {
    fn from_iter<It: IntoIterator<Item = T>>(items: It) -> Self {
        Self { raw: items.into_iter().collect(), id: PhantomData }
    }
}

impl<I: Id, T> Index<I> for IdVec<I, T> {
    type Output = T;
    #[inline]
    fn index(&self, id: I) -> &T {
        &self.raw[id.index()]
    }
}

impl<I: Id, T> IndexMut<I> for IdVec<I, T> {
    #[inline]
    fn index_mut(&mut self, id: I) -> &mut T {
        &mut self.raw[id.index()]
    }
}
