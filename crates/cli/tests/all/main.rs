//! The tests of the command as one program, which is linked once.

mod answers;
mod cells;
mod check;
mod columns;
mod command;
mod fio;
#[cfg(all(feature = "report", feature = "parquet"))]
mod fleets;
mod hostile;
#[cfg(feature = "report")]
mod lifetime;
mod memory;
#[cfg(feature = "package")]
mod package;
#[cfg(feature = "report")]
mod physics;
mod processes;
mod profiles;
mod pts;
#[cfg(feature = "report")]
mod real_drives;
#[cfg(feature = "report")]
mod report;
#[cfg(feature = "papers")]
mod reproduce;
mod stopping;
mod sweep;
mod traces;
mod validation;
#[cfg(not(feature = "report"))]
mod without_report;
