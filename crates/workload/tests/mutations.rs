//! Damages valid traces of every format and of packed files in seeded, repeatable ways and reads
//! what is left: whatever the bytes, a reader ends with requests in order and at most one error,
//! and never panics. The `readers` target of the fuzzing crate does the same without end.

use fowler_units::Rng;
use fowler_workload::{Cause, DeviceChoice, Format, LATEST, ReadOptions, TraceReader, decode_line};
use std::io::{Cursor, Write};

/// Damaged inputs in all.
const INPUTS: u64 = 100_000;

/// A few valid lines of each format.
fn valid(format: Format) -> &'static str {
    match format {
        Format::Native => {
            "at_ns,op,offset,size\n0,read,0,4096\n7,write,4096,512\n7,trim,0,8192\n9,flush,0,0\n"
        }
        Format::Spc => {
            "0,20941264,8192,W,0.551706\n0,20939840,8192,w,0.554041\n1,3436288,512,R,1.01,x\n"
        }
        Format::Msr => {
            "128166385295514663,hm,0,Write,9056014336,2048,2833\n\
             128166385295514878,hm,0,Read,512,512,26\n"
        }
        Format::Disksim => "0.000000 0 8 16 1\n1.500000 0 24 8 0\n  2.25 1 0 1 a\n",
        Format::Mqsim | Format::SsdsimNs => {
            "0 0 303567 7 0\n26214000 1 240840 6 1\n26214001 0 8 8 1\n"
        }
        Format::SsdsimUs => "0 0 280605840 2 1\n979 0 287641400 128 0\n",
        Format::SsdsimDigest => {
            "0 0 160806224 8 0 3f4fc2833a17\n1851 0 73397240 8 1 2e568877a8c6\n"
        }
        Format::Flashsim => "26.214000\t0\t303574\t1\t0\n78.643000\t0\t55596\t1\t1\n",
        Format::Blkparse => {
            "259,2 0 1 0.000000000 4020 Q R 282624 + 8 [java]\n\
             259,2 0 2 0.000001581 4020 G R 282624 + 8 [java]\n\
             259,2 0 3 0.000002000 4020 Q FWS [jbd2]\n\
             259,2 0 4 0.000002000 4020 Q D 8 + 8 [x]\nCPU0 (259,2):\n Reads Queued: 1\n"
        }
        Format::Systor17 => {
            "Timestamp,Response,IOType,LUN,Offset,Size\n\
             1456095145.133076000,0.000806000,R,0,899056122368,131072\n\
             1456095145.126285000,,W,0,4256049987072,122880\n"
        }
        Format::Alibaba => {
            "419,W,8792731648,16384,1577808144360767\n419,R,512,512,1577808144360768\n"
        }
        Format::FlashsimBytes => "0.000 0 200626176 4096 0\n223.412 0 3159347200 36864 1\n",
    }
}

/// Pieces that are spliced in: numbers at the edges, separators, text that is none.
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
    }
}

/// Reads to the end; whether there was a request and whether there was an error.
fn outcome(bytes: Vec<u8>, options: &ReadOptions) -> (bool, bool) {
    let mut reader = match TraceReader::from_stream("t", Box::new(Cursor::new(bytes)), options) {
        Ok(reader) => reader,
        Err(error) => {
            assert!(!error.problems.is_empty() && !error.to_string().contains('\u{fffd}'));
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
        assert_eq!(report.lines, report.remarks + seen + bad, "every line is accounted for");
    }
    (requests > 0, failed)
}

#[test]
fn no_damage_makes_a_reader_panic_or_lose_count() {
    let mut rng = Rng::stream(2026, "mutations");
    let (mut read, mut refused) = (0u32, 0u32);
    for _ in 0..INPUTS {
        let format = Format::ALL[rng.below(Format::ALL.len() as u64) as usize];
        let mut bytes = valid(format).as_bytes().to_vec();
        damage(&mut bytes, &mut rng);
        let (requests, failed) = outcome(bytes, &options(&mut rng, format));
        read += u32::from(requests);
        refused += u32::from(failed);
        assert!(requests || failed, "either requests or an error");
    }
    assert!(read > 20_000 && refused > 20_000, "both are met often: {read}, {refused}");
}

/// A first line of each format with a time, and the same line at one that is too late.
#[test]
fn a_time_too_late_is_a_bad_line_in_every_format() {
    let last = |text: &str| text.lines().next_back().unwrap_or_default().to_string();
    for &format in Format::ALL {
        let (good, column, late) = match format {
            Format::Native => (valid(format).into(), 0, "18446744073709551615"),
            Format::Spc => (valid(format).into(), 4, "18446744073.7"),
            Format::Msr => ("1,hm,0,Write,9056014336,2048,2833\n".into(), 0, "184467440737095516"),
            Format::Systor17 => (
                "Timestamp,Response,IOType,LUN,Offset,Size\n0.1,0.1,R,0,0,512\n".into(),
                0,
                "9999999999.5",
            ),
            Format::Alibaba => ("419,W,0,16384,1\n".to_string(), 4, "18446744073709551"),
            Format::Blkparse => ("259,2 0 1 0.1 4020 Q R 8 + 8 [x]\n".into(), 3, "9999999999.5"),
            Format::SsdsimUs => (valid(format).into(), 0, "18446744073709551"),
            Format::Disksim | Format::Flashsim | Format::FlashsimBytes => {
                (valid(format).into(), 0, "18446744073709.5")
            }
            Format::Mqsim | Format::SsdsimNs | Format::SsdsimDigest => {
                (valid(format).into(), 0, "18446744073709551615")
            }
        };
        let mark = if last(&good).contains(',') && format != Format::Blkparse { "," } else { " " };
        let line = last(&good).replace('\t', " ");
        let mut cells: Vec<&str> = line.split(mark).filter(|cell| !cell.is_empty()).collect();
        cells[column] = late;
        let bad = format!("{good}{}\n", cells.join(mark));
        let device = DeviceChoice::SideBySide;
        let options = ReadOptions { format: Some(format), device, ..ReadOptions::default() };
        let stream = Box::new(Cursor::new(bad.clone().into_bytes()));
        let mut reader = TraceReader::from_stream("t", stream, &options).unwrap();
        let error = reader.by_ref().find_map(Result::err).unwrap_or_else(|| panic!("{bad}"));
        let counts: Vec<_> = error.counts.iter().map(|(cause, count)| (*cause, *count)).collect();
        assert_eq!(counts, [(Cause::TooLarge, 1)], "{format}: {error}");
        assert_eq!(error.problems[0].line, Some(bad.lines().count() as u64), "{format}: {error}");
    }
}

#[test]
fn no_damage_to_a_packed_file_makes_a_reader_panic() {
    let mut rng = Rng::stream(2026, "mutations/packed");
    for round in 0..4_000 {
        let format = Format::ALL[rng.below(Format::ALL.len() as u64) as usize];
        let mut bytes = if round % 2 == 0 {
            zstd::encode_all(valid(format).as_bytes(), 1).unwrap()
        } else {
            let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            gzip.write_all(valid(format).as_bytes()).unwrap();
            gzip.finish().unwrap()
        };
        damage(&mut bytes, &mut rng);
        outcome(bytes, &options(&mut rng, format));
    }
}

#[test]
fn no_line_makes_a_decoder_panic() {
    let mut rng = Rng::stream(2026, "mutations/lines");
    for _ in 0..100_000 {
        let format = Format::ALL[rng.below(Format::ALL.len() as u64) as usize];
        let mut line = valid(format).lines().last().unwrap_or_default().as_bytes().to_vec();
        damage(&mut line, &mut rng);
        match decode_line(format, &line) {
            Ok(record) => {
                assert!(record.io.offset.checked_add(u64::from(record.io.size)).is_some())
            }
            Err(fault) => assert!(!fault.problem().what.is_empty()),
        }
    }
}
