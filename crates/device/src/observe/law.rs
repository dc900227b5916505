//! Laws: invariants of a drive, which hold after every event.

/// A violated law: a sentence with the numbers that disagree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation(pub String);

/// Returns a violation, described by `what`, unless `holds`.
pub fn law(holds: bool, what: impl FnOnce() -> String) -> Result<(), Violation> {
    if holds { Ok(()) } else { Err(Violation(what())) }
}
