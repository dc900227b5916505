//! Lines into records: remarks, the header row, bad lines counted by cause, one host only.

use crate::Format;

use crate::detect::is_remark;
use crate::error::{Cause, Tally, tally};
use crate::fields::Fault;
use crate::formats::native::{OptionalColumn, OptionalColumns};
use crate::formats::{TraceFormat, decode, decode_wider, each_format};
use crate::lines::{Line, Lines};
use crate::record::{LATEST, Record};
use fowler_units::{Diagnostic, Nanos};
use std::io;

/// What became of one line.
#[derive(Debug)]
pub(crate) enum Taken {
    /// A record.
    Record(Record),
    /// A blank line, a remark or the header row.
    Remark,
    /// No record; it is counted.
    Bad,
    /// There are no more lines.
    End,
}

/// The records of a text.
pub(crate) struct Intake {
    lines: Lines,
    format: Format,
    header_due: Option<&'static str>,
    /// What the header of a native trace names behind its four columns, in its order.
    optional: Vec<OptionalColumn>,
    host: Option<Vec<u8>>,
    /// The earliest and the latest moment so far.
    span: Option<(Nanos, Nanos)>,
    /// Whether this is a summary behind the records: it ends where another file was appended.
    summary: bool,
    /// Bad lines by cause.
    pub bad: Tally,
    /// Lines of every kind.
    pub line: u64,
    /// Remarks among them.
    pub remarks: u64,
}

impl Intake {
    pub fn of(lines: Lines, format: Format) -> Intake {
        let (header_due, bad) = (format.header(), Tally::new());
        Intake {
            lines,
            format,
            header_due,
            optional: Vec::new(),
            host: None,
            span: None,
            summary: false,
            bad,
            line: 0,
            remarks: 0,
        }
    }

    /// The optional columns that the header names.
    pub fn optional_columns(&self) -> OptionalColumns {
        self.optional.iter().copied().collect()
    }

    /// How many bad lines there are.
    pub fn bad_lines(&self) -> u64 {
        self.bad.values().map(|skipped| skipped.count).sum()
    }

    /// Takes in the next line.
    #[inline]
    pub fn take(&mut self) -> io::Result<Taken> {
        let Some(line) = self.lines.next()? else { return Ok(Taken::End) };
        self.line += 1;
        let (Line::Whole(text) | Line::TooLong(text)) = line;
        if self.format.begins_summary(text) {
            self.summary = true;
        }
        let outcome = match line {
            Line::Whole(text) if is_remark(text) => {
                self.remarks += 1;
                return Ok(Taken::Remark);
            }
            Line::Whole(text) if self.header_due.is_some() => {
                let header = self.header_due.take().unwrap_or_default();
                match header_row(self.format, header, text.trim_ascii()) {
                    Ok(optional) => {
                        self.optional = optional;
                        self.remarks += 1;
                        return Ok(Taken::Remark);
                    }
                    Err(fault) => Err(fault),
                }
            }
            Line::Whole(text) if !self.optional.is_empty() => {
                decode_wider(self.format, text, &self.optional)
            }
            Line::Whole(text) => {
                let Intake { format, host, span, .. } = self;
                each_format!(format, F => decode_after::<F>(text, host, span))
            }
            Line::TooLong(_) => Err(Fault::new(Cause::LineTooLong, "", b"")),
        };
        match outcome {
            Ok(record) => {
                self.summary = false;
                Ok(Taken::Record(record))
            }
            Err(fault) if self.summary || fault.cause == Cause::OtherEvent => {
                self.remarks += 1;
                Ok(Taken::Remark)
            }
            Err(fault) => {
                let (line, format, optional) = (self.line, self.format, &self.optional);
                tally(&mut self.bad, fault.cause, || {
                    diagnostic_of(&fault, line, text, format, optional)
                });
                Ok(Taken::Bad)
            }
        }
    }

    /// Counts the last record as bad: it lies `back` nanoseconds before one that was handed on.
    #[cold]
    pub fn refuse_late(&mut self, back: u64, window: usize) {
        let (line, text) = (self.line, self.lines.last());
        let larger = window.saturating_mul(16);
        tally(&mut self.bad, Cause::BackInTime, || {
            Diagnostic::of(format!(
                "this request lies {back} ns before one that was already handed on: too late \
                 for a reorder window of {window} requests"
            ))
            .line(line)
            .text(text)
            .expected("requests in order of time, or late by no more than the window holds")
            .hint(format!("read with a larger window, such as {larger}, or sort the trace"))
        });
    }
}

/// Words a fault for the line it is in.
#[cold]
fn diagnostic_of(
    fault: &Fault<'_>,
    line: u64,
    text: &[u8],
    format: Format,
    optional: &[OptionalColumn],
) -> Diagnostic {
    let mut diagnostic = fault.diagnostic().line(line).text(text);
    if diagnostic.expected.is_empty() {
        let mut columns = format.columns().to_string();
        optional.iter().for_each(|column| columns.extend([",", column.name()]));
        diagnostic.expected = format!("{columns} (format `{format}`)");
    }
    if fault.cause == Cause::OtherHost {
        diagnostic.hint =
            Some("read the hosts one by one: their disk numbers may be the same".into());
    }
    diagnostic
}

/// What the header row names behind the columns of its format.
fn header_row<'a>(
    format: Format,
    header: &'static str,
    line: &'a [u8],
) -> Result<Vec<OptionalColumn>, Fault<'a>> {
    if !format.begins_with(line) {
        return Err(Fault { expected: header, ..Fault::new(Cause::Header, "", b"") });
    }
    OptionalColumn::named(&line[header.len()..])
}

/// A line that must agree with those before it: one host, and no moment too far from the others.
#[inline]
fn decode_after<'a, F: TraceFormat>(
    line: &'a [u8],
    host: &mut Option<Vec<u8>>,
    span: &mut Option<(Nanos, Nanos)>,
) -> Result<Record, Fault<'a>> {
    let record = decode::<F>(line)?;
    if let Some(name) = F::host(line) {
        same_host(host, name)?;
    }
    if F::FROM_A_DATE {
        same_age::<F>(span, record.io.at)?;
    }
    Ok(record)
}

/// Refuses a moment further from the others than the simulator counts. Where times count from a
/// date they are subtracted later, and any request may turn out to be the first.
#[inline]
fn same_age<'a, F: TraceFormat>(
    span: &mut Option<(Nanos, Nanos)>,
    at: Nanos,
) -> Result<(), Fault<'a>> {
    let (first, last) = span.unwrap_or((at, at));
    let (first, last) = (first.min(at), last.max(at));
    if last.0 - first.0 > LATEST.0 {
        return Err(Fault::new(Cause::TooLarge, F::TIME_COLUMN, b""));
    }
    *span = Some((first, last));
    Ok(())
}

/// Refuses a second host, whose devices may have the numbers of the first one's.
#[inline]
fn same_host<'a>(first: &mut Option<Vec<u8>>, host: &'a [u8]) -> Result<(), Fault<'a>> {
    if first.get_or_insert_with(|| host.to_vec()) == host {
        Ok(())
    } else {
        Err(Fault::new(Cause::OtherHost, "Hostname", host))
    }
}
