//! The state of a block, and the number of its pages taken since the last erase, in one word.
//!
//! Invariants: a block goes through its states in one order, free, open, full, collecting, and free
//! again, or is retired for good; the methods of the block table assert the state that they leave.

use serde::{Deserialize, Serialize};

/// The state of a block. Together with the use it was opened for
/// ([`crate::blocks::open_blocks::OpenBlocks::tag_of`]), one of the five states of HIRE (section
/// 3.2):
///
/// | HIRE | here | left by |
/// |---|---|---|
/// | *clean* | `Free` | [`Blocks::open`], for data of one class |
/// | *readActive* | `Open`, for [`crate::AccessClass::ReadHot`] | [`Blocks::fill`], when its last page is programmed |
/// | *writeActive* | `Open`, for [`crate::AccessClass::WriteHot`] | the same |
/// | *mixActive* | `Open`, for [`crate::AccessClass::Mixed`] | the same |
/// | *used* | `Full`, then `Collecting` from [`Blocks::collect`] on | [`Blocks::erase`] alone |
///
/// Each of these methods asserts the state that it leaves. A plane has one open block per class for
/// the host, and one for GC's moves if those are separate (`gc.frontier`).
///
/// [`Blocks::open`]: super::block_table::Blocks::open
/// [`Blocks::fill`]: super::block_table::Blocks::fill
/// [`Blocks::collect`]: super::block_table::Blocks::collect
/// [`Blocks::erase`]: super::block_table::Blocks::erase
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum BlockState {
    /// The block is open: being filled, or waiting for its last program to end.
    Open,
    /// The block is erased and waits to be opened.
    Free,
    /// The block is full: a candidate for GC.
    Full,
    /// The block is a GC victim: its pages are being moved, or it is being erased.
    Collecting,
    /// The block is retired: it or its die has failed.
    Retired,
}

/// The number of pages of a block taken since its last erase, in bits 0 to 28, and the state of the
/// block in bits 29 to 31. The state of an open block is zero, so that one comparison tells if the
/// block takes another page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Progress(pub(super) u32);

/// Maximum number of pages of a block, given the bits that count them.
pub(super) const BLOCK_MOST: u32 = (1 << Progress::BITS) - 1;

impl Progress {
    const BITS: u32 = 29;

    #[inline]
    pub(super) const fn new(state: BlockState, written: u32) -> Self {
        Self(written | (state as u32) << Self::BITS)
    }

    #[inline]
    pub(super) const fn written(self) -> u32 {
        self.0 & BLOCK_MOST
    }

    #[inline]
    pub(super) const fn state(self) -> BlockState {
        match self.0 >> Self::BITS {
            0 => BlockState::Open,
            1 => BlockState::Free,
            2 => BlockState::Full,
            3 => BlockState::Collecting,
            _ => BlockState::Retired,
        }
    }

    #[inline]
    pub(super) const fn is(self, state: BlockState) -> bool {
        self.0 >> Self::BITS == state as u32
    }
}
