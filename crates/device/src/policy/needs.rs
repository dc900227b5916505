//! Properties of a drive without which a policy cannot work there. The list of each slot names one
//! for each policy: `"raid5" => raid5::Raid5 needs HomeDie, "..."`. A kind of drive says once for
//! each property whether it has it, and if not, why (`superblocks/refusals.rs`); a policy that
//! needs a missing one is refused with that reason.

/// The property of a drive that a policy needs, so that the policy works there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// The policy needs no particular property: it works on every drive.
    Nothing,
    /// The policy needs logical addresses to determine the die and the stripe of a page, so that a
    /// stripe has the same pages when one of them is overwritten.
    HomeDie,
}
