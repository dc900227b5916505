//! Tests from outside the crate, in one program: separate programs would each be linked.

mod arrow_source;
mod crashes;
mod folders;
mod shards;
mod sweep;
mod trace_file;
