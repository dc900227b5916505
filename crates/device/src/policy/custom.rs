//! Custom policies: passed in by whoever builds the drive, instead of naming a built-in one. They
//! are prototypes, in whatever language. They see what built-in policies see and decide as those
//! do, at the cost of a call through a table, and of whatever they are written in.
//!
//! One takes the place of the policy that the configuration names for its slot. What that one makes
//! the drive maintain is maintained for it too: ranks where `rhio` is named, uses where
//! `buffer_hits` is, a life where a throttle is.

pub use crate::policy::die_order::{CustomDieOrder, Queued, View, Waiting};
pub use crate::policy::hotness::{CustomHotness, Used};
pub use crate::policy::suspension::CustomSuspension;
pub use crate::policy::throttle::CustomThrottle;
use dyn_clone::DynClone;
use std::fmt::{self, Debug};
use std::sync::Arc;

/// What every custom policy can do: a drive is copied, moved to another thread, and
/// shown.
pub trait Custom: DynClone + Debug + Send + Sync {}
impl<T: DynClone + Debug + Send + Sync> Custom for T {}

/// How a policy is made anew for each drive: two drives share nothing.
pub struct Maker<T: ?Sized> {
    label: Arc<str>,
    make: Arc<dyn Fn() -> Box<T> + Send + Sync>,
}

impl<T: ?Sized> Maker<T> {
    /// `label` tells the policy from every other: drives with policies of one label are taken to be
    /// alike.
    pub fn new(label: &str, make: impl Fn() -> Box<T> + Send + Sync + 'static) -> Self {
        Maker { label: label.into(), make: Arc::new(make) }
    }

    /// See [`Maker::new`].
    pub fn label(&self) -> &str {
        &self.label
    }

    pub(crate) fn make(&self) -> Box<T> {
        (self.make)()
    }
}

impl<T: ?Sized> Clone for Maker<T> {
    fn clone(&self) -> Self {
        Maker { label: Arc::clone(&self.label), make: Arc::clone(&self.make) }
    }
}

impl<T: ?Sized> PartialEq for Maker<T> {
    fn eq(&self, other: &Self) -> bool {
        self.label == other.label
    }
}

impl<T: ?Sized> Eq for Maker<T> {}

impl<T: ?Sized> Debug for Maker<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.label)
    }
}

/// The custom policies, slot by slot.
/// See docs/decisions/policy.md, "How does a custom policy fill a slot?".
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Policies {
    /// Which waiting transaction a die serves next.
    pub die_order: Option<Maker<dyn CustomDieOrder>>,
    /// Whether it may interrupt what runs.
    pub suspension: Option<Maker<dyn CustomSuspension>>,
    /// How a page was used.
    pub hotness: Option<Maker<dyn CustomHotness>>,
    /// When a write may enter.
    pub throttle: Option<Maker<dyn CustomThrottle>>,
}

impl Policies {
    /// Adds policies for other slots.
    ///
    /// # Errors
    /// The key of a slot that is filled already.
    pub fn join(&mut self, more: &Policies) -> Result<(), &'static str> {
        let mut theirs = more.labels().map(|(key, _)| key);
        if let Some(key) = theirs.find(|key| self.labels().any(|(its, _)| its == *key)) {
            return Err(key);
        }
        let Policies { die_order, suspension, hotness, throttle } = more.clone();
        self.die_order = self.die_order.take().or(die_order);
        self.suspension = self.suspension.take().or(suspension);
        self.hotness = self.hotness.take().or(hotness);
        self.throttle = self.throttle.take().or(throttle);
        Ok(())
    }

    /// The keys of the slots that are filled, each with the label of what fills it.
    pub fn labels(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let Policies { die_order, suspension, hotness, throttle } = self;
        let filled = [
            ("policy.die_order", die_order.as_ref().map(Maker::label)),
            ("policy.suspension", suspension.as_ref().map(Maker::label)),
            ("policy.hotness", hotness.as_ref().map(Maker::label)),
            ("policy.throttle", throttle.as_ref().map(Maker::label)),
        ];
        filled.into_iter().filter_map(|(key, label)| Some((key, label?)))
    }
}
