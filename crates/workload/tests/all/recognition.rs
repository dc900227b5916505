//! Files without a known format: headers, unknown columns, averages and results. Files without
//! requests are refused, and a refusal says how the file can be read.

use fowler_tests::shared_folder;
use fowler_units::{HostIo, HostOp, Nanos};
use fowler_workload::{
    CsvColumns, DeviceChoice, Format, ReadOptions, ReadReport, TraceError, TraceReader,
};
use std::io::Cursor;

/// Reads a text with its devices side by side.
pub(crate) fn read_with(
    text: &[u8],
    options: ReadOptions,
) -> Result<(Vec<HostIo>, ReadReport), TraceError> {
    let options = ReadOptions { device: DeviceChoice::SideBySide, ..options };
    let stream = Box::new(Cursor::new(text.to_vec()));
    let mut reader = TraceReader::from_stream("t", stream, &options)?;
    let requests = reader.by_ref().collect::<Result<Vec<_>, _>>()?;
    Ok((requests, reader.report().clone()))
}

pub(crate) fn read(text: &str) -> Result<(Vec<HostIo>, ReadReport), TraceError> {
    read_with(text.as_bytes(), ReadOptions::default())
}

fn refused(text: &str) -> String {
    read(text).expect_err(text).to_string()
}

/// Returns a list of columns that a message proposes.
fn proposed(message: &str) -> CsvColumns {
    let from = message.find("--columns ").unwrap_or_else(|| panic!("{message}")) + 10;
    let end = message[from..].find([' ', ';', '\n']).map_or(message.len(), |it| from + it);
    CsvColumns::parse(&message[from..end]).unwrap_or_else(|error| panic!("{error}: {message}"))
}

/// A format's own list of columns reads its example as the format does.
#[test]
fn the_columns_of_a_format_read_it_as_the_format_does() {
    let mut tried = 0;
    for &format in Format::ALL {
        let example = format.example().to_vec();
        let options = ReadOptions { format: Some(format), ..ReadOptions::default() };
        let Ok((own, _)) = read_with(&example, options) else { continue };
        let Some(columns) = format.as_columns() else { continue };
        let columns = Some(CsvColumns::parse(columns).unwrap());
        let spread = format.has_whole_seconds().then(Default::default);
        let options = ReadOptions { columns, spread, ..ReadOptions::default() };
        let (again, _) = read_with(&example, options).unwrap_or_else(|it| panic!("{format}: {it}"));
        let first = own[0].at.0;
        let from_first: Vec<HostIo> =
            own.iter().map(|io| io.with_at(Nanos(io.at.0 - first))).collect();
        assert_eq!(again, from_first, "{format}");
        tried += 1;
    }
    assert!(tried >= 10, "{tried}");
}

/// bpftrace prints a line before what a script prints, also where that begins with a header. `T` is
/// the type of a request there.
#[test]
fn what_bpftrace_prints_first_is_no_request() {
    let plain = "0,R,8192,4096\n12,W,4096,8192\n40,W,16384,16384\n";
    let named = format!("time_us,op,offset_bytes,length_bytes\n{plain}");
    let table = "TIME(ms) COMM DISK T SECTOR BYTES\n0 dd sda R 16 4096\n\
                 12 dd sda W 8 8192\n40 kworker sda W 32 16384\n";
    let columns = CsvColumns::parse("ts=us,op=rw,lba=bytes,len=bytes").ok();
    for (text, columns) in [(plain, columns), (&named, None), (table, None)] {
        let text = format!("Attaching 3 probes...\n{text}");
        let options = ReadOptions { columns, ..ReadOptions::default() };
        let (requests, _) = read_with(text.as_bytes(), options).unwrap_or_else(|it| panic!("{it}"));
        let ranges: Vec<(HostOp, u64, u32)> =
            requests.iter().map(|io| (io.op, io.offset, io.size)).collect();
        let expected = [
            (HostOp::Read, 8192, 4096),
            (HostOp::Write, 4096, 8192),
            (HostOp::Write, 16_384, 16_384),
        ];
        assert_eq!(ranges, expected, "{text}");
    }
}

#[test]
fn headers_that_a_format_does_not_have_are_skipped_and_counted() {
    for (text, format) in [
        (
            "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime\n\
          128166372003061629,hm,1,Read,383496192,32768,1331\n",
            Format::Msr,
        ),
        (
            "timestamp,host,disk,rw,offset,length,latency\n\
          128166372003061629,hm,1,Read,383496192,32768,1331\n",
            Format::Msr,
        ),
        (
            "device_id,opcode,offset,length,timestamp\n419,W,8792731648,16384,1577808000000046\n",
            Format::Alibaba,
        ),
        ("Timestamp,Offset,Size,IOType,VolumeID\n1538323200,8,128,0,1058\n", Format::Tencent),
        ("ASU, LBA, Size, Opcode, Timestamp\n0,20941264,8192,W,0.551706\n", Format::Spc),
    ] {
        for given in [None, Some(format)] {
            let options = ReadOptions { format: given, ..ReadOptions::default() };
            let (requests, report) =
                read_with(text.as_bytes(), options).unwrap_or_else(|error| panic!("{error}"));
            let counts = (requests.len(), report.lines, report.remarks);
            assert_eq!((report.format, counts), (format, (1, 2, 1)), "{text}");
        }
    }
    let wrong = refused("Timestamp,Offset,Size,IOType,VolumeID\n12,8,128,0,1058\n");
    assert!(wrong.contains("the nearest is `tencent`") && wrong.contains("in 1970"), "{wrong}");
}

#[test]
fn columns_are_read_by_the_names_of_a_header() {
    let text = "time_s,device,rw,offset,length,status\n0.000100,sda,r,4096,4096,ok\n\
                0.000150,sdb,w,8192,512,ok\n";
    let (requests, report) = read(text).unwrap();
    assert_eq!(report.format, Format::Csv);
    assert_eq!(report.device_names, ["sda", "sdb"]);
    assert_eq!((report.lines, report.remarks), (3, 1));
    assert_eq!((requests[0].at, requests[1].at), (Nanos(0), Nanos(50_000)));
    let columns = "header,ts=s,dev=name,op=rw,lba=bytes,len=bytes,_";
    assert!(report.notes[0].contains(columns), "{:?}", report.notes);
    assert!(report.notes[0].ends_with("not read: `status`"), "{:?}", report.notes);
    let columns = Some(proposed(&report.notes[0]));
    let (again, _) =
        read_with(text.as_bytes(), ReadOptions { columns, ..ReadOptions::default() }).unwrap();
    assert_eq!(again, requests);
    let (commented, _) = read("# by hand\n# time_us op sector bytes\n7 R 8 512\n").unwrap();
    assert_eq!(commented, [HostIo::read(Nanos(0), 4096, 512)]);
    // The message asks for everything that the header leaves open.
    let open = refused("time,device,rw,offset,length\n0.0001,sda,r,4096,4096\n");
    assert!(open.contains("the unit of `time` (s, ms, us or ns): --columns header,ts=s"), "{open}");
    let (requests, _) = read("time op lba_512 size_kib\n1577808144.25 R 8 4\n").unwrap();
    assert_eq!(requests, [HostIo::read(Nanos(0), 4096, 4096)]);
}

#[test]
fn native_columns_come_in_any_order_and_operations_as_letters() {
    let text = "at_ns,op,offset,size\n10,R,4096,4096\n20,W,1048576,16384\n30,discard,0,4096\n";
    let (requests, report) = read(text).unwrap();
    let ops: Vec<HostOp> = requests.iter().map(|io| io.op).collect();
    assert_eq!(ops, [HostOp::Read, HostOp::Write, HostOp::Trim]);
    assert_eq!((report.format, report.remarks), (Format::Native, 1));
    let other = "op,queue,size,at_ns,offset\nR,3,4096,10,4096\nW,,16384,20,1048576\nd,,4096,30,0\n";
    let (reordered, report) = read(other).unwrap();
    assert_eq!(report.format, Format::Native);
    assert_eq!(reordered[0].queue.0, 3);
    assert_eq!(reordered[1..], requests[1..]);
    assert_eq!(reordered[0].at, Nanos(10), "native times count from zero");
    let late = format!("op,size,at_ns,offset\nR,512,{},0\n", 1u64 << 63);
    assert!(refused(&late).contains("too large"), "{}", refused(&late));
    assert!(refused("op,size,at_ns,place\nR,512,1,0\n").contains("place"), "no such column");
}

#[test]
fn what_no_format_fits_comes_with_the_columns_that_read_it() {
    for (text, columns, expected) in [
        (
            "0.000000000 Q R 9838272 8\n0.000113221 Q W 48379216 8\n",
            "ts=s,_,op=rw,lba=512,len=512,blanks",
            HostIo::read(Nanos(0), 9_838_272 * 512, 4096),
        ),
        (
            "7.25,nvme0n1,WS,8192,4096,fio\n7.50,nvme0n1,RA,512,512,fio\n",
            "ts=s,dev=name,op=rw,lba=bytes,len=bytes,_",
            HostIo::write(Nanos(0), 8192, 4096),
        ),
    ] {
        let message = refused(text);
        assert!(message.contains("none fits; the nearest is `"), "{message}");
        let found = proposed(&message);
        assert_eq!(found.to_string(), columns, "{message}");
        let options = ReadOptions { columns: Some(found), ..ReadOptions::default() };
        let (requests, _) = read_with(text.as_bytes(), options).unwrap();
        assert_eq!(requests[0], expected);
    }
    // A known format with its dates in another unit.
    let alibaba = refused("419,W,8192,16384,1577808000046\n419,R,8192,16384,1577808000047\n");
    assert!(alibaba.contains("the nearest is `alibaba`"), "{alibaba}");
    assert_eq!(proposed(&alibaba).to_string(), "dev=number,op=rw,lba=bytes,len=bytes,ts=ms");
    let printed = refused("{\"type\": \"printf\", \"data\": \"1 R 8 8\\n\"}\n");
    assert!(printed.contains("jq -j"), "{printed}");
    let other = refused("1;2;R;4\n2;3;R;4\n");
    assert!(other.contains("tr ';' ,"), "{other}");
    let none = refused("only words\nand more\n");
    assert!(none.contains("the nearest is") && none.contains("--columns"), "{none}");
}

/// The columns of a format between blanks instead of commas are proposed as they are.
#[test]
fn columns_of_a_format_parted_otherwise_are_proposed() {
    let msr = refused(
        "128166372002905282      7       0       Write    8192      4096   67254\n\
         128166372002925282      7       0       Read    12288      8192   67254\n",
    );
    assert!(msr.contains("reads the file as `msr` with blanks between columns"), "{msr}");
    let columns = proposed(&msr).to_string();
    assert!(columns.ends_with("dev=number,op=rw,lba=bytes,len=bytes,_,blanks"), "{msr}");
    let dates = refused("2024-01-15 10:30:45.123456,1234,fio,2048000,write,8192,1.2\n");
    assert!(
        dates.contains("column 1 is a date or time in words, not a number: write it in seconds"),
        "{dates}"
    );
    let list = refused("[\n  {\n    \"time_us\": 1,\n    \"op\": \"R\"\n  }\n]\n");
    assert!(list.contains("jq -c '.[]'"), "{list}");
    let json =
        refused("{\"time\":\"2024-01-15T10:30:45Z\",\"op\":\"R\",\"offset\":0,\"size\":8}\n");
    assert!(json.contains("jq -r '[(.time |") && json.contains("fromdate"), "{json}");
    assert_eq!(proposed(&json).to_string(), "ts=s,op=rw,lba=bytes,len=bytes");
    let no_time = refused("sector,nr_sector,rwbs\n1024,8,WS\n");
    assert!(no_time.contains("but no time"), "{no_time}");
    let named = refused("timestamp,sector,op,bytes\n2024-01-15T10:30:45.1Z,8,write,8192\n");
    assert!(named.contains("the number of `timestamp`, a date or time in words"), "{named}");
}

/// Letters of the kernel in a CSV or in JSON ask for a flush before a write, and for forced unit
/// access.
#[test]
fn letters_of_the_kernel_keep_their_flags() {
    let csv = "time_s,rwbs,sector,bytes\n0.5,FWFSM,8,512\n0.6,N,0,0\n0.7,WFS,8,512\n0.8,FF,0,0\n";
    let json: String = csv
        .lines()
        .skip(1)
        .map(|line| {
            let it: Vec<&str> = line.split(',').collect();
            let keys = format!("\"rwbs\":\"{}\",\"sector\":{},\"bytes\":{}", it[1], it[2], it[3]);
            format!("{{\"time_s\":{},{keys}}}\n", it[0])
        })
        .collect();
    for (text, format) in [(csv, Format::Csv), (&json, Format::JsonLines)] {
        let (requests, report) = read(text).unwrap_or_else(|error| panic!("{format}: {error}"));
        let ops: Vec<HostOp> = requests.iter().map(|io| io.op).collect();
        let expected = [HostOp::Flush, HostOp::Write, HostOp::Write, HostOp::Flush];
        assert_eq!((report.format, &ops[..]), (format, &expected[..]));
        assert_eq!((report.added, report.left_out[0].name), (1, "N"), "{format}");
        let said = |what: &str| report.notes.iter().any(|note| note.contains(what));
        assert!(said("1 write has a preflush") && said("2 requests have FUA"), "{format}");
    }
}

#[test]
fn units_are_questioned_where_they_make_no_request_of_a_drive() {
    let (_, report) = read("0,303567,8,w,0.0\n0,1209856,16,R,0.026214\n").unwrap();
    assert_eq!(report.format, Format::Spc);
    let note = report.notes.iter().find(|note| note.contains("below a sector")).unwrap();
    let columns = Some(proposed(note));
    let options = ReadOptions { columns, ..ReadOptions::default() };
    let (requests, report) =
        read_with(b"0,303567,8,w,0.0\n0,1209856,16,R,0.026214\n", options).unwrap();
    assert_eq!((requests[0].size, requests[1].size), (4096, 8192));
    assert_eq!(report.notes, [""; 0]);
    // A given format that the file does not keep to is questioned, too.
    let given = ReadOptions { format: Some(Format::Tencent), ..ReadOptions::default() };
    let (_, report) = read_with(b"3500,2497,8,0,1\n", given).unwrap();
    assert!(report.notes[0].contains("may not be in format `tencent`"), "{:?}", report.notes);
}

/// Nanoseconds of 18 days look like microseconds since 1970: only gaps of no drive decide.
#[test]
fn dates_that_may_be_times_since_boot_are_asked_about() {
    let rows = |gap: u64| -> String {
        (0..20u64)
            .map(|n| format!("{},R,{},4096\n", 1_577_808_144_360_767 + n * gap, n * 4096))
            .collect()
    };
    let header = "timestamp,op,offset,size\n";
    let asked = refused(&format!("{header}{}", rows(100_000)));
    assert!(asked.starts_with("t:1: "), "{asked}");
    let question =
        "the unit of `timestamp` (dates in us (ts=us) or times since boot in ns (ts=ns))";
    assert!(asked.contains(question), "{asked}");
    assert_eq!(proposed(&asked).to_string(), "header,ts=us,op=rw,lba=bytes,len=bytes");
    // Answers: 25 us apart as dates; the name of the column.
    for text in
        [format!("{header}{}", rows(25)), format!("unix_time,op,offset,size\n{}", rows(100_000))]
    {
        let (requests, report) = read(&text).unwrap_or_else(|error| panic!("{error}"));
        assert!(report.notes[0].contains("ts=us"), "{:?}", report.notes);
        assert!(requests[1].at.0 >= 25_000, "{:?}", requests[1]);
    }
    // A format whose times are dates is read, and a note asks.
    let line =
        |n: u64| format!("419,R,{},4096,{}\n", n * 4096, 1_577_808_144_360_767 + n * 100_000);
    let (_, report) = read(&(0..20).map(line).collect::<String>()).unwrap();
    assert_eq!(report.format, Format::Alibaba);
    let asked = report.notes.iter().find(|note| note.contains("are they ns since boot?")).unwrap();
    assert_eq!(proposed(asked).to_string(), "dev=number,op=rw,lba=bytes,len=bytes,ts=ns");
    // So are JSON lines, whose units are assumed.
    let line = |n: u64| {
        let at = 1_577_808_144_360_767 + n * 100_000;
        format!("{{\"timestamp\":{at},\"op\":\"R\",\"offset\":{},\"size\":4096}}\n", n * 4096)
    };
    let (_, report) = read(&(0..20).map(line).collect::<String>()).unwrap();
    let asked = report.notes.iter().find(|note| note.contains("may be ns since boot")).unwrap();
    assert!(asked.contains("jq -r '[.timestamp, .op, .offset, .size] | @csv'"), "{asked}");
    assert_eq!(proposed(asked).to_string(), "ts=us,op=rw,lba=bytes,len=bytes");
}

/// Names in a format's order do not make its units: `lba` may count 4 KiB.
#[test]
fn names_without_units_are_not_taken_for_those_of_a_format() {
    let rows = "0,20941264,8,W,551706\n0,20939840,8,R,554041\n";
    for names in ["disk,lba,size,rw,time", "Device, LBA, Length, Op, Timestamp"] {
        let text = format!("{names}\n{rows}");
        let asked = refused(&text);
        assert!(asked.contains("does not show the unit of"), "{asked}");
        assert!(asked.contains("if it is format `spc`, say so: --format spc"), "{asked}");
        assert_eq!(proposed(&asked).to_string(), "header,dev=number,lba=512,len=bytes,op=rw,ts=ns");
        let given = ReadOptions { format: Some(Format::Spc), ..ReadOptions::default() };
        let (requests, report) = read_with(text.as_bytes(), given).unwrap();
        assert_eq!((requests.len(), report.remarks), (2, 1));
    }
    // With units, the names decide, and so do dates.
    let (_, report) = read(&format!("disk,lba_512,size,rw,time_s\n{rows}")).unwrap();
    assert_eq!(report.format, Format::Spc);
    let (_, report) = read(&format!("disk,lba_4k,size,rw,time_us\n{rows}")).unwrap();
    assert_eq!(report.format, Format::Csv);
}

/// Files as pandas, R and Excel write them: an index without a name, whole numbers with decimals,
/// words for true and false, quotes, an empty last column.
#[test]
fn tables_of_other_tools_are_read_by_their_header() {
    for (text, note) in [
        (
            ",time_s,op,offset,size\n0,0.5,R,4096.0,512.0\n1,0.75,W,8192.0,4096.0\n",
            "header,_,ts=s,op=rw,lba=bytes,len=bytes; not read: column 1 (without a name; its \
             values number the lines)",
        ),
        (
            "time_s,op,offset,size\n5e-01,R,4096,512\n7.5e-01,W,8192,4096\n",
            "header,ts=s,op=rw,lba=bytes,len=bytes",
        ),
        (
            "\"\",\"time_s\",\"op\",\"offset\",\"size\"\n\"1\",0.5,\"R\",4096,512\n\"2\",0.75,\"W\",8192,4096\n",
            "header,_,ts=s,op=rw,lba=bytes,len=bytes; not read: column 1 (without a name; its \
             values number the lines)",
        ),
        (
            "time_s,is_write,offset,size,\n0.5,False,4096,512,\n0.75,True,8192,4096,\n",
            "header,ts=s,op=0=read,lba=bytes,len=bytes,_; not read: column 5 (without a name)",
        ),
        (
            ",at_ns,op,offset,size\n0,500000000,read,4096,512\n1,750000000,write,8192,4096\n",
            "header,_,ts=ns,op=rw,lba=bytes,len=bytes; not read: column 1",
        ),
        (
            "\tIssue Time (s)\tProcess Name\tOp\tOffset\tSize\n0\t0.5\ta b\tR\t4096\t512\n1\t0.75\t\tW\t8192\t4096\n",
            "header,_,ts=s,_,op=rw,lba=bytes,len=bytes,tabs; not read: column 1 (without a name; its \
             values number the lines), `Process Name`",
        ),
        (
            "Time (s)\tOp\tOffset\tSize\tNote\n0.5\tR\t4096\t512\t\n0.75\tW\t8192\t4096\t\n",
            "header,ts=s,op=rw,lba=bytes,len=bytes,_,tabs; not read: `Note`",
        ),
    ] {
        for end in ["\n", "\r\n"] {
            let text = text.replace('\n', end);
            let (requests, report) = read(&text).unwrap_or_else(|error| panic!("{error}"));
            let said = &report.notes[0];
            assert!(said.contains(note), "{text}: {said}");
            let expected =
                [HostIo::read(Nanos(0), 4096, 512), HostIo::write(Nanos(250_000_000), 8192, 4096)];
            assert_eq!(requests, expected, "{text}");
            let columns = Some(proposed(said));
            let options = ReadOptions { columns, ..ReadOptions::default() };
            assert_eq!(read_with(text.as_bytes(), options).unwrap().0, expected, "{text}");
        }
    }
    // Lines that do not have the columns of their header are refused.
    let hexadecimal = refused("time_s,op,offset,size\n0.5,R,0x1000,512\n0.6,R,0x2000,512\n");
    let words =
        ["the nearest is `csv`: `0x1000` in `lba`", "text: 0.5,R,0x1000", "--columns header,ts=s"];
    assert!(words.iter().all(|words| hexadecimal.contains(words)), "{hexadecimal}");
    assert!(hexadecimal.starts_with("t:2: "), "{hexadecimal}");
    let cut = refused("timestamp,op,offset,size\n1.70531e+15,R,0,512\n1.70531e+15,R,0,512\n");
    assert!(cut.contains("all digits of `timestamp`, some of which an exponent cuts off"), "{cut}");
    let european = refused("time_s;op;offset;size\n0,5;R;4096;512\n");
    assert!(european.contains("sed 's/,/./g; s/;/,/g'"), "{european}");
}

/// JSON lines accept the same variations of keys and values as CSV headers.
#[test]
fn json_lines_are_as_tolerant_as_headers() {
    let object = |n: u64, sectors: u64| {
        format!(
            "{{\"time_us\":{n},\"command\":\"fio\",\"op\":\"R\",\"sector\":8,\"offset\":4096,\
             \"size\":1024,\"nr_sectors\":{sectors},\"dev\":\"sda\",\"file\":\"x\"}}\n"
        )
    };
    let all = |sectors: u64| (0..9).map(|n| object(n, sectors)).collect::<String>();
    let (requests, report) = read(&all(2)).unwrap();
    assert_eq!((report.format, requests.len()), (Format::JsonLines, 9));
    assert_eq!(requests[8], HostIo::read(Nanos(8000), 4096, 1024));
    assert_eq!(report.device_names, ["sda"]);
    let asked = refused(&all(8));
    assert!(asked.contains("which of the columns `size` and `nr_sectors` to read"), "{asked}");
    assert!(asked.contains("jq -r '[.time_us, .op, .sector, .size, .dev] | @csv' FILE"), "{asked}");
    assert_eq!(proposed(&asked).to_string(), "ts=us,op=rw,lba=512,len=bytes,dev=name");
    // The proposed columns read the output of the proposed jq command.
    let csv = "0,\"R\",8,1024,\"sda\"\n1,\"R\",8,1024,\"sda\"\n";
    let options = ReadOptions { columns: Some(proposed(&asked)), ..ReadOptions::default() };
    assert_eq!(read_with(csv.as_bytes(), options).unwrap().0[..], requests[..2]);
    let coded = refused("{\"time_us\":1,\"op\":1,\"sector\":8,\"size\":512}\n");
    assert!(
        coded.contains("which code of `op`, the column of operations, is a read")
            && coded.contains("jq -r"),
        "{coded}"
    );
}

#[test]
fn numbers_taken_for_a_log_of_fio_have_a_way_out() {
    let rows: String =
        (0..20).map(|n| format!("{}, {}, {}, 4096\n", n * 1000, n * 8192, n % 2)).collect();
    let message = refused(&rows);
    assert!(message.starts_with("t:1: this is a log of fio"), "{message}");
    assert!(message.contains("log_offset=1 is missing"), "{message}");
    assert!(
        message.contains("If this is not a log of fio, --columns ts=ns,lba=bytes,op=1=read"),
        "{message}"
    );
    let options = ReadOptions { columns: Some(proposed(&message)), ..ReadOptions::default() };
    assert_eq!(read_with(rows.as_bytes(), options).unwrap().0.len(), 20);
    let averages = refused("3500, 24, 1, 0, 0\n3550, 25, 1, 0, 0\n");
    assert!(averages.contains("If this is not a log of fio, describe its columns"), "{averages}");
}

#[test]
fn a_column_too_many_in_a_native_trace_is_one_error() {
    let rows = "0,read,0,512,7\n".repeat(20);
    for (header, columns) in [
        ("at_ns,op,offset,size,latency_us", "header,ts=ns,op=rw,lba=bytes,len=bytes,_"),
        ("at_ns,op,offset,latency_us,size", "header,ts=ns,op=rw,lba=bytes,_,len=bytes"),
    ] {
        for lenient in [None, Some(0.5)] {
            let options = ReadOptions { lenient, ..ReadOptions::default() };
            let text = format!("{header}\n{rows}");
            let error = read_with(text.as_bytes(), options).unwrap_err();
            let message = error.to_string();
            assert_eq!(error.bad_lines(), 1, "{message}");
            let what = "t:1: unexpected column `latency_us` in the header";
            assert!(message.contains(what), "{message}");
            assert_eq!(proposed(&message).to_string(), columns, "{message}");
        }
        assert!(error_lines(&format!("{header}\n{rows}")) == 1);
    }
    let text = format!("at_ns,op,offset,size,latency_us\n{rows}");
    let options = ReadOptions { columns: Some(proposed(&refused(&text))), ..Default::default() };
    assert_eq!(read_with(text.as_bytes(), options).unwrap().0.len(), 20);
}

/// Counts the diagnostics of a text that is refused.
fn error_lines(text: &str) -> usize {
    read(text).unwrap_err().diagnostics.len()
}

/// A question about units proposes the columns of the file, in its order and behind its header.
#[test]
fn questions_about_units_keep_the_order_of_the_file() {
    let reordered: String =
        (0..20).map(|n| format!("{},{n},R,{}\n", 8 + n % 3, n * 4096)).collect();
    for (text, format, columns) in [
        (
            format!("size,at_ns,op,offset\n{reordered}"),
            Format::Native,
            "header,len=512,ts=ns,op=rw,lba=bytes",
        ),
        (
            format!("at_ns,op,offset,size,queue\n{}", "0,read,0,8,1\n".repeat(9)),
            Format::Native,
            "header,ts=ns,op=rw,lba=bytes,len=512,_",
        ),
        (
            "ASU,LBA,Size,Opcode,Timestamp\n0,303567,8,w,0.0\n0,1209856,16,R,0.026214\n".into(),
            Format::Spc,
            "header,dev=number,lba=512,len=512,op=rw,ts=s,...",
        ),
    ] {
        let (requests, report) = read(&text).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(report.format, format);
        let note = report.notes.iter().find(|note| note.contains("below a sector"));
        let note = note.unwrap_or_else(|| panic!("{text}: {:?}", report.notes));
        assert_eq!(proposed(note).to_string(), columns);
        let options = ReadOptions { columns: Some(proposed(note)), ..ReadOptions::default() };
        let (again, _) = read_with(text.as_bytes(), options).unwrap();
        assert_eq!(again[0].size, requests[0].size * 512, "{text}");
    }
}

mod shared_files {
    use super::*;

    /// Returns the outcome of reading a file of the folder.
    fn outcome(file: &str) -> Option<Result<(Vec<HostIo>, ReadReport), TraceError>> {
        let path = shared_folder::path("inputs", "inputs as people have them")?.join(file);
        let text = std::fs::read(path).unwrap();
        Some(read_with(&text, ReadOptions::default()))
    }

    fn requests_of(file: &str) -> Option<(Vec<HostIo>, ReadReport)> {
        outcome(file).map(|it| it.unwrap_or_else(|error| panic!("{file}: {error}")))
    }

    #[test]
    fn averages_and_results_are_refused_with_the_reason() {
        for (file, words) in [
            ("a-12a-fio-bw-log-five-columns.log", &["log of fio", "log_offset=1 is missing"][..]),
            (
                "a-12b-fio-lat-log-averaged.log",
                &["log_avg_msec and without log_offset=1", "size 0"],
            ),
            ("b-01-fio-bw-log-500ms-log_offset.log", &["bandwidth or IOPS log", "log_avg_msec"]),
            (
                "b-10-iostat-x.txt",
                &["iostat -x (device nvme0n1)", "--workload", "rate = 1122.62", "32KiB", "64KiB"],
            ),
            (
                "b-16-fio-output.json",
                &["result of fio-3.36", "fowler calibrate", "rate = 268000.10", "\"4KiB\""],
            ),
            ("a-14-smart-log.txt", &["a SMART log, not a trace", "fowler endurance --smart"]),
            ("b-08-smartctl-j.json", &["a SMART log, not a trace", "fowler endurance --smart"]),
            ("b-09-nvme-smart-log-o-json.json", &["a SMART log", "fowler endurance --smart"]),
        ] {
            let Some(outcome) = outcome(file) else { return };
            let message = outcome.expect_err(file).to_string();
            for words in words {
                assert!(message.contains(words), "{file}: no {words:?} in {message}");
            }
        }
    }

    #[test]
    fn headers_and_columns_by_name_are_read() {
        for (file, format, requests, remarks) in [
            ("b-11-msr-with-header.csv", Format::Msr, 2, 1),
            ("b-11b-alibaba-with-header.csv", Format::Alibaba, 2, 1),
            ("b-12-self-describing-header.csv", Format::Csv, 2, 1),
            ("b-13-native-rw-letters.csv", Format::Native, 3, 1),
            ("b-18-jsonlines.jsonl", Format::JsonLines, 2, 0),
        ] {
            let Some((found, report)) = requests_of(file) else { return };
            assert_eq!((report.format, found.len()), (format, requests), "{file}");
            assert_eq!(report.remarks, remarks, "{file}");
        }
        let Some((found, _)) = requests_of("b-12-self-describing-header.csv") else { return };
        assert_eq!(found[1], HostIo::write(Nanos(150_000), 8192, 8192));
        let (found, report) = requests_of("b-18-jsonlines.jsonl").unwrap();
        assert_eq!(found[1], HostIo::write(Nanos(157_000), 48_379_216 * 512, 8192));
        assert!(report.notes[0].contains("nanoseconds are assumed"), "{:?}", report.notes);
        let (found, _) = requests_of("b-13-native-rw-letters.csv").unwrap();
        assert_eq!(found[2], HostIo::new(HostOp::Trim, Nanos(2000), 0, 4096));
        let (found, _) = requests_of("b-11-msr-with-header.csv").unwrap();
        assert_eq!(found[1].at, Nanos(1_332_052_600));
    }

    #[test]
    fn spc_with_sizes_in_sectors_is_read_and_questioned() {
        let Some((found, report)) = requests_of("b-14-spc-sizes-in-sectors.csv") else { return };
        assert_eq!((report.format, found[0].size), (Format::Spc, 8));
        let note = report.notes.iter().find(|note| note.contains("below a sector")).unwrap();
        let columns = proposed(note);
        assert_eq!(columns.to_string(), "dev=number,lba=512,len=512,op=rw,ts=s,...");
    }

    #[test]
    fn devices_of_spc_keep_their_own_address_zero() {
        let Some((found, report)) = requests_of("a-10-spc-asu-restart.spc") else { return };
        let devices: Vec<u64> = report.devices.iter().map(|device| device.device).collect();
        assert_eq!((found.len(), devices), (7, vec![0, 1, 19, 20, 22]));
    }

    #[test]
    fn columns_of_ones_own_are_proposed() {
        let Some(outcome) = outcome("b-07-blkparse-f-custom.txt") else { return };
        let message = outcome.expect_err("no format has these columns").to_string();
        assert_eq!(proposed(&message).to_string(), "ts=s,_,op=rw,lba=512,len=512,blanks");
    }
}
