//! The native format: CSV with the header `at_ns,op,offset,size`; time in ns, offset and size in
//! bytes, op by its word. A flush is written with offset 0 and size 0. The header may name optional
//! columns behind the four: what they are is said in `crate::native`.

use super::{Fault, Measure, Record, record, unknown_op};
use crate::fields::Commas;
use crate::native::OptionalColumn;
use fowler_units::HostOp;

#[inline]
pub(super) fn decode(line: &[u8]) -> Result<Record, Fault<'_>> {
    let mut fields = Commas::of(line);
    let (at, op, start, length) = columns(&mut fields)?;
    fields.finish()?;
    record(at, 0, start, length, op)
}

/// The same with optional columns.
pub(super) fn decode_wider<'a>(
    line: &'a [u8],
    optional: &[OptionalColumn],
) -> Result<Record, Fault<'a>> {
    let mut fields = Commas::of(line);
    let (at, op, start, length) = columns(&mut fields)?;
    let mut values = fields.clone();
    for column in optional {
        fields.next(column.name())?;
    }
    fields.finish()?;
    let mut record = record(at, 0, start, length, op)?;
    for column in optional {
        record.io = column.read(values.next(column.name())?, record.io)?;
    }
    Ok(record)
}

/// The four columns that every native trace has.
#[inline]
fn columns<'a>(fields: &mut Commas<'a>) -> Result<(u64, HostOp, Measure, Measure), Fault<'a>> {
    let at = fields.whole_time("at_ns", 1)?;
    let op = match fields.next("op")? {
        b"read" => HostOp::Read,
        b"write" => HostOp::Write,
        b"trim" => HostOp::Trim,
        b"flush" => HostOp::Flush,
        other => return Err(unknown_op("op", other, "read, write, trim or flush")),
    };
    let start = Measure { count: fields.unsigned("offset")?, unit: 1, column: "offset" };
    let length = Measure { count: fields.unsigned("size")?, unit: 1, column: "size" };
    Ok((at, op, start, length))
}

#[cfg(test)]
mod tests {
    use super::super::{decode_line, tests::causes};
    use super::*;
    use crate::{Cause, Format};
    use fowler_units::{HostIo, Nanos};

    #[test]
    fn each_word_is_its_operation() {
        for (line, op, offset, size) in [
            ("7,read,4096,512", HostOp::Read, 4096, 512),
            ("7,write,1,3", HostOp::Write, 1, 3),
            ("7, trim , 0 ,4096", HostOp::Trim, 0, 4096),
            ("7,flush,0,0", HostOp::Flush, 0, 0),
        ] {
            let expected = Record { device: 0, io: HostIo::new(op, Nanos(7), offset, size) };
            assert_eq!(decode_line(Format::Native, line.as_bytes()), Ok(expected));
        }
    }

    #[test]
    fn each_fault_has_its_cause() {
        let lines = [
            "7,Read,0,512",
            "-7,read,0,512",
            "7,read,0",
            "7,read,0,512,",
            "7.5,read,0,512",
            "7,read,0,0",
            "7,flush,0,512",
            "7,read,-512,512",
        ];
        let expected = [
            Cause::UnknownOp,
            Cause::NegativeTime,
            Cause::TooFewColumns,
            Cause::TooManyColumns,
            Cause::NotANumber,
            Cause::ZeroLength,
            Cause::FlushWithRange,
            Cause::NotANumber,
        ];
        assert_eq!(causes(Format::Native, &lines), expected);
    }
}
