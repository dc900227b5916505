//! `--parse`: how fast traces are read into `HostIo`, in megabytes of text per second on one core.
//! Measures plain text, text compressed with zstd, and decompression alone, which can take longer
//! than reading.
//!
//! The text of a format is an excerpt of a real trace if there is one, else seeded random lines. It
//! is repeated with times that keep rising. The repetition must not make the reader look faster
//! than on a real trace. So each repetition is a zstd frame of its own, or zstd would find the
//! repetition, and it shuffles everything but the times, or the processor would learn to predict
//! the number of digits.

use crate::{generated_traces, traces};
use fowler_units::Rng;
use fowler_workload::{Cause, CsvColumns, Format, ReadOptions, TraceReader, decode_line};
use std::fmt::Write;
use std::io::{Cursor, Read};
use std::sync::Arc;
use std::time::Instant;

/// Size of the text of each trace format, in bytes.
const TEXT_BYTES: usize = 200_000_000;
/// Compression level of zstd: the default of its command.
const LEVEL: i32 = 3;
/// Number of seeded random lines in a format without an excerpt.
const LINES: usize = 100_000;

/// Excerpts of real traces, the largest of each format. Other formats have none.
const EXCERPTS: &[(Format, &str)] = &[
    (Format::Msr, "MSR.hm.sample1000.csv.zst"),
    (Format::Mqsim, "WebSearch1.first60s.mqsim.trace.zst"),
    (Format::SsdsimNs, "Financial1.first10k.ssdsim.ascii.zst"),
    (Format::SsdsimUs, "DTRS.5min.ssdsim.trace.zst"),
    (Format::SsdsimDigest, "FIU.homes.sample1000.ssdsim.zst"),
    (Format::Flashsim, "WebSearch1.first50k.flashsim.trace.zst"),
    (Format::MsrCut, "MSR.cut10k.rw_20_80.105.trace.zst"),
    (Format::Blkparse, "YCSB-RocksDB.ssdtrace.sample10k.blkparse.zst"),
    (Format::Systor17, "Systor17.traces.sample1000.csv.zst"),
];

/// A compressed trace text.
struct Packed {
    frames: Arc<[u8]>,
    text_bytes: usize,
    lines: usize,
    source: &'static str,
}

/// Measures and prints how fast the traces of each format are read.
pub fn print(named: &[String], rounds: usize) {
    let wanted = |name: &str| named.is_empty() || named.iter().any(|part| name.contains(part));
    println!(
        "| format | text | MB/s | ns/line | packed to | packed, MB/s | M records/s | ns/record \
         | ns/line | zstd alone, MB/s | ns/line without zstd |"
    );
    println!("|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|");
    for &format in Format::ALL.iter().filter(|format| wanted(format.name())) {
        let packed = packed(format);
        let text = zstd::decode_all(&packed.frames[..]).unwrap_or_else(|error| panic!("{error}"));
        let text: Arc<[u8]> = text.into();
        let (mut plain, mut read, mut unpacked) = (Vec::new(), Vec::new(), Vec::new());
        let mut records = 0;
        for _ in 0..rounds {
            plain.push(read_all(format, &text).0);
            let (seconds, count) = read_all(format, &packed.frames);
            records = count;
            read.push(seconds);
            unpacked.push(unpack_all(&packed));
        }
        let [plain, read, unpacked] =
            [plain, read, unpacked].map(|mut rounds| crate::table::median(&mut rounds));
        let (megabytes, lines) = (packed.text_bytes as f64 / 1e6, packed.lines as f64);
        println!(
            "| {format} | {} | {:.0} | {:.1} | {:.0} % | {:.0} | {:.2} | {:.1} | {:.1} | {:.0} | {:.1} |",
            packed.source,
            megabytes / plain,
            plain * 1e9 / lines,
            packed.frames.len() as f64 / packed.text_bytes as f64 * 100.0,
            megabytes / read,
            records as f64 / read / 1e6,
            read * 1e9 / records as f64,
            read * 1e9 / lines,
            megabytes / unpacked,
            (read - unpacked) * 1e9 / lines,
        );
    }
}

/// Reads a trace text, compressed or not. Returns the time in seconds and the number of requests.
/// Never inlined, so that profilers show it.
#[inline(never)]
fn read_all(format: Format, text: &Arc<[u8]>) -> (f64, u64) {
    let stream = Box::new(Cursor::new(Arc::clone(text)));
    let columns = (format == Format::Csv).then(CsvColumns::default);
    let options = ReadOptions { format: Some(format), columns, ..ReadOptions::default() };
    let start = Instant::now();
    let reader = TraceReader::from_stream("parse", stream, &options)
        .unwrap_or_else(|error| panic!("{error}"));
    let (mut count, mut sum) = (0, 0u64);
    for request in reader {
        let request = request.unwrap_or_else(|error| panic!("{error}"));
        count += 1;
        sum = sum.wrapping_add(request.at.0 ^ request.offset ^ u64::from(request.size));
    }
    std::hint::black_box(sum);
    (start.elapsed().as_secs_f64(), count)
}

/// Decompresses a trace text without reading it. Returns the time in seconds.
fn unpack_all(packed: &Packed) -> f64 {
    let mut buffer = vec![0; 1 << 18];
    let start = Instant::now();
    let mut text = zstd::stream::read::Decoder::with_buffer(&packed.frames[..])
        .unwrap_or_else(|error| panic!("{error}"));
    let mut total = 0;
    loop {
        match text.read(&mut buffer).unwrap_or_else(|error| panic!("{error}")) {
            0 => break,
            count => total += count,
        }
        std::hint::black_box(&buffer);
    }
    assert_eq!(total, packed.text_bytes);
    start.elapsed().as_secs_f64()
}

/// Returns the trace text of a format, repeated and compressed.
fn packed(format: Format) -> Packed {
    if let Some((pieces, lines)) = generated_traces::pieces(format, TEXT_BYTES) {
        let text_bytes = pieces.iter().map(Vec::len).sum();
        let frame = |piece: &Vec<u8>| {
            zstd::bulk::compress(piece, LEVEL).unwrap_or_else(|error| panic!("{error}"))
        };
        let frames: Vec<u8> = pieces.iter().flat_map(frame).collect();
        return Packed { frames: frames.into(), text_bytes, lines, source: "seeded" };
    }
    let excerpt = excerpt(format);
    let source = if excerpt.is_some() { "excerpt" } else { "seeded" };
    let text = excerpt.unwrap_or_else(|| seeded(format));
    let once = Lines::of(format, &text);
    let (mut frames, mut rng) = (Vec::new(), Rng::stream(2, format.name()));
    let (mut text_bytes, mut lines) = (0, 0);
    while text_bytes < TEXT_BYTES {
        let mut copy = String::new();
        if let (0, Some(header)) = (lines, format.header()) {
            copy = format!("{header}\n");
            lines += 1;
        }
        once.append_shifted(&mut copy, (lines / once.lines.len()) as u64, &mut rng);
        lines += once.lines.len();
        text_bytes += copy.len();
        let frame = zstd::bulk::compress(copy.as_bytes(), LEVEL);
        frames.extend(frame.unwrap_or_else(|error| panic!("{error}")));
    }
    Packed { frames: frames.into(), text_bytes, lines, source }
}

/// Returns the text of the real trace of a format; `None` if there is none.
fn excerpt(format: Format) -> Option<String> {
    let (_, file) = EXCERPTS.iter().find(|(of, _)| *of == format)?;
    let packed = std::fs::read(traces::path(file)?).expect("an excerpt");
    let text = zstd::decode_all(&packed[..]).unwrap_or_else(|error| panic!("{error}"));
    Some(String::from_utf8(text).unwrap_or_else(|error| panic!("{error}")))
}

/// Lines of a trace text that are events, with the positions of their times and devices.
struct Lines<'a> {
    lines: Vec<Line<'a>>,
    /// Time from the first event to just after the last one, in units of the last digit printed.
    span: u64,
}

struct Line<'a> {
    text: &'a str,
    /// Range of bytes in `text` that holds the time.
    time: std::ops::Range<usize>,
    /// Range of bytes that holds the device number, if it must be made the same on all lines.
    device: Option<std::ops::Range<usize>>,
}

/// Returns the digits of a printed time as one number, and the number of digits after the decimal
/// point.
fn digits(time: &str) -> (u64, usize) {
    let decimals = time.split_once('.').map_or(0, |(_, fraction)| fraction.len());
    let digits: String = time.chars().filter(|&digit| digit != '.').collect();
    (digits.parse().unwrap_or_else(|error| panic!("{time}: {error}")), decimals)
}

impl<'a> Lines<'a> {
    fn of(format: Format, text: &'a str) -> Lines<'a> {
        let commas = format.columns().contains(',');
        let mut columns = format.columns().split(if commas { ',' } else { ' ' });
        let is_time = |name: &str| name.split('[').next() == Some(format.time_column());
        let time = columns.position(is_time).expect("every format has a time");
        let device = matches!(format, Format::Mqsim | Format::SsdsimNs).then_some(1);
        let is_event = |line: &&str| match decode_line(format, line.as_bytes()) {
            Ok(_) => true,
            Err(fault) => fault.cause == Cause::OtherEvent,
        };
        let lines: Vec<Line> = text
            .lines()
            .filter(is_event)
            .map(|text| {
                let separates = |c: char| if commas { c == ',' } else { c == ' ' || c == '\t' };
                let fields = text.split(separates).filter(|field| commas || !field.is_empty());
                let places: Vec<_> = fields
                    .map(|field| {
                        let start = field.as_ptr().addr() - text.as_ptr().addr();
                        start..start + field.len()
                    })
                    .collect();
                let device = device.map(|column| places[column].clone());
                Line { text, time: places[time].clone(), device }
            })
            .collect();
        let times = || lines.iter().map(|line| digits(&line.text[line.time.clone()]).0);
        let (first, last) = (times().min().unwrap_or(0), times().max().unwrap_or(0));
        Lines { lines, span: last - first + 1 }
    }

    /// Appends all lines of the trace in random order, but with their times in order, `rounds`
    /// spans later and for device 0.
    fn append_shifted(&self, copy: &mut String, rounds: u64, rng: &mut Rng) {
        let mut order: Vec<usize> = (0..self.lines.len()).collect();
        for place in (1..order.len()).rev() {
            order.swap(place, rng.below(place as u64 + 1) as usize);
        }
        for (timed, drawn) in self.lines.iter().zip(order) {
            let Line { text, time, device } = &self.lines[drawn];
            let (shifted, decimals) = digits(&timed.text[timed.time.clone()]);
            let shifted = shifted + rounds * self.span;
            let unit = 10u64.pow(decimals as u32);
            let (whole, fraction) = (shifted / unit, shifted % unit);
            copy.push_str(&text[..time.start]);
            match decimals {
                0 => write!(copy, "{whole}"),
                _ => write!(copy, "{whole}.{fraction:0decimals$}"),
            }
            .expect("a string takes any text");
            match device {
                Some(device) => {
                    copy.push_str(&text[time.end..device.start]);
                    copy.push('0');
                    copy.push_str(&text[device.end..]);
                }
                None => copy.push_str(&text[time.end..]),
            }
            copy.push('\n');
        }
    }
}

/// Returns seeded random lines of a trace format.
fn seeded(format: Format) -> String {
    let mut rng = Rng::stream(1, format.name());
    let mut text = String::new();
    let from = if format == Format::Msr { 128_166_385_295_514_663 } else { 0 };
    let mut at: u64 = from;
    for _ in 0..LINES {
        at += rng.below(200_000);
        let (read, sector, pages) = (rng.chance(0.6), rng.below(1 << 28), 1 + rng.below(16));
        line(&mut text, format, &mut rng, (at, read, sector, pages));
        text.push('\n');
    }
    text
}

/// Returns the first record in the example of a trace format.
fn record(format: Format) -> &'static str {
    let decodes = |line: &&str| decode_line(format, line.as_bytes()).is_ok();
    let example = str::from_utf8(format.example()).unwrap_or_else(|error| panic!("{error}"));
    example.lines().find(decodes).expect("an example has a record")
}

/// Appends one line to a trace: its time in the format's unit, whether it is a read, its first
/// sector, and its number of pages.
fn line(
    text: &mut String,
    format: Format,
    rng: &mut Rng,
    (at, read, sector, pages): (u64, bool, u64, u64),
) {
    let (offset, bytes, sectors) = (sector * 512, pages * 4096, pages * 8);
    let (code, letter) = (u8::from(read), if read { 'R' } else { 'W' });
    let (whole, fraction) = (at / 1_000_000, at % 1_000_000);
    match format {
        Format::Native => {
            let word = if read { "read" } else { "write" };
            write!(text, "{at},{word},{offset},{bytes}")
        }
        Format::Spc => write!(text, "0,{sector},{bytes},{letter},{whole}.{fraction:06}"),
        Format::Msr => {
            let word = if read { "Read" } else { "Write" };
            write!(text, "{at},hm,0,{word},{offset},{bytes},{}", rng.below(9999))
        }
        Format::Mqsim | Format::SsdsimNs | Format::SsdsimUs => {
            write!(text, "{at} 0 {sector} {sectors} {code}")
        }
        Format::SsdsimDigest => write!(text, "{at} 0 {sector} {sectors} {code} ")
            .and_then(|()| (0..16).try_for_each(|_| write!(text, "{:016x}", rng.bits()))),
        Format::Disksim => write!(text, "{whole}.{fraction:06} 0 {sector} {sectors} {code}"),
        Format::Flashsim => write!(text, "{whole}.{fraction:06}\t0\t{sector}\t{pages}\t{code}"),
        Format::MsrCut => {
            write!(text, "{whole}.{:03} 0 {offset} {bytes} {code}", fraction / 1000)
        }
        Format::Blkparse => write!(
            text,
            "259,2    0 {:8} {:5}.{:09}  4020  Q   {letter} {sector} + {sectors} [java]",
            rng.below(1_000_000),
            at / 1_000_000_000,
            at % 1_000_000_000,
        ),
        Format::Systor17 => {
            write!(text, "{whole}.{fraction:06}000,0.000806000,{letter},0,{offset},{bytes}")
        }
        Format::Tencent => {
            let code = 1 - code;
            write!(text, "{},{sector},{sectors},{code},1058", 1_538_323_200 + at / 1_000_000_000)
        }
        Format::Fiu => {
            write!(text, "{at} 4892 syslogd {sector} {sectors} {letter} 6 0 {:032x}", rng.bits())
        }
        Format::FioIolog3 => {
            let word = if read { "read" } else { "write" };
            write!(text, "{at} /dev/nvme0n1 {word} {offset} {bytes}")
        }
        Format::FioLog => {
            let code = 1 - code;
            write!(text, "{at}, {}, {code}, {bytes}, {offset}, 0x0000", rng.below(999_999))
        }
        Format::Alibaba => write!(text, "419,{letter},{offset},{bytes},{at}"),
        // Other formats repeat the record of their example; `append_shifted` sets the times.
        _ => text.write_str(record(format)),
    }
    .expect("a string takes any text");
}
