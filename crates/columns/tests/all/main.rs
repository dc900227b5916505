//! Tests from outside the crate, in one program: each program is linked on its own.

mod arrow_source;
mod crashes;
mod folders;
mod shards;
mod sweep;
mod trace_file;
