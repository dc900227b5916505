//! The time accounting of a die: a log of what it does, so that what a transaction waited behind is
//! known afterwards, and blame costs nothing while it waits, however long the queue.

use crate::observe::blame::{Blame, Part};
use crate::observe::operation::{Op, Source};
use fowler_units::{Nanos, Span};

/// What a die is doing, as far as those who wait for it care. The order is that of the parts of
/// blame from [`Part::BehindHostRead`] on, three to a source but for parity, which erases
/// nothing; idling is the channel's, suspending its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Doing(u8);

/// The places of reads, of whatever source.
const READING: [usize; Source::ALL.len()] = [0, 3, 6, 9, 12];

/// The part that each activity is, for those who wait.
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
    /// Nothing. Whoever waits meanwhile waits for the channel.
    pub const IDLE: Doing = Doing(14);
    /// Taking an operation off the cells or putting it back.
    pub const SUSPENDING: Doing = Doing(15);
    /// How many activities there are.
    pub const COUNT: usize = 16;

    /// Every activity's name in tables, in order.
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

    /// What it is blamed on by whoever waits meanwhile.
    #[inline]
    fn behind(self) -> Part {
        BEHIND[self.0 as usize % Doing::COUNT]
    }

    /// Serving an operation, its transfers included.
    #[inline]
    pub fn serving(op: Op, source: Source) -> Doing {
        debug_assert!(source != Source::Parity || op != Op::Erase, "parity erases nothing");
        Doing(3 * source as u8 + op as u8)
    }
}

const _: () = assert!(Part::Suspend as usize == Part::BehindHostRead as usize + Doing::COUNT - 1);

/// Time by activity, in nanoseconds.
///
/// A ledger only grows and never holds more than the clock, which is checked; sums and
/// differences of its readings need no checks of their own, so that all activities are added up at
/// once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ledger([u64; Doing::COUNT]);

impl Ledger {
    /// What was added since an earlier reading of the same ledger.
    #[inline]
    pub fn since(&self, earlier: &Ledger) -> Ledger {
        let mut difference = *self;
        for (now, then) in difference.0.iter_mut().zip(earlier.0) {
            debug_assert!(*now >= then);
            *now = now.wrapping_sub(then);
        }
        difference
    }

    /// Time spent on one activity.
    #[inline]
    pub fn of(&self, doing: Doing) -> Span {
        Span(self.0[doing.0 as usize])
    }

    /// The time of every activity, in the order of [`Doing::NAMES`], in nanoseconds.
    pub fn by_activity(&self) -> &[u64; Doing::COUNT] {
        &self.0
    }

    /// Time spent reading, for whatever source.
    pub fn reading(&self) -> Span {
        Span(READING.iter().map(|&index| self.0[index]).sum())
    }

    /// Time spent on anything but idling.
    pub fn busy(&self) -> Span {
        self.total() - self.of(Doing::IDLE)
    }

    /// All the time accounted for.
    pub fn total(&self) -> Span {
        Span(self.0.iter().sum())
    }

    /// Blames a wait on what the die did meanwhile.
    #[inline]
    pub fn blame(&self, blame: &mut Blame) {
        blame.add(Part::BehindHostRead, &self.0);
    }

    /// Blames only the reads: what was served while an operation was suspended.
    pub fn blame_reads(&self, blame: &mut Blame) {
        let mut reads = [0; Doing::COUNT];
        for index in READING {
            reads[index] = self.0[index];
        }
        blame.add(Part::BehindHostRead, &reads);
    }
}

/// Spells that a log holds before it is summed up.
const SPELLS: usize = 32;

/// The ledger of a die that is being written: sums, and a log of what it has done since.
///
/// What somebody waited behind is read from the log when it is asked, between two moments: that
/// costs whoever waits nothing, and most are never asked. Before the log is full it is summed up
/// ([`Account::sum_up`]); whoever waits then must be given a reading ([`Account::read_at`]) first.
#[derive(Clone, Debug)]
pub struct Account {
    /// Time by activity before the first spell of the log.
    times: Ledger,
    /// When each spell of the log began, and what the die did from then on.
    since: [Nanos; SPELLS],
    doing: [Doing; SPELLS],
    /// The spell that has not ended.
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
    /// From now on the die does something else. Returns whether the log is full.
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

    /// Forgets the log but for what the die is doing: everything before counts as sums only.
    pub fn sum_up(&mut self) {
        let last = usize::from(self.last) % SPELLS;
        for (ends, doing) in self.since[..=last].windows(2).zip(self.doing) {
            // A clock only goes on, so that the difference needs no check.
            self.times.0[doing.0 as usize % Doing::COUNT] += ends[1].0.wrapping_sub(ends[0].0);
        }
        (self.since[0], self.doing[0]) = (self.since[last], self.doing[last]);
        self.last = 0;
    }

    /// When the log begins: what came before is known in sums only.
    #[inline]
    pub fn log_begins(&self) -> Nanos {
        self.since[0]
    }

    /// The ledger as it stands at `now`, or as it stood at a moment since the log began.
    pub fn read_at(&self, at: Nanos) -> Ledger {
        let mut times = self.times;
        self.spells_before(at, self.since[0], |doing, span| times.0[doing.0 as usize] += span.0);
        times
    }

    /// What was done between two moments since the log began.
    pub fn between(&self, from: Nanos, to: Nanos) -> Ledger {
        let mut times = Ledger::default();
        self.spells_before(to, from, |doing, span| times.0[doing.0 as usize] += span.0);
        times
    }

    /// Blames a wait between two moments since the log began on what the die did meanwhile.
    #[inline]
    pub fn blame_between(&self, from: Nanos, to: Nanos, blame: &mut Blame) {
        self.spells_before(to, from, |doing, span| blame[doing.behind()] += span);
    }

    /// The spells between two moments, the latest first.
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
            // Of the first spell the beginning is not after `from`, so that this was all.
            spell = spell.wrapping_sub(1) % SPELLS;
        }
    }

    /// Turns a reading into what was added since.
    pub fn settle(&self, now: Nanos, reading: &mut Ledger) {
        *reading = self.read_at(now).since(reading);
    }

    /// What the die is doing.
    #[inline]
    pub fn doing(&self) -> Doing {
        self.doing[usize::from(self.last) % SPELLS]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fowler_units::Rng;

    /// Against a plain list of what was done when.
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
                let (since, mut its) = *reading.get_or_insert((from, account.read_at(from)));
                account.settle(now, &mut its);
                assert_eq!(its, between(&done, since, now), "seed {seed}");
            }
        }
    }
}
