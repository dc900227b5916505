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

/// The transactions of one class, chained by [`Txn::next`].
#[derive(Clone, Copy, Debug)]
struct Line {
    /// The place of the head in the order of submission; like the tail, it means nothing without a head.
    order: u64,
    head: TxnId,
    tail: TxnId,
}

/// The transactions that wait for one die.
#[derive(Clone, Debug)]
pub struct DieQueue {
    lines: [Line; Class::COUNT],
    /// The classes of which something waits, a bit each.
    waiting: u8,
}

impl Default for DieQueue {
    fn default() -> Self {
        let empty = Line { order: u64::MAX, head: TxnId::NONE, tail: TxnId::NONE };
        Self { lines: [empty; Class::COUNT], waiting: 0 }
    }
}

impl DieQueue {
    /// Appends a transaction to the list of its class.
    #[inline]
    pub fn push(&mut self, id: TxnId, txns: &mut Txns) {
        let txn = txns.get_mut(id);
        txn.next = TxnId::NONE;
        let (class, order) = (txn.class, txn.order);
        let line = &mut self.lines[class as usize];
        let tail = std::mem::replace(&mut line.tail, id);
        if line.head.is_some() {
            txns.get_mut(tail).next = id;
        } else {
            line.head = id;
            line.order = order;
            self.waiting |= 1 << class as u8;
        }
    }

    /// Takes a transaction out of its list.
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

    /// Only a read that goes before the erase of its block is not the first of its class, so that a list
    /// need not be linked backwards.
    #[cold]
    fn remove_inside(&mut self, id: TxnId, txns: &mut Txns) {
        let Txn { class, next, .. } = *txns.get(id);
        let before = self.iter(class, txns).find(|&its| txns.get(its).next == id);
        let before = before.expect("it waits in the list of its class");
        txns.get_mut(before).next = next;
        if !next.is_some() {
            self.lines[class as usize].tail = before;
        }
    }

    /// The first of a class.
    #[inline]
    pub fn head(&self, class: Class) -> Option<TxnId> {
        let head = self.lines[class as usize].head;
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
        let waiting = self.queue.waiting & !hidden;
        let line = |waiting: u8| &self.queue.lines[waiting.trailing_zeros() as usize];
        if waiting == 0 {
            return None;
        }
        // Most often one class waits, and nothing is to be compared.
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

    /// A waiting transaction.
    pub fn txn(&self, id: TxnId) -> &Txn {
        self.txns.get(id)
    }
}
