//! Random draws: generators with their seeds, distributions, and the map of blocks that had their
//! turn.

mod block_map;
mod lfsr;
mod seeds;
mod skewed_offsets;
mod taus;
mod timing;

pub(crate) use block_map::BlockMap;
pub(crate) use lfsr::Lfsr;
pub(crate) use seeds::{Consumer, Seeds};
pub(crate) use skewed_offsets::{Skewed, name_hash};
pub(crate) use taus::{Random, Taus88};
pub use timing::TimingDraws;
