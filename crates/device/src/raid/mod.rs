//! The array of chips: stripes and their parity. A page that is written is covered by its stripe's entry in the parity
//! cache from the moment it gets its place in the flash; the entry goes to the flash at once or when its place is
//! needed, by whichever equation reads less; and what a covered page replaced stays until then.

#[cfg(test)]
mod as_printed;
pub mod faults;
pub mod integrity;
mod laws;
pub mod parity_cache;
mod parity_delta;
mod parity_flush;
mod parity_update;
pub mod rebuild;
mod stripe_eviction;
pub mod stripes;

use crate::config::Config;
use crate::config::layout::Layout;
use crate::device::Device;
use crate::flash::Flash;
use crate::flash::txn::{Op, Owner, Txn};
use crate::ftl::Ftl;
use crate::mapping::page_map::Location;
use crate::policy::redundancy::{Age, AnyRedundancy, Commits, Protects, Redundancy, Rules, Stage};
use crate::raid::integrity::Integrity;
use crate::raid::parity_cache::{ParityCache, bit};
use crate::raid::rebuild::DegradedReads;
use crate::raid::stripes::Stripes;
use fowler_units::{BlockId, Id, IdVec, Lpn, Nanos, ParityId, Ppn, StripeId, TxnId};
use std::collections::VecDeque;

/// A change of stage: when, and how old the drive was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StageChange {
    /// The stage that began.
    pub to: Stage,
    /// When.
    pub at: Nanos,
    /// Why: the most worn block and the stripes with a page in a worn one.
    pub age: Age,
}

/// How the data of a drive is protected at a moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Protection {
    /// Stripes of the drive.
    pub stripes: u32,
    /// The stage of life that it is in.
    pub stage: Stage,
    /// The changes that led there.
    pub changes: Vec<StageChange>,
    /// Its age.
    pub age: Age,
    /// Stripes that are to have parity and have none yet: their blocks are recycled until they do.
    pub bare: u32,
    /// Stripes whose parity is not in the flash as it should be: what a loss of power exposes if the cache is volatile.
    pub exposed: u32,
    /// The most that there were.
    pub exposed_most: u32,
}

impl Device {
    /// How the data is protected, on a drive with stripes.
    pub fn protection(&self) -> Option<Protection> {
        let array = self.ftl.array.as_ref()?;
        let (exposed, exposed_most) = array.cache.used();
        Some(Protection {
            stripes: array.stripes.count(),
            stage: array.stage,
            changes: array.changes.clone(),
            age: array.age(),
            bare: array.wanted_count,
            exposed,
            exposed_most,
        })
    }
}

/// What protects the data of a drive.
#[derive(Clone, Debug)]
pub struct Array {
    pub(crate) stripes: Stripes,
    pub(crate) rules: Rules,
    policy: AnyRedundancy,
    stage: Stage,
    pub(crate) changes: Vec<StageChange>,
    pub(crate) cache: ParityCache,
    /// Data pages of each stripe in worn blocks: the PEA counter.
    pub(crate) worn: IdVec<StripeId, u8>,
    pub(crate) worn_stripes: u32,
    worn_above: u32,
    /// P/E cycles of each block before the run, and the most that any has by now.
    pub(crate) cycles: IdVec<BlockId, u32>,
    most_cycles: u32,
    /// Stripes that are to get parity, a bit each, how many, and where to look for the next.
    wanted: Vec<u64>,
    pub(crate) wanted_count: u32,
    cursor: usize,
    /// The place of one of those that are getting it.
    pub(crate) building: ParityId,
    /// Programs that wait for a place in the parity cache.
    pub(crate) held: VecDeque<TxnId>,
    /// Covered pages that were replaced while the cached parity of their stripe had reads on their way.
    pub(crate) leaving: Vec<(ParityId, Ppn)>,
    /// A trim waits for one, or for the parity of its stripe.
    pub(crate) trims_wait: bool,
    /// The pages that leave the buffer together, a bit each; none where a page leaves alone.
    pub(crate) together: u64,
    pub(crate) rescues: DegradedReads,
    pub(crate) integrity: Option<Box<Integrity>>,
    /// What the listings of the paper do ([`crate::raid::as_printed`]).
    #[cfg(test)]
    pub(crate) as_printed: bool,
    /// Of what parity needs so many pages are not read, to see that it is noticed.
    #[cfg(test)]
    pub(crate) spared: u32,
}

impl Array {
    /// The array of a fresh drive, if its stripes have anything to protect them.
    pub fn new(config: &Config, layout: &Layout) -> Option<Box<Array>> {
        let params = &config.redundancy;
        if !params.has_stripes() {
            return None;
        }
        let geometry = &layout.geometry;
        let stripes = Stripes::new(params.stripe, geometry.dies(), layout.mapped_pages);
        let policy = AnyRedundancy::new(params, config.seed);
        let count = stripes.count() as usize;
        Some(Box::new(Array {
            rules: policy.rules(Stage::First),
            policy,
            stage: Stage::First,
            changes: Vec::with_capacity(2),
            cache: ParityCache::new(layout.parities, stripes.count(), stripes.width()),
            worn: IdVec::filled(0, count),
            worn_stripes: 0,
            worn_above: params.worn_above,
            cycles: config.initial_cycles(geometry.blocks()),
            most_cycles: 0,
            wanted: vec![0; count.div_ceil(64)],
            wanted_count: 0,
            cursor: 0,
            building: ParityId::NONE,
            held: VecDeque::with_capacity(config.queue.max_writes as usize + 1),
            leaving: Vec::with_capacity(layout.transactions),
            trims_wait: false,
            together: 0,
            rescues: DegradedReads::new(config.queue.max_reads as usize + layout.transactions),
            integrity: params.integrity.then(|| Box::new(Integrity::new(layout))),
            #[cfg(test)]
            as_printed: false,
            #[cfg(test)]
            spared: 0,
            stripes,
        }))
    }

    /// Whether a stripe is to have parity.
    #[inline]
    pub(crate) fn protects(&self, stripe: StripeId) -> bool {
        match self.rules.protects {
            Protects::All => true,
            Protects::Worn => self.worn[stripe] > 0,
            Protects::Nothing => false,
        }
    }

    pub(crate) fn want(&mut self, stripe: StripeId) {
        let word = &mut self.wanted[stripe.index() / 64];
        let mask = 1 << (stripe.index() % 64);
        self.wanted_count += u32::from(*word & mask == 0);
        *word |= mask;
    }

    pub(crate) fn is_wanted(&self, stripe: StripeId) -> bool {
        self.wanted[stripe.index() / 64] & (1 << (stripe.index() % 64)) != 0
    }

    pub(crate) fn next_wanted(&mut self) -> Option<StripeId> {
        if self.wanted_count == 0 {
            return None;
        }
        while self.wanted[self.cursor] == 0 {
            self.cursor = (self.cursor + 1) % self.wanted.len();
        }
        let at = self.wanted[self.cursor].trailing_zeros();
        self.wanted[self.cursor] &= self.wanted[self.cursor] - 1;
        self.wanted_count -= 1;
        Some(StripeId::new(self.cursor * 64 + at as usize))
    }

    /// Whether a stripe without parity may take a place of the parity cache: one at a time may whatever the host writes,
    /// or it would never have its turn on a drive without a pause; for more the host's writes go first.
    pub(crate) fn may_build(&self) -> bool {
        let free = self.cache.free_count();
        free > 0 && !self.building.is_some() || self.held.is_empty() && free > 1
    }

    /// The age of the drive, as far as its policy looks at it.
    pub(crate) fn age(&self) -> Age {
        Age { cycles: self.most_cycles, worn_stripes: self.worn_stripes }
    }
}

/// How often it is looked whether parity at no time has moved data into worn blocks; what is bare then gets its parity
/// in the run.
const SETTLES_MOST: u32 = 8;

impl Ftl {
    /// The page of the mapping that holds a page of the host.
    #[inline]
    pub(crate) fn stored_page(&self, host: Lpn) -> Lpn {
        match &self.array {
            Some(array) => array.stripes.stored(host),
            None => host,
        }
    }

    /// The page of the host that a page of the mapping holds.
    #[inline]
    pub(crate) fn host_page_of(&self, page: Lpn) -> Lpn {
        match &self.array {
            Some(array) => array.stripes.host(page),
            None => page,
        }
    }

    /// Whether writes to a stripe must be covered.
    #[inline]
    pub(crate) fn covers(&self, stripe: StripeId) -> bool {
        let array = self.array.as_ref().expect("it has stripes");
        array.protects(stripe)
            || array.cache.find(stripe).is_some()
            || self.map.place(array.stripes.parity(stripe)) != Location::Nowhere
    }

    /// The data pages of a stripe whose copy in the flash cannot be read, a bit each: only parity brings them back.
    pub(crate) fn unread_positions(&self, stripe: StripeId) -> u64 {
        let array = self.array.as_ref().expect("it has stripes");
        if array.integrity.is_none() {
            return 0;
        }
        let unread = |&(_, page): &(u32, Lpn)| {
            let ppn = self.flash_copy(page);
            ppn.is_some() && !self.reads_well(ppn)
        };
        array.stripes.data_pages(stripe).filter(unread).fold(0, |all, (at, _)| all | bit(at))
    }

    /// Whether a stripe has such pages.
    pub(crate) fn is_damaged(&self, stripe: StripeId) -> bool {
        self.unread_positions(stripe) != 0
    }

    /// Whether a block has more P/E cycles than blocks that are trusted.
    #[inline]
    pub(crate) fn is_worn(&self, array: &Array, block: BlockId) -> bool {
        array.cycles[block] + self.space.blocks.erase_counts()[block.index()] > array.worn_above
    }

    /// The same, where anyone asks.
    #[inline]
    pub(crate) fn counts_as_worn(&self, block: BlockId) -> bool {
        self.array.as_ref().is_some_and(|array| self.is_worn(array, block))
    }

    /// The copy in the flash of a page of the mapping, the one being programmed included.
    #[inline]
    pub(crate) fn flash_copy(&self, page: Lpn) -> Ppn {
        match self.map.place(page) {
            Location::Flash(ppn) => ppn,
            Location::Buffer(slot) => self.buffer.get(slot).ppn,
            Location::Nowhere => Ppn::NONE,
        }
    }

    // --- Time zero ----------------------------------------------------------------------------------

    /// Whether preconditioning gives stripes their parity.
    pub(crate) fn parity_from_the_start(&self) -> bool {
        self.array.as_ref().is_some_and(|array| array.rules.protects == Protects::All)
    }

    /// The data lies where it lies: stripes with pages in worn blocks are found, and get what parity they are to have
    /// from the start, at no time. Parity may make blocks be collected, and data come to lie in other blocks.
    pub(crate) fn begin_array(&mut self) {
        if self.array.is_none() {
            return;
        }
        let mut bare = self.look_at_stripes();
        for _ in 0..SETTLES_MOST {
            let stripes = self.array.as_ref().expect("it has stripes").stripes;
            for &stripe in &bare {
                self.store(stripes.parity(stripe), 1);
            }
            if bare.is_empty() {
                break;
            }
            bare = self.look_at_stripes();
        }
        let array = self.array.as_mut().expect("it has stripes");
        bare.into_iter().for_each(|stripe| array.want(stripe));
        self.begin_integrity();
    }

    /// Counts the pages in worn blocks anew and finds the stage of life; returns the stripes that are to have parity and
    /// have none.
    fn look_at_stripes(&mut self) -> Vec<StripeId> {
        let Some(mut array) = self.array.take() else { return Vec::new() };
        let erases = self.space.blocks.erase_counts();
        let cycles = array.cycles.as_slice().iter().zip(erases).map(|(&before, &now)| before + now);
        array.most_cycles = cycles.max().unwrap_or(0);
        array.worn_stripes = 0;
        for stripe in (0..array.stripes.count()).map(StripeId) {
            let worn = |&(_, page): &(u32, Lpn)| {
                let at = self.flash_copy(page);
                at.is_some() && self.is_worn(&array, self.locator.block_of(at))
            };
            let count = array.stripes.data_pages(stripe).filter(worn).count();
            array.worn[stripe] = count as u8;
            array.worn_stripes += u32::from(count > 0);
        }
        loop {
            let stage = array.policy.stage(array.stage, &array.age());
            if stage == array.stage {
                break;
            }
            let age = array.age();
            array.changes.push(StageChange { to: stage, at: Nanos::ZERO, age });
            array.stage = stage;
            array.rules = array.policy.rules(stage);
        }
        let bare = (0..array.stripes.count())
            .map(StripeId)
            .filter(|&stripe| array.protects(stripe) && self.holds_any(&array.stripes, stripe))
            .filter(|&stripe| self.map.place(array.stripes.parity(stripe)) == Location::Nowhere)
            .collect();
        self.array = Some(array);
        bare
    }

    fn holds_any(&self, stripes: &Stripes, stripe: StripeId) -> bool {
        stripes.data_pages(stripe).any(|(_, page)| self.map.place(page) != Location::Nowhere)
    }

    // --- Wear and moves -----------------------------------------------------------------------------

    /// A data page lies elsewhere: the counter of its stripe follows (DESIGN, section 4).
    pub(crate) fn count_wear(&mut self, page: Lpn, old: Ppn, new: Ppn) -> StripeId {
        let array = self.array.as_ref().expect("it has stripes");
        let stripe = array.stripes.of(page);
        let worn = |ppn: Ppn| ppn.is_some() && self.is_worn(array, self.locator.block_of(ppn));
        let (was, is) = (worn(old), worn(new));
        let array = self.array.as_mut().expect("it has stripes");
        let before = array.worn[stripe];
        let after = || before + u8::from(is) - u8::from(was);
        #[cfg(test)]
        let after = || array.count_as_printed(new, before, is).unwrap_or_else(after);
        let after = after();
        array.worn[stripe] = after;
        array.worn_stripes += u32::from(before == 0 && after > 0);
        array.worn_stripes -= u32::from(before > 0 && after == 0);
        stripe
    }

    /// A transaction is done. Returns whether that was all: it was the array's own, or a read that came without its data.
    #[cold]
    pub(crate) fn done_in_array(&mut self, flash: &mut Flash, id: TxnId, dropped: bool) -> bool {
        if self.recycler.is_some() {
            self.count_use(flash, id, dropped);
        }
        let Txn { owner, op, .. } = *flash.txns.get(id);
        match (owner, op) {
            (Owner::Parity(entry), Op::Read) => self.parity_read(flash, id, entry),
            (Owner::Parity(entry), _) => self.parity_stored(flash, id, entry, dropped),
            (Owner::DegradedRead(number), Op::Read) => self.rescue_read(flash, id, number),
            (Owner::DegradedRead(number), _) => self.rebuilt(flash, id, number, dropped),
            (Owner::Request | Owner::Merge(_) | Owner::Job, Op::Read) if self.failed(flash, id) => {
                self.rescue(flash, id);
            }
            _ => return false,
        }
        true
    }

    /// A page that was moved lies at `to` now.
    pub(crate) fn relocated(&mut self, flash: &mut Flash, page: Lpn, from: Ppn, to: Ppn) {
        let stripes = self.array.as_ref().expect("asked before").stripes;
        let stripe = stripes.of(page);
        let current = self.flash_copy(page) == from;
        if current && !stripes.is_parity(page) {
            self.note_rebuilt(from);
        }
        self.copy_tag(from, to);
        if current {
            self.relocate(page, to);
        } else {
            let array = self.array.as_mut().expect("asked before");
            if let Some((_, its)) = array.leaving.iter_mut().find(|(_, its)| *its == from) {
                *its = to;
                return;
            }
            let entry = array.cache.find(stripe).expect("what was replaced is kept by an entry");
            let kept = &mut array.cache.replaced_mut(entry)[stripes.position(page) as usize];
            debug_assert_eq!(*kept, from);
            *kept = to;
            return;
        }
        if stripes.is_parity(page) {
            return;
        }
        self.count_wear(page, from, to);
        self.look_whether_frail(flash, stripe);
        let array = self.array.as_ref().expect("asked before");
        if array.cache.find(stripe).is_some() {
            return; // Its parity is on its way, or will be asked whether it is needed.
        }
        if self.needs_parity(stripe) {
            self.begin_parity(flash, stripe, None);
        } else {
            self.drop_parity(flash, stripe);
        }
        self.look_at_age(flash);
    }

    /// A block has been erased once more.
    #[inline]
    pub(crate) fn aged(&mut self, flash: &mut Flash, block: BlockId) {
        if self.array.is_some() {
            self.aged_in_array(flash, block);
        }
    }

    #[cold]
    fn aged_in_array(&mut self, flash: &mut Flash, block: BlockId) {
        let array = self.array.as_mut().expect("asked before");
        if let Some(integrity) = &mut array.integrity {
            let first = |block| self.layout.geometry.first_page(block).0;
            integrity.erase(first(block)..first(BlockId(block.0 + 1)));
        }
        let cycles = array.cycles[block] + self.space.blocks.erase_counts()[block.index()];
        if cycles > array.most_cycles {
            array.most_cycles = cycles;
            self.look_at_age(flash);
        }
    }

    pub(crate) fn look_at_age(&mut self, flash: &mut Flash) {
        let array = self.array.as_mut().expect("it has stripes");
        let age = array.age();
        let stage = array.policy.stage(array.stage, &age);
        if stage == array.stage {
            return;
        }
        if array.rules.commits == Commits::AtOnce {
            // Whoever waits for parity by the old rules waits for no eviction.
            array.cache.hurry();
        }
        array.stage = stage;
        array.rules = array.policy.rules(stage);
        array.changes.push(StageChange { to: stage, at: flash.now(), age });
        let stripes = array.stripes;
        for stripe in (0..stripes.count()).map(StripeId) {
            let array = self.array.as_ref().expect("it has stripes");
            let bare = array.cache.find(stripe).is_none() && self.needs_parity(stripe);
            if bare && self.holds_any(&stripes, stripe) {
                self.array.as_mut().expect("it has stripes").want(stripe);
            }
        }
        self.build_wanted(flash);
        self.make_room(flash);
    }
}
