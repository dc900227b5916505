//! Traces for `--parse` in formats whose times are not a column of text: seeded random requests
//! with times that rise.

use fowler_units::Rng;
use fowler_workload::Format;
use std::io::Write;

/// Number of bytes that are compressed at once.
const FRAME: usize = 8_000_000;

/// A random request, in the units of its trace format.
struct Request {
    /// Arrival time in microseconds since the beginning of the trace.
    at: u64,
    read: bool,
    sector: u64,
    pages: u64,
}

/// Returns a trace of at least `length` bytes in pieces, and the number of lines or records in it;
/// `None` for formats whose lines can be given any time.
pub fn pieces(format: Format, length: usize) -> Option<(Vec<Vec<u8>>, usize)> {
    let mut rng = Rng::stream(3, format.name());
    let (mut all, mut piece, mut records, mut at) = (Vec::new(), Vec::new(), 0, 1_000_000);
    if let Some(header) = format.header() {
        writeln!(piece, "{header}").expect("memory");
        records += 1;
    }
    while all.len() * FRAME < length {
        at += rng.below(200);
        let (read, sector) = (rng.chance(0.6), rng.below(1 << 28));
        let request = Request { at, read, sector, pages: 1 + rng.below(16) };
        records += append(&mut piece, format, &request)?;
        if piece.len() >= FRAME {
            all.push(std::mem::take(&mut piece));
        }
    }
    Some((all, records))
}

/// Appends a request to a trace; returns the number of lines or records that took.
fn append(out: &mut Vec<u8>, format: Format, request: &Request) -> Option<usize> {
    let &Request { at, read, sector, pages } = request;
    let (letter, bytes) = (if read { 'R' } else { 'W' }, pages * 4096);
    let (s, us) = (at / 1_000_000, at % 1_000_000);
    let mut lines = 1;
    match format {
        Format::Msps => {
            let event = if read { "DiskRead" } else { "DiskWrite" };
            writeln!(
                out,
                "{event:>23}, {at:>10}, p0 (2004), {:>10}, 0xfffffadf39860010, {:#012x}, {bytes:#010x}, {:>11}, {:>8}, \
                 0x000901, {:>11},       0,  Unknown, 0xfffffadf3b71e8f0, \"Disk8:\\s0\\s1\\s2\"",
                9700,
                sector * 512,
                3738,
                0,
                3738
            )
        }
        Format::Nexus => {
            let kind = if read { 4 } else { 5 };
            writeln!(
                out,
                "{sector}\t\t{}\t\t{bytes}\t\t{kind}\t\t{s}.{us:06}627\t\t{s}.{us:06}815\t\t{s}.{us:06}877\t\t{s}.{us:06}971",
                pages * 8
            )
        }
        Format::FioIolog2 => {
            lines = 2;
            let action = if read { "read" } else { "write" };
            writeln!(out, "/dev/sda wait {} 0\n/dev/sda {action} {} {bytes}", at % 200, sector * 512)
        }
        Format::Biosnoop => {
            writeln!(
                out,
                "{s}.{us:06}    supervise      1950   xvda1   {letter} {sector:<10} {bytes:<7}    0.74"
            )
        }
        Format::JsonLines => writeln!(
            out,
            "{{\"ts\": {}, \"op\": \"{letter}\", \"sector\": {sector}, \"bytes\": {bytes}}}",
            at * 1000
        ),
        Format::Csv => writeln!(out, "{at},{letter},{sector},{bytes}"),
        Format::BlkparseIssued => {
            writeln!(
                out,
                "259,2    3 {:>8} {s:>5}.{us:06}000  4020  D   {letter} {sector} + {} [java]",
                at % 99_999,
                pages * 8
            )
        }
        Format::BlockBioQueue | Format::BlockRqIssue => {
            let (event, command) = match format {
                Format::BlockBioQueue => ("block_bio_queue", String::new()),
                _ => ("block_rq_issue", format!("{bytes} () ")),
            };
            writeln!(
                out,
                "             fio-4423    [003] ..... {s:>5}.{us:06}: {event}: 259,0 {letter}S {command}{sector} + {} [fio]",
                pages * 8
            )
        }
        Format::NvmeLba512 | Format::NvmeLba4k => {
            let (command, block) = (if read { "read" } else { "write" }, if format == Format::NvmeLba512 { 8 } else { 1 });
            writeln!(
                out,
                "             fio-4423    [003] ..... {s:>5}.{us:06}: nvme_setup_cmd: nvme0: disk=nvme0n1, qid=4, cmdid=25169, \
                 nsid=1, flags=0x0, meta=0x0, cmd=(nvme_cmd_{command} slba={sector}, len={}, ctrl=0x0, dsmgmt=0, reftag=0)",
                pages * block - 1
            )
        }
        _ => return append_binary(out, format, request),
    }
    .expect("memory takes anything");
    Some(lines)
}

/// Appends a record of a binary format to a trace; returns the number of records, `None` for other
/// formats.
fn append_binary(out: &mut Vec<u8>, format: Format, request: &Request) -> Option<usize> {
    let &Request { at, read, sector, pages } = request;
    let (bytes, s, us) = (pages * 4096, at / 1_000_000, at % 1_000_000);
    match format {
        Format::Vscsi1 | Format::Vscsi2 => {
            let version: u16 = if format == Format::Vscsi1 { 0x011a } else { 0x021a };
            let cmd: u16 = if read { 0x28 } else { 0x2a };
            let (cmd, version) = (cmd.to_le_bytes(), version.to_le_bytes());
            let (len, rest) =
                ((bytes as u32).to_le_bytes(), [sector.to_le_bytes(), at.to_le_bytes()]);
            let head = if format == Format::Vscsi1 {
                [&[0; 4][..], &len, &[0; 4], &cmd, &version].concat()
            } else {
                [&cmd[..], &version, &[0; 4], &len, &[0; 4]].concat()
            };
            let tail = if format == Format::Vscsi1 { &[][..] } else { &[0; 8] };
            out.write_all(&[&head[..], &rest.concat(), tail].concat())
        }
        Format::Blktrace => {
            let action: u32 = if read { 0x11_0001 } else { 0x12_0001 };
            let words = [bytes as u32, action, 4020, 259 << 20 | 2, 0, 0];
            let words: Vec<u8> = words.into_iter().flat_map(u32::to_le_bytes).collect();
            let head = [0x6561_7407u32.to_le_bytes(), [0; 4]].concat();
            let long = [(at * 1000).to_le_bytes(), sector.to_le_bytes()].concat();
            out.write_all(&[head, long, words].concat())
        }
        Format::Srt => {
            let (s, us, size) = (s as u32, us as u32, bytes as u32);
            let words =
                [52, 1 << 16 | 1, s, us, 1, 2, size, sector as u32, 0x400, 1, 9, read.into(), 0];
            let words: Vec<u8> = words.into_iter().flat_map(u32::to_be_bytes).collect();
            out.write_all(&words)
        }
        Format::OracleGeneral => {
            let (s, size) = ((at / 1000) as u32, (bytes as u32).to_le_bytes());
            let id = (sector / 8).to_le_bytes();
            out.write_all(&[&s.to_le_bytes()[..], &id, &size, &[0xff; 8]].concat())
        }
        _ => return None,
    }
    .expect("memory takes anything");
    Some(1)
}
