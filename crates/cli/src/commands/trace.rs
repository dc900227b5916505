//! `fowler trace`: describes, converts and generates traces.

use crate::action::Action;
use crate::exit::Exit;
use crate::flags::{Drive, FORMATS, Length, Reading, Target, TraceFile};
use crate::stdin::TraceInput;
use crate::table::Grid;
use crate::{console, fit, requests, signals};
use clap::Subcommand;
use fowler_experiment::atomic_file::{AtomicFile, Named, clashes, writable};
use fowler_experiment::diagnostic::{Diagnostic, Diagnostics};
use fowler_experiment::numbers::{bytes, counted, counted_as, percent, real, seconds, whole};
use fowler_experiment::presets::{self, Folder};
use fowler_experiment::trace::{Anonymous, Looked};
use fowler_experiment::warnings::{CUT, UNCHECKED};
use fowler_experiment::workload::{readable, replayable};
use fowler_experiment::{Bytes, HostOp, ReadReport, TraceInfo, disk, pipe, trace};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufReader, Write};
use std::path::{Path, PathBuf};

/// Look at, convert and generate workloads
#[derive(Debug, Subcommand)]
pub(crate) enum Trace {
    /// What a trace holds: format, units, span, rates, sizes, footprint, devices, first requests
    #[command(after_help = FORMATS.as_str())]
    Info {
        #[command(flatten)]
        trace: TraceFile,
        #[command(flatten)]
        reading: Reading,
        /// Print the statistics as one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Write a trace in the native format (CSV: at_ns,op,offset,size)
    Convert {
        #[command(flatten)]
        trace: TraceFile,
        #[command(flatten)]
        to: Target,
        #[command(flatten)]
        reading: Reading,
        #[command(flatten)]
        length: Length,
    },
    /// Write a trace in the native format with its addresses permuted, to hide the layout of the
    /// volume
    Anonymize {
        /// The trace; - is standard input
        #[arg(value_name = "IN")]
        file: PathBuf,
        /// File for the anonymized trace
        #[arg(value_name = "OUT")]
        to: PathBuf,
        /// Seed of the permutation; anyone who knows it can undo the permutation
        #[arg(long, value_name = "N")]
        seed: u64,
        /// Size of the extents that are permuted: a power of two from 4KiB to 1TiB
        #[arg(long, value_name = "SIZE", default_value = "1MiB")]
        extent: String,
        #[command(flatten)]
        reading: Reading,
        #[command(flatten)]
        length: Length,
    },
    /// Write a generated workload in the native format
    Synth {
        /// The generator: a preset or a file that ends in .toml
        workload: String,
        #[command(flatten)]
        to: Target,
        /// Drive whose capacity the trace uses
        #[command(flatten)]
        drive: Drive,
        #[command(flatten)]
        length: Length,
    },
}

impl Action for Trace {
    fn traces(&mut self) -> Vec<TraceInput<'_>> {
        match self {
            Trace::Info { trace: TraceFile { file }, reading, .. } => {
                vec![TraceInput::new(file, reading, None)]
            }
            Trace::Convert { trace: TraceFile { file }, reading, length, .. }
            | Trace::Anonymize { file, reading, length, .. } => {
                vec![TraceInput::new(file, reading, length.limit)]
            }
            Trace::Synth { .. } => Vec::new(),
        }
    }

    fn fans_out(&self) -> bool {
        false
    }

    fn execute(self) -> Result<Exit, Diagnostics> {
        signals::end_at_once();
        match self {
            Trace::Info { trace: TraceFile { file }, reading, json } => {
                info(&file, &reading, json)?
            }
            Trace::Convert {
                trace: TraceFile { file },
                to: Target { to },
                reading,
                length: Length { limit },
            } => {
                let mut diagnostics = Diagnostics::default();
                let options = diagnostics.take(fit::read_options(&reading));
                diagnostics.take(readable(&file));
                let inputs = [("the trace".to_string(), file.clone())];
                diagnostics.take(target(to.as_deref(), &inputs));
                diagnostics.or(())?;
                let options = options.unwrap_or_default();
                let mut unchecked = false;
                if let Some((source, _)) = requests::columns(&file) {
                    fit::no_reading(&reading, TEXT_ONLY)?;
                    written(to.as_deref(), |out| trace::convert_columns(&*source, limit, out))?;
                    return Ok(Exit::Done);
                }
                written(to.as_deref(), |out| {
                    let (count, read) = trace::convert(&file, &options, limit, out)?;
                    unchecked = read.unchecked;
                    Ok(count)
                })?;
                if unchecked {
                    console::note(&format!("note: {UNCHECKED}"));
                }
            }
            Trace::Anonymize { file, to, seed, extent, reading, length: Length { limit } } => {
                anonymize(&file, &to, &reading, (seed, &extent, limit))?;
            }
            Trace::Synth { workload, to: Target { to }, drive, length: Length { limit } } => {
                let mut diagnostics = Diagnostics::default();
                let mut inputs = fit::drive_files(&drive, &[]);
                inputs.extend(fit::generator_file(&workload));
                let drive = diagnostics.take(fit::resolve(&drive, None));
                let source = diagnostics.take(presets::open(Folder::Workloads, &workload));
                diagnostics.take(target(to.as_deref(), &inputs));
                diagnostics.or(())?;
                let (Some(drive), Some(source)) = (drive, source) else { return Ok(Exit::Fault) };
                written(to.as_deref(), |out| trace::synth(&source, &drive, limit, out))?;
            }
        }
        Ok(Exit::Done)
    }
}

/// Sizes in bytes that `fowler trace anonymize` accepts for the extents that it permutes: large
/// enough to keep requests aligned, and small enough to change the order of a trace's addresses.
const EXTENTS: std::ops::RangeInclusive<u64> = 1 << 12..=1 << 40;

/// Anonymizes a trace, which is read twice: for the addresses it touches, and for its requests.
fn anonymize(
    file: &Path,
    to: &Path,
    reading: &Reading,
    (seed, extent, limit): (u64, &str, Option<u64>),
) -> Result<(), Diagnostics> {
    let mut diagnostics = Diagnostics::default();
    let options = diagnostics.take(fit::read_options(reading));
    diagnostics.take(replayable(file));
    let inputs = [("the trace".to_string(), file.to_path_buf())];
    diagnostics.take(target(Some(to), &inputs));
    let size = extent.parse::<Bytes>().ok().map(|size| size.0);
    let size = size.filter(|size| EXTENTS.contains(size) && size.is_power_of_two());
    if size.is_none() {
        let diagnostic = Diagnostic::new(
            "--extent",
            "extents, pieces of the address space that move as a whole, cannot have a size that is no \
             power of two from 4KiB to 1TiB",
        )
        .text(extent);
        diagnostics.push(
            diagnostic
                .expected("the size of an extent: a power of two from 4KiB to 1TiB, such as 1MiB"),
        );
    }
    diagnostics.or(())?;
    let how = Anonymous { seed, extent: size.unwrap_or_default(), limit };
    let (mut said, mut unchecked) = (Vec::new(), false);
    let source = requests::columns(file);
    if source.is_some() {
        fit::no_reading(reading, TEXT_ONLY)?;
    }
    written(Some(to), |out| {
        let (count, anonymizer) = match &source {
            Some((source, _)) => trace::anonymize_columns(&**source, how, out)?,
            None => {
                let options = options.clone().unwrap_or_default();
                let (count, anonymizer, read) = trace::anonymize(file, &options, how, out)?;
                unchecked = read.unchecked;
                (count, anonymizer)
            }
        };
        let pieces = anonymizer.pieces() as u64;
        said = hidden(anonymizer.extents(), pieces, anonymizer.largest(), extent);
        Ok(count)
    })?;
    if unchecked {
        console::note(&format!("note: {UNCHECKED}"));
    }
    said.iter().for_each(|line| console::note(line));
    Ok(())
}

/// Returns lines for the user on how well an anonymized trace hides its addresses: the number of
/// extents, and of the pieces (extents joined by a request) that were permuted. Extents within a
/// piece keep their order.
fn hidden(extents: u64, pieces: u64, largest: u64, extent: &str) -> Vec<String> {
    let all = [counted(extents, "extent"), counted(pieces, "piece"), counted(largest, "extent")];
    let [extents_in, pieces_of, largest_of] = all;
    let mut said = vec![format!(
        "{extents_in} of {extent} in {pieces_of}, the largest of {largest_of}: pieces (extents that \
         requests join) were permuted, and extents within a piece keep their order"
    )];
    if pieces == 1 {
        let what = "note: no extent was moved: requests that span two extents join all of them into one \
            piece, which keeps its order. Addresses are those of the trace, shifted to zero. With a \
            larger --extent, fewer requests span two extents; a smaller one makes more pieces";
        said.push(what.into());
    } else if 2 * largest > extents {
        let what = "note: requests join more than half of the touched extents into one piece, within \
            which addresses keep their order. With a larger --extent, fewer requests span two \
            extents";
        said.push(what.into());
    }
    said
}

/// The reason why flags for the reading of a trace do not apply to Parquet and Arrow.
const TEXT_ONLY: &str = "applies to text and binary traces only";

fn info(file: &Path, reading: &Reading, json: bool) -> Result<(), Diagnostics> {
    let mut diagnostics = Diagnostics::default();
    let options = diagnostics.take(fit::read_options(reading));
    diagnostics.take(readable(file));
    diagnostics.or(())?;
    let looked = match requests::columns(file) {
        Some((source, format)) => {
            fit::no_reading(reading, TEXT_ONLY)?;
            trace::columns_info(&*source, format)?
        }
        None => {
            let options = options.unwrap_or_default();
            match piped(file)? {
                Some(stream) => trace::stream_info(&file.display().to_string(), stream, &options)?,
                None => trace::info(file, &options)?,
            }
        }
    };
    let text = if json { format!("{:#}\n", trace::info_json(&looked)) } else { describe(&looked) };
    console::print(&text);
    Ok(())
}

/// Opens a trace behind a named pipe; `None` if the path is no pipe. Tells the user if no data
/// arrives.
fn piped(path: &Path) -> Result<Option<Box<BufReader<File>>>, Diagnostics> {
    let name = path.display().to_string();
    let opened = pipe::open(path, || {
        let what = "is a pipe: waiting for a program that writes the trace to it; Ctrl-C stops";
        console::note(&format!("{name} {what}"));
    });
    let file = opened.transpose().map_err(|error| disk::unreadable(path, &error))?;
    Ok(file.map(|file| Box::new(BufReader::new(file))))
}

/// Checks that the output file can be written, and is none of the files that are read.
fn target(to: Option<&Path>, inputs: &[Named]) -> Result<(), Diagnostics> {
    let Some(path) = to else { return Ok(()) };
    clashes(inputs, &[(path.display().to_string(), path.to_path_buf())]).or(())?;
    writable(path)
}

/// Lets `write` write to the output file, or to standard output. The file appears when it is
/// complete.
fn written(
    to: Option<&Path>,
    write: impl FnOnce(&mut dyn Write) -> Result<u64, Diagnostics>,
) -> Result<(), Diagnostics> {
    let Some(path) = to else {
        write(&mut console::Stdout::new())?;
        return Ok(());
    };
    let mut out = AtomicFile::create(path)?;
    let count = write(&mut out)?;
    out.finish()?;
    console::note(&format!("{} written to {}", counted(count, "request"), path.display()));
    console::note_opens(path);
    Ok(())
}

fn describe(looked: &Looked) -> String {
    let Looked { info, read, devices, format, .. } = looked;
    let mut text = String::new();
    let space = if devices.is_empty() { space(info) } else { Vec::new() };
    let reading = match read {
        Some(read) => reading(info, read),
        None => [vec![("format", (*format).to_string())], requests_of(info)].concat(),
    };
    for (name, value) in [reading, load(info), space].concat() {
        writeln!(text, "{name:<16}{value}").expect("text grows");
    }
    for note in read.iter().flat_map(|read| &read.notes) {
        writeln!(text, "{:<16}{note}", "note").expect("text grows");
    }
    if read.as_ref().is_some_and(|read| read.cut) {
        writeln!(text, "{:<16}{CUT}", "end").expect("text grows");
    }
    let text = console::fitted(&text, 16);
    match read {
        Some(read) if !devices.is_empty() => text + &of_devices(devices, read),
        _ => text,
    }
}

/// Returns a line for each device of a trace, the one with the most requests first, and asks which
/// is to be replayed.
fn of_devices(devices: &BTreeMap<u64, TraceInfo>, read: &ReadReport) -> String {
    let heads = ["device", "requests", "reads", "per second", "busiest second", "span", "touched"];
    let heads = heads.into_iter().chain(["up to byte"]).map(str::to_string).collect();
    let mut grid = Grid::new(heads).words(0..1).spare([4, 7]);
    let mut sorted: Vec<_> = devices.iter().collect();
    sorted.sort_by_key(|(number, info)| (Reverse(info.total_requests()), **number));
    for (&number, info) in sorted {
        grid.row(vec![
            read.device_name(number),
            whole(info.total_requests()),
            percent(info.read_share()),
            real(info.mean_rate),
            whole(info.peak_rate),
            seconds(info.span.as_s()),
            bytes(info.footprint.0),
            whole(info.highest_byte),
        ]);
    }
    let question = "Which of these devices? Choose one with --device-id N, lay all of them side by side \
                    in one address space with --device-id side-by-side, or run each on a drive of its \
                    own with fowler run --split.\n";
    format!("\n{}\n{}", grid.text(), console::fitted(question, 0))
}

/// A line of the output of `fowler trace info`: its subject, and the text.
type Line = (&'static str, String);

/// Returns lines about the reading of the trace, and the trace's contents.
fn reading(info: &TraceInfo, read: &ReadReport) -> Vec<Line> {
    let skipped: u64 = read.skipped.values().map(|skipped| skipped.count).sum();
    let lines = vec![
        ("format", format!("{} ({})", read.format, info.units())),
        (
            if read.format.is_binary() { "records" } else { "lines" },
            format!(
                "{}; {}, {} bad (skipped), {} out of order (sorted), {} of other devices",
                whole(read.lines),
                counted(read.remarks, "remark"),
                whole(skipped),
                whole(read.reordered),
                whole(read.other_devices)
            ),
        ),
    ];
    let left_out = read.left_out.iter().map(|it| {
        let about = if it.about.is_empty() { String::new() } else { format!(" ({})", it.about) };
        ("left out", format!("{} {}{about}", whole(it.count), it.name))
    });
    [lines, left_out.collect(), requests_of(info)].concat()
}

/// Returns lines about the requests of the trace.
fn requests_of(info: &TraceInfo) -> Vec<Line> {
    let [reads, writes, trims, flushes] = info.requests.into_array();
    let (reads, writes) = (counted(reads, "read"), counted(writes, "write"));
    let (trims, flushes) = (counted(trims, "trim"), counted_as(flushes, "flush", "flushes"));
    let total = whole(info.total_requests());
    let share = percent(info.read_share());
    vec![
        ("requests", format!("{total}: {reads}, {writes}, {trims}, {flushes}; {share} reads")),
        ("read", moved(info, HostOp::Read)),
        ("written", moved(info, HostOp::Write)),
    ]
}

/// Returns in words the bytes that the trace's requests of one operation moved in all and, if there
/// are any, on average.
fn moved(info: &TraceInfo, op: HostOp) -> String {
    let all = bytes(info.bytes[op]);
    info.mean_size(op).map_or(all.clone(), |mean| {
        format!("{all}, {} per request on average", bytes(mean.round() as u64))
    })
}

/// Returns lines about the rate of the trace's requests.
fn load(info: &TraceInfo) -> Vec<Line> {
    let (mean, peak) = (real(info.mean_rate), whole(info.peak_rate));
    let gap = seconds(info.interarrival_mean_ns / 1e9);
    let spread = real(info.interarrival_cv);
    let mut lines = vec![
        ("span", seconds(info.span.as_s())),
        ("rate", format!("{mean} requests per second on average, {peak} in the busiest second")),
        ("arrivals", format!("requests {gap} apart on average, coefficient of variation {spread}")),
    ];
    for idle in &info.idle {
        let service = seconds(idle.service.as_s());
        lines.push(("idle", format!("{} if each request took {service}", percent(idle.share))));
    }
    lines
}

/// Returns lines about the addresses of the trace's requests, and the first requests.
fn space(info: &TraceInfo) -> Vec<Line> {
    let size = |size: u32| bytes(u64::from(size));
    let sizes: Vec<String> =
        info.sizes.iter().map(|it| format!("{} {}", size(it.size), percent(it.share))).collect();
    let kinds = whole(info.different_sizes as u64);
    let end = whole(info.highest_byte);
    let mut lines = vec![
        ("sizes", format!("{} of {kinds} different", sizes.join(", "))),
        ("footprint", format!("{} touched, up to byte {end}", bytes(info.footprint.0))),
        ("sequential", percent(info.sequential_share)),
    ];
    for request in &info.first_requests {
        let (at, op) = (seconds(request.at.0 as f64 / 1e9), request.op.word());
        let (size, offset) = (size(request.size), whole(request.offset));
        lines.push(("such as", format!("at {at}: {op} {size} at byte {offset}")));
    }
    lines
}
