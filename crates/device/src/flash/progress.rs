//! The progress of a transaction at the time of a loss of power.

use super::Flash;
use super::die::Cells;
use super::txn::Txn;
use fowler_units::{Id, TxnId};

impl Flash {
    /// Returns true if a program or erase has begun to change its cells.
    pub fn is_on_the_cells(&self, id: TxnId) -> bool {
        let die = self.die(self.txns.get(id).die);
        let mut member = die.command.first;
        while die.cells != Cells::Free && member.is_some() {
            if member == id {
                return true;
            }
            member = self.txns.get(member).next;
        }
        false
    }

    /// Returns true if a transaction waits in the queue of its die. Takes time proportional to the
    /// length of the queue.
    pub fn is_queued(&self, id: TxnId) -> bool {
        let Txn { die, class, .. } = *self.txns.get(id);
        self.die(die).queue.iter(class, &self.txns).any(|waiting| waiting == id)
    }
}
