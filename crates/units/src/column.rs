//! Columns: one value per ID, indexed by the ID. The mapping of a drive is two columns of a hundred
//! megabytes or more that are accessed at random, so their memory layout determines the cost of a
//! request (`docs/performance.md`).

use crate::Id;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut, Index, IndexMut};

/// Smallest size in bytes of an array that is placed on large pages of memory: two of them, of 2
/// MiB each.
const LARGE: usize = 4 << 20;

/// Returns an empty vector with room for `count` values. On Linux, a large one is backed with 2 MiB
/// pages: accessing a random entry then misses the cache but not the TLB.
fn on_large_pages<T>(count: usize) -> Vec<T> {
    let values = Vec::with_capacity(count);
    #[cfg(target_os = "linux")]
    if count * size_of::<T>() >= LARGE {
        advise_large_pages(&values);
    }
    values
}

#[cfg(target_os = "linux")]
#[allow(unsafe_code, reason = "there is no safe way to ask the system for large pages")]
fn advise_large_pages<T>(values: &Vec<T>) {
    const PAGE: usize = 2 << 20;
    let start = values.as_ptr().addr().next_multiple_of(PAGE);
    let end = (values.as_ptr().addr() + values.capacity() * size_of::<T>()) / PAGE * PAGE;
    if start < end {
        let first = values.as_ptr().cast_mut().with_addr(start).cast();
        // SAFETY: the range lies within the vector's own memory, and the advice changes neither its
        // contents nor its address. If the kernel ignores the advice, only time is lost.
        unsafe { libc::madvise(first, end - start, libc::MADV_HUGEPAGE) };
    }
}

/// Prefetches `values[index]` into the cache, where the processor supports it. An index beyond the
/// slice is ignored without a branch, which would often be mispredicted.
#[inline]
#[allow(unsafe_code, reason = "there is no safe way to ask the processor")]
pub fn prefetch<T>(values: &[T], index: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let index = std::hint::select_unpredictable(index < values.len(), index, 0);
        let value = values.as_ptr().wrapping_add(index);
        // SAFETY: a prefetch of any address neither faults nor changes anything.
        unsafe { _mm_prefetch(value.cast(), _MM_HINT_T0) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (values, index);
}

/// A contiguous array of values; a large one is allocated on large pages.
#[derive(Debug)]
pub struct Column<T>(Vec<T>);

impl<T: Clone> Column<T> {
    /// Returns an array of `count` copies of `value`; a large one is placed on large pages of
    /// memory.
    pub fn filled(value: T, count: usize) -> Self {
        let mut values = on_large_pages(count);
        values.resize(count, value);
        Self(values)
    }
}

impl<T> Column<T> {
    /// Returns the value at an index of the array. Cheaper than indexing: the panic for an index
    /// out of range does not print the array's length, which would occupy a register at every
    /// access.
    #[inline]
    pub fn entry(&self, index: usize) -> &T {
        match self.0.get(index) {
            Some(value) => value,
            None => no_entry(index),
        }
    }

    /// Returns the value at an index of the array for modification, with the same cheap bounds
    /// check as [`Column::entry`].
    #[inline]
    pub fn entry_mut(&mut self, index: usize) -> &mut T {
        match self.0.get_mut(index) {
            Some(value) => value,
            None => no_entry(index),
        }
    }
}

#[cold]
#[inline(never)]
fn no_entry(index: usize) -> ! {
    panic!("a column has no entry {index}")
}

impl<T: Clone> Clone for Column<T> {
    fn clone(&self) -> Self {
        let mut values = on_large_pages(self.0.len());
        values.extend_from_slice(&self.0);
        Self(values)
    }
}

impl<T: Serialize> Serialize for Column<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de, T: Deserialize<'de> + Clone> Deserialize<'de> for Column<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let read = Vec::deserialize(deserializer)?;
        let mut values = on_large_pages(read.len());
        values.extend(read);
        Ok(Self(values))
    }
}

impl<T> Deref for Column<T> {
    type Target = [T];
    #[inline]
    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T> DerefMut for Column<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.0
    }
}

/// An array with one value for each item of a kind (such as a page or a block), which only the ID
/// type of that kind can index.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound(serialize = "T: Serialize", deserialize = "T: Deserialize<'de> + Clone"))]
pub struct IdVec<I, T> {
    raw: Column<T>,
    id: PhantomData<I>,
}

impl<I: Id, T: Clone> IdVec<I, T> {
    /// Returns an array with `count` copies of `value`, for the items with the IDs from 0 to
    /// `count` - 1.
    pub fn filled(value: T, count: usize) -> Self {
        Self { raw: Column::filled(value, count), id: PhantomData }
    }
}

impl<I: Id, T> IdVec<I, T> {
    /// Returns the number of values in this array, which is the number of IDs that index it.
    pub fn len(&self) -> usize {
        self.raw.len()
    }

    /// Returns true if this array, which IDs index, holds no values.
    pub fn is_empty(&self) -> bool {
        self.raw.is_empty()
    }

    /// Returns all IDs that index this array, in ascending order.
    pub fn ids(&self) -> impl Iterator<Item = I> + use<I, T> {
        (0..self.raw.len()).map(I::new)
    }

    /// Returns the value that this array holds for the item `id`; `None` if the ID is out of range.
    #[inline]
    pub fn get(&self, id: I) -> Option<&T> {
        self.raw.get(id.index())
    }

    /// Loads the value of the item `id` into the processor's cache, for an access some hundred
    /// nanoseconds from now. Changes nothing else; an ID out of range is ignored.
    #[inline]
    pub fn prefetch(&self, id: I) {
        prefetch(&self.raw, id.index());
    }

    /// Returns the values of all items as a plain slice, in the order of their IDs.
    pub fn as_slice(&self) -> &[T] {
        &self.raw
    }

    /// Returns the values of all items as a plain slice for modification, in the order of their
    /// IDs.
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        &mut self.raw
    }
}

impl<I: Id, T> FromIterator<T> for IdVec<I, T> {
    fn from_iter<It: IntoIterator<Item = T>>(items: It) -> Self {
        Self { raw: Column(items.into_iter().collect()), id: PhantomData }
    }
}

impl<I: Id, T> Index<I> for IdVec<I, T> {
    type Output = T;
    #[inline]
    fn index(&self, id: I) -> &T {
        self.raw.entry(id.index())
    }
}

impl<I: Id, T> IndexMut<I> for IdVec<I, T> {
    #[inline]
    fn index_mut(&mut self, id: I) -> &mut T {
        self.raw.entry_mut(id.index())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A large column holds its values on large pages, and for every index that is prefetched.
    #[test]
    #[cfg_attr(miri, ignore = "Miri cannot ask the system for large pages")]
    fn a_large_column_holds_its_values() {
        let count = LARGE / size_of::<u64>() + 3;
        let mut column = Column::filled(7_u64, count);
        *column.entry_mut(count - 1) = 8;
        let copy = column.clone();
        assert_eq!((copy.len(), *copy.entry(0), *copy.entry(count - 1)), (count, 7, 8));
        for index in [0, count - 1, count, usize::MAX] {
            prefetch(&copy, index);
        }
        prefetch::<u64>(&[], 0);
    }

    #[test]
    #[should_panic(expected = "a column has no entry 3")]
    fn an_entry_beyond_a_column_is_not_read() {
        Column::filled(0_u8, 3).entry(3);
    }
}
