//! Each format is detected only for files of its own tool.

use crate::recognition::read;
use fowler_units::{HostIo, HostOp, Nanos, Rng};
use fowler_workload::Format;
use std::fmt::Write as _;

/// Format that may be detected for the lines of a writer.
#[derive(Clone, Copy, Debug)]
enum Claim {
    /// This format, always.
    Own(Format),
    /// This format, or an ambiguity that includes it.
    OwnOrAsked(Format),
    /// This format, read only when the user names it.
    Asked(Format),
    /// No format at all.
    None,
}

use Claim::{Asked, Own, OwnOrAsked};

/// A writer of a tool: its name, its format, the lines in front, and its line for a request.
type Writer = (&'static str, Claim, &'static str, fn(&HostIo, u64) -> String);

/// Lines as tools write them, of which each format may claim its own only.
#[rustfmt::skip]
const WRITERS: &[Writer] = &[
    ("native", Own(Format::Native), "at_ns,op,offset,size\n", |io, _| format!("{},{},{},{}", io.at.0, io.op.word(), io.offset, io.size)),
    ("spc", Own(Format::Spc), "", |io, _| format!("0,{},{},{},{}", io.offset / 512, io.size, letter(io), seconds(io))),
    ("msr", Own(Format::Msr), "", |io, n| format!("{},hm,0,{},{},{},{}", 128_166_372_003_061_629 + io.at.0 / 100, word(io), io.offset, io.size, 1000 + n)),
    ("alibaba", Own(Format::Alibaba), "", |io, _| format!("419,{},{},{},{}", letter(io), io.offset, io.size, 1_577_808_000_000_046 + io.at.0 / 1000)),
    ("tencent", Own(Format::Tencent), "", |io, _| format!("{},{},{},{},1058", 1_538_323_200 + io.at.0 / 1_000_000_000, io.offset / 512, io.size / 512, 1 - one(io))),
    ("systor17", Own(Format::Systor17), "Timestamp,Response,IOType,LUN,Offset,Size\n", |io, _| format!("{}.133076000,0.000806000,{},0,{},{}", 1_456_095_145 + io.at.0 / 1_000_000_000, letter(io), io.offset, io.size)),
    ("disksim", OwnOrAsked(Format::Disksim), "", |io, n| format!("{} {} {} {} {:x}", ms(io), n % 3, io.offset / 512, io.size / 512, one(io))),
    ("mqsim", OwnOrAsked(Format::Mqsim), "", |io, _| format!("{} 0 {} {} {}", io.at.0, io.offset / 512, io.size / 512, one(io))),
    ("ssdsim in us", OwnOrAsked(Format::SsdsimUs), "", |io, _| format!("{} 0 {} {} {}", io.at.0 / 1000, io.offset / 512, io.size / 512, one(io))),
    ("ssdsim with digests", Own(Format::SsdsimDigest), "", |io, n| format!("{} 0 {} {} {} 3f4fc2833a{n:02x}", io.at.0, io.offset / 512, io.size / 512, one(io))),
    ("flashsim", OwnOrAsked(Format::Flashsim), "", |io, _| format!("{}\t0\t{}\t{}\t{}", ms(io), io.offset / 512, io.size / 4096 + 1, one(io))),
    ("excerpts of msr", OwnOrAsked(Format::MsrCut), "", |io, _| format!("{} 0 {} {} {}", ms(io), io.offset, io.size, one(io))),
    ("nexus", Own(Format::Nexus), "", |io, _| format!("{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}", io.offset / 512, io.size.div_ceil(4096) * 8, io.size.div_ceil(4096) * 4096, 5 - one(io), seconds(io), seconds(io), seconds(io), seconds(io))),
    ("fiu", Own(Format::Fiu), "", |io, n| format!("{} 4892 kjournald {} {} {} 6 0 531e779f8a1a9bbb0e3bc2b9a9f4aa{n:02x}", 89_967_404_949_926 + io.at.0, io.offset / 512, io.size / 512, letter(io))),
    ("fio-iolog2", Own(Format::FioIolog2), "fio version 2 iolog\n/dev/sda add\n/dev/sda open\n", |io, _| format!("/dev/sda {} {} {}", io.op.word(), io.offset, io.size)),
    ("fio-iolog3", Own(Format::FioIolog3), "fio version 3 iolog\n1 /dev/sda add\n", |io, _| format!("{} /dev/sda {} {} {}", io.at.0 / 1000, io.op.word(), io.offset, io.size)),
    ("fio-log", Own(Format::FioLog), "", |io, n| format!("{}, {}, {}, {}, {}, 0", io.at.0 / 1_000_000, 90_000 + n, 1 - one(io), io.size, io.offset)),
    ("json-lines", Own(Format::JsonLines), "", |io, _| format!("{{\"ts\":{},\"op\":\"{}\",\"sector\":{},\"bytes\":{}}}", io.at.0, letter(io), io.offset / 512, io.size)),
    ("blkparse", Own(Format::Blkparse), "", |io, n| format!("  8,0    3 {n:>8} {:>14}  4162  Q  {}S {} + {} [fio]", seconds(io), letter(io), io.offset / 512, io.size / 512)),
    ("blkparse, issued", Asked(Format::BlkparseIssued), "", |io, n| format!("  8,0    3 {n:>8} {:>14}  4162  D  {}S {} + {} [fio]", seconds(io), letter(io), io.offset / 512, io.size / 512)),
    ("biosnoop", Own(Format::Biosnoop), "TIME(s)     COMM           PID    DISK    T SECTOR     BYTES  LAT(ms)\n", |io, _| format!("{:<11} fio            4162   nvme0n1 {} {:<10} {:<6} {:>7}", seconds(io), letter(io), io.offset / 512, io.size, "0.21")),
    ("ftrace, block_bio_queue", Own(Format::BlockBioQueue), "# tracer: nop\n#\n", |io, _| format!("             fio-4162    [003] .....   {}: block_bio_queue: 259,0 {}S {} + {} [fio]", seconds(io), letter(io), io.offset / 512, io.size / 512)),
    ("perf, block_rq_issue", Own(Format::BlockRqIssue), "", |io, _| format!("             fio  4162 [003]   {}: block:block_rq_issue: 259,0 {}S {} () {} + {} [fio]", seconds(io), letter(io), io.size, io.offset / 512, io.size / 512)),
    ("ftrace, nvme_setup_cmd, blocks of 512 B", OwnOrAsked(Format::NvmeLba512), "", |io, _| nvme(io, 512)),
    ("ftrace, nvme_setup_cmd, blocks of 4 KiB", OwnOrAsked(Format::NvmeLba4k), "", |io, _| nvme(io, 4096)),
    ("events of Windows", Own(Format::Msps), "BeginHeader\n  DiskRead, TimeStamp, Process Name ( PID), ThreadID, IrpPtr, ByteOffset, IOSize, ElapsedTime, DiskNum\n  DiskWrite, TimeStamp, Process Name ( PID), ThreadID, IrpPtr, ByteOffset, IOSize, ElapsedTime, DiskNum\nEndHeader\n", |io, n| format!("   Disk{}, {:>10}, p0 (2004), 9700, 0xfffffadf39860010, {:#012x}, {:#010x}, {:>11}, 4", word(io), io.at.0 / 1000, io.offset, io.size, n)),
    ("csv, of pandas with its index", Own(Format::Csv), ",time_s,op,offset,size\n", |io, n| format!("{n},{},{},{}.0,{}", seconds(io), letter(io), io.offset, io.size)),
    ("csv, of pandas with truth values", Own(Format::Csv), "time_us,is_write,offset,size\n", |io, _| format!("{},{},{},{}", io.at.0 / 1000, if one(io) == 1 { "False" } else { "True" }, io.offset, io.size)),
    ("csv, of R", Own(Format::Csv), "\"\",\"time_s\",\"op\",\"offset\",\"size\"\n", |io, n| format!("\"{}\",{},\"{}\",{},{}", n + 1, seconds(io), letter(io), io.offset, io.size)),
    ("csv, with tabs and blanks", Own(Format::Csv), "Issue Time (s)\tProcess Name\tOp\tOffset\tSize\n", |io, _| format!("{}\tsome thing\t{}\t{}\t{}", seconds(io), letter(io), io.offset, io.size)),
    ("csv, in SPC's order with units", Own(Format::Csv), "disk,lba_4k,size,rw,time_us\n", |io, _| format!("0,{},{},{},{}", io.offset / 4096, io.size, letter(io), io.at.0 / 1000)),
    ("names without units in SPC's order", Claim::None, "disk,lba,size,rw,time\n", |io, _| format!("0,{},{},{},{}", io.offset / 512, io.size, letter(io), seconds(io))),
    ("nanoseconds of 18 days, like dates", Claim::None, "timestamp,op,offset,size\n", |io, _| format!("{},{},{},{}", 1_577_808_144_360_767 + io.at.0 / 1000, letter(io), io.offset, io.size)),
    ("native with a column more", Claim::None, "at_ns,op,offset,size,latency_us\n", |io, n| format!("{},{},{},{},{n}", io.at.0, io.op.word(), io.offset, io.size)),
    ("numbers with blanks behind commas", Claim::None, "", |io, _| format!("{}, {}, {}, {}", io.at.0 / 1000, io.offset, one(io), io.size)),
    ("objects with two sizes", Claim::None, "", |io, _| format!("{{\"time_us\":{},\"op\":\"{}\",\"offset\":{},\"size\":{},\"sectors\":{}}}", io.at.0 / 1000, letter(io), io.offset, io.size, io.size)),
    ("fio averages without offsets", Claim::None, "", |io, n| format!("{}, {}, {}, 0, 0", 500 * (n + 1), 2497 + n, 1 - one(io))),
    ("fio averages", Claim::None, "", |io, n| format!("{}, {}, {}, 0, 0, 0x0000", 500 * (n + 1), 2497 + n, 1 - one(io))),
    ("fio rates", Claim::None, "", |io, n| format!("{}, {}, {}, 4096, 0, 0", 500 * (n + 1), 1_073_152 + n, 1 - one(io))),
    ("fio single requests without offsets", Claim::None, "", |io, n| format!("{}, {}, {}, {}, 0", io.at.0 / 1_000_000, 7622 + n, 1 - one(io), io.size)),
    ("numbers and commas, seconds from 0", Claim::None, "", |io, _| format!("{},{},{},{},7", io.at.0 / 1_000_000_000, io.offset / 512, io.size / 512, 1 - one(io))),
    ("spc in dates", Claim::None, "", |io, _| format!("0,{},{},{},{}.5", io.offset / 512, io.size, letter(io), 1_577_808_000 + io.at.0 / 1_000_000_000)),
    ("msr from 0", Claim::None, "", |io, _| format!("{},hm,0,Read,{},{},1000", io.at.0 / 100, io.offset, io.size)),
    ("alibaba from 0", Claim::None, "", |io, _| format!("419,{},{},{},{}", letter(io), io.offset, io.size, io.at.0 / 1000)),
    ("mqsim in dates", Claim::None, "", |io, _| format!("{} 0 {} {} {}", 1_577_808_000_000_000_000 + io.at.0, io.offset / 512, io.size / 512, one(io))),
    ("six numbers without blanks", Claim::None, "", |io, n| format!("{},{},{},{},{},{}", io.at.0 / 1_000_000, 1000 + n, 1 - one(io), io.size, io.offset, 0)),
    ("a log with a size and a place", Claim::None, "", |io, n| format!("{} INFO request {n} took {} us", io.at.0, io.size)),
    ("ftrace, completions", Claim::None, "", |io, _| format!("             fio-4162    [003] .....   {}: block_rq_complete: 259,0 {}S () {} + {} [0]", seconds(io), letter(io), io.offset / 512, io.size / 512)),
    ("ftrace, functions", Claim::None, "", |io, _| format!("             fio-4162    [003] .....   {}: submit_bio <-ext4_mpage_readpages", seconds(io))),
    ("blkparse, completions", Claim::None, "", |io, n| format!("  8,0    3 {n:>8} {:>14}     0  C  {}S {} + {} [0]", seconds(io), letter(io), io.offset / 512, io.size / 512)),
    ("biosnoop.bt", Claim::None, "Attaching 4 probes...\nTIME(ms)     DISK    COMM             PID    LAT(ms)\n", |io, _| format!("{:<12} nvme0n1 fio              4162   {:>7}", io.at.0 / 1_000_000, 1)),
    ("iostat -x", Claim::None, "Linux 6.8.0 (host)\n\nDevice            r/s     rkB/s   rrqm/s  %rrqm r_await rareq-sz     w/s     wkB/s\n", |io, n| format!("sd{} {}.00 {}.00 0.00 0.00 0.12 4.00 {}.00 64.00", (b'a' + (n % 26) as u8) as char, n, io.size / 512, n)),
];

fn letter(io: &HostIo) -> char {
    if io.op == HostOp::Read { 'R' } else { 'W' }
}

fn word(io: &HostIo) -> &'static str {
    if io.op == HostOp::Read { "Read" } else { "Write" }
}

/// Returns 1 for a read, 0 otherwise.
fn one(io: &HostIo) -> u64 {
    u64::from(io.op == HostOp::Read)
}

/// Returns the time in seconds with six decimals.
fn seconds(io: &HostIo) -> String {
    format!("{}.{:06}", io.at.0 / 1_000_000_000, io.at.0 / 1000 % 1_000_000)
}

/// Returns the time in milliseconds with three decimals.
fn ms(io: &HostIo) -> String {
    format!("{}.{:03}", io.at.0 / 1_000_000, io.at.0 / 1000 % 1000)
}

/// Returns a line of ftrace with a command in blocks of so many bytes.
fn nvme(io: &HostIo, block: u64) -> String {
    let (slba, last) = (io.offset / block, u64::from(io.size).div_ceil(block) - 1);
    format!(
        "             fio-4162    [003] .....   {}: nvme_setup_cmd: nvme0: disk=nvme0n1, qid=4, \
         cmdid=25169, nsid=1, flags=0x0, meta=0x0, cmd=(nvme_cmd_{} slba={slba}, len={last}, \
         ctrl=0x0, dsmgmt=0, reftag=0)",
        seconds(io),
        io.op.word()
    )
}

/// Returns requests of a quiet minute, whose sizes and addresses are not multiples of each other.
fn requests(rng: &mut Rng) -> Vec<HostIo> {
    let mut at = 0;
    let request = |_| {
        at += 1_000_000 * (1 + rng.below(2000));
        let op = if rng.chance(0.5) { HostOp::Read } else { HostOp::Write };
        HostIo::new(op, Nanos(at), 512 * (1 + rng.below(1 << 30)), 512 * (1 + rng.below(99) as u32))
    };
    (0..40).map(request).collect()
}

/// Returns the fault in the outcome for a text of `length` requests, if any.
fn fault(text: &str, claim: Claim, length: usize) -> Option<String> {
    let is_among = |own: Format| {
        let asked = Format::detect(text.as_bytes(), true).err();
        asked.is_some_and(|open| open.candidates.iter().any(|it| it.format == own))
    };
    match (read(text), claim) {
        (Ok((found, report)), Own(own) | OwnOrAsked(own)) => {
            let is_own = report.format == own && found.len() == length;
            (!is_own).then(|| format!("`{}` claims it: {} requests", report.format, found.len()))
        }
        (Ok((_, report)), _) => Some(format!("`{}` claims it", report.format)),
        (Err(error), Claim::None) => {
            // A message must stay short.
            let said = error.diagnostics.len();
            (said > 2).then(|| format!("{said} errors: {error}"))
        }
        (Err(error), Asked(own)) => {
            let names_it = error.to_string().contains(&format!("--format {own}"));
            (!names_it).then(|| format!("`{own}` is not proposed: {error}"))
        }
        (Err(_), OwnOrAsked(own)) if is_among(own) => None,
        (Err(error), _) => Some(error.to_string()),
    }
}

#[test]
fn no_format_claims_what_another_tool_wrote() {
    for seed in 0..40 {
        let mut rng = Rng::stream(seed, "recognition");
        let all = requests(&mut rng);
        for &(name, claim, header, line) in WRITERS {
            let length = 1 + rng.below(40) as usize;
            let mut text = header.to_string();
            for (number, io) in all[..length].iter().enumerate() {
                writeln!(text, "{}", line(io, number as u64)).unwrap();
            }
            if let Some(fault) = fault(&text, claim, length) {
                panic!("seed {seed}: {name}, {claim:?}: {fault}\n{text}");
            }
        }
    }
}

#[test]
fn every_text_format_has_a_writer() {
    for &format in Format::ALL {
        let is_own = |&(_, claim, ..): &Writer| matches!(claim, Own(own) | OwnOrAsked(own) | Asked(own) if own == format);
        // `ssdsim-ns` is `mqsim` under another name, and nothing is written as `csv`.
        let is_exempt = format.is_binary() || matches!(format, Format::Csv | Format::SsdsimNs);
        assert!(is_exempt || WRITERS.iter().any(is_own), "{format} has no writer");
    }
}

/// The example of each format, beginning at each of its lines, is claimed by its own format or by
/// none.
#[test]
fn no_format_claims_the_example_of_another() {
    for &format in Format::ALL {
        let Ok(text) = str::from_utf8(format.example()) else { continue };
        if format.is_binary() || format == Format::Csv {
            continue;
        }
        let header = format.header().map_or_else(String::new, |header| format!("{header}\n"));
        let lines: Vec<&str> = text.lines().skip(usize::from(format.header().is_some())).collect();
        for from in 0..lines.len() {
            for times in [1, 9] {
                let part = header.clone() + &(lines[from..].join("\n") + "\n").repeat(times);
                let Ok(found) = Format::detect(part.as_bytes(), true) else { continue };
                // FIU's other columns are ignored, and DiskSim's are those of four formats. Of the
                // events of a tool, those that are read may be missing.
                let is_own = found == format || found.columns() == format.columns();
                let reads_none =
                    || read(&part).is_err_and(|error| error.to_string().contains("without"));
                assert!(is_own || reads_none(), "`{found}` claims {format}: {part}");
            }
        }
    }
}
