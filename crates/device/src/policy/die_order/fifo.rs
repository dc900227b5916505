//! First come, first served, for all transactions (FIFO of the PES paper, section 3.2; RHIO's
//! NOOP).

use super::{DieOrder, Params, View};
use fowler_units::TxnId;

/// Serves all transactions in order of arrival.
#[derive(Clone, Debug)]
pub struct Fifo;

impl Fifo {
    pub(super) fn new(_params: &Params, _seed: u64) -> Self {
        Self
    }
}

impl DieOrder for Fifo {
    #[inline]
    fn pick(&mut self, view: &View<'_>) -> Option<TxnId> {
        view.oldest()
    }
}
