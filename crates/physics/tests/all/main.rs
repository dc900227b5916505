//! Tests from outside the crate, in one program: separate programs would each be linked.

mod between_ages;
mod properties;
