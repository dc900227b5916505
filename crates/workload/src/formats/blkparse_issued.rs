//! blkparse text of which `D` is read: requests as they were issued to the drive, after merging and
//! scheduling. The lines are those of [`Blkparse`](super::blkparse), which reads arrivals; this
//! format is read only when it is asked for.
//!
//! A request that is requeued (`R`) is issued again, and a preflush is an event of its own (`FN`).

use super::blkparse::{EVENTS, is_summary, request, without};
use super::{Table, TraceFormat};
use crate::Format;
use crate::columns::Columns;
use crate::left_out_events::{LeftOut, NamedKind};
use crate::record::Record;
use fowler_units::Diagnostic;

/// The text format of blkparse, of which issues to the drive (`D` events) are read.
pub(crate) struct BlkparseIssued;

impl TraceFormat for BlkparseIssued {
    const COLUMNS: &'static str = "device cpu sequence time pid D rwbs sector + sectors [process]";
    const ABOUT: &'static str = "\
        blkparse text in its default layout: only D events (requests issued to the drive, merged \
        and scheduled) are read, time in decimal seconds, sectors of 512 B, R or W in the rwbs \
        column, D a trim, F without a range a flush";
    const TABLE: Table =
        Table { time: "s, decimal", range: "sectors of 512 B", read: "`R` in rwbs" };
    const EXAMPLE: &'static [u8] =
        b"202,16 7 50007 675.722691803 661 D W 95839968 + 80 [kswapd0]\n\
        202,16 3 41877 675.731118020 12873 D R 1182712 + 8 [java]\n\
        202,16 3 41878 675.741118020 0 C R 1182712 + 8 [0]\n";
    const LEFT_OUT: &'static [NamedKind] = EVENTS;
    const DETECTED: bool = false;
    const NOTE: Option<&'static str> = Some(
        "requests are those issued to the drive (D): merged, scheduled, and requeued ones again",
    );

    fn decode<'a, C: Columns<'a>>(columns: &mut C) -> Result<Record, C::Fault> {
        request(columns, b"D")
    }

    fn without_requests(left_out: &[LeftOut]) -> Option<Diagnostic> {
        without(("D", "requests issued to the drive"), left_out, ("Q", Format::Blkparse))
    }

    #[inline]
    fn begins_summary(line: &[u8]) -> bool {
        is_summary(line)
    }
}

#[cfg(test)]
mod tests {
    use super::super::decode_line;
    use crate::{Cause, Format};
    use fowler_units::{HostIo, Nanos};

    #[test]
    fn only_what_was_issued_is_read() {
        let decoded = |line: &str| {
            let decoded = decode_line(Format::BlkparseIssued, line.as_bytes());
            decoded.map(|record| record.io).map_err(|fault| fault.cause)
        };
        let at = Nanos(1_500_000_000);
        assert_eq!(decoded("8,0 3 4 1.5 195 D FN [kworker/3:1H]"), Ok(HostIo::flush(at)));
        assert_eq!(decoded("8,0 3 4 1.5 195 D WSM 8 + 17 [x]"), Ok(HostIo::write(at, 4096, 8704)));
        assert_eq!(decoded("8,0 3 4 1.5 195 Q WSM 8 + 17 [x]"), Err(Cause::OtherEvent));
        assert_eq!(decoded("8,0 3 4 1.5 195 C WSM 8 + 17 [0]"), Err(Cause::OtherEvent));
    }
}
