//! Slot: what kind of data is this? A set of detectors; each says one thing about a page on its way
//! to the flash, and what they say together is its [`StreamTag`].
//!
//! Contract. A detector sees what the host does and keeps its own account of it; it never changes
//! the device's. Where data of which tag goes, how it is programmed and when, is asked of other
//! slots.

mod buffer_hits;
mod request_size;

use crate::policy::custom::{Custom, Maker};
use crate::policy::stream_tag::{AccessClass, StreamTag};
use buffer_hits::BufferHits;
use dyn_clone::clone_trait_object;
use fowler_units::{Bytes, Id, Lpn, Nanos};
use request_size::RequestSize;

/// A detector: what a configuration names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Detector {
    /// By the size of the request that writes it.
    RequestSize,
    /// By how it was used in the buffer.
    BufferHits,
}

impl Detector {
    /// Every detector, with its name in configurations and what it goes by.
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
}

/// Parameters of this slot.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Params {
    /// The detectors in use, a bit each.
    pub detectors: u32,
    /// Requests up to this size are hot; zero is the running median of all sizes written.
    pub hot_up_to: Bytes,
    /// `buffer_hits` only: a page is read-hot, or write-hot, if more than this share of its hits
    /// were reads, or writes (w of HIRE, section 3.1), in (0.5, 1].
    pub watermark: f64,
}

impl Params {
    /// Whether a detector is in use.
    pub fn uses(&self, detector: Detector) -> bool {
        self.detectors & (1 << detector as u8) != 0
    }

    /// How many uses its detectors tell apart.
    pub fn classes(&self) -> usize {
        if self.uses(Detector::BufferHits) { AccessClass::ALL.len() } else { 1 }
    }

    /// How many tags its detectors tell apart.
    pub fn tags(&self) -> usize {
        let two = 1 + usize::from(self.uses(Detector::RequestSize));
        two * self.classes()
    }
}

/// The detectors that a device was configured with.
#[derive(Clone, Debug)]
pub struct Hotness {
    request_size: Option<RequestSize>,
    classifier: Option<Classifier>,
}

/// Who tells access classes apart.
#[derive(Clone, Debug)]
enum Classifier {
    BufferHits(BufferHits),
    /// A custom policy of whoever built the drive.
    Custom(Box<dyn CustomHotness>),
}

impl Hotness {
    /// The detectors that `params` name, on a drive with pages of `page_size`.
    pub fn new(params: &Params, page_size: Bytes) -> Self {
        let by_size = params.uses(Detector::RequestSize);
        Self {
            request_size: by_size.then(|| RequestSize::new(params, page_size)),
            classifier: params
                .uses(Detector::BufferHits)
                .then(|| Classifier::BufferHits(BufferHits::new(params))),
        }
    }

    /// The same with the custom policy, if there is one, in the place of `buffer_hits`.
    #[must_use]
    pub fn or_custom(mut self, custom: Option<&Maker<dyn CustomHotness>>) -> Self {
        if let Some(maker) = custom {
            self.classifier = Some(Classifier::Custom(maker.make()));
        }
        self
    }

    /// The tag of what a write request of so many pages brings.
    #[inline]
    pub fn tag_of_write(&mut self, pages: u32) -> StreamTag {
        let hot = self.request_size.as_mut().is_some_and(|detector| detector.is_hot(pages));
        StreamTag::new(hot, AccessClass::Mixed)
    }

    /// How a page was used that is programmed, or leaves the buffer.
    #[inline]
    pub fn class(&mut self, page: Used) -> AccessClass {
        match &mut self.classifier {
            None => AccessClass::Mixed,
            Some(Classifier::BufferHits(detector)) => detector.class(page.reads, page.writes),
            Some(Classifier::Custom(detector)) => detector.class(page),
        }
    }

    /// Whether access classes are told apart.
    pub fn tells_classes(&self) -> bool {
        self.classifier.is_some()
    }
}

/// Takes the place of the detector `buffer_hits` .
pub trait CustomHotness: Custom {
    /// How a page was used. Asked when its program is opened, and when it leaves the buffer.
    fn class(&mut self, page: Used) -> AccessClass;
}
clone_trait_object!(CustomHotness);

/// A page of the buffer, and how it was used there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Used {
    /// Whose data it is.
    pub lpn: Lpn,
    /// How often it was read, and written, the first reference included.
    pub reads: u16,
    /// See `reads`.
    pub writes: u16,
    /// The present.
    pub now: Nanos,
}

impl Used {
    /// A page of which nothing but its hits matters.
    pub fn often(reads: u16, writes: u16) -> Used {
        Used { lpn: Lpn::NONE, reads, writes, now: Nanos::ZERO }
    }
}
