//! Slot: the choice of the block of a plane that GC collects.
//!
//! Contract. `pick` returns one of the plane's candidates (full blocks without a program in
//! flight), or `None` if none is worth collecting. A rule may update its own state, never the
//! drive's.

mod fruitless;

use crate::blocks::candidates::Candidates;
use crate::policy::custom::{Custom, Maker};
use crate::policy::registry::slot;
use dyn_clone::clone_trait_object;
use fowler_units::{BlockId, Nanos};
pub use fruitless::Fruitless;
use serde::{Deserialize, Serialize};

slot! { $
    /// The victim policy of a drive.
    #[derive(Serialize, Deserialize)]
    pub enum AnyVictim, named VictimKind, match by each_victim, or #[serde(skip)] Custom(CustomVictim) {
        "greedy" => greedy::Greedy needs Nothing, "the block with the fewest valid pages";
        "fifo" => fifo::Fifo needs Nothing, "the block that was filled first";
        "d_choices" => d_choices::DChoices needs Nothing, "the block with the fewest valid pages among d drawn at random";
        "cost_benefit" => cost_benefit::CostBenefit needs Nothing, "the block that frees the most space per page moved, weighted by age";
    }
}

/// Configuration of the victim policy, which chooses the block that GC collects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Params {
    /// Name of the selected victim policy.
    pub name: VictimKind,
    /// Number of blocks drawn by `d_choices`; 1 is a random victim.
    pub d: u32,
}

/// A policy that chooses the block that GC collects.
pub trait Victim {
    /// Returns the block that GC collects next among `candidates`, at least one of which has an
    /// invalid page.
    fn pick(&mut self, candidates: &Candidates<'_>, now: Nanos) -> Option<BlockId>;
}

impl Victim for AnyVictim {
    #[inline]
    fn pick(&mut self, candidates: &Candidates<'_>, now: Nanos) -> Option<BlockId> {
        each_victim!(self, policy => policy.pick(candidates, now))
    }
}

impl AnyVictim {
    /// Returns the custom policy, if there is one, or else the one named by `params`. A custom
    /// policy that chooses too many victims in a row without an invalid page ends the run with an
    /// error that names it.
    pub fn bounded_or_new(
        custom: Option<&Maker<dyn CustomVictim>>,
        params: &Params,
        seed: u64,
    ) -> AnyVictim {
        match custom {
            Some(maker) => AnyVictim::Custom(Box::new(fruitless::Bounded::new(maker))),
            None => AnyVictim::new(params, seed),
        }
    }

    /// Returns the block to collect next, if any candidate has an invalid page.
    pub fn choose(&mut self, candidates: &Candidates<'_>, now: Nanos) -> Option<BlockId> {
        let best = candidates.fewest_valid()?;
        let gains = candidates.valid(best) < candidates.capacity();
        let victim = if gains { self.pick(candidates, now) } else { None };
        if let (Some(block), AnyVictim::Custom(_)) = (victim, &self) {
            let is_one = candidates.contains(block);
            assert!(is_one, "policy.victim chose block {}, which is no candidate", block.0);
        }
        victim
    }
}

/// A custom victim policy, supplied by the code that builds the drive. It acts during
/// preconditioning as well, because the state of a drive in use depends on it.
pub trait CustomVictim: Custom {
    /// Returns the block that GC collects next among `candidates`, at least one of which has an
    /// invalid page. The result may have no effect: in idle time a block is collected only if that
    /// is worth the moves.
    fn pick(&mut self, candidates: &Candidates<'_>, now: Nanos) -> Option<BlockId>;
}
clone_trait_object!(CustomVictim);
