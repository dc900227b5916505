//! Custom policies, supplied by the code that builds the drive instead of chosen by name, for
//! prototypes in any language. Custom policies see the same views and make the same decisions as
//! built-in policies, at the cost of a virtual call and of the language they are written in.
//!
//! A custom policy replaces the one that the configuration names for its slot. State that the drive
//! maintains for the named policy is maintained for the custom one too: ranks for `rhio`, access
//! counts for `buffer_hits`, a lifetime for a throttle.

pub use crate::blocks::candidates::Candidates;
pub use crate::policy::die_order::{CustomDieOrder, Queued, View, Waiting};
pub use crate::policy::hotness::{CustomHotness, Used};
pub use crate::policy::maker::{Custom, Maker};
pub use crate::policy::placement::{CustomPlacement, Opens, StreamId, StreamLimits, StreamTable};
pub use crate::policy::stream_tag::StreamTag;
pub use crate::policy::suspension::CustomSuspension;
pub use crate::policy::throttle::CustomThrottle;
pub use crate::policy::victim::{CustomVictim, Fruitless};
use std::fmt::Debug;

/// Custom policies of a drive, by the kind of decision that they make. See
/// docs/decisions/policy.md, "How does a custom policy fill a slot?".
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Policies {
    /// Custom policy that chooses the waiting transaction that a die serves next.
    pub die_order: Option<Maker<dyn CustomDieOrder>>,
    /// Custom policy that decides if a read may suspend the running operation.
    pub suspension: Option<Maker<dyn CustomSuspension>>,
    /// Custom policy that detects the access class of a page.
    pub hotness: Option<Maker<dyn CustomHotness>>,
    /// Custom policy that sets the delay of a write.
    pub throttle: Option<Maker<dyn CustomThrottle>>,
    /// Custom policy that chooses the block that GC collects.
    pub victim: Option<Maker<dyn CustomVictim>>,
    /// Custom policy that divides data into streams, and chooses the erased block to open next.
    pub placement: Option<Maker<dyn CustomPlacement>>,
}

impl Policies {
    /// Adds the custom policies of `more`, each for a decision of the controller that has no custom
    /// policy yet.
    ///
    /// # Errors
    /// The configuration key of a decision for which both have a policy.
    pub fn join(&mut self, more: &Policies) -> Result<(), &'static str> {
        let mut theirs = more.labels().map(|(key, _)| key);
        if let Some(key) = theirs.find(|key| self.labels().any(|(filled, _)| filled == *key)) {
            return Err(key);
        }
        let Policies { die_order, suspension, hotness, throttle, victim, placement } = more.clone();
        self.die_order = self.die_order.take().or(die_order);
        self.suspension = self.suspension.take().or(suspension);
        self.hotness = self.hotness.take().or(hotness);
        self.throttle = self.throttle.take().or(throttle);
        self.victim = self.victim.take().or(victim);
        self.placement = self.placement.take().or(placement);
        Ok(())
    }

    /// Returns the configuration keys of the decisions that custom policies make, each with the
    /// label of its policy.
    pub fn labels(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let Policies { die_order, suspension, hotness, throttle, victim, placement } = self;
        let filled = [
            ("policy.die_order", die_order.as_ref().map(Maker::label)),
            ("policy.suspension", suspension.as_ref().map(Maker::label)),
            ("policy.hotness", hotness.as_ref().map(Maker::label)),
            ("policy.throttle", throttle.as_ref().map(Maker::label)),
            ("policy.victim", victim.as_ref().map(Maker::label)),
            ("policy.placement", placement.as_ref().map(Maker::label)),
        ];
        filled.into_iter().filter_map(|(key, label)| Some((key, label?)))
    }
}
