//! Describes, converts and generates traces, without a run.

use crate::device::{Resolved, Source};
use crate::diagnostic::Diagnostics;
use crate::faults;
use crate::generator::{Generator, Room};
use crate::json_schema;
use crate::json_schema::output::{self, Fact, Typed, map_of, written};
use fowler_units::{ByOp, HostIo, HostOp};
use fowler_workload::{
    OptionalColumns, ReadOptions, ReadReport, TraceError, TraceInfo, TraceReader, write_native,
};
use serde_json::{Map, Value, json};
use std::io::Write;
use std::path::Path;

/// Returns the characteristics of a trace, and the report of reading it.
pub fn info(path: &Path, options: &ReadOptions) -> Result<(TraceInfo, ReadReport), Diagnostics> {
    let mut reader = TraceReader::open(path, options)?;
    let info = TraceInfo::of(&mut reader)?;
    Ok((info, reader.report().clone()))
}

/// Writes a trace in the native format, with the optional columns that it needs. Returns the number
/// of requests, and the report of reading them.
pub fn convert(
    path: &Path,
    options: &ReadOptions,
    limit: Option<u64>,
    out: impl Write,
) -> Result<(u64, ReadReport), Diagnostics> {
    let mut reader = TraceReader::open(path, options)?;
    let first = reader.next();
    let mut columns = reader.optional_columns();
    if !columns.is_empty() && path.is_file() {
        // The header comes first but the used columns are known only at the end, so read the file
        // twice. The second pass reports any errors. A pipe can be read only once: keep all its
        // columns.
        let requests = limited(TraceReader::open(path, options)?, limit);
        columns = OptionalColumns::used_by(requests.map_while(Result::ok));
    }
    let requests = limited(first.into_iter().chain(reader.by_ref()), limit);
    let count = write_native(requests, columns, out)?;
    reader.check_rest(|| true)?;
    Ok((count, reader.report().clone()))
}

/// Returns the characteristics of a generated workload on a drive.
pub fn synth_info(source: &Source, drive: &Resolved) -> Result<TraceInfo, Diagnostics> {
    let generator = Generator::parse(source, Room::of(drive), drive.config.seed)?;
    Ok(TraceInfo::gather(None, generator.requests()?)?)
}

/// Returns the requests of a generated workload on a drive, in order.
pub fn synth_requests(
    source: &Source,
    drive: &Resolved,
) -> Result<impl Iterator<Item = HostIo> + use<>, Diagnostics> {
    let generator = Generator::parse(source, Room::of(drive), drive.config.seed)?;
    // A generator that has been parsed does not fail.
    Ok(generator.requests()?.map_while(Result::ok))
}

/// Writes a generated workload for a drive in the native format. Returns the number of requests.
pub fn synth(
    source: &Source,
    drive: &Resolved,
    limit: Option<u64>,
    out: impl Write,
) -> Result<u64, Diagnostics> {
    let generator = Generator::parse(source, Room::of(drive), drive.config.seed)?;
    faults::refuse(generator.faults(), &source.name, "a trace cannot record them")?;
    // Generated requests have no queue, placement handle or deadline.
    let columns = OptionalColumns::default();
    Ok(write_native(limited(generator.requests()?, limit), columns, out)?)
}

fn limited(
    requests: impl Iterator<Item = Result<HostIo, TraceError>>,
    limit: Option<u64>,
) -> impl Iterator<Item = Result<HostIo, TraceError>> {
    requests.take(limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX)))
}

/// What a trace is like, and what reading it came to.
struct Looked<'a> {
    info: &'a TraceInfo,
    read: &'a ReadReport,
}

/// Returns both as one JSON object.
pub fn info_json(info: &TraceInfo, read: &ReadReport) -> Value {
    written(&facts(), &Looked { info, read })
}

/// What `fowler trace info --json` prints.
pub fn info_schema() -> Value {
    let about = "What a trace holds, and how it was read.";
    json_schema::document("Fowler: what a trace holds", about, output::schema(&facts()))
}

fn facts<'a>() -> Vec<Fact<Looked<'a>>> {
    of_reading().into_iter().chain(of_requests()).collect()
}

fn of_reading<'a>() -> Vec<Fact<Looked<'a>>> {
    type It<'a> = Looked<'a>;
    vec![
        Fact::new("file", "The file.", |it: &It| it.read.file.clone()),
        Fact::new("format", "The format of the trace.", |it: &It| it.read.format.name()),
        Fact::new("lines", "Lines of the trace.", |it: &It| it.read.lines),
        Fact::new("bad_lines", "Of them, skipped because something is wrong.", |it: &It| {
            it.read.skipped.values().map(|skipped| skipped.count).sum::<u64>()
        }),
        Fact::new("reordered", "Requests that were put in order of time.", |it: &It| {
            it.read.reordered
        }),
        Fact::new("other_devices", "Requests of other devices, which were left out.", |it: &It| {
            it.read.other_devices
        }),
    ]
}

fn of_requests<'a>() -> Vec<Fact<Looked<'a>>> {
    type It<'a> = Looked<'a>;
    let by_op = |counts: &ByOp<u64>| -> Map<String, Value> {
        counts.iter().map(|(op, count)| (op.word().to_string(), json!(count))).collect()
    };
    let counts = || map_of(u64::schema());
    vec![
        Fact::new("requests", "Requests.", |it: &It| it.info.total_requests()),
        Fact::new("requests_by_op", "The same by operation.", move |it: &It| {
            by_op(&it.info.requests)
        })
        .like(counts()),
        Fact::new("bytes_by_op", "Bytes by operation.", move |it: &It| by_op(&it.info.bytes))
            .like(counts()),
        Fact::new("mean_read_size", "Mean size of reads in bytes.", |it: &It| {
            it.info.mean_size(HostOp::Read)
        }),
        Fact::new("mean_write_size", "Mean size of writes in bytes.", |it: &It| {
            it.info.mean_size(HostOp::Write)
        }),
        Fact::new("span_s", "From the first arrival to the last.", |it: &It| it.info.span.as_s()),
        Fact::new("mean_rate", "Requests per second over that time.", |it: &It| it.info.mean_rate),
        Fact::new("peak_rate", "The most requests in any second.", |it: &It| it.info.peak_rate),
        Fact::new("read_share", "Share of reads in reads and writes.", |it: &It| {
            it.info.read_share()
        }),
        Fact::new(
            "sequential_share",
            "Share of requests that begin where the one before them ended.",
            |it: &It| it.info.sequential_share,
        ),
        Fact::new("footprint_bytes", "Different pages of 4 KiB touched, in bytes.", |it: &It| {
            it.info.footprint.0
        }),
        Fact::new("highest_byte", "The end of the highest range.", |it: &It| it.info.highest_byte),
        Fact::new("interarrival_mean_ns", "Mean time between arrivals.", |it: &It| {
            it.info.interarrival_mean_ns
        }),
        Fact::new(
            "interarrival_cv",
            "Standard deviation of the time between arrivals over its mean.",
            |it: &It| it.info.interarrival_cv,
        ),
    ]
}
