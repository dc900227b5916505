//! Slot: the number of reference voltages with which a page is read first.
//!
//! Contract. A rule chooses a level; the lowest one is hard decision. If the page has more errors
//! than that level corrects, the controller tries the next levels in turn. Each try occupies the
//! die and the channel. A rule never knows in advance which level the page needs.

use crate::policy::registry::slot;
use fowler_physics::thresholds::Lasting;
use fowler_units::Span;

slot! { $
    /// The sensing rule a device was configured with.
    pub enum AnySensing, named SensingKind, match by each_sensing {
        "worst_case" => worst_case::WorstCase needs Nothing, "always the level that the weakest block needs at the end of its life";
        "model" => model::Model needs Nothing, "the level that the model predicts from the inputs it knows";
        "retry" => retry::Retry needs Nothing, "hard decision first, then higher levels until a read succeeds";
    }
}

/// An input that the controller may know about a page when it chooses the level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Input {
    /// The time since the page was programmed.
    Age,
    /// The programming voltages of the page.
    Voltage,
    /// The rate at which the block of the page accumulates errors, and the ISPP step chosen
    /// accordingly.
    Strength,
    /// The P/E cycles of the block.
    Wear,
    /// The reads of the block since its last erase.
    Reads,
}

impl Input {
    /// Every input, with its name in configurations and its description.
    pub const ALL: &'static [(Input, &'static str, &'static str)] = &[
        (Input::Age, "age", "when the page was programmed"),
        (Input::Voltage, "voltage", "the threshold voltages at which it was programmed"),
        (Input::Strength, "strength", "how fast its block accumulates errors"),
        (Input::Wear, "wear", "the P/E cycles of its block"),
        (Input::Reads, "reads", "the reads of its block since its erase"),
    ];
}

/// Parameters of every policy of this slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Params {
    /// The selected policy.
    pub name: SensingKind,
    /// The inputs that `model` knows, one bit for each [`Input`]. Unknown inputs are assumed to
    /// have their worst values.
    pub inputs: u32,
}

impl Params {
    /// Returns true if the rule knows an input.
    pub fn knows(&self, input: Input) -> bool {
        self.inputs & (1 << input as u8) != 0
    }
}

/// The model's predictions for a page.
pub trait Advice {
    /// Returns the level for the weakest block at the end of its life.
    fn worst(&self) -> u8;
    /// Returns the level for this page, based on the known inputs, and how long that level stays
    /// right; no level if none suffices.
    fn modeled(&mut self) -> Lasting;
}

/// A rule that chooses the level of the first try.
pub trait Sensing {
    /// Returns the level to start with, and the page age and block reads up to which that level
    /// stays right. No level means the highest one.
    fn level(&self, advice: &mut impl Advice) -> Lasting;
}

/// Returns a level that never changes.
fn always(level: u8) -> Lasting {
    Lasting { level: Some(level), age: Span(u64::MAX), reads: u32::MAX }
}

impl Sensing for AnySensing {
    #[inline]
    fn level(&self, advice: &mut impl Advice) -> Lasting {
        each_sensing!(self, policy => policy.level(advice))
    }
}
