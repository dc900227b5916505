//! Logical to physical and back. One `u32` each way: 8 bytes per page is what the model's memory is
//! made of, so nothing else may live here.

use fowler_units::{FrameId, Id, IdVec, Lpn, UnitId};

/// Where a logical page is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Location {
    /// Nowhere: never written, or trimmed.
    Nowhere,
    /// In the flash.
    Flash(UnitId),
    /// In the write buffer, whose frame knows the copy in the flash, if there is one.
    Buffer(FrameId),
}

const BUFFERED: u32 = 1 << 31;

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

/// The two directions of the mapping.
#[derive(Clone, Debug)]
pub struct PageMap {
    forward: IdVec<Lpn, u32>,
    backward: IdVec<UnitId, Lpn>,
}

impl PageMap {
    /// The most mapping units that a mapping can name.
    pub const PAGES_MAX: u64 = BUFFERED as u64 - 1;

    /// An empty mapping of `logical` onto `physical` pages.
    pub fn new(logical: u32, physical: u32) -> Self {
        assert!(u64::from(physical) <= Self::PAGES_MAX);
        Self {
            forward: IdVec::filled(u32::MAX, logical as usize),
            backward: IdVec::filled(Lpn::NONE, physical as usize),
        }
    }

    /// Where each logical page is, of a drive whose buffer is empty, to be saved.
    pub fn snapshot(&self) -> IdVec<Lpn, u32> {
        self.forward.clone()
    }

    /// Resumes from what was saved, no unit owned yet. Returns whether it is of as many
    /// pages.
    pub fn resume(&mut self, snapshot: IdVec<Lpn, u32>) -> bool {
        let same = snapshot.len() == self.forward.len();
        if same {
            self.forward = snapshot;
        }
        same
    }

    /// Logical pages.
    pub fn logical(&self) -> u32 {
        self.forward.len() as u32
    }

    /// Where a logical page is.
    #[inline]
    pub fn place(&self, page: Lpn) -> Location {
        place(self.forward[page])
    }

    /// The copy of a page in the flash, none if it is nowhere; or the frame of one that is in the
    /// buffer.
    ///
    /// # Errors
    /// That frame.
    #[inline]
    pub fn unit_or_frame(&self, page: Lpn) -> Result<UnitId, FrameId> {
        let raw = self.forward[page];
        // Nowhere is no unit.
        if raw & BUFFERED == 0 || raw == u32::MAX {
            Ok(UnitId(raw))
        } else {
            Err(FrameId(raw & !BUFFERED))
        }
    }

    /// As [`PageMap::place`]; a page beyond the drive is nowhere.
    #[inline]
    pub fn place_if_any(&self, page: Lpn) -> Location {
        self.forward.get(page).map_or(Location::Nowhere, |&raw| place(raw))
    }

    /// A logical page is about to be looked up.
    #[inline]
    pub fn prefetch(&self, page: Lpn) {
        self.forward.prefetch(page);
    }

    /// The owner of a unit is about to be asked for.
    #[inline]
    pub fn prefetch_owner(&self, location: UnitId) {
        self.backward.prefetch(location);
    }

    /// The logical page now lies in the flash, or nowhere for [`UnitId::NONE`].
    #[inline]
    pub fn set_flash(&mut self, page: Lpn, location: UnitId) {
        self.forward[page] = location.0;
    }

    /// The entries of all logical pages as [`PageMap::set_flash`] stores them, for whoever writes
    /// most of them.
    pub fn entries(&mut self) -> &mut [u32] {
        self.forward.as_mut_slice()
    }

    /// The logical page is now found through its frame in the buffer.
    #[inline]
    pub fn set_buffered(&mut self, page: Lpn, frame_id: FrameId) {
        self.forward[page] = frame_id.0 | BUFFERED;
    }

    /// The logical page that a unit was last programmed with.
    #[inline]
    pub fn owner(&self, location: UnitId) -> Lpn {
        self.backward[location]
    }

    /// A unit is programmed with a logical page's data.
    #[inline]
    pub fn set_owner(&mut self, location: UnitId, page: Lpn) {
        self.backward[location] = page;
    }
}
