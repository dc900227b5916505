//! Requests of a job, and its other steps.

use crate::job::Op;
use fowler_units::Span;

/// A request that a job of fio issues.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Request {
    /// First byte of the request in its file; see [`crate::Layout::drive_offset`].
    pub offset: u64,
    /// Length of the request in bytes; zero for a flush.
    pub length: u32,
    /// Index of the request's file in the job, from 0.
    pub file: u32,
    /// Operation of the request.
    pub op: Op,
    /// True if the request reads written data back to check it.
    pub verify: bool,
}

/// Next step of a job of fio.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The job issues this request now.
    Issue(Request),
    /// The next request is not due before this time since the job began.
    NotBefore(Span),
    /// The job waits until all requests that it has issued have completed, and is then asked for
    /// its next step: at the end of a pass, before it reads written data back, and before its last
    /// flush.
    Drain,
    /// The job has issued all of its requests.
    Done,
}
