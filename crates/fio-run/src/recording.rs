//! Reads the logs of `read_iolog`: fio's iolog, version 2 or 3.

use fowler_experiment::diagnostic::{Diagnostic, Diagnostics};
use fowler_fio::{Op, Recorded, Recording};
use fowler_units::{HostOp, Nanos};
use fowler_workload::{DeviceChoice, Format, ReadOptions, TraceReader};
use std::path::Path;

/// Reads the log `name`, a path from the current folder as with fio, of at most `most` requests.
///
/// # Errors
/// If the log cannot be read, has another format, or is longer.
pub(super) fn read(name: &str, most: usize) -> Result<Recording, Diagnostics> {
    let options = ReadOptions { device: DeviceChoice::Each, ..ReadOptions::default() };
    let mut reader = TraceReader::open(Path::new(name), &options)?;
    let refused = |what: String, expected: &str| {
        let hint = "replay it as a trace: fowler run --trace FILE".to_string();
        Diagnostics::from(Diagnostic::new(name, what).expected(expected).hint(hint))
    };
    if !matches!(reader.format(), Format::FioIolog2 | Format::FioIolog3) {
        let what = format!(
            "`read_iolog`: the file is a trace in the format {}, not a log of fio",
            reader.format().name()
        );
        return Err(refused(what, "fio's iolog, version 2 or 3"));
    }
    let mut requests = Vec::new();
    while let Some(io) = reader.next() {
        let io = io?;
        if requests.len() == most {
            let what = "`read_iolog`: the logs of all jobs have too many requests".to_string();
            return Err(refused(what, "at most 16777216 requests"));
        }
        let (op, file) = (op(io.op), reader.device() as u32);
        let at = io.at - Nanos::ZERO;
        let (offset, length) = (io.offset, io.size);
        requests.push(Recorded { at, op, file, offset, length });
    }
    reader.check_rest(|| true)?;
    Ok(Recording::new(reader.report().device_names.clone(), requests))
}

/// Returns the operation of fio for one of a trace; traces know one kind of flush.
fn op(op: HostOp) -> Op {
    match op {
        HostOp::Read => Op::Read,
        HostOp::Write => Op::Write,
        HostOp::Trim => Op::Trim,
        HostOp::Flush => Op::Sync,
    }
}
