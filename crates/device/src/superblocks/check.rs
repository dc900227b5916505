//! The laws of a drive with superblocks, to be checked at any event.

use super::Superblocks;
use super::buffer::State as FrameState;
use super::map::{Place, State};
use crate::device::Device;
use crate::observe::law::Violation;

impl Device<Superblocks> {
    /// Checks the laws that hold at any event.
    ///
    /// # Errors
    /// The first law that is broken.
    pub fn check_superblocks(&self) -> Result<(), Violation> {
        self.layer.check().map_err(Violation)
    }
}

/// Fails with a message unless something holds.
macro_rules! law {
    ($holds:expr, $($what:tt)+) => {
        if !$holds {
            return Err(format!($($what)+));
        }
    };
}

impl Superblocks {
    fn check(&self) -> Result<(), String> {
        self.check_map()?;
        self.check_superblocks()?;
        self.check_frames()
    }

    /// A unit of the host is in one place, which knows it; valid counts are those of the map.
    fn check_map(&self) -> Result<(), String> {
        let mut valid = vec![0; self.map.superblocks.len()];
        for page in 0..self.map.logical() {
            match self.map.place(page) {
                Place::Nowhere => {}
                Place::Flash(unit) => {
                    law!(self.map.valid_owner(unit) == Some(page), "unit {unit} is not of {page}");
                    let superblock = self.shape.superblock_of(unit);
                    valid[superblock as usize] += 1;
                    let command = (unit % self.shape.units) / self.shape.units_per_command;
                    law!(!self.shape.is_parity(command), "page {page} is where parity is");
                }
                Place::Buffer(frame) => {
                    law!(self.buffer.page(frame) == page, "frame {} is not of {page}", frame.0);
                }
            }
        }
        for (number, (record, valid)) in self.map.superblocks.iter().zip(valid).enumerate() {
            law!(record.valid == valid, "superblock {number}: {} of {valid} valid", record.valid);
        }
        Ok(())
    }

    fn check_superblocks(&self) -> Result<(), String> {
        let (mut free, mut leaving) = (0, 0);
        for (number, record) in self.map.superblocks.iter().enumerate() {
            leaving += record.leaving;
            match record.state {
                State::Free | State::Erasing(_) => {
                    free += u32::from(record.state == State::Free);
                    let empty = (record.valid, record.flying, record.leaving) == (0, 0, 0);
                    law!(empty, "superblock {number} is erased and holds {record:?}");
                }
                State::Open | State::Full | State::Draining => {}
            }
        }
        law!(free == self.map.free_count(), "{free} erased, {} counted", self.map.free_count());
        let (moving, _) = self.collector.in_flight();
        law!(leaving == moving, "{leaving} units leave superblocks, {moving} are moving");
        let (promised, room) = (self.collector.promised(), self.room_for_moved());
        law!(promised <= room, "{promised} units are to be moved to where {room} fit");
        Ok(())
    }

    /// A frame is free, waits, merges or is in one command; the newest data of each is mapped.
    fn check_frames(&self) -> Result<(), String> {
        let mut flying: Vec<_> = self.commands.frames().collect();
        flying.sort_unstable();
        let mut held = 0;
        for (frame, page, state) in self.buffer.held() {
            held += 1;
            let in_command = flying.binary_search(&frame).is_ok();
            law!(in_command == (state == FrameState::Leaving), "frame {} is {state:?}", frame.0);
            law!(page < self.map.logical(), "frame {} holds page {page}", frame.0);
        }
        let all = held + self.buffer.free_count();
        law!(all == self.buffer.len(), "{all} of {} frames", self.buffer.len());
        Ok(())
    }
}
