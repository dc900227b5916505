//! Requests that wait in the drive: in their submission queues, if these take turns, and in the
//! line for room.
//!
//! Writes are taken from the queues in turn ([`Arbiter`]), as long as fewer than `queue.taken` of
//! them are in the line. Without turns all writes are in one line, in order of arrival. Trims count
//! as writes. Reads are taken at once. `queue.admission` decides which requests wait behind one
//! that finds no room:
//!
//! - requests of its kind (`reads_pass`);
//! - all later ones (`in_order`): a read waits behind all writes in line, and a read without room
//!   delays the writes behind it;
//! - requests of its kind, and reads until their turn comes, after every `queue.reads_behind`
//!   writes (`shared`).
//!
//! Invariants, checked by [`Line::check`]: writes and reads each leave in the order in which they
//! joined; no read waits for fewer writes than the read before it; a queue holds a write only while
//! the line has no room for one.

use super::queue_arbiter::Arbiter;
use crate::config::{Admission, Config};
use fowler_units::{Bytes, QueueId, ReqId};
use std::collections::VecDeque;

/// The requests that wait for room in the drive, in order.
#[derive(Clone, Debug)]
pub struct Line {
    arbiter: Option<Arbiter>,
    admission: Admission,
    reads_behind: u64,
    /// Maximum number of writes that wait for room (in the write queue or the buffer), up to which
    /// further ones are taken from the submission queues.
    most: usize,
    /// Writes and trims that wait for room in the write queue or the buffer, in order.
    writes: VecDeque<ReqId>,
    /// Number of writes and trims that have left `writes`, the line of those that wait for room in
    /// the drive, so far, plus one.
    served: u64,
    /// Value of the counter `served` (waiting writes that have left, plus one) when a write last
    /// joined the line of waiting writes, `writes`, while that was empty. Reads take turns with
    /// writes from there on.
    begun: u64,
    /// Reads that wait for room in the drive, in order. Each may start once the counter `served`
    /// (waiting writes that have left, plus one) has reached the value stored with the read.
    reads: VecDeque<(u64, ReqId)>,
}

impl Line {
    /// Creates a line in which no request waits.
    pub fn new(config: &Config) -> Line {
        let depth = config.queue.depth as usize;
        Line {
            arbiter: Arbiter::new(&config.queue),
            admission: config.admission,
            reads_behind: config.queue.reads_behind.into(),
            most: config.queue.taken as usize,
            writes: VecDeque::with_capacity(depth),
            served: 1,
            begun: 1,
            reads: VecDeque::with_capacity(depth),
        }
    }

    /// Returns the memory that the requests that wait in the drive and in its submission queues
    /// take on the simulating machine.
    pub fn bytes(config: &Config) -> Bytes {
        let depth = u64::from(config.queue.depth);
        Bytes::of::<ReqId>(depth) + Bytes::of::<(u64, ReqId)>(depth) + Arbiter::bytes(&config.queue)
    }

    /// Returns true if the submission queues take turns in handing over writes.
    #[inline]
    pub fn arbitrates(&self) -> bool {
        self.arbiter.is_some()
    }

    /// Puts a write or trim into its submission queue.
    pub fn queue(&mut self, queue: QueueId, id: ReqId) {
        self.arbiter.as_mut().expect("it arbitrates").push(queue, id);
    }

    /// Removes the next write or trim from the submission queues and returns it, if fewer writes
    /// than the maximum wait for room in the drive.
    pub fn next_of_queues(&mut self) -> Option<ReqId> {
        match self.writes.len() < self.most {
            true => self.arbiter.as_mut()?.take(),
            false => None,
        }
    }

    /// Returns true if no request waits for room in the drive.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.writes.is_empty() && self.reads.is_empty()
    }

    /// Returns true if the end of a flash read may let a waiting request start.
    #[inline]
    pub fn waits_for_reads(&self) -> bool {
        !self.reads.is_empty() || self.admission == Admission::InOrder && !self.writes.is_empty()
    }

    /// Returns true if requests start one by one, in order of arrival.
    #[inline]
    pub fn is_in_order(&self) -> bool {
        self.admission == Admission::InOrder
    }

    /// Returns true if a read that arrives now need not wait behind others for room in the drive.
    #[inline]
    pub fn lets_in_reads(&self) -> bool {
        self.reads.is_empty() && (self.writes.is_empty() || self.writes_before_a_read() == 0)
    }

    /// Returns the number of writes that a read which arrives now must wait for.
    fn writes_before_a_read(&self) -> u64 {
        let waiting = self.writes.len() as u64;
        match self.admission {
            Admission::ReadsPass => 0,
            Admission::InOrder => waiting,
            Admission::Shared if self.reads_behind == 0 => 0,
            Admission::Shared => {
                let since = (self.served - self.begun) % self.reads_behind;
                waiting.min(self.reads_behind - since)
            }
        }
    }

    /// Returns the request that must start before any waiting write or trim can: the first waiting
    /// write or trim itself or, if requests start in order of arrival, a read that arrived before
    /// it.
    #[inline]
    pub fn first(&self) -> Option<ReqId> {
        if self.admission == Admission::InOrder
            && let Some(read) = self.first_read()
        {
            return Some(read);
        }
        self.writes.front().copied()
    }

    /// Returns the first read that waits for room in the drive, if enough of the writes ahead of it
    /// have started; `None` otherwise.
    pub fn first_read(&self) -> Option<ReqId> {
        let &(after, id) = self.reads.front()?;
        (after <= self.served).then_some(id)
    }

    /// Adds a write or trim to the end of the line of requests that wait for room in the drive.
    pub fn push_write(&mut self, id: ReqId) {
        if self.writes.is_empty() {
            self.begun = self.served;
        }
        self.writes.push_back(id);
    }

    /// Adds a read to the end of the line of requests that wait for room in the drive.
    pub fn push_read(&mut self, id: ReqId) {
        let after = self.served + self.writes_before_a_read();
        self.reads.push_back((after, id));
    }

    /// Puts a read that had been started, and has since waited for the mapping, back among the
    /// requests that wait for room: before all others, but behind reads that were put back earlier.
    #[cold]
    pub fn push_returned(&mut self, id: ReqId) {
        let place = self.reads.partition_point(|&(after, _)| after == 0);
        self.reads.insert(place, (0, id));
    }

    /// Removes a request from the line of those that wait for room in the drive. [`Line::first`] or
    /// [`Line::first_read`] has returned the request.
    pub fn leave(&mut self, id: ReqId) {
        if self.reads.front().is_some_and(|&(_, read)| read == id) {
            self.reads.pop_front();
        } else {
            let served = self.writes.pop_front();
            debug_assert_eq!(served, Some(id), "another request goes first");
            self.served += 1;
        }
    }

    /// Removes the next write or trim from the line of those that wait for room in the drive, or
    /// from its submission queue if none waits for room.
    pub fn pop_write(&mut self) -> Option<ReqId> {
        match self.writes.pop_front() {
            Some(id) => {
                self.served += 1;
                Some(id)
            }
            None => self.arbiter.as_mut()?.take(),
        }
    }

    /// Removes all reads from the line of requests that wait for room in the drive.
    pub fn forget_reads(&mut self) {
        self.reads.clear();
    }

    /// Checks the invariants of the requests that wait in a drive. `in_flight` is the number of
    /// requests in the drive, and `room_for_reads` is true if the drive has room for another flash
    /// read.
    ///
    /// # Errors
    /// The first invariant that is broken.
    pub fn check(&self, in_flight: usize, room_for_reads: bool) -> Result<(), String> {
        let (writes, reads) = (self.writes.len(), self.reads.len());
        let queued = self.arbiter.as_ref().map_or(0, Arbiter::commands) as usize;
        let waiting = writes + reads + queued;
        let sorted = self.reads.iter().is_sorted_by_key(|&(after, _)| after);
        let last = self.reads.back().map_or(0, |&(after, _)| after);
        let most = if self.arbitrates() { self.most } else { usize::MAX };
        for (holds, what) in [
            (waiting <= in_flight, "more requests wait than are in flight"),
            (sorted, "a read waits for fewer writes than the read before it"),
            (last <= self.served + writes as u64, "a read waits for more writes than are in line"),
            (writes <= most, "more writes stand in line than are taken"),
            (queued == 0 || writes == most, "a queue holds a write, and the line has room"),
            (!room_for_reads || self.first_read().is_none(), "a read waits, and there is room"),
        ] {
            if !holds {
                return Err(format!(
                    "inconsistent waiting requests: {what} ({writes} writes in line, {queued} in \
                     submission queues, {reads} reads)"
                ));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::tests::shaped;
    use fowler_units::{Geometry, Id};

    fn line(admission: Admission) -> Line {
        let mut config = shaped(Geometry {
            channels: 1,
            chips_per_channel: 1,
            dies_per_chip: 1,
            planes_per_die: 1,
            blocks_per_plane: 8,
            pages_per_block: 4,
            page_size: Bytes(4096),
        });
        (config.admission, config.queue.reads_behind) = (admission, 1);
        Line::new(&config)
    }

    /// With two writes and a read before, between or behind them, requests enter in the order of
    /// each admission rule; whatever may enter does so at once.
    #[test]
    fn requests_go_in_the_order_of_their_admission() {
        for (admission, expected) in [
            (Admission::ReadsPass, [0, 2, 4, 1, 3]),
            (Admission::InOrder, [0, 1, 2, 3, 4]),
            (Admission::Shared, [0, 1, 2, 4, 3]),
        ] {
            let mut line = line(admission);
            for id in 0..5 {
                match id % 2 {
                    0 => line.push_read(ReqId::new(id)),
                    _ => line.push_write(ReqId::new(id)),
                }
            }
            line.check(5, false).expect("the invariants hold");
            let next = |line: &mut Line| {
                let id = line.first_read().or_else(|| line.first())?;
                line.leave(id);
                Some(id.index())
            };
            let gone: Vec<_> = std::iter::from_fn(|| next(&mut line)).collect();
            assert_eq!(gone, expected, "{admission:?}");
        }
    }

    #[test]
    fn a_read_without_room_holds_up_writes_in_order_only() {
        for (admission, first) in
            [(Admission::ReadsPass, 1), (Admission::InOrder, 0), (Admission::Shared, 1)]
        {
            let mut line = line(admission);
            line.push_read(ReqId::new(0));
            line.push_write(ReqId::new(1));
            assert_eq!(line.first(), Some(ReqId::new(first)), "{admission:?}");
        }
    }

    #[test]
    fn reads_that_return_go_first_and_in_their_order() {
        let mut line = line(Admission::InOrder);
        line.push_read(ReqId::new(0));
        line.push_returned(ReqId::new(1));
        line.push_returned(ReqId::new(2));
        line.check(3, false).expect("the invariants hold");
        for expected in [1, 2, 0] {
            assert_eq!(line.first(), Some(ReqId::new(expected)));
            line.leave(ReqId::new(expected));
        }
    }
}
