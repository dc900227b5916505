//! The files of a job: their ranges, and the choice of the next file.

use super::Sequence;
use crate::draw::{BlockMap, Consumer, Lfsr, Seeds, Skewed, name_hash};
use crate::environment::Seeding;
use crate::job::{ByDirection, Distribution, FileService, Generator, Job};
use crate::layout::FileRange;

/// Offset that marks a file without a request so far.
pub(super) const NONE: u64 = u64::MAX;

/// State of a job's file while the job runs.
#[derive(Clone, Debug)]
pub(super) struct FileState {
    /// First byte of the file that the job uses.
    pub start: u64,
    /// First byte of the file that the job uses in passes after the first.
    pub restart: u64,
    /// First byte of the zone that the job accesses now.
    pub origin: u64,
    /// Number of bytes of the file that the job uses.
    pub length: u64,
    /// Offset at which the job's file ends, counted from the file's beginning, in bytes.
    pub end: u64,
    /// First byte of the last request to the file, by direction.
    pub last_start: ByDirection<u64>,
    /// End of the last request to the file in bytes, by direction.
    pub last_end: ByDirection<u64>,
    /// Map of the blocks that the job has accessed in this pass; `None` if blocks may repeat.
    pub map: Option<BlockMap>,
    /// Shift register that draws the blocks of the file; `None` with another generator.
    pub lfsr: Option<Lfsr>,
    /// Distribution of offsets that are not equally likely; `None` if all are.
    pub skewed: Option<Skewed>,
    /// True if the job has accessed this file of its in its current pass over its files.
    pub open: bool,
    /// True if the last request to the file was a trim.
    pub trimmed: bool,
    /// True if no further request fits in this file in the job's current pass over its files.
    pub done: bool,
}

impl FileState {
    pub fn new(job: &Job, file: &FileRange, seeds: &Seeds, seeding: Seeding) -> FileState {
        let blocks = file.blocks(job);
        let lfsr = job.kind.random && job.generator == Generator::Lfsr;
        FileState {
            start: file.start,
            restart: file.restart,
            origin: file.start,
            length: file.length,
            end: file.end,
            last_start: [NONE; 3],
            last_end: [file.start; 3],
            map: job.is_mapped().then(|| BlockMap::new(blocks)),
            lfsr: lfsr.then(|| Lfsr::new(blocks)).flatten(),
            skewed: if job.kind.random { skewed(job, file, seeds, seeding) } else { None },
            open: false,
            trimmed: false,
            done: false,
        }
    }

    /// Resets the state of a file for the next pass of the fio job: offsets start at the beginning
    /// of the file or zone again, every block may be accessed again, and `offsets` seeds the shift
    /// register that draws blocks, if any.
    pub fn reset(&mut self, offsets: u64) {
        self.last_start = [NONE; 3];
        self.last_end = [self.origin; 3];
        self.trimmed = false;
        if let Some(map) = &mut self.map {
            map.clear();
        }
        if let Some(lfsr) = &mut self.lfsr {
            lfsr.reset(offsets);
        }
    }
}

fn skewed(job: &Job, file: &FileRange, seeds: &Seeds, seeding: Seeding) -> Option<Skewed> {
    if matches!(job.distribution, Distribution::Uniform) {
        return None;
    }
    let block = u64::from(job.blocks[0].min.min(job.blocks[1].min).max(1));
    // From 3.35 on, the name and the offsets' seed both count, also where a job is not repeatable
    // (`__init_rand_distribution` of fio's filesetup.c).
    let own = u64::from(name_hash(file.name.as_bytes()).wrapping_mul(job.number));
    let seed = match seeding {
        Seeding::V333 if job.repeatable => own,
        Seeding::V333 => seeds.of(Consumer::Offsets),
        Seeding::V335 => own.wrapping_mul(seeds.of(Consumer::Offsets)),
    };
    Skewed::new(&job.distribution, file.length.div_ceil(block), seed)
}

impl Sequence {
    /// Returns the index of the file of the job's next request; `None` if all files are done.
    #[inline]
    pub(super) fn next_file(&mut self) -> Option<usize> {
        if self.done_files >= self.files.len() {
            return None;
        }
        if let Some(current) = self.current_file
            && self.files[current].open
            && !self.files[current].done
        {
            if self.job.file_service == FileService::Sequential {
                return Some(current);
            }
            if self.requests_left > 0 {
                self.requests_left -= 1;
                return Some(current);
            }
        }
        let chosen = match self.job.file_service {
            FileService::Random => self.random_file(),
            _ => self.file_in_turn()?,
        };
        let offsets = self.seeds.of(Consumer::Offsets);
        let file = &mut self.files[chosen];
        if !file.open {
            file.open = true;
            file.reset(offsets);
        }
        self.current_file = Some(chosen);
        self.requests_left = self.job.file_service_run.saturating_sub(1);
        Some(chosen)
    }

    #[inline]
    fn file_in_turn(&mut self) -> Option<usize> {
        for _ in 0..self.files.len() {
            let file = self.file_turn;
            self.file_turn = if file + 1 >= self.files.len() { 0 } else { file + 1 };
            if !self.files[file].done {
                return Some(file);
            }
        }
        None
    }

    fn random_file(&mut self) -> usize {
        loop {
            let file = self.random.files.below(self.files.len() as u64) as usize;
            if let Some(state) = self.files.get(file)
                && !state.done
            {
                return file;
            }
        }
    }
}
