//! Real traces, if present: excerpts that are repeated to make a round long enough.

use fowler_tests::shared_folder;
use fowler_units::HostIo;
use fowler_workload::{Format, ReadOptions, Remap, Remapper, TraceReader};
use std::path::PathBuf;

/// An excerpt of a real trace.
#[derive(Clone, Copy)]
pub struct Trace {
    /// Name of the excerpt in the table of results.
    pub name: &'static str,
    file: &'static str,
    format: Format,
}

/// Number of requests in one round of a trace.
pub const REQUESTS: u64 = 10_000_000;

/// Excerpts of real traces in the table of results.
pub const TRACES: [Trace; 2] = [
    Trace {
        name: "DTRS excerpt, to 10 M requests",
        file: "DTRS.5min.ssdsim.trace.zst",
        format: Format::SsdsimUs,
    },
    Trace {
        name: "Financial1 excerpt, to 10 M requests",
        file: "Financial1.first50k.flashsim.trace.zst",
        format: Format::Flashsim,
    },
];

/// True if the excerpts of real traces are on this machine. A missing one is reported on standard
/// error.
pub fn are_here() -> bool {
    TRACES.iter().all(|trace| path(trace.file).is_some())
}

/// Returns the path of an excerpt; `None` if it is missing, which is reported on standard error.
pub fn path(file: &str) -> Option<PathBuf> {
    shared_folder::path(&format!("traces/{file}"), "an excerpt of a real trace")
}

/// Returns the requests of an excerpt, with addresses compacted to a drive of `capacity` bytes;
/// `None` if the excerpt is missing.
pub fn load(trace: Trace, capacity: u64) -> Option<Vec<HostIo>> {
    let path = path(trace.file)?;
    let options = ReadOptions { format: Some(trace.format), ..ReadOptions::default() };
    let open = || TraceReader::open(&path, &options).unwrap_or_else(|error| panic!("{error}"));
    let remapper = Remapper::new(Remap::Compact, capacity, 4096, open())
        .unwrap_or_else(|error| panic!("{error}"));
    let requests = remapper.over(open()).collect::<Result<_, _>>();
    Some(requests.unwrap_or_else(|error| panic!("{error}")))
}
