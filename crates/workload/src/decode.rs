//! Decodes one line in a given format.

use crate::context::Context;
use crate::csv::Parting;
use crate::extra::Extra;
use crate::fields::{Blanks, Commas, Fault, Fields, Tabs};
use crate::formats::{TraceFormat, each_format};
use crate::optional_column::OptionalColumn;
use crate::record::{Record, in_time};
use crate::{Cause, Format};

/// Decodes one line without its line end, not a header. Never panics; no number overflows.
///
/// # Errors
///
/// The first fault of the line.
#[inline]
pub fn decode_line(format: Format, line: &[u8]) -> Result<Record, Fault<'_>> {
    each_format!(format, F => decode::<F>(line))
}

/// Decodes one line of a format known at compile time.
#[inline]
fn decode<F: TraceFormat>(line: &[u8]) -> Result<Record, Fault<'_>> {
    decode_lone::<F>(line).map(|decoded| decoded.record)
}

/// A request decoded from one line of a trace, with the host or device that the line names, and the
/// flags and further requests that it asks for.
pub(crate) struct Decoded<'a> {
    /// The request that the line stands for.
    pub record: Record,
    /// Host named by the line, of which a trace may have only one; in a format that names devices,
    /// the device.
    pub host: Option<&'a [u8]>,
    /// Further requests and flags that the line asks for, such as a preflush.
    pub extra: Extra,
}

impl<'a> Decoded<'a> {
    /// Returns a decoded record with the host that the line names, and with the flags and further
    /// requests that the line asks for beside its own request.
    #[inline]
    fn of<F: TraceFormat, const MARK: u8>(
        record: Record,
        columns: &Fields<'a, MARK>,
    ) -> Result<Decoded<'a>, Fault<'a>> {
        let (host, extra) = (columns.host(), columns.noted());
        not_too_late::<F>(record).map(|record| Decoded { record, host, extra })
    }
}

/// Decodes one line of a format known at compile time. Returns the request, the host that the line
/// names, and the flags and further requests that it asks for.
#[inline]
pub(crate) fn decode_lone<F: TraceFormat>(line: &[u8]) -> Result<Decoded<'_>, Fault<'_>> {
    let line = if F::BINARY.is_some() { line } else { line.trim_ascii() };
    if F::COMMAS {
        let mut columns = Commas::of(line);
        Decoded::of::<F, _>(F::decode(&mut columns)?, &columns)
    } else {
        let mut columns = Blanks::of(line);
        Decoded::of::<F, _>(F::decode(&mut columns)?, &columns)
    }
}

/// Decodes one line of a format in which the meaning of a line depends on earlier lines or on
/// columns given by the user; `context` carries these. Returns the request, host, flags and further
/// requests.
pub(crate) fn decode_among<'a, F: TraceFormat>(
    line: &'a [u8],
    context: &mut Context,
) -> Result<Decoded<'a>, Fault<'a>> {
    let parting = match &context.csv {
        Some(csv) => csv.parting(),
        None if F::COMMAS => Parting::Commas,
        None => Parting::Blanks,
    };
    let line = if F::BINARY.is_some() { line } else { parting.trimmed(line) };
    match parting {
        Parting::Commas => {
            let mut columns = Commas::of(line);
            Decoded::of::<F, _>(F::decode_after(&mut columns, context)?, &columns)
        }
        Parting::Blanks => {
            let mut columns = Blanks::of(line);
            Decoded::of::<F, _>(F::decode_after(&mut columns, context)?, &columns)
        }
        Parting::Tabs => {
            let mut columns = Tabs::of(line);
            Decoded::of::<F, _>(F::decode_after(&mut columns, context)?, &columns)
        }
    }
}

/// Decodes one line of a trace whose header names the optional columns `optional`, such as a
/// device.
pub(crate) fn decode_wider<'a>(
    format: Format,
    line: &'a [u8],
    optional: &[OptionalColumn],
) -> Result<Decoded<'a>, Fault<'a>> {
    let mut columns = Commas::of(line.trim_ascii());
    each_format!(format, F => {
        Decoded::of::<F, _>(F::decode_wider(&mut columns, optional)?, &columns)
    })
}

/// Rejects a record whose arrival time is later than 292 years, the latest that the simulated clock
/// allows. If times count from a date, any time is accepted.
#[inline]
fn not_too_late<'a, F: TraceFormat>(record: Record) -> Result<Record, Fault<'a>> {
    if in_time::<F>(&record) {
        Ok(record)
    } else {
        Err(Fault::new(Cause::TooLarge, F::TIME_COLUMN, b""))
    }
}
