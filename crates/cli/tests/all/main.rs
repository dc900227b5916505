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
mod fio;
#[cfg(all(feature = "report", feature = "parquet"))]
mod fleets;
mod hostile;
mod image_store;
mod killed;
#[cfg(feature = "report")]
mod lifetime;
mod memory;
mod opens;
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
mod sweep;
mod terminal;
mod traces;
mod validation;
#[cfg(not(feature = "report"))]
mod without_report;
