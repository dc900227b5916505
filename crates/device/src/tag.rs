//! What is known of a page on its way to the flash, and how it is programmed there.

/// What the detectors of [`crate::policy::hotness`] say of a page, as a number below [`Tag::COUNT`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tag(pub u8);

impl Tag {
    /// How many tags there are.
    pub const COUNT: usize = 2;
    /// Nothing is said of it.
    pub const PLAIN: Tag = Tag(0);
    /// It is expected to be outdated soon.
    pub const HOT: Tag = Tag(1);

    /// Whether it is expected to be outdated soon.
    #[inline]
    pub fn is_hot(self) -> bool {
        self == Tag::HOT
    }
}

/// An ISPP step, as its place on the ladder of [`crate::reliability`]: zero is nominal, each one above it
/// coarser, faster and less exact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Step(pub u8);

impl Step {
    /// The step that the operating times are given for.
    pub const NOMINAL: Step = Step(0);
}
