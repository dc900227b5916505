//! Logical to physical: which mapping unit of the flash holds each logical page, and what must be
//! waited for to find out (docs/decisions/mapping.md).
//!
//! **Owns** both directions of the mapping, which entries the controller holds, and who waits for
//! the others. **May touch** the flash, to read entries that the controller does not hold. **Is
//! asked** where a page is: the answer is a location, or a miss that names the flash transaction to
//! wait for ([`Mapping::lookup`]). When that ends, whoever waited is handed back
//! ([`Mapping::next_waiter`]) and asks again.
//!
//! - `page_map.rs`: the page-level table, both ways.
//! - `residency.rs`: which entries the controller holds: all of them today. A cached mapping (DFTL)
//!   begins here, as `forgetful.rs` does, the mapping of the tests that forgets entries to show
//!   that everyone waits who must. Writing entries back has no hook yet.
//!
//! Lookups are for whoever could not go on without the entry: host reads, writes and trims, and GC
//! moves. What is known without it (the frame of a buffered page, laws, preconditioning) reads the
//! table as it is.

#[cfg(test)]
mod forgetful;
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

/// The mapping of a drive.
#[derive(Clone, Debug)]
pub struct Mapping {
    table: PageMap,
    /// Which entries are at hand.
    pub residency: Residency,
    waiters: VecDeque<(TxnId, Waiter)>,
}

/// An entry is not at hand: the flash transaction that brings it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Miss(pub TxnId);

/// Who waits for an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waiter {
    /// The next page of a host read.
    Read(ReqId),
    /// The first of the writes and trims that wait.
    Writes,
    /// A page of a block that is being emptied; the transaction that read it.
    Move(TxnId),
}

impl Mapping {
    /// A mapping with every entry at hand.
    pub fn new(table: PageMap) -> Self {
        Self { table, residency: Residency::Whole, waiters: VecDeque::new() }
    }

    /// Where a logical page is.
    ///
    /// # Errors
    /// What must be waited for to find out: see [`Mapping::wait`].
    #[inline(always)]
    pub fn lookup(&mut self, flash: &mut Flash, page: Lpn) -> Result<Location, Miss> {
        let location = self.table.place(page);
        match location {
            // A frame knows its page.
            Location::Buffer(_) => Ok(location),
            Location::Flash(_) | Location::Nowhere => {
                self.residency.load(flash, page).map(|()| location)
            }
        }
    }

    /// Sees to it that the entry of a page is at hand.
    ///
    /// # Errors
    /// As [`Mapping::lookup`].
    #[inline(always)]
    pub fn bring(&mut self, flash: &mut Flash, page: Lpn) -> Result<(), Miss> {
        if self.residency.may_miss() { self.lookup(flash, page).map(|_| ()) } else { Ok(()) }
    }

    /// Of what was noted as a wait for the mapping, what it was.
    #[inline(always)]
    pub fn waited(&self, noted: Span) -> Span {
        if self.residency.may_miss() { noted } else { Span::ZERO }
    }

    /// Someone waits for an entry, once.
    pub fn wait(&mut self, miss: Miss, waiter: Waiter) {
        if !self.waiters.contains(&(miss.0, waiter)) {
            self.waiters.push_back((miss.0, waiter));
        }
    }

    /// The entry that a transaction was to bring is at hand.
    pub fn loaded(&mut self, id: TxnId) {
        self.residency.loaded(id);
    }

    /// The next one who waited for a transaction, in order.
    pub fn next_waiter(&mut self, id: TxnId) -> Option<Waiter> {
        let at = self.waiters.iter().position(|&(its, _)| its == id)?;
        self.waiters.remove(at).map(|(_, waiter)| waiter)
    }
}

impl Deref for Mapping {
    type Target = PageMap;
    #[inline]
    fn deref(&self) -> &PageMap {
        &self.table
    }
}

impl DerefMut for Mapping {
    #[inline]
    fn deref_mut(&mut self) -> &mut PageMap {
        &mut self.table
    }
}
