//! The cells: what pages and blocks have been through, and what that makes of them.
//!
//! **Owns** the age of every page, the cycles, reads and strength of every block, and the curves of
//! `physics` for one drive. **May touch** nothing else. **Is asked** by the flash at what level a
//! page is read and how fast it is programmed, and by whoever opens a block how coarse a step it
//! bears.
//!
//! A read counts no errors: it asks which sensing level suffices. The raw bit error rate behind
//! that is `rber.rs` of the crate `physics`, tabled by level in its `thresholds.rs`.
//!
//! - `condition.rs`: the state, and the level that each read needs.
//! - `reliability.rs`: levels, ISPP steps and classes of strength, from a configuration.
//! - `program_mode.rs`: how a page is programmed.

pub mod condition;
pub mod program_mode;
pub mod reliability;
