//! Laws: invariants of a drive, which hold after every event.

/// Report of a broken invariant of a drive: a sentence with the numbers that disagree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation(pub String);

/// Returns a violation of an invariant of the drive, described by `what`, unless `holds`.
pub fn law(holds: bool, what: impl FnOnce() -> String) -> Result<(), Violation> {
    if holds { Ok(()) } else { Err(Violation(what())) }
}
