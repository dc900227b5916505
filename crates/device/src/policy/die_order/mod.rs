//! Slot: which waiting transaction a die serves next.
//!
//! Contract. `pick` returns one of the transactions that the view shows, or `None` to leave the die
//! as it is. It is a pure decision: it may update its own state, never the device's.
//!
//! Asked by `Flash::pick` (`flash/mod.rs`), which lets no erase overtake a read of its block; the
//! view hides programs that have no page to go to. Where a single transaction waits, or where the
//! order keeps that of submission and a single class waits, built-in orders are not asked; custom
//! ones always are.

pub use crate::flash::queue::View;
pub use crate::flash::queue::{TxnClass as Queued, Waiting};
use crate::policy::custom::Custom;
use crate::policy::registry::slot;
use dyn_clone::clone_trait_object;
use fowler_units::{Span, TxnId};

slot! { $
    /// The order a device was configured with.
    pub enum AnyDieOrder, named DieOrderKind, match by each_die_order, or Custom(CustomDieOrder) {
        "fifo" => fifo::Fifo, "first come, first served";
        "read_first" => read_first::ReadFirst, "reads that a host request waits for, then the rest in order";
        "rhio" => rhio::Rhio, "reads of the youngest data, then writes of the smallest requests, within a deadline";
    }
}

/// Parameters of every policy of this slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Params {
    /// The policy.
    pub name: DieOrderKind,
    /// `rhio` only: what has been in the drive for so long is served before any other.
    pub deadline: Span,
}

/// A rule that orders what waits for one die.
pub trait DieOrder {
    /// The transaction to serve next.
    fn pick(&mut self, view: &View<'_>) -> Option<TxnId>;
}

impl Params {
    /// Whether the order needs host reads and programs by rank, beside their order of submission.
    pub fn ranks(&self) -> bool {
        self.name == DieOrderKind::Rhio
    }

    /// Whether of one class the order takes the one that was submitted first, so that a die need
    /// not ask where only one class waits. No order that ranks does.
    pub fn keeps_order(&self) -> bool {
        !self.ranks()
    }
}

impl DieOrder for AnyDieOrder {
    #[inline]
    fn pick(&mut self, view: &View<'_>) -> Option<TxnId> {
        each_die_order!(self, policy => policy.pick(view))
    }
}

/// A policy that whoever builds the drive hands over.
pub trait CustomDieOrder: Custom {
    /// The transaction to serve next, one of those that the view shows; `None` only where it shows
    /// none: no die stands idle while something may be served. See docs/decisions/flash.md, "May a
    /// die order leave a free die idle while something waits?".
    fn pick(&mut self, view: &View<'_>) -> Option<TxnId>;
}
clone_trait_object!(CustomDieOrder);
