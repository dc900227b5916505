//! The tests of runs and their inputs as one program, which is linked once.

mod config_errors;
mod fingerprint;
mod levels;
mod lifetime;
mod mutations;
mod pages;
mod power;
mod presets;
mod stand_ins;
mod sweep;
mod timeline;
mod together;
mod validation;
mod weakest;
