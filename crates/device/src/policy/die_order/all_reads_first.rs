//! Die order: all reads in order of arrival, those of garbage collection among those of the host,
//! then everything else in order of arrival.

use super::{DieOrder, Params, View};
use fowler_units::TxnId;

/// Serves all reads first, then everything else, each in order of arrival.
#[derive(Clone, Debug)]
pub struct AllReadsFirst;

impl AllReadsFirst {
    pub(super) fn new(_params: &Params, _seed: u64) -> Self {
        Self
    }
}

impl DieOrder for AllReadsFirst {
    #[inline]
    fn pick(&mut self, view: &View<'_>) -> Option<TxnId> {
        view.oldest_read().or_else(|| view.oldest())
    }
}
