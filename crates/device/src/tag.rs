//! What is known of a page on its way to the flash, and how it is programmed there.

use serde::{Deserialize, Serialize};

/// How a page was used while it was in the buffer (HIRE, section 3.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Class {
    /// Read and written, or nothing is known of it.
    #[default]
    Mixed,
    /// Read, and hardly ever written.
    ReadHot,
    /// Written, and hardly ever read.
    WriteHot,
}

impl Class {
    /// Every class.
    pub const ALL: [Class; 3] = [Class::Mixed, Class::ReadHot, Class::WriteHot];
}

/// What the detectors of [`crate::policy::hotness`] say of a page: the product of their answers, as a number
/// below [`Tag::COUNT`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tag(u8);

impl Tag {
    /// How many tags there are.
    pub const COUNT: usize = 2 * Class::ALL.len();
    /// Nothing is said of it.
    pub const PLAIN: Tag = Tag(0);

    /// Whether it is expected to be outdated soon, and how it was used.
    #[inline]
    pub fn new(hot: bool, class: Class) -> Tag {
        Tag(2 * class as u8 + u8::from(hot))
    }

    /// Its number.
    #[inline]
    pub fn index(self) -> usize {
        usize::from(self.0)
    }

    /// Whether it is expected to be outdated soon.
    #[inline]
    pub fn is_hot(self) -> bool {
        self.0 & 1 == 1
    }

    /// How it was used.
    #[inline]
    pub fn class(self) -> Class {
        Class::ALL[usize::from(self.0 / 2)]
    }

    /// The same of another use.
    #[inline]
    pub fn with(self, class: Class) -> Tag {
        Tag::new(self.is_hot(), class)
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

/// A set of threshold voltages (HIRE, Table 1), in the order of [`fowler_physics::voltage::SCALES`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Voltage {
    /// 1.2 times the nominal: states further apart, cells worn faster.
    Boosted,
    /// Nominal.
    #[default]
    Nominal,
    /// 0.8 times the nominal: states closer together, cells worn more slowly.
    Reduced,
}

impl Voltage {
    /// Every set.
    pub const ALL: [Voltage; 3] = [Voltage::Boosted, Voltage::Nominal, Voltage::Reduced];
}

/// How the pages of a block are programmed, from its erase to the next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mode {
    /// The ISPP step.
    pub step: Step,
    /// The threshold voltages.
    pub voltage: Voltage,
}
