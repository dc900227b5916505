//! Tests from outside the crate, in one program: each program is linked on its own.

mod between_ages;
mod properties;
