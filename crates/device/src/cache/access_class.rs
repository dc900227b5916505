//! The access classes of pages in the buffer, by their reads and writes there, and the treatment of
//! pages that leave the buffer (HIRE, sections 3.1 and 3.2).

use crate::cells::program_mode::Voltage;
use crate::config::layout::Layout;
use crate::config::{Config, ReadHot};
use crate::policy::hotness::{Hotness, Used};
use crate::policy::stream_tag::StreamTag;
use crate::policy::voltage::{AnyVoltage, VoltageRule};
use fowler_units::{Bytes, DieId, IdVec, Lpn, PlacementHandle};

/// Classifies the pages in the buffer as read-hot, write-hot or mixed, by their reads and writes.
#[derive(Clone, Debug)]
pub struct AccessClasses {
    /// Detectors of read-hot and write-hot data.
    pub hotness: Hotness,
    /// Number of placement handles that tags distinguish; 0 if the placement ignores handles.
    handles: u8,
    /// True if pages stay in the buffer after a read.
    pub keeps_reads: bool,
    /// Treatment of read-hot pages that leave the buffer clean.
    pub read_hot: ReadHot,
    /// For each page, the voltages at which reads assume that it was programmed, set from its
    /// access class when it left the buffer. `None` if reads assume the voltages at which it was
    /// programmed.
    pub marks: Option<IdVec<Lpn, Voltage>>,
    /// The next die to check for enough idle time to reprogram a page.
    pub rewriter: DieId,
}

impl AccessClasses {
    /// Creates the access classes (read-hot, write-hot and so on) of pages in the buffer, before
    /// any page has been used.
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

    /// Returns the memory, on the simulating machine, of the table with the voltages at which each
    /// logical page is assumed to have been programmed; 0 if reads use the voltages of the program.
    pub fn bytes(config: &Config, layout: &Layout) -> Bytes {
        let marked = config.buffer.read_hot == ReadHot::OnEvict;
        Bytes::of::<Voltage>(if marked { layout.mapped_pages.into() } else { 0 })
    }

    /// Returns the stream tag (hotness, access class, placement handle) of data written by a
    /// request of `pages` pages with a placement handle.
    #[inline]
    pub fn tag_of_write(&mut self, pages: u32, handle: PlacementHandle) -> StreamTag {
        let tag = self.hotness.tag_of_write(pages);
        self.placed(tag, handle)
    }

    /// Returns a stream tag with the placement handle of a host write added, if the placement
    /// policy uses handles.
    #[inline]
    pub fn placed(&self, tag: StreamTag, handle: PlacementHandle) -> StreamTag {
        tag.with_host_handle(handle, self.handles)
    }

    /// Returns the stream tag of a page to be programmed, with the page's access class (read-hot,
    /// write-hot or mixed) added.
    #[inline(never)]
    pub fn classified(&mut self, tag: StreamTag, page: Used) -> StreamTag {
        tag.with_class(self.hotness.class(page))
    }

    /// Returns true if, on this drive, it must be known when a page leaves the write buffer whether
    /// it was read-hot, write-hot or mixed there.
    #[inline]
    pub fn asks(&self) -> bool {
        self.hotness.tells_classes() || self.marks.is_some()
    }

    /// Returns, for each page, the voltages at which reads assume that it was programmed: at first,
    /// those of preconditioned data. `None` if reads use the voltages of the program.
    fn marks(config: &Config, layout: &Layout) -> Option<IdVec<Lpn, Voltage>> {
        let rule = AnyVoltage::new(&config.voltage, config.seed);
        let before = StreamTag::PLAIN.with_class(config.precondition.access_class);
        let initially = rule.voltage(before);
        let pages = layout.mapped_pages as usize;
        (config.buffer.read_hot == ReadHot::OnEvict).then(|| IdVec::filled(initially, pages))
    }
}
