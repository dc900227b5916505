//! Requests in and out: into pages, through the buffer, to the flash, and back.
//!
//! **Owns** the requests in flight, the link, what waits for room, and the way of every page. **May
//! touch** the core and garbage collection, which it holds ([`Ftl`]), and the flash, which it is
//! handed. **Is asked** by the loop to admit a request, and by the controller when a program or
//! read of the host ends. What it must ask of redundancy is in `redundancy_hooks.rs`.
//!
//! - `reads.rs`, `writes.rs`, `trim_and_flush.rs`: a request into pages and frames.
//! - `eviction.rs`: what leaves the buffer, and when.
//! - `programs.rs`: a frame's way to its page in the flash, and what its end means.
//! - `read_modify_write.rs`: the old page that a frame with part of a page needs when it leaves the
//!   buffer.
//! - `power_loss.rs`: what the buffer loses with the power (asked by `device/power_loss.rs`).
//! - `answers.rs`, `link.rs`, `request.rs`: the way back, the link, the arena of requests.
//! - `write_throttle.rs`, `endurance.rs`: how long a write is delayed for the sake of the drive's
//!   life (the loop in `device/mod.rs` holds it); how much of that life is left.

mod answers;
pub mod endurance;
mod eviction;
pub mod link;
mod power_loss;
mod programs;
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
use fowler_units::{HostIo, HostOp, Locator, Nanos, ReqId, Span, TxnId, UnitId};
use link::Link;
use reads::Sent;
use redundancy_hooks::RedundancyHooks;
use request::{Request, Requests};
use std::collections::VecDeque;

/// The host's side of a drive, whatever translates its pages: requests in flight, and the link.
#[derive(Clone, Debug)]
pub struct FrontEnd {
    /// The requests in flight.
    pub requests: Requests,
    /// The link.
    pub link: Link,
    /// Requests that the host has its answer to and the probe has not seen yet.
    pub completed: Vec<ReqId>,
}

/// The page-mapped translation: core, garbage collection and front end, and what waits between
/// them.
#[derive(Clone, Debug)]
pub struct Ftl {
    /// Mapping, blocks, buffer.
    pub core: Core,
    /// Garbage collection, wear leveling, refresh.
    pub gc: Gc,
    /// Requests and link.
    pub front: FrontEnd,
    /// What waits for room.
    pub queues: Queues,
    rules: Rules,
}

/// What reads and writes do.
#[derive(Clone, Copy, Debug)]
struct Rules {
    ack: Ack,
    unwritten: UnwrittenReads,
    partial: PartialWrites,
}

/// Page reads and writes in flight, and what waits for room among them.
#[derive(Clone, Debug)]
pub struct Queues {
    reads_max: u32,
    /// Page writes on their way to the flash, at most.
    pub writes_max: u32,
    /// Host page reads in flight.
    pub reads: u32,
    /// Page writes on their way to the flash.
    pub writes: u32,
    /// Requests whose next page waits for room, in order.
    waiting_reads: VecDeque<ReqId>,
    waiting_writes: VecDeque<ReqId>,
    resuming: Resuming,
    /// Programs that no die has room for at the moment.
    unplaced: VecDeque<TxnId>,
    /// Flushes that wait, with the epoch they wait for, in order.
    flushes: VecDeque<(u32, ReqId)>,
}

/// Whether waiting writes are being resumed, and whether they could go further than they did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Resuming {
    /// They are not.
    No,
    /// They are.
    Once,
    /// They are, and something has become free meanwhile.
    Again,
}

impl FrontEnd {
    /// No request.
    pub fn new(config: &Config, locator: &Locator) -> Self {
        Self {
            requests: Requests::with_capacity(config.queue.depth, locator),
            link: Link::new(config.host),
            completed: Vec::with_capacity(config.queue.depth as usize),
        }
    }
}

impl Ftl {
    /// A drive with data as they lie in `core`, and no request.
    pub fn new(config: &Config, core: Core, gc: Gc) -> Self {
        let (depth, writes) = (config.queue.depth as usize, config.queue.max_writes as usize);
        Self {
            front: FrontEnd::new(config, &core.locator),
            core,
            gc,
            queues: Queues {
                reads_max: config.queue.max_reads,
                writes_max: config.queue.max_writes,
                reads: 0,
                writes: 0,
                waiting_reads: VecDeque::with_capacity(depth),
                waiting_writes: VecDeque::with_capacity(depth),
                resuming: Resuming::No,
                unplaced: VecDeque::with_capacity(writes),
                flushes: VecDeque::with_capacity(depth),
            },
            rules: Rules {
                ack: config.buffer.ack,
                unwritten: config.unwritten_reads,
                partial: config.partial_writes,
            },
        }
    }

    /// The sizes of the drive.
    pub fn layout(&self) -> &Layout {
        &self.core.layout
    }

    /// Whether a write is complete when its data is in the buffer.
    pub fn answers_on_insert(&self) -> bool {
        self.rules.ack == Ack::OnInsert
    }

    /// A physical page's data is invalid from now on, if there is such a page.
    #[inline]
    pub fn invalidate(&mut self, flash: &mut Flash, old: UnitId) {
        self.gc.invalidate(&mut self.core, flash, old);
    }

    /// What is the same for every page of a write that comes in.
    #[inline]
    fn describe(&mut self, id: ReqId) {
        let request = self.front.requests.get_mut(id);
        request.group = request.pages.min(u32::from(u16::MAX)) as u16;
        request.tag = self.core.classes.hotness.tag_of_write(request.pages);
        if self.rules.partial == PartialWrites::Overwrite {
            request.covered = self.core.buffer.whole();
        } else if request.covers_whole_pages(&self.core.locator) {
            request.covered = self.core.buffer.covered((0, self.core.locator.page_size()));
        }
    }

    /// A request has come over the link, has been delayed for as long as the throttle asked, and
    /// has a place. See docs/decisions/host.md, "What does a write queued behind another
    /// one wait for?".
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
        assert!(!empty, "a request of no length: {io:?}");
        let mut request = Request::new(io, ready + throttled, &self.core.locator);
        request.throttled = throttled;
        let id = self.front.requests.open(request);
        match io.op {
            HostOp::Read => {
                if !self.queues.waiting_reads.is_empty()
                    || self.read_pages(flash, id, raid) == Sent::NoRoom
                {
                    self.queues.waiting_reads.push_back(id);
                }
            }
            // A trim keeps its place among the writes: it must not overtake one that waits.
            HostOp::Write | HostOp::Trim => {
                if io.op == HostOp::Write {
                    self.describe(id);
                }
                if let Some(&head) = self.queues.waiting_writes.front() {
                    // Whoever stands in line waits for what its head waits for.
                    let stalled = self.front.requests.get(head).stalled;
                    self.front.requests.get_mut(id).stalled =
                        stalled.map(|(stall, _)| (stall, flash.now()));
                    self.queues.waiting_writes.push_back(id);
                } else if !self.write_or_trim(flash, id, raid) {
                    self.queues.waiting_writes.push_back(id);
                }
            }
            HostOp::Flush => self.flush(flash, id, raid),
        }
    }
}
