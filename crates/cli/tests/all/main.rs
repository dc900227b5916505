//! The tests of the command as one program, which is linked once.

mod answers;
mod cells;
mod check;
mod columns;
mod command;
mod devices;
mod escapes;
#[cfg(all(feature = "report", feature = "parquet"))]
mod failing_disk;
mod faults;
mod files_to_open;
mod fio;
#[cfg(all(feature = "report", feature = "parquet"))]
mod fleets;
mod hostile_input;
mod image_store;
mod killed_commands;
#[cfg(feature = "report")]
mod lifetime;
mod memory;
#[cfg(not(feature = "report"))]
mod missing_reports;
#[cfg(feature = "package")]
mod package;
#[cfg(feature = "report")]
mod physics;
mod presets;
mod processes;
mod profiles;
mod pts;
#[cfg(feature = "report")]
mod real_drives;
#[cfg(feature = "report")]
mod report;
#[cfg(feature = "papers")]
mod reproduce;
mod standard_input;
mod stopping;
#[cfg(feature = "papers")]
mod study;
mod sweep;
mod terminal;
mod traces;
mod validation;
