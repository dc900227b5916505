//! The tests of runs and their inputs as one program, which is linked once.

mod config_errors;
mod faults;
mod fingerprint;
mod fitted_digests;
mod levels;
mod mutations;
mod power;
mod presets;
mod scheme_subsets;
mod schemes_on_drives;
mod stand_ins;
mod sweep;
mod timeline;
mod warm_up;
mod weakest_block;
