//! The trace formats. One list defines the modules, the enum, the names in configuration and
//! messages, the lines of `--help`, and the dispatch. Detection, the table in `docs/traces.md`, the
//! tests over all formats and the fuzz targets read it. Adding a format takes one file and one
//! line.
//!
//! Sources: the SPC trace file format 1.0.1; the README of the SNIA trace set "MSR Cambridge
//! Traces"; DiskSim's `disksim_iotrace.c`; MQSim's `ASCII_Trace_Definition.h`; SSDsim's trace
//! reader; and those named in the files. The formats contradict one another, above all in the code
//! for a read; [`Format::about`] states it for each.

mod iolog;
mod kernel_log;
mod nvme;
pub(crate) mod rwbs;
mod simulators;
mod trace_format;
mod vscsi;

pub(crate) use trace_format::{Signs, Table, TraceFormat};

use crate::binary::Binary;
use crate::context::Context;
use crate::left_out_events::{LeftOut, NamedKind};
use crate::recognition::plausibility::Rules;
use fowler_units::Diagnostic;
use std::fmt;

#[cfg(test)]
pub(crate) use crate::decode::{decode_among, decode_line, decode_lone};

/// Declares the trace formats: for each, its name, source file, type, and one line of help.
macro_rules! formats {
    ($d:tt $($name:literal => $module:ident::$Type:ident, $help:literal;)+) => {
        $(pub(crate) mod $module;)+

        /// A trace format that the reader decodes.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Format {
            $(#[doc = concat!($help, ".")] $Type),+
        }

        impl Format {
            /// Every format, in the order of the documentation.
            pub const ALL: &[Format] = &[$(Format::$Type),+];

            /// Returns the name of the trace format in configuration and on the command line.
            pub fn name(self) -> &'static str {
                match self { $(Format::$Type => $name),+ }
            }

            /// Returns a one-line description of the format for `--help`.
            pub fn help(self) -> &'static str {
                match self { $(Format::$Type => $help),+ }
            }
        }

        /// Evaluates an expression with a type alias for the format's type: a single branch, then
        /// code specialized for that format.
        macro_rules! each_format {
            ($d format:expr, $d F:ident => $d body:expr) => {
                match $d format {
                    $($d crate::Format::$Type => {
                        type $d F = $d crate::formats::$module::$Type;
                        $d body
                    }),+
                }
            };
        }
        pub(crate) use each_format;
    };
}

formats! { $
    "native" => native::Native, "this project's own CSV, with its header";
    "spc" => spc::Spc, "SPC (Storage Performance Council), as in the UMass repository";
    "msr" => msr::Msr, "MSR Cambridge CSV";
    "disksim" => disksim::Disksim, "DiskSim ASCII";
    "mqsim" => mqsim::Mqsim, "MQSim ASCII";
    "ssdsim-ns" => ssdsim_ns::SsdsimNs, "SSDsim ASCII, time in nanoseconds";
    "ssdsim-us" => ssdsim_us::SsdsimUs, "SSDsim ASCII, time in microseconds";
    "ssdsim-digest" => ssdsim_digest::SsdsimDigest, "SSDsim ASCII of the FIU traces, with a digest";
    "flashsim" => flashsim::Flashsim, "FlashSim ASCII, sizes in pages of 4 KiB";
    "msr-cut" => msr_cut::MsrCut, "excerpts of MSR Cambridge in FlashSim's columns, in bytes";
    "blkparse" => blkparse::Blkparse, "the default text output of blkparse";
    "blkparse-issued" => blkparse_issued::BlkparseIssued, "blkparse text, requests as issued (D events)";
    "systor17" => systor17::Systor17, "SYSTOR '17 CSV, with its header";
    "alibaba" => alibaba::Alibaba, "Alibaba block traces (2020)";
    "tencent" => tencent::Tencent, "Tencent Cloud Block Storage CSV (2018)";
    "msps" => msps::Msps, "Event Tracing for Windows as CSV, as of Microsoft's production servers";
    "nexus" => nexus::Nexus, "BIOtracer's logs of a Nexus 5 phone";
    "fiu" => fiu::Fiu, "FIU traces in their own columns";
    "fio-iolog2" => fio_iolog2::FioIolog2, "fio's iolog, version 2";
    "fio-iolog3" => fio_iolog3::FioIolog3, "fio's iolog, version 3";
    "fio-log" => fio_log::FioLog, "fio's logs of single requests, with log_offset=1";
    "biosnoop" => biosnoop::Biosnoop, "the output of bcc's biosnoop";
    "block-bio-queue" => block_bio_queue::BlockBioQueue, "ftrace or perf script, block_bio_queue events";
    "block-rq-issue" => block_rq_issue::BlockRqIssue, "ftrace or perf script, block_rq_issue events";
    "nvme-lba512" => nvme_lba512::NvmeLba512, "ftrace or perf script, nvme_setup_cmd events, blocks of 512 B";
    "nvme-lba4k" => nvme_lba4k::NvmeLba4k, "ftrace or perf script, nvme_setup_cmd events, blocks of 4 KiB";
    "vscsi1" => vscsi1::Vscsi1, "VMware vSCSI, binary, version 1";
    "vscsi2" => vscsi2::Vscsi2, "VMware vSCSI, binary, version 2";
    "blktrace" => blktrace::Blktrace, "blktrace's binary files";
    "srt" => srt::Srt, "SRT of HP Labs (Cello), binary";
    "oracle-general" => oracle_general::OracleGeneral, "libCacheSim's oracleGeneral, binary";
    "json-lines" => json_lines::JsonLines, "JSON lines: an object for each request, keys by name";
    "csv" => csv::Csv, "any CSV, its columns given with --columns";
}

impl Format {
    /// Returns the columns in order, as named in the format's own documentation.
    pub fn columns(self) -> &'static str {
        each_format!(self, F => F::COLUMNS)
    }

    /// Describes the format's columns, units and read/write codes in one sentence.
    pub fn about(self) -> &'static str {
        each_format!(self, F => F::ABOUT)
    }

    /// Returns a few valid lines of this trace format, with the header row if the format has one;
    /// of a binary format, a few records.
    pub fn example(self) -> &'static [u8] {
        each_format!(self, F => F::EXAMPLE)
    }

    /// Returns the name of the format's time column: one of [`Format::columns`].
    pub fn time_column(self) -> &'static str {
        each_format!(self, F => F::TIME_COLUMN)
    }

    /// Returns the trace format with that name; `None` if there is none.
    pub fn by_name(name: &str) -> Option<Format> {
        Format::ALL.iter().copied().find(|format| format.name() == name)
    }

    /// Returns the names of all trace formats, in order, for messages.
    pub fn names() -> String {
        let names: Vec<_> = Format::ALL.iter().map(|format| format.name()).collect();
        names.join(", ")
    }

    /// Returns the table in `docs/traces.md`: every format with its columns and units.
    pub fn table() -> String {
        let mut table = String::from(
            "| `--format` | columns | time | address, size | read code |\n|---|---|---|---|---|\n",
        );
        for &format in Format::ALL {
            let Table { time, range, read } = each_format!(format, F => F::TABLE);
            let columns = format.columns();
            table += &format!("| `{format}` | `{columns}` | {time} | {range} | {read} |\n");
        }
        table
    }

    /// Returns the header row that must come first, if the format has one.
    pub fn header(self) -> Option<&'static str> {
        each_format!(self, F => F::HEADER)
    }

    /// Returns true if the format is binary; a "line" in this crate is then a record.
    pub fn is_binary(self) -> bool {
        self.binary().is_some()
    }

    /// Returns true if arrival times in this format are in whole seconds.
    pub fn has_whole_seconds(self) -> bool {
        each_format!(self, F => F::WHOLE_SECONDS)
    }

    /// Returns the rules that divide a binary format into records; `None` for text.
    pub(crate) fn binary(self) -> Option<Binary> {
        each_format!(self, F => F::BINARY)
    }

    /// Returns the rules that all records of the format keep.
    pub(crate) fn rules(self) -> Rules {
        each_format!(self, F => F::RULES)
    }

    /// Returns the format's columns in the syntax of `--columns`; `None` if they cannot be
    /// described so.
    pub fn as_columns(self) -> Option<&'static str> {
        each_format!(self, F => F::AS_COLUMNS)
    }

    /// Returns true if the format can be detected from a text alone.
    pub(crate) fn is_detected(self) -> bool {
        each_format!(self, F => F::DETECTED)
    }

    /// Returns the kinds of events that the format skips and counts.
    pub(crate) fn left_out(self) -> &'static [NamedKind] {
        each_format!(self, F => F::LEFT_OUT)
    }

    /// Returns the format's own error for a trace that has no request; `left_out` are the events
    /// that were skipped. `None` if the error is the one that all formats share.
    pub(crate) fn without_requests(self, left_out: &[LeftOut]) -> Option<Diagnostic> {
        each_format!(self, F => F::without_requests(left_out))
    }

    /// Returns true if this format can be detected from events that it skips, even when the first
    /// lines of the trace contain no request.
    pub(crate) fn is_shown_by_events(self) -> bool {
        each_format!(self, F => F::SHOWN_BY_EVENTS)
    }

    /// Returns true if the first lines show that the format's units are not those of the trace.
    pub(crate) fn is_ruled_out(self, lines: &[&[u8]]) -> bool {
        each_format!(self, F => F::is_ruled_out(lines))
    }

    /// Returns the format's notes on a trace that was read.
    pub(crate) fn notes(self, context: &Context) -> Vec<String> {
        let note = each_format!(self, F => F::NOTE).map(str::to_string);
        note.into_iter().chain(each_format!(self, F => F::notes(context))).collect()
    }

    /// Returns true if the line, trimmed, is the header row, optional columns included.
    pub(crate) fn begins_with(self, line: &[u8]) -> bool {
        let more = each_format!(self, F => F::OPTIONAL_COLUMNS);
        let rest = self.header().and_then(|header| line.strip_prefix(header.as_bytes()));
        each_format!(self, F => F::is_header(line))
            || rest.is_some_and(|rest| more && rest.first() == Some(&b','))
    }

    /// Returns true if times in this format count from a calendar date.
    #[inline]
    pub(crate) fn counts_from_a_date(self) -> bool {
        each_format!(self, F => F::FROM_A_DATE)
    }

    pub(crate) fn signs(self) -> Signs {
        each_format!(self, F => F::SIGNS)
    }

    #[inline]
    pub(crate) fn begins_summary(self, line: &[u8]) -> bool {
        each_format!(self, F => F::begins_summary(line))
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::{Cause, Fault, Record};

    /// The record of a trace line and the host that the line names, if any.
    pub(crate) type WithHost<'a> = Result<(Record, Option<&'a [u8]>), Fault<'a>>;

    /// Decodes a line of a trace into its record and the traced machine (host) that the line names,
    /// if any.
    pub(crate) fn decode_and_host<F: TraceFormat>(line: &[u8]) -> WithHost<'_> {
        decode_lone::<F>(line).map(|decoded| (decoded.record, decoded.host))
    }

    /// Decodes a line of a format whose lines depend on earlier lines into its record and the host
    /// that it names.
    pub(crate) fn decode_stateful<'a, F: TraceFormat>(
        line: &'a [u8],
        context: &mut Context,
    ) -> WithHost<'a> {
        decode_among::<F>(line, context).map(|decoded| (decoded.record, decoded.host))
    }

    /// Returns the reasons why the lines of a trace, all of them invalid, cannot be decoded, in
    /// order.
    pub(crate) fn causes(format: Format, lines: &[&str]) -> Vec<Cause> {
        lines
            .iter()
            .map(|line| decode_line(format, line.as_bytes()).expect_err(line).cause)
            .collect()
    }

    #[test]
    fn every_format_is_listed_once_and_found_by_its_name() {
        for (index, &format) in Format::ALL.iter().enumerate() {
            assert_eq!(format as usize, index);
            assert_eq!(Format::by_name(format.name()), Some(format));
            let about = format.about();
            assert!(about.contains("time in "), "{format} says what its time counts");
            assert!(
                [
                    "1 is a read",
                    "0 is a read",
                    "set for a read",
                    "all are reads",
                    "r/R",
                    "Read or Write",
                    "R or W",
                    "op one of",
                ]
                .iter()
                .any(|code| about.contains(code)),
                "{format} says which code is a read"
            );
            let columns = format.columns();
            assert!(columns.contains(format.time_column()), "{format} has its time");
            assert!(!format.help().is_empty() && !format.help().contains('\n'));
        }
        assert_eq!(Format::by_name("SPC"), None);
    }

    #[test]
    fn an_example_is_read_whole_and_taken_for_no_other_format() {
        for &format in Format::ALL {
            if format.is_binary() {
                let found = Format::of_binary(format.example());
                assert_eq!(found, Some(format).filter(|it| it.is_detected()), "{format}");
                let other = Format::could_be_binary(format.example());
                assert!(format.is_detected() || other == [format], "{format}: {other:?}");
                continue;
            }
            let text = str::from_utf8(format.example()).unwrap();
            assert_eq!(Format::of_binary(text.as_bytes()), None, "{format}");
            assert_eq!(Format::could_be_binary(text.as_bytes()), [], "{format}");
            assert_eq!(format.header(), format.header().and(text.lines().next()), "{format}");
            let (mut records, mut summary) = (0, false);
            for line in text.lines().skip(usize::from(format.header().is_some())) {
                summary |= format.begins_summary(line.as_bytes());
                match decode_line(format, line.as_bytes()) {
                    Ok(_) => records += 1,
                    Err(fault) => {
                        assert!(summary || fault.cause == Cause::OtherEvent, "{format}: {line}");
                    }
                }
            }
            assert!(records >= 2, "{format}");
            if !format.is_detected() {
                continue;
            }
            match Format::detect(text.as_bytes(), true) {
                Ok(found) => {
                    assert!(found == format || format.signs().same_as == Some(found), "{format}");
                }
                Err(open) => {
                    let named = |it| open.candidates.iter().any(|found| found.format == it);
                    assert!(named(format) || format.signs().same_as.is_some_and(named), "{format}");
                }
            }
        }
    }

    #[test]
    fn an_empty_line_is_no_record_of_any_format() {
        for &format in Format::ALL {
            if format.is_binary() {
                continue;
            }
            for line in ["", " ", ",", ",,,,,,,,", "\0", "-"] {
                assert!(decode_line(format, line.as_bytes()).is_err(), "{format}: {line:?}");
            }
        }
    }
}
