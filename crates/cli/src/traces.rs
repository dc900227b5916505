//! `fowler trace`: what a trace holds, converted, generated.

use crate::args::Trace;
use crate::numbers::{bytes, percent, real, seconds, whole};
use crate::{Exit, commands, console, fit};
use fowler_experiment::growing::Growing;
use fowler_experiment::problem::Problems;
use fowler_experiment::{ReadReport, TraceInfo, trace};
use std::fmt::Write as _;
use std::io::Write;
use std::path::Path;

/// Does what the user asked for.
pub(crate) fn execute(command: Trace) -> Result<Exit, Problems> {
    match command {
        Trace::Info { file, reading, json } => {
            let (info, read) = trace::info(&file, &fit::read_options(&reading)?)?;
            let text = if json {
                format!("{:#}\n", trace::info_json(&info, &read))
            } else {
                describe(&info, &read)
            };
            console::print(&text);
        }
        Trace::Convert { file, to, reading, limit } => {
            let options = fit::read_options(&reading)?;
            written(to.as_deref(), |out| trace::convert(&file, &options, limit, out))?;
        }
        Trace::Synth { workload, to, drive, limit } => {
            let drive = commands::resolve(&drive, None)?;
            let (logical, seed) = (drive.layout.logical.0, drive.config.seed);
            written(to.as_deref(), |out| trace::synth(&workload, logical, seed, limit, out))?;
        }
    }
    Ok(Exit::Done)
}

/// Lets `write` write to the file, or to standard output. The file appears when it is complete.
fn written(
    to: Option<&Path>,
    write: impl FnOnce(&mut dyn Write) -> Result<u64, Problems>,
) -> Result<(), Problems> {
    let Some(path) = to else {
        write(&mut console::Stdout::new())?;
        return Ok(());
    };
    let mut out = Growing::create(path)?;
    let count = write(&mut out)?;
    out.finish()?;
    console::note(&format!("{} requests written to {}", whole(count), path.display()));
    Ok(())
}

fn describe(info: &TraceInfo, read: &ReadReport) -> String {
    let mut text = String::new();
    for (name, value) in [reading(info, read), load(info), space(info)].concat() {
        writeln!(text, "{name:<16}{value}").expect("text grows");
    }
    text
}

/// A line: what it is about, and what there is to say.
type Line = (&'static str, String);

/// How the trace was read and what is in it.
fn reading(info: &TraceInfo, read: &ReadReport) -> Vec<Line> {
    let skipped: u64 = read.skipped.values().map(|skipped| skipped.count).sum();
    let [reads, writes, trims, flushes] = info.requests.map(whole);
    let total = whole(info.total_requests());
    let share = percent(info.read_share());
    vec![
        ("format", format!("{} ({})", read.format, info.units())),
        (
            "lines",
            format!(
                "{}; {} remarks, {} bad, {} out of order, {} of other devices",
                whole(read.lines),
                whole(read.remarks),
                whole(skipped),
                whole(read.reordered),
                whole(read.other_devices)
            ),
        ),
        (
            "requests",
            format!(
                "{total}: {reads} reads, {writes} writes, {trims} trims, {flushes} flushes; {share} reads"
            ),
        ),
        ("read", bytes(info.bytes[0])),
        ("written", bytes(info.bytes[1])),
    ]
}

/// How fast requests come.
fn load(info: &TraceInfo) -> Vec<Line> {
    let (mean, peak) = (real(info.mean_rate), whole(info.peak_rate));
    let gap = seconds(info.interarrival_mean_ns / 1e9);
    let spread = real(info.interarrival_cv);
    let mut lines = vec![
        ("span", seconds(info.span.as_s())),
        ("rate", format!("{mean} requests per second on average, {peak} in the busiest second")),
        ("arrivals", format!("{gap} apart on average, coefficient of variation {spread}")),
    ];
    for idle in &info.idle {
        let service = seconds(idle.service.as_s());
        lines.push(("idle", format!("{} if each request took {service}", percent(idle.share))));
    }
    lines
}

/// Where requests go, and the first of them.
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
