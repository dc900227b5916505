//! Turns trace lines into records: skips comments and the header row, counts bad lines by cause,
//! and checks that all records come from one host.

mod lookahead;

use crate::Format;
use crate::binary::{Binary, hexadecimal};
use crate::context::{Context, Names};
use crate::csv::{CsvColumn, CsvColumns};
use crate::decode::{Decoded, decode_among, decode_lone, decode_wider};
use crate::error::{Cause, Tally, tally};
use crate::fields::Fault;
use crate::formats::csv::Csv;
use crate::formats::json_lines;
use crate::formats::native;
use crate::formats::{TraceFormat, each_format};
use crate::left_out_events::{LeftOut, LeftOutCounts};
use crate::lines::{Line, Lines, is_remark};
use crate::optional_column::{OptionalColumn, OptionalColumns};
use crate::pending_requests::Pending;
use crate::record::{LATEST, Record};
use fowler_units::{Diagnostic, Nanos};
use lookahead::Ahead;
use std::io;

/// Result of reading one line of a trace.
#[derive(Debug)]
pub(crate) enum Taken {
    /// The line is a request.
    Record(Record),
    /// The line is blank, a comment or the header row.
    Remark,
    /// The line of the trace is invalid and already counted as such.
    Bad,
    /// The trace has no more lines.
    End,
}

/// Facts from earlier lines of a trace with which each further line must agree, such as the host's
/// name.
#[derive(Default)]
struct Before {
    host: Option<Vec<u8>>,
    /// Names of the devices that the trace's lines named so far.
    names: Names,
    /// True if the trace is a CSV with a column that names the device of each line.
    csv_names: bool,
    /// Earliest and latest arrival time of the trace so far; `None` before the first record.
    span: Option<(Nanos, Nanos)>,
}

/// Reads the requests of a trace line by line.
pub(crate) struct Intake {
    lines: Lines,
    format: Format,
    header_due: Option<&'static str>,
    /// True while the next line may be a header that the format does not define but the file has.
    names_due: bool,
    /// The optional columns named by the header of a native trace, in header order.
    optional: Vec<OptionalColumn>,
    /// True if the header of a native trace names its columns in an unusual order; `context` then
    /// holds that order.
    reordered: bool,
    before: Before,
    /// State that formats whose lines depend on each other carry between lines.
    context: Context,
    /// True if the rest of the file cannot be read: a binary file lost its record boundaries, or
    /// the header of a native trace has an unknown column.
    lost: bool,
    ahead: Ahead,
    /// Requests of the current line that are still to be returned, after its first.
    pending: Pending,
    /// Number of skipped events of each kind.
    left_out: LeftOutCounts,
    /// True while the lines belong to the summary that a tracer such as blkparse prints after its
    /// events. It ends at the next record, because another trace may have been appended.
    summary: bool,
    /// Bad lines of the trace by cause, with samples.
    pub bad: Tally,
    /// Number of lines of the trace read so far, of every kind.
    pub line: u64,
    /// Number of comments, blank lines and header rows among the lines read.
    pub remarks: u64,
}

impl Intake {
    /// Reads more text of the trace and discards it. Returns the number of bytes discarded; zero at
    /// the end of the trace.
    pub fn drop_some(&mut self) -> io::Result<usize> {
        self.lines.drop_some()
    }

    /// Returns a reader of the records in `lines`, the lines of a trace in `format`. If `names_due`
    /// is true, the first line is a header that is not part of the format, and is skipped.
    pub fn of(lines: Lines, format: Format, csv: Option<CsvColumns>, names_due: bool) -> Intake {
        let (header_due, bad) = (format.header(), Tally::new());
        let csv_names = csv.as_ref().is_some_and(CsvColumns::names_devices);
        let dropped = lines.dropped();
        let mut context = Context { csv, ..Context::default() };
        if format == Format::JsonLines {
            json_lines::prepare(lines.head(), &mut context);
        }
        Intake {
            lines,
            format,
            header_due,
            names_due,
            optional: Vec::new(),
            reordered: false,
            before: Before { csv_names, ..Before::default() },
            context,
            lost: false,
            ahead: Ahead::default(),
            pending: Pending::default(),
            left_out: LeftOutCounts::default(),
            summary: false,
            bad,
            line: dropped,
            remarks: dropped,
        }
    }

    /// Returns the optional columns that the trace's header names.
    pub fn optional_columns(&self) -> OptionalColumns {
        let csv = self.context.csv.as_ref().filter(|_| self.reordered);
        let named =
            csv.into_iter().flat_map(|csv| csv.columns()).filter_map(|column| match column {
                CsvColumn::Optional(column) => Some(*column),
                _ => None,
            });
        named.chain(self.optional.iter().copied()).collect()
    }

    /// Returns the names of the trace's devices, in order of their numbers; none where they have
    /// only numbers.
    pub fn device_names(&self) -> Vec<String> {
        self.before.names.all()
    }

    /// Returns the notes on the trace lines read so far.
    pub fn notes(&self) -> Vec<String> {
        [self.format.notes(&self.context), self.pending.notes()].concat()
    }

    /// Returns the events of the trace that were skipped so far, by kind.
    pub fn left_out(&self) -> Vec<LeftOut> {
        self.left_out.named(self.format.left_out())
    }

    /// Returns the number of requests beyond the first of each trace line: some lines give several,
    /// such as a preflush and a write.
    pub fn added(&self) -> u64 {
        self.pending.added
    }

    /// Returns the number of bytes of the trace's text from its beginning to the end of the line of
    /// the record returned last.
    pub fn position(&self) -> u64 {
        self.lines.position() - self.ahead.untaken() as u64
    }

    /// True if the text of the trace ended without a newline.
    pub fn cut(&self) -> bool {
        self.lines.cut()
    }

    /// Returns the number of bad lines of the trace so far.
    pub fn bad_lines(&self) -> u64 {
        self.bad.values().map(|skipped| skipped.count).sum()
    }

    /// Returns the next request of the batch that the fast decoder has read ahead, if there is one.
    #[inline]
    pub fn take_ahead(&mut self) -> Option<Record> {
        self.ahead.next()
    }

    /// Reads the next line of the trace, or returns the next request if one was decoded ahead.
    pub fn take(&mut self) -> io::Result<Taken> {
        if let Some(record) = self.ahead.next() {
            return Ok(Taken::Record(record));
        }
        if let Some(record) = self.pending.next() {
            return Ok(Taken::Record(record));
        }
        if self.lost {
            return Ok(Taken::End);
        }
        self.ahead.records.clear();
        self.ahead.taken = 0;
        let usual = self.header_due.is_none() && !self.reordered;
        if usual && each_format!(self.format, F => is_plain::<F>()) {
            self.read_ahead();
            if let Some(record) = self.ahead.next() {
                self.summary = false;
                return Ok(Taken::Record(record));
            }
        }
        self.take_line()
    }

    /// Decodes the following lines in one batch with the fast decoder, up to the first line that
    /// only the full decoder can read.
    fn read_ahead(&mut self) {
        let Intake { lines, before, ahead, optional, pending, left_out, .. } = self;
        let text = lines.ahead();
        let remarks = each_format!(self.format, F => if !F::COMMAS {
            ahead.read::<F, false>(text, before, left_out, |columns| F::decode(columns))
        } else if F::OPTIONAL_COLUMNS && !optional.is_empty() {
            ahead.read::<F, true>(text, before, left_out, |columns| {
                F::decode_wider(columns, optional)
            })
        } else {
            ahead.read::<F, true>(text, before, left_out, |columns| F::decode(columns))
        });
        lines.pass(ahead.read);
        pending.forced += ahead.forced;
        self.remarks += remarks;
        self.line += ahead.records.len() as u64 + remarks;
    }

    /// Reads the next record of a binary format.
    fn take_record(&mut self, binary: &Binary) -> io::Result<Taken> {
        let Some(line) = self.lines.next_record(binary)? else { return Ok(Taken::End) };
        self.line += 1;
        let Intake { format, before, context, .. } = self;
        let (bytes, outcome) = match line {
            Line::Whole(bytes) => {
                (bytes, each_format!(format, F => decode_in::<F>(bytes, before, context)))
            }
            Line::CutShort(bytes) => (bytes, Err(Fault::new(Cause::CutShort, "", b""))),
            Line::NoRecord(bytes) | Line::TooLong(bytes) => {
                self.lost = true;
                (bytes, Err(Fault::new(Cause::BadRecord, "", b"")))
            }
        };
        match outcome {
            Ok(Decoded { record, extra, .. }) => {
                Ok(Taken::Record(self.pending.first(record, extra)))
            }
            Err(fault) if fault.cause == Cause::OtherEvent => {
                self.left_out.count(fault.kind);
                self.remarks += 1;
                Ok(Taken::Remark)
            }
            Err(fault) => {
                let (shown, cause) = (hexadecimal(bytes), fault.cause);
                let diagnostic =
                    diagnostic_of(&fault, self.line, shown.as_bytes(), *format, (&[], None));
                let (at, lost) = (self.lines.record_at(), self.lost);
                tally(&mut self.bad, cause, || {
                    let what = format!("record at byte {at}: {}", diagnostic.what);
                    let hint = "the rest of the file was not read: without the length of this \
                        record, the start of the next one is unknown";
                    let hint = lost.then(|| hint.to_string());
                    Diagnostic { what, ..diagnostic.hint(hint) }
                });
                Ok(Taken::Bad)
            }
        }
    }

    /// Reads the next line of a text trace, whatever its kind.
    fn take_line(&mut self) -> io::Result<Taken> {
        if let Some(binary) = self.format.binary() {
            return self.take_record(&binary);
        }
        let Some(line) = self.lines.next()? else { return Ok(Taken::End) };
        self.line += 1;
        let text = line.bytes();
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
                    Ok((optional, reordered)) => {
                        self.optional = optional;
                        self.reordered = reordered.is_some();
                        self.context.csv = reordered;
                        self.remarks += 1;
                        return Ok(Taken::Remark);
                    }
                    Err(fault) => Err(fault),
                }
            }
            Line::Whole(_)
                if std::mem::take(&mut self.names_due) || self.context.takes_header() =>
            {
                self.remarks += 1;
                return Ok(Taken::Remark);
            }
            Line::Whole(text) if self.reordered => {
                decode_in::<Csv>(text, &mut self.before, &mut self.context)
            }
            Line::Whole(text) if !self.optional.is_empty() => {
                decode_wider(self.format, text, &self.optional)
            }
            Line::Whole(text) => {
                let Intake { format, before, context, .. } = self;
                each_format!(format, F => decode_in::<F>(text, before, context))
            }
            Line::TooLong(_) | Line::CutShort(_) | Line::NoRecord(_) => {
                Err(Fault::new(Cause::LineTooLong, "", b""))
            }
        };
        match outcome {
            Ok(Decoded { record, extra, .. }) => {
                self.summary = false;
                Ok(Taken::Record(self.pending.first(record, extra)))
            }
            Err(fault) if self.summary || fault.cause == Cause::OtherEvent => {
                self.left_out.count(fault.kind);
                self.remarks += 1;
                Ok(Taken::Remark)
            }
            Err(fault) => {
                let (line, format) = (self.line, self.format);
                self.lost |= ends_there(format, &fault);
                let known = (&self.optional[..], self.context.csv.as_ref());
                tally(&mut self.bad, fault.cause, || {
                    diagnostic_of(&fault, line, text, format, known)
                });
                Ok(Taken::Bad)
            }
        }
    }

    /// Counts the last record as bad: it is `back` nanoseconds earlier than a record already
    /// returned.
    #[cold]
    pub fn refuse_late(&mut self, back: u64, window: usize) {
        // Further requests from this line would be out of order by as much.
        self.pending.drop_rest();
        let (line, text) = self.ahead.last(&self.lines, self.line);
        let shown = self.format.is_binary().then(|| hexadecimal(text));
        let text = shown.as_ref().map_or(text, |shown| shown.as_bytes());
        tally(&mut self.bad, Cause::BackInTime, || {
            Diagnostic::of(format!(
                "this request is {back} ns earlier than one that was already replayed: too far out \
                 of order for a reorder window of {window} requests"
            ))
            .line(line)
            .text(text)
            .expected(
                "requests in the order of their times, or out of order by no more than the reorder \
                 window",
            )
            .hint("sort the trace by time".to_string())
        });
    }
}

/// Returns true if a fault makes all further lines unreadable: an unknown column in a native
/// header.
fn ends_there(format: Format, fault: &Fault<'_>) -> bool {
    format == Format::Native && fault.cause == Cause::Header && !fault.field.is_empty()
}

/// Turns a fault into a diagnostic with its line number and text. `optional` are the optional
/// columns named by the file's header, `csv` the columns of a CSV.
#[cold]
fn diagnostic_of(
    fault: &Fault<'_>,
    line: u64,
    text: &[u8],
    format: Format,
    (optional, csv): (&[OptionalColumn], Option<&CsvColumns>),
) -> Diagnostic {
    let mut diagnostic = fault.diagnostic().line(line).text(text);
    if diagnostic.expected.is_empty() {
        let mut columns = format.columns().to_string();
        optional.iter().for_each(|column| columns.extend([",", column.name()]));
        diagnostic.expected = match csv.filter(|_| format == Format::Csv) {
            Some(csv) => format!("the columns {csv}"),
            None => format!("{columns} (format `{format}`)"),
        };
    }
    if ends_there(format, fault) {
        diagnostic.hint = Some(native::without_unexpected(text.trim_ascii()));
    }
    if fault.cause == Cause::OtherHost {
        diagnostic.hint =
            Some("split the trace by host: different hosts may use the same disk numbers".into());
    }
    diagnostic
}

/// Returns the optional columns that a header row names after the format's own. If a native header
/// is reordered, returns all its columns.
fn header_row<'a>(
    format: Format,
    header: &'static str,
    line: &'a [u8],
) -> Result<(Vec<OptionalColumn>, Option<CsvColumns>), Fault<'a>> {
    if format == Format::Native && !line.starts_with(header.as_bytes()) {
        if let Some(name) = native::unexpected_column(line) {
            return Err(OptionalColumn::unexpected(name));
        }
        if let Some(columns) = native::reordered(line) {
            return Ok((Vec::new(), Some(CsvColumns::of_native(columns))));
        }
    }
    if !format.begins_with(line) {
        return Err(Fault { expected: header, ..Fault::new(Cause::Header, "", b"") });
    }
    OptionalColumn::named(&line[header.len()..]).map(|optional| (optional, None))
}

/// Decodes a trace line and checks it against earlier lines.
#[inline]
fn decode_in<'a, F: TraceFormat>(
    line: &'a [u8],
    before: &mut Before,
    context: &mut Context,
) -> Result<Decoded<'a>, Fault<'a>> {
    let mut decoded =
        if F::STATEFUL { decode_among::<F>(line, context)? } else { decode_lone::<F>(line)? };
    before.agree::<F>(&mut decoded.record, decoded.host)?;
    Ok(decoded)
}

/// True if lines of the format can be read by the fast decoder, [`crate::plain_lines`].
fn is_plain<F: TraceFormat>() -> bool {
    !F::STATEFUL && F::BINARY.is_none()
}

impl Before {
    /// Accepts a request unless it contradicts earlier ones of the trace: the host must be the
    /// same, and the time must be within range of theirs. Sets the device number if the line names
    /// its device.
    #[inline]
    fn agree<'a, F: TraceFormat>(
        &mut self,
        record: &mut Record,
        host: Option<&'a [u8]>,
    ) -> Result<(), Fault<'a>> {
        match host {
            Some(name) if F::NAMES_DEVICES || self.csv_names => {
                let number = self.names.number(name);
                let too_many = || Fault::new(Cause::TooManyDevices, "device", name);
                record.device = number.ok_or_else(too_many)?;
            }
            Some(name) => self.same_host(name)?,
            None => {}
        }
        if F::FROM_A_DATE {
            self.same_age::<F>(record.io.at)?;
        }
        Ok(())
    }

    /// Rejects an arrival time further from those of the other requests than the simulator can
    /// represent. Where times count from a date, the first request's time is subtracted later, and
    /// the reorder window may make any request the first.
    #[inline]
    fn same_age<'a, F: TraceFormat>(&mut self, at: Nanos) -> Result<(), Fault<'a>> {
        let (first, last) = self.span.unwrap_or((at, at));
        let (first, last) = (first.min(at), last.max(at));
        if last.0 - first.0 > LATEST.0 {
            return Err(Fault::new(Cause::TooLarge, F::TIME_COLUMN, b""));
        }
        self.span = Some((first, last));
        Ok(())
    }

    /// Rejects a line that names another traced machine (host) than earlier lines of the trace,
    /// because device numbers of two hosts may coincide.
    #[inline]
    fn same_host<'a>(&mut self, host: &'a [u8]) -> Result<(), Fault<'a>> {
        if self.host.get_or_insert_with(|| host.to_vec()) == host {
            Ok(())
        } else {
            Err(Fault::new(Cause::OtherHost, "Hostname", host))
        }
    }
}
