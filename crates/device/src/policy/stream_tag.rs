//! What is known of a page on its way to the flash: how it was used, and whether it is hot.

use serde::{Deserialize, Serialize};

/// How a page was used while it was in the buffer (HIRE, section 3.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum AccessClass {
    /// Read and written, or nothing is known of it.
    #[default]
    Mixed,
    /// Read, and hardly ever written.
    ReadHot,
    /// Written, and hardly ever read.
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

/// What the detectors of [`crate::policy::hotness`] say of a page: the product of their answers, as
/// a number below [`StreamTag::COUNT`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StreamTag(u8);

impl StreamTag {
    /// How many tags there are.
    pub const COUNT: usize = 2 * AccessClass::ALL.len();
    /// Nothing is said of it.
    pub const PLAIN: StreamTag = StreamTag(0);

    /// Whether it is expected to be invalid soon, and how it was used.
    #[inline]
    pub fn new(hot: bool, class: AccessClass) -> StreamTag {
        StreamTag(2 * class as u8 + u8::from(hot))
    }

    /// Its number.
    #[inline]
    pub fn index(self) -> usize {
        usize::from(self.0)
    }

    /// Whether it is expected to be invalid soon.
    #[inline]
    pub fn is_hot(self) -> bool {
        self.0 & 1 == 1
    }

    /// How it was used.
    #[inline]
    pub fn class(self) -> AccessClass {
        AccessClass::ALL[usize::from(self.0 / 2)]
    }

    /// The same of another use.
    #[inline]
    pub fn with(self, class: AccessClass) -> StreamTag {
        StreamTag::new(self.is_hot(), class)
    }
}
