//! The tracepoint `nvme_setup_cmd` in text of ftrace, trace-cmd or perf, on a namespace with blocks
//! of 512 B: see [`nvme`](super::nvme).

use super::kernel_log::{EVENTS, NVME_SETUP, without};
use super::nvme::{command, is_ruled_out};
use super::{Signs, Table, TraceFormat};
use crate::columns::Columns;
use crate::left_out_events::{LeftOut, NamedKind};
use crate::record::Record;
use fowler_units::Diagnostic;

/// Block size of the traced namespace, in bytes.
const BLOCK: u64 = 512;

/// The text format of `nvme_setup_cmd` with blocks of 512 B.
pub(crate) struct NvmeLba512;

impl TraceFormat for NvmeLba512 {
    const COLUMNS: &'static str = "task-pid [cpu] flags time: nvme_setup_cmd: controller disk qid \
                                   cmdid nsid flags meta cmd slba len ctrl";
    const ABOUT: &'static str = "\
        text of ftrace, trace-cmd or perf script: only nvme_setup_cmd events (commands to the drive) \
        are read, time in decimal seconds (counted from the first request on), blocks of 512 B, \
        len + 1 of them, the command Read or Write, write_zeroes a trim, the disk is the device";
    const TABLE: Table = Table {
        time: "s, decimal, since the machine began",
        range: "blocks of 512 B",
        read: "`nvme_cmd_read`",
    };
    const EXAMPLE: &'static [u8] = b"\
        \x20 fio-4423  [003] .....  104.831153: nvme_setup_cmd: nvme0: disk=nvme0n1, qid=4, cmdid=25169, nsid=1, flags=0x0, meta=0x0, cmd=(nvme_cmd_read slba=1229784, len=7, ctrl=0x0, dsmgmt=0, reftag=0)\n\
        \x20 fio-4423  [003] .....  104.831310: nvme_setup_cmd: nvme0: disk=nvme0n1, qid=4, cmdid=25170, nsid=1, flags=0x0, meta=0x0, cmd=(nvme_cmd_write slba=8, len=0, ctrl=0x4000, dsmgmt=0, reftag=0)\n\
        \x20 <idle>-0  [003] d.h..  104.831410: nvme_complete_rq: nvme0: disk=nvme0n1, qid=4, cmdid=25170, res=0x0, retries=0, flags=0x0, status=0x0\n\
        \x20 jbd2-321  [001] .....  104.832001: nvme_setup_cmd: nvme0: disk=nvme0n1, qid=2, cmdid=12290, nsid=1, flags=0x0, meta=0x0, cmd=(nvme_cmd_flush cdw10=00 00 00 00)\n";
    const TIME_COLUMN: &'static str = "time:";
    const FROM_A_DATE: bool = true;
    const NAMES_DEVICES: bool = true;
    const SIGNS: Signs = Signs { layer: Some(2), ..Signs::NONE };
    const LEFT_OUT: &'static [NamedKind] = EVENTS;
    const SHOWN_BY_EVENTS: bool = true;
    const NOTE: Option<&'static str> =
        Some("blocks are read as 512 B; --format nvme-lba4k reads them as 4 KiB");

    fn decode<'a, C: Columns<'a>>(columns: &mut C) -> Result<Record, C::Fault> {
        command(columns, BLOCK)
    }

    fn without_requests(left_out: &[LeftOut]) -> Option<Diagnostic> {
        without(NVME_SETUP, left_out)
    }

    fn is_ruled_out(lines: &[&[u8]]) -> bool {
        is_ruled_out(BLOCK, lines)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{decode_lone, tests::causes};
    use super::*;
    use crate::extra::Extra;
    use crate::formats::nvme_lba4k::NvmeLba4k;
    use crate::{Cause, Format, Undetected};
    use fowler_units::{HostIo, Nanos};

    fn line(command: &str) -> String {
        format!(
            "x-1 [000] ..... 1.5: nvme_setup_cmd: nvme0: disk=nvme0n1, qid=4, cmdid=1, nsid=1, \
             flags=0x0, meta=0x0, cmd=({command})"
        )
    }

    #[test]
    fn commands_are_operations_and_len_counts_from_0() {
        let (at, rest) = (Nanos(1_500_000_000), "dsmgmt=0, reftag=0");
        let none = Extra::NONE;
        for (command, io, extra) in [
            ("nvme_cmd_read slba=8, len=0, ctrl=0x0", HostIo::read(at, 4096, 512), none),
            ("nvme_cmd_read slba=8, len=65535, ctrl=0x8000", HostIo::read(at, 4096, 1 << 25), none),
            (
                "nvme_cmd_write slba=8, len=7, ctrl=0x4000",
                HostIo::write(at, 4096, 4096),
                Extra { forced: true, ..none },
            ),
            (
                "nvme_cmd_write_zeroes slba=8, len=7, ctrl=0x2000",
                HostIo::trim(at, 4096, 4096),
                Extra { zeroes: true, ..none },
            ),
            ("nvme_cmd_flush cdw10=00 00", HostIo::flush(at), none),
            ("nvme_cmd_flush nsid=1", HostIo::flush(at), none),
        ] {
            let line = line(&format!("{command}, {rest}"));
            let decoded = decode_lone::<NvmeLba512>(line.as_bytes()).unwrap();
            assert_eq!((decoded.record.io, decoded.extra), (io, extra), "{line}");
            assert_eq!(decoded.host, Some(&b"nvme0n1"[..]));
            let large = decode_lone::<NvmeLba4k>(line.as_bytes()).unwrap().record.io;
            assert_eq!((large.offset, large.size), (8 * io.offset, 8 * io.size));
        }
        // Lines of `nvme_setup_cmd` as older kernels print them.
        for old in [
            "x-1 [0] . 1.5: nvme_setup_cmd: nvme0: disk=nvme0c0n1, qid=6, cmdid=49, nsid=0x1, \
             flags=0x40, meta=0x0 cmd=(nvme_cmd_read slba=8, len=0, ctrl=0x0, dsmgmt=0, reftag=0)",
            "x-1 [0] . 1.5: nvme_setup_nvm_cmd: qid=1, nsid=1, cmdid=0, flags=0x0, meta=0x0, \
             cmd=(nvme_cmd_read slba=8, len=0, ctrl=0x0, dsmgmt=0, reftag=0)",
        ] {
            let decoded = decode_lone::<NvmeLba512>(old.as_bytes()).unwrap();
            assert_eq!(decoded.record.io, HostIo::read(at, 4096, 512), "{old}");
        }
    }

    #[test]
    fn each_fault_has_its_cause() {
        let lines = [
            line("nvme_cmd_dsm nr=0, attributes=4"),
            line("nvme_admin_identify cns=1, ctrlid=0"),
            line("nvme_cmd_zone_append slba=8, len=0, ctrl=0x0"),
            line("nvme_cmd_read slba=8, ctrl=0x0"),
            line("nvme_cmd_read slba=eight, len=0, ctrl=0x0"),
            line("nvme_cmd_read slba=8, len=7, ctrl=x"),
            line("nvme_cmd_read slba=36028797018963968, len=7, ctrl=0x0"),
            line("nvme_cmd_read slba=8, len=18446744073709551615, ctrl=0x0"),
            line("nvme_cmd_read"),
            "x-1 [0] . 1.5: nvme_setup_cmd: nvme0: disk=nvme0n1, qid=4".to_string(),
        ];
        let expected = [
            Cause::OtherEvent,
            Cause::OtherEvent,
            Cause::OtherEvent,
            Cause::TooFewColumns,
            Cause::NotANumber,
            Cause::NotANumber,
            Cause::TooLarge,
            Cause::TooLarge,
            Cause::TooFewColumns,
            Cause::TooFewColumns,
        ];
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        assert_eq!(causes(Format::NvmeLba512, &lines), expected);
        let kinds = lines[..3].iter().map(|line| {
            let kind =
                super::super::decode_line(Format::NvmeLba512, line.as_bytes()).unwrap_err().kind;
            EVENTS[usize::from(kind) - 1].0
        });
        assert_eq!(kinds.collect::<Vec<_>>(), ["dsm", "admin", "command"]);
    }

    #[test]
    fn the_size_of_a_block_is_asked_for_unless_it_is_shown() {
        let detect = |text: &str| {
            let named = |it: Undetected| it.candidates.iter().map(|it| it.format).collect();
            Format::detect(text.as_bytes(), true).map_err(named)
        };
        let command = |slba: u64, len: u64| {
            line(&format!("nvme_cmd_write slba={slba}, len={len}, ctrl=0x0, dsmgmt=0")) + "\n"
        };
        let issued = |sector: u64, sectors: u64| {
            let bytes = sectors * 512;
            format!("x-1 [0] . 1.5: block_rq_issue: 259,0 W {bytes} () {sector} + {sectors} [x]\n")
        };
        let both: Result<Format, Vec<Format>> = Err(vec![Format::NvmeLba512, Format::NvmeLba4k]);
        assert_eq!(detect(&command(8, 7)), both);
        assert_eq!(detect(&command(8, 7).repeat(8)), Ok(Format::NvmeLba512));
        assert_eq!(detect(&(command(8, 7).repeat(8) + &command(3, 0))), both);
        let beside = |issued: String| command(3, 0) + &command(5, 1) + &issued;
        assert_eq!(detect(&beside(issued(5, 2))), Ok(Format::NvmeLba512));
        assert_eq!(detect(&beside(issued(40, 16))), Ok(Format::NvmeLba4k));
        assert_eq!(detect(&beside(issued(9, 9))), both);
        // With equally many events of both kinds, the block layer's event wins: it says more.
        assert_eq!(detect(&(command(8, 7) + &issued(8, 8))), Ok(Format::BlockRqIssue));
        // Events without addresses still show that the text is a kernel log.
        let completed = "x-1 [0] . 1.5: nvme_complete_rq: nvme0: disk=nvme0n1, qid=4\n";
        assert_eq!(detect(completed), Ok(Format::BlockBioQueue));
    }
}
