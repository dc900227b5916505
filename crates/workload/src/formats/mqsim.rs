//! MQSim ASCII: five columns, nanoseconds, sectors.

use super::simulators::sectors;
use super::{Table, TraceFormat, simulators};
use crate::columns::Columns;
use crate::recognition::plausibility::Rules;
use crate::record::Record;

/// The ASCII format of MQSim.
pub(crate) struct Mqsim;

impl TraceFormat for Mqsim {
    const COLUMNS: &'static str = "time device sector sectors op";
    const ABOUT: &'static str = "\
        MQSim ASCII: time in ns, sectors of 512 B, op 1 is a read and 0 a write";
    const RULES: Rules = simulators::RULES;
    const AS_COLUMNS: Option<&'static str> =
        Some("ts=ns,dev=number,lba=512,len=512,op=1=read,blanks");
    const TABLE: Table = Table { time: "ns, whole", range: "sectors of 512 B", read: "`1`" };
    const EXAMPLE: &'static [u8] = b"0 0 303567 7 0\n26214000 1 240840 6 1\n26214001 0 8 8 1\n";

    #[inline(always)]
    fn decode<'a, C: Columns<'a>>(columns: &mut C) -> Result<Record, C::Fault> {
        sectors::<1, false, C>(columns)
    }
}
