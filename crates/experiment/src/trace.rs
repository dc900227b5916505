//! Describes, converts and generates traces, without a run.

use crate::device_spec::{Resolved, Source};
use crate::diagnostic::Diagnostics;
use crate::faults;
use crate::generator::{Generator, Room};
use crate::json_schema;
use crate::json_schema::output::{self, Fact, Typed, list_of, map_of, written};
use crate::workload::RequestSource;
use fowler_units::{ByOp, HostIo, HostOp};
use fowler_workload::{
    Anonymizer, DeviceChoice, DeviceUse, OptionalColumns, ReadOptions, ReadReport, Touched,
    TraceError, TraceInfo, TraceReader, write_native,
};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::io::{BufRead, Write};
use std::path::Path;

/// The characteristics of a trace, and the report of reading it.
pub struct Looked {
    /// Path or name of the trace file.
    pub file: String,
    /// Name of the trace file's format.
    pub format: &'static str,
    /// Characteristics of all requests that were read from the trace, such as their number and
    /// sizes.
    pub info: TraceInfo,
    /// Report of reading the text of the trace, such as skipped lines; `None` for a trace in
    /// Parquet or Arrow.
    pub read: Option<ReadReport>,
    /// Characteristics of the requests of each device, by its number, if no device was chosen and
    /// there are several.
    pub devices: BTreeMap<u64, TraceInfo>,
}

/// Returns the characteristics of a trace, and of each of its devices if none was chosen.
pub fn info(path: &Path, options: &ReadOptions) -> Result<Looked, Diagnostics> {
    info_of(options, |options| TraceReader::open(path, options))
}

/// Returns the characteristics of a trace like [`info`], but reads a stream; `name` stands for its
/// file in reports.
///
/// # Errors
/// As [`info`].
pub fn stream_info(
    name: &str,
    stream: Box<dyn BufRead + Send>,
    options: &ReadOptions,
) -> Result<Looked, Diagnostics> {
    info_of(options, |options| TraceReader::from_stream(name, stream, options))
}

fn info_of(
    options: &ReadOptions,
    open: impl FnOnce(&ReadOptions) -> Result<TraceReader, TraceError>,
) -> Result<Looked, Diagnostics> {
    if options.device != DeviceChoice::Default {
        let mut reader = open(options)?;
        let info = TraceInfo::of(&mut reader)?;
        return Ok(Looked::of(info, reader.report().clone(), BTreeMap::new()));
    }
    let options = ReadOptions { device: DeviceChoice::Each, ..options.clone() };
    let mut reader = open(&options)?;
    let (mut devices, all) = TraceInfo::of_each(&mut reader)?;
    let read = reader.report().clone();
    let info = if devices.len() == 1 { devices.pop_first().map(|(_, only)| only) } else { None };
    Ok(Looked::of(info.unwrap_or(all), read, devices))
}

/// Returns the characteristics of a trace in Parquet or Arrow (a columnar format), whose name is
/// `format`.
pub fn columns_info(
    source: &dyn RequestSource,
    format: &'static str,
) -> Result<Looked, Diagnostics> {
    let info = TraceInfo::gather(None, source.requests()?)?;
    Ok(Looked { file: source.name(), format, info, read: None, devices: BTreeMap::new() })
}

/// Writes a columnar trace (Parquet or Arrow) as text in Fowler's own trace format. Returns the
/// number of requests written.
pub fn convert_columns(
    source: &dyn RequestSource,
    limit: Option<u64>,
    out: impl Write,
) -> Result<u64, Diagnostics> {
    let requests = limited(source.requests()?, limit);
    Ok(write_native(requests, OptionalColumns::default(), out)?)
}

impl Looked {
    fn of(info: TraceInfo, read: ReadReport, devices: BTreeMap<u64, TraceInfo>) -> Looked {
        Looked {
            file: read.file.clone(),
            format: read.format.name(),
            info,
            read: Some(read),
            devices,
        }
    }

    /// Returns a number of the report of reading the trace, such as that of skipped lines, which
    /// `count` picks; zero for a trace without a report (Parquet or Arrow).
    fn counted(&self, count: impl FnOnce(&ReadReport) -> u64) -> u64 {
        self.read.as_ref().map_or(0, count)
    }
}

/// Returns the numbers and names of the devices in a trace, in order of their numbers.
pub fn devices(path: &Path, options: &ReadOptions) -> Result<Vec<(u64, String)>, Diagnostics> {
    let options = ReadOptions { device: DeviceChoice::Each, ..options.clone() };
    let mut reader = TraceReader::open(path, &options)?;
    reader.by_ref().try_for_each(|request| request.map(drop))?;
    let report = reader.report();
    let named = |it: &DeviceUse| (it.device, report.device_name(it.device));
    Ok(report.devices.iter().map(named).collect())
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

/// Settings for anonymizing a trace.
#[derive(Clone, Copy, Debug)]
pub struct Anonymous {
    /// Seed of the random permutation of the trace's addresses; with the seed, anyone can undo the
    /// permutation.
    pub seed: u64,
    /// Size in bytes of an extent, the unit in which addresses are permuted; a power of two.
    pub extent: u64,
    /// Largest number of requests that are written to the anonymized trace; `None` for all.
    pub limit: Option<u64>,
}

/// Writes a trace in the native format, as [`convert`], with its extents permuted. Reads it twice.
/// Returns the number of requests, the permutation, and the report of reading.
///
/// # Errors
/// As [`convert`], before anything is written; or if it touches too many extents.
pub fn anonymize(
    path: &Path,
    options: &ReadOptions,
    how: Anonymous,
    out: impl Write,
) -> Result<(u64, Anonymizer, ReadReport), Diagnostics> {
    let mut reader = TraceReader::open(path, options)?;
    let (to, columns) = permuted(limited(reader.by_ref(), how.limit), how)?;
    reader.check_rest(|| true)?;
    let requests = limited(TraceReader::open(path, options)?, how.limit);
    let count = write_native(requests.map(|it| to.moved(it?)), columns, out)?;
    Ok((count, to, reader.report().clone()))
}

/// Anonymizes a columnar trace (Parquet or Arrow): permutes the extents of its address space, and
/// writes it as text in Fowler's own trace format.
///
/// # Errors
/// As [`anonymize`].
pub fn anonymize_columns(
    source: &dyn RequestSource,
    how: Anonymous,
    out: impl Write,
) -> Result<(u64, Anonymizer), Diagnostics> {
    let (to, columns) = permuted(limited(source.requests()?, how.limit), how)?;
    let requests = limited(source.requests()?, how.limit);
    let count = write_native(requests.map(|it| to.moved(it?)), columns, out)?;
    Ok((count, to))
}

/// Draws the random permutation that anonymizes the address extents of a trace, and finds the
/// optional columns of Fowler's trace format that the requests need.
fn permuted(
    requests: impl Iterator<Item = Result<HostIo, TraceError>>,
    how: Anonymous,
) -> Result<(Anonymizer, OptionalColumns), TraceError> {
    let mut touched = Touched::new(how.extent);
    let mut failed = None;
    let added = |request: Result<HostIo, TraceError>| {
        let added = request.and_then(|io| touched.add(&io).map(|()| io));
        added.map_err(|error| failed = Some(error)).ok()
    };
    let columns = OptionalColumns::used_by(requests.map_while(added));
    match failed {
        Some(error) => Err(error),
        None => Ok((touched.permuted(how.seed)?, columns)),
    }
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

/// Returns the characteristics of a trace and the report of reading it as one JSON object.
pub fn info_json(looked: &Looked) -> Value {
    written(&facts(), looked)
}

/// Returns the JSON Schema of the output of `fowler trace info --json`.
pub fn info_schema() -> Value {
    let about = "Statistics of a trace, and counts of lines read.";
    json_schema::document("Fowler: statistics of a trace", about, output::schema(&facts()))
}

fn facts() -> Vec<Fact<Looked>> {
    let all = of_requests().into_iter().map(|fact| fact.within(|it: &Looked| &it.info));
    of_reading().into_iter().chain(all).chain([devices_fact()]).collect()
}

/// A device of a trace: its number, its name if it has one, and its requests.
struct OfDevice<'a> {
    number: u64,
    read: Option<&'a ReadReport>,
    info: &'a TraceInfo,
}

fn devices_fact() -> Fact<Looked> {
    let about = "Statistics of each device, if the trace has several and none was chosen.";
    Fact::new("devices", about, |it: &Looked| {
        let of = |(&number, info)| {
            written(&of_device(), &OfDevice { number, read: it.read.as_ref(), info })
        };
        it.devices.iter().map(of).collect::<Vec<Value>>()
    })
    .like(list_of(output::schema(&of_device())))
}

fn of_device<'a>() -> Vec<Fact<OfDevice<'a>>> {
    let own = vec![
        Fact::new("device", "Number of the device in the trace.", |it: &OfDevice| it.number),
        Fact::new(
            "name",
            "Number of the device, followed by its name if it has one.",
            |it: &OfDevice| {
                it.read.map_or_else(|| it.number.to_string(), |read| read.device_name(it.number))
            },
        ),
    ];
    let requests = of_requests().into_iter().map(|fact| fact.within(|it: &OfDevice| it.info));
    own.into_iter().chain(requests).collect()
}

fn of_reading() -> Vec<Fact<Looked>> {
    type It = Looked;
    vec![
        Fact::new("file", "The file.", |it: &It| it.file.clone()),
        Fact::new("format", "The format of the trace.", |it: &It| it.format),
        Fact::new("lines", "Number of lines in the trace.", |it: &It| {
            it.counted(|read| read.lines)
        }),
        Fact::new("bad_lines", "Number of bad lines that were skipped.", |it: &It| {
            it.counted(|read| read.skipped.values().map(|skipped| skipped.count).sum())
        }),
        Fact::new(
            "left_out",
            "Events skipped because they are not requests, counted by kind.",
            |it: &It| -> Map<String, Value> {
                let kinds = it.read.iter().flat_map(|read| &read.left_out);
                kinds.map(|kind| (kind.name.to_string(), json!(kind.count))).collect()
            },
        )
        .like(map_of(u64::schema())),
        Fact::new(
            "added",
            "Requests in addition to one per line: flushes before writes, pieces of long trims.",
            |it: &It| it.counted(|read| read.added),
        ),
        Fact::new(
            "reordered",
            "Requests that were out of order and were sorted by time.",
            |it: &It| it.counted(|read| read.reordered),
        ),
        Fact::new(
            "notes",
            "Notes on information that the format lacks, and on assumptions made instead.",
            |it: &It| it.read.as_ref().map_or_else(Vec::new, |read| read.notes.clone()),
        ),
        Fact::new(
            "other_devices",
            "Requests to other devices of the trace, which were skipped.",
            |it: &It| it.counted(|read| read.other_devices),
        ),
    ]
}

fn of_requests() -> Vec<Fact<TraceInfo>> {
    type It = TraceInfo;
    let by_op = |counts: &ByOp<u64>| -> Map<String, Value> {
        counts.iter().map(|(op, count)| (op.word().to_string(), json!(count))).collect()
    };
    let counts = || map_of(u64::schema());
    vec![
        Fact::new("requests", "Requests.", |it: &It| it.total_requests()),
        Fact::new("requests_by_op", "Number of requests by operation.", move |it: &It| {
            by_op(&it.requests)
        })
        .like(counts()),
        Fact::new("bytes_by_op", "Bytes by operation.", move |it: &It| by_op(&it.bytes))
            .like(counts()),
        Fact::new("mean_read_size", "Mean size of reads in bytes.", |it: &It| {
            it.mean_size(HostOp::Read)
        }),
        Fact::new("mean_write_size", "Mean size of writes in bytes.", |it: &It| {
            it.mean_size(HostOp::Write)
        }),
        Fact::new("span_s", "Time from the first arrival to the last.", |it: &It| it.span.as_s()),
        Fact::new(
            "mean_rate",
            "Mean requests per second between the first and the last arrival.",
            |it: &It| it.mean_rate,
        ),
        Fact::new(
            "peak_rate",
            "Largest number of requests in any one-second window.",
            |it: &It| it.peak_rate,
        ),
        Fact::new("read_share", "Share of reads in reads and writes.", |it: &It| it.read_share()),
        Fact::new(
            "sequential_share",
            "Share of requests that begin where the previous request ended.",
            |it: &It| it.sequential_share,
        ),
        Fact::new("footprint_bytes", "Different pages of 4 KiB touched, in bytes.", |it: &It| {
            it.footprint.0
        }),
        Fact::new(
            "highest_byte",
            "End of the request with the highest address, in bytes.",
            |it: &It| it.highest_byte,
        ),
        Fact::new("interarrival_mean_ns", "Mean time between arrivals.", |it: &It| {
            it.interarrival_mean_ns
        }),
        Fact::new(
            "interarrival_cv",
            "Standard deviation of the time between arrivals over its mean.",
            |it: &It| it.interarrival_cv,
        ),
    ]
}
