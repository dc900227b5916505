//! Entries of the tables of options.

use super::draft::Draft;
use crate::grammar::{Value, Wrong};

/// Function that sets an option of a job to a value.
pub(super) type Setter = fn(&mut Draft, Value<'_>) -> Result<(), Wrong>;

/// An option of fio that has an effect on the simulated job: its requests, their times, or the
/// output.
pub(crate) struct Entry {
    /// Names of the option, the usual one first.
    pub(super) names: &'static [&'static str],
    /// True if the fio option may be given without a value.
    flag: bool,
    set: Setter,
}

pub(super) const fn option(names: &'static [&'static str], set: Setter) -> Entry {
    Entry { names, flag: false, set }
}

pub(super) const fn flag(names: &'static [&'static str], set: Setter) -> Entry {
    Entry { names, flag: true, set }
}

impl Entry {
    /// Applies the option with this value to the job under construction.
    pub fn apply(&self, draft: &mut Draft, value: Option<Value<'_>>) -> Result<(), Wrong> {
        match value {
            Some(value) => (self.set)(draft, value),
            None if self.flag => (self.set)(draft, Value { text: "1", base: draft.base }),
            None => Err(Wrong::new("the option needs a value", "a value after `=`")),
        }
    }
}
