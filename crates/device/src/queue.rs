//! What waits for one die: a list per class in order of submission, so that a policy sees the head of
//! each without a search.

use crate::txn::{Txn, Txns};
use fowler_units::{Id, TxnId};

/// The classes of waiting transactions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Class {
    /// Reads that a host request waits for.
    HostRead,
    /// Every other read: garbage collection, wear levelling, read-modify-write.
    BackgroundRead,
    /// Programs of host data.
    HostProgram,
    /// Every other program.
    BackgroundProgram,
    /// Erases.
    Erase,
}

impl Class {
    /// How many classes there are.
    pub const COUNT: usize = 5;
    /// Every class.
    pub const ALL: [Class; Class::COUNT] = [
        Class::HostRead,
        Class::BackgroundRead,
        Class::HostProgram,
        Class::BackgroundProgram,
        Class::Erase,
    ];
}

/// The transactions that wait for one die.
#[derive(Clone, Debug)]
pub struct DieQueue {
    /// The classes of which something waits, a bit each.
    waiting: u8,
    heads: [TxnId; Class::COUNT],
    tails: [TxnId; Class::COUNT],
    /// The place of each head in the order of submission; means nothing without a head.
    head_orders: [u64; Class::COUNT],
}

impl Default for DieQueue {
    fn default() -> Self {
        Self {
            waiting: 0,
            heads: [TxnId::NONE; Class::COUNT],
            tails: [TxnId::NONE; Class::COUNT],
            head_orders: [u64::MAX; Class::COUNT],
        }
    }
}

impl DieQueue {
    /// Appends a transaction to the list of its class.
    #[inline]
    pub fn push(&mut self, id: TxnId, txns: &mut Txns) {
        let txn = txns.get_mut(id);
        let (class, order) = (txn.class as usize, txn.order);
        let tail = self.tails[class];
        txn.prev = tail;
        txn.next = TxnId::NONE;
        if tail.is_some() {
            txns.get_mut(tail).next = id;
        } else {
            self.waiting |= 1 << class;
            self.heads[class] = id;
            self.head_orders[class] = order;
        }
        self.tails[class] = id;
    }

    /// Takes a transaction out of its list.
    #[inline]
    pub fn remove(&mut self, id: TxnId, txns: &mut Txns) {
        let Txn { class, prev, next, .. } = *txns.get(id);
        let class = class as usize;
        if next.is_some() {
            txns.get_mut(next).prev = prev;
        } else {
            self.tails[class] = prev;
        }
        if prev.is_some() {
            txns.get_mut(prev).next = next;
        } else {
            debug_assert_eq!(self.heads[class], id);
            self.heads[class] = next;
            if next.is_some() {
                self.head_orders[class] = txns.get(next).order;
            } else {
                self.waiting &= !(1 << class);
            }
        }
    }

    /// The first of a class.
    #[inline]
    pub fn head(&self, class: Class) -> Option<TxnId> {
        let head = self.heads[class as usize];
        head.is_some().then_some(head)
    }

    /// Whether nothing waits.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.waiting == 0
    }

    /// Everything of one class, in order.
    pub fn iter<'a>(&self, class: Class, txns: &'a Txns) -> impl Iterator<Item = TxnId> + 'a {
        std::iter::successors(self.head(class), |&id| {
            let next = txns.get(id).next;
            next.is_some().then_some(next)
        })
    }
}

/// What a die order may see: what waits for one die and may be served now.
pub struct View<'a> {
    queue: &'a DieQueue,
    txns: &'a Txns,
    programs_blocked: bool,
}

impl<'a> View<'a> {
    /// The view of a die; with `programs_blocked`, host programs have no page to go to and are hidden.
    #[inline]
    pub fn new(queue: &'a DieQueue, txns: &'a Txns, programs_blocked: bool) -> Self {
        Self { queue, txns, programs_blocked }
    }

    /// The first of a class that may be served.
    #[inline]
    pub fn head(&self, class: Class) -> Option<TxnId> {
        if class == Class::HostProgram && self.programs_blocked {
            None
        } else {
            self.queue.head(class)
        }
    }

    /// The one that was submitted first.
    #[inline]
    pub fn oldest(&self) -> Option<TxnId> {
        let hidden = if self.programs_blocked { 1 << Class::HostProgram as u8 } else { 0 };
        let mut left = self.queue.waiting & !hidden;
        let mut oldest = (u64::MAX, TxnId::NONE);
        while left != 0 {
            let class = left.trailing_zeros() as usize;
            left &= left - 1;
            let order = self.queue.head_orders[class];
            if order < oldest.0 {
                oldest = (order, self.queue.heads[class]);
            }
        }
        oldest.1.is_some().then_some(oldest.1)
    }

    /// A waiting transaction.
    pub fn txn(&self, id: TxnId) -> &Txn {
        self.txns.get(id)
    }
}
