//! Die order of RHIO (section III): reads before writes. Among reads, those of the youngest data
//! come first; among writes, those of the smallest requests, which are the hottest. All other
//! transactions are served by age, as under read priority. Transactions past their deadline (that
//! of their request, or else the drive's) come before all others, the earliest deadline first.
//!
//! If errors are not modeled, all reads take equally long and are served in order of arrival.

use super::{DieOrder, Params, View};
use crate::flash::queue::TxnClass;
use fowler_units::TxnId;

/// Serves the read of the youngest data first, then the program of the smallest request (RHIO). See
/// docs/decisions/flash.md, "Where does background work rank under RHIO's order?".
#[derive(Clone, Debug)]
pub struct Rhio;

impl Rhio {
    pub(super) fn new(_params: &Params, _seed: u64) -> Self {
        Self
    }
}

impl DieOrder for Rhio {
    /// Picks the transaction that a die serves next; called only if several wait. Not inlined, so
    /// that the other policies at the same call site need not save registers for it.
    #[inline(never)]
    fn pick(&mut self, view: &View<'_>) -> Option<TxnId> {
        view.overdue().or_else(|| view.first(TxnClass::HostRead)).or_else(|| {
            let oldest = view.oldest()?;
            match view.txn(oldest).class {
                TxnClass::HostProgram => view.first(TxnClass::HostProgram),
                _ => Some(oldest),
            }
        })
    }
}
