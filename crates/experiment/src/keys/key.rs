//! Definition of a configuration key, and macros for lists of keys.

use super::needs::Requirement;
use crate::field::Field;
use fowler_device::Config;
use fowler_units::Span;
use std::borrow::Cow;

/// One configuration key: its path, description, type and requirements.
pub struct Key<T> {
    /// Dotted path of the configuration key.
    pub path: &'static str,
    /// Description of the configuration key: one line without a full stop.
    pub about: Cow<'static, str>,
    /// True if every description of a drive or workload must set the key.
    pub required: bool,
    /// Type and bounds of the configuration key, and access to its value in the configuration.
    pub field: Field<T>,
    /// Requirements that a drive must meet; on other drives, values of this configuration key other
    /// than the default have no effect.
    pub needs: Vec<&'static Requirement>,
}

impl<T> Key<T> {
    /// Returns the key with the requirements `needs`, on which its effect depends.
    pub(super) fn needs(self, needs: &[&'static Requirement]) -> Key<T> {
        Key { needs: needs.to_vec(), ..self }
    }

    /// Returns the condition under which a configuration key has an effect on a drive, as a noun
    /// phrase; empty if it always has.
    pub fn needed(&self) -> String {
        let phrases: Vec<&str> = self.needs.iter().map(|it| it.phrase).collect();
        phrases.join("; and ")
    }

    /// Returns true if the key chooses a policy. Such a key may also be a table with the policy's
    /// `name` and parameters.
    pub(crate) fn is_slot(&self) -> bool {
        self.path.starts_with("policy.") && self.path.matches('.').count() == 1
    }
}

/// Creates the getter and setter of a configuration value that is a field of the struct.
macro_rules! at {
    ($($place:ident).+) => {
        Access { get: |config| config.$($place).+, set: |config, value| config.$($place).+ = value }
    };
    ($($place:ident).+ as u32) => {
        Access {
            get: |config| u64::from(config.$($place).+),
            set: |config, value| config.$($place).+ = value as u32,
        }
    };
}
pub(crate) use at;

/// Creates the type of a key whose enum variants are written as words.
macro_rules! words {
    ($($place:ident).+, $($word:literal => $variant:expr, $about:literal;)+) => {{
        const WORDS: &[Word] = &[$(($word, $about)),+];
        Field::Word(
            || WORDS.to_vec(),
            Access {
                get: |config| {
                    let value = &config.$($place).+;
                    [$(($variant, $word)),+]
                        .into_iter()
                        .find_map(|(variant, word)| (variant == *value).then_some(word))
                        .expect("every variant has its word")
                },
                set: |config, word| {
                    if let Some(value) = [$(($word, $variant)),+]
                        .into_iter()
                        .find_map(|(name, variant)| (name == word).then_some(variant))
                    {
                        config.$($place).+ = value;
                    }
                },
            },
        )
    }};
}
pub(crate) use words;

pub(super) fn required(
    path: &'static str,
    about: &'static str,
    field: Field<Config>,
) -> Key<Config> {
    Key { required: true, ..optional(path, about, field) }
}

pub(super) fn optional(
    path: &'static str,
    about: impl Into<Cow<'static, str>>,
    field: Field<Config>,
) -> Key<Config> {
    Key { path, about: about.into(), required: false, field, needs: Vec::new() }
}

/// Largest value of most configuration keys that are times: longer than any flash operation, so a
/// larger value has a wrong unit.
const LONGEST: Span = Span::ms(10_000);
pub(super) const ANY: std::ops::RangeInclusive<Span> = Span::ZERO..=LONGEST;
pub(super) const SOME: std::ops::RangeInclusive<Span> = Span::ns(1)..=LONGEST;
