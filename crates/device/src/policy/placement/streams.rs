//! Placement by tag: one open block per plane and tag, so that data of one kind becomes invalid
//! together. With `hot_to_strong`, hot data goes to strong blocks. Their pages soon become invalid,
//! so the blocks are soon free for hot data again. Other data goes to weaker blocks (RHIO, section
//! III-A).

use super::{Opens, Params, Placement, StreamId, StreamLimits, StreamTable};
use crate::policy::stream_tag::StreamTag;

/// Gives each stream tag a stream of its own.
#[derive(Clone, Debug)]
pub struct Streams {
    hot_to_strong: bool,
}

impl Streams {
    pub(super) fn new(params: &Params, _seed: u64) -> Self {
        Self { hot_to_strong: params.hot_to_strong }
    }
}

impl Placement for Streams {
    fn streams(&mut self, _limits: StreamLimits) -> StreamTable {
        let mut table = StreamTable::default();
        for tag in StreamTag::all() {
            table[tag.index()] = StreamId(tag.with_handle(0).index() as u8);
        }
        table
    }

    fn opens(&mut self, tag: StreamTag) -> Opens {
        match (self.hot_to_strong, tag.is_hot()) {
            (false, _) => Opens::Oldest,
            (true, true) => Opens::Strongest,
            (true, false) => Opens::Weakest,
        }
    }
}
