//! Tags, which stand for the data of pages where redundancy is computed.
//!
//! Invariants: the tag of parity is the exclusive-or of the tags of its pages, so that any one of
//! them follows from the others; an empty page, and the parity of no pages, have the tag zero.

use std::ops::{BitXor, BitXorAssign};

/// Stands for the data of a page, or for the parity of several pages: the version of the data that
/// it should hold, and the error of the actual contents. The tag of parity is the exclusive-or of
/// the tags of the pages from which the parity was computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tag {
    pub version: u64,
    pub error: u64,
}

impl Tag {
    /// Tag (version and error) of an empty page, or of the parity of no pages: all zero.
    pub const ZERO: Tag = Tag { version: 0, error: 0 };

    /// Returns the tag of a page's contents that are right: the version of the data, and no error.
    pub fn right(version: u64) -> Self {
        Tag { version, error: 0 }
    }
}

impl BitXor for Tag {
    type Output = Tag;
    fn bitxor(self, other: Tag) -> Tag {
        Tag { version: self.version ^ other.version, error: self.error ^ other.error }
    }
}

impl BitXorAssign for Tag {
    fn bitxor_assign(&mut self, other: Tag) {
        *self = *self ^ other;
    }
}

/// Spreads a number over all 64 bits (the finalizer of SplitMix64), so that an exclusive-or of some
/// versions equals another one only with a probability of 2^-64.
pub(super) fn spread(number: u64) -> u64 {
    let mut z = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
