//! The policies of the controller. A slot is a decision that the controller makes. Each slot has a
//! folder, and each policy a file in it. A policy sees a read-only view and returns a decision,
//! which the drive applies. Adding a policy takes one file and one line in the `mod.rs` of its
//! folder (`registry.rs` generates the code around it). A policy imports no other slot.
//!
//! A slot belongs to the module that calls it, and may import that module's views:
//!
//! - flash: `die_order` (the waiting transaction that is next), `suspension` (the suspension of a
//!   program or erase; the crate `nand` knows where it can stop, and the cost).
//! - cells: `sensing` (the level of a read's first try), `step` (ISPP), `voltage` (threshold
//!   voltages).
//! - blocks: `placement` (the open block for data, and its die).
//! - cache: `hotness` (read-hot, write-hot), `replacement` (clean or dirty next).
//! - GC: `victim` (the block to collect), `wear` (static wear leveling; there is no dynamic one:
//!   the block erased longest ago is opened next), `scrub` (reading all data in the background).
//! - host: `throttle` (delays of writes). RAID: `redundancy` (stripes, parity, refresh).
//!
//! `needs` lists the properties that policies need from a drive. `custom` holds policies supplied
//! by the code that builds the drive.

mod registry;

pub mod custom;
pub mod die_order;
pub mod hotness;
pub mod maker;
pub mod needs;
pub mod placement;
pub mod redundancy;
pub mod replacement;
pub mod scrub;
pub mod sensing;
pub mod step;
pub mod stream_tag;
pub mod suspension;
pub mod throttle;
pub mod victim;
pub mod voltage;
pub mod wear;
