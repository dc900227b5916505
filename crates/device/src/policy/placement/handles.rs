//! Placement by handle: one open block per plane, or open superblock, for each placement handle of
//! the host, so that data of one lifetime becomes invalid together (NVMe TP4146, flexible data
//! placement). Data that garbage collection moves stays apart by handle, or does not
//! ([`super::Isolation`]).

use super::{Opens, Params, Placement, StreamId, StreamLimits, StreamTable};
use crate::policy::stream_tag::StreamTag;

/// Gives each placement handle of the host a stream of its own.
#[derive(Clone, Debug)]
pub struct Handles;

impl Handles {
    pub(super) fn new(_params: &Params, _seed: u64) -> Self {
        Self
    }
}

impl Placement for Handles {
    fn streams(&mut self, _limits: StreamLimits) -> StreamTable {
        let mut table = StreamTable::default();
        for tag in StreamTag::all() {
            table[tag.index()] = StreamId(tag.handle());
        }
        table
    }

    fn opens(&mut self, _tag: StreamTag) -> Opens {
        Opens::Oldest
    }
}
