//! Laws: the invariants of a drive, which hold after every event.

/// A violated law: a description with numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation(pub String);

/// Returns the violation unless `holds`.
pub fn law(holds: bool, what: impl FnOnce() -> String) -> Result<(), Violation> {
    if holds { Ok(()) } else { Err(Violation(what())) }
}
