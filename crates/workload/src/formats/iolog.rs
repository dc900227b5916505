//! Lines that both versions of fio's iolog share: `file action [offset length]`.
//!
//! Source: fio's HOWTO, "Trace file format v2" and "v3", and `iolog.c`. Bytes; `sync` and
//! `datasync` are flushes, whatever numbers follow; `add`, `open` and `close` are no requests. Each
//! file is a device; its name has no blanks.

use crate::Cause;
use crate::columns::Columns;
use crate::fields::Fault;
use crate::record::{Measure, Record, record, record_or_piece, unknown_op};
use fowler_units::HostOp;

/// Meaning of a line of fio's iolog by its action.
pub(super) enum Action {
    /// The line is a request with this operation: read, write, trim or flush.
    Request(HostOp),
    /// A pause before the next action, in microseconds.
    Wait(u64),
}

/// Decodes the columns `file action` of a fio iolog line and, for an action that is not a request,
/// the rest of the line.
#[inline(always)]
pub(super) fn action<'a, C: Columns<'a>>(columns: &mut C) -> Result<Action, C::Fault> {
    columns.host_named("file")?;
    let action = columns.next("action")?;
    Ok(Action::Request(match action {
        b"read" => HostOp::Read,
        b"write" => HostOp::Write,
        b"trim" => HostOp::Trim,
        b"sync" | b"datasync" | b"sync_file_range" => HostOp::Flush,
        b"add" | b"open" | b"close" => {
            columns.finish()?;
            return Err(C::fault(Fault::new(Cause::OtherEvent, "action", action)));
        }
        b"wait" => return columns.unsigned("offset").map(Action::Wait),
        other => {
            let expected = "read, write, trim, sync, datasync, add, open or close";
            return Err(unknown_op::<C>("action", other, expected));
        }
    }))
}

/// Decodes the columns `offset` and `length` of a line of fio's iolog as a request with the
/// operation `op` that arrives at `at` nanoseconds; for a flush, both columns are ignored.
#[inline(always)]
pub(super) fn request<'a, C: Columns<'a>>(
    columns: &mut C,
    at: u64,
    op: HostOp,
) -> Result<Record, C::Fault> {
    let nothing = |column| Measure { count: 0, unit: 1, column };
    if op == HostOp::Flush {
        for column in ["offset", "length"] {
            if columns.peek()?.is_some() {
                columns.unsigned(column)?;
            }
        }
        columns.finish()?;
        return record::<C>(at, 0, nothing("offset"), nothing("length"), op);
    }
    let start = Measure { count: columns.unsigned("offset")?, unit: 1, column: "offset" };
    let length = Measure { count: columns.unsigned("length")?, unit: 1, column: "length" };
    columns.finish()?;
    record_or_piece(columns, at, 0, start, length, op)
}
