//! What a run says: blame, counters, time accounting, laws. It is written to and never asked.
//!
//! **Owns** the words in which a run is reported. **May touch** nothing.
//!
//! - `operation.rs`: what a flash operation is, and on whose behalf it runs.
//! - `blame.rs`: the parts of a request's latency.
//! - `ledger.rs`: what a die spent its time on. What a request waited behind (GC, wear leveling,
//!   parity) is the difference of two readings: noted when it is submitted (`flash/mod.rs`),
//!   settled when the die takes it up (`flash/die.rs`), put into parts by
//!   `flash/time_accounting.rs`. Waits before the die are in `host/answers.rs`.
//! - `counters.rs`: sums over a run. `completion.rs`: what is said of a completed request.
//! - `law.rs`: a broken invariant. Every room checks its own laws; `device/check.rs` asks them all.
//!
//! Who watches a run is in `device/probe.rs`.

pub mod blame;
pub mod completion;
pub mod counters;
pub mod law;
pub mod ledger;
pub mod operation;
