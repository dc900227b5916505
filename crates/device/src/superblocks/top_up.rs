//! The last units of a superblock that is emptied, if they are less than a command.
//!
//! 1. Units that have been read are programmed a command at a time ([`Superblocks::store_copied`]).
//!    Fewer than that wait until more are read.
//! 2. When no more will be read, they are programmed with padding in the other places of the
//!    command.
//! 3. If the last superblock emptied has gained less than a command holds, the places go to units
//!    of the next emptiest superblock instead.
//!
//! Without step 3 a superblock would take as much space to move as its erase frees, and a drive
//! that is full enough would collect forever. The gain of the superblock that lends units grows by
//! as many, so after a few victims one gains a whole command. The emptiest superblock is taken
//! whatever `policy.victim` says. That policy may then empty it late, or never, as the gain is
//! counted before it is emptied.

use super::Superblocks;
use super::map::Emptied;
use crate::flash::Flash;
use crate::policy::placement::StreamId;

impl Superblocks {
    /// Programs units that GC or wear leveling has read from their old places, in full program
    /// commands. Fewer units than a command holds wait until more are read, unless no more will be.
    pub(super) fn store_copied(&mut self, flash: &mut Flash) {
        // Often there is one stream, and nothing for it.
        let mut at = 0;
        while let Some(&stream) = self.streams.moved().get(at) {
            if self.collector.waiting(stream) == 0 || !self.store_copied_of(flash, stream) {
                at += 1;
            }
        }
    }

    /// Sends the next command of units that have been read for a stream. Returns true if one was
    /// sent.
    fn store_copied_of(&mut self, flash: &mut Flash, stream: StreamId) -> bool {
        let whole = self.shape.units_per_command;
        let waiting = self.collector.waiting(stream);
        if waiting < whole {
            let ends = waiting > 0 && self.collector.rests();
            if !ends || self.top_up(flash, stream, whole - waiting) {
                return false;
            }
        }
        self.store_moved(flash, stream, waiting.min(whole))
    }

    /// Reads units of the next emptiest superblock, to fill the `places` that are free in the last
    /// command of a stream of moved data. Returns true if that command should wait for units or for
    /// room to read them, false if it is to be padded.
    fn top_up(&mut self, flash: &mut Flash, stream: StreamId, mut places: u32) -> bool {
        let page = self.shape.units_per_page;
        if !self.collector.gained_little {
            return false;
        }
        // Without room, programs are in flight, and the end of each comes back here.
        if !self.collector.has_room_for(page) {
            return true;
        }
        // If there is one without valid units, its erase costs no space, and padding can eat none.
        let Some((superblock, _)) = self.map.emptiest().filter(|&(_, valid)| valid > 0) else {
            return false;
        };
        if self.streams.of_survivors(superblock) != stream {
            return false;
        }
        self.map.empty(superblock);
        self.map.set_emptied(superblock, Emptied::Lent);
        let first = self.shape.first_unit(superblock);
        for at in (0..self.shape.units).step_by(page as usize) {
            if places == 0 || !self.collector.has_room_for(page) {
                break;
            }
            let parts = self.read_valid(flash, superblock, first.plus(at), places);
            places -= parts;
            // The last job has counted these places as gained, and the job of this superblock will
            // do so again.
            self.collector.carried += i64::from(parts);
        }
        true
    }
}
