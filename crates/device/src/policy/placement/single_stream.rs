//! Placement of all data in one open block per plane.

use super::{Opens, Params, Placement, StreamLimits, StreamTable};
use crate::policy::stream_tag::StreamTag;

/// Puts all data into one stream, with one open block per plane.
#[derive(Clone, Debug)]
pub struct SingleStream;

impl SingleStream {
    pub(super) fn new(_params: &Params, _seed: u64) -> Self {
        Self
    }
}

impl Placement for SingleStream {
    fn streams(&mut self, _limits: StreamLimits) -> StreamTable {
        StreamTable::default()
    }

    fn opens(&mut self, _tag: StreamTag) -> Opens {
        Opens::Oldest
    }
}
