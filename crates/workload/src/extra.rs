//! Demands of a line besides its record: a flush before a write, more of a trim than a request can
//! have.
//!
//! A line is decoded into one record; nearly every line needs no more. The demands of the others
//! are noted on the cursor, so that records stay small.

/// The longest trim that is read, in bytes: 256 TiB, more than any drive holds. A line must not
/// make requests without a bound.
pub(crate) const LONGEST_TRIM: u64 = 1 << 48;

/// Pieces of a trim end at multiples of this many bytes, so that no cut is inside a page or block.
pub(crate) const PIECE: u64 = 1 << 31;

/// Demands of a line besides its record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Extra {
    /// A flush comes before the record: the preflush of a write.
    pub preflush: bool,
    /// The record is to reach the medium before it is answered: forced unit access (FUA).
    pub forced: bool,
    /// The record is a command that writes zeroes, read as a trim.
    pub zeroes: bool,
    /// Bytes of a trim behind the end of the record.
    pub more: u64,
}

impl Extra {
    /// Nothing.
    pub const NONE: Extra = Extra { preflush: false, forced: false, zeroes: false, more: 0 };

    /// Returns both together.
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

/// Returns the size of the first piece of a trim.
pub(crate) fn first_piece(offset: u64, size: u64) -> u32 {
    let piece = size.min(PIECE - offset % PIECE);
    u32::try_from(piece).expect("a piece has at most 2 GiB")
}
