//! The specification of a validation.

/// The specification of a validation: its length, the expectations, and settings that make the
/// simulated drives wrong on purpose, to see expectations fail.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ValidateSpec {
    /// True for fewer requests, smaller drives, fewer points, and wider tolerances to match.
    pub quick: bool,
    /// Text that selects the values of theory to check: the name of a group, or part of a point's
    /// title, in any case; `None` for all.
    pub only: Option<String>,
    /// Settings `key=value` that change the simulated drives but not the theory.
    /// See docs/decisions/validation.md, "What may the caller of `fowler validate` change?".
    pub spoil: Vec<String>,
}
