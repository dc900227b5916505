//! Reporting on a run: blame, counters, time accounting, laws. Write-only for the simulation:
//! nothing here influences a run.
//!
//! **Owns** the terms in which a run is reported. **May touch** nothing.
//!
//! - `operation.rs`: the kinds of flash operations, and their sources.
//! - `blame.rs`: the parts of a request's latency, by cause.
//! - `ledger.rs`: a die's time by activity. The activities that a request waited behind (GC, wear
//!   leveling, parity) are the difference of two readings: taken when the request is submitted
//!   (`flash/mod.rs`) and when the die serves it (`flash/die.rs`), and divided into parts by
//!   `flash/time_accounting.rs`. Waits before the die are in `host/answers.rs`.
//! - `counters.rs`: sums over a run. `completion.rs`: the record of a completed request.
//! - `law.rs`: a violated invariant. Every module checks its own laws; `event_loop/check.rs` calls
//!   all.
//!
//! The interface for observing a run is in `event_loop/probe.rs`.

pub mod blame;
pub mod completion;
pub mod counters;
pub mod law;
pub mod ledger;
pub mod operation;
