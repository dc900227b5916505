//! The queue of a die: a list per class in order of submission, so that a policy sees the head of
//! each without a search; and, for die orders that rank, the same transactions by rank.
//!
//! Invariants: a transaction is in the list of its class exactly while it waits. In a ranked queue,
//! either one or two transactions are kept aside, unsorted, or all are in the heaps.

use crate::flash::indexed_heap::{IndexedHeap, Rank};
use crate::flash::txn::{By, Owner, Txn, Txns};
use crate::observe::operation::Source;
use fowler_units::{DieId, Id, Lpn, Nanos, Span, TxnId};

/// Class of a waiting transaction: read, program or erase, of the host or of background work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum TxnClass {
    /// Page reads that a host request waits for.
    HostRead,
    /// Reads that no host request waits for: garbage collection, wear leveling, read-modify-write.
    BackgroundRead,
    /// Programs of host data.
    HostProgram,
    /// Programs of data moved by garbage collection and of all other background work.
    BackgroundProgram,
    /// Erases of blocks.
    Erase,
}

impl TxnClass {
    /// Number of transaction classes.
    pub const COUNT: usize = 5;
    /// All transaction classes, in the order of their numbers.
    pub const ALL: [TxnClass; TxnClass::COUNT] = [
        TxnClass::HostRead,
        TxnClass::BackgroundRead,
        TxnClass::HostProgram,
        TxnClass::BackgroundProgram,
        TxnClass::Erase,
    ];
}

/// List of the waiting transactions of one class, chained by [`Txn::next`]. Almost all leave from
/// the head, so neither the `prev` of the head nor the tail of an empty line is maintained. A
/// [`fowler_units::List`], which does both, costs 0.6 % more instructions for a random write and 1
/// % for a sequential one.
#[derive(Clone, Copy, Debug)]
struct Line {
    /// Submission number of the transaction at the head of this list. Meaningless, like `tail`,
    /// while the list is empty and has no `head`.
    order: u64,
    head: TxnId,
    tail: TxnId,
}

/// For every set of transaction classes (one bit each), the number of its only member; 255 if the
/// set has none or several.
const ONLY: [u8; 1 << TxnClass::COUNT] = {
    let mut only = [u8::MAX; 1 << TxnClass::COUNT];
    let mut class = 0;
    while class < TxnClass::COUNT {
        only[1 << class] = class as u8;
        class += 1;
    }
    only
};

/// The transactions that wait for one die.
#[derive(Clone, Debug)]
pub struct DieQueue {
    lines: [Line; TxnClass::COUNT],
    /// Classes with waiting transactions, one bit each.
    waiting: u8,
}

impl Default for DieQueue {
    fn default() -> Self {
        let empty = Line { order: u64::MAX, head: TxnId::NONE, tail: TxnId::NONE };
        Self { lines: [empty; TxnClass::COUNT], waiting: 0 }
    }
}

impl DieQueue {
    /// Appends a transaction to the die's list of waiting transactions of its class: read, program
    /// or erase, of the host or of background work.
    #[inline]
    pub fn push(&mut self, id: TxnId, txns: &mut Txns) {
        let txn = txns.get_mut(id);
        txn.next = TxnId::NONE;
        let (class, order) = (txn.class, txn.order);
        let line = &mut self.lines[class as usize];
        debug_assert!(!line.head.is_some() || line.tail != id, "a transaction waits twice");
        let tail = std::mem::replace(&mut line.tail, id);
        txn.prev = tail;
        if line.head.is_some() {
            txns.get_mut(tail).next = id;
        } else {
            line.head = id;
            line.order = order;
            self.waiting |= 1 << class as u8;
        }
    }

    /// Removes a transaction from the die's list of waiting transactions of its class: read,
    /// program or erase, of the host or of background work.
    #[inline]
    pub fn remove(&mut self, id: TxnId, txns: &mut Txns) {
        let Txn { class, next, .. } = *txns.get(id);
        let line = &mut self.lines[class as usize];
        if line.head != id {
            return self.remove_inside(id, txns);
        }
        line.head = next;
        if next.is_some() {
            line.order = txns.get(next).order;
        } else {
            self.waiting &= !(1 << class as u8);
        }
    }

    /// Removes from the queue a waiting transaction that is not the first of its class: one that a
    /// die order by rank has chosen, or a read that must precede the erase of its block.
    #[cold]
    fn remove_inside(&mut self, id: TxnId, txns: &mut Txns) {
        let Txn { class, prev, next, .. } = *txns.get(id);
        txns.get_mut(prev).next = next;
        if next.is_some() {
            txns.get_mut(next).prev = prev;
        } else {
            self.lines[class as usize].tail = prev;
        }
    }

    /// Returns the waiting transaction of a class that was submitted first; `None` without one.
    #[inline]
    pub fn head(&self, class: TxnClass) -> Option<TxnId> {
        let head = self.lines[class as usize].head;
        head.is_some().then_some(head)
    }

    /// Returns true if no transaction waits for the die.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.waiting == 0
    }

    /// Returns the classes of transactions (read, program or erase, of the host or of background
    /// work) of which any waits for the die.
    pub fn classes(&self) -> impl Iterator<Item = TxnClass> + use<> {
        let mut left = self.waiting;
        std::iter::from_fn(move || {
            let class = *TxnClass::ALL.get(left.trailing_zeros() as usize)?;
            left &= left - 1;
            Some(class)
        })
    }

    /// Returns the first transaction of the only class with waiting transactions; `None` for no
    /// class or several.
    #[inline]
    pub fn only_head(&self) -> Option<TxnId> {
        let class = usize::from(ONLY[usize::from(self.waiting) % ONLY.len()]);
        self.lines.get(class).map(|line| line.head)
    }

    /// Returns the last transaction of a class, in order of submission.
    pub fn last(&self, class: TxnClass) -> Option<TxnId> {
        let line = &self.lines[class as usize];
        line.head.is_some().then_some(line.tail)
    }

    /// Returns the transaction that was submitted just before the waiting transaction `id` of the
    /// same class (read, program or erase, of the host or of background work); `None` if `id` is
    /// the first.
    pub fn before(&self, id: TxnId, class: TxnClass, txns: &Txns) -> Option<TxnId> {
        (self.lines[class as usize].head != id).then(|| txns.get(id).prev)
    }

    /// Returns all transactions of a class, in order.
    pub fn iter<'a>(&self, class: TxnClass, txns: &'a Txns) -> impl Iterator<Item = TxnId> + 'a {
        std::iter::successors(self.head(class), |&id| {
            let next = txns.get(id).next;
            next.is_some().then_some(next)
        })
    }
}

/// Transaction classes that no host request waits for, one bit each.
const BACKGROUND: u8 = 1 << TxnClass::BackgroundRead as u8
    | 1 << TxnClass::BackgroundProgram as u8
    | 1 << TxnClass::Erase as u8;

/// Returns true if a host request waits for a transaction, or for data that is programmed after it.
/// A block is programmed in order, and the pages of a superblock, parity included, have their
/// places before they wait for a die.
fn is_awaited(txn: &Txn) -> bool {
    let served = matches!(txn.class, TxnClass::HostRead | TxnClass::HostProgram);
    let of_host = txn.source == Source::Host || txn.has_place();
    (served || matches!(txn.owner, Owner::Merge(_))) && of_host
}

/// The transactions that wait for one die, with host reads and host programs by rank, for a die
/// order that considers more than the time of submission.
///
/// Usually one or two wait, which needs no heaps: transactions enter the heaps when a third comes.
#[derive(Clone, Debug)]
pub struct RankedQueue {
    /// Deadline of requests without one of their own, as a time after arrival.
    deadline: Span,
    /// Number of waiting transactions, of all classes.
    count: u32,
    /// Waiting transactions in order of submission, while none is in the heaps.
    aside: [Aside; 2],
    /// True if, while exactly two transactions wait (in `aside`, outside the heaps), the one
    /// submitted later is served first by rank: key, then order of submission. Used only if both
    /// are of one class.
    overtakes: bool,
    reads: IndexedHeap,
    programs: IndexedHeap,
    /// All transactions that a host request waits for, by due time: those in `reads` and
    /// `programs`, and the reads of old pages for partial writes.
    waiting: IndexedHeap,
}

/// One of at most two transactions that wait in a ranked queue outside its heaps, while the heaps
/// are empty.
#[derive(Clone, Copy, Debug)]
struct Aside {
    id: TxnId,
    class: TxnClass,
    /// Key by which a host read is ranked in the queue of its die: smaller for younger data. Reads
    /// with smaller keys are served first.
    age_key: u32,
}

impl Default for Aside {
    fn default() -> Self {
        Self { id: TxnId::NONE, class: TxnClass::HostRead, age_key: 0 }
    }
}

impl Aside {
    fn is_of(&self, class: TxnClass) -> bool {
        self.id.is_some() && self.class == class
    }

    fn is_awaited(&self, txns: &Txns) -> bool {
        self.id.is_some() && is_awaited(txns.get(self.id))
    }
}

/// Returns the rank of a host transaction in its class.
fn rank(txn: &Txn, age_key: u32) -> Rank {
    let key = if txn.class == TxnClass::HostRead { age_key } else { u32::from(txn.group) };
    Rank { key: key.into(), order: txn.order }
}

impl RankedQueue {
    /// Creates an empty ranked queue. Requests without a deadline of their own are due `deadline`
    /// after their arrival.
    pub fn new(deadline: Span) -> RankedQueue {
        RankedQueue {
            deadline,
            count: 0,
            aside: Default::default(),
            overtakes: false,
            reads: IndexedHeap::default(),
            programs: IndexedHeap::default(),
            waiting: IndexedHeap::default(),
        }
    }

    /// Returns the time at which a transaction is due: the earliest deadline of the requests that
    /// wait for it.
    fn due(&self, id: TxnId, txns: &Txns) -> Nanos {
        let Txn { mut joined, .. } = *txns.get(id);
        let mut due = txns.get(id).due(self.deadline);
        while joined.is_some() {
            let joined_txn = txns.get(joined);
            (due, joined) = (due.min(joined_txn.due(self.deadline)), joined_txn.next);
        }
        due
    }

    /// Moves a waiting program forward in the order of due times if the page write `joined`, which
    /// has begun to wait for the same program, is due earlier than the program.
    pub fn expedite(&mut self, program: TxnId, joined: TxnId, txns: &mut Txns) {
        // Transactions set aside are not in the heaps: `first_due` looks up their deadlines.
        if self.aside[0].id.is_some() || !is_awaited(txns.get(program)) {
            return;
        }
        let due = txns.get(joined).due(self.deadline).0;
        let rank = self.waiting.rank_of(program, txns.places_mut(By::Age));
        if due < rank.key {
            self.waiting.remove(program, txns.places_mut(By::Age));
            self.waiting.push(program, Rank { key: due, ..rank }, txns.places_mut(By::Age));
        }
    }

    /// Returns the heap of a class of transactions: host reads or host programs; `None` for others,
    /// which have no ranks.
    #[inline]
    fn of_mut(&mut self, class: TxnClass) -> Option<&mut IndexedHeap> {
        match class {
            TxnClass::HostRead => Some(&mut self.reads),
            TxnClass::HostProgram => Some(&mut self.programs),
            TxnClass::BackgroundRead | TxnClass::BackgroundProgram | TxnClass::Erase => None,
        }
    }

    /// Removes all transactions from the ranked queue.
    pub fn clear(&mut self) {
        *self = RankedQueue::new(self.deadline);
    }

    /// Adds a transaction that begins to wait to the ranked queue. Host reads are ranked by
    /// `age_key`, smaller for younger data, host programs by the size of their request, and equals
    /// by order of submission.
    #[inline]
    pub fn push(&mut self, id: TxnId, age_key: u32, txns: &mut Txns) {
        if self.count > 0 {
            return self.push_beside_others(id, age_key, txns);
        }
        debug_assert!(self.aside[0].id == TxnId::NONE && self.waiting.first().is_none());
        self.count = 1;
        self.aside[0] = Aside { id, class: txns.get(id).class, age_key };
    }

    /// Adds a transaction that begins to wait to the ranked queue, when others wait there already.
    #[inline(never)]
    fn push_beside_others(&mut self, id: TxnId, age_key: u32, txns: &mut Txns) {
        self.count += 1;
        let one = self.aside[0];
        if one.id.is_some() {
            if self.count == 2 {
                let txn = txns.get(id);
                self.overtakes = rank(txn, age_key) < rank(txns.get(one.id), one.age_key);
                self.aside[1] = Aside { id, class: txn.class, age_key };
                return;
            }
            for before in std::mem::take(&mut self.aside) {
                self.rank(before.id, before.age_key, txns);
            }
        }
        self.rank(id, age_key, txns);
    }

    fn rank(&mut self, id: TxnId, age_key: u32, txns: &mut Txns) {
        let txn = txns.get(id);
        let (class, rank) = (txn.class, rank(txn, age_key));
        if is_awaited(txn) {
            let due = Rank { key: self.due(id, txns).0, ..rank };
            self.waiting.push(id, due, txns.places_mut(By::Age));
        }
        if let Some(ranked) = self.of_mut(class) {
            ranked.push(id, rank, txns.places_mut(By::Rank));
        }
    }

    /// Removes a transaction if no other waits. Returns true if it was removed; otherwise
    /// [`RankedQueue::remove`] must be called.
    #[inline]
    pub fn remove_alone(&mut self, id: TxnId) -> bool {
        let [one, other] = &mut self.aside;
        let alone = one.id == id && !other.id.is_some();
        if alone {
            one.id = TxnId::NONE;
            self.count = 0;
        }
        alone
    }

    /// Removes a transaction from the ranked queue.
    #[inline(never)]
    pub fn remove(&mut self, id: TxnId, txns: &mut Txns) {
        self.count -= 1;
        if self.aside[0].id == id {
            self.aside[0] = self.aside[1];
            self.aside[1].id = TxnId::NONE;
        } else if self.aside[1].id == id {
            self.aside[1].id = TxnId::NONE;
        } else {
            self.remove_ranked(id, txns);
        }
    }

    #[inline(never)]
    fn remove_ranked(&mut self, id: TxnId, txns: &mut Txns) {
        debug_assert!(!self.aside[0].id.is_some(), "either all are in the heaps or none");
        let txn = txns.get(id);
        let class = txn.class;
        if is_awaited(txn) {
            self.waiting.remove(id, txns.places_mut(By::Age));
        }
        if let Some(ranked) = self.of_mut(class) {
            ranked.remove(id, txns.places_mut(By::Rank));
        }
    }

    /// Returns the number of waiting host reads and programs.
    pub fn len(&self) -> usize {
        let hosts =
            |entry: &&Aside| entry.is_of(TxnClass::HostRead) || entry.is_of(TxnClass::HostProgram);
        let aside = self.aside.iter().filter(hosts).count();
        self.reads.members().count() + self.programs.members().count() + aside
    }

    /// Returns the only transaction that waits in this queue if it is kept outside the heaps, where
    /// no search is needed to find it; `None` otherwise. With `programs_blocked`, a host program is
    /// not returned.
    #[inline]
    pub fn sole(&self, programs_blocked: bool) -> Option<TxnId> {
        let [one, other] = &self.aside;
        let hidden = programs_blocked && one.class == TxnClass::HostProgram;
        (one.id.is_some() && !other.id.is_some() && !hidden).then_some(one.id)
    }

    /// Returns the waiting transaction of a class that goes first by rank: the host read of the
    /// youngest data, or the host program of the smallest request. `None` for other classes, which
    /// have no ranks.
    #[inline]
    pub fn first(&self, class: TxnClass) -> Option<TxnId> {
        let ranked = match class {
            TxnClass::HostRead => &self.reads,
            TxnClass::HostProgram => &self.programs,
            TxnClass::BackgroundRead | TxnClass::BackgroundProgram | TxnClass::Erase => {
                return None;
            }
        };
        let [one, other] = &self.aside;
        match (one.is_of(class), other.is_of(class)) {
            (false, false) => ranked.first(),
            (true, false) => Some(one.id),
            (false, true) => Some(other.id),
            (true, true) => Some(if self.overtakes { other.id } else { one.id }),
        }
    }

    /// Returns the transaction that a host request waits for and that is due first, with its due
    /// time. Of several due at that time, it is the one submitted first.
    #[inline]
    fn first_due(&self, txns: &Txns) -> Option<(TxnId, Nanos)> {
        let [one, other] = &self.aside;
        if !one.id.is_some() {
            return Some((self.waiting.first()?, Nanos(self.waiting.first_rank()?.key)));
        }
        let due =
            |entry: &Aside| entry.is_awaited(txns).then(|| (entry.id, self.due(entry.id, txns)));
        match (due(one), due(other)) {
            (Some(one), Some(other)) => Some(if other.1 < one.1 { other } else { one }),
            (one, other) => one.or(other),
        }
    }
}

/// The waiting transactions of a die that may be served now, as seen by the policy that chooses the
/// next one.
pub struct View<'a> {
    queue: &'a DieQueue,
    ranked: Option<&'a RankedQueue>,
    txns: &'a Txns,
    now: Nanos,
    programs_blocked: bool,
}

impl<'a> View<'a> {
    /// Creates the view of a die's waiting transactions for the policy that chooses the next one.
    /// With `programs_blocked`, the die has no page for host programs now, and the view hides them.
    #[inline]
    pub fn new(
        queue: &'a DieQueue,
        ranked: Option<&'a RankedQueue>,
        txns: &'a Txns,
        now: Nanos,
        programs_blocked: bool,
    ) -> Self {
        Self { queue, ranked, txns, now, programs_blocked }
    }

    /// Returns the first transaction of a class by rank: the host read of the youngest data, or the
    /// host program of the smallest request. Without ranks, the first in order of submission.
    #[inline]
    pub fn first(&self, class: TxnClass) -> Option<TxnId> {
        if class == TxnClass::HostProgram && self.programs_blocked {
            return None;
        }
        match self.ranked {
            Some(ranked) => ranked.first(class),
            None => self.queue.head(class),
        }
    }

    /// Returns the transaction to serve now because of a deadline: the one due first, if a request
    /// that waits for it is past its deadline. If that transaction is a program without a page to
    /// go to, the oldest transaction of the GC that frees one is returned. See
    /// docs/decisions/flash.md, "When does a deadline start to count?" and "Whose deadline
    /// counts?".
    #[inline]
    pub fn overdue(&self) -> Option<TxnId> {
        let (first, due) = self.ranked?.first_due(self.txns)?;
        if due > self.now { None } else { self.is_overdue(first) }
    }

    /// Returns the transaction to serve if `first`, the one due first, is overdue: `first`, or, if
    /// it is a program without a page to go to, the oldest background transaction.
    #[cold]
    fn is_overdue(&self, first: TxnId) -> Option<TxnId> {
        let program = self.txns.get(first).class == TxnClass::HostProgram;
        if program && self.programs_blocked { self.oldest_of(BACKGROUND) } else { Some(first) }
    }

    /// Returns the first transaction of a class that may be served, in order of submission.
    #[inline]
    pub fn head(&self, class: TxnClass) -> Option<TxnId> {
        if class == TxnClass::HostProgram && self.programs_blocked {
            None
        } else {
            self.queue.head(class)
        }
    }

    /// Returns the transaction that was submitted first, of all classes that may be served.
    #[inline]
    pub fn oldest(&self) -> Option<TxnId> {
        self.oldest_of(if self.programs_blocked { !(1 << TxnClass::HostProgram as u8) } else { !0 })
    }

    /// Returns the read that was submitted first, of the host or of background work.
    #[inline]
    pub fn oldest_read(&self) -> Option<TxnId> {
        self.oldest_of(1 << TxnClass::HostRead as u8 | 1 << TxnClass::BackgroundRead as u8)
    }

    /// Returns the transaction that was submitted first, of the classes in `classes` (one bit
    /// each).
    #[inline]
    fn oldest_of(&self, classes: u8) -> Option<TxnId> {
        let waiting = self.queue.waiting & classes;
        let line = |waiting: u8| &self.queue.lines[waiting.trailing_zeros() as usize];
        if waiting == 0 {
            return None;
        }
        // Usually one class waits, and there is nothing to compare.
        let mut oldest = line(waiting);
        let mut left = waiting & (waiting - 1);
        while left != 0 {
            let other = line(left);
            left &= left - 1;
            if other.order < oldest.order {
                oldest = other;
            }
        }
        Some(oldest.head)
    }

    /// Returns a transaction, by number, from the arena of those in flight.
    pub(crate) fn txn(&self, id: TxnId) -> &Txn {
        self.txns.get(id)
    }

    /// Returns the current simulated time.
    pub fn now(&self) -> Nanos {
        self.now
    }

    /// Returns a waiting transaction in the form for custom policies.
    ///
    /// # Panics
    /// If no transaction in flight has this number.
    pub fn shown(&self, id: TxnId) -> Waiting {
        Waiting::of(id, self.txns.find(id).expect("a transaction in flight"))
    }

    /// Returns all transactions of a class that may be served, in order of submission.
    pub fn waiting(&self, class: TxnClass) -> impl Iterator<Item = Waiting> + '_ {
        let hidden = class == TxnClass::HostProgram && self.programs_blocked;
        let all = (!hidden).then(|| self.queue.iter(class, self.txns));
        all.into_iter().flatten().map(|id| self.shown(id))
    }
}

/// A waiting transaction, in the form for custom policies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// Number of the transaction.
    pub id: TxnId,
    /// Class of the waiting transaction: read, program or erase, of the host or of background work.
    pub class: TxnClass,
    /// Die that the transaction waits for.
    pub die: DieId,
    /// Logical page that the transaction accesses; `None` if it accesses none.
    pub lpn: Option<Lpn>,
    /// For host programs, the number of pages of the request that wrote the data; zero for others.
    pub group: u16,
    /// Number of the transaction in the order of submission.
    pub order: u64,
    /// Time since which a host request has waited for the transaction.
    pub asked: Nanos,
    /// Time at which the transaction was submitted to its die.
    pub submitted: Nanos,
}

impl Waiting {
    fn of(id: TxnId, txn: &Txn) -> Waiting {
        let Txn { class, die, lpn, group, order, asked, submitted, .. } = *txn;
        let lpn = lpn.is_some().then_some(lpn);
        Waiting { id, class, die, lpn, group, order, asked, submitted }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observe::operation::Op;
    use fowler_units::Rng;

    /// The ranked queue returns the same transactions as a search through all that wait, for few
    /// transactions and for many.
    #[test]
    fn few_or_many_the_first_by_rank_and_the_first_due_are_known() {
        const SPAN: Span = Span::ms(30);
        let mut rng = Rng::stream(5, "ranks");
        let mut most = 0;
        for _ in 0..300 {
            let mut txns = Txns::with_capacity(8);
            let (mut ranked, mut expected) = (RankedQueue::new(SPAN), Vec::<(TxnId, u32)>::new());
            let likely = 0.3 + 0.1 * rng.below(5) as f64;
            for _ in 0..100 {
                if expected.len() < 8 && rng.chance(likely) {
                    let class = TxnClass::ALL[rng.below(TxnClass::COUNT as u64) as usize];
                    let (op, owner) = (Op::Read, Owner::Raw(0));
                    let source = if rng.chance(0.8) { Source::Host } else { Source::Gc };
                    let (id, txn) = txns.open(op, source, class, owner, DieId(0), Nanos::ZERO);
                    (txn.group, txn.asked) = (rng.below(3) as u16, Nanos(rng.below(4)));
                    txn.deadline = rng.below(3) as u8;
                    let age_key = rng.below(3) as u32;
                    ranked.push(id, age_key, &mut txns);
                    expected.push((id, age_key));
                } else if !expected.is_empty() {
                    let (id, _) = expected.remove(rng.below(expected.len() as u64) as usize);
                    ranked.remove(id, &mut txns);
                    txns.close(id);
                }
                let mut hosts = 0;
                for class in [TxnClass::HostRead, TxnClass::HostProgram] {
                    let of_class = expected.iter().filter(|&&(id, _)| txns.get(id).class == class);
                    hosts += of_class.clone().count();
                    let first = of_class.min_by_key(|&&(id, key)| rank(txns.get(id), key));
                    assert_eq!(ranked.first(class), first.map(|&(id, _)| id));
                }
                assert_eq!(ranked.len(), hosts);
                let awaited = expected.iter().filter(|&&(id, _)| is_awaited(txns.get(id)));
                let first = awaited.min_by_key(|&&(id, _)| txns.get(id).due(SPAN));
                let found = ranked.first_due(&txns);
                assert_eq!(found.map(|it| it.1), first.map(|&(id, _)| txns.get(id).due(SPAN)));
                // The order of submission breaks ties.
                assert_eq!(found.map(|it| it.0), first.map(|&(id, _)| id));
                most = most.max(expected.len());
            }
        }
        assert_eq!(most, 8);
    }
}
