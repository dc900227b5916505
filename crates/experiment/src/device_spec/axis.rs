//! The axis of a comparison: what its runs differ in.

/// What the runs of a comparison differ in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Axis {
    /// The scheme; the drive is the same.
    #[default]
    Schemes,
    /// The drive; the scheme is the same.
    Devices,
}

impl Axis {
    /// Both axes.
    pub const ALL: [Axis; 2] = [Axis::Schemes, Axis::Devices];

    /// Returns the key of the runs in JSON, which is also the flag without its dashes.
    pub fn key(self) -> &'static str {
        ["schemes", "devices"][self as usize]
    }

    /// Returns the noun for one of them: `scheme` or `drive`.
    pub fn noun(self) -> &'static str {
        ["scheme", "drive"][self as usize]
    }

    /// Returns the preposition that goes with a name: a run is `under` a scheme and `on` a drive.
    pub fn preposition(self) -> &'static str {
        ["under", "on"][self as usize]
    }
}
