//! The time accounting of a die. What a transaction waited behind is the difference of two
//! readings, so that blame costs nothing while a transaction waits, however long the queue.

use crate::observe::blame::{Blame, Part};
use crate::observe::operation::{Op, Source};
use fowler_units::{Nanos, Span};

/// What a die is doing, as far as those who wait for it care. The order is that of the parts of
/// blame from [`Part::BehindHostRead`] on, three to a source but for parity, which erases
/// nothing; idling is the channel's, suspending its own. With one more, what a die notes down for
/// everyone who waits would not be copied at once any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Doing(u8);

/// The places of reads, of whatever source.
const READING: [usize; Source::ALL.len()] = [0, 3, 6, 9, 12];

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

/// A ledger that is being written.
#[derive(Clone, Debug)]
pub struct Account {
    times: Ledger,
    doing: Doing,
    since: Nanos,
}

impl Default for Account {
    fn default() -> Self {
        Self { times: Ledger::default(), doing: Doing::IDLE, since: Nanos::ZERO }
    }
}

impl Account {
    /// From now on the die does something else.
    #[inline]
    pub fn switch(&mut self, now: Nanos, doing: Doing) {
        self.times.0[self.doing.0 as usize] += (now - self.since).0;
        self.doing = doing;
        self.since = now;
    }

    /// The ledger as it stands at `now`.
    pub fn read(&self, now: Nanos) -> Ledger {
        let mut times = Ledger::default();
        self.note(now, &mut times);
        times
    }

    /// Notes down the ledger as it stands at `now`.
    #[inline]
    pub fn note(&self, now: Nanos, reading: &mut Ledger) {
        *reading = self.times;
        reading.0[self.doing.0 as usize] += (now - self.since).0;
    }

    /// Turns an earlier reading into what was added since.
    #[inline]
    pub fn settle(&self, now: Nanos, reading: &mut Ledger) {
        for (then, sum) in reading.0.iter_mut().zip(self.times.0) {
            *then = sum.wrapping_sub(*then);
        }
        let open = &mut reading.0[self.doing.0 as usize];
        *open = open.wrapping_add((now - self.since).0);
    }

    /// What the die is doing.
    pub fn doing(&self) -> Doing {
        self.doing
    }
}
