//! fio job files: their grammar, their options, and the requests that they stand for, in the order
//! in which fio issues them, bit for bit. Knows no drive and no clock.
//!
//! [`JobFile::parse`] reads a job file, [`Layout::new`] finds a place for its files on a drive, and
//! a [`Sequence`] yields the requests of one job. fio is under the GPL: everything here is written
//! from a description of what it does, and is checked against the requests of a real fio.

mod draw;
mod environment;
mod grammar;
mod job;
mod job_file;
mod layout;
mod options;
mod recording;
mod request;
mod sequence;

pub use draw::TimingDraws;
pub use environment::{Environment, Include, Seeding};
pub use job::*;
pub use job_file::JobFile;
pub use layout::{FileRange, JobFiles, Layout, Region};
pub use recording::{ReadRecording, Recorded, Recording};
pub use request::{Request, Step};
pub use sequence::Sequence;
