//! Workloads: block traces read from files, and generators. Everything is an iterator of host
//! requests in order of arrival; what can fail yields `Result<HostIo, TraceError>`.
//!
//! A reader never guesses, never wraps a number and never skips a line silently: what is wrong with
//! a trace is said all at once, line by line, with a hint.

mod decode;
mod detect;
mod devices;
mod error;
mod extents;
mod fields;
mod format;
mod info;
mod intake;
mod lines;
mod native;
mod number;
mod reader;
mod remap;
mod reorder;
mod scale;
mod source;
mod synth;

pub use decode::{Fault, Record, decode_line};
pub use detect::{Candidate, Undetected};
pub use devices::{DeviceChoice, DeviceUse};
pub use error::{Cause, Problem, SAMPLES_PER_CAUSE, Skipped, TraceError};
pub use format::Format;
pub use info::{IdleShare, SizeUse, TraceInfo};
pub use native::write_native;
pub use reader::{FormatSource, ReadOptions, ReadReport, TraceReader};
pub use remap::{Remap, Remapped, Remapper};
pub use scale::{Scaled, TimeScale};
pub use synth::{Addresses, Arrivals, Length, Pattern, Popular, SizeShare, Synth, SynthSpec};
