//! Patrol scrub: in each period every block that holds data is read once, all its valid pages, so
//! that errors are found while they can still be corrected, and losses before the host finds them.
//! A block whose errors reach the margin of `policy/scrub` is moved by the job of refresh; a page
//! that can only be recovered from its stripe is rebuilt (`raid/rebuild.rs`).
//!
//! The blocks of a die have their turns one after another, spread evenly over the period. Pages are
//! read one by one while the die is idle. A block that has not been read when the next one has its
//! turn is late: its pages are read though the host uses the die, one at a time, at most twice as
//! often as the period asks for. A block is therefore read within one and a half turns, plus the
//! time that its reads wait for their die. See docs/decisions/gc.md, "When does a scrub read?".

use crate::config::Config;
use crate::policy::scrub::{AnyScrub, Scrub as _};
use fowler_units::{BlockId, Bytes, DieId, Geometry, IdVec, Nanos, Span};

/// The factor by which a busy die is read faster than necessary, so that late blocks catch up.
/// Assumed: a host should hardly notice.
const CATCHES_UP: u64 = 2;
/// The number of turns after which the move of a block is put off to the next period, if it cannot
/// begin because its plane has no room.
pub(super) const TURNS_TO_MOVE: u64 = 2;

/// The progress of scrubbing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScrubProgress {
    /// The number of times that every block has had its turn.
    pub rounds: u32,
    /// The longest time from the turn of a block until it was read, and moved if necessary. Time
    /// without power counts.
    pub latest: Span,
}

/// The scrubbing of all dies.
#[derive(Clone, Debug)]
pub struct Scrubber {
    pub(super) policy: AnyScrub,
    pub(super) period: Span,
    /// The time between the turns of two blocks.
    pub(super) every: Span,
    /// The minimum time between reads of a busy die.
    pub(super) step: Span,
    /// Blocks per die.
    pub(super) blocks: u32,
    /// The time without power. Turns include this time, and the clock of the drive does not.
    pub(super) off: Span,
    pub(super) latest: Span,
    pub(super) dies: IdVec<DieId, Patrol>,
}

/// The scrubbing of a die.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patrol {
    /// The block that has its turn or is next, by its number on the die; the page at which reading
    /// continues; true if a page of the block has been read; and true if the fate of the block in
    /// this turn is decided.
    pub(super) block: u32,
    pub(super) page: u32,
    pub(super) begun: bool,
    pub(super) decided: bool,
    /// When the block has its turn, time without power included.
    pub(super) turn: Nanos,
    /// The next event; `NEVER` if none is scheduled.
    pub(super) at: Nanos,
    /// True while a page is being read; and true if that read began while the die was idle.
    pub(super) reading: bool,
    pub(super) in_idle_time: bool,
    /// The earliest time of the next read while the die is busy.
    pub(super) rests_until: Nanos,
    /// The block that has to move before another block is read.
    pub(super) moving: Option<Moving>,
    rounds: u32,
}

/// A block with many errors.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moving {
    pub(super) block: BlockId,
    /// The erase count of the block when its errors were found: one more, and the data has moved.
    pub(super) erases: u32,
    pub(super) since: Nanos,
}

impl Scrubber {
    /// Creates the state at time zero; none if the configuration has no scrubbing.
    pub(super) fn new(config: &Config, geometry: &Geometry) -> Option<Self> {
        let policy = AnyScrub::new(&config.scrub, config.seed);
        let period = policy.period()?;
        let (dies, blocks) = (geometry.dies(), geometry.blocks() / geometry.dies());
        let every = Span(period.0 / u64::from(blocks));
        let reads = CATCHES_UP * u64::from(geometry.pages_per_block);
        // Staggered, so that the dies do not all read at once.
        let turn = |die: u64| Nanos(every.0 / u64::from(dies) * die);
        let patrol = |turn| Patrol {
            block: 0,
            page: 0,
            begun: false,
            decided: false,
            turn,
            at: Nanos::NEVER,
            reading: false,
            in_idle_time: false,
            rests_until: Nanos::ZERO,
            moving: None,
            rounds: 0,
        };
        Some(Self {
            policy,
            period,
            every,
            step: Span((every.0 / reads).max(1)),
            blocks,
            off: Span::ZERO,
            latest: Span::ZERO,
            dies: (0..u64::from(dies)).map(|die| patrol(turn(die))).collect(),
        })
    }

    /// Returns the memory that the scrubbing of all dies takes.
    pub(super) fn bytes(geometry: &Geometry) -> Bytes {
        Bytes::of::<Self>(1) + Bytes::of::<Patrol>(geometry.dies().into())
    }

    /// Returns the progress of scrubbing.
    pub fn progress(&self) -> ScrubProgress {
        let rounds = self.dies.as_slice().iter().map(|patrol| patrol.rounds);
        let rounds = rounds.filter(|&rounds| rounds < u32::MAX).min();
        ScrubProgress { rounds: rounds.unwrap_or(0), latest: self.latest }
    }

    /// Returns true if the block that has its turn is late.
    pub(super) fn is_late(&self, die: DieId, now: Nanos) -> bool {
        now + self.off >= self.dies[die].turn + self.every
    }

    /// Leaves a die alone from now on, because the die has failed.
    pub(super) fn give_up_die(&mut self, die: DieId) {
        let patrol = &mut self.dies[die];
        (patrol.moving, patrol.at, patrol.rounds) = (None, Nanos::NEVER, u32::MAX);
    }

    /// Passes the turn to the next block of a die.
    pub(super) fn pass_on(&mut self, die: DieId) {
        let patrol = &mut self.dies[die];
        patrol.block += 1;
        if patrol.block == self.blocks {
            (patrol.block, patrol.rounds) = (0, patrol.rounds + 1);
        }
        (patrol.page, patrol.begun, patrol.decided) = (0, false, false);
        patrol.turn = patrol.turn + self.every;
    }
}
