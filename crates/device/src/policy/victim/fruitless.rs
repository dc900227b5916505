//! Custom victims that gain nothing: a policy that keeps choosing blocks without an invalid page
//! would keep garbage collection busy forever. Not a rule: a shared component.

use super::CustomVictim;
use crate::blocks::candidates::Candidates;
use crate::policy::maker::Maker;
use fowler_units::{BlockId, Nanos, PlaneId};
use std::collections::BTreeMap;

/// Largest number of GC victims without an invalid page that a custom policy may choose in a row,
/// as a multiple of the plane's number of blocks; more of them are an error. A rule that walks over
/// all blocks needs one round; one that draws at random is rarely this unlucky.
const ROUNDS: u32 = 16;

/// Counts the GC victims without an invalid page that a custom policy has chosen in a row.
#[derive(Clone, Debug, Default)]
pub struct Fruitless {
    /// For each plane, the latest GC victim, by the order in which blocks became full, and the
    /// number of consecutive victims up to that one that had no invalid page.
    planes: BTreeMap<PlaneId, (u64, u32)>,
}

impl Fruitless {
    /// Records the GC victim that a custom policy has chosen. Returns an error message if too many
    /// consecutive victims gained nothing.
    pub fn note(&mut self, candidates: &Candidates<'_>, victim: BlockId) -> Option<String> {
        let plane = candidates.plane();
        if !candidates.contains(victim) || candidates.valid(victim) < candidates.capacity() {
            self.planes.remove(&plane);
            return None;
        }
        let (last, count) = self.planes.entry(plane).or_insert((u64::MAX, 0));
        // The last choice was the same block, and it was not collected: in idle time that was not
        // worth it.
        let order = candidates.fill_order(victim);
        if std::mem::replace(last, order) != order {
            *count += 1;
        }
        let most = ROUNDS * candidates.slots();
        (*count > most).then(|| {
            format!(
                "block {} of plane {} for garbage collection: it has no invalid page, nor had any \
                 of the {most} before it, so garbage collection would never end; expected a block \
                 with an invalid page",
                victim.0, plane.0
            )
        })
    }
}

/// A custom policy that chooses GC victims. It may not endlessly choose victims whose pages are all
/// valid, which gain no space.
#[derive(Clone, Debug)]
pub(super) struct Bounded {
    policy: Box<dyn CustomVictim>,
    label: String,
    fruitless: Fruitless,
}

impl Bounded {
    pub fn new(maker: &Maker<dyn CustomVictim>) -> Bounded {
        let label = maker.label().into();
        Bounded { policy: maker.make(), label, fruitless: Fruitless::default() }
    }
}

impl CustomVictim for Bounded {
    /// # Panics
    /// If the custom policy has chosen too many GC victims in a row whose pages are all valid.
    fn pick(&mut self, candidates: &Candidates<'_>, now: Nanos) -> Option<BlockId> {
        let victim = self.policy.pick(candidates, now)?;
        if let Some(why) = self.fruitless.note(candidates, victim) {
            panic!("policy.victim = \"{}\" chose {why}", self.label);
        }
        Some(victim)
    }
}
