//! Models of flash cells as pure functions: no clock, no state, no drive.
//!
//! - [`parameters`]: every constant in one table, with its unit, its source (or that it is
//!   assumed), and the range to sweep.
//! - [`strength`]: the differences between blocks. The growth rate of a block's bit error rate is a
//!   bounded Gaussian.
//! - [`vth`]: the threshold voltages of the four states of a 2-bit cell, and the read references.
//! - [`rber`]: the raw bit error rate (RBER) of a page, from those voltages or from a [`table`] of
//!   measurements.
//! - [`multibit`]: the 2^n states of cells of one to four bits, and the RBER of each type of page
//!   at references that a read retry shifts.
//! - [`word_lines`]: word lines as a controller reads them, with a retry table or by sensing level,
//!   and their sensitivity to each unpublished constant.
//! - [`ldpc`]: the reference voltages that a read must sense for that rate, and the time of the
//!   read.
//! - [`ispp`]: the program time by step, and the coarsest step that a block can afford.
//! - [`voltage`]: the three voltage sets of HIRE, and the sensing levels that they need.
//! - [`bad_blocks`]: the law by which blocks fail for good.
//! - [`bch`]: the yield of a BCH code word, and the worst cells that reach a given yield.
//! - [`thresholds`]: all of the above in one dense table, so that a read in the simulator costs one
//!   lookup.
//! - [`rates`]: the bit error rate as a lookup, for a controller that counts errors.
//! - [`recovery`]: the endurance that rest between P/E cycles adds.
//! - [`sensitivity`]: the effect of each unpublished constant on the results.
//!
//! All models measure wear in *equivalent cycles*: a block whose rate grows `s` per cycle is, after
//! `n` cycles, as worn as an average block after `n * s / mean(s)` cycles. Strength and P/E cycles
//! thus enter as one number.
//!
//! Transcendental functions come from `libm`, so that every machine computes the same bits.
//! `docs/physics.md` shows the curves.

pub mod bad_blocks;
pub mod bch;
pub mod ispp;
pub mod ldpc;
pub mod multibit;
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
pub mod word_lines;
