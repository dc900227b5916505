//! The requests of a job, one after another.
//!
//! A job is a number of passes. A pass issues requests until all bytes are issued or nothing
//! fits, waits for them, flushes if asked to, and reads back what it wrote if that is to be
//! verified. Between passes, positions, maps and, if the job is repeatable, generators start again.

mod files;
mod lengths;
mod offsets;
mod passes;
mod written_ranges;

use crate::draw::{Consumer, Random, Seeds, Taus88};
use crate::environment::Seeding;
use crate::job::{ByDirection, Generator, Job, Op};
use crate::layout::JobFiles;
use crate::recording::Replaying;
use crate::request::{Request, Step};
use files::FileState;
use passes::Phase;
use written_ranges::{Range, Written};

/// Number of blocks in a file above which fio draws offsets of 64 bits.
const NARROW_BLOCKS: u64 = u32::MAX as u64;

/// The requests of a job, in the order in which fio issues them.
///
/// A closed loop calls [`Sequence::next_step`] whenever it has room for a request. Nothing is
/// allocated per request, except that a job that verifies remembers what it wrote.
#[derive(Clone, Debug)]
pub struct Sequence {
    job: Box<Job>,
    seeds: Seeds,
    random: Generators,
    files: Vec<FileState>,

    /// Bytes that the job issues in one pass, and in all passes.
    pass_size: u64,
    io_size: u64,
    /// Number of requests after which the job ends (`number_ios`), doubled for passes of trims and
    /// writes.
    number_ios: u64,
    pass_limit: u64,
    phase: Phase,
    first: bool,
    stopped: bool,
    loops_left: u32,

    /// Requests and bytes that the job has issued since the start by direction, without those that
    /// read written data back.
    issued: ByDirection<u64>,
    issued_bytes: ByDirection<u64>,
    /// Number of requests that the fio job has issued since its start; `all_bytes` has their bytes.
    all: u64,
    all_bytes: u64,
    /// Bytes that the job has issued in the current pass.
    pass_bytes: u64,
    last: Op,
    last_was_flush: bool,
    mix: Op,
    mix_limit: u64,
    until_random: u32,
    zone_bytes: u64,

    current_file: Option<usize>,
    requests_left: u32,
    file_turn: usize,
    done_files: usize,

    written: Written,
    read_back_left: u64,
    /// Log that the job repeats instead of drawing requests; `None` without `read_iolog`.
    replaying: Option<Replaying>,
}

#[derive(Clone, Debug)]
struct Generators {
    sizes: ByDirection<Random>,
    mix: Taus88,
    files: Random,
    offsets: Random,
    order: ByDirection<Taus88>,
    zones: Taus88,
}

impl Generators {
    fn new(job: &Job, seeds: &Seeds, wide_offsets: bool) -> Generators {
        let wide = job.generator == Generator::Taus258;
        let writes = if job.verify.on { Consumer::ReadSizes } else { Consumer::WriteSizes };
        let trims = if job.kind.trim_then_write() { writes } else { Consumer::TrimSizes };
        let order = Taus88::new(seeds.of(Consumer::Order));
        Generators {
            sizes: [Consumer::ReadSizes, writes, trims]
                .map(|consumer| Random::new(seeds.of(consumer), wide)),
            mix: Taus88::new(seeds.of(Consumer::Mix)),
            files: Random::new(seeds.of(Consumer::FileChoice), wide),
            offsets: Random::new(seeds.of(Consumer::Offsets), wide_offsets),
            order: [order.clone(), order.clone(), order],
            zones: Taus88::new(seeds.of(Consumer::Zones)),
        }
    }
}

impl Sequence {
    /// Returns the requests of the fio job `job`, none of them drawn yet; `files` are the ranges of
    /// the files that the job accesses.
    pub fn new(job: &Job, files: &JobFiles, seeding: Seeding) -> Sequence {
        let mut job = Box::new(job.clone());
        let block = u64::from(job.min_block().max(1));
        let largest = files.files.iter().map(|file| file.length / block).max().unwrap_or(0);
        if largest > NARROW_BLOCKS && !job.generator_given {
            job.generator = Generator::Taus258;
        }
        let seeds = Seeds::new(&job, seeding);
        let random = Generators::new(&job, &seeds, job.generator == Generator::Taus258);
        let states = files.files.iter().map(|file| FileState::new(&job, file, &seeds, seeding));
        let mut sequence = Sequence {
            files: states.collect(),
            pass_size: files.size,
            io_size: files.io_size,
            number_ios: job.number_ios,
            pass_limit: 0,
            phase: Phase::Between,
            first: true,
            stopped: false,
            loops_left: job.loops,
            issued: [0; 3],
            issued_bytes: [0; 3],
            all: 0,
            all_bytes: 0,
            pass_bytes: 0,
            last: Op::Read,
            last_was_flush: false,
            mix: Op::Read,
            mix_limit: 0,
            until_random: 1,
            zone_bytes: 0,
            current_file: None,
            requests_left: 0,
            file_turn: 0,
            done_files: 0,
            written: Written::default(),
            read_back_left: 0,
            replaying: job.recording.clone().map(Replaying::new),
            job,
            seeds,
            random,
        };
        sequence.pass_limit = sequence.pass_limit();
        sequence
    }

    /// Returns the next step of the job: a request to issue, a wait, or the end.
    pub fn next_step(&mut self) -> Step {
        self.next_step_as(|drawn| drawn)
    }

    /// Returns the next step of the job: a request to issue, a wait, or the end. If a mix of reads
    /// and writes has drawn an operation, `choose` can replace it, as fio does when the drawn
    /// operation is ahead of its rate and the other is not.
    pub fn next_step_as(&mut self, choose: impl FnMut(Op) -> Op) -> Step {
        match self.replaying.as_mut().map(Replaying::step) {
            None => self.step(choose),
            Some(Step::Issue(request)) => {
                self.note(&request);
                Step::Issue(request)
            }
            Some(Step::Done) => {
                self.replaying = None;
                self.end_pass();
                Step::Drain
            }
            Some(wait) => wait,
        }
    }

    /// Ends the job's requests, except for the flushes at the end: the job's `runtime` is over.
    pub fn stop(&mut self) {
        if self.replaying.take().is_some() {
            self.phase = Phase::Issue;
        }
        self.end_early();
    }

    /// Returns the next request of the current pass; `None` if no file has room for one.
    #[inline]
    fn draw(&mut self, mut choose: impl FnMut(Op) -> Op) -> Option<Request> {
        loop {
            let file = self.next_file()?;
            let op = self.direction(file, &mut choose);
            if op.is_flush() {
                return Some(Request {
                    offset: 0,
                    length: 0,
                    file: file as u32,
                    op,
                    verify: false,
                });
            }
            if self.job.strided.is_some() {
                self.move_zone(file, op);
            }
            if let Some(request) = self.fill(file, op) {
                return Some(request);
            }
            self.files[file].done = true;
            self.files[file].open = false;
            self.done_files += 1;
        }
    }

    #[inline]
    fn fill(&mut self, file: usize, op: Op) -> Option<Request> {
        let place = self.place(file, op)?;
        let state = &self.files[file];
        if place.offset >= state.length {
            return None;
        }
        let offset = place.offset + state.origin;
        if offset >= state.end {
            return None;
        }
        let mut length = self.length(file, op, offset, place)?;
        let state = &mut self.files[file];
        if offset + u64::from(length) > state.end {
            return None;
        }
        if let Some(map) = &mut state.map
            && !place.again
        {
            // Each direction counts in blocks of its own.
            let block = u64::from(self.job.blocks[op as usize].min.max(1));
            let first = (offset - state.origin) / block;
            let count = u64::from(length).div_ceil(block);
            let taken = map.take(first, count);
            if taken * block < u64::from(length) {
                length = (taken * block) as u32;
            }
            if length == 0 {
                return None;
            }
        }
        state.trimmed = op == Op::Trim;
        state.last_start[op as usize] = offset;
        state.last_end[op as usize] = offset + u64::from(length);
        self.zone_bytes += u64::from(length);
        Some(Request { offset, length, file: file as u32, op, verify: false })
    }

    /// Returns the operation of the next request: a flush if one is due, otherwise a read, write or
    /// trim.
    #[inline]
    fn direction(&mut self, file: usize, choose: &mut impl FnMut(Op) -> Op) -> Op {
        let kind = self.job.kind;
        let writes = self.issued[Op::Write as usize];
        let flushes = kind.writes && !kind.trim_then_write();
        if flushes && !self.last_was_flush && writes > 0 {
            for (every, op) in [(self.job.fsync, Op::Sync), (self.job.fdatasync, Op::DataSync)] {
                if every > 0 && writes.is_multiple_of(u64::from(every)) {
                    return op;
                }
            }
        }
        if kind.mixed() {
            if self.issued[self.mix as usize] >= self.mix_limit {
                let read = self.random.mix.percent() <= self.job.mix_read;
                let drawn = if read { Op::Read } else { Op::Write };
                if drawn != self.mix {
                    let share = if read { self.job.mix_read } else { 100 - self.job.mix_read };
                    self.mix_limit = self.issued[self.mix as usize] * u64::from(share) / 100;
                }
                self.mix = drawn;
            }
            self.mix = choose(self.mix);
            return self.mix;
        }
        if kind.trim_then_write() {
            let state = &self.files[file];
            let [_, write, trim] = state.last_start;
            return if state.trimmed || write != trim { Op::Write } else { Op::Trim };
        }
        match kind {
            _ if kind.reads => Op::Read,
            _ if kind.writes => Op::Write,
            _ => Op::Trim,
        }
    }

    /// Moves to the next zone of the file once the bytes of the current one are used
    /// (`zonemode=strided`).
    fn move_zone(&mut self, file: usize, op: Op) {
        let Some(zones) = self.job.strided else { return };
        let state = &mut self.files[file];
        if self.zone_bytes >= zones.size {
            self.zone_bytes = 0;
            state.origin = state.origin.saturating_add(zones.range).saturating_add(zones.skip);
            if state.origin >= state.end {
                state.origin = state.restart;
            }
            state.last_end[op as usize] = state.origin;
        }
        if state.last_end[op as usize] >= state.origin.saturating_add(zones.range) {
            state.last_end[op as usize] = state.origin;
        }
        if self.zone_bytes.is_multiple_of(zones.range.max(1)) {
            state.reset(self.seeds.of(Consumer::Offsets));
        }
    }

    /// Counts an issued request towards the totals of the job and the state of its file.
    #[inline]
    fn note(&mut self, request: &Request) {
        self.last_was_flush = request.op.is_flush();
        if request.op.is_flush() {
            return;
        }
        let length = u64::from(request.length);
        self.last = request.op;
        self.all += 1;
        self.all_bytes += length;
        self.pass_bytes += length;
        if request.verify {
            return;
        }
        self.issued[request.op as usize] += 1;
        self.issued_bytes[request.op as usize] += length;
        let verify = &self.job.verify;
        if verify.on && (verify.read_back || verify.only) && request.op == Op::Write {
            let Request { file, offset, length, .. } = *request;
            let in_order = self.files[file as usize].map.is_some() || verify.repeats;
            self.written.add(Range { file, offset, length }, in_order);
        }
    }
}

/// The requests of the job without a clock: at depth 1, each completes before the next. A job that
/// repeats itself for a time ends after one pass, because only a clock can end it.
impl Iterator for Sequence {
    type Item = Request;

    fn next(&mut self) -> Option<Request> {
        loop {
            if self.job.recording.is_none() && self.has_seen_all() {
                return None;
            }
            match self.next_step() {
                Step::Issue(request) => return Some(request),
                Step::Drain | Step::NotBefore(_) => {}
                Step::Done => return None,
            }
        }
    }
}
