//! Traces in the layouts of Linux and Windows tools: every request is read back, and every skipped
//! event is counted.

use fowler_units::{HostIo, HostOp, Nanos, Rng};
use fowler_workload::{
    Cause, DeviceChoice, Format, ReadOptions, ReadReport, TraceError, TraceReader,
};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::io::Cursor;

/// Requests, the error and the report of a reading.
pub(crate) type Read = (Vec<HostIo>, Option<TraceError>, ReadReport);

fn read(text: &str, options: &ReadOptions) -> Result<Read, TraceError> {
    let stream = Box::new(Cursor::new(text.as_bytes().to_vec()));
    finished(TraceReader::from_stream("t", stream, options)?)
}

pub(crate) fn finished(mut reader: TraceReader) -> Result<Read, TraceError> {
    let (mut requests, mut error) = (Vec::new(), None);
    for request in reader.by_ref() {
        match request {
            Ok(request) => requests.push(request),
            Err(it) => error = Some(it),
        }
    }
    Ok((requests, error, reader.report().clone()))
}

pub(crate) fn of_each(format: Option<Format>) -> ReadOptions {
    ReadOptions { format, device: DeviceChoice::Each, ..ReadOptions::default() }
}

/// Returns the number of events left out of each kind, by the name of the kind.
pub(crate) fn left_out(report: &ReadReport) -> BTreeMap<&'static str, u64> {
    report.left_out.iter().map(|it| (it.name, it.count)).collect()
}

/// A request as the host issued it, before a tool logs it.
#[derive(Clone, Copy, Debug)]
struct Asked {
    at: Nanos,
    op: HostOp,
    sector: u64,
    sectors: u64,
    preflush: bool,
    forced: bool,
}

/// Returns random requests a few microseconds apart, starting at time 0.
fn asked(rng: &mut Rng, most_trimmed: u64) -> Vec<Asked> {
    let mut at = 0;
    let one = |place: u64| {
        let op = HostOp::ALL[rng.below(4) as usize];
        let (sector, sectors) = match op {
            HostOp::Flush => (0, 0),
            HostOp::Trim => (rng.below(1 << 30), 1 + rng.below(most_trimmed)),
            _ => (rng.below(1 << 32), 1 + rng.below(2048)),
        };
        let write = op == HostOp::Write;
        let (preflush, forced) = (write && rng.chance(0.3), write && rng.chance(0.3));
        at += if place == 0 { 0 } else { 1000 * (1 + rng.below(50)) };
        Asked { at: Nanos(at), op, sector, sectors, preflush, forced }
    };
    (0..300).map(one).collect()
}

/// Returns the requests a reader must return, in blocks of `block` bytes.
fn due(asked: &[Asked], block: u64) -> Vec<HostIo> {
    let mut due = Vec::new();
    for it in asked {
        if it.preflush {
            due.push(HostIo::flush(it.at));
        }
        let (mut from, end) = (it.sector * block, (it.sector + it.sectors) * block);
        if it.op == HostOp::Trim && end - from > u64::from(u32::MAX) {
            while from < end {
                let cut = end.min((from / (1 << 31) + 1) * (1 << 31));
                due.push(HostIo::trim(it.at, from, (cut - from) as u32));
                from = cut;
            }
        } else {
            due.push(HostIo::new(it.op, it.at, from, (end - from) as u32));
        }
    }
    due
}

/// The letters of a request, as `blk_fill_rwbs` writes them.
fn letters(it: &Asked) -> String {
    let op = match it.op {
        HostOp::Read => "R",
        HostOp::Write => "W",
        HostOp::Trim => "D",
        HostOp::Flush => return "FF".into(),
    };
    let (preflush, forced) = (if it.preflush { "F" } else { "" }, if it.forced { "F" } else { "" });
    format!("{preflush}{op}{forced}S")
}

/// Checks that a text is detected as `format`, and read as it was written.
fn check(format: Format, text: &str, asked: &[Asked], block: u64, seed: u64) -> ReadReport {
    let (requests, error, report) = read(text, &of_each(None)).unwrap_or_else(|it| panic!("{it}"));
    assert_eq!((report.format, error), (format, None), "seed {seed}");
    assert_eq!(requests, due(asked, block), "{format}, seed {seed}");
    let said = |what: &str| report.notes.iter().any(|note| note.contains(what));
    assert_eq!(said("a preflush"), asked.iter().any(|it| it.preflush), "{:?}", report.notes);
    assert_eq!(said("FUA"), asked.iter().any(|it| it.forced), "{:?}", report.notes);
    report
}

#[test]
fn blkparse_is_read_back() {
    for seed in 0..20 {
        let mut rng = Rng::stream(seed, "blkparse");
        let asked = asked(&mut rng, 1 << 24);
        let (mut text, mut others) = (String::new(), BTreeMap::new());
        for it in &asked {
            let (s, ns) = (it.at.0 / 1_000_000_000, it.at.0 % 1_000_000_000);
            let rest = match it.op {
                HostOp::Flush => " FN [jbd2/sda-8]".to_string(),
                _ => format!("{:>3} {} + {} [a b]", letters(it), it.sector, it.sectors),
            };
            let actions: &[&'static str] =
                if rng.chance(0.5) { &["G", "UT", "D", "C"] } else { &[] };
            for action in [&["Q"], actions].concat() {
                writeln!(text, "  8,0    3        1     {s}.{ns:09}   594 {action:>2} {rest}")
                    .unwrap();
                *others.entry(action).or_insert(0) += u64::from(action != "Q");
            }
        }
        text += "CPU0 (8,0):\n Reads Queued:           1,        4KiB\n";
        others.remove("Q");
        let report = check(Format::Blkparse, &text, &asked, 512, seed);
        assert_eq!(left_out(&report), others, "seed {seed}");
        assert_eq!(report.added, due(&asked, 512).len() as u64 - 300, "seed {seed}");
        let issued = read(&text, &of_each(Some(Format::BlkparseIssued))).unwrap().0;
        let ios: Vec<_> = issued.iter().map(|io| io.at).collect();
        assert!(ios.is_sorted() && !ios.is_empty());
    }
}

/// The beginnings of a line in the layouts of ftrace, trace-cmd and perf, and the group of events.
const LAYOUTS: [(&str, &str); 5] = [
    ("             fio-4423    [003] .....   ", ""),
    ("     Web Content-4423    (   4423) [003] d.h1.   ", ""),
    ("             fio-4423    [003]   ", ""),
    ("             fio  4423 [003]   ", "GROUP:"),
    ("     Web Content  4423   ", "GROUP:"),
];

#[test]
fn tracepoints_are_read_back_in_every_layout() {
    for seed in 0..40 {
        let mut rng = Rng::stream(seed, "tracepoints");
        let (begin, group) = LAYOUTS[seed as usize % LAYOUTS.len()];
        let format =
            [Format::BlockBioQueue, Format::BlockRqIssue, Format::NvmeLba512, Format::NvmeLba4k]
                [seed as usize / LAYOUTS.len() % 4];
        let nvme = matches!(format, Format::NvmeLba512 | Format::NvmeLba4k);
        // Commands of NVMe have 16 bits for the length, and no preflush.
        let mut asked = asked(&mut rng, if nvme { 1 << 16 } else { 1 << 24 });
        asked.iter_mut().for_each(|it| it.preflush &= !nvme);
        let block: u64 = if format == Format::NvmeLba4k { 4096 } else { 512 };
        let group = |name: &str| group.replace("GROUP", name);
        let mut text = String::from("# tracer: nop\n#\n");
        for it in &asked {
            let time = it.at.0 + 104_831_153_000;
            let (s, us) = (time / 1_000_000_000, time % 1_000_000_000 / 1000);
            let begin = format!("{begin}{s}.{us:06}: ");
            let (rwbs, sector, sectors) = (letters(it), it.sector, it.sectors);
            let line = match format {
                Format::BlockBioQueue => {
                    let rwbs = if it.op == HostOp::Flush { "FWS" } else { &rwbs };
                    format!(
                        "{}block_bio_queue: 8,0 {rwbs} {sector} + {sectors} [x y]",
                        group("block")
                    )
                }
                Format::BlockRqIssue => {
                    let (group, bytes) = (group("block"), 512 * sectors);
                    let priority = if seed % 2 == 0 { "" } else { "none,0,0 " };
                    format!(
                        "{group}block_rq_issue: 8,0 {rwbs} {bytes} () {sector} + {sectors} {priority}[x]"
                    )
                }
                _ => format!(
                    "{}nvme_setup_cmd: nvme0: disk=nvme0n1, qid=4, cmdid=25169, nsid=1, flags=0x0, \
                     meta=0x0, cmd=({})",
                    group("nvme"),
                    command(it)
                ),
            };
            writeln!(text, "{begin}{line}").unwrap();
            // As many completions as requests, in either group.
            let (name, prints) = if nvme {
                ("nvme_complete_rq", "nvme0: disk=nvme0n1, qid=4, cmdid=1, res=0x0, status=0x0")
            } else {
                ("block_rq_complete", "8,0 WS () 8 + 8 [0]")
            };
            writeln!(text, "{begin}{name}: {prints}").unwrap();
        }
        if nvme {
            let open = read(&text, &of_each(None)).expect_err("the size of a block is asked for");
            let open = open.to_string();
            assert!(open.contains("`nvme-lba512` (") && open.contains("`nvme-lba4k` ("), "{open}");
            let (requests, error, report) = read(&text, &of_each(Some(format))).unwrap();
            assert_eq!((requests, error), (due(&asked, block), None), "{format}, seed {seed}");
            assert_eq!(left_out(&report), [("nvme_complete_rq", 300)].into());
            assert_eq!(report.device_names, ["nvme0n1"]);
        } else {
            let report = check(format, &text, &asked, block, seed);
            assert_eq!(left_out(&report), [("block_rq_complete", 300)].into(), "seed {seed}");
        }
    }
}

/// A command as `nvme_setup_cmd` prints it.
fn command(it: &Asked) -> String {
    let name = match it.op {
        HostOp::Read => "read",
        HostOp::Write => "write",
        HostOp::Trim => "write_zeroes",
        HostOp::Flush => return "nvme_cmd_flush cdw10=00 00 00 00".into(),
    };
    let (slba, len) = (it.sector, it.sectors - 1);
    let ctrl = if it.forced { 0x4000 } else { 0 };
    format!("nvme_cmd_{name} slba={slba}, len={len}, ctrl={ctrl:#x}, dsmgmt=0, reftag=0")
}

#[test]
fn biosnoop_with_letters_is_read_back() {
    for seed in 0..20 {
        let mut rng = Rng::stream(seed, "biosnoop");
        let asked = asked(&mut rng, 1 << 20);
        let queued = seed % 2 == 0;
        let mut lines: Vec<(u64, String)> = Vec::new();
        for it in &asked {
            let (wait, took) = (1000 * rng.below(300) * u64::from(queued), 1000 * rng.below(900));
            let done = it.at.0 + wait + took;
            let ms = |ns: u64| format!("{}.{:03}", ns / 1_000_000, ns % 1_000_000 / 1000);
            let flush = it.op == HostOp::Flush;
            let (sector, bytes) = if flush { (u64::MAX, 0) } else { (it.sector, 512 * it.sectors) };
            let line = format!(
                "{}.{:06} kworker/u16:2 x 8123 nvme0n1 {:<4} {sector:<10} {bytes:<7} {}{}",
                done / 1_000_000_000,
                done % 1_000_000_000 / 1000,
                letters(it),
                if queued { ms(wait) + " " } else { String::new() },
                ms(took)
            );
            lines.push((done, line));
        }
        lines.sort_by_key(|(done, _)| *done);
        let header = "TIME(s)     COMM           PID     DISK    T    SECTOR     BYTES  ";
        let mut text = format!("{header}{}LAT(ms)\n", if queued { "QUE(ms) " } else { "" });
        lines.iter().for_each(|(_, line)| text += &format!("{line}\n"));
        let report = check(Format::Biosnoop, &text, &asked, 512, seed);
        assert!(!report.notes.iter().any(|note| note.contains("discards as reads")));
    }
}

/// Shuffles in place.
fn shuffle<T>(rng: &mut Rng, items: &mut [T]) {
    for last in (1..items.len()).rev() {
        items.swap(last, rng.below(last as u64 + 1) as usize);
    }
}

#[test]
fn events_of_windows_are_read_back_whatever_the_order_of_columns() {
    for seed in 0..20 {
        let mut rng = Rng::stream(seed, "etw");
        let mut asked = asked(&mut rng, 1 << 20);
        asked.retain(|it| it.op != HostOp::Trim);
        asked.iter_mut().for_each(|it| (it.preflush, it.forced) = (false, false));
        let start = asked[0].at.0;
        asked.iter_mut().for_each(|it| it.at.0 -= start);
        let names =
            ["TimeStamp", "ByteOffset", "IOSize", "ElapsedTime", "DiskNum", "CPU", "FileName"];
        let mut orders = Vec::new();
        let mut text = String::from("BeginHeader\n");
        for event in ["DiskRead", "DiskWrite", "DiskFlush"] {
            let mut order: Vec<&str> = names.to_vec();
            if event == "DiskFlush" {
                order.retain(|name| !["ByteOffset", "IOSize"].contains(name));
            }
            shuffle(&mut rng, &mut order);
            writeln!(text, "  {event},  {}", order.join(",  ")).unwrap();
            orders.push((event, order));
        }
        text += "  Image,  TimeStamp,  Base\nEndHeader\n";
        let mut lines = Vec::new();
        for it in &asked {
            let took = rng.below(900);
            let (event, order) = &orders[[0, 1, 0, 2][it.op as usize]];
            let cells = order.iter().map(|name| match *name {
                "TimeStamp" => (5_000 + it.at.0 / 1000 + took).to_string(),
                "ByteOffset" => format!("{:#x}", 512 * it.sector),
                "IOSize" => format!("{:#010x}", 512 * it.sectors),
                "ElapsedTime" => took.to_string(),
                "DiskNum" => "3".into(),
                "CPU" => rng.below(8).to_string(),
                _ => "\"D:\\a.dat\"".into(),
            });
            let cells: Vec<String> = cells.collect();
            lines.push((it.at.0 / 1000 + took, format!("  {event},  {}", cells.join(",  "))));
        }
        lines.sort_by_key(|(done, _)| *done);
        lines.iter().for_each(|(_, line)| text += &format!("{line}\n"));
        text += "  Image,  9,  0x0\n";
        let report = check(Format::Msps, &text, &asked, 512, seed);
        assert_eq!(left_out(&report), [("other", 1)].into());
        assert_eq!(report.devices[0].device, 3);
    }
}

#[test]
fn long_trims_are_read_in_pieces_from_every_format_with_trims() {
    let long: u64 = 1_920_383_410_176;
    let sectors = long / 512;
    for (format, text) in [
        (Format::FioIolog3, format!("fio version 3 iolog\n0 a add\n10 a trim 0 {long}\n")),
        (Format::FioIolog2, format!("fio version 2 iolog\na trim 0 {long}\n")),
        (Format::Native, format!("at_ns,op,offset,size\n10,trim,0,{long}\n")),
        (Format::Native, format!("at_ns,op,offset,size,queue\n10,trim,0,{long},7\n")),
        (Format::JsonLines, format!("{{\"ts\":10,\"op\":\"D\",\"offset\":0,\"bytes\":{long}}}\n")),
        (Format::Native, format!("op,size,offset,at_ns\ndiscard,{long},0,10\n")),
        (Format::Blkparse, format!("8,0 0 1 0.5 1 Q DS 0 + {sectors} [x]\n")),
        (
            Format::BlockBioQueue,
            format!("x-1 [0] . 1.5: block_bio_queue: 8,0 D 0 + {sectors} [x]\n"),
        ),
    ] {
        let (requests, error, report) = read(&text, &of_each(None)).unwrap();
        assert_eq!((error, report.format), (None, format));
        assert_eq!((requests.len(), report.added), (895, 894), "{format}");
        let bytes: u64 = requests.iter().map(|io| u64::from(io.size)).sum();
        assert!(
            bytes == long
                && requests.windows(2).all(|two| {
                    two[0].offset + u64::from(two[0].size) == two[1].offset
                        && two[0].queue == two[1].queue
                })
        );
        let said =
            |note: &String| note.contains("1 trim of 4 GiB or more is replayed in 895 pieces");
        assert!(report.notes.iter().any(said), "{:?}", report.notes);
        let too_long = text.replace(&long.to_string(), &(1u64 << 49).to_string());
        let too_long = too_long.replace(&sectors.to_string(), &(1u64 << 40).to_string());
        let error = read(&too_long, &of_each(Some(format))).unwrap().1.unwrap();
        assert_eq!(error.counts[&Cause::TooLarge], 1, "{error}");
        assert!(error.to_string().contains("a trim: up to 256 TiB"), "{error}");
    }
}

#[test]
fn a_log_without_requests_says_what_it_has_and_what_reads_it() {
    for (text, format, said) in [
        (
            "8,0 1 1 0.5 9 D W 8 + 8 [x]\n8,0 1 1 0.6 9 C W 8 + 8 [0]\n",
            None,
            ["without Q events, but with 1 C, 1 D", "--format blkparse-issued"],
        ),
        (
            "8,0 1 1 0.5 9 Q W 8 + 8 [x]\n",
            Some(Format::BlkparseIssued),
            ["without D events, but with 1 Q", "--format blkparse"],
        ),
        (
            "8,0 1 1 0.5 9 C W 8 + 8 [x]\n",
            None,
            ["without Q events, but with 1 C", "blktrace -a queue"],
        ),
        (
            "x-1 [0] . 1.5: nvme_complete_rq: nvme0: disk=nvme0n1, qid=4\n",
            None,
            ["but with 1 nvme_complete_rq", "record block:block_bio_queue"],
        ),
        (
            "x-1 [0] . 1.5: block_rq_issue: 8,0 R 4096 () 8 + 8 [x]\n",
            Some(Format::BlockBioQueue),
            ["but with 1 block_rq_issue", "--format block-rq-issue"],
        ),
        (
            "x-1 [0] . 1.5: nvme_setup_cmd: nvme0: disk=n, qid=4, cmd=(nvme_cmd_dsm nr=0, attributes=4)\n",
            Some(Format::NvmeLba512),
            ["but with 1 dsm", "record block:block_bio_queue"],
        ),
    ] {
        let (requests, error, _) = read(text, &of_each(format)).unwrap_or_else(|it| panic!("{it}"));
        let error = error.expect(text).to_string();
        assert!(requests.is_empty(), "{text}");
        said.iter().for_each(|said| assert!(error.contains(said), "{said}: {error}"));
    }
}
