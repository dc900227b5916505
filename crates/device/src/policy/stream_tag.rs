//! The tag of a page to be programmed: its access class, the expectation that it is overwritten
//! soon, and the placement handle that the host gave it.

use fowler_units::PlacementHandle;
use serde::{Deserialize, Serialize};

/// The use of a page while it was in the buffer (HIRE, section 3.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum AccessClass {
    /// The page was both read and written, or its use is unknown.
    #[default]
    Mixed,
    /// The page was read, and rarely written.
    ReadHot,
    /// The page was written, and rarely read.
    WriteHot,
}

impl AccessClass {
    /// All access classes, in the order of their numbers.
    pub const ALL: [AccessClass; 3] =
        [AccessClass::Mixed, AccessClass::ReadHot, AccessClass::WriteHot];
}

fowler_units::enumerated! {
    AccessClass:
    /// Array of one value for each access class of data (read-hot, write-hot or mixed).
    pub ByClass
}

/// The tag of a page, which selects its stream: the results of the detectors of
/// [`crate::policy::hotness`], and the host's placement handle on a drive whose placement uses
/// handles (0 on others). A number below [`StreamTag::COUNT`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StreamTag(u8);

/// Number of bits of a page's stream tag below those of its placement handle: one for hot data, two
/// for the access class.
const HANDLE_SHIFT: u32 = 3;

impl StreamTag {
    /// Number of placement handles that stream tags distinguish.
    pub const HANDLES: u8 = 8;
    /// Number of stream tags with one placement handle: hot or not, times three access classes.
    pub const PLAIN_COUNT: usize = 2 * AccessClass::ALL.len();
    /// Bound of [`StreamTag::index`]: 8 numbers for each placement handle, of which tags use 6.
    pub const COUNT: usize = (StreamTag::HANDLES as usize) << HANDLE_SHIFT;
    /// The stream tag of a page about which nothing is known.
    pub const PLAIN: StreamTag = StreamTag(0);

    /// Returns all stream tags: each combination of hotness, access class and placement handle.
    pub fn all() -> impl Iterator<Item = StreamTag> {
        let handles = 0..StreamTag::HANDLES;
        handles.flat_map(|handle| {
            let classes = AccessClass::ALL.into_iter();
            let plain =
                classes.flat_map(|class| [false, true].map(|hot| StreamTag::new(hot, class)));
            plain.map(move |tag| tag.with_handle(handle))
        })
    }

    /// Creates a stream tag with placement handle 0. `hot` is true for a page that is expected to
    /// become invalid soon.
    #[inline]
    pub fn new(hot: bool, class: AccessClass) -> StreamTag {
        StreamTag(2 * class as u8 + u8::from(hot))
    }

    /// Returns the number of the stream tag, below [`StreamTag::COUNT`].
    #[inline]
    pub fn index(self) -> usize {
        usize::from(self.0)
    }

    /// Returns true if the page is expected to become invalid soon.
    #[inline]
    pub fn is_hot(self) -> bool {
        self.0 & 1 == 1
    }

    /// Returns the access class of the page.
    #[inline]
    pub fn class(self) -> AccessClass {
        AccessClass::ALL[usize::from(self.0 >> 1 & 3)]
    }

    /// Returns the number of the tag's placement handle, below [`StreamTag::HANDLES`].
    #[inline]
    pub fn handle(self) -> u8 {
        self.0 >> HANDLE_SHIFT
    }

    /// Returns the stream tag with another access class.
    #[inline]
    pub fn with_class(self, class: AccessClass) -> StreamTag {
        StreamTag(self.0 & !0b110 | (2 * class as u8))
    }

    /// Returns the stream tag with another placement handle.
    #[inline]
    pub fn with_handle(self, handle: u8) -> StreamTag {
        debug_assert!(handle < StreamTag::HANDLES);
        StreamTag(self.0 & 0b111 | (handle << HANDLE_SHIFT))
    }

    /// Returns the tag with the placement handle that the host named, on a drive with `handles`
    /// handles. A write without a handle gets handle 0 (NVMe TP4146). So does one with a handle
    /// that the drive does not have: the standard leaves that choice to the controller.
    #[inline]
    pub fn with_host_handle(self, host: PlacementHandle, handles: u8) -> StreamTag {
        if host.0 < handles { self.with_handle(host.0) } else { self }
    }

    /// Returns the stream tag (access class, placement handle, hotness) of this data, marked as
    /// expected to become invalid soon.
    #[inline]
    pub fn as_hot(self) -> StreamTag {
        StreamTag(self.0 | 1)
    }

    /// Returns the stream tag that data gets when garbage collection has moved it: with the access
    /// class and placement handle of before, but no longer expected to become invalid soon.
    #[inline]
    pub fn as_cold(self) -> StreamTag {
        StreamTag(self.0 & !1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_is_what_it_was_made_of() {
        assert_eq!(StreamTag::all().count(), 48);
        for tag in StreamTag::all() {
            let (hot, class, handle) = (tag.is_hot(), tag.class(), tag.handle());
            assert!(tag.index() < StreamTag::COUNT);
            assert_eq!(StreamTag::new(hot, class).with_handle(handle), tag);
            let cold = tag.as_cold();
            assert_eq!((cold.is_hot(), cold.class(), cold.handle()), (false, class, handle));
            for class in AccessClass::ALL {
                let with = tag.with_class(class);
                assert_eq!((with.is_hot(), with.class(), with.handle()), (hot, class, handle));
            }
        }
    }

    #[test]
    fn a_write_without_a_handle_of_the_drive_goes_to_the_first() {
        for (host, handle) in [(0, 0), (3, 3), (4, 0), (7, 0), (254, 0), (255, 0)] {
            let tag = StreamTag::new(true, AccessClass::WriteHot);
            let placed = tag.with_host_handle(PlacementHandle(host), 4);
            assert_eq!(placed, tag.with_handle(handle), "handle {host} of a drive with 4");
        }
    }
}
