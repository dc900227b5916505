//! Tables: columns of fixed length, indexed without a bounds check. A transaction is looked up some
//! twenty times during its life; a check each time took one instruction in eight
//! (docs/performance.md).

use crate::Id;
use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

/// An array with one value for each ID, indexed without a bounds check. Its creator guarantees that
/// every ID used as an index is in range.
#[derive(Clone, Debug)]
pub struct Table<I, T> {
    values: Box<[T]>,
    id: PhantomData<I>,
}

impl<I: Id, T> Table<I, T> {
    /// Creates an array of these values that IDs index without a bounds check; the first value
    /// belongs to ID 0.
    ///
    /// # Safety
    /// Every id by which this table or a clone of it is ever indexed must be below the number of
    /// values; [`Id::NONE`] never is. Builds with debug assertions check it.
    #[allow(unsafe_code, reason = "the caller vouches for the ids; see the module")]
    pub unsafe fn new(values: Vec<T>) -> Self {
        Self { values: values.into_boxed_slice(), id: PhantomData }
    }

    /// Returns the number of values in this array, which is one for each ID.
    #[inline]
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Returns true if this array, which IDs index, holds no values.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Returns all IDs that index this array, in ascending order.
    pub fn ids(&self) -> impl Iterator<Item = I> + use<I, T> {
        (0..self.values.len()).map(I::new)
    }

    /// Returns the values of all IDs as a plain slice, in the order of the IDs.
    pub fn as_slice(&self) -> &[T] {
        &self.values
    }
}

#[allow(unsafe_code, reason = "see `Table::new`")]
impl<I: Id, T> Index<I> for Table<I, T> {
    type Output = T;
    #[inline]
    fn index(&self, id: I) -> &T {
        debug_assert!(id.index() < self.values.len(), "an id beyond its table");
        // SAFETY: the creator of the table guarantees its IDs (`Table::new`), and its length never
        // changes.
        unsafe { self.values.get_unchecked(id.index()) }
    }
}

#[allow(unsafe_code, reason = "see `Table::new`")]
impl<I: Id, T> IndexMut<I> for Table<I, T> {
    #[inline]
    fn index_mut(&mut self, id: I) -> &mut T {
        debug_assert!(id.index() < self.values.len(), "an id beyond its table");
        // SAFETY: as above.
        unsafe { self.values.get_unchecked_mut(id.index()) }
    }
}

#[cfg(test)]
#[allow(unsafe_code, reason = "tables are made here")]
mod tests {
    use super::*;
    use crate::DieId;

    #[test]
    fn every_value_is_found_by_its_id() {
        // SAFETY: the ids are those of the table.
        let mut table: Table<DieId, u32> = unsafe { Table::new(vec![7, 8, 9]) };
        for id in table.ids() {
            table[id] += 1;
        }
        let copy = table.clone();
        assert_eq!(copy.ids().map(|id| copy[id]).collect::<Vec<_>>(), [8, 9, 10]);
        assert_eq!((copy.len(), copy.is_empty(), copy.as_slice()), (3, false, &[8, 9, 10][..]));
    }

    #[test]
    #[cfg(debug_assertions)]
    #[should_panic(expected = "an id beyond its table")]
    fn debug_builds_check_every_id() {
        // SAFETY: violated on purpose; the debug assertion stops the access.
        let table: Table<DieId, u32> = unsafe { Table::new(vec![7]) };
        let _ = table[DieId(1)];
    }
}
