//! Excerpts of MSR Cambridge in FlashSim's columns, but in bytes.

use super::simulators::milliseconds;
use super::{Signs, Table, TraceFormat};
use crate::columns::Columns;
use crate::recognition::plausibility::Rules;
use crate::record::Record;

/// The format of MSR Cambridge excerpts.
pub(crate) struct MsrCut;

impl TraceFormat for MsrCut {
    const COLUMNS: &'static str = "time 0 offset bytes op";
    const ABOUT: &'static str = "\
        excerpts of MSR Cambridge in FlashSim's columns: time in decimal ms, offset and size in \
        bytes, op 1 is a read and 0 a write";
    const RULES: Rules = super::simulators::RULES;
    const AS_COLUMNS: Option<&'static str> =
        Some("ts=ms,dev=number,lba=bytes,len=bytes,op=1=read,blanks");
    const TABLE: Table = Table { time: "ms, decimal", range: "bytes, bytes", read: "`1`" };
    const EXAMPLE: &'static [u8] = b"0.000 0 200626176 4096 0\n223.412 0 3159347200 36864 1\n";
    const SIGNS: Signs =
        Signs { fractional_times: true, bytes: true, device_is_zero: true, ..Signs::NONE };

    #[inline(always)]
    fn decode<'a, C: Columns<'a>>(columns: &mut C) -> Result<Record, C::Fault> {
        milliseconds(columns, ("offset", 1), ("bytes", 1))
    }
}
