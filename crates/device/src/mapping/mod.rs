//! Logical to physical.

pub mod page_map;
