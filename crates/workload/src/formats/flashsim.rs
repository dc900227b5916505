//! FlashSim ASCII: five columns, milliseconds, addresses in sectors and sizes in pages.

use super::simulators::milliseconds;
use super::{Signs, Table, TraceFormat};
use crate::columns::Columns;
use crate::recognition::plausibility::Rules;
use crate::record::{Record, SECTOR};

/// Unit of the sizes in a FlashSim trace: a page, in bytes.
const PAGE: u64 = 4096;

/// The ASCII format of FlashSim.
pub(crate) struct Flashsim;

impl TraceFormat for Flashsim {
    const COLUMNS: &'static str = "time 0 sector pages op";
    const ABOUT: &'static str = "\
        FlashSim ASCII: time in decimal ms, sector of 512 B, size in pages of 4 KiB, op 1 is a \
        read and 0 a write";
    const RULES: Rules = super::simulators::RULES;
    const AS_COLUMNS: Option<&'static str> =
        Some("ts=ms,dev=number,lba=512,len=4096,op=1=read,blanks");
    const TABLE: Table =
        Table { time: "ms, decimal", range: "sectors of 512 B, **pages of 4 KiB**", read: "`1`" };
    const EXAMPLE: &'static [u8] = b"26.214000\t0\t303574\t1\t0\n78.643000\t0\t55596\t1\t1\n";
    const SIGNS: Signs = Signs { fractional_times: true, device_is_zero: true, ..Signs::NONE };

    #[inline(always)]
    fn decode<'a, C: Columns<'a>>(columns: &mut C) -> Result<Record, C::Fault> {
        milliseconds(columns, ("sector", SECTOR), ("pages", PAGE))
    }
}
