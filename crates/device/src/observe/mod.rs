//! What a run says.

pub mod blame;
pub mod counters;
pub mod law;
pub mod ledger;
pub mod operation;
pub mod probe;
