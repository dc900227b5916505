//! The controller of a simulated SSD: the only crate that changes its state.

pub mod blame;
mod blocks;
mod config;
mod counters;
mod ledger;
mod map;
pub mod policy;
mod probe;
mod queue;
mod txn;

pub use config::*;
pub use counters::Counters;
pub use probe::{Completion, Probe};
pub use txn::{Op, Source};
