//! The marked dies, which decide what to do next before time moves on.
//!
//! Invariants: a die is in the ring at most once ([`super::die::Die::mark`]), so the ring holds no
//! more dies than there are, and never overwrites a die that has not decided.

use fowler_units::DieId;

/// The dies that must decide what to do next before time moves on, in the order in which they were
/// marked for that. A die is in the ring at most once ([`super::die::Die::mark`]), so a ring with a
/// place for every die never has to grow. A push to a vector that may grow costs more: registers
/// are saved for the allocator.
#[derive(Clone, Debug)]
pub struct Marked {
    /// The ring buffer of dies marked to decide what to do next. Its length is the number of dies,
    /// rounded up to a power of two.
    ring: Box<[DieId]>,
    /// Bit mask that turns the running number of a die marked to decide what to do next into its
    /// position in the ring buffer: the length of the ring, a power of two, minus one.
    mask: usize,
    /// Number of dies marked since the ring was last cleared, including those that have already
    /// decided what to do next.
    count: usize,
}

impl Marked {
    /// Creates a ring of marked dies for a drive of `dies` dies, none of which has a decision to
    /// make.
    pub fn new(dies: usize) -> Self {
        let ring = vec![DieId(0); dies.next_power_of_two()].into_boxed_slice();
        Self { mask: ring.len() - 1, ring, count: 0 }
    }

    /// Returns true if no die is marked to decide what to do next.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Adds a die, which is not there yet, to the ring of dies that choose their next activity
    /// before simulated time advances.
    #[inline]
    pub fn push(&mut self, die: DieId) {
        // The mask makes sure that there is such a place. A panic, here or below, would keep the
        // compiler from inlining what a die does, at 0.5 to 1 % of all rows.
        if let Some(place) = self.ring.get_mut(self.count & self.mask) {
            *place = die;
        }
        self.count += 1;
    }

    /// Returns the die with the running number `before` among those marked to decide what to do
    /// next, counted from 0 since the ring was cleared; `None` after the last one. From then on
    /// that die may be marked again.
    #[inline]
    pub fn get(&self, before: usize) -> Option<DieId> {
        debug_assert!(self.count - before <= self.ring.len(), "a marked die was overwritten");
        if before == self.count {
            return None;
        }
        self.ring.get(before & self.mask).copied()
    }

    /// Clears the ring of marked dies (dies that must decide what to do next before time moves on),
    /// once all of them have decided.
    #[inline]
    pub fn clear(&mut self) {
        self.count = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dies_are_attended_to_in_the_order_in_which_they_were_marked() {
        let mut marked = Marked::new(3);
        for round in 0..3 {
            assert!(marked.is_empty() && marked.get(0).is_none());
            for die in 0..3 {
                marked.push(DieId((die + round) % 3));
            }
            // Each die comes again twice, while the others wait.
            let (mut order, mut next) = (Vec::new(), 0);
            while let Some(die) = marked.get(next) {
                next += 1;
                order.push(die.0);
                if next <= 6 {
                    marked.push(die);
                }
            }
            let expected: Vec<u32> = (0..9).map(|place| (place + round) % 3).collect();
            assert_eq!(order, expected);
            marked.clear();
        }
    }
}
