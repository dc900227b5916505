//! The questions that the controller asks, one folder each, and in each folder its answers, one file
//! each. A policy sees a read-only view and returns a decision; the device applies it. A policy
//! imports no other slot.

mod slot;

pub mod custom;
pub mod die_order;
pub mod hotness;
pub mod placement;
pub mod redundancy;
pub mod replacement;
pub mod sensing;
pub mod step;
pub mod stream_tag;
pub mod suspension;
pub mod throttle;
pub mod victim;
pub mod voltage;
pub mod wear;
