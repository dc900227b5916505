//! The time accounting of a die: a log of its activities. The activities that a transaction waited
//! behind are determined afterwards, so that blame costs nothing during the wait, however long the
//! queue is.

use crate::observe::blame::{Blame, Part};
use crate::observe::operation::{Op, Source};
use fowler_units::{Nanos, Span};

/// Number of an activity of a die: a read, program or erase for a source (host, GC and so on;
/// parity never erases), idle, or suspending. It is the index, counted from
/// [`Part::BehindHostRead`], of the cause of latency to which waiting meanwhile is assigned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Doing(u8);

/// For each source, the number ([`Doing`]) of the activity of a die that reads for it.
const READING: [usize; Source::ALL.len()] = [0, 3, 6, 9, 12];

/// For each activity of a die, the cause of latency of a transaction that waits meanwhile.
const BEHIND: [Part; Doing::COUNT] = {
    let mut parts = [Part::HostLink; Doing::COUNT];
    let mut index = 0;
    while index < parts.len() {
        parts[index] = Part::ALL[Part::BehindHostRead as usize + index];
        index += 1;
    }
    parts
};

impl Doing {
    /// The die is idle. A transaction that waits meanwhile waits for the channel.
    pub const IDLE: Doing = Doing(14);
    /// The die suspends or resumes an operation.
    pub const SUSPENDING: Doing = Doing(15);
    /// Number of activities of a die that the time accounting distinguishes.
    pub const COUNT: usize = 16;

    /// Names of the activities of a die in tables, in the order of their numbers.
    pub const NAMES: [&str; Doing::COUNT] = [
        "host reads",
        "host programs",
        "host erases",
        "GC reads",
        "GC programs",
        "GC erases",
        "wear-leveling reads",
        "wear-leveling programs",
        "wear-leveling erases",
        "refresh reads",
        "refresh programs",
        "refresh erases",
        "parity reads",
        "parity programs",
        "idle",
        "suspending and resuming",
    ];

    /// Returns the cause of latency to which a wait during this activity is assigned.
    #[inline]
    fn behind(self) -> Part {
        BEHIND[self.0 as usize % Doing::COUNT]
    }

    /// Returns the activity of a die that executes an operation for a source, transfers included.
    #[inline]
    pub fn serving(op: Op, source: Source) -> Doing {
        debug_assert!(source != Source::Parity || op != Op::Erase, "parity erases nothing");
        Doing(3 * source as u8 + op as u8)
    }
}

const _: () = assert!(Part::Suspend as usize == Part::BehindHostRead as usize + Doing::COUNT - 1);

/// Time of a die by activity, in nanoseconds.
///
/// A ledger only grows and never exceeds the clock, whose overflow is checked. Sums and differences
/// of its readings therefore need no checks, and all activities are added at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ledger([u64; Doing::COUNT]);

impl Ledger {
    /// Returns the time that the die has spent on each activity since the moment at which `earlier`
    /// was copied from this die's total times by activity.
    #[inline]
    pub fn since(&self, earlier: &Ledger) -> Ledger {
        let mut difference = *self;
        for (now, then) in difference.0.iter_mut().zip(earlier.0) {
            debug_assert!(*now >= then);
            *now = now.wrapping_sub(then);
        }
        difference
    }

    /// Returns the time that the die spent on one activity.
    #[inline]
    pub fn of(&self, doing: Doing) -> Span {
        Span(self.0[doing.0 as usize])
    }

    /// Returns the total time, in nanoseconds, that the die has spent on each kind of activity:
    /// operations by kind and source, idle, and suspending. The order is that of [`Doing::NAMES`].
    pub fn by_activity(&self) -> &[u64; Doing::COUNT] {
        &self.0
    }

    /// Returns the time that the die spent reading, for the host, GC and all others.
    pub fn reading(&self) -> Span {
        Span(READING.iter().map(|&index| self.0[index]).sum())
    }

    /// Returns the time that the die spent on all activities except idling.
    pub fn busy(&self) -> Span {
        self.total() - self.of(Doing::IDLE)
    }

    /// Returns the time that the die spent on all activities, idling included.
    pub fn total(&self) -> Span {
        Span(self.0.iter().sum())
    }

    /// Adds a wait for a die to the causes of latency in `blame`, by the activities of the die
    /// during it.
    #[inline]
    pub fn blame(&self, blame: &mut Blame) {
        blame.add(Part::BehindHostRead, &self.0);
    }

    /// Adds the time of reads, which a die served while an operation was suspended, to the causes
    /// of latency in `blame`. Other activities are left out.
    pub fn blame_reads(&self, blame: &mut Blame) {
        let mut reads = [0; Doing::COUNT];
        for index in READING {
            reads[index] = self.0[index];
        }
        blame.add(Part::BehindHostRead, &reads);
    }
}

/// Number of spells (uninterrupted activities) in the log of a die's time accounting.
const SPELLS: usize = 32;

/// The time accounting of a die in progress: sums, and a log of recent activities.
///
/// The activities that a transaction waited behind are read from the log on demand, between two
/// moments: waiting costs nothing, and most waits are never queried. A full log is summed up
/// ([`Account::sum_up`]); transactions that are waiting then must first take a reading
/// ([`Account::read_at`]).
#[derive(Clone, Debug)]
pub struct Account {
    /// Sums of the time of each activity of the die (such as host reads) before the first entry in
    /// the log of its recent activities.
    times: Ledger,
    /// Time at which each uninterrupted activity (spell) in the log began.
    since: [Nanos; SPELLS],
    /// Kind of each uninterrupted activity (spell) in the log of the die's recent activities.
    doing: [Doing; SPELLS],
    /// Index of the die's current activity in the log.
    last: u8,
}

impl Default for Account {
    fn default() -> Self {
        Self {
            times: Ledger::default(),
            since: [Nanos::ZERO; SPELLS],
            doing: [Doing::IDLE; SPELLS],
            last: 0,
        }
    }
}

impl Account {
    /// Logs that the die starts another activity at `now`. Returns true if the log of activities is
    /// full.
    #[inline]
    #[must_use = "a full log must be summed up"]
    pub fn switch(&mut self, now: Nanos, doing: Doing) -> bool {
        let last = usize::from(self.last) % SPELLS;
        if self.doing[last] == doing {
            return false;
        }
        let next = (last + 1) % SPELLS;
        self.since[next] = now;
        self.doing[next] = doing;
        self.last = next as u8;
        next == SPELLS - 1
    }

    /// Adds the ended activities in the die's log of recent activities to its total time by kind of
    /// activity, and clears them from that log.
    pub fn sum_up(&mut self) {
        let last = usize::from(self.last) % SPELLS;
        for (ends, doing) in self.since[..=last].windows(2).zip(self.doing) {
            // The clock never goes back, so the difference needs no check.
            self.times.0[doing.0 as usize % Doing::COUNT] += ends[1].0.wrapping_sub(ends[0].0);
        }
        (self.since[0], self.doing[0]) = (self.since[last], self.doing[last]);
        self.last = 0;
    }

    /// Returns the time at which the log of the die's activities begins; earlier ones are known
    /// only as sums.
    #[inline]
    pub fn log_begins(&self) -> Nanos {
        self.since[0]
    }

    /// Returns the time of each of the die's activities up to `at`, a moment within its log or
    /// after it.
    pub fn read_at(&self, at: Nanos) -> Ledger {
        let mut times = self.times;
        self.spells_before(at, self.since[0], |doing, span| times.0[doing.0 as usize] += span.0);
        times
    }

    /// Returns the time of each of the die's activities between two moments within its log.
    pub fn between(&self, from: Nanos, to: Nanos) -> Ledger {
        let mut times = Ledger::default();
        self.spells_before(to, from, |doing, span| times.0[doing.0 as usize] += span.0);
        times
    }

    /// Adds a wait between two moments within the log of the die's activities to the causes of
    /// latency in `blame`.
    #[inline]
    pub fn blame_between(&self, from: Nanos, to: Nanos, blame: &mut Blame) {
        self.spells_before(to, from, |doing, span| blame[doing.behind()] += span);
    }

    /// Calls `each` for every uninterrupted activity (spell) of the die between two moments, the
    /// latest first.
    #[inline]
    fn spells_before(&self, to: Nanos, from: Nanos, mut each: impl FnMut(Doing, Span)) {
        debug_assert!(from >= self.since[0], "the log does not reach back so far");
        let (mut spell, mut end) = (usize::from(self.last) % SPELLS, to);
        while from < end {
            let begin = self.since[spell].max(from);
            if begin < end {
                each(self.doing[spell], end - begin);
                end = begin;
            }
            // The first spell begins no later than `from`, so the loop ends there.
            spell = spell.wrapping_sub(1) % SPELLS;
        }
    }

    /// Replaces `reading`, a copy of the total times of the die by activity taken at some earlier
    /// moment, by the time that the die has spent on each activity from that moment until `now`.
    pub fn settle(&self, now: Nanos, reading: &mut Ledger) {
        *reading = self.read_at(now).since(reading);
    }

    /// Returns the current activity of the die.
    #[inline]
    pub fn doing(&self) -> Doing {
        self.doing[usize::from(self.last) % SPELLS]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fowler_units::Rng;

    /// The log and its sums give the same times as a plain list of activities.
    #[test]
    fn the_log_and_its_sums_agree_with_a_plain_list() {
        for seed in 0..200 {
            let mut rng = Rng::stream(seed, "observe/ledger");
            let (mut account, mut now) = (Account::default(), Nanos::ZERO);
            let mut done: Vec<(Nanos, Doing)> = vec![(now, Doing::IDLE)];
            let between = |done: &[(Nanos, Doing)], from: Nanos, to: Nanos| {
                let ends = done.iter().skip(1).map(|it| it.0).chain([to]);
                let mut times = Ledger::default();
                for (&(began, doing), ended) in done.iter().zip(ends) {
                    let (began, ended) = (began.max(from), ended.min(to));
                    if began < ended {
                        times.0[doing.0 as usize] += (ended - began).0;
                    }
                }
                times
            };
            let mut reading = None;
            for _ in 0..rng.below(400) {
                now = now + Span(rng.below(3));
                let doing = Doing(rng.below(Doing::COUNT as u64) as u8);
                done.push((now, doing));
                if account.switch(now, doing) {
                    account.sum_up();
                }
                now = now + Span(rng.below(3));
                let began = account.log_begins();
                let from = began + Span(rng.below((now - began).0 + 1));
                let to = from + Span(rng.below((now - from).0 + 1));
                let expected = between(&done, from, to);
                assert_eq!(account.between(from, to), expected, "seed {seed}");
                let mut blame = Blame::default();
                account.blame_between(from, to, &mut blame);
                let mut blamed = Blame::default();
                expected.blame(&mut blamed);
                assert_eq!(blame, blamed, "seed {seed}");
                assert_eq!(account.read_at(to), between(&done, Nanos::ZERO, to), "seed {seed}");
                assert_eq!(account.doing(), doing);
                let (since, mut ledger) = *reading.get_or_insert((from, account.read_at(from)));
                account.settle(now, &mut ledger);
                assert_eq!(ledger, between(&done, since, now), "seed {seed}");
            }
        }
    }
}
