//! How pages were used while they were in the buffer, and what becomes of those that leave it
//! (HIRE, sections 3.1 and 3.2).

use crate::cells::program_mode::Voltage;
use crate::config::layout::Layout;
use crate::config::{Config, ReadHot};
use crate::policy::hotness::{Hotness, Used};
use crate::policy::stream_tag::StreamTag;
use crate::policy::voltage::{AnyVoltage, VoltageRule};
use fowler_units::{DieId, IdVec, Lpn};

/// What tells pages apart by their use.
#[derive(Clone, Debug)]
pub struct AccessClasses {
    /// The detectors.
    pub hotness: Hotness,
    /// Whether pages that were read stay in the buffer.
    pub keeps_reads: bool,
    /// What becomes of pages that leave clean and were read hot.
    pub read_hot: ReadHot,
    /// Where a page is read by how it left the buffer: the voltages it is taken to be programmed
    /// at.
    pub marks: Option<IdVec<Lpn, Voltage>>,
    /// The die that is asked next whether it is idle enough to program anew.
    pub rewriter: DieId,
}

impl AccessClasses {
    /// Nothing was used yet.
    pub fn new(config: &Config, layout: &Layout) -> Self {
        Self {
            hotness: Hotness::new(&config.hotness, layout.geometry.page_size)
                .or_custom(config.policies.hotness.as_ref()),
            keeps_reads: config.buffer.cache_reads,
            read_hot: config.buffer.read_hot,
            marks: Self::marks(config, layout),
            rewriter: DieId(0),
        }
    }

    /// The tag of a page that is programmed, with the class of its use.
    #[inline(never)]
    pub fn classified(&mut self, tag: StreamTag, page: Used) -> StreamTag {
        tag.with(self.hotness.class(page))
    }

    /// Whether anybody asks how a page was used that leaves the buffer.
    #[inline]
    pub fn asks(&self) -> bool {
        self.hotness.tells_classes() || self.marks.is_some()
    }

    /// The voltages that each page is taken to be programmed at, where its last use says so.
    fn marks(config: &Config, layout: &Layout) -> Option<IdVec<Lpn, Voltage>> {
        let rule = AnyVoltage::new(&config.voltage, config.seed);
        let initially = rule.voltage(StreamTag::PLAIN);
        let pages = layout.mapped_pages as usize;
        (config.buffer.read_hot == ReadHot::OnEvict).then(|| IdVec::filled(initially, pages))
    }
}
