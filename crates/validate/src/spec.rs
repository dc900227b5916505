//! The specification of a validation.

/// The specification of a validation: its length, the expectations, and settings that make the
/// simulated drives wrong on purpose, to see expectations fail.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ValidateSpec {
    /// True for a quick validation: fewer requests, smaller drives and fewer points than in the
    /// full one, and wider tolerances to match.
    pub quick: bool,
    /// Text that selects the expectations of theory to check: the name of a group of expectations,
    /// or part of an expectation's title, in any case; `None` for all.
    pub only: Option<String>,
    /// Settings `key=value` that change the simulated drives but not the theory.
    /// See docs/decisions/validation.md, "What may the caller of `fowler validate` change?".
    pub spoil: Vec<String>,
}
