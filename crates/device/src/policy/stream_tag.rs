//! The tag of a page to be programmed: its access class, and the expectation that it is overwritten
//! soon.

use serde::{Deserialize, Serialize};

/// The use of a page while it was in the buffer (HIRE, section 3.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum AccessClass {
    /// Read and written, or unknown.
    #[default]
    Mixed,
    /// Read, and rarely written.
    ReadHot,
    /// Written, and rarely read.
    WriteHot,
}

impl AccessClass {
    /// Every class.
    pub const ALL: [AccessClass; 3] =
        [AccessClass::Mixed, AccessClass::ReadHot, AccessClass::WriteHot];
}

fowler_units::enumerated! {
    AccessClass:
    /// A value for each class.
    pub ByClass
}

/// The combined result of the detectors of [`crate::policy::hotness`] for a page, as a number below
/// [`StreamTag::COUNT`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StreamTag(u8);

impl StreamTag {
    /// The number of tags.
    pub const COUNT: usize = 2 * AccessClass::ALL.len();
    /// The tag of a page about which nothing is known.
    pub const PLAIN: StreamTag = StreamTag(0);

    /// Returns every tag.
    pub fn all() -> impl Iterator<Item = StreamTag> {
        (0..StreamTag::COUNT as u8).map(StreamTag)
    }

    /// Creates a tag. `hot` is true for a page that is expected to become invalid soon.
    #[inline]
    pub fn new(hot: bool, class: AccessClass) -> StreamTag {
        StreamTag(2 * class as u8 + u8::from(hot))
    }

    /// Returns the number of the tag.
    #[inline]
    pub fn index(self) -> usize {
        usize::from(self.0)
    }

    /// Returns true if the page is expected to become invalid soon.
    #[inline]
    pub fn is_hot(self) -> bool {
        self.0 & 1 == 1
    }

    /// Returns the access class.
    #[inline]
    pub fn class(self) -> AccessClass {
        AccessClass::ALL[usize::from(self.0 / 2)]
    }

    /// Changes the access class.
    #[inline]
    pub fn with(self, class: AccessClass) -> StreamTag {
        StreamTag::new(self.is_hot(), class)
    }
}
