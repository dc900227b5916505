//! Slot: with how many reference voltages is this page read first?
//!
//! Contract. A rule names a level, the lowest being the hard decision. If the page has more errors
//! than that level corrects, the controller climbs, level by level, at the cost of the die and the
//! channel for each try; a rule never knows in advance what the page needs.

use crate::policy::registry::slot;
use fowler_physics::thresholds::Lasting;
use fowler_units::Span;

slot! { $
    /// The sensing rule a device was configured with.
    pub enum AnySensing, named SensingKind, match by each_sensing {
        "worst_case" => worst_case::WorstCase, "what the weakest block needs at the end of its life, always";
        "model" => model::Model, "what the model asks for, of the inputs it knows";
        "retry" => retry::Retry, "hard decision first";
    }
}

/// What the controller may know of a page when it chooses the level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Input {
    /// How long ago it was programmed.
    Age,
    /// At what threshold voltage.
    Voltage,
    /// How fast its block accumulates errors, and the step that was chosen for that.
    Strength,
    /// The P/E cycles of its block.
    Wear,
    /// The reads of its block since its erase.
    Reads,
}

impl Input {
    /// Every input, with its name in configurations and what it is.
    pub const ALL: &'static [(Input, &'static str, &'static str)] = &[
        (Input::Age, "age", "when the page was programmed"),
        (Input::Voltage, "voltage", "at what threshold voltage"),
        (Input::Strength, "strength", "how fast its block accumulates errors"),
        (Input::Wear, "wear", "the P/E cycles of its block"),
        (Input::Reads, "reads", "the reads of its block since its erase"),
    ];
}

/// Parameters of every policy of this slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Params {
    /// The policy.
    pub name: SensingKind,
    /// What `model` knows, a bit for each [`Input`]; what it does not know it takes to be at its
    /// worst.
    pub inputs: u32,
}

impl Params {
    /// Whether the rule knows an input.
    pub fn knows(&self, input: Input) -> bool {
        self.inputs & (1 << input as u8) != 0
    }
}

/// What the model says of a page.
pub trait Advice {
    /// The level for the weakest block at the end of its life.
    fn worst(&self) -> u8;
    /// The level for this page, as far as it is known, and for how long; no level if none is
    /// enough.
    fn modelled(&mut self) -> Lasting;
}

/// A rule that chooses the level of the first try.
pub trait Sensing {
    /// The level to begin with, and how old the page may become, and how often its block be read,
    /// until the rule is to be asked again. No level stands for the highest.
    fn level(&self, advice: &mut impl Advice) -> Lasting;
}

/// A level that is the same for ever.
fn always(level: u8) -> Lasting {
    Lasting { level: Some(level), age: Span(u64::MAX), reads: u32::MAX }
}

impl Sensing for AnySensing {
    #[inline]
    fn level(&self, advice: &mut impl Advice) -> Lasting {
        each_sensing!(self, policy => policy.level(advice))
    }
}
