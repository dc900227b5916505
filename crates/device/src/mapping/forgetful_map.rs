//! A set of mapping entries in memory, for tests, that evicts entries on purpose: after one use, an
//! entry usually has to be read again.

use super::Miss;
use crate::flash::Flash;
use crate::flash::queue::TxnClass;
use crate::flash::txn::Owner;
use crate::observe::operation::{Op, Source};
use fowler_units::{DieId, Lpn, Rng, TxnId};
use std::collections::BTreeSet;

/// A set of mapping entries in memory that evicts entries at random, for tests.
#[derive(Clone, Debug)]
pub struct ForgetfulMap {
    rng: Rng,
    dies: u32,
    at_hand: BTreeSet<Lpn>,
    on_the_way: Vec<(TxnId, Lpn)>,
    /// Number of lookups of mapping entries that missed.
    pub misses: u64,
}

impl ForgetfulMap {
    /// Creates the set of mapping entries that are in memory, with no entry in it.
    pub fn new(seed: u64, dies: u32) -> Self {
        let rng = Rng::stream(seed, "mapping/forgetful");
        Self { rng, dies, at_hand: BTreeSet::new(), on_the_way: Vec::new(), misses: 0 }
    }

    /// Ensures that the mapping entry of a logical page is in memory. An error is the flash
    /// transaction that loads the entry.
    pub fn load(&mut self, flash: &mut Flash, page: Lpn) -> Result<(), Miss> {
        if self.at_hand.remove(&page) || self.rng.below(4) == 0 {
            return Ok(());
        }
        self.misses += 1;
        if let Some(&(id, _)) = self.on_the_way.iter().find(|(_, requested)| *requested == page) {
            return Err(Miss(id));
        }
        let (class, die) = (TxnClass::BackgroundRead, DieId(page.0 % self.dies));
        let (id, read) = flash.open(Op::Read, Source::Host, class, Owner::Mapping, die);
        read.lpn = page;
        flash.submit(id);
        self.on_the_way.push((id, page));
        Err(Miss(id))
    }

    /// Records that the mapping entry that a flash transaction was submitted to read is in memory.
    pub fn loaded(&mut self, id: TxnId) {
        let at =
            self.on_the_way.iter().position(|&(load, _)| load == id).expect("it was requested");
        let (_, page) = self.on_the_way.swap_remove(at);
        self.at_hand.insert(page);
    }
}
