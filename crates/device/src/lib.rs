//! The controller of a simulated SSD: the only crate that changes its state.

mod aged;
pub mod blame;
mod blocks;
mod buffer;
mod check;
mod chip;
mod collect;
mod config;
mod counters;
mod device;
mod die;
mod event;
mod flash;
mod ftl;
mod host;
mod layout;
mod ledger;
mod link;
mod map;
pub mod policy;
mod precondition;
mod probe;
mod queue;
mod request;
mod space;
mod txn;

pub use aged::Aged;
pub use check::Violation;
pub use chip::{ChipCommand, ChipOp, ChipResult, run_chip};
pub use config::*;
pub use counters::Counters;
pub use device::{Device, Pacing};
pub use layout::{Layout, Refusal};
pub use precondition::Preconditioned;
pub use probe::{Completion, Probe};
pub use txn::{Op, Source};
