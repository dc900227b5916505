//! The ends of passes and of the job, and the steps after a pass.

use super::{Generators, Sequence};
use crate::job::{Generator, Op};
use crate::request::{Request, Step};

/// Phase of a job between its first and its last request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// The job is before its first pass or between two passes.
    Between,
    /// The job issues requests.
    Issue,
    /// Everything is issued: the job flushes the file with this number and all files after it.
    Flush(usize),
    /// The job reads back what it wrote.
    ReadBack,
    /// The job is finished.
    Done,
}

impl Sequence {
    pub(super) fn step(&mut self, mut choose: impl FnMut(Op) -> Op) -> Step {
        loop {
            match self.phase {
                Phase::Between => {
                    if !self.runs_on() {
                        self.phase = Phase::Done;
                        continue;
                    }
                    self.begin_pass();
                }
                Phase::Issue => {
                    let next =
                        if self.pass_is_over() { None } else { self.next_in_pass(&mut choose) };
                    let Some(request) = next else {
                        self.end_pass();
                        return Step::Drain;
                    };
                    self.note(&request);
                    return Step::Issue(request);
                }
                Phase::Flush(file) => {
                    if file >= self.files.len() {
                        self.after_pass();
                        continue;
                    }
                    self.phase = Phase::Flush(file + 1);
                    let file = file as u32;
                    let flush = Request { offset: 0, length: 0, file, op: Op::Sync, verify: false };
                    return Step::Issue(flush);
                }
                Phase::ReadBack => {
                    let Some(request) = self.read_back() else {
                        self.phase = Phase::Between;
                        return Step::Drain;
                    };
                    self.note(&request);
                    return Step::Issue(request);
                }
                Phase::Done => return Step::Done,
            }
        }
    }

    pub(super) fn end_early(&mut self) {
        self.stopped = true;
        match self.phase {
            Phase::Issue => self.end_pass(),
            Phase::Flush(_) => {}
            _ => self.phase = Phase::Done,
        }
    }

    /// Returns true if a time-based fio job has issued all requests of one pass over its file, so
    /// that it would end here without its run time.
    pub(super) fn has_seen_all(&self) -> bool {
        let over = match self.number_ios {
            0 => self.all_bytes >= self.whole() || self.is_over(),
            _ => self.enough_requests(),
        };
        self.job.time_based && over
    }

    /// Returns the number of bytes that the job transfers without repetitions.
    fn whole(&self) -> u64 {
        if self.io_size > 0 { self.io_size } else { self.pass_size }
    }

    /// True if the job starts another pass.
    fn runs_on(&mut self) -> bool {
        if self.stopped || self.job.recording.is_some() {
            return false;
        }
        if self.job.time_based {
            return true;
        }
        if self.loops_left > 0 {
            self.loops_left -= 1;
            return true;
        }
        if self.enough_requests() {
            return false;
        }
        let left = self.whole().saturating_sub(self.all_bytes);
        let all_done = self.files.iter().all(|file| file.done) && self.io_size == 0;
        left > 0 && left >= u64::from(self.job.max_block()) && !all_done
    }

    fn begin_pass(&mut self) {
        if !self.first {
            self.start_again();
        }
        self.first = false;
        self.pass_bytes = 0;
        if self.job.verify.only && self.job.kind.writes {
            self.pretend();
            self.start_again();
            self.phase = Phase::ReadBack;
            return;
        }
        if self.job.kind.trim_then_write() {
            self.number_ios = self.number_ios.saturating_mul(2);
        }
        self.phase = Phase::Issue;
    }

    /// Records the writes of a pass without issuing them (`verify_only`).
    fn pretend(&mut self) {
        while !self.is_over() {
            let Some(request) = self.draw(|drawn| drawn) else { break };
            self.note(&request);
        }
        if self.pass_bytes == 0 {
            self.stopped = true;
        }
    }

    /// Starts another pass of the job; counts over all passes remain.
    fn start_again(&mut self) {
        self.zone_bytes = 0;
        self.last_was_flush = false;
        self.mix_limit = 0;
        self.done_files = 0;
        for file in &mut self.files {
            file.start = file.restart;
            file.origin = file.start;
            (file.open, file.done) = (false, false);
        }
        if self.job.repeatable {
            let wide = self.job.generator == Generator::Taus258;
            self.random = Generators::new(&self.job, &self.seeds, wide);
        }
    }

    pub(super) fn end_pass(&mut self) {
        let flush = self.job.end_fsync && self.job.kind.writes && !self.last_was_flush;
        self.phase = Phase::Flush(if flush { 0 } else { self.files.len() });
    }

    fn after_pass(&mut self) {
        let verifies = self.job.verify.on && self.job.verify.read_back;
        if self.stopped || self.pass_bytes == 0 {
            self.phase = Phase::Done;
        } else if verifies {
            self.start_again();
            self.phase = Phase::ReadBack;
        } else {
            self.phase = Phase::Between;
        }
    }

    fn enough_requests(&self) -> bool {
        let most = self.number_ios.saturating_mul(u64::from(self.job.loops));
        most > 0 && self.all >= most
    }

    /// True if the job has issued all its bytes or requests.
    #[inline]
    fn is_over(&self) -> bool {
        let [reads, writes, trims] = self.issued_bytes;
        let bytes = match self.job.kind {
            kind if kind.mixed() => reads + writes,
            kind if kind.writes => writes,
            kind if kind.reads => reads,
            _ => trims,
        };
        bytes >= self.whole().saturating_mul(u64::from(self.job.loops)) || self.enough_requests()
    }

    #[inline]
    fn pass_is_over(&self) -> bool {
        let job = &self.job;
        if !job.time_based && self.is_over() {
            return true;
        }
        (!job.time_based || job.verify.on) && self.pass_bytes >= self.pass_limit
    }

    /// Returns the number of bytes after which the job's pass over its files is over, including,
    /// with `verify_backlog`, the bytes that the job reads back for verification between its
    /// writes.
    pub(super) fn pass_limit(&self) -> u64 {
        let job = &self.job;
        let mut limit = self.whole().saturating_mul(u64::from(job.loops));
        if job.verify.on && job.kind.writes && job.verify.backlog > 0 {
            limit = limit.saturating_add(self.pass_size);
        }
        if job.kind.trim_then_write() {
            limit = u64::MAX;
        }
        limit
    }

    /// Returns the next request of the job's pass over its files: a read that verifies written
    /// data, if `verify_backlog` writes have been made since, or a new request.
    #[inline]
    fn next_in_pass(&mut self, choose: &mut impl FnMut(Op) -> Op) -> Option<Request> {
        let verify = self.job.verify;
        if verify.on && verify.read_back && verify.backlog > 0 && self.written.len() > 0 {
            let due = self.written.len().is_multiple_of(verify.backlog) && self.last != Op::Read;
            if self.read_back_left == 0 && due {
                self.read_back_left = match verify.backlog_batch {
                    0 => verify.backlog,
                    batch => batch,
                };
            }
            if self.read_back_left > 0 {
                self.read_back_left -= 1;
                return self.read_back();
            }
        }
        self.draw(choose)
    }

    fn read_back(&mut self) -> Option<Request> {
        let range = self.written.next_range()?;
        Some(Request {
            offset: range.offset,
            length: range.length,
            file: range.file,
            op: Op::Read,
            verify: true,
        })
    }
}
