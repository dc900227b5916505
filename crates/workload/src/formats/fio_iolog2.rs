//! fio's iolog, version 2: `file action offset length`, after the line `fio version 2 iolog`.
//!
//! Lines have no times. `file wait us` sets the time, in microseconds from the last wait; fio drops
//! waits below 100 us, and so does this reader. Without waits all requests arrive at time 0.

use super::iolog::{Action, action, request};
use super::{Table, TraceFormat};
use crate::Cause;
use crate::columns::Columns;
use crate::context::Context;
use crate::fields::Fault;
use crate::record::Record;
use fowler_units::Span;

/// Shortest wait of an iolog that is kept; shorter ones are dropped, as fio does.
const SHORTEST_WAIT: Span = Span::us(100);

/// The format of fio's iolog, version 2.
pub(crate) struct FioIolog2;

impl TraceFormat for FioIolog2 {
    const COLUMNS: &'static str = "file action offset length";
    const ABOUT: &'static str = "\
        fio's iolog, version 2: action one of read, write, trim, sync, datasync, so that op one of \
        these words, offset and length in bytes, time in us of the waits so far, each file is a \
        device";
    const TABLE: Table = Table {
        time: "the sum of the waits before it, in us",
        range: "bytes, bytes",
        read: "`read`",
    };
    const EXAMPLE: &'static [u8] = b"fio version 2 iolog\n/dev/sda add\n/dev/sda open\n\
        /dev/sda read 0 4096\n\
        /dev/sda wait 250 0\n\
        /dev/sda write 8192 512\n\
        /dev/sda sync 0 0\n\
        /dev/sda trim 0 4096\n\
        /dev/sda close\n";
    const HEADER: Option<&'static str> = Some("fio version 2 iolog");
    const TIME_COLUMN: &'static str = "offset";
    const STATEFUL: bool = true;
    const NAMES_DEVICES: bool = true;

    fn decode_after<'a, C: Columns<'a>>(
        columns: &mut C,
        context: &mut Context,
    ) -> Result<Record, C::Fault> {
        match action(columns)? {
            Action::Request(op) => request(columns, context.clock, op),
            Action::Wait(us) => {
                if columns.peek()?.is_some() {
                    columns.unsigned("length")?;
                }
                columns.finish()?;
                let too_large = || C::fault(Fault::new(Cause::TooLarge, "offset", b""));
                let wait = us.checked_mul(1_000).ok_or_else(too_large)?;
                if wait >= SHORTEST_WAIT.0 {
                    let clock = context.clock.checked_add(wait).ok_or_else(too_large)?;
                    (context.clock, context.noted) = (clock, context.noted + 1);
                }
                Err(C::fault(Fault::new(Cause::OtherEvent, "action", b"wait")))
            }
        }
    }

    fn notes(context: &Context) -> Option<String> {
        (context.noted == 0).then(|| {
            "the file has no waits, so all requests arrive at time 0: replay it with --queue-depth"
                .to_string()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{causes, decode_stateful};
    use super::*;
    use crate::Format;
    use fowler_units::{HostIo, Nanos};

    #[test]
    fn waits_add_up_and_short_ones_are_dropped() {
        let mut context = Context::default();
        let mut decoded = |line: &'static str| {
            let decoded = decode_stateful::<FioIolog2>(line.as_bytes(), &mut context);
            decoded.map(|(record, name)| (record.io, name)).map_err(|fault| fault.cause)
        };
        let named = Some(&b"a"[..]);
        assert_eq!(decoded("a read 0 512"), Ok((HostIo::read(Nanos(0), 0, 512), named)));
        for wait in ["a wait 150", "a wait 99 0", "a wait 100 0"] {
            assert_eq!(decoded(wait), Err(Cause::OtherEvent));
        }
        let at = Nanos(250_000);
        assert_eq!(decoded("b write 512 1"), Ok((HostIo::write(at, 512, 1), Some(&b"b"[..]))));
        assert_eq!(decoded("a datasync"), Ok((HostIo::flush(at), named)));
        assert_eq!(decoded("a sync 4096 7"), Ok((HostIo::flush(at), named)));
        assert_eq!(decoded("a trim 0 4096").map(|(io, _)| io.size), Ok(4096));
        assert_eq!(decoded("a wait 18446744073709551"), Err(Cause::TooLarge));
        assert!(FioIolog2::notes(&context).is_none());
        assert!(FioIolog2::notes(&Context::default()).is_some_and(|it| it.contains("no waits")));
    }

    #[test]
    fn each_fault_has_its_cause() {
        let lines = [
            "a add",
            "a close 1",
            "a append 0 512",
            "a read 0",
            "a read 0 512 7",
            "a read 0 0",
            "a read -1 512",
            "a wait",
            "a wait 5 0 0",
            "a sync x",
            "a",
            "5 a read 0 512",
        ];
        let expected = [
            Cause::OtherEvent,
            Cause::TooManyColumns,
            Cause::UnknownOp,
            Cause::TooFewColumns,
            Cause::TooManyColumns,
            Cause::ZeroLength,
            Cause::NotANumber,
            Cause::TooFewColumns,
            Cause::TooManyColumns,
            Cause::NotANumber,
            Cause::TooFewColumns,
            Cause::UnknownOp,
        ];
        assert_eq!(causes(Format::FioIolog2, &lines), expected);
    }
}
