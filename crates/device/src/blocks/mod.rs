//! Blocks and pages: what each block holds, which are open for what, and where the next page goes.
//!
//! **Owns** the columns of all blocks (valid pages, erase counts, order of filling), the open
//! blocks of every plane and the data that each takes, and the turn of dies and planes. **May
//! touch** nothing else. **Is asked** for a die that has room, for the next page of a plane, for
//! candidates to collect.
//!
//! - `block_table.rs`: the columns, erased blocks, full blocks by valid pages.
//! - `open_blocks.rs`: which block takes what, opened with which step and voltages.
//! - `page_allocator.rs`: which die takes a host page, and which plane of it may.
//! - `gc_job.rs`: the emptying of a block, with which the host keeps in step.

pub mod block_table;
pub mod gc_job;
pub mod open_blocks;
pub mod page_allocator;
