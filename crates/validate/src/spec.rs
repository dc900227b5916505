//! The specification of a validation.

/// The specification of a validation: its length, the expectations, and the spoiled settings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ValidateSpec {
    /// True for fewer requests, smaller drives, fewer points, and wider tolerances to match.
    pub quick: bool,
    /// Only expectations of the group with this name, or whose name contains this text; the case
    /// does not matter.
    pub only: Option<String>,
    /// Settings `key=value` that change the simulated drives but not the theory.
    /// See docs/decisions/validation.md, "What may the caller of `fowler validate` change?".
    pub spoil: Vec<String>,
}
