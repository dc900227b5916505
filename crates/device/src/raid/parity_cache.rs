//! The parity cache: the stripes whose parity the controller holds, because it is not in the flash
//! as it should be.
//!
//! Of such a stripe the pages written since are *covered*: the cached parity is theirs,
//! exclusive-or of all of them as they lie in the flash now. For as long as that is so, what they
//! replaced stays valid beside them, and so does the parity page in the flash, which with the
//! replaced pages and those never covered makes the stripe as it was. So any one page can be
//! brought back at any moment: a covered one from the cache, any other from the flash. (The
//! listings of the paper keep neither.)

use fowler_units::{Id, IdVec, Link, Linked, List, ParityId, StripeId, TxnId, UnitId};

/// How far the parity of a stripe is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// It takes in what is written.
    Open,
    /// What it lacks is being read.
    Reading,
    /// It waits for a page, or is being programmed.
    Writing,
}

/// The parity of one stripe.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The stripe, or none in an empty place.
    pub stripe: StripeId,
    /// How far it is.
    pub progress: Progress,
    /// The pages covered, a bit each.
    pub covered: u64,
    /// The pages on their way in company of so many that the parity is built anew: what they
    /// replace is not read.
    pub anew: u64,
    /// Whether the flash has parity of the stripe as it was before.
    pub based: bool,
    /// It goes to the flash as soon as nothing is on its way to it.
    pub expedited: bool,
    /// Two of its pages cannot be read: only what is cached and what was replaced, together, give
    /// both. It stays until one is rebuilt.
    pub frail: bool,
    /// It is computed, and waits for that in the controller.
    pub stalled: bool,
    /// What is on its way to the flash is of pages that were lost meanwhile; what was computed has
    /// been put right.
    pub stale: bool,
    /// Programs on their way that it will cover.
    pub pinned: u32,
    /// Reads on their way that it needs.
    pub reads: u32,
    /// The parity of the covered pages, as versions.
    pub value: u64,
    /// What has been read for that of all pages since the last turn, and the turn that reads are
    /// for from now on: one that was asked for before an equation was given up counts for nothing.
    /// Zero is what reads for `value` are.
    pub seen: u64,
    pub turn: u32,
    /// The parity of all pages, once it is being read for; and whether by the rest of the stripe
    /// (equation (2)), or by what was replaced.
    pub whole: u64,
    pub by_rest: bool,
    /// What is cached is being read anew, all of it: until that is done it brings back nothing.
    pub blank: bool,
    /// It has to be computed once more: a page of the stripe was lost meanwhile.
    pub again: bool,
    /// Programs that have ended and are not answered until it has got further, chained by `next`.
    pub awaiting: TxnId,
    /// Programs that wait for the next one of this stripe, in order, chained by `next`.
    pub first_waiting: TxnId,
    pub last_waiting: TxnId,
    /// Whether it is among those that could be evicted.
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

const EMPTY: Entry = Entry {
    stripe: StripeId::NONE,
    progress: Progress::Open,
    covered: 0,
    anew: 0,
    based: false,
    expedited: false,
    pinned: 0,
    reads: 0,
    value: 0,
    seen: 0,
    turn: 0,
    whole: 0,
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

/// The places.
#[derive(Clone, Debug)]
pub struct ParityCache {
    entries: IdVec<ParityId, Entry>,
    /// What covered pages replaced, so many for each place; nothing of pages that are not covered.
    replaced: Vec<UnitId>,
    width: u32,
    /// The place of each stripe, or none.
    places: IdVec<StripeId, ParityId>,
    free: Vec<ParityId>,
    /// Open ones, from the one used longest ago to the one used last.
    open: List<ParityId>,
    /// Those being read for or written.
    flushing: u32,
    /// The most in use at once.
    most: u32,
    /// Turns so far.
    turns: u32,
}

impl ParityCache {
    /// So many places, for `stripes` stripes of `width` pages.
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

    /// The place of a stripe, if it has one.
    #[inline]
    pub fn find(&self, stripe: StripeId) -> Option<ParityId> {
        let place = self.places[stripe];
        place.is_some().then_some(place)
    }

    /// Places that are free.
    #[inline]
    pub fn free_count(&self) -> u32 {
        self.free.len() as u32
    }

    /// Places in use, and the most there were.
    pub fn used(&self) -> (u32, u32) {
        (self.entries.len() as u32 - self.free_count(), self.most)
    }

    /// Those on their way to the flash.
    #[inline]
    pub fn flushing(&self) -> u32 {
        self.flushing
    }

    /// A place.
    #[inline]
    pub fn get(&self, id: ParityId) -> &Entry {
        &self.entries[id]
    }

    /// A place, to change it.
    #[inline]
    pub fn get_mut(&mut self, id: ParityId) -> &mut Entry {
        &mut self.entries[id]
    }

    /// Every place in use.
    pub fn iter(&self) -> impl Iterator<Item = (ParityId, &Entry)> {
        self.entries.ids().map(|id| (id, &self.entries[id])).filter(|(_, it)| it.stripe.is_some())
    }

    /// Takes a place for a stripe that has none.
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

    /// Gives a place back.
    pub fn close(&mut self, id: ParityId) {
        self.delist(id);
        let entry = &mut self.entries[id];
        debug_assert!(entry.pinned == 0 && entry.reads == 0 && !entry.awaiting.is_some());
        if entry.progress != Progress::Open {
            self.flushing -= 1;
        }
        self.places[entry.stripe] = ParityId::NONE;
        entry.stripe = StripeId::NONE;
        self.free.push(id);
    }

    /// It takes in nothing more.
    pub fn flush(&mut self, id: ParityId) {
        debug_assert_eq!(self.entries[id].progress, Progress::Open);
        self.delist(id);
        self.entries[id].progress = Progress::Reading;
        self.begin_turn(id);
        self.flushing += 1;
    }

    /// From now on what is read for the parity of all pages counts.
    pub fn begin_turn(&mut self, id: ParityId) {
        self.turns = self.turns.wrapping_add(1).max(1);
        (self.entries[id].seen, self.entries[id].turn) = (0, self.turns);
    }

    /// Everything in the cache goes to the flash as soon as nothing is on its way to it.
    pub fn hurry(&mut self) {
        for id in self.entries.ids() {
            self.entries[id].expedited = true;
        }
    }

    /// What was computed is of no use: it takes in again what is written.
    pub fn reopen(&mut self, id: ParityId) {
        debug_assert_eq!(self.entries[id].progress, Progress::Writing);
        self.entries[id].progress = Progress::Open;
        self.entries[id].expedited = true;
        let entry = &mut self.entries[id];
        (entry.again, entry.stalled, entry.stale, entry.turn) = (false, false, false, 0);
        self.flushing -= 1;
        self.enlist(id);
    }

    /// What a covered page replaced.
    #[inline]
    pub fn replaced(&self, id: ParityId, position: u32) -> UnitId {
        self.replaced[id.index() * self.width as usize + position as usize]
    }

    /// What the covered pages of a stripe replaced, by position.
    pub fn all_replaced(&self, id: ParityId) -> &[UnitId] {
        &self.replaced[id.index() * self.width as usize..][..self.width as usize]
    }

    /// The same, to change it.
    pub fn replaced_mut(&mut self, id: ParityId) -> &mut [UnitId] {
        &mut self.replaced[id.index() * self.width as usize..][..self.width as usize]
    }

    /// How many of its covered pages have replaced one that is kept.
    pub fn replaced_count(&self, id: ParityId) -> u32 {
        let all = self.all_replaced(id);
        positions(self.entries[id].covered).filter(|&at| all[at as usize].is_some()).count() as u32
    }

    /// A program waits until the stripe has a new place.
    pub fn wait(&mut self, id: ParityId, last: TxnId) -> TxnId {
        let entry = &mut self.entries[id];
        let before = std::mem::replace(&mut entry.last_waiting, last);
        if !entry.first_waiting.is_some() {
            entry.first_waiting = last;
        }
        before
    }

    /// The stripe was written: its place moves to the young end.
    pub fn touch(&mut self, id: ParityId) {
        if self.entries[id].listed && self.open.back() != Some(id) {
            self.delist(id);
            self.enlist(id);
        }
    }

    /// The place whose stripe has waited longest for a write, of those that nothing is on its way
    /// to.
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

/// The positions of which the bit is set, ascending.
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

/// The bit of a position.
#[inline]
pub fn bit(position: u32) -> u64 {
    1 << position
}
