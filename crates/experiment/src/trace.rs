//! Describes, converts and generates traces, without a run.

use crate::device::{Resolved, Source};
use crate::diagnostic::Diagnostics;
use crate::generator::{Generator, Room};
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
/// of requests.
pub fn convert(
    path: &Path,
    options: &ReadOptions,
    limit: Option<u64>,
    out: impl Write,
) -> Result<u64, Diagnostics> {
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
    Ok(write_native(limited(first.into_iter().chain(reader), limit), columns, out)?)
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
    generator.refuse_power_off(&source.name, "a trace cannot record power losses")?;
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

/// Returns both as one JSON object.
pub fn info_json(info: &TraceInfo, read: &ReadReport) -> Value {
    let by_op = |counts: &ByOp<u64>| -> Value {
        let named = counts.iter().map(|(op, count)| (op.word().to_string(), json!(count)));
        named.collect::<Map<_, _>>().into()
    };
    let skipped: u64 = read.skipped.values().map(|skipped| skipped.count).sum();
    json!({
        "file": read.file,
        "format": read.format.name(),
        "lines": read.lines,
        "bad_lines": skipped,
        "reordered": read.reordered,
        "other_devices": read.other_devices,
        "requests": info.total_requests(),
        "requests_by_op": by_op(&info.requests),
        "bytes_by_op": by_op(&info.bytes),
        "mean_read_size": info.mean_size(HostOp::Read),
        "mean_write_size": info.mean_size(HostOp::Write),
        "span_s": info.span.as_s(),
        "mean_rate": info.mean_rate,
        "peak_rate": info.peak_rate,
        "read_share": info.read_share(),
        "sequential_share": info.sequential_share,
        "footprint_bytes": info.footprint.0,
        "highest_byte": info.highest_byte,
        "interarrival_mean_ns": info.interarrival_mean_ns,
        "interarrival_cv": info.interarrival_cv,
    })
}
