//! Slot: the ISPP step at which data is programmed into a block.
//!
//! Contract. A rule chooses a step no coarser than the block tolerates; all pages of a block are
//! programmed at the step chosen when it was opened.

use crate::cells::program_mode::Step;
use crate::policy::registry::slot;
use crate::policy::stream_tag::StreamTag;

slot! { $
    /// The ISPP step policy of a drive.
    pub enum AnyStep, named StepKind, match by each_step {
        "nominal" => nominal::Nominal needs Nothing, "the nominal step, safe in the weakest block";
        "by_strength" => by_strength::ByStrength needs Nothing, "hot data: the coarsest step that its block tolerates until the end of its life";
    }
}

/// Configuration of the policy that chooses the ISPP step of programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Params {
    /// Name of the selected ISPP step policy.
    pub name: StepKind,
}

/// A policy that chooses the ISPP step of data.
pub trait StepRule {
    /// Returns the ISPP step for data with the stream tag `tag`, in a block believed to tolerate
    /// `coarsest`.
    fn step(&self, tag: StreamTag, coarsest: Step) -> Step;
}

impl StepRule for AnyStep {
    fn step(&self, tag: StreamTag, coarsest: Step) -> Step {
        each_step!(self, policy => policy.step(tag, coarsest))
    }
}
