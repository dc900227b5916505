//! The life of a real drive by its counters. SMART and health logs say how much was written in how
//! many hours, at what write amplification, and how many years are left.
//!
//! **Owns** the layouts of the logs and the arithmetic of counters that have steps. **May touch**
//! the files that it is given. It simulates nothing; a simulated drive only lends its rated cycles,
//! its capacity and its link.
//!
//! - `interval.rs`: a quantity with the least and the most that it can be.
//! - `counter.rs`: one counter as it stands in a log, as text or JSON.
//! - `log.rs`: the counters of one log, and the drive that it names.
//! - `file.rs`: files of logs. `text.rs`: text of `nvme` and `smartctl`. `json.rs`: JSON of either.
//!   `nvme.rs`, `ata.rs`: the fields of NVMe logs, and of SATA drives as `smartctl -j` has them.
//! - `choice.rs`: the one drive that the logs are of, now and at an earlier time.
//! - `life.rs`: the answer. `doubts.rs`: counters that cannot be as they are.
//! - `report.rs`: the answer in words, as a table and as JSON.

#[cfg(test)]
mod answer_tests;
mod ata;
mod choice;
mod counter;
mod doubts;
mod file;
mod interval;
mod json;
mod life;
mod log;
mod nvme;
mod report;
#[cfg(test)]
mod tests;
mod text;

pub use choice::{Logs, choose};
pub use file::{parse, read};
pub use interval::Interval;
pub use life::{Life, Model, Question, SmartAnswer, answer};
pub use log::{Layout, SmartLog};
pub use report::schema;
