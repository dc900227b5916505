//! Tests from outside the crate, in one program: each program is linked on its own.

mod palette;
mod pictures;
