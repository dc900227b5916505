//! One open block per plane, for all data.

use super::{Opens, Params, Placement};
use crate::policy::stream_tag::StreamTag;

/// The policy; see the module.
#[derive(Clone, Debug)]
pub struct SingleStream;

impl SingleStream {
    pub(super) fn new(_params: &Params, _seed: u64) -> Self {
        Self
    }
}

impl Placement for SingleStream {
    #[inline]
    fn stream(&self, _tag: StreamTag) -> usize {
        0
    }

    fn opens(&self, _tag: StreamTag) -> Opens {
        Opens::Oldest
    }
}
