//! The native format: CSV with the header `at_ns,op,offset,size`; time in ns, offset and size in
//! bytes, the operation as a word. A flush has offset 0 and size 0.
//!
//! After these columns, a header may name any of three more, each at most once and in any order. An
//! empty value has the same meaning as a missing column.
//!
//! | column | value | empty |
//! |---|---|---|
//! | `queue` | the submission queue, 0 to 65535 | 0 |
//! | `placement` | the placement handle, 0 to 254 | none |
//! | `deadline_ns` | ns from the arrival to when the host wants the answer, below 2^63 | none |

use super::{Table, TraceFormat};
use crate::Cause;
use crate::columns::Columns;
use crate::fields::Fault;
use crate::number::unsigned;
use crate::record::{LATEST, Measure, Record, record_or_piece};
use fowler_units::{Deadline, HostIo, HostOp, PlacementHandle, QueueId, Span};

/// The operations.
const WORDS: &[(&[u8], HostOp)] = &[
    (b"read", HostOp::Read),
    (b"write", HostOp::Write),
    (b"trim", HostOp::Trim),
    (b"flush", HostOp::Flush),
];

/// Native traces.
pub(crate) struct Native;

impl TraceFormat for Native {
    const COLUMNS: &'static str = "at_ns,op,offset,size";
    const ABOUT: &'static str = "\
        CSV with the header at_ns,op,offset,size; time in ns, offset and size in bytes, op one \
        of read, write, trim, flush";
    const TABLE: Table = Table { time: "ns", range: "bytes, bytes", read: "`read`" };
    const EXAMPLE: &'static [u8] = b"\
        at_ns,op,offset,size\n\
        0,read,0,4096\n\
        7,write,4096,512\n\
        7,trim,0,8192\n\
        9,flush,0,0\n";
    const TIME_COLUMN: &'static str = "at_ns";
    const HEADER: Option<&'static str> = Some(Self::COLUMNS);
    const OPTIONAL_COLUMNS: bool = true;

    #[inline(always)]
    fn decode<'a, C: Columns<'a>>(columns: &mut C) -> Result<Record, C::Fault> {
        let (at, op, start, length) = usual(columns)?;
        columns.finish()?;
        record_or_piece(columns, at, 0, start, length, op)
    }

    fn decode_wider<'a, C: Columns<'a>>(
        columns: &mut C,
        optional: &[OptionalColumn],
    ) -> Result<Record, C::Fault> {
        let (at, op, start, length) = usual(columns)?;
        let mut values = columns.clone();
        for column in optional {
            columns.next(column.name())?;
        }
        columns.finish()?;
        let mut record = record_or_piece(columns, at, 0, start, length, op)?;
        for column in optional {
            let value = values.next(column.name())?;
            record.io = column.read(value, record.io).map_err(C::fault)?;
        }
        Ok(record)
    }
}

/// Decodes the four columns of every native trace.
#[inline(always)]
fn usual<'a, C: Columns<'a>>(columns: &mut C) -> Result<(u64, HostOp, Measure, Measure), C::Fault> {
    let at = columns.whole_time("at_ns", 1)?;
    let op = columns.word("op", WORDS, "read, write, trim or flush")?;
    let start = Measure { count: columns.unsigned("offset")?, unit: 1, column: "offset" };
    let length = Measure { count: columns.unsigned("size")?, unit: 1, column: "size" };
    Ok((at, op, start, length))
}

/// A column that a native trace may have after the four required ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OptionalColumn {
    Queue,
    Placement,
    Deadline,
}

/// The columns a header may have, for messages.
const EXPECTED: &str =
    "at_ns,op,offset,size, then any of queue, placement, deadline_ns, each at most once";

impl OptionalColumn {
    /// Every optional column, in the order in which they are written.
    const ALL: [OptionalColumn; 3] =
        [OptionalColumn::Queue, OptionalColumn::Placement, OptionalColumn::Deadline];

    /// Returns the name in the header.
    pub fn name(self) -> &'static str {
        match self {
            OptionalColumn::Queue => "queue",
            OptionalColumn::Placement => "placement",
            OptionalColumn::Deadline => "deadline_ns",
        }
    }

    /// Parses the part of a header after the four required columns: empty, or `,` and names.
    pub fn named(rest: &[u8]) -> Result<Vec<OptionalColumn>, Fault<'_>> {
        let mut columns = Vec::new();
        for name in rest.split(|&byte| byte == b',').skip(1) {
            let known = OptionalColumn::ALL.into_iter().find(|it| it.name().as_bytes() == name);
            match known.filter(|column| !columns.contains(column)) {
                Some(column) => columns.push(column),
                None => {
                    let name = if name.is_empty() { b"," } else { name };
                    return Err(Fault {
                        expected: EXPECTED,
                        ..Fault::new(Cause::Header, "", name)
                    });
                }
            }
        }
        Ok(columns)
    }

    /// Returns the request with the value of this column.
    pub fn read(self, field: &[u8], io: HostIo) -> Result<HostIo, Fault<'_>> {
        if field.is_empty() {
            return Ok(io);
        }
        let (most, expected) = match self {
            OptionalColumn::Queue => (u64::from(u16::MAX), "a queue from 0 to 65535"),
            OptionalColumn::Placement => {
                (u64::from(PlacementHandle::NONE.0) - 1, "a placement handle from 0 to 254")
            }
            OptionalColumn::Deadline => (LATEST.0, "whole nanoseconds, up to 292 years"),
        };
        let value = unsigned(field).map_err(|error| Fault::number(error, self.name(), field));
        let value = value.map_err(|fault| Fault { expected, ..fault })?;
        if value > most {
            return Err(Fault { expected, ..Fault::new(Cause::TooLarge, self.name(), field) });
        }
        Ok(match self {
            OptionalColumn::Queue => io.with_queue(QueueId(value as u16)),
            OptionalColumn::Placement => io.with_placement(PlacementHandle(value as u8)),
            OptionalColumn::Deadline => io.with_deadline(Deadline::after(Span(value))),
        })
    }

    /// Returns a request's value for this column; `None` if it is the default.
    #[inline]
    pub(crate) fn value(self, io: &HostIo) -> Option<u64> {
        match self {
            OptionalColumn::Queue => (io.queue != QueueId::FIRST).then_some(u64::from(io.queue.0)),
            OptionalColumn::Placement => {
                io.placement.is_some().then_some(u64::from(io.placement.0))
            }
            OptionalColumn::Deadline => io.deadline.span().map(|span| span.0),
        }
    }
}

/// The optional columns of a native trace: `queue`, `placement`, `deadline_ns`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OptionalColumns(pub(crate) [bool; OptionalColumn::ALL.len()]);

impl OptionalColumns {
    /// Returns the columns for which any of `requests` has a value.
    pub fn used_by(requests: impl IntoIterator<Item = HostIo>) -> OptionalColumns {
        let mut used = OptionalColumns::default();
        for io in requests {
            used.0.iter_mut().zip(OptionalColumn::ALL).for_each(|(used, column)| {
                *used |= column.value(&io).is_some();
            });
        }
        used
    }

    /// Whether there are no optional columns.
    pub fn is_empty(self) -> bool {
        self == OptionalColumns::default()
    }

    /// Returns the columns, in the order in which they are written.
    pub(crate) fn columns(self) -> impl Iterator<Item = OptionalColumn> {
        OptionalColumn::ALL.into_iter().filter(move |&column| self.0[column as usize])
    }

    /// Returns the first column not included for which a request has a value.
    #[inline]
    pub(crate) fn lacking(self, io: &HostIo) -> Option<OptionalColumn> {
        let says_more = |column: &OptionalColumn| column.value(io).is_some();
        OptionalColumn::ALL.into_iter().filter(says_more).find(|&column| !self.0[column as usize])
    }
}

impl FromIterator<OptionalColumn> for OptionalColumns {
    fn from_iter<I: IntoIterator<Item = OptionalColumn>>(columns: I) -> OptionalColumns {
        let mut all = OptionalColumns::default();
        columns.into_iter().for_each(|column| all.0[column as usize] = true);
        all
    }
}

#[cfg(test)]
mod tests {
    use super::super::{decode_line, tests::causes};
    use super::*;
    use crate::{Cause, Format};
    use fowler_units::{HostIo, Nanos};

    #[test]
    fn each_word_is_its_operation() {
        for (line, op, offset, size) in [
            ("7,read,4096,512", HostOp::Read, 4096, 512),
            ("7,write,1,3", HostOp::Write, 1, 3),
            ("7, trim , 0 ,4096", HostOp::Trim, 0, 4096),
            ("7,flush,0,0", HostOp::Flush, 0, 0),
        ] {
            let expected = Record { device: 0, io: HostIo::new(op, Nanos(7), offset, size) };
            assert_eq!(decode_line(Format::Native, line.as_bytes()), Ok(expected));
        }
    }

    #[test]
    fn each_fault_has_its_cause() {
        let lines = [
            "7,Read,0,512",
            "-7,read,0,512",
            "7,read,0",
            "7,read,0,512,",
            "7.5,read,0,512",
            "7,read,0,0",
            "7,flush,0,512",
            "7,read,-512,512",
        ];
        let expected = [
            Cause::UnknownOp,
            Cause::NegativeTime,
            Cause::TooFewColumns,
            Cause::TooManyColumns,
            Cause::NotANumber,
            Cause::ZeroLength,
            Cause::FlushWithRange,
            Cause::NotANumber,
        ];
        assert_eq!(causes(Format::Native, &lines), expected);
    }
}
