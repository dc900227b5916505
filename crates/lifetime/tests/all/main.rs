//! The tests of lives and fleets as one program, which is linked once.

mod bad_blocks_of_fleets;
mod fleet;
mod fleet_shards;
mod lifetime;
mod preset;
