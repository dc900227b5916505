//! The tests of lives and fleets as one program, which is linked once.

mod fleet;
mod fleet_shards;
mod lifetime;
