//! Policies that whoever builds the drive hands over, instead of naming one of ours: prototypes, in whatever language.
//! They see what ours see and decide as ours do, at the price of a call through a table, and of whatever they are
//! written in.
//!
//! One takes the place of the policy that the configuration names for its slot. What that one makes the drive keep is
//! kept for it too: ranks where `rhio` is named, uses where `buffer_hits` is, a life where a throttle is.

pub use crate::flash::queue::{TxnClass as Queued, View, Waiting};
use crate::policy::stream_tag::AccessClass;
use crate::policy::{suspension, throttle};
use dyn_clone::{DynClone, clone_trait_object};
use fowler_nand::SuspendAt;
use fowler_units::{Id, Lpn, Nanos, TxnId};
use std::fmt::{self, Debug};
use std::sync::Arc;

/// What every policy that is handed over can do: a drive is copied, moved to another thread, and shown.
pub trait Custom: DynClone + Debug + Send + Sync {}
impl<T: DynClone + Debug + Send + Sync> Custom for T {}

/// Fills the slot [`die_order`](crate::policy::die_order).
pub trait CustomDieOrder: Custom {
    /// The transaction to serve next, one of those that the view shows; `None` only where it shows none: no die stands
    /// idle while something may be served.
    fn pick(&mut self, view: &View<'_>) -> Option<TxnId>;
}
clone_trait_object!(CustomDieOrder);

/// Fills the slot [`suspension`](crate::policy::suspension).
pub trait CustomSuspension: Custom {
    /// Where `running` may be interrupted for `candidate`; `None` if it may not. Asked only of reads that wait for a
    /// program or an erase.
    fn interrupts(
        &mut self,
        running: suspension::Running,
        candidate: suspension::Candidate,
    ) -> Option<SuspendAt>;
}
clone_trait_object!(CustomSuspension);

/// Takes the place of the detector `buffer_hits` in the slot [`hotness`](crate::policy::hotness).
pub trait CustomHotness: Custom {
    /// How a page was used. Asked when its program is opened, and when it leaves the buffer.
    fn class(&mut self, page: Used) -> AccessClass;
}
clone_trait_object!(CustomHotness);

/// Fills the slot [`throttle`](crate::policy::throttle).
pub trait CustomThrottle: Custom {
    /// How long a write of `pages` pages is held that could enter at `now`.
    fn hold(&mut self, now: Nanos, pages: u32, life: &dyn throttle::Life) -> throttle::Held;

    /// What it has come to.
    fn state(&self) -> throttle::State {
        throttle::State::default()
    }
}
clone_trait_object!(CustomThrottle);

/// A page of the buffer, and how it was used there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Used {
    /// Whose data it is.
    pub lpn: Lpn,
    /// How often it was read, and written, the first reference included.
    pub reads: u16,
    /// See `reads`.
    pub writes: u16,
    /// The present.
    pub now: Nanos,
}

impl Used {
    /// A page of which nothing but its hits matters.
    pub fn often(reads: u16, writes: u16) -> Used {
        Used { lpn: Lpn::NONE, reads, writes, now: Nanos::ZERO }
    }
}

/// How a policy is made anew for each drive: two drives share nothing.
pub struct Maker<T: ?Sized> {
    label: Arc<str>,
    make: Arc<dyn Fn() -> Box<T> + Send + Sync>,
}

impl<T: ?Sized> Maker<T> {
    /// `label` tells the policy from every other: drives with policies of one label are taken to be alike.
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

/// What was handed over, slot by slot.
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
