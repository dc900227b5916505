//! The commands of a superblock that program nothing, because a block of their die has failed: its
//! *gaps*. A command programs a word line of all planes of its die at once, so that the die drops
//! out of the superblock with the block.
//!
//! - A *dropped* die has been out of service since an erase of the superblock.
//! - A *failed* die drops out at the next erase. If a program of it has failed, it already programs
//!   nothing from that command on.
//!
//! Stripes keep their place among the commands and shrink by the gaps. The last command of a stripe
//! that is left carries the parity. A command that would be the only one of its stripe is a gap as
//! well: it would be the parity of nothing.
//!
//! Invariants: the last command of a stripe that programs something is the parity; commands that
//! were programmed before a failure stay as they were; a die that has failed has not dropped out.

use super::shape::Shape;
use std::ops::Range;

/// Value, in place of a command number, for a die that programs all of its commands of a
/// superblock.
const NEVER: u32 = u32::MAX;

/// The gaps of a superblock: the commands that program nothing because a block of their die has
/// failed.
#[derive(Clone, Debug)]
pub(super) struct Gaps {
    /// For each die, by its position in striping order: number of the first command of the
    /// superblock from which on the die programs nothing, because a block of it has failed.
    from: Vec<u32>,
    /// For each die of the superblock, by its position in striping order: true if a block of the
    /// die has failed, so that the die drops out of the superblock at the superblock's next erase.
    failed: Vec<bool>,
    /// For each command of the superblock, the number of commands from that one to the end that
    /// program something (`used_from`), and the number of these that hold data and not parity
    /// (`data_from`). A zero follows the last.
    used_from: Vec<u32>,
    data_from: Vec<u32>,
}

impl Gaps {
    /// Creates the record of a superblock in which no block has failed: every command programs
    /// something.
    pub fn none(shape: &Shape) -> Gaps {
        let dies = shape.dies as usize;
        let mut gaps = Gaps {
            from: vec![NEVER; dies],
            failed: vec![false; dies],
            used_from: Vec::new(),
            data_from: Vec::new(),
        };
        gaps.count_from(shape, 0);
        gaps
    }

    /// Returns true if a command of the superblock programs something, false if its die has a
    /// failed block.
    #[inline]
    pub fn uses(&self, command: u32) -> bool {
        let at = command as usize;
        self.used_from[at] != self.used_from[at + 1]
    }

    /// Returns true if a command programs parity in a superblock that has parity.
    #[inline]
    pub fn is_parity(&self, command: u32) -> bool {
        let at = command as usize;
        self.uses(command) && self.data_from[at] == self.data_from[at + 1]
    }

    /// Returns the first command at or after this one that programs something; the number of
    /// commands if there is none.
    pub fn next_used(&self, command: u32) -> u32 {
        let all = self.used_from.len() as u32 - 1;
        (command..all).find(|&command| self.uses(command)).unwrap_or(all)
    }

    /// Returns the number of commands that hold data, from `command` to the end of a superblock;
    /// `bare` is true if the superblock has no parity.
    #[inline]
    pub fn data_commands_from(&self, command: u32, bare: bool) -> u32 {
        let counts = if bare { &self.used_from } else { &self.data_from };
        counts[command as usize]
    }

    /// Returns true if the die at a position of the superblock's striping order is in service: it
    /// has neither failed nor dropped out of the superblock.
    pub fn serves(&self, position: u32) -> bool {
        !self.failed[position as usize] && !self.is_dropped(position)
    }

    /// Returns true if the die at a position of the striping order has dropped out of the
    /// superblock: a block failed, and the superblock has been erased since.
    pub fn is_dropped(&self, position: u32) -> bool {
        let at = position as usize;
        self.from[at] == 0 && !self.failed[at]
    }

    /// Returns true if a die has failed that has not dropped out yet.
    pub fn has_failed(&self) -> bool {
        self.failed.contains(&true)
    }

    /// Returns true if a die programs nothing from some command on because a program of it has
    /// failed since the last erase; `counts` is true for the positions of the dies that count.
    pub fn has_failed_program(&self, counts: impl Fn(u32) -> bool) -> bool {
        self.failed_positions().any(|at| self.from[at as usize] != NEVER && counts(at))
    }

    /// Records that a block of the die at a position of the superblock's striping order has failed.
    /// If a program failed, the die programs nothing from the command `from` on.
    pub fn fail(&mut self, shape: &Shape, position: u32, from: Option<u32>) {
        self.failed[position as usize] = true;
        if let Some(from) = from {
            self.cut(shape, position, (from, from));
        }
    }

    /// Records that a die with a failed block programs nothing in the superblock from the command
    /// `from` on. `next` is the next command to program, at most `from`: those before it stay as
    /// they are.
    pub fn cut(&mut self, shape: &Shape, position: u32, (from, next): (u32, u32)) {
        let at = position as usize;
        self.failed[at] = true;
        self.from[at] = self.from[at].min(from);
        self.count_from(shape, next);
    }

    /// Records the erase of the superblock. Dies with a failed block program nothing in it from now
    /// on, if `drops` is true for their position in striping order; if not, they are used once
    /// more.
    pub fn erased(&mut self, shape: &Shape, drops: impl Fn(u32) -> bool) {
        for (position, (from, failed)) in (0..).zip(self.from.iter_mut().zip(&mut self.failed)) {
            if *failed {
                *failed = !drops(position);
                *from = if *failed { NEVER } else { 0 };
            }
        }
        self.count_from(shape, 0);
    }

    /// Returns the command that programs the parity of a stripe, the last one that programs
    /// something; `None` if none does.
    pub fn parity_of(&self, mut stripe: Range<u32>) -> Option<u32> {
        stripe.rfind(|&command| self.uses(command))
    }

    /// Returns the positions, in striping order, of the dies with a failed block that have not
    /// dropped out of the superblock yet.
    pub fn failed_positions(&self) -> impl Iterator<Item = u32> {
        (0..).zip(&self.failed).filter(|&(_, &failed)| failed).map(|(position, _)| position)
    }

    /// Counts, from each command of a superblock to the end, the commands that program something
    /// and those that hold data. Commands before `first` have been programmed or skipped already.
    fn count_from(&mut self, shape: &Shape, first: u32) {
        let commands = shape.commands;
        let is_used = |it: u32| match it < first {
            true => self.uses(it),
            false => it < self.from[(it % shape.dies) as usize],
        };
        let mut used: Vec<bool> = (0..commands).map(is_used).collect();
        let mut data = used.clone();
        let mut next = 0;
        while shape.stripes() > 0 && next < commands {
            let stripe = shape.stripe_of(next);
            next = stripe.end;
            let left = stripe.clone().filter(|&it| used[it as usize]).count();
            let last = stripe.rev().find(|&it| used[it as usize]);
            if let Some(last) = last {
                data[last as usize] = false;
                used[last as usize] = left > 1 || last < first;
            }
        }
        let counts = |which: &[bool]| {
            let mut from = vec![0; which.len() + 1];
            for at in (0..which.len()).rev() {
                from[at] = from[at + 1] + u32::from(which[at]);
            }
            from
        };
        (self.used_from, self.data_from) = (counts(&used), counts(&data));
    }

    /// Returns, for each die with a failed block, the state to save: position of the die in the
    /// striping order, first command from which it programs nothing, and true if it leaves the
    /// superblock at the next erase.
    pub fn saved(&self) -> impl Iterator<Item = (u32, u32, bool)> {
        let all = (0..).zip(self.from.iter().zip(&self.failed));
        all.filter(|(_, (from, failed))| **failed || **from != NEVER)
            .map(|(position, (&from, &failed))| (position, from, failed))
    }

    /// Restores the saved state of the die at a position of the superblock's striping order; dies
    /// with a failed program come last, in the order of failure. Returns false if the saved state
    /// is one that no die can have.
    pub fn resume(&mut self, shape: &Shape, (position, from, failed): (u32, u32, bool)) -> bool {
        let at = position as usize;
        let known = position < shape.dies
            && (failed && (from == NEVER || from < shape.commands) || !failed && from == 0)
            && (from == NEVER || from == 0 && !failed || from % shape.dies == position)
            && self.serves(position);
        if known && failed && from != NEVER {
            self.fail(shape, position, Some(from));
        } else if known {
            (self.from[at], self.failed[at]) = (from, failed);
            self.count_from(shape, 0);
        }
        known
    }
}

#[cfg(test)]
mod tests {
    use super::super::cases::{protect, tiny};
    use super::*;

    /// The shape of superblocks of four dies, which take four commands each, with stripes of so
    /// many commands.
    fn shape(parity: u32) -> Shape {
        let mut config = tiny();
        protect(&mut config, parity);
        let shape = Shape::new(&config);
        assert_eq!((shape.dies, shape.commands), (4, 16));
        shape
    }

    /// The commands that program parity, and those that program nothing.
    fn parities_and_gaps(gaps: &Gaps) -> (Vec<u32>, Vec<u32>) {
        let parities = (0..16).filter(|&it| gaps.is_parity(it)).collect();
        (parities, (0..16).filter(|&it| !gaps.uses(it)).collect())
    }

    #[test]
    fn a_stripe_shrinks_and_its_last_command_carries_the_parity() {
        let shape = shape(4);
        let mut gaps = Gaps::none(&shape);
        assert_eq!(parities_and_gaps(&gaps), (vec![3, 7, 11, 15], vec![]));
        assert_eq!(gaps.data_commands_from(0, false), 12);
        // The program of the second command of the second die fails.
        gaps.fail(&shape, 1, Some(5));
        assert_eq!(parities_and_gaps(&gaps), (vec![3, 7, 11, 15], vec![5, 9, 13]));
        assert_eq!((gaps.data_commands_from(0, false), gaps.data_commands_from(0, true)), (9, 13));
        assert!(gaps.has_failed_program(|at| at == 1) && !gaps.serves(1) && !gaps.is_dropped(1));
        // So does the one of the last die in the third stripe, which is its parity.
        gaps.fail(&shape, 3, Some(11));
        assert_eq!(parities_and_gaps(&gaps), (vec![3, 7, 10, 14], vec![5, 9, 11, 13, 15]));
        gaps.erased(&shape, |_| true);
        let all = vec![1, 3, 5, 7, 9, 11, 13, 15];
        assert_eq!(parities_and_gaps(&gaps), (vec![2, 6, 10, 14], all));
        assert_eq!((gaps.data_commands_from(0, false), gaps.data_commands_from(7, false)), (4, 2));
        assert_eq!((gaps.next_used(0), gaps.next_used(1), gaps.next_used(15)), (0, 2, 16));
        assert!(gaps.is_dropped(1) && gaps.is_dropped(3) && !gaps.has_failed());
    }

    #[test]
    fn what_would_be_the_parity_of_nothing_is_a_gap() {
        let shape = shape(2);
        let mut gaps = Gaps::none(&shape);
        gaps.fail(&shape, 0, None);
        assert!(parities_and_gaps(&gaps).1.is_empty());
        gaps.erased(&shape, |_| true);
        let all = vec![0, 1, 4, 5, 8, 9, 12, 13];
        assert_eq!(parities_and_gaps(&gaps), (vec![3, 7, 11, 15], all));
        assert_eq!(gaps.data_commands_from(0, false), 4);
        // Commands that were programmed before the failure stay.
        let mut gaps = Gaps::none(&shape);
        gaps.fail(&shape, 2, Some(6));
        assert_eq!(parities_and_gaps(&gaps).1, [6, 7, 10, 11, 14, 15]);
        gaps.fail(&shape, 1, Some(9));
        assert_eq!(parities_and_gaps(&gaps).1, [6, 7, 9, 10, 11, 12, 13, 14, 15]);
        assert!(gaps.uses(8), "it has been programmed");
    }

    #[test]
    fn a_die_that_cannot_be_spared_is_used_once_more() {
        let shape = shape(0);
        let mut gaps = Gaps::none(&shape);
        gaps.fail(&shape, 2, Some(6));
        assert_eq!(parities_and_gaps(&gaps), (vec![], vec![6, 10, 14]));
        gaps.erased(&shape, |_| false);
        assert_eq!(parities_and_gaps(&gaps), (vec![], vec![]));
        assert!(gaps.has_failed() && !gaps.has_failed_program(|_| true));
        let saved: Vec<_> = gaps.saved().collect();
        let mut again = Gaps::none(&shape);
        assert!(saved.iter().all(|&it| again.resume(&shape, it)) && again.has_failed());
        assert!(!again.resume(&shape, (2, 0, false)), "a die twice");
        assert!(!again.resume(&shape, (4, 0, false)), "a die that is not there");
        assert!(!again.resume(&shape, (3, 5, true)), "a command of another die");
    }
}
