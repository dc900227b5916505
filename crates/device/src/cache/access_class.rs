//! The use of pages while they are in the buffer, and the treatment of pages that leave it (HIRE,
//! sections 3.1 and 3.2).

use crate::cells::program_mode::Voltage;
use crate::config::layout::Layout;
use crate::config::{Config, ReadHot};
use crate::policy::hotness::{Hotness, Used};
use crate::policy::stream_tag::StreamTag;
use crate::policy::voltage::{AnyVoltage, VoltageRule};
use fowler_units::{Bytes, DieId, IdVec, Lpn, PlacementHandle};

/// Classifies pages by their use.
#[derive(Clone, Debug)]
pub struct AccessClasses {
    /// The detectors.
    pub hotness: Hotness,
    /// The number of placement handles that tags tell apart; 0 if the placement does not go by
    /// them.
    handles: u8,
    /// True if pages stay in the buffer after a read.
    pub keeps_reads: bool,
    /// The treatment of read-hot pages that leave the buffer clean.
    pub read_hot: ReadHot,
    /// The voltages at which each page is assumed to be programmed, if a page is read according to
    /// how it left the buffer.
    pub marks: Option<IdVec<Lpn, Voltage>>,
    /// The next die to check for enough idle time to reprogram a page.
    pub rewriter: DieId,
}

impl AccessClasses {
    /// No page has been used yet.
    pub fn new(config: &Config, layout: &Layout) -> Self {
        Self {
            hotness: Hotness::new(&config.hotness, layout.geometry.page_size)
                .or_custom(config.policies.hotness.as_ref()),
            handles: config.placement.tagged_handles(),
            keeps_reads: config.buffer.cache_reads,
            read_hot: config.buffer.read_hot,
            marks: Self::marks(config, layout),
            rewriter: DieId(0),
        }
    }

    /// Returns the memory that the marks of all pages take.
    pub fn bytes(config: &Config, layout: &Layout) -> Bytes {
        let marked = config.buffer.read_hot == ReadHot::OnEvict;
        Bytes::of::<Voltage>(if marked { layout.mapped_pages.into() } else { 0 })
    }

    /// Returns the tag of data written by a request of `pages` pages with a placement handle.
    #[inline]
    pub fn tag_of_write(&mut self, pages: u32, handle: PlacementHandle) -> StreamTag {
        let tag = self.hotness.tag_of_write(pages);
        self.placed(tag, handle)
    }

    /// Returns a tag with the placement handle of a write, if the placement goes by handles.
    #[inline]
    pub fn placed(&self, tag: StreamTag, handle: PlacementHandle) -> StreamTag {
        tag.with_host_handle(handle, self.handles)
    }

    /// Returns the tag of a page to be programmed, with its access class.
    #[inline(never)]
    pub fn classified(&mut self, tag: StreamTag, page: Used) -> StreamTag {
        tag.with_class(self.hotness.class(page))
    }

    /// Returns true if the access class of a page that leaves the buffer is needed.
    #[inline]
    pub fn asks(&self) -> bool {
        self.hotness.tells_classes() || self.marks.is_some()
    }

    /// Returns the voltages at which each page is assumed to be programmed, if they depend on its
    /// last use.
    fn marks(config: &Config, layout: &Layout) -> Option<IdVec<Lpn, Voltage>> {
        let rule = AnyVoltage::new(&config.voltage, config.seed);
        let before = StreamTag::PLAIN.with_class(config.precondition.access_class);
        let initially = rule.voltage(before);
        let pages = layout.mapped_pages as usize;
        (config.buffer.read_hot == ReadHot::OnEvict).then(|| IdVec::filled(initially, pages))
    }
}
