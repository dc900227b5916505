//! Laws: the invariants of a drive at any event.

/// A violated law, described with numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation(pub String);

/// Returns the violation unless `holds`.
pub fn law(holds: bool, what: impl FnOnce() -> String) -> Result<(), Violation> {
    if holds { Ok(()) } else { Err(Violation(what())) }
}
