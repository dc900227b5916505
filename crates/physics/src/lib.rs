//! What flash cells do, as pure functions: no clock, no state, no drive.
//!
//! - [`parameters`]: every constant in one table, with its unit, its source or that it is assumed,
//!   and the range to sweep.
//! - [`strength`]: blocks differ; the growth rate of a block's bit error rate is a bounded
//!   Gaussian.
//! - [`vth`]: threshold voltages of the four states of a 2-bit cell, and where the read references
//!   stand.
//! - [`rber`]: the raw bit error rate of a page, from those voltages or from a [`table`] of
//!   measurements.
//! - [`ldpc`]: how many reference voltages a read must sense for that rate, and how long it takes.
//! - [`ispp`]: program time by step, and the coarsest step that a block can afford.
//! - [`voltage`]: the three voltage sets of HIRE, and what each must be read with.
//! - [`bch`]: yield of a BCH code word, and the worst cell that reaches one.
//! - [`thresholds`]: all of the above as one dense table, so that a read in the simulator costs a
//!   look-up.
//! - [`rates`]: the bit error rate as a look-up, for a controller that counts errors.
//! - [`recovery`]: what rest between P/E cycles adds to endurance.
//! - [`sensitivity`]: what each constant that nobody printed does to the results.
//!
//! The one idea that holds it together: a block whose rate grows `s` per cycle is, after `n`
//! cycles, as worn as an average block after `n * s / mean(s)`. These *equivalent cycles* are the
//! only measure of wear that anything here takes, so that strength and P/E cycles enter as one
//! number.
//!
//! Transcendental functions come from `libm`, so that every machine computes the same bits.
//! `docs/physics.md` shows the curves.

pub mod bch;
pub mod ispp;
pub mod ldpc;
mod normal;
pub mod parameters;
pub mod rates;
pub mod rber;
pub mod recovery;
mod root;
pub mod sensitivity;
pub mod strength;
pub mod table;
pub mod thresholds;
pub mod voltage;
pub mod vth;
