//! The requests of a job, one after another.

use crate::job::{Job, Op};
use crate::job_file::Seeding;
use crate::layout::JobFiles;
use crate::request::{Request, Step};

/// The requests of a job, in the order in which fio issues them.
///
/// A closed loop calls [`Sequence::next_step`] whenever it has room for a request. Nothing is
/// allocated per request, except that a job that verifies remembers what it wrote.
#[derive(Clone, Debug)]
pub struct Sequence {}

impl Sequence {
    /// Starts the sequence of `job`, whose files are `files`.
    pub fn new(job: &Job, files: &JobFiles, seeding: Seeding) -> Sequence {
        let _ = (job, files, seeding);
        Sequence {}
    }

    /// Returns what the job does next.
    pub fn next_step(&mut self) -> Step {
        self.next_step_as(|drawn| drawn)
    }

    /// As [`Sequence::next_step`]; where a mix has drawn a direction, `choose` can take the other
    /// one, as fio does when the drawn direction is ahead of its rate and the other is not.
    pub fn next_step_as(&mut self, choose: impl FnMut(Op) -> Op) -> Step {
        let _ = choose;
        Step::Done
    }

    /// No more requests, except for the flushes at the end: the job's `runtime` is over.
    pub fn stop(&mut self) {}
}

/// The requests without a clock: at depth 1, each completes before the next.
impl Iterator for Sequence {
    type Item = Request;

    fn next(&mut self) -> Option<Request> {
        loop {
            match self.next_step() {
                Step::Issue(request) => return Some(request),
                Step::Drain => {}
                Step::Done => return None,
            }
        }
    }
}
