//! Damages valid traces of every format and of compressed files in seeded ways: a reader returns
//! requests in order and at most one error, and never panics. The `traces` fuzz target does this
//! without end.

use fowler_units::Rng;
use fowler_workload::{
    Cause, CsvColumns, DeviceChoice, Format, LATEST, ReadOptions, TraceReader, decode_line,
};
use std::io::{Cursor, Write};

/// Number of damaged inputs.
const INPUTS: u64 = 100_000;

/// Text spliced into traces: extreme numbers, separators, non-text bytes.
const PIECES: &[&[u8]] = &[
    b"18446744073709551615",
    b"18446744073709551616",
    b"9223372036854775807",
    b"9223372036854775808",
    b"9223372036.854775808",
    b"18446744073.709551615",
    b"99999999999999999999999999999999999999",
    b"4294967296",
    b"36028797018963968",
    b"-1",
    b"-0.5",
    b"0",
    b"1e308",
    b"nan",
    b"0x",
    b".",
    b",",
    b",,,,,,,,,,",
    b" \t ",
    b"\r\n",
    b"\n",
    b"#",
    b"\0",
    b"\xff\xfe",
    b"\xc3\x28",
    b"\xef\xbb\xbf",
    b"\"",
    b"\x28\xb5\x2f\xfd",
    b"\x1f\x8b\x08",
    b"read",
    b"at_ns,op,offset,size\n",
    b",time_s,op,offset,size\n",
    b"\ttime (us)\top\tsector\tbytes\n",
    b"disk,lba,size,rw,time\n",
    b"{\"ts\":1,\"op\":\"R\",\"sector\":8,\"bytes\":512}",
    b"\"size\":",
    b"[{",
    b"7.2e-05",
    b"1.7e+15",
    b"1577808144360767",
    b"\t\t",
];

fn damage(bytes: &mut Vec<u8>, rng: &mut Rng) {
    let place = |bytes: &[u8], rng: &mut Rng| rng.below(bytes.len() as u64 + 1) as usize;
    for _ in 0..=rng.below(4) {
        let at = place(bytes, rng);
        match rng.below(6) {
            0 if at < bytes.len() => bytes[at] ^= 1 << rng.below(8),
            1 if at < bytes.len() => bytes[at] = rng.bits() as u8,
            2 => bytes.truncate(at),
            3 => {
                let piece = PIECES[rng.below(PIECES.len() as u64) as usize];
                let to = (at + rng.below(4) as usize).min(bytes.len());
                bytes.splice(at..to, piece.iter().copied());
            }
            4 => {
                let to = place(bytes, rng);
                let copied = bytes[at.min(to)..at.max(to)].to_vec();
                let into = place(bytes, rng);
                bytes.splice(into..into, copied);
            }
            _ => {
                let to = place(bytes, rng);
                bytes.drain(at.min(to)..at.max(to));
            }
        }
    }
}

fn options(rng: &mut Rng, format: Format) -> ReadOptions {
    ReadOptions {
        format: (!rng.chance(0.25)).then_some(format),
        lenient: [None, Some(0.0), Some(0.5), Some(1.0)][rng.below(4) as usize],
        reorder_window: [1, 2, 4096][rng.below(3) as usize],
        device: [DeviceChoice::Default, DeviceChoice::Only(0), DeviceChoice::SideBySide]
            [rng.below(3) as usize],
        columns: None,
        spread: None,
    }
}

/// The options of a format that the user describes.
fn with_columns(mut options: ReadOptions) -> ReadOptions {
    options.columns = (options.format == Some(Format::Csv)).then(CsvColumns::default);
    options
}

/// Reads to the end; returns whether there was a request, and whether there was an error.
fn outcome(bytes: Vec<u8>, options: &ReadOptions) -> (bool, bool) {
    let mut reader = match TraceReader::from_stream("t", Box::new(Cursor::new(bytes)), options) {
        Ok(reader) => reader,
        Err(error) => {
            assert!(!error.diagnostics.is_empty() && !error.to_string().contains('\u{fffd}'));
            return (false, true);
        }
    };
    let (mut last, mut requests, mut failed) = (None, 0u64, false);
    for request in reader.by_ref() {
        assert!(!failed, "an error comes last");
        match request {
            Ok(request) => {
                assert!(last <= Some(request.at), "requests come in order");
                assert!(request.at <= LATEST, "the drive has time for what comes after");
                assert!(request.offset.checked_add(u64::from(request.size)).is_some());
                last = Some(request.at);
                requests += 1;
            }
            Err(error) => {
                failed = true;
                assert!(error.to_string().chars().all(|c| c == '\n' || !c.is_control()));
            }
        }
    }
    let report = reader.report();
    assert_eq!(report.requests, requests);
    if !failed {
        let seen: u64 = report.devices.iter().map(|device| device.requests).sum();
        assert_eq!(seen, requests + report.other_devices, "every record is accounted for");
        let bad: u64 = report.skipped.values().map(|skipped| skipped.count).sum();
        let lines = report.lines + report.added;
        assert_eq!(lines, report.remarks + seen + bad, "every line is accounted for");
    }
    (requests > 0, failed)
}

// Slow: 100,000 damaged traces.
#[test]
fn no_damage_makes_a_reader_panic_or_lose_count() {
    let mut rng = Rng::stream(2026, "mutations");
    let (mut read, mut refused) = (0u32, 0u32);
    for _ in 0..INPUTS {
        let format = Format::ALL[rng.below(Format::ALL.len() as u64) as usize];
        let mut bytes = format.example().to_vec();
        damage(&mut bytes, &mut rng);
        let (requests, failed) = outcome(bytes, &with_columns(options(&mut rng, format)));
        read += u32::from(requests);
        refused += u32::from(failed);
        assert!(requests || failed, "either requests or an error");
    }
    assert!(read > 20_000 && refused > 20_000, "both are met often: {read}, {refused}");
}

/// Returns `line` with another time.
fn at_time(format: Format, line: &str, time: &str) -> String {
    let mark = if format.columns().contains(',') { ',' } else { ' ' };
    let is_time = |name: &str| name.split('[').next() == Some(format.time_column());
    let column = format.columns().split(mark).position(is_time).expect("it has a time");
    let line = line.replace('\t', " ");
    let mut cells: Vec<&str> =
        line.split(mark).filter(|it| mark == ',' || !it.is_empty()).collect();
    let point = if cells[column].contains('.') { ".5" } else { "" };
    let mark_behind = if cells[column].ends_with(':') { ":" } else { "" };
    let time = format!("{time}{point}{mark_behind}");
    cells[column] = &time;
    cells.join(&mark.to_string())
}

/// In every format, a line too far from the first in time is a bad line. Where times count from a
/// date, it still fits in 64 bits of nanoseconds; only the distance is too long.
#[test]
fn a_time_too_late_is_a_bad_line_in_every_format() {
    // These formats have tests of their own: their times are binary, or sums of several columns.
    let others = |format: &Format| {
        let summed = [
            Format::FioIolog2,
            Format::Nexus,
            Format::Csv,
            Format::Biosnoop,
            Format::Msps,
            Format::JsonLines,
        ];
        format.is_binary() || summed.contains(format)
    };
    for format in Format::ALL.iter().copied().filter(|format| !others(format)) {
        let records = |line: &&str| decode_line(format, line.as_bytes()).is_ok();
        let example = str::from_utf8(format.example()).unwrap();
        let line = example.lines().find(records).expect("a record");
        let digits = u64::MAX.to_string();
        let late = (1..=digits.len()).map(|length| at_time(format, line, &digits[..length]));
        let is_late = |line: &String| match decode_line(format, line.as_bytes()) {
            Ok(record) => record.io.at > LATEST,
            Err(fault) => fault.cause == Cause::TooLarge,
        };
        let late = late.into_iter().find(is_late).expect("some time is too late");
        let header = format.header().map_or_else(String::new, |header| header.to_string() + "\n");
        let bad = format!("{header}{}\n{late}\n", at_time(format, line, "1"));
        let device = DeviceChoice::SideBySide;
        let options = ReadOptions { format: Some(format), device, ..ReadOptions::default() };
        let stream = Box::new(Cursor::new(bad.clone().into_bytes()));
        let mut reader = TraceReader::from_stream("t", stream, &options).unwrap();
        let error = reader.by_ref().find_map(Result::err).unwrap_or_else(|| panic!("{bad}"));
        let counts: Vec<_> = error.counts.iter().map(|(cause, count)| (*cause, *count)).collect();
        assert_eq!(counts, [(Cause::TooLarge, 1)], "{format}: {error}");
        assert_eq!(
            error.diagnostics[0].line,
            Some(bad.lines().count() as u64),
            "{format}: {error}"
        );
    }
}

#[test]
fn no_damage_to_a_packed_file_makes_a_reader_panic() {
    let mut rng = Rng::stream(2026, "mutations/packed");
    for round in 0..4_000 {
        let format = Format::ALL[rng.below(Format::ALL.len() as u64) as usize];
        let mut bytes = if round % 2 == 0 {
            zstd::encode_all(format.example(), 1).unwrap()
        } else {
            let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            gzip.write_all(format.example()).unwrap();
            gzip.finish().unwrap()
        };
        damage(&mut bytes, &mut rng);
        outcome(bytes, &with_columns(options(&mut rng, format)));
    }
}

#[test]
fn no_line_makes_a_decoder_panic() {
    let mut rng = Rng::stream(2026, "mutations/lines");
    for _ in 0..100_000 {
        let format = Format::ALL[rng.below(Format::ALL.len() as u64) as usize];
        let mut lines = format.example().split(|&byte| byte == b'\n');
        let mut line = lines.rfind(|line| !line.is_empty()).unwrap_or_default().to_vec();
        damage(&mut line, &mut rng);
        match decode_line(format, &line) {
            Ok(record) => {
                assert!(record.io.offset.checked_add(u64::from(record.io.size)).is_some())
            }
            Err(fault) => assert!(!fault.diagnostic().what.is_empty()),
        }
    }
}
