//! The axis of a comparison: the property in which the runs differ.

use crate::scheme::NO_SCHEME;

/// The property in which the runs of a comparison differ: scheme or drive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Axis {
    /// The runs of the comparison differ in the scheme, on one drive.
    #[default]
    Schemes,
    /// The runs of the comparison differ in the drive, each under one scheme or under several.
    Devices,
}

impl Axis {
    /// The two axes of comparisons: schemes and drives.
    pub const ALL: [Axis; 2] = [Axis::Schemes, Axis::Devices];

    /// Returns the JSON key under which the output of `compare` lists its runs: `schemes` or
    /// `devices`, like the command-line flag that lists what is compared.
    pub fn key(self) -> &'static str {
        ["schemes", "devices"][self as usize]
    }

    /// Returns the noun for the property in which a comparison's runs differ: `scheme` or `drive`.
    pub fn noun(self) -> &'static str {
        ["scheme", "drive"][self as usize]
    }

    /// Returns a phrase with the scheme or the drive of a run: `under rps`, `without a scheme` or
    /// `on nvme-pm9a3`.
    pub fn place(self, label: &str) -> String {
        match self {
            Axis::Schemes if label == NO_SCHEME => "without a scheme".into(),
            _ => format!("{} {label}", self.preposition()),
        }
    }

    /// Returns the scheme or the drive of a run in a sentence: `rps`, `the drive as described` or
    /// `nvme-pm9a3`.
    pub fn called(self, label: &str) -> &str {
        match self {
            Axis::Schemes if label == NO_SCHEME => "the drive as described",
            _ => label,
        }
    }

    /// Returns the preposition that goes with a name: a run is `under` a scheme and `on` a drive.
    pub fn preposition(self) -> &'static str {
        ["under", "on"][self as usize]
    }
}
