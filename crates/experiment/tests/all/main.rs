//! The tests of runs and their inputs as one program, which is linked once.

mod config_errors;
mod faults;
mod fingerprint;
mod fleet;
mod fleet_shards;
mod levels;
mod lifetime;
mod mutations;
#[cfg(feature = "report")]
mod pages;
#[cfg(feature = "report")]
mod power;
mod presets;
mod pts;
mod stand_ins;
mod steady;
mod sweep;
mod timeline;
mod together;
mod warm_up;
mod weakest;
