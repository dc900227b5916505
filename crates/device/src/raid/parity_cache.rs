//! The parity cache: the stripes whose parity the controller holds because the parity in the flash
//! is not up to date.
//!
//! The pages of such a stripe written since are *covered*: the cached parity is the exclusive-or of
//! all covered pages as they are in the flash now. Meanwhile the pages that they replaced remain
//! valid, and so does the parity page in the flash; together with the pages never covered, these
//! form the earlier state of the stripe. Any single page can therefore be recovered at any time: a
//! covered one from the cache, any other from the flash. (The listings of the paper retain neither
//! the replaced pages nor the parity page.)
//!
//! Invariants: a stripe has at most one entry, and `places` finds it; an entry is free, or in the
//! list of open entries, or being flushed; a free entry retains no page; an entry is freed when
//! nothing is in flight for it and no completion waits.

use super::tag::Tag;
use fowler_units::{Bytes, Id, IdVec, Link, Linked, List, ParityId, StripeId, TxnId, UnitId};

/// The state of an entry in the parity cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// The parity cache entry covers further writes to its stripe.
    Open,
    /// The pages that the parity needs are being read; the parity cache entry covers no more
    /// writes.
    Reading,
    /// The parity of the parity cache entry waits for a flash page, or is being programmed.
    Writing,
}

/// An entry of the parity cache: the cached parity of one stripe.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Stripe whose parity the parity cache entry holds; none in an unused entry.
    pub stripe: StripeId,
    /// State of the parity cache entry: open, being read for, or being written.
    pub progress: Progress,
    /// Data pages that the cached parity covers, one bit each.
    pub covered: u64,
    /// Data pages of the stripe (one bit each) that the cached parity does not cover yet, and that
    /// leave the write buffer together in such numbers that the parity is computed from the new
    /// pages alone: the old copies that they replace are not read.
    pub anew: u64,
    /// Pages (one bit each) taken out of the cached parity when it was rebuilt, as the printed
    /// Algorithm 2 of DA-RAID-5 (a RAID-5 inside the drive) does: no parity covers them until the
    /// next parity flush, and the old copies that they replaced are retained.
    pub uncovered: u64,
    /// Pages (one bit each) whose old copy is read before they are programmed. The bit of the
    /// parity page stands for the earlier parity.
    pub early_asked: u64,
    /// Pages (one bit each) whose old copy has been read already, before the program that replaces
    /// the page.
    pub early: u64,
    /// Number of early reads in flight for the parity cache entry: reads of a page that a program
    /// is about to replace, made before that program. `reads` includes them.
    pub early_reads: u32,
    /// True if the flash has parity for the earlier state of the stripe.
    pub based: bool,
    /// True if the parity cache entry is flushed as soon as no reads or programs for it are in
    /// flight.
    pub expedited: bool,
    /// True if two pages of the stripe are unreadable, so that only the cached parity and the
    /// replaced pages together can recover both. The entry is not flushed until one is rebuilt.
    pub frail: bool,
    /// True if a flush has computed the parity but keeps it in the controller, because two pages of
    /// the stripe are unreadable and recovering both needs the cached parity and its inputs.
    pub stalled: bool,
    /// True if the parity being written includes pages lost meanwhile; the computed value has been
    /// corrected.
    pub stale: bool,
    /// Number of programs in flight that the parity cache entry will cover.
    pub pinned: u32,
    /// Number of flash reads in flight for the parity cache entry.
    pub reads: u32,
    /// Cached parity of the stripe: the exclusive-or of the versions and silent errors of the data
    /// pages that this entry covers.
    pub value: Tag,
    /// Exclusive-or of the versions of the pages read so far in the current pass of reads for the
    /// parity of all data pages.
    pub seen: Tag,
    /// Number of the current pass of reads for the parity of all data pages of the stripe; zero for
    /// reads that only update the cached parity. If a page fails, a new pass begins, and reads of
    /// the earlier one do not count.
    pub turn: u32,
    /// Parity of all data pages of the stripe, which a flush programs to the flash; computed when
    /// the reads of the pages that it needs have been submitted.
    pub whole: Tag,
    /// True if a flush computes the parity of all data pages from the cached parity and the pages
    /// that it does not cover (equation (2) of DA-RAID-5, a RAID-5 inside the drive); false if from
    /// the cached parity, the replaced pages and the old parity (equation (1)).
    pub by_rest: bool,
    /// True while the cached parity is being reread in full; until then it recovers no page.
    pub blank: bool,
    /// True if the parity must be computed again, because a page of the stripe was lost meanwhile.
    pub again: bool,
    /// Programs that have ended and whose completions wait for the parity of this cache entry,
    /// chained by `next`.
    pub awaiting: TxnId,
    /// Programs that wait for the next parity cache entry of this stripe, in order, chained by
    /// `next`.
    pub first_waiting: TxnId,
    pub last_waiting: TxnId,
    /// True if the parity cache entry is in the list of open entries.
    listed: bool,
    link: Link<ParityId>,
}

impl Linked<ParityId> for Entry {
    fn link(&self) -> &Link<ParityId> {
        &self.link
    }
    fn link_mut(&mut self) -> &mut Link<ParityId> {
        &mut self.link
    }
}

pub(super) const EMPTY: Entry = Entry {
    stripe: StripeId::NONE,
    progress: Progress::Open,
    covered: 0,
    anew: 0,
    uncovered: 0,
    early_asked: 0,
    early: 0,
    early_reads: 0,
    based: false,
    expedited: false,
    pinned: 0,
    reads: 0,
    value: Tag::ZERO,
    seen: Tag::ZERO,
    turn: 0,
    whole: Tag::ZERO,
    by_rest: true,
    blank: false,
    again: false,
    frail: false,
    stalled: false,
    stale: false,
    awaiting: TxnId::NONE,
    first_waiting: TxnId::NONE,
    last_waiting: TxnId::NONE,
    listed: false,
    link: Link::NONE,
};

/// The parity cache: its entries, and the pages that they retain.
#[derive(Clone, Debug)]
pub struct ParityCache {
    entries: IdVec<ParityId, Entry>,
    /// Old copies retained in the flash, `width` per parity cache entry: the page that each page
    /// covered by the entry's parity replaced; null for positions that the parity does not cover.
    replaced: Vec<UnitId>,
    width: u32,
    /// Parity cache entry of each stripe; `NONE` without one.
    places: IdVec<StripeId, ParityId>,
    free: Vec<ParityId>,
    /// Parity cache entries that are open, from least to most recently used.
    open: List<ParityId>,
    /// Number of parity cache entries being flushed: their pages are read, or their parity is
    /// written.
    flushing: u32,
    /// Largest number of parity cache entries in use so far.
    most: u32,
    /// Number of the latest pass of reads for the parity of a stripe, over all parity cache
    /// entries.
    turns: u32,
}

impl ParityCache {
    /// Creates a parity cache of `places` entries, for `stripes` stripes of `width` pages.
    pub fn new(places: u32, stripes: u32, width: u32) -> Self {
        Self {
            entries: IdVec::filled(EMPTY, places as usize),
            replaced: vec![UnitId::NONE; (places * width) as usize],
            width,
            places: IdVec::filled(ParityId::NONE, stripes as usize),
            free: (0..places as usize).rev().map(ParityId::new).collect(),
            open: List::EMPTY,
            flushing: 0,
            most: 0,
            turns: 0,
        }
    }

    /// Returns the memory that a parity cache of `places` entries takes on the simulating machine.
    pub fn bytes(places: u32, stripes: u32, width: u32) -> Bytes {
        let entries = u64::from(places);
        Bytes::of::<Entry>(entries)
            + Bytes::of::<ParityId>(entries)
            + Bytes::of::<UnitId>(entries * u64::from(width))
            + Bytes::of::<ParityId>(stripes.into())
    }

    /// Returns the parity cache entry of a stripe; `None` without one.
    #[inline]
    pub fn find(&self, stripe: StripeId) -> Option<ParityId> {
        let place = self.places[stripe];
        place.is_some().then_some(place)
    }

    /// Returns the number of free entries of the parity cache.
    #[inline]
    pub fn free_count(&self) -> u32 {
        self.free.len() as u32
    }

    /// Returns the present and the maximum number of parity cache entries in use.
    pub fn used(&self) -> (u32, u32) {
        (self.entries.len() as u32 - self.free_count(), self.most)
    }

    /// Returns the number of parity cache entries being flushed.
    #[inline]
    pub fn flushing(&self) -> u32 {
        self.flushing
    }

    /// Returns the parity cache entry with the number `id`.
    #[inline]
    pub fn get(&self, id: ParityId) -> &Entry {
        &self.entries[id]
    }

    /// Returns the parity cache entry with the number `id`, for modification.
    #[inline]
    pub fn get_mut(&mut self, id: ParityId) -> &mut Entry {
        &mut self.entries[id]
    }

    /// Iterates over the parity cache entries in use.
    pub fn iter(&self) -> impl Iterator<Item = (ParityId, &Entry)> {
        self.entries.ids().map(|id| (id, &self.entries[id])).filter(|(_, it)| it.stripe.is_some())
    }

    /// Allocates a parity cache entry for a stripe that has none; `None` if no entry is free.
    pub fn open(&mut self, stripe: StripeId, based: bool) -> Option<ParityId> {
        debug_assert!(!self.places[stripe].is_some());
        let id = self.free.pop()?;
        self.entries[id] = Entry { stripe, based, ..EMPTY };
        debug_assert!(self.all_replaced(id).iter().all(|unit| !unit.is_some()));
        self.places[stripe] = id;
        self.most = self.most.max(self.entries.len() as u32 - self.free_count());
        self.enlist(id);
        Some(id)
    }

    /// Frees an entry of the parity cache.
    pub fn close(&mut self, id: ParityId) {
        self.delist(id);
        let entry = &mut self.entries[id];
        debug_assert!(entry.pinned == 0 && entry.reads == 0 && !entry.awaiting.is_some());
        if entry.progress != Progress::Open {
            self.flushing -= 1;
        }
        debug_assert_eq!(self.places[entry.stripe], id, "another entry of the stripe");
        self.places[entry.stripe] = ParityId::NONE;
        entry.stripe = StripeId::NONE;
        self.free.push(id);
    }

    /// Begins to flush an entry of the parity cache, which covers no more writes.
    pub fn flush(&mut self, id: ParityId) {
        debug_assert_eq!(self.entries[id].progress, Progress::Open);
        self.delist(id);
        self.entries[id].progress = Progress::Reading;
        self.begin_turn(id);
        self.flushing += 1;
    }

    /// Begins a new pass of reads for the parity of all data pages of the stripe of a parity cache
    /// entry. Reads of earlier passes no longer count.
    pub fn begin_turn(&mut self, id: ParityId) {
        debug_assert!(self.entries[id].stripe.is_some(), "a free entry is flushed");
        self.turns = self.turns.wrapping_add(1).max(1);
        (self.entries[id].seen, self.entries[id].turn) = (Tag::ZERO, self.turns);
    }

    /// Marks all entries of the parity cache to be flushed as soon as no reads or programs for them
    /// are in flight.
    pub fn expedite_all(&mut self) {
        for id in self.entries.ids() {
            self.entries[id].expedited = true;
        }
    }

    /// Discards the parity that a flush has computed for a parity cache entry. The entry is open
    /// again: its parity covers further writes to the stripe.
    pub fn reopen(&mut self, id: ParityId) {
        debug_assert_eq!(self.entries[id].progress, Progress::Writing);
        self.entries[id].progress = Progress::Open;
        self.entries[id].expedited = true;
        let entry = &mut self.entries[id];
        (entry.again, entry.stalled, entry.stale, entry.turn) = (false, false, false, 0);
        self.flushing -= 1;
        self.enlist(id);
    }

    /// Returns the old copy, retained in the flash, of the page at a position of the stripe, which
    /// the cached parity covers; null if there is none.
    #[inline]
    pub fn replaced(&self, id: ParityId, position: u32) -> UnitId {
        self.replaced[id.index() * self.width as usize + position as usize]
    }

    /// Returns the old copies retained in the flash for a stripe with a cached parity, by position;
    /// null where that parity does not cover the page.
    pub fn all_replaced(&self, id: ParityId) -> &[UnitId] {
        &self.replaced[id.index() * self.width as usize..][..self.width as usize]
    }

    /// Returns, for modification, the old copies of the pages of a stripe, by position: the copy
    /// that a covered page replaced is retained until the parity of the stripe is flushed.
    pub fn replaced_mut(&mut self, id: ParityId) -> &mut [UnitId] {
        &mut self.replaced[id.index() * self.width as usize..][..self.width as usize]
    }

    /// Returns the number of pages covered by the parity of a parity cache entry whose retained old
    /// copy has not been read yet, so that a parity flush must read it.
    pub fn unread_count(&self, id: ParityId) -> u32 {
        let (all, entry) = (self.all_replaced(id), &self.entries[id]);
        let unread = positions(entry.covered & !entry.early);
        unread.filter(|&at| all[at as usize].is_some()).count() as u32
    }

    /// Queues a program until the parity of its stripe has been flushed and the stripe can get a
    /// new parity cache entry. Returns the program queued before; null if there is none.
    pub fn wait(&mut self, id: ParityId, last: TxnId) -> TxnId {
        let entry = &mut self.entries[id];
        let before = std::mem::replace(&mut entry.last_waiting, last);
        if !entry.first_waiting.is_some() {
            entry.first_waiting = last;
        }
        before
    }

    /// Moves a parity cache entry whose stripe has been written to the most recently used end of
    /// the list of open entries.
    pub fn touch(&mut self, id: ParityId) {
        if self.entries[id].listed && self.open.back() != Some(id) {
            self.delist(id);
            self.enlist(id);
        }
    }

    /// Returns the least recently written parity cache entry that can be flushed to free its place
    /// in the cache: no reads or programs for it are in flight, and its stripe does not have two
    /// unreadable pages.
    pub fn evictable(&self) -> Option<ParityId> {
        self.open.iter(&self.entries).find(|&id| {
            let entry = &self.entries[id];
            entry.pinned == 0 && entry.reads == 0 && !entry.frail
        })
    }

    fn enlist(&mut self, id: ParityId) {
        self.entries[id].listed = true;
        self.open.push_back(&mut self.entries, id);
    }

    fn delist(&mut self, id: ParityId) {
        if std::mem::take(&mut self.entries[id].listed) {
            self.open.remove(&mut self.entries, id);
        }
    }
}

/// Iterates over the positions of the set bits of `bits`, ascending.
#[inline]
pub fn positions(mut bits: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let position = bits.trailing_zeros();
        (bits != 0).then(|| {
            bits &= bits - 1;
            position
        })
    })
}

/// Returns a word in which only the bit at a position of a stripe is set.
#[inline]
pub fn bit(position: u32) -> u64 {
    1 << position
}
