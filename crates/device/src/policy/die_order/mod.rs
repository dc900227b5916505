//! Slot: the choice of the waiting transaction that a die serves next.
//!
//! Contract. `pick` returns one of the transactions in the view, or `None` to leave the die as it
//! is. `pick` is a pure decision: a policy may update its own state, never the drive's.
//!
//! Called by `Flash::pick` (`flash/mod.rs`), which never lets an erase overtake a read of its
//! block. If a custom order picks a program of a superblock, the first waiting program of that
//! block is served. The view hides programs that have no page to go to. Built-in orders are not
//! called if only one transaction waits, or if only one class waits and they keep the order of
//! submission within a class. Custom orders are always called.

pub use crate::flash::queue::View;
pub use crate::flash::queue::{TxnClass as Queued, Waiting};
use crate::policy::custom::Custom;
use crate::policy::registry::slot;
use dyn_clone::clone_trait_object;
use fowler_units::{Deadline, Span, TxnId};

slot! { $
    /// The die order of a drive: the policy that chooses the waiting transaction that a die serves
    /// next.
    pub enum AnyDieOrder, named DieOrderKind, match by each_die_order, or Custom(CustomDieOrder) {
        "fifo" => fifo::Fifo needs Nothing, "first come, first served";
        "read_first" => read_first::ReadFirst needs Nothing, "reads that a host request waits for, then everything else in order of arrival";
        "all_reads_first" => all_reads_first::AllReadsFirst needs Nothing, "all reads in order of arrival, then everything else in order of arrival";
        "rhio" => rhio::Rhio needs Nothing, "overdue requests, then reads of the youngest data, then writes of the smallest requests";
    }
}

/// Configuration of the die order: the order in which a die serves waiting transactions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Params {
    /// Name of the selected die order, the policy that chooses the transaction that a die serves
    /// next.
    pub name: DieOrderKind,
    /// Time in the drive after which a transaction is served before any other, unless its request
    /// has a deadline of its own (`rhio` only).
    pub deadline: Span,
}

/// Step between two deadlines of requests: that of the ICC field of NCQ with its bit 7 cleared
/// (RHIO, section III-A).
pub(crate) const DEADLINE_GRAIN: Span = Span::ms(10);
/// Number of different deadlines that a request can have: that of the ICC field of NCQ with its bit
/// 7 cleared.
pub(crate) const DEADLINES_MAX: u64 = 128;

/// Returns the deadline of a request in steps of 10 ms, as commands of NCQ state it: rounded down,
/// but at least one; zero for a request without a deadline. See docs/decisions/flash.md, "Whose
/// deadline counts?".
#[inline]
pub(crate) fn deadline_steps(deadline: Deadline) -> u8 {
    deadline.span().map_or(0, steps_of)
}

#[cold]
fn steps_of(span: Span) -> u8 {
    (span.0 / DEADLINE_GRAIN.0).clamp(1, DEADLINES_MAX) as u8
}

/// A policy that chooses which of the transactions waiting for a die is served next.
pub trait DieOrder {
    /// Returns the transaction that the die serves next.
    fn pick(&mut self, view: &View<'_>) -> Option<TxnId>;
}

impl Params {
    /// Returns true if the die order needs host reads ordered by the age of their data and host
    /// programs by the size of their requests, besides their order of submission.
    pub fn ranks(&self) -> bool {
        self.name == DieOrderKind::Rhio
    }

    /// Returns true if the die order serves transactions of one class in order of submission, so
    /// that it need not be called if only one class waits. False if it orders reads by the age of
    /// their data, or programs by the size of their requests.
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

/// A custom policy that chooses the waiting transaction that a die serves next, supplied by the
/// code that builds the drive.
pub trait CustomDieOrder: Custom {
    /// Returns the transaction that the die serves next, one of the waiting ones in `view`. `None`
    /// is allowed only if `view` is empty: no die stays idle while a transaction can be served. See
    /// docs/decisions/flash.md, "May a die order leave a free die idle while something waits?".
    fn pick(&mut self, view: &View<'_>) -> Option<TxnId>;
}
clone_trait_object!(CustomDieOrder);
