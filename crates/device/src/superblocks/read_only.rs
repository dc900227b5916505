//! A drive that can no longer hold its capacity, because dies have failed for good.
//!
//! From then on it refuses writes and trims, which are answered at once, also those that wait for
//! room; and flushes, unless acknowledged writes survive a loss of power in the buffer. It serves
//! reads, from the rest of a stripe where necessary, and repairs superblocks as long as they fit
//! somewhere. What is in the buffer is programmed as far as there is room, and read from there
//! otherwise.

use super::Superblocks;
use crate::event::Event;
use crate::flash::Flash;
use fowler_agenda::Phase;
use fowler_units::{HostOp, ReqId};

impl Superblocks {
    /// Returns true if the drive refuses writes, because the dies that are left cannot hold its
    /// capacity.
    #[inline]
    pub(super) fn is_read_only(&self) -> bool {
        self.dies.counts.read_only.is_some()
    }

    /// Makes the drive read-only, and refuses the requests that wait as soon as nothing else is
    /// being done. Does nothing if the drive is read-only.
    #[cold]
    pub(super) fn become_read_only(&mut self, flash: &mut Flash) {
        if self.is_read_only() {
            return;
        }
        let now = flash.now();
        self.dies.counts.read_only = Some(now);
        if let Some(bad) = &mut self.bad {
            bad.counts.worn_out.get_or_insert(now);
        }
        // A request may be in the middle of being served.
        flash.agenda.schedule(now, Phase::Decision, Event::Paced);
    }

    /// Refuses the requests that wait in a read-only drive.
    #[cold]
    pub(super) fn refuse_waiting(&mut self, flash: &mut Flash) {
        while let Some(id) = self.front.line.pop_write() {
            self.refuse(flash, id);
        }
        while let Some(id) = self.flushes.take_waiting() {
            self.refuse(flash, id);
        }
    }

    /// Refuses a request if the drive is read-only and the request writes. Returns true if it was
    /// refused.
    #[cold]
    pub(super) fn refuses(&mut self, flash: &mut Flash, id: ReqId) -> bool {
        let refused = match self.front.requests.get(id).io.op {
            HostOp::Read => false,
            HostOp::Write | HostOp::Trim => true,
            HostOp::Flush => self.flushes.waits,
        };
        if refused {
            self.refuse(flash, id);
        }
        refused
    }

    /// Answers a request without doing what is left of it.
    fn refuse(&mut self, flash: &mut Flash, id: ReqId) {
        self.dies.counts.refused += 1;
        let request = self.front.requests.get_mut(id);
        (request.left, request.next) = (0, request.end);
        self.answer_at_once(flash, id);
    }
}
