//! The timing of a die: the phases of programs and erases, the points at which a read can suspend
//! them, and the cost of resuming them. Does not know logical pages or queues.
//!
//! The reference semantics are the rules S1 to S15 of docs/pes.md, from Wu and He, "Reducing SSD
//! Read Latency via NAND Flash Program and Erase Suspension" (FAST'12). The code cites each rule
//! where it applies.

mod cells;
mod erase;
mod program;
mod timing;

pub use cells::{CellOp, Interrupt, Phase, PhaseKind, SuspendAt};
pub use erase::EraseOp;
pub use program::{CancelledProgram, ProgramOp, Reload};
pub use timing::{PerPageType, Timing};
