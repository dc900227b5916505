//! Slot: the detectors of access classes and hot data. Each determines one property of a page on
//! its way to the flash; together, the properties form the page's [`StreamTag`].
//!
//! Contract. A detector observes the host and keeps its own statistics; it never changes the
//! drive's state. Other slots decide where data with a tag goes, and how and when it is programmed.

mod buffer_hits;
mod request_size;

use crate::policy::custom::{Custom, Maker};
use crate::policy::needs::Needs;
use crate::policy::stream_tag::{AccessClass, StreamTag};
use buffer_hits::BufferHits;
use dyn_clone::clone_trait_object;
use fowler_units::{Bytes, Id, Lpn, Nanos};
use request_size::RequestSize;

/// A detector of access classes or of hot data, as named in a configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Detector {
    /// Classifies a page by the size of the request that writes it.
    RequestSize,
    /// Classifies a page by its reads and writes while in the buffer.
    BufferHits,
}

impl Detector {
    /// All detectors of hot data and access classes: name in configurations, and criterion.
    pub const ALL: &'static [(Detector, &'static str, &'static str)] = &[
        (
            Detector::RequestSize,
            "request_size",
            "data of small requests is hot: up to policy.hotness.hot_up_to, or up to their median",
        ),
        (
            Detector::BufferHits,
            "buffer_hits",
            "read-hot, write-hot or mixed, by the hits that a page had in the buffer",
        ),
    ];

    /// Returns the property of a drive that this detector of hot data or access classes needs.
    pub fn needs(self) -> Needs {
        match self {
            Detector::RequestSize | Detector::BufferHits => Needs::Nothing,
        }
    }
}

/// Configuration of the detectors of access classes and of hot data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Params {
    /// Enabled detectors of access classes and of hot data, one bit each.
    pub detectors: u32,
    /// Largest size of requests whose data is hot; zero selects the running median of all sizes
    /// written.
    pub hot_up_to: Bytes,
    /// Share of reads among a page's hits above which the page is read-hot, and of writes above
    /// which it is write-hot (w of HIRE, section 3.1), in (0.5, 1] (`buffer_hits` only).
    pub watermark: f64,
}

impl Params {
    /// Returns true if a detector of access classes or of hot data is enabled.
    pub fn uses(&self, detector: Detector) -> bool {
        self.detectors & (1 << detector as u8) != 0
    }

    /// Returns the number of access classes (read-hot, write-hot, mixed) that the enabled detectors
    /// distinguish: 3 or 1.
    pub fn classes(&self) -> usize {
        if self.uses(Detector::BufferHits) { AccessClass::ALL.len() } else { 1 }
    }

    /// Number of stream tags (hot or not, times access class) that the enabled detectors
    /// distinguish: 1 to 6.
    pub fn tags(&self) -> usize {
        let two = 1 + usize::from(self.uses(Detector::RequestSize));
        two * self.classes()
    }
}

/// The detectors of access classes and of hot data of a drive.
#[derive(Clone, Debug)]
pub struct Hotness {
    request_size: Option<RequestSize>,
    classifier: Option<Classifier>,
}

/// Source of the access classes of pages: a built-in detector or a custom policy.
#[derive(Clone, Debug)]
enum Classifier {
    BufferHits(BufferHits),
    /// A custom policy supplied by the code that builds the drive.
    Custom(Box<dyn CustomHotness>),
}

impl Hotness {
    /// Creates the detectors of hot data and access classes that `params` selects, on a drive with
    /// pages of `page_size`.
    pub fn new(params: &Params, page_size: Bytes) -> Self {
        let by_size = params.uses(Detector::RequestSize);
        Self {
            request_size: by_size.then(|| RequestSize::new(params, page_size)),
            classifier: params
                .uses(Detector::BufferHits)
                .then(|| Classifier::BufferHits(BufferHits::new(params))),
        }
    }

    /// Replaces the built-in detector `buffer_hits`, which classifies pages as read-hot, write-hot
    /// or mixed by their use in the buffer, by the custom policy `custom`, if there is one.
    #[must_use]
    pub fn or_custom(mut self, custom: Option<&Maker<dyn CustomHotness>>) -> Self {
        if let Some(maker) = custom {
            self.classifier = Some(Classifier::Custom(maker.make()));
        }
        self
    }

    /// Returns the stream tag of data written by a request of `pages` pages.
    #[inline]
    pub fn tag_of_write(&mut self, pages: u32) -> StreamTag {
        let hot = self.request_size.as_mut().is_some_and(|detector| detector.is_hot(pages));
        StreamTag::new(hot, AccessClass::Mixed)
    }

    /// Returns the sizes of the requests seen so far in pages, each with its number of requests;
    /// empty without a detector of sizes.
    pub fn sizes_seen(&self) -> Vec<(u32, u64)> {
        self.request_size.as_ref().map_or_else(Vec::new, RequestSize::seen)
    }

    /// Restores the sizes of the requests that the detector of hot data by request size has seen.
    /// Returns false if a drive with this configuration cannot have seen them.
    pub fn resume_sizes(&mut self, seen: &[(u32, u64)]) -> bool {
        match &mut self.request_size {
            Some(detector) => detector.resume(seen),
            None => seen.is_empty(),
        }
    }

    /// Returns the access class of a page that is programmed or leaves the buffer.
    #[inline]
    pub fn class(&mut self, page: Used) -> AccessClass {
        match &mut self.classifier {
            None => AccessClass::Mixed,
            Some(Classifier::BufferHits(detector)) => detector.class(page.reads, page.writes),
            Some(Classifier::Custom(detector)) => detector.class(page),
        }
    }

    /// Returns true if pages are classified as read-hot, write-hot or mixed.
    pub fn tells_classes(&self) -> bool {
        self.classifier.is_some()
    }
}

/// A custom policy that classifies pages as read-hot, write-hot or mixed. It replaces the built-in
/// detector `buffer_hits`, which does so by the reads and writes of a page in the buffer.
pub trait CustomHotness: Custom {
    /// Returns a page's access class. Called when the page's program is opened, and when it leaves
    /// the buffer.
    fn class(&mut self, page: Used) -> AccessClass;
}
clone_trait_object!(CustomHotness);

/// A page in the buffer, with its reads and writes while there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Used {
    /// Logical page whose access class is determined.
    pub lpn: Lpn,
    /// Number of reads of the page in the buffer, the first reference included.
    pub reads: u16,
    /// Number of writes of the page in the buffer, the first reference included.
    pub writes: u16,
    /// Simulated time at which the access class is asked for.
    pub now: Nanos,
}

impl Used {
    /// Creates the input of a classifier that considers only a page's reads and writes in the
    /// buffer.
    pub fn often(reads: u16, writes: u16) -> Used {
        Used { lpn: Lpn::NONE, reads, writes, now: Nanos::ZERO }
    }
}
