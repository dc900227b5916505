//! A binary heap of transactions by rank. The heap records the place of each transaction, so that
//! any of them can be removed in logarithmic time, and allocates only to grow.
//!
//! Invariants: no transaction ranks before its parent; `places` has the place of every transaction
//! in the heap, and a transaction is in at most one heap that uses the same places.

use fowler_units::{IdVec, TxnId};

/// The rank of a transaction: the smaller key goes first; of equal keys, the transaction submitted
/// first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rank {
    /// First criterion of the order of waiting transactions in a heap; those with a smaller key go
    /// first.
    pub key: u64,
    /// Submission number of the transaction. Of transactions with equal `key`, the first criterion
    /// of the order, the one with the smaller number goes first.
    pub order: u64,
}

/// Position of every transaction in the heap (priority queue) that holds it. Several heaps can
/// share one table of positions as long as no transaction is in two of them.
pub type Places = IdVec<TxnId, u32>;

/// Heap (priority queue) of waiting transactions, ordered by rank: smaller key first, then order of
/// submission.
#[derive(Clone, Debug, Default)]
pub struct IndexedHeap {
    heap: Vec<(Rank, TxnId)>,
}

impl IndexedHeap {
    /// Returns the first waiting transaction by rank; `None` if this heap is empty.
    #[inline]
    pub fn first(&self) -> Option<TxnId> {
        self.heap.first().map(|&(_, id)| id)
    }

    /// Returns the rank (key, then order of submission) of the first waiting transaction; `None` if
    /// this heap is empty.
    #[inline]
    pub fn first_rank(&self) -> Option<Rank> {
        self.heap.first().map(|&(rank, _)| rank)
    }

    /// Returns the rank (key, then order of submission) of a transaction that waits in this heap.
    pub fn rank_of(&self, id: TxnId, places: &Places) -> Rank {
        let (rank, member) = self.heap[places[id] as usize];
        assert_eq!(member, id, "not a member");
        rank
    }

    /// Returns all transactions that wait in this heap, in no particular order.
    pub fn members(&self) -> impl Iterator<Item = TxnId> {
        self.heap.iter().map(|&(_, id)| id)
    }

    /// Adds a waiting transaction to this heap.
    pub fn push(&mut self, id: TxnId, rank: Rank, places: &mut Places) {
        let other = |&(_, member): &(Rank, TxnId)| member != id;
        debug_assert!(self.heap.get(places[id] as usize).is_none_or(other), "a member is added");
        self.heap.push((rank, id));
        self.rise(self.heap.len() - 1, places);
    }

    /// Removes a transaction from this heap of waiting ones.
    pub fn remove(&mut self, id: TxnId, places: &mut Places) {
        let at = places[id] as usize;
        assert_eq!(self.heap[at].1, id, "not a member");
        self.heap.swap_remove(at);
        if at < self.heap.len() {
            let at = self.rise(at, places);
            self.sink(at, places);
        }
    }

    /// Moves a transaction towards the root of the heap, past those that rank after it. Those are
    /// shifted down, and the risen one is stored once at the end. Returns the place of the risen
    /// one.
    fn rise(&mut self, mut at: usize, places: &mut Places) -> usize {
        let member = self.heap[at];
        while at > 0 {
            let above = (at - 1) / 2;
            let other = self.heap[above];
            if other.0 <= member.0 {
                break;
            }
            self.heap[at] = other;
            places[other.1] = at as u32;
            at = above;
        }
        self.heap[at] = member;
        places[member.1] = at as u32;
        debug_assert!(at == 0 || self.heap[(at - 1) / 2].0 <= member.0);
        at
    }

    /// Moves a transaction towards the leaves of the heap, past those that do not rank after it. Of
    /// two equal children the first goes up.
    fn sink(&mut self, mut at: usize, places: &mut Places) {
        let member = self.heap[at];
        loop {
            let left = 2 * at + 1;
            let Some(&(mut before, _)) = self.heap.get(left) else { break };
            let mut child = left;
            if let Some(&(right, _)) = self.heap.get(left + 1)
                && right < before
            {
                (before, child) = (right, left + 1);
            }
            if member.0 < before {
                break;
            }
            let other = self.heap[child];
            self.heap[at] = other;
            places[other.1] = at as u32;
            at = child;
        }
        self.heap[at] = member;
        places[member.1] = at as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fowler_units::{Id, Rng};

    /// The heap returns the same transactions as a sorted list, after random insertions and
    /// removals.
    #[test]
    fn members_come_and_go_in_order_of_rank() {
        let mut rng = Rng::stream(5, "ranked");
        for _ in 0..200 {
            let mut places = Places::filled(0, 64);
            let (mut ranked, mut expected) = (IndexedHeap::default(), Vec::<(Rank, TxnId)>::new());
            for order in 0..300 {
                let id = TxnId::new(rng.below(64) as usize);
                if let Some(at) = expected.iter().position(|&(_, member)| member == id) {
                    ranked.remove(id, &mut places);
                    expected.remove(at);
                } else {
                    let rank = Rank { key: rng.below(6), order };
                    ranked.push(id, rank, &mut places);
                    expected.push((rank, id));
                }
                let first = expected.iter().min().map(|&(_, id)| id);
                assert_eq!(ranked.first(), first);
                assert_eq!(ranked.members().count(), expected.len());
            }
        }
    }
}
