//! Host requests: what a trace record or a generator asks of the drive.

use crate::Nanos;

/// What a host request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HostOp {
    /// Return data.
    Read,
    /// Store data.
    Write,
    /// Forget data: the range holds nothing of value any more.
    Trim,
    /// Make every write that was acknowledged before durable; carries no range.
    Flush,
}

impl HostOp {
    /// Every operation, in the order of their codes.
    pub const ALL: [HostOp; 4] = [HostOp::Read, HostOp::Write, HostOp::Trim, HostOp::Flush];

    /// The word used in native traces: `read`, `write`, `trim`, `flush`.
    pub fn word(self) -> &'static str {
        ["read", "write", "trim", "flush"][self as usize]
    }
}

/// One host request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HostIo {
    /// When it arrives. Sources yield requests in order of arrival.
    pub at: Nanos,
    /// First byte of the range.
    pub offset: u64,
    /// Length of the range in bytes; zero only for a flush.
    pub size: u32,
    /// What is asked.
    pub op: HostOp,
}
