//! Traces, in every format and with any options, packed or not.
//!
//! The first byte chooses the format (or detection), the second the options. The rest is the text.

use crate::refused_in_words;
use fowler_units::HostIo;
use fowler_workload::{
    CsvColumns, DeviceChoice, Format, OptionalColumns, ReadOptions, TraceReader, decode_line,
    write_native,
};
use std::io::{Cursor, Write};

/// Lists of columns of a CSV.
const COLUMNS: [&str; 4] = [
    "ts=us,op=rw,lba=512,len=bytes",
    "dev=name,ts=s,op=1=read,lba=bytes,len=4096,...",
    "ts=100ns,_,op=0=read,lba=512,len=512,dev=number,header",
    "ts=ms,op=rw,lba=1,len=1,blanks",
];

/// The most requests that are read: a few lines that trim 256 TiB each make millions of pieces.
const LONGEST: usize = 1 << 20;

fn columns(choice: u8) -> CsvColumns {
    CsvColumns::parse(COLUMNS[usize::from(choice >> 6)]).expect("the columns above are valid")
}

fn options(format: u8, choice: u8) -> ReadOptions {
    let format = Format::ALL.get(usize::from(format) % (Format::ALL.len() + 1)).copied();
    ReadOptions {
        format,
        lenient: [None, Some(0.0), Some(0.5), Some(1.0)][usize::from(choice & 3)],
        reorder_window: [1, 2, 16, 4096][usize::from(choice >> 2 & 3)],
        device: [
            DeviceChoice::Default,
            DeviceChoice::Only(0),
            DeviceChoice::Only(1),
            DeviceChoice::SideBySide,
        ][usize::from(choice >> 4 & 3)],
        columns: (format == Some(Format::Csv)).then(|| columns(choice)),
        spread: None,
    }
}

/// Returns the requests before the error, if any, and whether there was one.
fn read(text: &[u8], options: &ReadOptions) -> (Vec<HostIo>, bool) {
    let stream = Box::new(Cursor::new(text.to_vec()));
    let mut reader = match TraceReader::from_stream("fuzz", stream, options) {
        Ok(reader) => reader,
        Err(error) => {
            refused_in_words(&error);
            return (Vec::new(), true);
        }
    };
    let (mut requests, mut failed) = (Vec::new(), false);
    for request in reader.by_ref() {
        assert!(!failed, "an error comes last");
        match request {
            Ok(_) if requests.len() == LONGEST => return (requests, false),
            Ok(request) => requests.push(request),
            Err(error) => {
                failed = true;
                refused_in_words(&error);
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
        assert_eq!(report.lines + report.added, report.remarks + seen + bad);
        assert!(!requests.is_empty(), "either requests or an error");
    }
    (requests, failed)
}

/// A reader returns requests in order and at most one error, and accounts for every line. Writing
/// its requests as a native trace and reading that gives the same requests.
pub fn check(input: &[u8]) -> bool {
    let [format, choice, text @ ..] = input else { return false };
    let options = options(*format, *choice);
    if let Some(format) = options.format {
        for line in text.split(|&byte| byte == b'\n') {
            let _ = decode_line(format, line);
        }
    }
    let (requests, _) = read(text, &options);
    assert!(requests.iter().map(|request| request.at).is_sorted());
    let fits = |io: &HostIo| io.offset.checked_add(u64::from(io.size)).is_some();
    assert!(requests.iter().all(fits), "a range beyond 2^64");
    if requests.is_empty() || requests.len() == LONGEST {
        return !requests.is_empty();
    }
    let mut native = Vec::new();
    let columns = OptionalColumns::used_by(requests.iter().copied());
    write_native(requests.iter().copied().map(Ok), columns, &mut native)
        .expect("memory takes any trace");
    let again = read(&native, &ReadOptions::default());
    assert_eq!(again, (requests, false), "a native trace reads back the same");
    true
}

/// Files that are recognised by a header, by their values, or as no traces.
const RECOGNISED: [&str; 9] = [
    "time_s,device,rw,offset,length\n0.5,nvme0n1,r,4096,4096\n0.6,nvme0n1,w,8192,8192\n",
    "device_id,opcode,offset,length,timestamp\n419,W,8192,16384,1577808000000046\n",
    "op,queue,size,at_ns,offset\nR,3,4096,10,4096\nW,,16384,20,1048576\n",
    "0.000000000 Q R 9838272 8\n0.000113221 Q W 48379216 8\n",
    "[\n{\"time_us\":7.5,\"rw\":\"w\",\"offset\":8,\"len\":512},\n{\"ts\":8,\"op\":\"FF\"}\n]\n",
    "3500, 2497, 1, 0, 0\n3550, 2471, 1, 0, 0\n",
    "500, 1073152, 0, 4096, 0, 0\n1000, 1069056, 0, 4096, 0, 0\n",
    "{\"fio version\":\"fio-3.36\",\"jobs\":[{\"read\":{\"iops\":5.5,\"bw\":22}}]}",
    "Device r/s rkB/s w/s wkB/s %util\nsda 1.5 6 2 64 3\n",
];

/// An example of each format with its name known and with detection, and packed; and what is
/// recognised otherwise.
pub fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for (number, format) in Format::ALL.iter().enumerate() {
        let text = format.example();
        let side_by_side = 0b11_1101;
        seeds.push([&[number as u8, side_by_side], text].concat());
        seeds.push([&[Format::ALL.len() as u8, 0], text].concat());
    }
    for text in RECOGNISED {
        seeds.push([&[Format::ALL.len() as u8, 0b11_0000], text.as_bytes()].concat());
    }
    let detected = |packed: Vec<u8>| [vec![Format::ALL.len() as u8, 0], packed].concat();
    let text = Format::ALL[0].example();
    seeds.push(detected(zstd::encode_all(text, 1).expect("memory")));
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(text).expect("memory");
    seeds.push(detected(gzip.finish().expect("memory")));
    seeds
}
