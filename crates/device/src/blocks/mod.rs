//! Blocks and the next page.

pub mod block_table;
pub mod open_blocks;
pub mod page_allocator;
