//! SSDsim ASCII in microseconds.

use super::simulators::sectors;
use super::{Table, TraceFormat, simulators};
use crate::columns::Columns;
use crate::recognition::plausibility::Rules;
use crate::record::Record;

/// The ASCII format of SSDsim in microseconds.
pub(crate) struct SsdsimUs;

impl TraceFormat for SsdsimUs {
    const COLUMNS: &'static str = "time device sector sectors op";
    const ABOUT: &'static str = "\
        SSDsim ASCII with time in us: sectors of 512 B, op 1 is a read and 0 a write";
    const RULES: Rules = simulators::RULES;
    const AS_COLUMNS: Option<&'static str> =
        Some("ts=us,dev=number,lba=512,len=512,op=1=read,blanks");
    const TABLE: Table = Table { time: "us, whole", range: "sectors of 512 B", read: "`1`" };
    const EXAMPLE: &'static [u8] = b"0 0 280605840 2 1\n979 0 287641400 128 0\n";

    #[inline(always)]
    fn decode<'a, C: Columns<'a>>(columns: &mut C) -> Result<Record, C::Fault> {
        sectors::<1_000, false, C>(columns)
    }
}
