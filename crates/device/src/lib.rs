//! The controller of a simulated SSD: the only crate that changes its state.

pub mod blame;
mod blocks;
mod chip;
mod buffer;
mod config;
mod counters;
mod die;
mod event;
mod flash;
mod layout;
mod ledger;
mod link;
mod map;
pub mod policy;
mod probe;
mod queue;
mod request;
mod space;
mod txn;

pub use chip::{ChipCommand, ChipOp, ChipResult, run_chip};
pub use config::*;
pub use counters::Counters;
pub use layout::{Layout, Refusal};
pub use probe::{Completion, Probe};
pub use txn::{Op, Source};
