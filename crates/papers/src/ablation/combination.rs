//! Factors of an ablation study (the systems), alternatives that may take the place of one, and the
//! combinations of both that a drive has in a run.

use serde::Deserialize;

/// A factor of the ablation study: one of the systems, which a drive has or does not have.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Factor {
    /// Name, in tables and legends, of a system whose effect the ablation study measures.
    pub name: String,
    pub scheme: String,
    /// Further settings of a drive of the ablation study that apply when the scheme of this factor
    /// (such as PES suspension) is on.
    #[serde(default)]
    with: Vec<String>,
    /// Further settings of a drive of the ablation study that apply when the scheme of this factor
    /// (such as PES suspension) is off.
    #[serde(default)]
    without: Vec<String>,
    /// Rivals and other readings of the system, each run in place of it: alone, and with all other
    /// systems.
    #[serde(default)]
    pub alternative: Vec<Alternative>,
}

/// A rival of a studied system, or another reading of it, that takes its place in some runs.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Alternative {
    /// Name, in tables, of the rival or the other reading of a studied system.
    pub name: String,
    /// Scheme that is on in place of the scheme of the system; `None` if the settings are all.
    scheme: Option<String>,
    /// Settings of a drive that apply when this alternative is on, in place of those of the system.
    #[serde(default)]
    with: Vec<String>,
    /// Reason why no drive can be built with this alternative; such an alternative is measured but
    /// never recommended. `None` if it can be built.
    pub imaginary: Option<String>,
}

impl Alternative {
    /// Returns the name of the alternative in tables, with the reason if no drive can be built with
    /// it.
    pub fn shown_name(&self) -> String {
        match &self.imaginary {
            Some(reason) => format!("{} (imaginary: {reason})", self.name),
            None => self.name.clone(),
        }
    }
}

/// A combination of systems on a drive: a subset of the factors, in which an alternative may take
/// the place of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Combination {
    /// The factors that are on, one bit each; that of a replaced factor is set.
    pub subset: usize,
    /// The replaced factor, and the number of its alternative; `None` if all are the systems
    /// themselves.
    replaced: Option<(usize, usize)>,
}

impl From<usize> for Combination {
    fn from(subset: usize) -> Combination {
        Combination { subset, replaced: None }
    }
}

/// A system or an alternative that is on in a combination.
#[derive(Clone, Debug)]
pub(super) struct Part<'a> {
    /// Scheme of a system or of the alternative in its place; `None` if it has settings only.
    pub scheme: Option<&'a str>,
    /// Settings of the drive that come with the system or the alternative in its place.
    pub with: &'a [String],
    /// Name of the part in the table of runs.
    pub shown: String,
}

impl Combination {
    /// Returns the combination of nothing but an alternative: of the factor with index `factor`,
    /// the alternative with index `number`.
    pub fn alternative(factor: usize, number: usize) -> Combination {
        Combination { subset: 1 << factor, replaced: Some((factor, number)) }
    }

    /// Returns the combination with every other system on as well; `subsets` is the number of all
    /// subsets of the systems.
    pub fn as_last(self, subsets: usize) -> Combination {
        Combination { subset: subsets - 1, ..self }
    }

    /// Returns the factor that is replaced and the alternative in its place, if there is one.
    pub fn replacement(self, factors: &[Factor]) -> Option<(&Factor, &Alternative)> {
        let (factor, number) = self.replaced?;
        Some((&factors[factor], &factors[factor].alternative[number]))
    }

    /// Returns true if a drive can be built with the combination.
    pub fn is_real(self, factors: &[Factor]) -> bool {
        self.replacement(factors).is_none_or(|(_, it)| it.imaginary.is_none())
    }

    /// Returns the systems and the alternative that are on, in the order of the factors.
    pub fn parts(self, factors: &[Factor]) -> Vec<Part<'_>> {
        let is_on = |(bit, _): &(usize, &Factor)| self.subset & (1 << bit) != 0;
        let mut parts = Vec::new();
        for (bit, factor) in factors.iter().enumerate().filter(is_on) {
            parts.push(match self.replaced {
                Some((replaced, number)) if replaced == bit => {
                    let it = &factor.alternative[number];
                    Part { scheme: it.scheme.as_deref(), with: &it.with, shown: it.shown_name() }
                }
                _ => {
                    let scheme = factor.scheme.as_str();
                    Part { scheme: Some(scheme), with: &factor.with, shown: scheme.into() }
                }
            });
        }
        parts
    }

    /// Returns the settings that apply because of the systems that are off.
    pub fn absent(self, factors: &[Factor]) -> impl Iterator<Item = &String> {
        let is_off = move |(bit, _): &(usize, &Factor)| self.subset & (1 << bit) == 0;
        factors.iter().enumerate().filter(is_off).flat_map(|(_, factor)| &factor.without)
    }

    /// Returns the name of the combination in tables: its schemes and alternatives, joined by `+`;
    /// `none` if no system is on.
    pub fn shown(self, factors: &[Factor]) -> String {
        let names: Vec<String> = self.parts(factors).into_iter().map(|it| it.shown).collect();
        if names.is_empty() { "none".into() } else { names.join("+") }
    }

    /// Returns the short names of the systems and of the alternative that are on, joined by ` + `;
    /// `none` if no system is on.
    pub fn named(self, factors: &[Factor]) -> String {
        let replaced = self.replaced.map(|it| it.0);
        let is_on = |(bit, _): &(usize, &Factor)| self.subset & (1 << bit) != 0;
        let name = |(bit, factor): (usize, &'_ Factor)| {
            let other = self.replacement(factors).filter(|_| replaced == Some(bit));
            other.map_or_else(|| short(&factor.name).to_owned(), |(_, it)| it.name.clone())
        };
        let names: Vec<String> = factors.iter().enumerate().filter(is_on).map(name).collect();
        if names.is_empty() { "none".into() } else { names.join(" + ") }
    }
}

/// Returns the short name of a system: the text in brackets in its name.
pub(super) fn short(name: &str) -> &str {
    name.split_once('(').map_or(name, |(_, system)| system.trim_end_matches(')'))
}
