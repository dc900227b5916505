//! Workloads: block traces read from files, and generators. Each yields host requests in order of
//! arrival as an iterator; fallible sources yield `Result<HostIo, TraceError>`.
//!
//! A reader never guesses a format, never wraps a number and never skips a line silently: it
//! reports everything that is wrong with a trace at once, line by line, with hints.
//!
//! ```
//! use fowler_workload::{ReadOptions, Remap, Remapper, TimeScale, TraceReader};
//! use std::io::Cursor;
//!
//! let text = "at_ns,op,offset,size\n0,read,1048576,4096\n2000,write,4096,4096\n";
//! let open = || {
//!     let stream = Box::new(Cursor::new(text));
//!     TraceReader::from_stream("example.csv", stream, &ReadOptions::default())
//! };
//! let drive = Remapper::new(Remap::Compact, 1 << 20, 4096, open()?)?;
//! let twice_as_fast = TimeScale::new(2.0).expect("a usable factor");
//! let requests: Vec<_> = twice_as_fast.over(drive.over(open()?)).collect::<Result<_, _>>()?;
//! assert_eq!((requests[0].offset, requests[1].at.0), (4096, 1000));
//! # Ok::<(), fowler_workload::TraceError>(())
//! ```

mod anonymize;
mod binary;
mod columns;
mod context;
mod csv;
mod decode;
mod detect;
mod devices;
mod error;
mod etw_columns;
mod extents;
mod extra;
mod fields;
mod formats;
mod info;
mod intake;
mod left_out_events;
mod lines;
mod number;
mod op_code;
mod optional_column;
mod options;
mod pending_requests;
mod plain_lines;
mod profile;
mod reader;
mod recognition;
mod record;
mod remap;
mod reorder;
mod scale;
mod source;
mod spread;
mod standard_input;
mod synth;
mod write;

pub use anonymize::{Anonymizer, PIECES_MOST, Touched};
pub use csv::CsvColumns;
pub use decode::decode_line;
pub use detect::{Candidate, Undetected};
pub use devices::{DeviceChoice, DeviceUse};
pub use error::{Cause, SAMPLES_PER_CAUSE, Skipped, TraceError};
pub use fields::Fault;
pub use formats::Format;
pub use info::{IdleShare, SizeUse, TraceInfo};
pub use left_out_events::LeftOut;
pub use number::Short;
pub use optional_column::OptionalColumns;
pub use options::{FormatSource, ReadOptions, ReadReport};
pub use profile::{Profile, Sample, Sides};
pub use reader::{TraceCopy, TraceReader, copy_stream};
pub use record::{LATEST, Record};
pub use remap::{Remap, Remapped, Remapper};
pub use scale::{Scaled, TimeScale};
pub use source::ReadSoFar;
pub use spread::Spread;
pub use standard_input::{STANDARD_INPUT, name_standard_input, trace_name};
pub use synth::{
    Addresses, Arrivals, Length, Pattern, Popular, Runs, SizeShare, Synth, SynthSpec, Zipf,
};
pub use write::write_native;
