//! Real traces, where they are: excerpts repeated end to end, so that a round is long enough.

use fowler_units::{HostIo, Nanos};
use fowler_workload::{Format, ReadOptions, Remap, Remapper, TraceReader};
use std::path::Path;

/// A trace and how often it is repeated.
#[derive(Clone, Copy)]
pub struct Trace {
    /// Its name in the table.
    pub name: &'static str,
    file: &'static str,
    format: Format,
    repetitions: u64,
}

/// The traces of the table.
pub const TRACES: [Trace; 2] = [
    Trace {
        name: "DTRS excerpt, 8 times",
        file: "DTRS.5min.ssdsim.trace.zst",
        format: Format::SsdsimUs,
        repetitions: 8,
    },
    Trace {
        name: "Financial1 excerpt, 40 times",
        file: "Financial1.first50k.flashsim.trace.zst",
        format: Format::Flashsim,
        repetitions: 40,
    },
];

/// The requests of a trace on a drive of `capacity` bytes, compacted; `None` where it is not.
pub fn load(trace: Trace, capacity: u64) -> Option<Vec<HostIo>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/traces");
    let path = folder.join(trace.file);
    if !path.exists() {
        return None;
    }
    let options = ReadOptions { format: Some(trace.format), ..ReadOptions::default() };
    let open = || TraceReader::open(&path, &options).unwrap_or_else(|error| panic!("{error}"));
    let remapper = Remapper::new(Remap::Compact, capacity, 4096, open())
        .unwrap_or_else(|error| panic!("{error}"));
    let once: Vec<HostIo> =
        remapper.over(open()).collect::<Result<_, _>>().unwrap_or_else(|error| panic!("{error}"));
    let span = once.last()?.at.0 + 1_000_000;
    let shifted =
        |round: u64| once.iter().map(move |io| HostIo { at: Nanos(io.at.0 + round * span), ..*io });
    Some((0..trace.repetitions).flat_map(shifted).collect())
}
