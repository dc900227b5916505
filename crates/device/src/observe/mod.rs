//! What a run says.

pub mod blame;
pub mod counters;
pub mod laws;
pub mod ledger;
pub mod probe;
