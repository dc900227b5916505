//! Intrusive linked lists: each member holds a [`Link`], a list holds the IDs of its ends, and
//! neither allocates. An item is in at most one list through the same link; the caller must ensure
//! this.
//!
//! A list does not own its members: every method that follows or changes links takes the column
//! that holds them.

use crate::Id;
use serde::{Deserialize, Serialize};
use std::ops::{Index, IndexMut};

/// Neighbors of a member of a linked list. Meaningless for an item that is in no list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link<I> {
    /// ID of the item before this one in its linked list; `NONE` for the first.
    pub prev: I,
    /// ID of the item after this one in its linked list; `NONE` for the last.
    pub next: I,
}

impl<I: Id> Link<I> {
    /// The neighbors of an item that is alone in its linked list, or in no list: none on either
    /// side.
    pub const NONE: Self = Self { prev: I::NONE, next: I::NONE };
}

/// An item of a doubly linked list, which stores the IDs of its neighbors in the list.
pub trait Linked<I> {
    /// Returns the IDs of the items before and after this one in its linked list.
    fn link(&self) -> &Link<I>;
    /// Returns the IDs of the items before and after this one in its linked list, for modification.
    fn link_mut(&mut self) -> &mut Link<I>;
}

/// A doubly linked list with both ends: first in, first out; any member can be removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct List<I> {
    head: I,
    tail: I,
    len: u32,
}

impl<I: Id> List<I> {
    /// A linked list without items.
    pub const EMPTY: Self = Self { head: I::NONE, tail: I::NONE, len: 0 };

    /// Returns the number of items in this linked list.
    #[inline]
    pub fn len(&self) -> u32 {
        self.len
    }

    /// Returns true if this linked list holds no items.
    #[inline]
    pub fn is_empty(&self) -> bool {
        !self.head.is_some()
    }

    /// Returns the ID of the first item in this linked list; `None` if the list is empty.
    #[inline]
    pub fn front(&self) -> Option<I> {
        self.head.is_some().then_some(self.head)
    }

    /// Returns the ID of the last item in this linked list; `None` if the list is empty.
    #[inline]
    pub fn back(&self) -> Option<I> {
        self.tail.is_some().then_some(self.tail)
    }

    /// Appends the item `id` to this linked list; the item must be in no list. `members` holds all
    /// items with their links.
    #[inline]
    pub fn push_back<M>(&mut self, members: &mut M, id: I)
    where
        M: IndexMut<I, Output: Linked<I>>,
    {
        *members[id].link_mut() = Link { prev: self.tail, next: I::NONE };
        if self.tail.is_some() {
            members[self.tail].link_mut().next = id;
        } else {
            self.head = id;
        }
        self.tail = id;
        self.len += 1;
    }

    /// Removes the first item of this linked list and returns its ID; `None` if the list is empty.
    #[inline]
    pub fn pop_front<M>(&mut self, members: &mut M) -> Option<I>
    where
        M: IndexMut<I, Output: Linked<I>>,
    {
        let first = self.front()?;
        self.remove(members, first);
        Some(first)
    }

    /// Removes the item `id` from this linked list, wherever it is in the list. `members` holds all
    /// items with their links.
    #[inline]
    pub fn remove<M>(&mut self, members: &mut M, id: I)
    where
        M: IndexMut<I, Output: Linked<I>>,
    {
        unlink(&mut self.head, &mut self.tail, members, id);
        self.len -= 1;
    }

    /// Iterates over the IDs of the items in this linked list, first to last.
    #[inline]
    pub fn iter<M>(self, members: &M) -> impl Iterator<Item = I>
    where
        M: Index<I, Output: Linked<I>>,
    {
        walk(self.head, members)
    }
}

/// A list with a pointer to its first member only: last in, first out; any member can be removed.
/// For lists so numerous that a second end would cost memory, and whose order does not matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Pile<I> {
    head: I,
}

impl<I: Id> Pile<I> {
    /// A list (last in, first out) without members.
    pub const EMPTY: Self = Self { head: I::NONE };

    /// Returns the ID of the item that was added last to this linked list (last in, first out);
    /// `None` if the list is empty.
    #[inline]
    pub fn front(&self) -> Option<I> {
        self.head.is_some().then_some(self.head)
    }

    /// Returns true if this linked list (last in, first out) holds no items.
    #[inline]
    pub fn is_empty(&self) -> bool {
        !self.head.is_some()
    }

    /// Adds the item `id` at the front of this linked list (last in, first out); the item must be
    /// in no list.
    #[inline]
    pub fn push_front<M>(&mut self, members: &mut M, id: I)
    where
        M: IndexMut<I, Output: Linked<I>>,
    {
        let second = std::mem::replace(&mut self.head, id);
        *members[id].link_mut() = Link { prev: I::NONE, next: second };
        if second.is_some() {
            members[second].link_mut().prev = id;
        }
    }

    /// Removes the item `id` from this linked list (last in, first out), wherever it is in the
    /// list.
    #[inline]
    pub fn remove<M>(&mut self, members: &mut M, id: I)
    where
        M: IndexMut<I, Output: Linked<I>>,
    {
        let mut no_tail = I::NONE;
        unlink(&mut self.head, &mut no_tail, members, id);
    }

    /// Iterates over the IDs of the items in this linked list (last in, first out), the one added
    /// last first.
    #[inline]
    pub fn iter<M>(self, members: &M) -> impl Iterator<Item = I>
    where
        M: Index<I, Output: Linked<I>>,
    {
        walk(self.head, members)
    }
}

/// Links the neighbors of a member of a list to each other. The link of the member itself is
/// unchanged.
#[inline]
fn unlink<I: Id, M>(head: &mut I, tail: &mut I, members: &mut M, id: I)
where
    M: IndexMut<I, Output: Linked<I>>,
{
    let Link { prev, next } = *members[id].link();
    if prev.is_some() {
        members[prev].link_mut().next = next;
    } else {
        *head = next;
    }
    if next.is_some() {
        members[next].link_mut().prev = prev;
    } else {
        *tail = prev;
    }
}

#[inline]
fn walk<I: Id, M>(head: I, members: &M) -> impl Iterator<Item = I>
where
    M: Index<I, Output: Linked<I>>,
{
    let real = |id: I| id.is_some().then_some(id);
    std::iter::successors(real(head), move |&id| real(members[id].link().next))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FrameId, IdVec, Rng};
    use std::collections::VecDeque;

    #[derive(Clone)]
    struct Thing(Link<FrameId>);

    impl Linked<FrameId> for Thing {
        fn link(&self) -> &Link<FrameId> {
            &self.0
        }
        fn link_mut(&mut self) -> &mut Link<FrameId> {
            &mut self.0
        }
    }

    const THINGS: usize = 12;

    fn things() -> IdVec<FrameId, Thing> {
        IdVec::filled(Thing(Link::NONE), THINGS)
    }

    /// Compares forwards by iterating and backwards by the links.
    fn is_like(list: List<FrameId>, things: &IdVec<FrameId, Thing>, model: &VecDeque<FrameId>) {
        assert!(list.iter(things).eq(model.iter().copied()), "{list:?} is not {model:?}");
        let real = |id: FrameId| id.is_some().then_some(id);
        let back = std::iter::successors(list.back(), |&id| real(things[id].link().prev));
        assert!(back.eq(model.iter().rev().copied()), "{list:?} backwards is not {model:?}");
        assert_eq!((list.len() as usize, list.is_empty()), (model.len(), model.is_empty()));
        assert_eq!(list.front(), model.front().copied());
    }

    /// Compares two lists that share their items with queues.
    #[test]
    fn lists_are_what_queues_are() {
        for seed in 0..200 {
            let mut rng = Rng::stream(seed, "units/list");
            let mut things = things();
            let mut lists = [List::EMPTY; 2];
            let mut models = [VecDeque::new(), VecDeque::new()];
            for _ in 0..200 {
                let id = FrameId(rng.below(THINGS as u64) as u32);
                let at = rng.below(2) as usize;
                if let Some(holder) = models.iter().position(|model| model.contains(&id)) {
                    lists[holder].remove(&mut things, id);
                    models[holder].retain(|&other| other != id);
                } else {
                    lists[at].push_back(&mut things, id);
                    models[at].push_back(id);
                }
                if rng.chance(0.1) {
                    assert_eq!(lists[at].pop_front(&mut things), models[at].pop_front());
                }
                for (list, model) in lists.iter().zip(&models) {
                    is_like(*list, &things, model);
                }
            }
        }
    }

    #[test]
    fn piles_are_what_stacks_are() {
        for seed in 0..200 {
            let mut rng = Rng::stream(seed, "units/pile");
            let (mut things, mut pile, mut model) = (things(), Pile::EMPTY, VecDeque::new());
            for _ in 0..200 {
                let id = FrameId(rng.below(THINGS as u64) as u32);
                if model.contains(&id) {
                    pile.remove(&mut things, id);
                    model.retain(|&other| other != id);
                } else {
                    pile.push_front(&mut things, id);
                    model.push_front(id);
                }
                assert!(pile.iter(&things).eq(model.iter().copied()), "{pile:?} {model:?}");
                assert_eq!(
                    (pile.front(), pile.is_empty()),
                    (model.front().copied(), model.is_empty())
                );
            }
        }
    }
}
