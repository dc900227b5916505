//! Reads any bytes as any format with any options. A reader must return requests in order and at
//! most one error, account for every line, and never panic. Writing its requests as a native trace
//! and reading that must give the same requests.
//!
//! The first byte chooses the format (or detection), the second the options. The rest is the text.

#![no_main]

use fowler_units::HostIo;
use fowler_workload::{
    DeviceChoice, Format, OptionalColumns, ReadOptions, TraceReader, decode_line, write_native,
};
use libfuzzer_sys::fuzz_target;
use std::io::Cursor;

fn options(format: u8, choice: u8) -> ReadOptions {
    ReadOptions {
        format: Format::ALL.get(usize::from(format) % (Format::ALL.len() + 1)).copied(),
        lenient: [None, Some(0.0), Some(0.5), Some(1.0)][usize::from(choice & 3)],
        reorder_window: [1, 2, 16, 4096][usize::from(choice >> 2 & 3)],
        device: [
            DeviceChoice::Default,
            DeviceChoice::Only(0),
            DeviceChoice::Only(1),
            DeviceChoice::SideBySide,
        ][usize::from(choice >> 4 & 3)],
    }
}

/// Returns the requests before the error, if any, and whether there was one.
fn read(text: &[u8], options: &ReadOptions) -> (Vec<HostIo>, bool) {
    let stream = Box::new(Cursor::new(text.to_vec()));
    let mut reader = match TraceReader::from_stream("fuzz", stream, options) {
        Ok(reader) => reader,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return (Vec::new(), true);
        }
    };
    let (mut requests, mut failed) = (Vec::new(), false);
    for request in reader.by_ref() {
        assert!(!failed, "an error comes last");
        match request {
            Ok(request) => requests.push(request),
            Err(error) => {
                failed = true;
                assert!(error.to_string().chars().all(|c| c == '\n' || !c.is_control()));
            }
        }
    }
    assert!(reader.next().is_none(), "nothing follows the end");
    let report = reader.report();
    assert_eq!(report.requests, requests.len() as u64);
    if !failed {
        let seen: u64 = report.devices.iter().map(|device| device.requests).sum();
        let bad: u64 = report.skipped.values().map(|skipped| skipped.count).sum();
        assert_eq!(seen, report.requests + report.other_devices);
        assert_eq!(report.lines, report.remarks + seen + bad);
        assert!(!requests.is_empty(), "either requests or an error");
    }
    (requests, failed)
}

fuzz_target!(|input: &[u8]| {
    let [format, choice, text @ ..] = input else { return };
    let options = options(*format, *choice);
    if let Some(format) = options.format {
        for line in text.split(|&byte| byte == b'\n') {
            let _ = decode_line(format, line);
        }
    }
    let (requests, _) = read(text, &options);
    assert!(requests.iter().map(|request| request.at).is_sorted());
    if requests.is_empty() {
        return;
    }
    let mut native = Vec::new();
    let columns = OptionalColumns::used_by(requests.iter().copied());
    write_native(requests.iter().copied().map(Ok), columns, &mut native)
        .expect("memory takes any trace");
    let again = read(&native, &ReadOptions::default());
    assert_eq!(again, (requests, false), "a native trace reads back the same");
});
