//! Makers of custom policies, and the traits that every custom policy must have.

use dyn_clone::DynClone;
use std::fmt::{self, Debug};
use std::sync::Arc;

/// The traits required of every custom policy: a drive is cloned, moved to other threads, and
/// printed.
pub trait Custom: DynClone + Debug + Send + Sync {}

impl<T: DynClone + Debug + Send + Sync> Custom for T {}

/// A function that creates a custom policy for each drive, so that drives share no state.
pub struct Maker<T: ?Sized> {
    label: Arc<str>,
    make: Arc<dyn Fn() -> Box<T> + Send + Sync>,
}

impl<T: ?Sized> Maker<T> {
    /// Creates a maker of custom policies. `label` identifies the policy: two policies with the
    /// same label are assumed to be equal.
    pub fn new(label: &str, make: impl Fn() -> Box<T> + Send + Sync + 'static) -> Self {
        Maker { label: label.into(), make: Arc::new(make) }
    }

    /// Returns the label of the custom policy; see [`Maker::new`].
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
