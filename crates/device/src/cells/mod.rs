//! What pages and blocks have been through.

pub mod condition;
pub mod mode;
pub mod reliability;
