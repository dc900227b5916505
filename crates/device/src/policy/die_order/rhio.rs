//! Reads before writes; among the reads the youngest data first, among the writes those of the
//! smallest requests, which are the hottest (RHIO, section III). What is neither keeps its turn by
//! age, as it has under read priority. Whatever has waited for its deadline is served at once, the
//! oldest first.
//!
//! Where no errors are modelled no read takes longer than another: reads are served as they come.

use super::{DieOrder, Params, View};
use crate::flash::queue::TxnClass;
use fowler_units::{Span, TxnId};

/// See the module.
/// See docs/decisions/flash.md, "Where does background work rank under RHIO's order?".
#[derive(Clone, Debug)]
pub struct Rhio {
    deadline: Span,
}

impl Rhio {
    pub(super) fn new(params: &Params, _seed: u64) -> Self {
        Self { deadline: params.deadline }
    }
}

impl DieOrder for Rhio {
    /// Of many: what waits alone is taken without asking. A call of its own, so that the other
    /// orders, which share the place that asks, save no registers for it.
    #[inline(never)]
    fn pick(&mut self, view: &View<'_>) -> Option<TxnId> {
        view.overdue(self.deadline).or_else(|| view.first(TxnClass::HostRead)).or_else(|| {
            let oldest = view.oldest()?;
            match view.txn(oldest).class {
                TxnClass::HostProgram => view.first(TxnClass::HostProgram),
                _ => Some(oldest),
            }
        })
    }
}
