//! What a run says: blame, counters, time accounting, laws. It is written to and never asked.
//!
//! **Owns** the words in which a run is reported: what an operation is and on whose behalf
//! ([`operation`]), the parts of blame, the time accounting of a die, the counters, what is said of
//! a completed request, and what a broken law is. **May touch** nothing. Who watches a run is in
//! `device/probe.rs`; every room checks its own laws.

pub mod blame;
pub mod completion;
pub mod counters;
pub mod law;
pub mod ledger;
pub mod operation;
