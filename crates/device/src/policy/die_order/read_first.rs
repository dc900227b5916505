//! Die order: read priority scheduling (RPS of the PES paper, section 3.2). The oldest read that a
//! host request waits for comes first, then everything else in order of arrival.

use super::{DieOrder, Params, View};
use crate::flash::queue::TxnClass;
use fowler_units::TxnId;

/// Serves reads that a host request waits for first (RPS), then everything else in order of
/// arrival.
#[derive(Clone, Debug)]
pub struct ReadFirst;

impl ReadFirst {
    pub(super) fn new(_params: &Params, _seed: u64) -> Self {
        Self
    }
}

impl DieOrder for ReadFirst {
    #[inline]
    fn pick(&mut self, view: &View<'_>) -> Option<TxnId> {
        view.head(TxnClass::HostRead).or_else(|| view.oldest())
    }
}
