//! Page frames.

pub mod access_class;
pub mod buffer;
