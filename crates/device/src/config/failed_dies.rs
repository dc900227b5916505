//! The configuration of failed dies.

/// The spare dies of a drive, which replace dies that fail for good.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Params {
    /// Number of failed dies that can be replaced; [`Params::ENDLESS`] for any number.
    pub spare: u32,
}

impl Params {
    /// Value of `spare` with which every failed die is replaced.
    pub const ENDLESS: u32 = u32::MAX;
}
