//! One request of a job, and what can come instead of one.

use crate::job::Op;
use fowler_units::Span;

/// A request of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Request {
    /// The first byte, in the file; see [`crate::Layout::drive_offset`].
    pub offset: u64,
    /// Length in bytes; zero for a flush.
    pub length: u32,
    /// Which of the job's files, from 0.
    pub file: u32,
    /// What it asks for.
    pub op: Op,
    /// It reads back what was written, and is to be checked.
    pub verify: bool,
}

/// What a job does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// It issues this.
    Issue(Request),
    /// What it issues next is not due before this time since the job began.
    NotBefore(Span),
    /// It waits until everything issued has completed, and is then asked again: at the end of a
    /// pass, before reading back and before the flush at the end.
    Drain,
    /// Everything is issued.
    Done,
}
