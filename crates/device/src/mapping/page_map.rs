//! The page table from logical to physical and back. One `u32` in each direction: these 8 bytes per
//! page dominate the memory use of a simulation, so nothing else may be stored here.
//!
//! Invariants: an entry is a unit below [`BUFFERED`], a frame with that bit set, or all ones for a
//! page without data; the owner of a unit is the page with which it was last programmed, valid or
//! not.

use crate::config::layout::PAGES_MAX;
use fowler_units::{Bytes, FrameId, Id, IdVec, Lpn, UnitId};

/// The location of a logical page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Location {
    /// The page is unmapped: never written, or trimmed.
    Nowhere,
    /// The page is in the flash, in this mapping unit.
    Flash(UnitId),
    /// The page is in the write buffer. The frame knows the copy in the flash, if there is one.
    Buffer(FrameId),
}

const BUFFERED: u32 = 1 << 31;
const _: () = assert!(PAGES_MAX < BUFFERED as u64);

#[inline]
fn place(raw: u32) -> Location {
    if raw & BUFFERED == 0 {
        Location::Flash(UnitId(raw))
    } else if raw == u32::MAX {
        Location::Nowhere
    } else {
        Location::Buffer(FrameId(raw & !BUFFERED))
    }
}

/// Both directions of the mapping: logical page to unit or frame, and unit to logical page.
#[derive(Clone, Debug)]
pub struct PageMap {
    forward: IdVec<Lpn, u32>,
    backward: IdVec<UnitId, Lpn>,
}

impl PageMap {
    /// Creates an empty mapping of `logical` onto `physical` pages.
    pub fn new(logical: u32, physical: u32) -> Self {
        assert!(u64::from(physical) <= PAGES_MAX);
        Self {
            forward: IdVec::filled(u32::MAX, logical as usize),
            backward: IdVec::filled(Lpn::NONE, physical as usize),
        }
    }

    /// Returns the memory that a mapping of `logical` onto `physical` pages takes on the simulating
    /// machine.
    pub fn bytes(logical: u32, physical: u32) -> Bytes {
        let (forward, backward) = (u64::from(logical), u64::from(physical));
        Bytes::of::<u32>(forward) + Bytes::of::<Lpn>(backward)
    }

    /// Returns a snapshot of the locations of all logical pages. The buffer must be empty.
    pub fn snapshot(&self) -> IdVec<Lpn, u32> {
        self.forward.clone()
    }

    /// Restores the mapping table (logical page to physical) from a snapshot; the reverse table is
    /// not restored. Returns true if the snapshot has as many logical pages as the drive.
    pub fn resume(&mut self, snapshot: IdVec<Lpn, u32>) -> bool {
        let same = snapshot.len() == self.forward.len();
        if same {
            self.forward = snapshot;
        }
        same
    }

    /// Returns the number of logical pages.
    pub fn logical(&self) -> u32 {
        self.forward.len() as u32
    }

    /// Returns the location of a logical page.
    #[inline]
    pub fn place(&self, page: Lpn) -> Location {
        place(self.forward[page])
    }

    /// Returns the location of a page's copy in the flash; the null unit if it is unmapped.
    ///
    /// # Errors
    /// The frame of a page that is in the buffer.
    #[inline]
    pub fn unit_or_frame(&self, page: Lpn) -> Result<UnitId, FrameId> {
        let raw = self.forward[page];
        // An unmapped page has the null unit.
        if raw & BUFFERED == 0 || raw == u32::MAX {
            Ok(UnitId(raw))
        } else {
            Err(FrameId(raw & !BUFFERED))
        }
    }

    /// Returns the location of a logical page's newest data; a page beyond the drive counts as
    /// unmapped.
    #[inline]
    pub fn place_if_any(&self, page: Lpn) -> Location {
        self.forward.get(page).map_or(Location::Nowhere, |&raw| place(raw))
    }

    /// Prefetches the mapping entry of a logical page.
    #[inline]
    pub fn prefetch(&self, page: Lpn) {
        self.forward.prefetch(page);
    }

    /// Prefetches, into the processor's cache, the number of the logical page whose data a mapping
    /// unit in the flash holds.
    #[inline]
    pub fn prefetch_owner(&self, location: UnitId) {
        self.backward.prefetch(location);
    }

    /// Maps a logical page to a mapping unit, or unmaps it if that is [`UnitId::NONE`].
    #[inline]
    pub fn set_flash(&mut self, page: Lpn, location: UnitId) {
        debug_assert!(location.0 & BUFFERED == 0 || !location.is_some(), "no unit: {location:?}");
        self.forward[page] = location.0;
    }

    /// Returns the mapping table: for each logical page its unit in the flash, its buffer frame
    /// with the top bit set, or all ones if it has no data.
    pub fn locations(&self) -> &[u32] {
        self.forward.as_slice()
    }

    /// Returns the mapping table, to be modified by callers that write most of it: for each logical
    /// page its unit in the flash, its buffer frame with the top bit set, or all ones if it has no
    /// data.
    pub fn entries(&mut self) -> &mut [u32] {
        self.forward.as_mut_slice()
    }

    /// Maps a logical page to its frame in the buffer.
    #[inline]
    pub fn set_buffered(&mut self, page: Lpn, frame_id: FrameId) {
        debug_assert!(frame_id.0 < !BUFFERED, "no frame: {frame_id:?}");
        self.forward[page] = frame_id.0 | BUFFERED;
    }

    /// Returns the logical page with which a mapping unit was last programmed.
    #[inline]
    pub fn owner(&self, location: UnitId) -> Lpn {
        self.backward[location]
    }

    /// Returns the logical page with which a mapping unit was last programmed, valid or not; `None`
    /// for a unit beyond the drive.
    #[inline]
    pub fn owner_if_any(&self, location: UnitId) -> Option<Lpn> {
        self.backward.get(location).copied()
    }

    /// Records the logical page whose data a mapping unit is programmed with.
    #[inline]
    pub fn set_owner(&mut self, location: UnitId, page: Lpn) {
        self.backward[location] = page;
    }
}
