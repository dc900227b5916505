//! The controller of a simulated SSD: the only crate that changes the state of a drive.

mod blocks;
mod cache;
mod cells;
mod config;
mod core;
mod event;
mod event_loop;
mod flash;
mod gc;
mod host;
mod mapping;
mod memory;
mod observe;
pub mod policy;
mod precondition;
mod raid;
mod superblocks;
mod untimed;

pub use blocks::bad_blocks::{self, BadBlockCounts};
pub use blocks::failed_dies::{self, FailedDieCounts};
pub use blocks::failing_parts::FailingParts;
pub use blocks::words::{PutWords, TakeWords};
pub use cells::program_mode::{Mode, Step, Voltage};
pub use cells::reliability;
pub use config::layout::{Layout, Refusal};
pub use config::*;
pub use event_loop::controller::Controller;
pub use event_loop::fault_schedule::Struck;
pub use event_loop::host_feed::Feed;
pub use event_loop::power_offs::PowerOffs;
pub use event_loop::probe::Probe;
pub use event_loop::{Device, Faulty, Layer, Pacing};
pub use flash::flash_trace::{FlashEvent, FlashStep, Operation, Steps};
pub use flash::raw_die::{ChipCommand, ChipOp, ChipResult, run_chip};
pub use gc::scrub::ScrubProgress;
pub use host::endurance;
pub use memory::Memory;
pub use observe::blame;
pub use observe::completion::Completion;
pub use observe::counters::{
    AgedCounts, Collections, Counters, ParityWays, Prioritized, Refreshed, Rewritten, Scrubbed,
    SlcCounts, ThrottleTime, waf,
};
pub use observe::law::Violation;
pub use observe::ledger::{Doing, Ledger};
pub use observe::operation::{BySource, Op, Source};
pub use policy::stream_tag::{AccessClass, ByClass, StreamTag};
pub use precondition::image::PreconditionedImage;
pub use precondition::{Preconditioned, Watch as PreconditionWatch};
pub use raid::census::{Census, Counted};
pub use raid::fault_kinds::Fault;
pub use raid::faults::{CachedView, Cell, StripeView};
pub use raid::losses::SilentLedger;
pub use raid::losses::{ByReason, Failure, Loss, LossLedger, Reason};
pub use raid::{Protection, StageChange};
pub use superblocks::{AgedReads, Superblocks};
pub use untimed::checkpoint::Checkpoint;
pub use untimed::steady_life::SteadyLife;
pub use untimed::{ABSORBED_AFTER, Entered, LifetimeDrive};
