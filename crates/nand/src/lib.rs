//! What a die may do and when: the phases of programs and erases, how they are taken off the cells
//! for a read, and what putting them back costs. Knows no logical page and no queue.
//!
//! The reference semantics are the rules S1 to S15 of docs/pes.md, from Wu and He, "Reducing SSD
//! Read Latency via NAND Flash Program and Erase Suspension" (FAST'12); each is cited where it
//! acts.

mod cells;
mod erase;
mod program;
mod timing;

pub use cells::{CellOp, Interrupt, Phase, PhaseKind, SuspendAt};
pub use erase::EraseOp;
pub use program::{CancelledProgram, ProgramOp, Reload};
pub use timing::{PerPageType, Timing};
