//! DiskSim ASCII: five columns, milliseconds, and flags in hexadecimal.

use super::simulators::MS;
use super::{Signs, Table, TraceFormat};
use crate::columns::Columns;
use crate::recognition::plausibility::Rules;
use crate::record::{Measure, Record, SECTOR, record};
use fowler_units::HostOp;

/// Bit of DiskSim's request flags that marks a read.
const READ: u64 = 1;

/// The ASCII format of DiskSim.
pub(crate) struct Disksim;

impl TraceFormat for Disksim {
    const COLUMNS: &'static str = "time device block blocks flags";
    const ABOUT: &'static str = "\
        DiskSim ASCII: time in decimal ms, blocks of 512 B, flags in hexadecimal whose bit 0 \
        is set for a read";
    const RULES: Rules = super::simulators::RULES;
    const TABLE: Table = Table {
        time: "ms, decimal",
        range: "blocks of 512 B",
        read: "bit 0 of the hexadecimal flags is set",
    };
    const EXAMPLE: &'static [u8] = b"0.000000 0 8 16 1\n1.500000 0 24 8 0\n  2.25 1 0 1 a\n";
    const SIGNS: Signs = Signs { fractional_times: true, ..Signs::NONE };

    #[inline(always)]
    fn decode<'a, C: Columns<'a>>(columns: &mut C) -> Result<Record, C::Fault> {
        let at = columns.time("time", MS)?;
        let device = columns.small("device")?;
        let start = Measure { count: columns.unsigned("block")?, unit: SECTOR, column: "block" };
        let length = Measure { count: columns.unsigned("blocks")?, unit: SECTOR, column: "blocks" };
        let flags = columns.hexadecimal("flags")?;
        columns.finish()?;
        // Branch-free, because the operation is unpredictable.
        let op = [HostOp::Write, HostOp::Read][(flags & READ) as usize];
        record::<C>(at, device, start, length, op)
    }
}
