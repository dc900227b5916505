//! Decoder shared by the formats that read the tracepoint `nvme_setup_cmd`: a command as the NVMe
//! driver gives it to the drive. The formats differ in the size of a block, which the event does
//! not tell.
//!
//! Source: `nvme_setup_cmd` in the kernel's `drivers/nvme/host/trace.h`, and `trace.c` beside it:
//! `nvme0: disk=nvme0n1, qid=4, cmdid=1, nsid=1, flags=0x0, meta=0x0, cmd=(nvme_cmd_read slba=8,
//! len=7, ctrl=0x0, dsmgmt=0, reftag=0)`. `len` counts blocks from 0, and bit 14 of `ctrl` is
//! forced unit access (NVM Command Set Specification 1.1, "Read command" and "Write command").
//! Deallocation is a dataset management command, whose ranges the event does not print.

use super::Format;
use super::kernel_log::{ADMIN, COMMAND, DSM, NVME_SETUP, event};
use crate::Cause;
use crate::columns::Columns;
use crate::decode::decode_line;
use crate::extra::Extra;
use crate::fields::Fault;
use crate::number::{hexadecimal, unsigned};
use crate::record::{Measure, Record, SECTOR, record};
use fowler_units::{HostIo, HostOp};

/// Bit of the command field `ctrl` that asks for forced unit access (FUA).
const FUA: u64 = 1 << 14;

/// Largest number of words between the controller's name and the command in a line of the event
/// `nvme_setup_cmd`.
const WORDS_BEFORE_COMMAND: usize = 16;

/// Number of 512 B blocks in a 4 KiB block.
const SECTORS: u64 = 8;

/// Fewest NVMe commands of a trace from which a block size of 512 B is concluded, if all addresses
/// and sizes are multiples of 4 KiB when the commands are read with that size.
const COMMANDS_FOR_UNITS: usize = 8;

/// Decodes an `nvme_setup_cmd` event of a namespace with blocks of `unit` bytes.
#[inline(always)]
pub(super) fn command<'a, C: Columns<'a>>(columns: &mut C, unit: u64) -> Result<Record, C::Fault> {
    let at = event(columns, NVME_SETUP)?;
    let mut disk = columns.next("controller")?;
    let mut word = disk;
    let mut words = 0;
    let name = loop {
        if let Some(name) = word.strip_prefix(b"cmd=(") {
            break name;
        }
        if let Some(name) = word.strip_prefix(b"disk=") {
            disk = name;
        }
        words += 1;
        if words == WORDS_BEFORE_COMMAND {
            return Err(C::fault(Fault::new(Cause::TooFewColumns, "cmd", b"")));
        }
        word = columns.next("cmd")?;
    };
    let name = name.strip_suffix(b")").unwrap_or(name);
    let left_out = |kind| C::fault(Fault::left_out(kind, "cmd", name));
    let (op, zeroes) = match name {
        b"nvme_cmd_read" => (HostOp::Read, false),
        b"nvme_cmd_write" => (HostOp::Write, false),
        b"nvme_cmd_write_zeroes" => (HostOp::Trim, true),
        b"nvme_cmd_flush" => (HostOp::Flush, false),
        b"nvme_cmd_dsm" => return Err(left_out(DSM)),
        name if name.starts_with(b"nvme_cmd_") => return Err(left_out(COMMAND)),
        _ => return Err(left_out(ADMIN)),
    };
    let (mut slba, mut blocks, mut ctrl) = (0, 0, 0);
    if op != HostOp::Flush {
        slba = number(columns, "slba", b"slba=", unsigned)?;
        blocks = number(columns, "len", b"len=", unsigned)?;
        blocks = blocks.saturating_add(1);
        ctrl = number(columns, "ctrl", b"ctrl=", hexadecimal)?;
    }
    let forced = op == HostOp::Write && ctrl & FUA != 0;
    if zeroes || forced {
        columns.extra(Extra { forced, zeroes, ..Extra::NONE })?;
    }
    columns.host_is(without_mark(disk));
    let start = Measure { count: slba, unit, column: "slba" };
    record::<C>(at.0, 0, start, Measure { count: blocks, unit, column: "len" }, op)
}

/// Returns a word of the kernel event `nvme_setup_cmd` without the punctuation mark at its end.
#[inline]
fn without_mark(word: &[u8]) -> &[u8] {
    match word {
        [word @ .., b',' | b':' | b')'] => word,
        word => word,
    }
}

/// Parses the next word of the kernel event `nvme_setup_cmd`: a name, `=` and a number.
#[inline(always)]
fn number<'a, C: Columns<'a>>(
    columns: &mut C,
    column: &'static str,
    name: &[u8],
    parse: impl Fn(&[u8]) -> Result<u64, crate::number::NumberError>,
) -> Result<u64, C::Fault> {
    let word = without_mark(columns.next(column)?);
    let field = word
        .strip_prefix(name)
        .ok_or_else(|| C::fault(Fault::new(Cause::TooFewColumns, column, b"")))?;
    parse(field).map_err(|error| C::fault(Fault::number(error, column, field)))
}

/// True if the first lines prove that a block is not `unit` bytes: the log also has the requests in
/// sectors of 512 B, or all addresses and sizes would be multiples of 4 KiB if blocks were 512 B.
pub(super) fn is_ruled_out(unit: u64, lines: &[&[u8]]) -> bool {
    let read = |format: Format| {
        let records = lines.iter().filter_map(move |line| decode_line(format, line).ok());
        records.map(|record| record.io).filter(|io| io.size > 0).collect::<Vec<HostIo>>()
    };
    let commands = read(Format::NvmeLba512);
    let in_sectors = [read(Format::BlockRqIssue), read(Format::BlockBioQueue)].concat();
    let shown = |times: u64| {
        let is_same = |command: &HostIo| {
            let range = (command.offset.checked_mul(times), u64::from(command.size) * times);
            let same = |io: &HostIo| (Some(io.offset), u64::from(io.size)) == range;
            in_sectors.iter().any(same)
        };
        commands.iter().filter(|command| is_same(command)).count()
    };
    let aligned = |io: &HostIo| {
        io.offset.is_multiple_of(SECTORS * SECTOR)
            && u64::from(io.size).is_multiple_of(SECTORS * SECTOR)
    };
    let all_aligned = commands.len() >= COMMANDS_FOR_UNITS && commands.iter().all(aligned);
    match (shown(1), shown(SECTORS)) {
        (0, 0) => unit != SECTOR && all_aligned,
        (small, large) => (unit == SECTOR) != (small >= large),
    }
}
