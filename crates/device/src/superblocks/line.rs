//! Requests that wait for the drive: in their submission queues, if these take turns, and in line.
//!
//! From the queues writes are taken in turn ([`Arbiter`]), as long as fewer than `queue.taken` of
//! them stand in line. Without turns all writes stand in one line, in the order of their arrival.
//! Reads are taken at once. A read waits behind some of the writes in line, as `queue.admission`
//! says:
//!
//! - behind none (`reads_pass`);
//! - behind all (`in_order`);
//! - until the turn of the reads comes, after every `queue.reads_behind` writes (`shared`).
//!
//! Invariants: writes and reads each leave in the order in which they joined; no read waits for
//! fewer writes than the read before it.

use super::queue_arbiter::Arbiter;
use crate::config::{Admission, Config};
use fowler_units::{Bytes, QueueId, ReqId};
use std::collections::VecDeque;

/// Requests that wait, in order.
#[derive(Clone, Debug)]
pub(super) struct Line {
    arbiter: Option<Arbiter>,
    admission: Admission,
    reads_behind: u64,
    /// Writes are taken from the queues while fewer than this stand in line.
    most: usize,
    /// Writes and trims that wait for room in the buffer.
    writes: VecDeque<ReqId>,
    /// The number of writes in line that have been served so far, and that number when the first
    /// write of the present line joined it.
    served: u64,
    begun: u64,
    /// Reads that wait, and the number of writes that must have been served before each.
    reads: VecDeque<(u64, ReqId)>,
}

impl Line {
    pub fn new(config: &Config) -> Line {
        let depth = config.queue.depth as usize;
        Line {
            arbiter: Arbiter::new(&config.queue),
            admission: config.admission,
            reads_behind: config.queue.reads_behind.into(),
            most: config.queue.taken as usize,
            writes: VecDeque::with_capacity(depth),
            served: 0,
            begun: 0,
            reads: VecDeque::with_capacity(depth),
        }
    }

    /// Returns the memory that a line and its queues take.
    pub fn bytes(config: &Config) -> Bytes {
        let depth = u64::from(config.queue.depth);
        Bytes::of::<ReqId>(depth) + Bytes::of::<(u64, ReqId)>(depth) + Arbiter::bytes(&config.queue)
    }

    /// Returns true if queues take turns.
    pub fn arbitrates(&self) -> bool {
        self.arbiter.is_some()
    }

    /// Puts a write into its queue.
    pub fn queue(&mut self, queue: QueueId, id: ReqId) {
        self.arbiter.as_mut().expect("it arbitrates").push(queue, id);
    }

    /// Takes the next write from the queues, if the line has room for one.
    pub fn next_of_queues(&mut self) -> Option<ReqId> {
        match self.writes.len() < self.most {
            true => self.arbiter.as_mut()?.take(),
            false => None,
        }
    }

    /// Returns how many writes a read that is taken now waits for.
    pub fn writes_before_a_read(&self) -> u64 {
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

    pub fn has_writes(&self) -> bool {
        !self.writes.is_empty()
    }

    pub fn has_reads(&self) -> bool {
        !self.reads.is_empty()
    }

    pub fn push_write(&mut self, id: ReqId) {
        if self.writes.is_empty() {
            self.begun = self.served;
        }
        self.writes.push_back(id);
    }

    /// Puts a read in line, which waits for so many writes.
    pub fn push_read(&mut self, ahead: u64, id: ReqId) {
        let after = self.served + ahead;
        debug_assert!(self.reads.back().is_none_or(|&(before, _)| before <= after));
        self.reads.push_back((after, id));
    }

    /// Returns the write whose turn it is.
    pub fn first_write(&self) -> Option<ReqId> {
        self.writes.front().copied()
    }

    pub fn write_served(&mut self) {
        let served = self.writes.pop_front();
        debug_assert!(served.is_some(), "no write was in line");
        self.served += 1;
    }

    /// Returns the first read, if its turn has come.
    pub fn first_read(&self) -> Option<ReqId> {
        let &(after, id) = self.reads.front()?;
        (after <= self.served).then_some(id)
    }

    pub fn read_served(&mut self) {
        self.reads.pop_front();
    }
}
