//! Behavior of a trace reader: requests returned, counts, refusals and messages.

use fowler_units::{HostIo, HostOp, Nanos};
use fowler_workload::{
    Cause, CsvColumns, DeviceChoice, Format, FormatSource, ReadOptions, ReadReport, TraceError,
    TraceReader,
};
use std::collections::BTreeMap;
use std::io::{BufRead, Cursor, Write};

/// Everything a reader returned: requests, error and report.
struct Read {
    requests: Vec<HostIo>,
    error: Option<TraceError>,
    report: ReadReport,
}

fn read_as(name: &str, bytes: &[u8], options: &ReadOptions) -> Result<Read, TraceError> {
    let stream = Box::new(Cursor::new(bytes.to_vec()));
    let mut reader = TraceReader::from_stream(name, stream, options)?;
    let (mut requests, mut error) = (Vec::new(), None);
    for request in reader.by_ref() {
        assert!(error.is_none(), "an error comes last");
        match request {
            Ok(request) => requests.push(request),
            Err(it) => error = Some(it),
        }
    }
    assert!(reader.next().is_none(), "the end is the end");
    assert!(requests.iter().map(|it| it.at).is_sorted());
    assert_eq!(reader.report().requests, requests.len() as u64);
    Ok(Read { requests, error, report: reader.report().clone() })
}

fn read(text: &str, options: &ReadOptions) -> Read {
    read_as("t.csv", text.as_bytes(), options).unwrap_or_else(|error| panic!("{error}"))
}

fn format(format: Format) -> ReadOptions {
    ReadOptions { format: Some(format), ..ReadOptions::default() }
}

const NATIVE: &str = "at_ns,op,offset,size\n";

#[test]
fn remarks_blank_lines_line_ends_and_byte_order_marks_do_not_matter() {
    let text = "\u{feff}# made by hand\r\n\r\nat_ns,op,offset,size\r\n  \n1,read,0,512\r\n\
                #end\n2,flush,0,0";
    let read = read(text, &ReadOptions::default());
    assert_eq!(read.error, None);
    let expected = [HostIo::read(Nanos(1), 0, 512), HostIo::flush(Nanos(2))];
    assert_eq!(read.requests, expected);
    assert_eq!((read.report.lines, read.report.remarks), (7, 5));
    assert_eq!(read.report.format_source, FormatSource::Text);
}

#[test]
fn file_times_count_from_the_first_request_in_order_of_time() {
    let text = "128166385295514878,hm,0,Read,512,512,1\n128166385295514663,hm,0,Write,0,512,1\n";
    let read = read(text, &ReadOptions::default());
    let times: Vec<_> = read.requests.iter().map(|it| (it.at.0, it.op)).collect();
    assert_eq!(times, [(0, HostOp::Write), (21_500, HostOp::Read)]);
    assert_eq!(read.report.reordered, 1);
}

#[test]
fn other_times_are_kept() {
    let read = read("5.5 0 8 8 1\n6.5 0 8 8 0\n", &format(Format::Disksim));
    assert_eq!(read.requests[0].at, Nanos(5_500_000));
}

#[test]
fn every_bad_line_is_counted_and_five_of_a_cause_are_shown() {
    let mut text = NATIVE.to_string() + "1,read,0,512\n";
    for line in 0..7 {
        text += &format!("{line},peek,0,512\n");
    }
    text += "9,read,0,512\n10,read,0,0\n11,read,zero,512\n";
    let read = read(&text, &ReadOptions::default());
    assert_eq!(read.requests.len(), 1, "what came before the first bad line");
    let error = read.error.unwrap();
    assert_eq!(error.bad_lines(), 9);
    assert_eq!(error.counts[&Cause::UnknownOp], 7);
    assert_eq!(
        error.diagnostics.len(),
        7,
        "five and one and one; the header leaves no doubt of the format"
    );
    let shown: Vec<_> = error.diagnostics.iter().filter_map(|diagnostic| diagnostic.line).collect();
    assert_eq!(shown, [3, 4, 5, 6, 7, 11, 12]);
    let text = error.to_string();
    for part in [
        "t.csv:3: `peek` in `op` is not a known operation\n    text: 0,peek,0,512\n",
        "    expected: read, write, trim or flush\n",
        "t.csv:11: `size` is zero: a request must have at least 1 byte",
        "t.csv:12: `zero` in `offset` is not a number\n    text: 11,read,zero,512\n",
        "    expected: at_ns,op,offset,size (format `native`)",
        "t.csv: 7 lines in total: unknown operation",
    ] {
        assert!(text.contains(part), "{part}\nis missing in\n{text}");
    }
}

#[test]
fn lenient_reading_skips_up_to_the_stated_share_and_counts() {
    let good = "1,read,0,512\n".repeat(98);
    let text = format!("{NATIVE}{good}rubbish\n1,read,0,0\n");
    let with = |share| read(&text, &ReadOptions { lenient: Some(share), ..ReadOptions::default() });
    let tolerated = with(0.02);
    assert_eq!((tolerated.requests.len(), tolerated.error), (98, None));
    let skipped = &tolerated.report.skipped;
    assert_eq!(skipped.len(), 2);
    assert_eq!(skipped[&Cause::ZeroLength].count, 1);
    assert_eq!(skipped[&Cause::ZeroLength].samples[0].line, Some(101));
    let refused = with(0.019);
    assert_eq!(refused.requests.len(), 98);
    let error = refused.error.unwrap().to_string();
    assert!(error.contains("2 of 100 lines are bad, more than the 1.9 % allowed"), "{error}");
    assert!(error.contains("t.csv:100: "), "{error}");
    let all_bad = ReadOptions { lenient: Some(1.0), ..format(Format::Spc) };
    let error = read("1,read,0,512\n1,read,0,512\n", &all_bad).error.unwrap().to_string();
    assert!(error.contains("no request") && error.contains("format `spc`"), "{error}");
    for share in [-0.1, 1.1, f64::NAN] {
        let options = ReadOptions { lenient: Some(share), ..ReadOptions::default() };
        assert!(read_as("t", text.as_bytes(), &options).is_err());
    }
}

/// Lines preceded by a form feed are not read ahead; the requests must be the same.
#[test]
fn lines_read_ahead_are_what_they_are_one_by_one() {
    let wide = "at_ns,op,offset,size,deadline_ns,queue\n0,read,0,4096,,\n7,write,0,512,9,65535\n";
    let text = |format: &Format| str::from_utf8(format.example()).ok();
    let examples = Format::ALL.iter().filter(|format| !format.is_binary());
    let examples = examples.map(|format| (*format, text(format).unwrap()));
    for (format, example) in examples.chain([(Format::Native, wide)]) {
        let records = example.lines().filter(|line| line.as_bytes()[0].is_ascii_digit());
        let records: Vec<&str> = records.collect();
        if records.is_empty() {
            // Lines of this format begin with words, and are never read ahead.
            continue;
        }
        let columns = (format == Format::Csv).then(CsvColumns::default);
        let header = format.header().and(example.lines().next());
        let mut lines: Vec<String> = header.map(String::from).into_iter().collect();
        for round in 0..2_000 {
            match (round + 40) % 97 {
                7 => lines.push("# a remark".into()),
                8 => lines.push(format!("{},,", records[0])),
                9 => lines.push(format!("{}\r", records[0])),
                10 => lines.extend(example.lines().map(String::from)),
                _ => lines.push(records[round % records.len()].into()),
            }
        }
        let slowly = lines.iter().map(|line| match line.as_bytes()[0] {
            b'0'..=b'9' => format!("\x0c{line}"),
            _ => line.clone(),
        });
        let (ahead, slowly) = (lines.join("\n"), slowly.collect::<Vec<_>>().join("\n"));
        for (lenient, reorder_window) in [(None, 4096), (Some(1.0), 2), (Some(1.0), 300)] {
            let device = DeviceChoice::SideBySide;
            let options = ReadOptions {
                format: Some(format),
                lenient,
                reorder_window,
                device,
                columns: columns.clone(),
                spread: None,
            };
            let strip = |text: String| text.replace(r"\\u{c}", "").replace(r"\u{c}", "");
            let [ahead, slowly] = [&ahead, &slowly].map(|text| {
                let read = read(text, &options);
                let error = read.error.map(|error| strip(error.to_string()));
                let bad = strip(format!("{:?}", read.report.skipped));
                (read.requests, error, bad, ReadReport { skipped: BTreeMap::new(), ..read.report })
            });
            assert_eq!(ahead, slowly, "{format}");
            assert!(ahead.0.len() > 10, "{format}");
        }
    }
}

#[test]
fn a_request_too_late_for_the_window_says_how_far_and_what_helps() {
    let text = format!("{NATIVE}10,read,0,1\n30,read,0,1\n20,read,0,1\n40,read,0,1\n5,read,0,1\n");
    let with = |reorder_window| ReadOptions { reorder_window, ..ReadOptions::default() };
    let wide = read(&text, &with(5));
    assert_eq!((wide.requests.len(), wide.error), (5, None));
    assert_eq!(wide.report.reordered, 2);
    let narrow = read(&text, &with(2));
    assert_eq!(narrow.requests.len(), 4);
    let error = narrow.error.unwrap().to_string();
    assert!(error.contains("t.csv:6: this request is 25 ns earlier"), "{error}");
    assert!(error.contains("sort the trace by time"), "{error}");
    let lenient = read(&text, &ReadOptions { lenient: Some(0.2), ..with(2) });
    assert_eq!((lenient.requests.len(), lenient.error), (4, None));
    assert_eq!(lenient.report.skipped[&Cause::BackInTime].count, 1);
    assert!(read_as("t", text.as_bytes(), &with(0)).is_err());
}

const TWO_DEVICES: &str = "1 7 0 8 1\n2 3 0 8 0\n3 7 4096 8 1\n";

#[test]
fn several_devices_are_an_error_unless_one_or_all_are_chosen() {
    let with = |device| read(TWO_DEVICES, &ReadOptions { device, ..format(Format::Mqsim) });
    let refused = with(DeviceChoice::Default);
    assert_eq!(refused.requests, []);
    let error = refused.error.unwrap().to_string();
    assert!(error.contains("2 devices (device 3: 1 request, device 7: 2 requests)"), "{error}");
    assert!(error.contains("--device-id side-by-side"), "{error}");
    let one = with(DeviceChoice::Only(7));
    assert_eq!((one.requests.len(), one.error, one.report.other_devices), (2, None, 1));
    assert_eq!(one.requests[0].offset, 0);
    let missing = with(DeviceChoice::Only(8)).error.unwrap().to_string();
    assert!(missing.contains("no requests for device 8"), "{missing}");
    assert!(missing.contains("one of devices 3, 7"), "{missing}");
    let all = with(DeviceChoice::SideBySide);
    let offsets: Vec<_> = all.requests.iter().map(|it| it.offset).collect();
    assert_eq!(offsets, [1 << 20, 0, (1 << 20) + 4096 * 512]);
}

#[test]
fn a_second_host_is_not_folded_onto_the_first() {
    let text = "1,hm,0,Read,0,512,1\n2,usr,0,Read,0,512,1\n";
    let error = read(text, &format(Format::Msr)).error.unwrap();
    assert_eq!(error.counts[&Cause::OtherHost], 1);
    assert!(error.to_string().contains("split the trace by host"), "{error}");
}

#[test]
fn a_trace_without_a_request_is_an_error() {
    for text in ["", "\n\n", "# only a remark\n", NATIVE, "\u{feff}"] {
        for options in [ReadOptions::default(), format(Format::Native), format(Format::Spc)] {
            let error = match read_as("t", text.as_bytes(), &options) {
                Ok(read) => read.error.unwrap(),
                Err(error) => error,
            };
            let text = error.to_string();
            assert!(text.contains("no request") || text.contains("`spc`"), "{text}");
        }
    }
}

fn gzip(text: &[u8], level: u32) -> Vec<u8> {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::new(level));
    packed.write_all(text).unwrap();
    packed.finish().unwrap()
}

/// A text packed in each way, the last of them not at all.
fn packed(text: &[u8]) -> [Vec<u8>; 3] {
    let mut zstd = zstd::stream::write::Encoder::new(Vec::new(), 1).unwrap();
    zstd.include_checksum(true).unwrap();
    zstd.write_all(text).unwrap();
    [gzip(text, 1), zstd.finish().unwrap(), text.to_vec()]
}

fn numbered(lines: u64) -> Vec<u8> {
    let lines = (0..lines).map(|n| format!("{n},read,{},512\n", n % 977 * 4096));
    (NATIVE.to_string() + &lines.collect::<String>()).into_bytes()
}

/// A damaged compressed file is reported even if only a few of its requests are read, provided that
/// checking it takes a moment.
#[test]
fn the_rest_of_a_packed_file_is_checked() {
    let path = std::env::temp_dir().join(format!("fowler-rest-{}.csv", std::process::id()));
    let checked = |bytes: &[u8], requests: usize| {
        std::fs::write(&path, bytes).unwrap();
        let mut reader = match TraceReader::open(&path, &ReadOptions::default()) {
            Ok(reader) => reader,
            Err(error) => return (Err(error.to_string()), false),
        };
        assert_eq!(reader.by_ref().take(requests).filter(Result::is_ok).count(), requests);
        let checked = reader.check_rest(|| true).map_err(|error| error.to_string());
        assert!(reader.next().is_none(), "it is at its end");
        (checked, reader.report().unchecked)
    };
    for lines in [5, 50_000] {
        let [gzip, zstd, plain] = packed(&numbered(lines));
        for bytes in [&gzip, &zstd, &plain] {
            assert_eq!(checked(bytes, 2), (Ok(()), false), "{lines} lines");
            assert_eq!(checked(bytes, lines as usize), (Ok(()), false), "{lines} lines");
        }
        for (mut bytes, trailer) in [(gzip, 8), (zstd, 4)] {
            let at = bytes.len() - trailer;
            bytes[at] ^= 1;
            for bytes in [&bytes[..], &bytes[..at]] {
                let (error, _) = checked(bytes, 2);
                let error = error.unwrap_err();
                assert!(error.contains("fowler-rest-"), "{error}");
                assert!(error.contains("reading failed"), "{lines} lines: {error}");
            }
        }
    }
    // This file is too long to be checked.
    let mut long = gzip(&numbered(1_100_000), 0);
    assert!(long.len() > 20 << 20, "{} bytes", long.len());
    *long.last_mut().unwrap() ^= 1;
    assert_eq!(checked(&long, 2), (Ok(()), true));
    // A caller that is stopped in the meantime does not wait.
    let [gzip, ..] = packed(&numbered(50_000));
    std::fs::write(&path, gzip).unwrap();
    let mut reader = TraceReader::open(&path, &ReadOptions::default()).unwrap();
    assert!(reader.next().is_some_and(|request| request.is_ok()));
    assert_eq!(reader.check_rest(|| false), Ok(()));
    assert!(reader.report().unchecked);
    std::fs::remove_file(&path).unwrap();
}

/// A stream that gives a byte at a time, is interrupted before each, and may fail at one.
struct Slow {
    bytes: Vec<u8>,
    at: usize,
    ready: bool,
    fails_at: usize,
}

impl std::io::Read for Slow {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let byte = self.fill_buf()?.first().copied();
        let Some(byte) = byte.filter(|_| !into.is_empty()) else { return Ok(0) };
        into[0] = byte;
        self.consume(1);
        Ok(1)
    }
}

impl BufRead for Slow {
    fn fill_buf(&mut self) -> std::io::Result<&[u8]> {
        if !std::mem::replace(&mut self.ready, true) {
            return Err(std::io::ErrorKind::Interrupted.into());
        }
        if self.at == self.fails_at {
            return Err(std::io::Error::from_raw_os_error(5));
        }
        Ok(&self.bytes[self.at..self.bytes.len().min(self.at + 1)])
    }

    fn consume(&mut self, count: usize) {
        self.at += count;
        self.ready &= count == 0;
    }
}

#[test]
fn every_read_of_a_stream_may_be_interrupted_or_fail() {
    for bytes in packed(&numbered(40)) {
        let read = |fails_at: usize| {
            let stream = Slow { bytes: bytes.clone(), at: 0, ready: false, fails_at };
            let reader =
                TraceReader::from_stream("t.csv", Box::new(stream), &ReadOptions::default())?;
            reader.collect::<Result<Vec<_>, _>>()
        };
        assert_eq!(read(usize::MAX).unwrap().len(), 40);
        for fails_at in 0..=bytes.len() {
            let error = read(fails_at).unwrap_err().to_string();
            assert!(error.contains("t.csv: ") && error.contains("os error 5"), "{error}");
        }
    }
}

#[test]
fn a_packed_text_that_breaks_off_is_read_up_to_there() {
    let lines: String =
        (0..50_000).map(|n| format!("{n},read,{},512\n", n * 7919 % 100_003)).collect();
    let text = format!("{NATIVE}{lines}");
    let zstd = zstd::encode_all(text.as_bytes(), 3).unwrap();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(text.as_bytes()).unwrap();
    for packed in [zstd, gzip.finish().unwrap()] {
        let whole = read_as("t", &packed, &ReadOptions::default()).unwrap();
        assert_eq!((whole.requests.len(), whole.error), (50_000, None));
        for cut in [packed.len() / 2, packed.len() - 1] {
            let torn = read_as("t.zst", &packed[..cut], &ReadOptions::default()).unwrap();
            let error = torn.error.expect("a torn file is an error").to_string();
            assert!(error.starts_with("t.zst: reading failed after line "), "{error}");
            assert!(error.contains("truncated"), "{error}");
            assert_eq!(torn.requests[..], whole.requests[..torn.requests.len()]);
            assert!(torn.requests.len() > 10_000, "{}", torn.requests.len());
        }
    }
}

#[test]
fn a_text_cut_inside_its_first_block_is_an_error_that_names_the_file() {
    let packed = zstd::encode_all(format!("{NATIVE}1,read,0,512\n").as_bytes(), 3).unwrap();
    for cut in 4..packed.len() {
        match read_as("t.zst", &packed[..cut], &ReadOptions::default()) {
            Ok(read) => assert!(read.error.is_some(), "cut at {cut}"),
            Err(error) => assert_eq!(error.file, "t.zst"),
        }
    }
}

#[test]
fn a_header_of_another_csv_is_refused_with_the_one_that_is_due() {
    let text = "time,op,lba,size\n1,read,0,512\n";
    let error = read(text, &format(Format::Native)).error.unwrap();
    assert_eq!(error.counts[&Cause::Header], 1);
    let text = error.to_string();
    assert!(text.contains("t.csv:1: the header row is missing"), "{text}");
    assert!(text.contains("expected: at_ns,op,offset,size"), "{text}");
}

#[test]
fn names_decide_only_between_formats_that_fit() {
    let name = |name: &str, text: &str| {
        read_as(name, text.as_bytes(), &ReadOptions::default()).map(|read| read.report.format)
    };
    let five = "979 0 287641400 128 1\n";
    assert_eq!(name("a.mqsim.trace", five), Ok(Format::Mqsim));
    assert_eq!(name("/mqsim/a.ssdsim-us.txt", five), Ok(Format::SsdsimUs));
    assert!(name("a.trace", five).is_err());
    assert!(name("a.disksim", five).is_err());
    let both = name("mqsim-or-ssdsim-us", five).unwrap_err().to_string();
    assert!(both.contains("choose one with --format"), "{both}");
}

#[test]
fn a_line_without_end_is_one_bad_line() {
    let text = format!("{NATIVE}1,read,0,512\n{}\n2,read,0,512\n", "9".repeat(1 << 20));
    let read = read(&text, &ReadOptions { lenient: Some(0.5), ..ReadOptions::default() });
    assert_eq!((read.requests.len(), read.error), (2, None));
    assert_eq!(read.report.skipped[&Cause::LineTooLong].count, 1);
}

#[test]
fn missing_files_and_folders_are_named() {
    let path = std::path::Path::new("no such trace.csv");
    let error = TraceReader::open(path, &ReadOptions::default()).err().unwrap().to_string();
    assert!(error.starts_with("no such trace.csv: opening failed: "), "{error}");
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let error = TraceReader::open(path, &ReadOptions::default()).err().unwrap().to_string();
    assert!(error.contains("a folder, not a trace"), "{error}");
}

#[test]
fn a_summary_is_no_trace_and_what_is_appended_to_it_is_not_lost() {
    let event = |time| format!("8,0 0 1 {time} 9 Q R 8 + 8 [x]\n8,0 0 2 {time} 9 C R 8 + 8 [0]\n");
    let summary = "CPU0 (8,0):\n Reads Queued:           1,        4KiB\n\nTotal (8,0):\n";
    let text = event("0.5") + summary + &event("0.7") + "rubbish\n";
    let read = read(&text, &format(Format::Blkparse));
    let times: Vec<_> = read.requests.iter().map(|it| it.at.0).collect();
    assert_eq!(times, [500_000_000, 700_000_000]);
    assert_eq!(read.report.remarks, 6);
    assert_eq!(read.error.unwrap().diagnostics[0].line, Some(9));
}
