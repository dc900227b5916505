//! All kinds of events of the simulation, and the lanes of the agenda that hold them.

use fowler_units::{DieId, ReqId};

/// An event of the simulation at a time known in advance. Arrivals of requests are not events: they
/// come in order, and the event loop merges them with the queue of events (the agenda).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The current activity of this die ends.
    Die(DieId),
    /// A die may have been idle for long enough to start background work, or the next step of
    /// scrubbing is due on the die. On a drive with superblocks, whose dies start no work when
    /// idle, the die number names one of two timers instead: for scrubbing, or for a host that may
    /// pause.
    Idle(DieId),
    /// A running program or erase may have made its guaranteed minimum progress, after which a read
    /// may suspend it.
    Reconsider(DieId),
    /// The last data of a request reaches the host.
    Answered(ReqId),
    /// Some data in the flash may have reached the age at which it must be refreshed.
    Deadline,
    /// The next scheduled fault strikes.
    Fault,
    /// A wait of a rate limit ends: the next page may be rebuilt, or the next mapping unit may
    /// enter the buffer.
    Paced,
}

const INDEX_BITS: u32 = 22;

impl fowler_agenda::Event for Event {
    #[inline]
    fn pack(self) -> u32 {
        match self {
            Event::Die(die) => die.0,
            Event::Idle(die) => (1 << INDEX_BITS) | die.0,
            Event::Reconsider(die) => (2 << INDEX_BITS) | die.0,
            Event::Answered(request) => (3 << INDEX_BITS) | request.0,
            // No die has this number.
            Event::Deadline => (1 << INDEX_BITS) | Event::INDEX_MAX,
            Event::Fault => (2 << INDEX_BITS) | Event::INDEX_MAX,
            Event::Paced => (3 << INDEX_BITS) | Event::INDEX_MAX,
        }
    }

    #[inline]
    fn unpack(bits: u32) -> Self {
        // Nearly all events are of this kind: a comparison avoids a jump table.
        if bits >> INDEX_BITS == 0 {
            return Event::Die(DieId(bits));
        }
        let index = bits & ((1 << INDEX_BITS) - 1);
        match bits >> INDEX_BITS {
            1 if index == Event::INDEX_MAX => Event::Deadline,
            1 => Event::Idle(DieId(index)),
            2 if index == Event::INDEX_MAX => Event::Fault,
            2 => Event::Reconsider(DieId(index)),
            3 if index == Event::INDEX_MAX => Event::Paced,
            _ => Event::Answered(ReqId(index)),
        }
    }
}

impl Event {
    /// The maximum number of dies or of requests in flight that events can identify.
    pub const INDEX_MAX: u32 = (1 << INDEX_BITS) - 1;
}

/// Lanes (FIFO queues) of the event queue: one for each activity whose duration is mostly constant,
/// so that events at its end are added in order of time.
pub mod lane {
    /// Events at the ends of transfers of a page over a channel.
    pub const TRANSFER: usize = 0;
    /// Events at the ends of sensing.
    pub const SENSE: usize = 1;
    /// Events at the ends of page programs.
    pub const PROGRAM: usize = 2;
    /// Events at the arrival of completions at the host.
    pub const LINK: usize = 3;

    const _: () = assert!(LINK < fowler_agenda::LANES);
}
