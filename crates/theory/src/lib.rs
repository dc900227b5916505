//! Closed forms for what the simulator measures. Pure functions of plain numbers: no clock, no
//! state, and nothing of the simulator, so that an error in the one cannot hide in the other.
//!
//! - [`die`]: one die under Poisson reads and writes, first come first served, with read priority,
//!   and under suspension of programs (inter-phase and intra-phase).
//! - [`bounds`]: what an array of dies behind channels can serve at most.
//! - [`gc`]: write amplification in steady state.
//! - [`stripes`]: what a stripe with parity loses, and how wide it may be.
//!
//! Where a load has no steady state, or an argument lies outside its domain, the answer is `None`.
//! Transcendental functions come from `libm`, so that every machine computes the same bits.

pub mod bounds;
pub mod die;
pub mod gc;
mod root;
pub mod stripes;
