//! Reads that age: when each superblock was programmed, and the references at which its pages are
//! read.
//!
//! All pages of one type of a superblock are as old and as worn as each other, so the entries of
//! the retry table that read them are a set of bits, which holds until the superblock is noticeably
//! older. A read then looks up one record. The rates behind it are those of
//! [`fowler_physics::multibit`]. See docs/decisions/superblocks.md, "How does a read age?".
//!
//! Invariants: the entries that read a superblock hold until `until`, when they are determined
//! anew; `since` and `until` are on a clock that begins when the oldest data was programmed and
//! includes time without power; a superblock that is opened counts as just programmed.

use super::map::Map;
use super::renewals::Renewals;
use super::shape::Shape;
use crate::config::{AgingConfig, Config, Tracking};
use crate::flash::Tries;
use fowler_physics::multibit::{BITS_MOST, Cells};
use fowler_units::{Bytes, Geometry, Id, IdVec, Nanos, Ppn, RuId, Span};
use serde::{Deserialize, Serialize};

/// Number of steps into which data age is divided, per unit of `ln(1 + age / onset)`, on which
/// retention loss depends; ages are rounded up to a step. At the default onset of an hour, steps
/// last a minute for young data, and 1.6 % of the age for old data.
const AGES: f64 = 64.0;

/// Age of the data in a superblock, and the references (entries of the retry table) that read it.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Data {
    /// The time at which the superblock was opened, from which the age of its data is counted, on
    /// the clock of [`Aging::clock`]. That clock begins when the oldest data of the drive was
    /// programmed.
    pub(super) since: Nanos,
    /// Time at which `reads`, the retry entries that read this data, must be determined anew,
    /// because the data has aged noticeably by then. The clock begins when the oldest data of the
    /// drive was programmed.
    pub(super) until: Nanos,
    /// By type of page, one bit for each entry of the retry table, set if the entry reads such a
    /// page.
    pub(super) reads: [u32; BITS_MOST as usize],
    /// The entry of the retry table at which the last successful read retry of the superblock's
    /// data ended; 0 before the first.
    pub(super) last: u8,
    /// True if the cells of the superblock are so worn that even freshly written data would need
    /// retry table entries beyond `aging.refresh_above`: moving its data elsewhere, or writing it
    /// again, would not make reads faster.
    pub(super) worn_out: bool,
}

/// The age of the data in every superblock, and the read retries that it needs because of the bit
/// errors that age causes.
#[derive(Clone, Debug)]
pub(super) struct Aging {
    config: AgingConfig,
    cells: Cells,
    onset: f64,
    /// P/E cycles of all superblocks before preconditioning.
    cycles: u32,
    /// In a lifetime simulation, where one simulated erase stands for several: the number of P/E
    /// cycles for each erase, and the erases of each superblock before it began; `None` otherwise.
    life: Option<(f64, Vec<u32>)>,
    /// Time from the beginning of the clock, when the oldest data was programmed, to time zero.
    epoch: Span,
    geometry: Geometry,
    /// Number of pages of a word line, counting the one page of SLC mode on a drive with an SLC
    /// cache; and the number without that page, which is the bits of a cell.
    word_line: u32,
    bits: u32,
    pub(super) all: IdVec<RuId, Data>,
    /// Bit errors as last computed. The first field names the superblock, and the times (`since`,
    /// `until`) at which it was opened and up to which the computation holds. The second has, for
    /// each page type, the errors now and just after programming, as shares of the errors that the
    /// code corrects.
    shares: ((RuId, Nanos, Nanos), [(f64, f64); BITS_MOST as usize]),
    /// Preconditioning: the superblocks in the order in which they were last opened.
    opened: Vec<RuId>,
}

impl Aging {
    /// Creates the record of data age of every superblock, on a drive that holds nothing; `None` if
    /// the data of the drive does not age.
    pub fn new(config: &Config, shape: &Shape) -> Option<Aging> {
        let (aging, cells) = (config.aging, config.reliability.cells);
        let reads = [0; BITS_MOST as usize];
        let blank =
            Data { since: Nanos::ZERO, until: Nanos::ZERO, reads, last: 0, worn_out: false };
        aging.is_on().then(|| Aging {
            config: aging,
            cells: config.aging_cells().expect("they were checked before"),
            onset: cells.retention_onset,
            cycles: config.reliability.cycles,
            life: None,
            epoch: config.reliability.oldest,
            geometry: Shape::geometry_of(config),
            word_line: config.flash.word_line + u32::from(config.slc.is_on()),
            bits: config.flash.word_line,
            all: IdVec::filled(blank, shape.superblocks as usize),
            shares: ((RuId::NONE, Nanos::NEVER, Nanos::NEVER), [(0.0, 0.0); BITS_MOST as usize]),
            opened: Vec::new(),
        })
    }

    /// Returns the memory, in bytes of the simulating machine, that the record of data ages takes.
    pub fn bytes(config: &Config, shape: &Shape) -> Bytes {
        let superblocks = if config.aging.is_on() { shape.superblocks } else { 0 };
        Bytes::of::<(Data, [u32; 2])>(superblocks.into())
    }

    /// Converts a time of the simulation, which begins at zero, to the clock of data ages, which
    /// begins when the oldest data was programmed and includes time without power.
    fn clock(&self, now: Nanos) -> Nanos {
        Nanos(now.0.saturating_add(self.epoch.0))
    }

    /// Adds a span without power to the age of all data.
    pub(super) fn grow_older(&mut self, by: Span) {
        self.epoch = Span(self.epoch.0.saturating_add(by.0));
    }

    /// Records that a superblock is opened: its data counts as just programmed, and is read at the
    /// usual read references.
    pub fn opened(&mut self, superblock: RuId, now: Nanos) {
        let since = self.clock(now);
        let data = &mut self.all[superblock];
        let Data { reads, .. } = *data;
        *data = Data { since, until: Nanos::ZERO, reads, last: 0, worn_out: false };
    }

    /// Records that preconditioning opens a superblock, in no simulated time.
    pub fn opened_in_filling(&mut self, superblock: RuId) {
        self.opened.retain(|&number| number != superblock);
        self.opened.push(superblock);
    }

    /// The drive is filled: ages are spread evenly over the full superblocks in the order in which
    /// they were opened, from that of the oldest data. Data of superblocks that are not full counts
    /// as just programmed.
    pub fn filled(&mut self, map: &Map) {
        let full = |&&superblock: &&RuId| map.is_whole(superblock);
        let count = self.opened.iter().filter(full).count() as u128;
        let epoch = self.epoch.0;
        self.all.as_mut_slice().iter_mut().for_each(|data| data.since = Nanos(epoch));
        for (order, &superblock) in self.opened.iter().filter(full).enumerate() {
            let since = u128::from(epoch) * order as u128 / count;
            self.all[superblock].since = Nanos(since as u64);
        }
    }

    /// Sets the age of the data in each superblock of a freshly filled drive. Superblocks were
    /// opened in the order recorded in `other`, the data ages of a drive that was filled in the
    /// same way.
    pub fn filled_as(&mut self, other: &Aging, map: &Map) {
        self.opened.clone_from(&other.opened);
        self.filled(map);
    }

    /// Returns the superblocks in the order in which they were opened while the drive was filled.
    pub fn opened_in_order(&self) -> &[RuId] {
        &self.opened
    }

    /// Sets the age of the data in each superblock of a freshly filled drive, whose superblocks
    /// were opened in the order `opened`: ages are spread evenly over the full ones, the first
    /// being the oldest.
    pub fn filled_in_order(&mut self, opened: Vec<RuId>, map: &Map) {
        self.opened = opened;
        self.filled(map);
    }

    /// Returns the superblock of a flash page, and the page's type; none in SLC mode.
    #[inline]
    fn whose(&self, page: Ppn) -> (RuId, Option<usize>) {
        let Geometry { pages_per_block, blocks_per_plane, .. } = self.geometry;
        let (block, offset) = (page.0 / pages_per_block, page.0 % pages_per_block);
        let kind = offset % self.word_line;
        (RuId(block % blocks_per_plane), (kind < self.bits).then_some(kind as usize))
    }

    /// Returns the tries that a read of a page takes.
    #[inline]
    pub(super) fn tries(&mut self, map: &Map, page: Ppn, now: Nanos) -> Tries {
        let (superblock, kind) = self.whose(page);
        // One bit to a cell leaves a margin that no age here uses up.
        let Some(kind) = kind else { return Tries { first: 0, more: 0 } };
        let now = self.clock(now);
        if now >= self.all[superblock].until {
            self.find_out(map, superblock, now);
        }
        let Data { reads, last, .. } = self.all[superblock];
        let first = if self.config.tracking == Tracking::Off { 0 } else { last };
        Tries { first, more: self.tries_from(reads[kind], first) }
    }

    /// Returns the number of retries that follow the first try of a page read, which uses the retry
    /// entry `first`. `reads` has one bit for each entry that reads the page; entries are tried
    /// from `first` to the end of the retry table, then from its beginning.
    fn tries_from(&self, reads: u32, first: u8) -> u8 {
        let entries = self.config.retry_entries as u8 + 1;
        let (after, before) = (reads >> first, reads & ((1 << first) - 1));
        match (after, before) {
            (0, 0) => entries,
            (0, _) => entries - first + before.trailing_zeros() as u8,
            _ => after.trailing_zeros() as u8,
        }
    }

    /// Returns the data age at the end of a step of age: ages are divided into [`AGES`] steps per
    /// unit of `ln(1 + age / onset)`.
    fn end_of(&self, step: f64) -> Span {
        Span((self.onset * libm::expm1(step / AGES) * 1e9) as u64)
    }

    /// Returns the P/E cycles of a superblock.
    fn cycles_of(&self, map: &Map, superblock: RuId) -> f64 {
        let erases = map.erases()[superblock.index()];
        let since = match &self.life {
            None => f64::from(erases),
            Some((dilation, before)) => f64::from(erases - before[superblock.index()]) * dilation,
        };
        f64::from(self.cycles) + since
    }

    /// Determines which entries of the retry table read each type of page of a superblock at its
    /// present age and wear, and until when that holds.
    #[cold]
    fn find_out(&mut self, map: &Map, superblock: RuId, now: Nanos) {
        let worn = self.cells.worn(self.cycles_of(map, superblock));
        let Data { since, .. } = self.all[superblock];
        let age = Span(now.0.saturating_sub(since.0));
        let step = libm::floor(libm::log1p(age.as_s() / self.onset) * AGES) + 1.0;
        let end = self.end_of(step).max(age + Span(1));
        let AgingConfig { retry_entries, retry_shift, correctable, .. } = self.config;
        let data = &mut self.all[superblock];
        data.until = Nanos(since.0.saturating_add(end.0));
        for (kind, reads) in (0..self.bits as usize).zip(&mut data.reads) {
            *reads = 0;
            for entry in 0..=retry_entries {
                let rber = worn.rber(kind, f64::from(entry) * retry_shift, end);
                *reads |= u32::from(rber <= correctable) << entry;
            }
        }
    }

    /// Records that a page was read at the entry of the retry table that comes `tries` entries
    /// after `first`. If that entry lies beyond `aging.refresh_above`, the superblock of the page
    /// becomes due for refresh (to be moved), unless it is not full, is being emptied (`victim`),
    /// or is so worn that fresh data would need such entries, too.
    pub(super) fn found(
        &mut self,
        (map, renewals): (&Map, &mut Renewals),
        victim: Option<RuId>,
        page: Ppn,
        first: u8,
        tries: u8,
    ) {
        let entries = self.config.retry_entries as u8 + 1;
        let (superblock, kind) = self.whose(page);
        let entry = (first + tries) % entries;
        let above = self.config.refresh_above;
        let data = &mut self.all[superblock];
        data.last = entry;
        let known = renewals.has(superblock) || data.worn_out;
        let full = map.is_whole(superblock);
        let moves = victim == Some(superblock);
        if above == 0 || u32::from(entry) <= above || known || !full || moves {
            return;
        }
        let worn = self.cells.worn(self.cycles_of(map, superblock));
        let young = self.end_of(1.0);
        let AgingConfig { retry_shift, correctable, .. } = self.config;
        let rber = |entry| worn.rber(kind.unwrap_or(0), f64::from(entry) * retry_shift, young);
        if (0..=above).any(|entry| rber(entry) <= correctable) {
            renewals.add(superblock);
        } else {
            self.all[superblock].worn_out = true;
        }
    }

    /// Returns the bit errors of a page, read at the retry entry with the fewest, at present and as
    /// if its superblock had just been programmed; each as a share of the errors that the code
    /// corrects. Data ages are rounded up to a step of age, as for reads.
    pub(super) fn errors(&mut self, map: &Map, page: Ppn, now: Nanos) -> (f64, f64) {
        let (superblock, kind) = self.whose(page);
        // One bit to a cell leaves a margin that no age here uses up.
        let Some(kind) = kind else { return (0.0, 0.0) };
        let now = self.clock(now);
        if now >= self.all[superblock].until {
            self.find_out(map, superblock, now);
        }
        let Data { since, until, .. } = self.all[superblock];
        let about = (superblock, since, until);
        if self.shares.0 != about {
            self.shares = (about, self.shares_of(map, superblock));
        }
        self.shares.1[kind]
    }

    /// Returns, for each type of page of a superblock, the bit errors at the best entry of the
    /// retry table as a share of what the code corrects: at present, and as if just programmed.
    #[cold]
    fn shares_of(&self, map: &Map, superblock: RuId) -> [(f64, f64); BITS_MOST as usize] {
        let Data { since, until, .. } = self.all[superblock];
        let worn = self.cells.worn(self.cycles_of(map, superblock));
        let AgingConfig { retry_entries, retry_shift, correctable, .. } = self.config;
        let share = |kind: usize, age: Span| {
            let rber = |entry| worn.rber(kind, f64::from(entry) * retry_shift, age);
            (0..=retry_entries).map(rber).fold(f64::INFINITY, f64::min) / correctable
        };
        let mut shares = [(0.0, 0.0); BITS_MOST as usize];
        for (kind, shares) in shares.iter_mut().enumerate().take(self.bits as usize) {
            *shares = (share(kind, until - since), share(kind, self.end_of(1.0)));
        }
        shares
    }

    /// Begins a life, in which each erase stands for `dilation` erases. Cells begin it with
    /// `reliability.cycles`.
    pub(super) fn begin_life(&mut self, dilation: u32, map: &Map) {
        self.life = Some((f64::from(dilation.max(1)), map.erases().to_vec()));
    }

    /// Returns the number of entries of the retry table, the usual references among them.
    pub(super) fn entries(&self) -> u8 {
        self.config.retry_entries as u8 + 1
    }

    /// Returns true if the drive refreshes (moves) superblocks whose data has aged so far that it
    /// is read beyond the retry entry `aging.refresh_above`.
    pub(super) fn refreshes(&self) -> bool {
        self.config.refresh_above > 0
    }

    /// Reads a page in no simulated time, with the same effect on the retry table and on refresh as
    /// a timed read. `victim` is the superblock being emptied.
    pub(super) fn read_now(
        &mut self,
        (map, renewals): (&Map, &mut Renewals),
        victim: Option<RuId>,
        page: Ppn,
        now: Nanos,
    ) {
        let Tries { first, more } = self.tries(map, page, now);
        let read = u32::from(more) <= self.config.retry_entries;
        if read && first + more > 0 {
            self.found((map, renewals), victim, page, first, more);
        }
    }
}
