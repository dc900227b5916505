//! The life of a real drive by its counters. SMART and health logs state the bytes written and the
//! power-on hours; from them follow write amplification and the years left.
//!
//! **Owns** the layouts of the logs and the arithmetic of counters that have steps. **May touch**
//! the files that it is given. It simulates nothing; a simulated drive only provides rated cycles,
//! capacity and link speed.
//!
//! - `interval.rs`: a quantity with its least and largest possible value.
//! - `counter.rs`: the value of one counter in a log, as text or JSON.
//! - `log.rs`: the counters of one log, and the drive that it names.
//! - `file.rs`: files of logs. `text.rs`: text of `nvme` and `smartctl`. `json.rs`: JSON of either.
//!   `nvme.rs`, `ata.rs`: the fields of NVMe logs, and of SATA drives in the output of
//!   `smartctl -j`.
//! - `choice.rs`: the choice of one drive among several logs, now and at an earlier time.
//! - `life.rs`: the answer. `doubts.rs`: implausible counters.
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
