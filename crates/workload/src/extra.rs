//! Demands of a trace line beyond its one record: a flush before a write, or a trim longer than one
//! request can be.
//!
//! Nearly every line needs no more than one record. Other demands are stored on the cursor, so that
//! records stay small.

/// Longest trim that is read, in bytes: 256 TiB, more than any drive holds. The limit bounds the
/// number of requests from one line.
pub(crate) const LONGEST_TRIM: u64 = 1 << 48;

/// Long trims are cut at multiples of this many bytes, so that no cut is inside a page or block.
pub(crate) const PIECE: u64 = 1 << 31;

/// Flags and further requests that a trace line asks for beside its own request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Extra {
    /// True if a flush precedes the record: the preflush of a write.
    pub preflush: bool,
    /// True for forced unit access (FUA): the record must reach the medium before it is
    /// acknowledged.
    pub forced: bool,
    /// True if the record is a command that writes zeroes, replayed as a trim.
    pub zeroes: bool,
    /// Number of bytes of a long trim that remain after the first request, which covers as much as
    /// one request can.
    pub more: u64,
}

impl Extra {
    /// No flags and no further requests: what nearly every trace line asks for.
    pub const NONE: Extra = Extra { preflush: false, forced: false, zeroes: false, more: 0 };

    /// Returns the flags and further requests that two parts of one trace line ask for, together.
    #[inline]
    pub fn and(self, other: Extra) -> Extra {
        Extra {
            preflush: self.preflush || other.preflush,
            forced: self.forced || other.forced,
            zeroes: self.zeroes || other.zeroes,
            more: self.more + other.more,
        }
    }
}

/// Returns the size of the first piece of a trim, in bytes.
pub(crate) fn first_piece(offset: u64, size: u64) -> u32 {
    let piece = size.min(PIECE - offset % PIECE);
    u32::try_from(piece).expect("a piece has at most 2 GiB")
}
