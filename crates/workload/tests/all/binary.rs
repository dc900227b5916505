//! Reads binary traces, named devices and user-defined columns: truncated files, bad records,
//! skipped events.

use fowler_units::{HostIo, HostOp};
use fowler_workload::{
    Cause, CsvColumns, DeviceChoice, Format, FormatSource, ReadOptions, ReadReport, Spread,
    TraceError, TraceInfo, TraceReader,
};
use std::io::Cursor;

/// Requests, the error and the report of a reading.
type Read = (Vec<HostIo>, Option<TraceError>, ReadReport);

fn read(name: &str, bytes: &[u8], options: &ReadOptions) -> Result<Read, TraceError> {
    let mut reader =
        TraceReader::from_stream(name, Box::new(Cursor::new(bytes.to_vec())), options)?;
    let (mut requests, mut error) = (Vec::new(), None);
    for request in reader.by_ref() {
        match request {
            Ok(request) => requests.push(request),
            Err(it) => error = Some(it),
        }
    }
    Ok((requests, error, reader.report().clone()))
}

fn of_each() -> ReadOptions {
    ReadOptions { device: DeviceChoice::Each, ..ReadOptions::default() }
}

fn times(requests: &[HostIo]) -> Vec<u64> {
    requests.iter().map(|request| request.at.0).collect()
}

#[test]
fn a_binary_trace_is_detected_and_read_whatever_its_pieces() {
    for (format, expected, remarks) in [
        (Format::Vscsi1, &[0, 1_000][..], 1),
        (Format::Vscsi2, &[0, 1_000], 1),
        (Format::Blktrace, &[0, 2], 1),
        (Format::Srt, &[0, 1_000_000_000], 0),
    ] {
        let (requests, error, report) = read("t", format.example(), &of_each()).unwrap();
        assert_eq!((report.format, report.format_source), (format, FormatSource::Text));
        assert_eq!((error, times(&requests), report.remarks), (None, expected.to_vec(), remarks));
        assert!(!report.cut, "{format}");
        let packed = zstd::encode_all(format.example(), 1).unwrap();
        assert_eq!(read("t", &packed, &of_each()).unwrap().0, requests, "{format}");
    }
}

#[test]
fn a_binary_trace_that_shows_nothing_needs_its_name_or_the_flag() {
    let bytes = Format::OracleGeneral.example();
    let (requests, _, report) = read("w12.oracleGeneral.zst", bytes, &of_each()).unwrap();
    assert_eq!((report.format, report.format_source), (Format::OracleGeneral, FormatSource::Name));
    assert_eq!(times(&requests), [0, 500_000_000], "spread over the second");
    assert!(report.notes[0].contains("no operations") && report.notes[1].contains("whole seconds"));
    let error = read("w12.bin", bytes, &of_each()).expect_err("nothing shows it").to_string();
    assert!(error.contains("--format oracle-general"), "{error}");
    let given = ReadOptions {
        format: Some(Format::OracleGeneral),
        spread: Some(Spread::None),
        ..ReadOptions::default()
    };
    assert_eq!(times(&read("w12.bin", bytes, &given).unwrap().0), [0, 0]);
}

#[test]
fn a_record_cut_short_is_an_error_after_those_before_it() {
    for format in [Format::Vscsi1, Format::Vscsi2, Format::Blktrace, Format::Srt] {
        let bytes = format.example();
        let options = ReadOptions { format: Some(format), ..of_each() };
        for cut in 1..20 {
            let (requests, error, report) =
                read("t", &bytes[..bytes.len() - cut], &options).unwrap();
            let error = error.unwrap();
            assert!(!requests.is_empty(), "{format}, {cut}");
            assert_eq!(error.counts.keys().collect::<Vec<_>>(), [&Cause::CutShort], "{error}");
            assert_eq!(error.diagnostics[0].line, Some(report.lines));
            let text = error.to_string();
            assert!(text.contains("record at byte ") && text.contains("cut short"), "{text}");
        }
    }
}

#[test]
fn where_records_cannot_be_found_any_more_the_reading_ends_and_says_so() {
    let mut bytes = Format::Blktrace.example().to_vec();
    bytes[51] = 0xff;
    bytes.extend_from_slice(Format::Blktrace.example());
    let options = ReadOptions { format: Some(Format::Blktrace), ..of_each() };
    let (requests, error, report) = read("t", &bytes, &options).unwrap();
    let error = error.unwrap();
    assert_eq!((requests.len(), report.lines, error.counts[&Cause::BadRecord]), (1, 2, 1));
    let text = error.to_string();
    assert!(text.contains("t:2: record at byte 48: not a record\n    text: 077461ff"), "{text}");
    assert!(text.contains("the rest of the file was not read"), "{text}");
    // Version 8 is recognized by its number.
    let mut bytes = Format::Blktrace.example().to_vec();
    bytes[0] = 8;
    let text = read("t", &bytes, &of_each()).unwrap().1.unwrap().to_string();
    assert!(text.contains("`magic` is 08746165") && text.contains("version 7"), "{text}");
    assert!(text.contains("blkparse"), "{text}");
}

#[test]
fn a_binary_trace_is_no_text_and_the_other_way_around() {
    for (format, bytes, hint) in [
        (Format::Msr, Format::Vscsi1.example(), "`vscsi1`"),
        (Format::Native, Format::Blktrace.example(), "`blktrace`"),
        (Format::Vscsi2, Format::Vscsi1.example(), "`vscsi1`"),
    ] {
        let options = ReadOptions { format: Some(format), ..of_each() };
        let error = read("t", bytes, &options).unwrap().1.unwrap();
        assert!(error.diagnostics[0].what.contains("does not look like"), "{error}");
        assert!(error.diagnostics[0].hint.as_ref().unwrap().contains(hint), "{error}");
    }
    for binary in Format::ALL.iter().copied().filter(|format| format.is_binary()) {
        for text in Format::ALL.iter().copied().filter(|format| !format.is_binary()) {
            let options = ReadOptions { format: Some(binary), ..of_each() };
            let (requests, error, _) = read("t", text.example(), &options).unwrap();
            assert!(error.is_some() && requests.is_empty(), "{text} as {binary}");
        }
    }
}

#[test]
fn devices_have_their_names_and_each_its_own_statistics() {
    let text = "fio version 3 iolog\n1 /dev/b read 0 4096\n2 /dev/a write 0 4096\n\
                3 /dev/b read 4096 4096\n4 /dev/b sync\n";
    let error = read("t", text.as_bytes(), &ReadOptions::default()).unwrap().1.unwrap().to_string();
    assert!(
        error.contains("device 0 (/dev/b): 3 requests, device 1 (/dev/a): 1 request"),
        "{error}"
    );
    let stream = Box::new(Cursor::new(text));
    let mut reader = TraceReader::from_stream("t", stream, &of_each()).unwrap();
    let (devices, all) = TraceInfo::of_each(&mut reader).unwrap();
    assert_eq!(reader.report().device_names, ["/dev/b", "/dev/a"]);
    assert_eq!(devices.keys().collect::<Vec<_>>(), [&0, &1]);
    assert_eq!((devices[&0].total_requests(), devices[&0].footprint.0), (3, 8192));
    assert_eq!((devices[&0].sequential_share, devices[&1].sequential_share), (0.5, 0.0));
    assert_eq!((all.total_requests(), all.footprint.0, all.highest_byte), (4, 12_288, 8192));
    assert_eq!(all.sequential_share, 1.0 / 3.0, "requests of another device do not come between");
}

#[test]
fn waits_of_an_iolog_are_its_clock() {
    let text = str::from_utf8(Format::FioIolog2.example()).unwrap();
    let (requests, error, report) = read("t", text.as_bytes(), &ReadOptions::default()).unwrap();
    assert_eq!((error, times(&requests)), (None, vec![0, 250_000, 250_000, 250_000]));
    assert_eq!((report.notes.len(), report.remarks), (0, 5));
    let without = text.replace("/dev/sda wait 250 0\n", "");
    let (requests, _, report) = read("t", without.as_bytes(), &ReadOptions::default()).unwrap();
    assert_eq!(times(&requests), [0; 4]);
    assert!(report.notes[0].contains("--queue-depth"), "{:?}", report.notes);
}

#[test]
fn a_csv_is_what_its_columns_say() {
    let csv = |columns: &str| ReadOptions {
        columns: Some(CsvColumns::parse(columns).unwrap()),
        ..of_each()
    };
    let text = "when,what,where,from,much\n5.5,R,sdb,8,512\n6,w,sda,16,1024\n";
    let options = csv("ts=us,op=rw,dev=name,lba=512,len=bytes,header");
    let (requests, error, report) = read("t", text.as_bytes(), &options).unwrap();
    assert_eq!((error, times(&requests)), (None, vec![0, 500]));
    assert_eq!((requests[1].op, requests[1].offset), (HostOp::Write, 8192));
    assert_eq!((report.format, report.remarks), (Format::Csv, 1));
    assert_eq!(report.device_names, ["sdb", "sda"]);
    // Without the word, the header is a bad line.
    let options = csv("ts=us,op=rw,dev=name,lba=512,len=bytes");
    let error = read("t", text.as_bytes(), &options).unwrap().1.unwrap().to_string();
    assert!(error.contains("t:1: `when` in `ts` is not a number"), "{error}");
    let spread = ReadOptions { spread: Some(Spread::Even), ..csv("ts=s,op=1=read,lba=1,len=1") };
    assert_eq!(times(&read("t", b"7,1,0,1\n7,0,0,1\n", &spread).unwrap().0), [0, 500_000_000]);
}

#[test]
fn options_that_contradict_are_refused() {
    let csv = || Some(CsvColumns::default());
    let spc = Some(Format::Spc);
    let default = ReadOptions::default();
    for (options, what) in [
        (
            ReadOptions { columns: csv(), format: spc, ..default.clone() },
            "does not apply to format",
        ),
        (ReadOptions { format: Some(Format::Csv), ..default.clone() }, "needs a list of columns"),
        (ReadOptions { format: spc, spread: Some(Spread::Even), ..default }, "finer than a second"),
    ] {
        let error = read("t", b"0,8,512,R,0.5\n", &options).expect_err(what).to_string();
        assert!(error.contains(what) && error.contains("hint: "), "{error}");
    }
}

#[test]
fn the_output_of_biosnoop_bt_is_refused_with_the_reason() {
    let text = "Attaching 4 probes...\nTIME(ms)     DISK    COMM             PID    LAT(ms)\n\
                611          nvme0n1 bash             4179        10\n";
    let error = read("t", text.as_bytes(), &of_each()).err().unwrap().to_string();
    assert!(error.contains("neither addresses nor sizes") && error.contains("bcc"), "{error}");
}

/// A file with millions of device names is refused before it fills the memory.
#[test]
fn devices_are_bounded() {
    let named: String = (0..70_000).map(|n| format!("{n} file{n} read 0 512\n")).collect();
    let named = format!("fio version 3 iolog\n{named}");
    let numbered: String =
        (0..70_000).map(|n| format!("{n},R,0,512,{}\n", 1_577_808_000_000_000u64 + n)).collect();
    for text in [named, numbered] {
        let error = read("t", text.as_bytes(), &of_each()).unwrap().1.unwrap().to_string();
        assert!(error.contains("more than 65"), "{error}");
    }
}
