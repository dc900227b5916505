//! The configuration of failed dies.

/// What a drive has against dies that fail.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Params {
    /// The dies that can take the place of failed ones. [`Params::ENDLESS`]: any number.
    pub spare: u32,
}

impl Params {
    /// Every failed die is replaced.
    pub const ENDLESS: u32 = u32::MAX;
}
