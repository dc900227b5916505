//! Every event there is.

use fowler_units::{DieId, ReqId};

/// Something that happens at a moment known beforehand. Arrivals are not among them: they come in
/// order and are merged with the agenda where it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// What a die is doing ends.
    Die(DieId),
    /// A die may have been idle for long enough to collect in the background.
    Idle(DieId),
    /// A running program or erase may have made the progress it is owed.
    Reconsider(DieId),
    /// The last data of a request reaches the host.
    Answered(ReqId),
    /// Some data is as old as it may become.
    Deadline,
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
        }
    }

    #[inline]
    fn unpack(bits: u32) -> Self {
        // Nearly all are of this kind: a comparison in place of a table of jumps.
        if bits >> INDEX_BITS == 0 {
            return Event::Die(DieId(bits));
        }
        let index = bits & ((1 << INDEX_BITS) - 1);
        match bits >> INDEX_BITS {
            1 if index == Event::INDEX_MAX => Event::Deadline,
            1 => Event::Idle(DieId(index)),
            2 => Event::Reconsider(DieId(index)),
            _ => Event::Answered(ReqId(index)),
        }
    }
}

impl Event {
    /// The most dies, or requests in flight, that events can name.
    pub const INDEX_MAX: u32 = (1 << INDEX_BITS) - 1;
}

/// The lanes of the agenda: one for each kind of thing that mostly takes the same time.
pub mod lane {
    /// Transfers of a page over a channel.
    pub const TRANSFER: usize = 0;
    /// Sensing.
    pub const SENSE: usize = 1;
    /// Programs.
    pub const PROGRAM: usize = 2;
    /// Answers over the link to the host.
    pub const LINK: usize = 3;

    const _: () = assert!(LINK < fowler_agenda::LANES);
}
