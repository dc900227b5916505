//! The time at which the next request of a direction may be issued: `rate` and `rate_iops`.
//!
//! Due times are whole microseconds from the beginning of the process, as fio has them. Request k
//! of a linear rate is due at the bytes before it over the rate; those of a Poisson process add up
//! drawn intervals. Late requests are caught up at once.

use super::plan::{ByDirection, Direction, Plan, Rate, Requests};
use fowler_units::{Nanos, Span};

const US_PER_S: u128 = 1_000_000;

/// Times at which a process may issue its next requests, by direction, to keep its rates.
#[derive(Clone, Debug)]
pub(super) struct Pace {
    rates: ByDirection<Option<Rate>>,
    poisson: bool,
    /// Time from which the due times of the process's requests count: the start of the process or
    /// the end of its ramp, plus all pauses in which no request is due.
    from: Nanos,
    issued: ByDirection<u64>,
    /// Due time of the next request in each direction, in microseconds from the beginning.
    due_us: ByDirection<u64>,
}

impl Pace {
    /// Returns the times at which requests may be issued at the rates of `plan`, for a process that
    /// begins at `from`.
    pub fn new(plan: &Plan, from: Nanos) -> Pace {
        Pace {
            rates: plan.rates,
            poisson: plan.poisson,
            from,
            issued: ByDirection::default(),
            due_us: ByDirection::default(),
        }
    }

    /// Returns the time at which the next request of `direction` is due; without a rate, the start
    /// of the process.
    pub fn due(&self, direction: Direction) -> Nanos {
        self.from + Span::us(self.due_us[direction])
    }

    /// Returns the direction of the request to issue at `now`. It is `next`, the one that the job
    /// would issue, unless reads and writes both have rates and the other of the two is due
    /// earlier.
    pub fn pick(&self, next: Direction, now: Nanos) -> Direction {
        let other = match next {
            Direction::Read => Direction::Write,
            Direction::Write => Direction::Read,
            Direction::Trim => return next,
        };
        let both = self.rates[next].is_some() && self.rates[other].is_some();
        if both && self.due(next) > now && self.due(other) < self.due(next) { other } else { next }
    }

    /// Moves the times at which the fio process's next requests are due under its rates (`rate`,
    /// `rate_iops`) later by the length of a pause (`thinktime`), in which no request is due.
    pub fn skip(&mut self, pause: Span) {
        self.from = self.from + pause;
    }

    /// Counts a request that the process has issued under a limited rate (`rate`, `rate_iops`), and
    /// sets the time at which the process's next request in that direction is due.
    pub fn issued(&mut self, direction: Direction, bytes: u64, requests: &mut dyn Requests) {
        let Some(rate) = self.rates[direction] else { return };
        self.issued[direction] += bytes;
        let due = &mut self.due_us[direction];
        if self.poisson {
            let iops = (rate.bytes_per_s / rate.block.max(1)).max(1);
            *due = due.saturating_add(requests.gap_us(direction, iops));
        } else {
            let us = u128::from(self.issued[direction]) * US_PER_S / u128::from(rate.bytes_per_s);
            *due = u64::try_from(us).unwrap_or(u64::MAX);
        }
        // A moment later than any run.
        *due = (*due).min(u64::MAX / 4_000);
    }
}

#[cfg(test)]
mod tests {
    use super::super::plan::Op;
    use super::*;

    struct Gaps(u64);

    impl Requests for Gaps {
        fn next(&mut self, _: &mut dyn FnMut(Direction) -> Direction) -> Option<Op> {
            None
        }

        fn stop(&mut self) {}

        fn gap_us(&mut self, _: Direction, iops: u64) -> u64 {
            self.0 += 1;
            1_000_000 / iops + self.0
        }
    }

    fn plan(bytes_per_s: u64, poisson: bool) -> Plan {
        let rate = Some(Rate { bytes_per_s, block: 4096 });
        let mut plan = Plan { poisson, ..Plan::new("rated", 1) };
        plan.rates[Direction::Read] = rate;
        plan.rates[Direction::Write] = rate;
        plan
    }

    #[test]
    fn a_linear_rate_is_due_at_the_bytes_before_over_the_rate() {
        let mut pace = Pace::new(&plan(3_000_000, false), Nanos(500));
        let mut due = Vec::new();
        for bytes in [4096, 8192, 512] {
            pace.issued(Direction::Read, bytes, &mut Gaps(0));
            due.push(pace.due(Direction::Read).0);
        }
        // 4096 / 3, 12288 / 3 and 12800 / 3 microseconds, without their fractions.
        assert_eq!(due, [1_365_500, 4_096_500, 4_266_500]);
        assert_eq!(pace.due(Direction::Trim), Nanos(500), "no rate, no wait");
    }

    #[test]
    fn a_poisson_process_adds_up_its_intervals() {
        let mut pace = Pace::new(&plan(4096 * 1_000, true), Nanos::ZERO);
        let mut gaps = Gaps(0);
        pace.issued(Direction::Read, 4096, &mut gaps);
        pace.issued(Direction::Read, 4096, &mut gaps);
        assert_eq!(pace.due(Direction::Read), Nanos(2_003_000));
    }

    #[test]
    fn a_direction_ahead_of_its_rate_gives_way_to_the_other() {
        let mut pace = Pace::new(&plan(4_096_000, false), Nanos::ZERO);
        pace.issued(Direction::Read, 4096, &mut Gaps(0));
        assert_eq!(pace.pick(Direction::Read, Nanos(10)), Direction::Write);
        assert_eq!(pace.pick(Direction::Read, Nanos(1_000_000)), Direction::Read);
        assert_eq!(pace.pick(Direction::Write, Nanos(10)), Direction::Write);
        pace.issued(Direction::Write, 8192, &mut Gaps(0));
        assert_eq!(pace.pick(Direction::Write, Nanos(10)), Direction::Read);
        assert_eq!(pace.pick(Direction::Trim, Nanos(10)), Direction::Trim);
    }
}
