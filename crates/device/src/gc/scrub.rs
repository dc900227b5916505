//! The state of patrol scrub: in each period every block that holds data is read once, all its
//! valid pages, so that errors are found while they can still be corrected, and losses before the
//! host finds them. `scrub_turns.rs` does the reads. A block whose errors reach the margin of
//! `policy/scrub` is moved by the job of refresh; a page that can only be recovered from its stripe
//! is rebuilt (`raid/rebuild.rs`).
//!
//! Invariants: the blocks of a die have their turns in the order of their numbers, `every` apart;
//! at most one page of a die is being read, and at most one of its blocks waits to be moved; a busy
//! die is read at most every `step`, twice as often as the period requires. A block is therefore
//! read within one and a half turns, plus the time that its reads wait for their die. See
//! docs/decisions/gc.md, "When does a scrub read?".

use crate::config::Config;
use crate::policy::scrub::{AnyScrub, Scrub as _};
use fowler_units::{BlockId, Bytes, DieId, Geometry, IdVec, Nanos, Span};

/// The factor by which scrubbing reads a busy die faster than its period requires, so that blocks
/// behind schedule catch up. Scrubbing of a drive with superblocks may also read faster by this
/// factor. Assumed: a host should hardly notice.
pub(crate) const CATCHES_UP: u64 = 2;
/// Number of scrubbing turns of a die (one per block) after which the move of a block with many
/// errors is put off to the next period, if it cannot begin because its plane has no room.
pub(super) const TURNS_TO_MOVE: u64 = 2;

/// Progress of scrubbing, which reads all data of the drive in the background.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScrubProgress {
    /// Number of times that scrubbing has completed a round over all blocks.
    pub rounds: u32,
    /// Longest time from the scrubbing turn of a block until it was read, and moved if necessary.
    /// Time without power counts.
    pub latest: Span,
}

/// State of scrubbing on all dies of the drive.
#[derive(Clone, Debug)]
pub struct Scrubber {
    pub(super) policy: AnyScrub,
    pub(super) period: Span,
    /// Time between the scrubbing turns of two blocks of a die.
    pub(super) every: Span,
    /// Minimum time between two scrubbing reads of a busy die.
    pub(super) step: Span,
    /// Number of blocks on each die.
    pub(super) blocks: u32,
    /// Total time without power, which the scrubbing turns of blocks include and the clock of the
    /// drive does not.
    pub(super) off: Span,
    pub(super) latest: Span,
    pub(super) dies: IdVec<DieId, Patrol>,
}

/// The progress of scrubbing on one die.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patrol {
    /// Number, counted from 0 on each die, of the block that scrubbing reads now or next.
    pub(super) block: u32,
    /// Offset in the block of the page at which scrubbing continues to read.
    pub(super) page: u32,
    /// True if a page of the block has been read in the block's present scrubbing turn.
    pub(super) begun: bool,
    /// True if scrubbing has decided, in the block's present turn (its slot in the scrub period),
    /// to move the block, or that moving it would gain nothing.
    pub(super) decided: bool,
    /// Moment at which the block's scrubbing turn, its slot in the scrub period, begins: on a clock
    /// that includes time without power.
    pub(super) turn: Nanos,
    /// Time of the next scrubbing event of the die; `NEVER` if none is scheduled.
    pub(super) at: Nanos,
    /// True while scrubbing reads a page of the die.
    pub(super) reading: bool,
    /// True if the scrubbing read in progress began while the die was idle.
    pub(super) in_idle_time: bool,
    /// Earliest time of the next scrubbing read while the die is busy.
    pub(super) rests_until: Nanos,
    /// The block in which scrubbing found so many errors that it must be moved before scrubbing
    /// reads another block of the die; `None` if there is none.
    pub(super) moving: Option<Moving>,
    rounds: u32,
}

/// A block with many errors, which must be moved.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moving {
    pub(super) block: BlockId,
    /// Erase count of the block when scrubbing found the errors: once it is one higher, the data
    /// has been moved.
    pub(super) erases: u32,
    pub(super) since: Nanos,
}

impl Scrubber {
    /// Creates the state of scrubbing at time zero; `None` if the configuration has no scrubbing.
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

    /// Returns the memory that the scrubbing of all dies takes on the simulating machine.
    pub(super) fn bytes(geometry: &Geometry) -> Bytes {
        Bytes::of::<Self>(1) + Bytes::of::<Patrol>(geometry.dies().into())
    }

    /// Returns the progress of scrubbing.
    pub fn progress(&self) -> ScrubProgress {
        let rounds = self.dies.as_slice().iter().map(|patrol| patrol.rounds);
        let rounds = rounds.filter(|&rounds| rounds < u32::MAX).min();
        ScrubProgress { rounds: rounds.unwrap_or(0), latest: self.latest }
    }

    /// Returns true if the block of a die that has its scrubbing turn is behind schedule: the turn
    /// of the next block has come.
    pub(super) fn is_late(&self, die: DieId, now: Nanos) -> bool {
        now + self.off >= self.dies[die].turn + self.every
    }

    /// Ends scrubbing of a die, because the die has failed.
    pub(super) fn give_up_die(&mut self, die: DieId) {
        let patrol = &mut self.dies[die];
        (patrol.moving, patrol.at, patrol.rounds) = (None, Nanos::NEVER, u32::MAX);
    }

    /// Ends the scrubbing turn of a block, and sets the time of the turn of the next block of the
    /// die.
    pub(super) fn pass_on(&mut self, die: DieId) {
        let patrol = &mut self.dies[die];
        debug_assert!(patrol.block < self.blocks, "the turn of a block that the die does not have");
        patrol.block += 1;
        if patrol.block == self.blocks {
            (patrol.block, patrol.rounds) = (0, patrol.rounds + 1);
        }
        (patrol.page, patrol.begun, patrol.decided) = (0, false, false);
        patrol.turn = patrol.turn + self.every;
    }
}
