//! The seeds of a job: one for each consumer of random numbers.

use crate::environment::Seeding;
use crate::job::Job;

/// Base of the seeds of jobs that issue equal requests in every run (`randrepeat=1`).
const REPEATED: u64 = 0xb189_9bed;
/// Value of fio's option `randseed` if none is given.
const USUAL: u64 = 0x89;
/// Factor between the seeds of consecutive consumers of random numbers.
const STEP: u64 = 0x9e37_0001;
/// Number of consumers of random numbers in fio.
const COUNT: usize = 19;

/// A consumer of random numbers in a job of fio, such as its offsets or its block sizes; its value
/// is its index among fio's seeds.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Consumer {
    ReadSizes = 0,
    WriteSizes = 1,
    TrimSizes = 2,
    Mix = 4,
    FileChoice = 5,
    Offsets = 6,
    Order = 10,
    StartDelay = 13,
    ReadIntervals = 15,
    Zones = 16,
    WriteIntervals = 17,
    TrimIntervals = 18,
}

/// Seeds of a job, one for each consumer of random numbers.
#[derive(Clone, Debug)]
pub(crate) struct Seeds([u64; COUNT]);

impl Seeds {
    /// Returns the seeds of `job` for all consumers of random numbers.
    pub fn new(job: &Job, seeding: Seeding) -> Seeds {
        let number = u64::from(job.number);
        let mut seeds = [0; COUNT];
        if job.all_repeatable && seeding == Seeding::V333 {
            for (index, seed) in (0..).zip(&mut seeds) {
                *seed = REPEATED.wrapping_mul(number).wrapping_add(index);
            }
        } else {
            let mut next = job.seed.unwrap_or(USUAL);
            (0..4).for_each(|_| next = next.wrapping_mul(STEP));
            for (index, seed) in (0..).zip(&mut seeds) {
                *seed = next.wrapping_mul(number).wrapping_add(index);
                next = next.wrapping_mul(STEP);
            }
        }
        if job.kind.random && job.has_fixed_offsets() && seeding == Seeding::V333 {
            seeds[Consumer::Offsets as usize] = REPEATED.wrapping_mul(number);
        }
        Seeds(seeds)
    }

    /// Returns the seed of the random generator that one consumer of random numbers of a fio job,
    /// such as its offsets, uses.
    pub fn of(&self, consumer: Consumer) -> u64 {
        self.0[consumer as usize]
    }
}
