//! The columns that a native trace may have beside its four: the submission queue, the placement
//! handle and the deadline of a request.

use crate::Cause;
use crate::fields::Fault;
use crate::number::unsigned;
use fowler_units::{Deadline, HostIo, PlacementHandle, QueueId, Span};

/// Longest deadline of a request, in nanoseconds: half the range of 64 bits, as for arrivals.
const LONGEST: Span = Span(u64::MAX / 2);

/// A column that a native trace may have after the four required ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OptionalColumn {
    Queue,
    Placement,
    Deadline,
}

/// The columns that a native header may have, for messages.
const EXPECTED: &str =
    "at_ns,op,offset,size, and any of queue, placement, deadline_ns, each at most once";

impl OptionalColumn {
    /// Every optional column of a native trace, in the order of its header.
    const ALL: [OptionalColumn; 3] =
        [OptionalColumn::Queue, OptionalColumn::Placement, OptionalColumn::Deadline];

    /// Returns the name of the optional column in the header of a native trace.
    pub fn name(self) -> &'static str {
        match self {
            OptionalColumn::Queue => "queue",
            OptionalColumn::Placement => "placement",
            OptionalColumn::Deadline => "deadline_ns",
        }
    }

    /// Returns the optional column of a native trace (`queue`, `placement` or `deadline_ns`) with
    /// this name; `None` if there is none.
    pub fn by_name(name: &[u8]) -> Option<OptionalColumn> {
        OptionalColumn::ALL.into_iter().find(|it| it.name().as_bytes() == name)
    }

    /// Parses the part of a header after the four required columns: empty, or `,` and names.
    pub fn named(rest: &[u8]) -> Result<Vec<OptionalColumn>, Fault<'_>> {
        let mut columns = Vec::new();
        for name in rest.split(|&byte| byte == b',').skip(1) {
            let known = OptionalColumn::ALL.into_iter().find(|it| it.name().as_bytes() == name);
            match known.filter(|column| !columns.contains(column)) {
                Some(column) => columns.push(column),
                None => return Err(OptionalColumn::unexpected(name)),
            }
        }
        Ok(columns)
    }

    /// Returns the fault of a header with a column that a native trace does not have, or has twice.
    pub fn unexpected(name: &[u8]) -> Fault<'_> {
        let name = if name.is_empty() { b"," } else { name };
        Fault { expected: EXPECTED, ..Fault::new(Cause::Header, "", name) }
    }

    /// Returns the request with the value (queue, placement handle or deadline) that `field` states
    /// in this optional column of a native trace; unchanged if the field is empty.
    pub fn read(self, field: &[u8], io: HostIo) -> Result<HostIo, Fault<'_>> {
        if field.is_empty() {
            return Ok(io);
        }
        let (most, expected) = match self {
            OptionalColumn::Queue => (u64::from(u16::MAX), "a queue from 0 to 65535"),
            OptionalColumn::Placement => {
                (u64::from(PlacementHandle::NONE.0) - 1, "a placement handle from 0 to 254")
            }
            OptionalColumn::Deadline => (LONGEST.0, "whole nanoseconds, up to 292 years"),
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

    /// Returns the value of a request that belongs in this optional column of a native trace;
    /// `None` if it is the default.
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
    /// Returns the set of optional trace columns for which at least one of `requests` has a value.
    pub fn used_by(requests: impl IntoIterator<Item = HostIo>) -> OptionalColumns {
        let mut used = OptionalColumns::default();
        for io in requests {
            used.0.iter_mut().zip(OptionalColumn::ALL).for_each(|(used, column)| {
                *used |= column.value(&io).is_some();
            });
        }
        used
    }

    /// True if the native trace has none of the optional columns.
    pub fn is_empty(self) -> bool {
        self == OptionalColumns::default()
    }

    /// Returns the optional columns that the native trace has, in the order of its header.
    pub(crate) fn columns(self) -> impl Iterator<Item = OptionalColumn> {
        OptionalColumn::ALL.into_iter().filter(move |&column| self.0[column as usize])
    }

    /// Returns the first optional column that the native trace does not have but for which the
    /// request has a value; `None` if there is none.
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
