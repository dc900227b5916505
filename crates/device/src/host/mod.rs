//! The host side: splits requests into pages, moves these through the buffer and the flash, and
//! completes the requests.
//!
//! A request takes these steps:
//!
//! 1. [`Ftl::admit`] gives it a slot of the arena (`request.rs`). A request behind others that wait
//!    for the same room waits behind them.
//! 2. Each page of a read is looked up (`reads.rs`): a page in the flash becomes a flash read; a
//!    page in the buffer, or one that was never written, ends at once. Each page of a write gets a
//!    frame of the buffer (`writes.rs`).
//! 3. The data of a frame goes to the flash: at once if a write is acknowledged when it is
//!    programmed (`buffer.ack = "on_program"`), or when `eviction.rs` evicts the frame from the
//!    buffer.
//! 4. `programs.rs` assigns the program to a die. When the die starts it, the program gets its page
//!    and the old copy becomes invalid.
//! 5. The end of its last page completes the request (`answers.rs`); the data of a read still
//!    crosses the link (`link.rs`).
//!
//! Exceptions:
//!
//! - A page without room waits, with its request, in line ([`mod@line`]): reads for a place in the
//!   read queue, writes and trims for one in the write queue or for a frame. Programs without a die
//!   with room wait in [`Queues`]. Whatever frees such room resumes the first that waits.
//! - A page whose mapping entry is not in memory waits for the read of the entry.
//! - Step 2 of a trim removes the page from the mapping; a flush waits until all data before it is
//!   in the flash or trimmed (`trim_and_flush.rs`).
//! - A frame that holds only part of its page reads the other part before step 4
//!   (`read_modify_write.rs`).
//! - A program whose die has failed goes to another die, and a drive without enough dies refuses
//!   requests (`failed_dies.rs`). A power loss loses what is only in the buffer, and cuts programs
//!   off (`power_loss.rs`, called by `event_loop/power_loss.rs`).
//! - A drive with redundancy joins in at most of these steps through `redundancy_hooks.rs`.
//!
//! **Owns** the requests in flight, the link, the line of those that wait, the queues of work that
//! waits for room, and the path of every page. **May touch** the core and garbage collection, which
//! it holds ([`Ftl`]), and the flash, which it receives as an argument. **Called by** the loop to
//! admit a request, and by the controller when a program or read of the host ends.
//! `write_throttle.rs` and `endurance.rs` delay writes for the sake of the drive's lifetime; the
//! loop (`event_loop/mod.rs`) applies the delay before step 1.

mod answers;
pub mod endurance;
mod eviction;
pub mod failed_dies;
pub mod line;
pub mod link;
mod power_loss;
mod programs;
mod queue_arbiter;
mod read_modify_write;
mod reads;
pub mod redundancy_hooks;
pub mod request;
mod trim_and_flush;
pub mod write_throttle;
mod writes;

use crate::config::layout::Layout;
use crate::config::{Ack, Config, PartialWrites, UnwrittenReads};
use crate::core::Core;
use crate::flash::Flash;
use crate::gc::Gc;
use failed_dies::Service;
use fowler_units::{Bytes, HostIo, HostOp, Locator, Nanos, ReqId, Span, TxnId, UnitId};
use line::Line;
use link::Link;
use redundancy_hooks::RedundancyHooks;
use request::Sent;
use request::{Request, Requests};
use std::collections::VecDeque;

/// The host side of a drive, independent of the translation layer: requests in flight, and the
/// link.
#[derive(Clone, Debug)]
pub struct FrontEnd {
    /// Host requests in flight.
    pub requests: Requests,
    /// The link to the host.
    pub link: Link,
    /// Requests that wait for room in the drive, and the order in which they are started.
    pub line: Line,
    /// Flash reads for the host in flight, and the most there may be.
    pub reads: ReadsInFlight,
    /// Completed requests that have not been reported yet to the probe, the observer of the
    /// simulation.
    pub completed: Vec<ReqId>,
}

/// Number of flash reads for the host in flight, from 0 to `queue.max_reads`.
#[derive(Clone, Copy, Debug)]
pub struct ReadsInFlight {
    count: u32,
    most: u32,
}

impl ReadsInFlight {
    /// Returns true if as many flash reads for the host are in flight as there may be.
    #[inline]
    pub fn are_full(self) -> bool {
        self.count >= self.most
    }

    /// Returns the number of flash reads for the host in flight.
    pub fn count(self) -> u32 {
        self.count
    }

    /// Counts a flash read for the host that begins; there must be room for it.
    #[inline]
    pub(crate) fn begin(&mut self) {
        debug_assert!(!self.are_full());
        self.count += 1;
    }

    /// Counts the end of a flash read for the host.
    #[inline]
    pub(crate) fn end(&mut self) {
        self.count -= 1;
    }
}

/// The translation layer of a page-mapped drive: mapping, blocks and buffer, garbage collection,
/// host side, and the queues between them.
#[derive(Clone, Debug)]
pub struct Ftl {
    /// Mapping, blocks and write buffer.
    pub core: Core,
    /// Garbage collection, wear leveling and refresh of the drive.
    pub gc: Gc,
    /// Requests in flight, and the link to the host.
    pub front: FrontEnd,
    /// Number of page writes in flight, and the work that waits for room in the flash.
    pub queues: Queues,
    rules: Rules,
    /// The requests that the drive still serves, after dies have failed.
    pub service: Service,
}

/// Configured behavior of host reads and writes.
#[derive(Clone, Copy, Debug)]
struct Rules {
    ack: Ack,
    unwritten: UnwrittenReads,
    partial: PartialWrites,
    /// True if a loss of power cuts off programs in flight.
    tears: bool,
    word_line: u32,
}

/// Number of page writes in flight, and the work that waits for room in dies and queues.
#[derive(Clone, Debug)]
pub struct Queues {
    /// Maximum number of page writes between the buffer and the flash.
    pub writes_max: u32,
    /// Number of page writes between the buffer and the flash.
    pub writes: u32,
    resuming: Resuming,
    /// Programs for which no die has room at the moment.
    unplaced: VecDeque<TxnId>,
    /// Waiting flushes in order, each with its flush epoch: data written in that epoch or before
    /// must be in the flash before the flush completes.
    flushes: VecDeque<(u32, ReqId)>,
    /// True once the run has ended: all dirty data goes to the flash.
    pub writing_out: bool,
}

/// The state of the loop that resumes waiting writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Resuming {
    /// Waiting writes are not being resumed.
    No,
    /// Waiting writes are being resumed.
    Once,
    /// Waiting writes are being resumed, and room has become free meanwhile: another round is
    /// needed.
    Again,
}

impl FrontEnd {
    /// Returns the memory that requests in the drive take on the simulating machine.
    pub fn bytes(config: &Config) -> Bytes {
        Requests::bytes(config.queue.depth) + Line::bytes(config)
    }

    /// Creates the host side of a drive without requests.
    pub fn new(config: &Config, locator: &Locator) -> Self {
        Self {
            requests: Requests::with_capacity(config.queue.depth, locator),
            link: Link::new(config.host),
            line: Line::new(config),
            reads: ReadsInFlight { count: 0, most: config.queue.max_reads },
            completed: Vec::with_capacity(config.queue.depth as usize),
        }
    }
}

impl Ftl {
    /// Creates the translation layer of a drive without requests. Mapping, blocks and write buffer
    /// are in the state of `core`.
    pub fn new(config: &Config, core: Core, gc: Gc) -> Self {
        let (depth, writes) = (config.queue.depth as usize, config.queue.max_writes as usize);
        Self {
            front: FrontEnd::new(config, &core.locator),
            core,
            gc,
            queues: Queues {
                writes_max: config.queue.max_writes,
                writes: 0,
                resuming: Resuming::No,
                unplaced: VecDeque::with_capacity(writes),
                flushes: VecDeque::with_capacity(depth),
                writing_out: false,
            },
            rules: Rules {
                ack: config.buffer.ack,
                unwritten: config.unwritten_reads,
                partial: config.partial_writes,
                tears: config.redundancy.tears_programs(),
                word_line: config.redundancy.word_line,
            },
            service: Service::Whole,
        }
    }

    /// Returns the sizes that follow from the drive's configuration: pages, reserved blocks, buffer
    /// frames and so on.
    pub fn layout(&self) -> &Layout {
        &self.core.layout
    }

    /// Returns true if a write is acknowledged when its data is in the buffer.
    pub fn answers_on_insert(&self) -> bool {
        self.rules.ack == Ack::OnInsert
    }

    /// Marks a physical page as invalid, if `old` is one.
    #[inline]
    pub fn invalidate(&mut self, flash: &mut Flash, old: UnitId) {
        self.gc.invalidate(&mut self.core, flash, old);
    }

    /// Computes the size class, stream tag and covered page parts that all pages of a write share,
    /// and stores them in its request.
    #[inline]
    fn describe(&mut self, id: ReqId) {
        let request = self.front.requests.get_mut(id);
        request.group = request.pages.min(u32::from(u16::MAX)) as u16;
        request.tag = self.core.classes.tag_of_write(request.pages, request.io.placement);
        if self.rules.partial == PartialWrites::Overwrite {
            request.covered = self.core.buffer.whole();
        } else if request.covers_whole_pages(&self.core.locator) {
            request.covered = self.core.buffer.covered((0, self.core.locator.page_size()));
        }
    }

    /// Starts a request that has come over the link, has been delayed by the write throttle if
    /// there is one, and has a place among the requests in flight (`queue.depth`). See
    /// docs/decisions/host.md, "What does a write queued behind another one wait for?".
    #[inline]
    pub fn admit<R: RedundancyHooks>(
        &mut self,
        flash: &mut Flash,
        io: HostIo,
        ready: Nanos,
        throttled: Span,
        raid: &mut R,
    ) {
        let fits = io
            .offset
            .checked_add(u64::from(io.size))
            .is_some_and(|end| end <= self.core.layout.logical.0);
        assert!(fits, "a request beyond the drive: {io:?} on {} bytes", self.core.layout.logical.0);
        let empty = io.size == 0 && matches!(io.op, HostOp::Read | HostOp::Write);
        assert!(!empty, "a read or write of 0 bytes: {io:?}");
        let mut request = Request::new(io, ready + throttled, &self.core.locator);
        request.throttled = throttled;
        let id = self.front.requests.open(request);
        if self.service != Service::Whole && self.refuses(flash, id) {
            return;
        }
        match io.op {
            HostOp::Read => {
                if !self.front.line.lets_in_reads()
                    || self.read_pages(flash, id, raid) == Sent::NoRoom
                {
                    self.front.line.push_read(id);
                }
            }
            // A trim is queued among the writes: a trim must not overtake a write that waits.
            HostOp::Write | HostOp::Trim => {
                if io.op == HostOp::Write {
                    self.describe(id);
                }
                if self.front.line.arbitrates() {
                    self.front.line.queue(io.queue, id);
                    self.take_writes(flash, raid);
                } else {
                    self.take_write(flash, id, raid);
                }
            }
            HostOp::Flush => self.flush(flash, id, raid),
        }
    }
}
