//! The cells: the age and wear of pages and blocks, and the levels at which pages are therefore
//! read.
//!
//! **Owns** the age of every page, the cycles, reads and strength of every block, and the curves of
//! `physics` for one drive. **May touch** nothing else. **Called by** the flash, for the level at
//! which a page is read and the speed at which it is programmed, and by the code that opens a
//! block, for the coarsest step that it tolerates.
//!
//! A read does not count bit errors; it determines which sensing level suffices. The underlying raw
//! bit error rate is in `rber.rs` of the crate `physics`, tabulated by level in its
//! `thresholds.rs`.
//!
//! - `condition.rs`: the state, and the level that each read needs.
//! - `reliability.rs`: levels, ISPP steps and classes of strength, from a configuration.
//! - `program_mode.rs`: the step and voltages at which a page is programmed.
//! - `unreadable_pages.rs`: pages that no level reads, for counting them. `random_failures.rs`:
//!   reads that fail at a rate, whatever the age and wear of their page.

pub mod condition;
pub mod program_mode;
pub mod random_failures;
pub mod reliability;
pub mod unreadable_pages;
