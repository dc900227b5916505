//! The state before the first request, reached in no simulated time: the same superblocks, filled
//! and collected by the same rules, without dies.
//!
//! 1. Every unit of the share to fill is written once, in order or at random.
//! 2. A steady drive is then overwritten at random, three times that share; it counts as steady if
//!    the write amplification of the last two passes differs by less than 1 %.
//! 3. Whenever the host needs a superblock and too few are erased, victims are emptied at once.
//! 4. The rest of the last commands stays unused: the first request begins with a command of its
//!    own.

use super::Superblocks;
use super::commands::Open;
use crate::config::{Config, Pattern};
use crate::precondition::{Preconditioned, WATCHED_EVERY, Watch};
use fowler_units::{Lpn, Nanos, Rng, RuId, Scatter, UnitId};

/// The number of times that every unit is overwritten, on average, before the state counts as
/// steady. With greedy collection the first pass suffices; SNIA's PTS asks for two.
const PASSES: u64 = 3;

/// Streams that are filled before the first request, as indices: data that the host writes, and
/// data that garbage collection moves.
const HOST: usize = 0;
const MOVED: usize = 1;

/// Fills a new drive with data and overwrites, as set by the section `precondition` of the
/// configuration. Returns `None` if the caller stopped it.
pub(super) fn fill(
    drive: &mut Superblocks,
    config: &Config,
    watch: Watch<'_>,
) -> Option<Preconditioned> {
    let all = drive.map.logical();
    let filled = (config.precondition.fill * f64::from(all)).floor() as u32;
    let pattern = config.precondition.pattern;
    let steady = pattern == Pattern::Steady;
    let mut filling = Filling { drive, moved: 0, written: 0 };
    let mut progress =
        Progress { watch, done: 0, all: u64::from(filled) * (1 + if steady { PASSES } else { 0 }) };
    let mut rng = Rng::stream(config.seed, "precondition/order");
    let order = (pattern == Pattern::Random && filled > 0)
        .then(|| Scatter::new(u64::from(filled), &mut rng));
    for at in 0..u64::from(filled) {
        filling.write(Lpn(order.as_ref().map_or(at, |order| order.at(at)) as u32));
        progress.step()?;
    }
    let mut waf = None;
    let mut overwritten = 0;
    if steady && filled > 0 {
        let mut rng = Rng::stream(config.seed, "precondition/overwrites");
        let (mut before, mut drawn) = (None, Drawn { pages: [Lpn(0); 16], count: 0 });
        for _ in 0..PASSES {
            (filling.moved, filling.written) = (0, 0);
            for _ in 0..filled {
                let next = Lpn(rng.below(filled.into()) as u32);
                filling.drive.map.prefetch(next);
                drawn.rotate(next, |page| filling.write(page));
                progress.step()?;
            }
            before = waf;
            waf = Some(1.0 + filling.moved as f64 / filling.written as f64);
            overwritten += u64::from(filled);
        }
        let close = |(now, then): (f64, f64)| (now / then - 1.0).abs() < 0.01;
        drawn.last(|page| filling.write(page));
        let steady = waf.zip(before).is_some_and(close);
        filling.align();
        return Some(Preconditioned { filled: (filled, all), pattern, overwritten, waf, steady });
    }
    filling.align();
    Some(Preconditioned { filled: (filled, all), pattern, overwritten, waf, steady: false })
}

/// Progress report of preconditioning's filling of the drive, through which the caller can stop it.
struct Progress<'a> {
    watch: Watch<'a>,
    done: u64,
    all: u64,
}

impl Progress<'_> {
    /// Counts one more unit written while the drive is filled before its first request, and reports
    /// progress. `None` if the user has stopped the filling.
    #[inline]
    fn step(&mut self) -> Option<()> {
        self.done += 1;
        if self.done.is_multiple_of(WATCHED_EVERY) {
            (self.watch.progress)(self.done as f64 / self.all as f64);
            if self.watch.stopped() {
                return None;
            }
        }
        Some(())
    }
}

/// Queue of the next 16 host units that preconditioning writes: units are chosen ahead, so that
/// their mapping table entries are in the processor cache when they are written.
struct Drawn {
    pages: [Lpn; 16],
    /// Number of units chosen so far to be written in the filling of the drive.
    count: usize,
}

impl Drawn {
    /// Appends `page`, a unit of the host to be written later, and passes the unit that was
    /// appended 16 calls earlier, if any, to `take`, which writes it.
    #[inline]
    fn rotate(&mut self, page: Lpn, take: impl FnOnce(Lpn)) {
        let place = &mut self.pages[self.count % 16];
        let due = std::mem::replace(place, page);
        self.count += 1;
        if self.count > 16 {
            take(due);
        }
    }

    /// Passes the host units chosen for preconditioning but not written yet, at most 16, to `take`,
    /// in the order in which they were chosen.
    fn last(&self, take: impl FnMut(Lpn)) {
        let left = self.count.min(16);
        (self.count - left..self.count).map(|at| self.pages[at % 16]).for_each(take);
    }
}

/// Number of units of a victim whose validity is looked up at once: the most that
/// [`crate::blocks::block_table::Blocks::valid_among`] takes.
const AT_ONCE: u32 = 32;

/// A drive being filled by preconditioning; with the numbers of units that GC has moved and that
/// have been written during it.
pub(super) struct Filling<'a> {
    pub(super) drive: &'a mut Superblocks,
    pub(super) moved: u64,
    pub(super) written: u64,
}

impl Filling<'_> {
    /// Writes a host unit while preconditioning fills the drive.
    #[inline]
    pub(super) fn write(&mut self, page: Lpn) {
        self.written += 1;
        self.put(page);
    }

    /// Writes a unit to the superblock that is open for the host's data.
    #[inline]
    fn put(&mut self, page: Lpn) {
        let unit = self.next_unit(HOST);
        self.drive.map.store(page, unit);
    }

    /// Returns the next unit of the superblock that is open for one of [`HOST`] and [`MOVED`].
    #[inline]
    fn next_unit(&mut self, which: usize) -> UnitId {
        match self.drive.commands.filling[which] {
            Some((next, end)) if next < end => {
                self.drive.commands.filling[which] = Some((next.plus(1), end));
                next
            }
            _ => self.next_command(which),
        }
    }

    /// Begins the next command of a stream that stores data. Returns its first unit.
    #[cold]
    fn next_command(&mut self, which: usize) -> UnitId {
        let stream = self.drive.streams.of_filling()[which];
        loop {
            let drive = &mut *self.drive;
            let Some(open) = drive.commands.open_of(stream) else {
                if which == HOST {
                    self.make_room();
                }
                let superblock = self.drive.map.open().expect("collection keeps one erased");
                self.drive.commands.set_open(stream, Some(Open { superblock, command: 0 }));
                self.drive.cover(superblock, stream, Nanos::ZERO);
                if let Some(aging) = &mut self.drive.aging {
                    aging.opened_in_filling(superblock);
                }
                continue;
            };
            let stores = !drive.is_parity(open.superblock, open.command);
            if stores {
                // A superblock with a command in flight is not collected.
                drive.map.departed(open.superblock);
            }
            drive.advance(stream, open);
            if stores {
                if let Some((_, end)) = drive.commands.filling[which] {
                    drive.land(drive.shape.superblock_of(UnitId(end.0 - 1)), Nanos::ZERO);
                }
                let first = drive.shape.unit_of_command(open.superblock, open.command);
                let end = first.plus(drive.shape.units_per_command);
                drive.commands.filling[which] = Some((first.plus(1), end));
                return first;
            }
        }
    }

    /// Empties superblocks until as many are erased as garbage collection keeps.
    fn make_room(&mut self) {
        let below = self.drive.collector.keeps();
        while self.drive.map.free_count() < below {
            let drive = &mut *self.drive;
            let Some(victim) = drive.map.victim_of(&mut drive.victim, Nanos::ZERO) else {
                return;
            };
            self.drive.map.empty(victim);
            self.move_units_of(victim);
            self.drive.map.erased(victim);
            self.drive.erased_of_coverage(victim, Nanos::ZERO);
        }
    }

    /// Moves the valid units of a superblock that is being emptied, in order.
    fn move_units_of(&mut self, victim: RuId) {
        let (first, units) = (self.drive.shape.first_unit(victim), self.drive.shape.units);
        for at in (0..units).step_by(AT_ONCE as usize) {
            let some = first.plus(at);
            let mut valid = self.drive.map.valid_among(some, AT_ONCE.min(units - at));
            self.moved += u64::from(valid.count_ones());
            self.drive.map.prefetch_owners(some, valid);
            while valid != 0 {
                let from = some.plus(valid.trailing_zeros());
                valid &= valid - 1;
                let to = self.next_unit(MOVED);
                self.drive.map.store_elsewhere(from, to);
            }
        }
    }

    /// Leaves the rest of each partly filled program command unused when preconditioning ends: the
    /// first request begins with a command of its own.
    fn align(&mut self) {
        let mut ends = Vec::new();
        for filling in &mut self.drive.commands.filling {
            if let Some((_, end)) = filling.take() {
                ends.push(end);
            }
        }
        for end in ends {
            self.drive.land(self.drive.shape.superblock_of(UnitId(end.0 - 1)), Nanos::ZERO);
        }
        if let Some(aging) = &mut self.drive.aging {
            aging.filled(&self.drive.map);
        }
    }
}
