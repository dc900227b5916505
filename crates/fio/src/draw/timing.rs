//! Random draws of fio for timing: start delays, and intervals of Poisson arrivals.

use super::{Consumer, Seeds, Taus88};
use crate::environment::Seeding;
use crate::job::{Job, Op};
use fowler_units::Span;

/// Random draws of a job that decide when its requests are issued.
#[derive(Clone, Debug)]
pub struct TimingDraws {
    delay: Taus88,
    /// Generators of the intervals between requests: for reads, writes and trims.
    intervals: [Taus88; 3],
}

impl TimingDraws {
    /// Returns the random numbers for the timing of `job` (start delays and arrival intervals),
    /// from the beginning of each random stream.
    pub fn new(job: &Job, seeding: Seeding) -> TimingDraws {
        let seeds = Seeds::new(job, seeding);
        let of = |consumer| Taus88::new(seeds.of(consumer));
        TimingDraws {
            delay: of(Consumer::StartDelay),
            intervals: [Consumer::ReadIntervals, Consumer::WriteIntervals, Consumer::TrimIntervals]
                .map(of),
        }
    }

    /// Draws a start delay from `least` to `most`, in whole microseconds.
    pub fn start_delay(&mut self, (least, most): (Span, Span)) -> Span {
        if least >= most {
            return least;
        }
        let range = (most - least).0 / 1000 + 1;
        least + Span::us((range as f64 * self.delay.unit()) as u64)
    }

    /// Draws an interval of a Poisson process of `iops` requests of `op` per second, in whole
    /// microseconds.
    pub fn interval(&mut self, op: Op, iops: u64) -> Span {
        let Some(random) = self.intervals.get_mut(op as usize) else { return Span(0) };
        let mean = (1_000_000 / iops.max(1)) as f64;
        let draw = f64::from(random.draw()) + 1.0;
        Span::us((mean * -libm::log(draw / (f64::from(u32::MAX) + 1.0))) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Environment, JobFile};

    /// The gaps between the requests of fio 3.33 with `rate_iops=100` and `rate_process=poisson`,
    /// of its null engine, read from its iolog. A real process wakes up to half a millisecond off.
    #[test]
    fn intervals_are_those_of_fio() {
        let text = "[j]\nsize=64m\nrw=randread\nrate_iops=100\nrate_process=poisson\n";
        let file = JobFile::parse(text, "job.fio", &Environment::empty()).expect("a job file");
        let mut draws = TimingDraws::new(&file.jobs[0], Seeding::V333);
        let drawn: Vec<u64> = (0..9).map(|_| draws.interval(Op::Read, 100).0 / 1_000).collect();
        let seen = [23_468, 4_748, 3_088, 10_621, 37_551, 15_311, 8_153, 3_175, 12_125];
        let near = |(&drawn, &seen): (&u64, &u64)| drawn.abs_diff(seen) < 500;
        assert!(drawn.iter().zip(&seen).all(near), "{drawn:?}");
    }
}
