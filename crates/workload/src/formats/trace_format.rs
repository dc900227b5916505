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
    /// The columns in order, as named in the format's own documentation.
    const COLUMNS: &'static str;
    /// Columns, units and read/write codes in one sentence.
    const ABOUT: &'static str;
    /// The cells of the documentation's table.
    const TABLE: Table;
    /// A few valid lines, including the header row; of a binary format, a few records.
    const EXAMPLE: &'static [u8];
    /// True if columns are separated by commas; otherwise by runs of blanks.
    const COMMAS: bool = holds_a_comma(Self::COLUMNS);
    /// The column that holds the time.
    const TIME_COLUMN: &'static str = "time";
    /// The header row that must come first, if there is one.
    const HEADER: Option<&'static str> = None;
    /// True if the header row may name this project's optional columns after the format's own.
    const OPTIONAL_COLUMNS: bool = false;
    /// True if times count from a calendar date, so that the first request's time must be
    /// subtracted.
    const FROM_A_DATE: bool = false;
    /// Signs that distinguish the format from others with the same columns.
    const SIGNS: Signs = Signs::NONE;
    /// True if a line's meaning depends on the lines before it, or on what the user said of the
    /// columns: lines are then decoded by [`TraceFormat::decode_after`].
    const STATEFUL: bool = false;
    /// True if the name that a line gives as its host is its device. Names are then numbered in the
    /// order in which they come.
    const NAMES_DEVICES: bool = false;
    /// True if arrivals are in whole seconds, so that the arrivals of a second must be spread over
    /// it.
    const WHOLE_SECONDS: bool = false;
    /// True if the text alone may show that a trace is in this format.
    const DETECTED: bool = true;
    /// Note on every trace in this format, if any: information that the format cannot give.
    const NOTE: Option<&'static str> = None;
    /// The kinds of events that it leaves out and counts: `Fault::kind` is the number of one,
    /// counted from 1.
    const LEFT_OUT: &'static [NamedKind] = &[];
    /// True if the events that the format leaves out are as unmistakable as requests, so that a
    /// text without a request in its first lines is in this format all the same.
    const SHOWN_BY_EVENTS: bool = false;
    /// The rules that its records keep, beyond their columns. A file that breaks one is not
    /// claimed.
    const RULES: Rules = Rules::NONE;
    /// Columns of the format as `--columns` describes them, if it can: for a file with other units.
    const AS_COLUMNS: Option<&'static str> = None;
    /// How a binary format is divided into records; `None` for text.
    const BINARY: Option<Binary> = None;

    /// Decodes the columns of one line. Columns that it does not read may contain anything. A
    /// format has this function, or [`TraceFormat::decode_after`] if it is
    /// [`TraceFormat::STATEFUL`].
    #[inline(always)]
    fn decode<'a, C: Columns<'a>>(columns: &mut C) -> Result<Record, C::Fault> {
        Self::decode_after(columns, &mut Context::default())
    }

    /// Like [`TraceFormat::decode`], where the header row named optional columns.
    fn decode_wider<'a, C: Columns<'a>>(
        columns: &mut C,
        _: &[OptionalColumn],
    ) -> Result<Record, C::Fault> {
        Self::decode(columns)
    }

    /// Like [`TraceFormat::decode`], for a format that is [`TraceFormat::STATEFUL`].
    fn decode_after<'a, C: Columns<'a>>(
        columns: &mut C,
        _: &mut Context,
    ) -> Result<Record, C::Fault> {
        Self::decode(columns)
    }

    /// Returns what must be said of a trace that was read, beside [`TraceFormat::NOTE`].
    fn notes(_: &Context) -> Option<String> {
        None
    }

    /// Returns what is wrong with a trace that has these events and no request.
    fn without_requests(_: &[LeftOut]) -> Option<Diagnostic> {
        None
    }

    /// Returns true if the first lines show that the format's units are not those of the trace.
    fn is_ruled_out(_: &[&[u8]]) -> bool {
        false
    }

    /// Returns true if the line, trimmed, is the header row.
    fn is_header(line: &[u8]) -> bool {
        Self::HEADER.is_some_and(|header| header.as_bytes() == line)
    }

    /// Returns true if the line begins a summary: until the next record, no line is bad.
    #[inline]
    fn begins_summary(_line: &[u8]) -> bool {
        false
    }
}

/// The cells of a format's row in the documentation, in Markdown.
pub(crate) struct Table {
    /// The unit of time, and how it is printed.
    pub time: &'static str,
    /// The units of address and size.
    pub range: &'static str,
    /// The code for a read.
    pub read: &'static str,
}

/// Signs that distinguish a format from others that decode the same lines.
#[derive(Clone, Copy)]
pub(crate) struct Signs {
    /// True if times have a fraction, somewhere in the first lines.
    pub fractional_times: bool,
    /// True if ranges are in bytes where others count sectors: all numbers are multiples of 512.
    pub bytes: bool,
    /// True if the device is always 0.
    pub device_is_zero: bool,
    /// The equivalent format under another name, which detection prefers.
    pub same_as: Option<Format>,
    /// The layer of the event that the format reads, if a log shows the same request by several
    /// events; 0 is the layer nearest to the host.
    pub layer: Option<u8>,
}

impl Signs {
    /// No distinguishing signs.
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
