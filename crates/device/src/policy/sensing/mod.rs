//! Slot: the sensing level with which a page is read first: the number of reference voltages.
//!
//! Contract. A rule chooses a level; the lowest one is hard decision. If the page has more errors
//! than that level corrects, the controller tries the next levels in turn. Each try occupies the
//! die and the channel. A rule never knows in advance which level the page needs.

use crate::policy::registry::slot;
use fowler_physics::thresholds::Lasting;
use fowler_units::Span;

slot! { $
    /// The sensing policy of a drive.
    pub enum AnySensing, named SensingKind, match by each_sensing {
        "worst_case" => worst_case::WorstCase needs Nothing, "always the level that the weakest block needs at the end of its life";
        "model" => model::Model needs Nothing, "the level that the model predicts from the inputs it knows";
        "retry" => retry::Retry needs Nothing, "hard decision first, then higher levels until a read succeeds";
    }
}

/// A property of a page that the controller may know when it chooses the sensing level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Input {
    /// Time since the page was programmed.
    Age,
    /// Voltages at which the page was programmed.
    Voltage,
    /// Rate at which the block of the page accumulates errors, and the ISPP step chosen
    /// accordingly.
    Strength,
    /// Number of P/E cycles of the page's block.
    Wear,
    /// Number of reads of the page's block since its last erase.
    Reads,
}

impl Input {
    /// All properties of a page that the controller may know: name in configurations, and
    /// description.
    pub const ALL: &'static [(Input, &'static str, &'static str)] = &[
        (Input::Age, "age", "when the page was programmed"),
        (Input::Voltage, "voltage", "the threshold voltages at which it was programmed"),
        (Input::Strength, "strength", "how fast its block accumulates errors"),
        (Input::Wear, "wear", "the P/E cycles of its block"),
        (Input::Reads, "reads", "the reads of its block since its erase"),
    ];
}

/// Configuration of the sensing policy, which chooses the level of a read's first try.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Params {
    /// Name of the selected sensing policy.
    pub name: SensingKind,
    /// Properties of a page that the sensing policy `model` knows, one bit for each [`Input`].
    /// Unknown ones are assumed to have their worst values.
    pub inputs: u32,
}

impl Params {
    /// Returns true if the sensing policy `model` knows the property `input` of pages.
    pub fn knows(&self, input: Input) -> bool {
        self.inputs & (1 << input as u8) != 0
    }
}

/// The predictions of the error model for a page, which a sensing policy may use.
pub trait Advice {
    /// Returns the sensing level for the weakest block at the end of its life.
    fn worst(&self) -> u8;
    /// Returns the sensing level for this page, based on what the controller knows, and for how
    /// long it stays right; no level if none suffices.
    fn modeled(&mut self) -> Lasting;
}

/// A policy that chooses the sensing level of a read's first try.
pub trait Sensing {
    /// Returns the sensing level of the first try, and the page age and block reads up to which it
    /// stays right. No level means the highest one.
    fn level(&self, advice: &mut impl Advice) -> Lasting;
}

/// Returns a sensing level that does not change with the age of the page or the reads of its block.
fn always(level: u8) -> Lasting {
    Lasting { level: Some(level), age: Span(u64::MAX), reads: u32::MAX }
}

impl Sensing for AnySensing {
    #[inline]
    fn level(&self, advice: &mut impl Advice) -> Lasting {
        each_sensing!(self, policy => policy.level(advice))
    }
}
