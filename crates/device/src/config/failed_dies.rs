//! The configuration of failed dies.

/// The spare dies of a drive, against dies that fail for good.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Params {
    /// The number of dies that can take the place of failed ones. [`Params::ENDLESS`]: any number.
    pub spare: u32,
}

impl Params {
    /// Every failed die is replaced.
    pub const ENDLESS: u32 = u32::MAX;
}
