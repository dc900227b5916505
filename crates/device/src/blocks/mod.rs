//! Blocks and pages: the contents of each block, the open blocks, and where the next page goes.
//!
//! **Owns** the columns of all blocks (valid pages, erase counts, fill order), the open blocks of
//! every plane and the data that each takes, and the rotation over dies and planes. **May touch**
//! nothing else. **Called for** a die with room, the next page of a plane, and GC candidates.
//!
//! - `block_table.rs`: the columns, erased blocks, full blocks by valid pages.
//! - `superblock_table.rs`: the functions of the columns for superblocks alone.
//! - `block_state.rs`: the state of a block, and its pages programmed so far.
//! - `open_blocks.rs`: the open block for each kind of data, and the step and voltages that the
//!   block is opened with.
//! - `page_allocator.rs`: the die that takes a host page, and the planes of that die that may.
//! - `block_fates.rs`: the cycle in which each block fails, on every kind of drive.
//! - `bad_blocks.rs`: blocks that fail and are retired.
//! - `failing_parts.rs`: what goes out of service together, and the room that goes with it.
//! - `failed_dies.rs`: dies that fail, and those that take their place.
//! - `candidates.rs`: the candidates for GC, and the valid pages of a block.
//! - `saved_state.rs`, `words.rs`: the blocks before the first request, as words.
//! - `gc_job.rs`: the job that empties a block; the host keeps pace with it.

pub mod bad_blocks;
pub(crate) mod block_fates;
mod block_state;
pub mod block_table;
pub mod candidates;
pub mod failed_dies;
pub(crate) mod failing_parts;
pub mod gc_job;
pub mod open_blocks;
pub mod page_allocator;
mod saved_state;
mod superblock_table;
pub mod words;
