//! Closed forms for what the simulator measures: pure functions of plain numbers. They share no
//! code with the simulator, so that an error in one cannot hide in the other.
//!
//! - [`die`]: one die under Poisson reads and writes, first come first served, with read priority,
//!   and under suspension of programs (inter-phase and intra-phase).
//! - [`bounds`]: the maximum throughput of an array of dies behind channels.
//! - [`gc`]: write amplification in steady state.
//! - [`stripes`]: the loss probability of a stripe with parity, and how wide a stripe may be.
//!
//! Functions return `None` if a load has no steady state or an argument is outside its domain.
//! Transcendental functions come from `libm`, so that every machine computes the same bits.

pub mod bounds;
pub mod die;
pub mod gc;
mod root;
pub mod stripes;
