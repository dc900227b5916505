//! The mapping from logical to physical: the mapping unit that holds each logical page, and the
//! flash reads to wait for if the entry is not in memory (docs/decisions/mapping.md).
//!
//! **Owns** both directions of the mapping, the set of entries in the controller's memory, and the
//! waiters for the others. **May touch** the flash, to read entries that are not in memory.
//! **Called for** the location of a page: the answer is a location, or a miss that names the flash
//! transaction to wait for ([`CachedMap::lookup`]). When that ends, the waiters are returned
//! ([`CachedMap::next_waiter`]) and try again.
//!
//! - `page_map.rs`: the page-level table, in both directions.
//! - `residency.rs`: the set of entries in the controller's memory: at present, all. A cached
//!   mapping (DFTL) would be added here, like `forgetful_map.rs`, a mapping for tests that evicts
//!   entries to check that every user waits when it must. There is no hook yet for writing entries
//!   back.
//!
//! Use a lookup if the caller cannot continue without the entry: host reads, writes and trims, and
//! GC moves. Code that needs no entry of the simulated drive (the frame of a buffered page, laws,
//! preconditioning) reads the table directly.

#[cfg(test)]
mod forgetful_map;
#[cfg(test)]
mod miss_tests;
pub mod page_map;
pub mod residency;

use crate::flash::Flash;
use fowler_units::{Lpn, ReqId, Span, TxnId};
use page_map::{Location, PageMap};
use residency::Residency;
use std::collections::VecDeque;
use std::ops::{Deref, DerefMut};

/// The mapping of a drive, with the set of entries in the controller's memory.
#[derive(Clone, Debug)]
pub struct CachedMap {
    table: PageMap,
    /// The set of entries in the controller's memory.
    pub residency: Residency,
    waiters: VecDeque<(TxnId, Waiter)>,
}

/// A miss: a mapping entry is not in memory. Names the flash transaction that loads the entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Miss(pub TxnId);

/// A user that waits for a mapping entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waiter {
    /// The next page of a host read needs the entry; the read is given by its request.
    Read(ReqId),
    /// The first of the waiting writes and trims needs the entry.
    Writes,
    /// The page of a GC victim that is to be moved needs the entry; given by the transaction that
    /// read the page.
    Move(TxnId),
}

impl CachedMap {
    /// Creates a mapping with every entry in memory.
    pub fn new(table: PageMap) -> Self {
        Self { table, residency: Residency::Whole, waiters: VecDeque::new() }
    }

    /// Returns the location of a logical page.
    ///
    /// # Errors
    /// The flash transaction to wait for if the page's mapping entry is not in memory: see
    /// [`CachedMap::wait`].
    #[inline(always)]
    pub fn lookup(&mut self, flash: &mut Flash, page: Lpn) -> Result<Location, Miss> {
        let location = self.table.place(page);
        match location {
            // The frame identifies its page.
            Location::Buffer(_) => Ok(location),
            Location::Flash(_) | Location::Nowhere => {
                self.residency.load(flash, page).map(|()| location)
            }
        }
    }

    /// Ensures that the entry of a page is in memory.
    ///
    /// # Errors
    /// Like [`CachedMap::lookup`].
    #[inline(always)]
    pub fn bring(&mut self, flash: &mut Flash, page: Lpn) -> Result<(), Miss> {
        if self.residency.may_miss() { self.lookup(flash, page).map(|_| ()) } else { Ok(()) }
    }

    /// Returns the time `noted` that a request waited for the mapping; zero on a drive whose
    /// mapping never misses.
    #[inline(always)]
    pub fn waited(&self, noted: Span) -> Span {
        if self.residency.may_miss() { noted } else { Span::ZERO }
    }

    /// Adds a waiter for a mapping entry, unless it is waiting already.
    pub fn wait(&mut self, miss: Miss, waiter: Waiter) {
        if !self.waiters.contains(&(miss.0, waiter)) {
            self.waiters.push_back((miss.0, waiter));
        }
    }

    /// Records that a transaction has loaded its mapping entry.
    pub fn loaded(&mut self, id: TxnId) {
        self.residency.loaded(id);
    }

    /// Removes and returns the next waiter for a transaction that loads a mapping entry, in order;
    /// `None` after the last.
    pub fn next_waiter(&mut self, id: TxnId) -> Option<Waiter> {
        let at = self.waiters.iter().position(|&(load, _)| load == id)?;
        self.waiters.remove(at).map(|(_, waiter)| waiter)
    }
}

impl Deref for CachedMap {
    type Target = PageMap;
    #[inline]
    fn deref(&self) -> &PageMap {
        &self.table
    }
}

impl DerefMut for CachedMap {
    #[inline]
    fn deref_mut(&mut self) -> &mut PageMap {
        &mut self.table
    }
}
