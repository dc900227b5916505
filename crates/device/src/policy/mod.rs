//! The questions that the controller asks, one folder each, and in each folder its answers, one
//! file each. A policy sees a read-only view and returns a decision; the device applies it. A
//! policy imports no other slot.
//!
//! A slot belongs to the room that asks it, and may import that room's views: `die_order` and
//! `suspension` to the flash, `sensing`, `step` and `voltage` to the cells, `placement` to the
//! blocks, `hotness` and `replacement` to the cache, `victim` and `wear` to garbage collection,
//! `throttle` to the host, `redundancy` to RAID. `custom` holds policies that whoever builds the
//! drive hands over.

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
