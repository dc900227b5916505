//! SSDsim ASCII as converted from the FIU traces: a sixth column is a digest of the content.

use super::simulators::sectors;
use super::{Table, TraceFormat, simulators};
use crate::columns::Columns;
use crate::recognition::plausibility::Rules;
use crate::record::Record;

/// The ASCII format of SSDsim with a digest column.
pub(crate) struct SsdsimDigest;

impl TraceFormat for SsdsimDigest {
    const COLUMNS: &'static str = "time device sector sectors op digest";
    const ABOUT: &'static str = "\
        SSDsim ASCII made from the FIU traces: time in ns, sectors of 512 B, op 1 is a read \
        and 0 a write, and a sixth column with a digest of the content, which is ignored";
    const RULES: Rules = simulators::RULES;
    const AS_COLUMNS: Option<&'static str> =
        Some("ts=ns,dev=number,lba=512,len=512,op=1=read,_,blanks");
    const TABLE: Table = Table { time: "ns, whole", range: "sectors of 512 B", read: "`1`" };
    const EXAMPLE: &'static [u8] = b"0 0 160806224 8 0 3f4fc2833a17\n\
        1851 0 73397240 8 1 2e568877a8c6\n";

    #[inline(always)]
    fn decode<'a, C: Columns<'a>>(columns: &mut C) -> Result<Record, C::Fault> {
        sectors::<1, true, C>(columns)
    }
}
