//! The trait that every format implements in its file: constants that describe the format, and
//! functions that decode it.

use crate::Format;
use crate::binary::Binary;
use crate::columns::Columns;
use crate::context::Context;
use crate::left_out_events::{LeftOut, NamedKind};
use crate::optional_column::OptionalColumn;
use crate::recognition::plausibility::Rules;
use crate::record::Record;
use fowler_units::Diagnostic;

/// A trace format: its columns, its documentation, and the decoding of its lines.
pub(crate) trait TraceFormat {
    /// Columns of the format in order, as its own documentation names them.
    const COLUMNS: &'static str;
    /// Columns, units and read/write codes of the format, in one sentence.
    const ABOUT: &'static str;
    /// The format's row of the table in the documentation.
    const TABLE: Table;
    /// A few valid lines of the format, including the header row; for a binary format, a few
    /// records.
    const EXAMPLE: &'static [u8];
    /// True if commas separate the columns of the format; otherwise runs of blanks do.
    const COMMAS: bool = holds_a_comma(Self::COLUMNS);
    /// Name of the format's time column.
    const TIME_COLUMN: &'static str = "time";
    /// Header row that must be the first line of a file in the format; `None` if it has none.
    const HEADER: Option<&'static str> = None;
    /// True if the header row may name this project's optional columns after the format's own.
    const OPTIONAL_COLUMNS: bool = false;
    /// True if times in the format count from a calendar date, so that the first request's time
    /// must be subtracted.
    const FROM_A_DATE: bool = false;
    /// Signs that distinguish the format from others with the same columns.
    const SIGNS: Signs = Signs::NONE;
    /// True if a line's meaning depends on the lines before it, or on columns given by the user:
    /// lines are then decoded by [`TraceFormat::decode_after`].
    const STATEFUL: bool = false;
    /// True if the column that other formats use for the traced machine (host) names the device
    /// here. Device names are numbered in order of appearance.
    const NAMES_DEVICES: bool = false;
    /// True if arrival times in the format are in whole seconds, so that the arrivals of a second
    /// must be spread over it.
    const WHOLE_SECONDS: bool = false;
    /// True if the format can be detected from a text alone.
    const DETECTED: bool = true;
    /// Note on information that the format lacks, printed for every trace in this format.
    const NOTE: Option<&'static str> = None;
    /// The kinds of events that the format skips and counts. `Fault::kind` is an index here,
    /// counted from 1.
    const LEFT_OUT: &'static [NamedKind] = &[];
    /// True if events that are skipped suffice to detect this format, even when the first lines of
    /// the trace contain no request.
    const SHOWN_BY_EVENTS: bool = false;
    /// Rules that all records of the format keep, beyond the types of their columns. The format is
    /// not detected for a file that breaks one.
    const RULES: Rules = Rules::NONE;
    /// The format's columns in the syntax of `--columns`, used to suggest other units; `None` if
    /// they cannot be described so.
    const AS_COLUMNS: Option<&'static str> = None;
    /// Rules that divide a binary format into records; `None` for text.
    const BINARY: Option<Binary> = None;

    /// Decodes the columns of one line. Columns that the format does not use may contain anything.
    /// A format implements this function, or [`TraceFormat::decode_after`] if it is
    /// [`TraceFormat::STATEFUL`].
    #[inline(always)]
    fn decode<'a, C: Columns<'a>>(columns: &mut C) -> Result<Record, C::Fault> {
        Self::decode_after(columns, &mut Context::default())
    }

    /// Decodes one line of a trace whose header row names optional columns, such as a device. The
    /// default ignores these columns.
    fn decode_wider<'a, C: Columns<'a>>(
        columns: &mut C,
        _: &[OptionalColumn],
    ) -> Result<Record, C::Fault> {
        Self::decode(columns)
    }

    /// Decodes one line of a format in which the meaning of a line depends on earlier lines or on
    /// columns given by the user, which `Context` carries.
    fn decode_after<'a, C: Columns<'a>>(
        columns: &mut C,
        _: &mut Context,
    ) -> Result<Record, C::Fault> {
        Self::decode(columns)
    }

    /// Returns a note for the user on a trace in this format that was read, such as an assumed
    /// unit; printed in addition to the constant [`TraceFormat::NOTE`].
    fn notes(_: &Context) -> Option<String> {
        None
    }

    /// Returns the format's own error for a trace that has no request, only skipped events, which
    /// are given; `None` if the error is the one that all formats share.
    fn without_requests(_: &[LeftOut]) -> Option<Diagnostic> {
        None
    }

    /// Returns true if the first lines show that the format's units are not those of the trace.
    fn is_ruled_out(_: &[&[u8]]) -> bool {
        false
    }

    /// Returns true if a line, trimmed, is the format's header row.
    fn is_header(line: &[u8]) -> bool {
        Self::HEADER.is_some_and(|header| header.as_bytes() == line)
    }

    /// Returns true if a line begins a summary of the tracer: until the next record, no line is
    /// bad.
    #[inline]
    fn begins_summary(_line: &[u8]) -> bool {
        false
    }
}

/// A row of the table of formats in the documentation, in Markdown.
pub(crate) struct Table {
    /// Unit and notation of the format's times.
    pub time: &'static str,
    /// Units of the format's addresses and sizes.
    pub range: &'static str,
    /// Code by which the format marks a read.
    pub read: &'static str,
}

/// Signs that distinguish a format from others that decode the same lines.
#[derive(Clone, Copy)]
pub(crate) struct Signs {
    /// True if, in the format, times have a fraction in at least one of the first lines.
    pub fractional_times: bool,
    /// True if addresses and sizes are in bytes where similar formats count sectors: all numbers
    /// are then multiples of 512.
    pub bytes: bool,
    /// True if the device number is 0 on every line of the format.
    pub device_is_zero: bool,
    /// An identical format under another name, which detection prefers; `None` if there is none.
    pub same_as: Option<Format>,
    /// The layer of the event that the format reads, if a log shows the same request by several
    /// events; 0 is the layer nearest to the host.
    pub layer: Option<u8>,
}

impl Signs {
    /// Marks of a format that has no distinguishing marks: it cannot be told apart from other
    /// formats with the same columns.
    pub const NONE: Signs = Signs {
        fractional_times: false,
        bytes: false,
        device_is_zero: false,
        same_as: None,
        layer: None,
    };
}

const fn holds_a_comma(columns: &str) -> bool {
    let (mut at, mut found) = (0, false);
    while at < columns.len() {
        found |= columns.as_bytes()[at] == b',';
        at += 1;
    }
    found
}
