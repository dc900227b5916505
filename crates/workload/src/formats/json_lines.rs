//! JSON lines: an object on each line with the time, operation, address and size of a request, as
//! scripts of bpftrace and loggers write them. Keys are recognised by their names.
//!
//! Of two keys of one role the first is read if both say the same.
//!
//! A key without a unit in its name is read as follows, and a note says so: a time that is a date
//! of this century shows its unit; another whole number counts nanoseconds, as bpftrace's `nsecs`
//! and the clocks of most loggers, and a number with decimals counts seconds. Addresses and sizes
//! count bytes unless the name says sectors or blocks, which count 512 B. Objects with none of
//! operation, address and size are messages of the tool, and are left out.

use super::{Table, TraceFormat};
use crate::Cause;
use crate::columns::Columns;
use crate::context::{Context, JsonKeys};
use crate::csv::CsvColumn;
use crate::fields::Fault;
use crate::left_out_events::NamedKind;
use crate::number::{NumberError, time_ns, unsigned};
use crate::op_code::{self, OpCode, as_replayed};
use crate::recognition::json::{Found, Scan, Value};
use crate::recognition::roles::{KnownNames, Role};
use crate::recognition::time_unit::{self, TimeUnit, has_decimals};
use crate::recognition::{header, jq};
use crate::record::{Measure, Record, SECTOR, record_or_piece};
use fowler_units::HostOp;

/// The format of JSON lines.
pub(crate) struct JsonLines;

/// Values of a JSON line that describe a request: time, operation, address, size and device.
#[derive(Default)]
struct Line<'a> {
    time: Option<(Option<usize>, Value<'a>)>,
    op: Option<(OpCode, Value<'a>)>,
    offset: Option<(Option<u64>, Value<'a>)>,
    size: Option<(Option<u64>, Value<'a>)>,
    device: Option<&'a [u8]>,
}

impl TraceFormat for JsonLines {
    const COLUMNS: &'static str = "an object a line: time op offset size device";
    const ABOUT: &'static str = "\
        an object a line, keys by name: time in the unit of its name, else whole ns or decimal \
        seconds (counted from the first request on), 512 B where the name says sector, lba or block, else \
        bytes, op one of r, w, t, f or words";
    const TABLE: Table = Table {
        time: "by the key's name; else ns, or s with decimals",
        range: "`sector`, `sectors`: 512 B; else bytes",
        read: "`R`, `read`",
    };
    const EXAMPLE: &'static [u8] = b"{\"type\": \"attached_probes\", \"data\": {\"probes\": 1}}\n\
        {\"ts\": 104831153000, \"op\": \"R\", \"sector\": 9838272, \"bytes\": 4096}\n\
        {\"ts\": 104831310000, \"op\": \"W\", \"sector\": 48379216, \"bytes\": 8192}\n";
    const COMMAS: bool = false;
    const TIME_COLUMN: &'static str = "time";
    const FROM_A_DATE: bool = true;
    const STATEFUL: bool = true;
    const NAMES_DEVICES: bool = true;
    const LEFT_OUT: &'static [NamedKind] = op_code::LEFT_OUT;

    fn decode_after<'a, C: Columns<'a>>(
        columns: &mut C,
        context: &mut Context,
    ) -> Result<Record, C::Fault> {
        let text = columns.bytes()?;
        let line = taken_apart(text, &mut context.json.names).map_err(C::fault)?;
        let missing = |name| {
            C::fault(Fault { expected: KEYS, ..Fault::new(Cause::TooFewColumns, name, b"") })
        };
        let (digits, time) = line.time.ok_or_else(|| missing("time"))?;
        let (code, op) = line.op.ok_or_else(|| missing("op"))?;
        let (op, extra) = code.read::<C>(op.text)?;
        let digits = match digits {
            Some(digits) => digits,
            None => unnamed_unit(&[time.text], &mut context.json),
        };
        let at = time_ns(time.text, digits).map_err(|error| {
            C::fault(match error {
                NumberError::Negative => Fault::new(Cause::NegativeTime, "time", time.text),
                other => Fault::number(other, "time", time.text),
            })
        })?;
        let mut measure = |found: Option<(Option<u64>, Value<'a>)>, column| match found {
            Some((unit, value)) => {
                let count = unsigned(value.text)
                    .map_err(|error| C::fault(Fault::number(error, column, value.text)))?;
                context.json.assumes_blocks |= unit.is_none();
                Ok(Measure { count, unit: unit.unwrap_or(SECTOR), column })
            }
            None if op == HostOp::Flush => Ok(Measure { count: 0, unit: 1, column }),
            None => Err(missing(column)),
        };
        let (mut start, length) = (measure(line.offset, "offset")?, measure(line.size, "size")?);
        let (op, extra) = as_replayed(op, extra, length.count);
        if op == HostOp::Flush && length.count == 0 {
            // Flushes logged by the kernel have a meaningless sector.
            start.count = 0;
        }
        if let Some(name) = line.device {
            columns.host_is(name);
        }
        columns.extra(extra)?;
        record_or_piece(columns, at, 0, start, length, op)
    }

    fn notes(context: &Context) -> Option<String> {
        let json = &context.json;
        let time = json.time.and_then(|(digits, unit)| {
            let assumed = match unit {
                TimeUnit::Dates(_) => return None,
                TimeUnit::Unclear { dates, since_boot } => {
                    let [dates, since_boot] = [dates, since_boot].map(time_unit::name);
                    format!(
                        "times are read as dates in {dates}, but may be {since_boot} since boot"
                    )
                }
                TimeUnit::Unknown if digits == 0 => "nanoseconds are assumed".into(),
                TimeUnit::Unknown => "seconds are assumed".into(),
            };
            Some(format!("the key of the time names no unit: {assumed}"))
        });
        let block = json.assumes_blocks.then(|| {
            "the key of the address or the size names no unit: 512 B are assumed".to_string()
        });
        let said: Vec<String> = time.into_iter().chain(block).collect();
        let otherwise = json.otherwise.as_deref().unwrap_or(OTHERWISE);
        (!said.is_empty()).then(|| format!("{}; otherwise {otherwise}", said.join(", and ")))
    }
}

/// Advice for JSON lines in other units than those assumed, used if the first lines of the file
/// suggest no more specific advice.
const OTHERWISE: &str = "write the columns as CSV (jq -r '[.ts, .op, .sector, .bytes] | @csv') and \
                         say the units: --columns ts=us,op=rw,lba=512,len=bytes";

/// Values that each JSON line must have, for messages.
const KEYS: &str = "an object with a time (`ts_ns`), an operation (`op`), an address (`offset` or \
                    `sector`) and a size (`size`, `bytes` or `sectors`)";

/// Infers the unit of times whose keys name none from the first lines; it holds for all lines.
pub(crate) fn prepare(head: &[u8], context: &mut Context) {
    let lines: Vec<&[u8]> =
        head.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii).take(256).collect();
    let mut times: Vec<&[u8]> = Vec::new();
    for line in &lines {
        let time = taken_apart(line, &mut context.json.names).ok().and_then(|line| line.time);
        times.extend(time.filter(|(unit, _)| unit.is_none()).map(|(_, value)| value.text));
    }
    if !times.is_empty() {
        unnamed_unit(&times, &mut context.json);
    }
    context.json.otherwise = jq::otherwise(&lines);
}

/// Returns the unit of JSON times whose keys name none, as the power of ten of its nanoseconds. The
/// unit inferred first holds for all lines.
fn unnamed_unit(times: &[&[u8]], json: &mut JsonKeys) -> usize {
    let (digits, _) = *json.time.get_or_insert_with(|| {
        let unit = time_unit::by_values(times.iter().copied());
        let with_decimals = times.iter().any(|text| has_decimals(text));
        (unit.dates().unwrap_or(if with_decimals { 9 } else { 0 }), unit)
    });
    digits
}

/// Finds the values of a JSON line that describe a request: time, operation, address, size and
/// device, recognized by their keys. Objects nested inside are ignored.
fn taken_apart<'a>(text: &'a [u8], names: &mut KnownNames) -> Result<Line<'a>, Fault<'a>> {
    let not_json = || Fault { expected: KEYS, ..Fault::new(Cause::BadRecord, "", b"") };
    if matches!(text, b"[" | b"]") {
        return Err(Fault::new(Cause::OtherEvent, "", b""));
    }
    let text = text.strip_suffix(b",").unwrap_or(text);
    if text.first() != Some(&b'{') {
        return Err(not_json());
    }
    let mut scan = Scan::of(text);
    let (mut line, mut ended) = (Line::default(), false);
    while let Some(found) = scan.next() {
        match found {
            Found::Wrong => return Err(not_json()),
            _ if ended => return Err(not_json()),
            Found::End => ended = scan.depth() == 0,
            Found::Value(key, value) if scan.depth() == 1 => {
                line.take(names.role(key), key, value)?
            }
            Found::Value(..) | Found::Begin(_) => {}
        }
    }
    if !ended {
        return Err(not_json());
    }
    if line.op.is_none() && line.offset.is_none() && line.size.is_none() {
        return Err(Fault::new(Cause::OtherEvent, "", b""));
    }
    Ok(line)
}

impl<'a> Line<'a> {
    /// Takes a value of a JSON line whose key has a role, such as time or size. If two keys have
    /// the same role, the first is taken; it is an error if they contradict each other. An
    /// operation key whose value is no operation is ignored: a `command` beside `op` is the name of
    /// a process.
    fn take(
        &mut self,
        role: Option<Role>,
        key: &'a [u8],
        value: Value<'a>,
    ) -> Result<(), Fault<'a>> {
        let Some(role) = role else { return Ok(()) };
        let (is_same, name) = match role {
            Role::Time(digits) => {
                let of = |digits: Option<usize>| CsvColumn::Time { digits: digits.unwrap_or(0) };
                (first_or_same(&mut self.time, (digits, value), of), "time")
            }
            Role::Offset(unit) => {
                let of = |unit: Option<u64>| CsvColumn::Offset { unit: unit.unwrap_or(SECTOR) };
                (first_or_same(&mut self.offset, (unit, value), of), "offset")
            }
            Role::Size(unit) => {
                let of = |unit: Option<u64>| CsvColumn::Size { unit: unit.unwrap_or(SECTOR) };
                (first_or_same(&mut self.size, (unit, value), of), "size")
            }
            // The value is the type of a message, not an operation.
            Role::Op
                if key.eq_ignore_ascii_case(b"type")
                    && OpCode::Words.meaning(value.text).is_none() =>
            {
                (true, "op")
            }
            Role::Op => (self.take_op(OpCode::Words, value), "op"),
            Role::IsRead => (self.take_op(OpCode::OneReads, value), "op"),
            Role::IsWrite => (self.take_op(OpCode::ZeroReads, value), "op"),
            Role::Device => {
                // A second name, such as that of a file, is ignored.
                self.device.get_or_insert(value.text);
                (true, "device")
            }
        };
        if is_same {
            return Ok(());
        }
        let expected =
            "one time, one operation, one address and one size, or keys that say the same";
        Err(Fault { expected, ..Fault::new(Cause::Contradiction, name, key) })
    }

    /// Sets the operation that the JSON line names. Returns false if another key of the line has
    /// already named a different operation.
    fn take_op(&mut self, code: OpCode, value: Value<'a>) -> bool {
        let meaning = code.meaning(value.text);
        match self.op.map(|(code, value)| code.meaning(value.text)) {
            None | Some(None) if meaning.is_some() || self.op.is_none() => {
                self.op = Some((code, value));
                true
            }
            before => meaning.is_none() || before == Some(meaning),
        }
    }
}

/// Stores a value of a JSON line in `taken`, unless an earlier key of the line had the same meaning
/// (such as the size). Returns false if the two values then differ; `column` converts their units.
fn first_or_same<'a, U: Copy + PartialEq>(
    taken: &mut Option<(U, Value<'a>)>,
    (unit, value): (U, Value<'a>),
    column: impl Fn(U) -> CsvColumn,
) -> bool {
    let &mut (first, text) = taken.get_or_insert((unit, value));
    let [one, other] = [(first, text), (unit, value)]
        .map(|(unit, value)| header::value_of(column(unit), value.text));
    (first, text) == (unit, value) || one.is_some() && one == other
}

#[cfg(test)]
mod tests {
    use super::super::{decode_line, tests::causes};
    use super::*;
    use crate::Format;
    use fowler_units::{HostIo, Nanos};

    #[test]
    fn keys_are_columns_by_their_names() {
        for (line, io) in [
            (r#"{"ts":7,"op":"R","sector":8,"bytes":512}"#, HostIo::read(Nanos(7), 4096, 512)),
            (r#"{"time_us":7.5,"rw":"w","offset":8,"len":5},"#, HostIo::write(Nanos(7500), 8, 5)),
            (
                r#"{"ts":0.5,"is_read":true,"sector":1,"nr_sectors":2,"x":{"op":"W"}}"#,
                HostIo::read(Nanos(500_000_000), 512, 1024),
            ),
            (
                r#"{"ts":1,"op":"FF","sector":18446744073709551615,"bytes":0}"#,
                HostIo::new(HostOp::Flush, Nanos(1), 0, 0),
            ),
            (
                r#"{"ts":7,"command":"fio","op":"R","sector":8,"size":512,"nr_sectors":1}"#,
                HostIo::read(Nanos(7), 4096, 512),
            ),
            (
                r#"{"ts":7,"type":"request","offset":4096,"sector":8,"is_write":true,"len":512}"#,
                HostIo::write(Nanos(7), 4096, 512),
            ),
            (r#"{"ts":1,"op":"FF","pid":3}"#, HostIo::new(HostOp::Flush, Nanos(1), 0, 0)),
            (
                r#"{"timestamp":1577808144.25,"type":"D","lba":1,"bytes":4096}"#,
                HostIo::new(HostOp::Trim, Nanos(1_577_808_144_250_000_000), 512, 4096),
            ),
        ] {
            let expected = Record { device: 0, io };
            assert_eq!(decode_line(Format::JsonLines, line.as_bytes()), Ok(expected), "{line}");
        }
    }

    #[test]
    fn each_fault_has_its_cause() {
        let lines = [
            r#"{"type":"attached_probes","data":{"probes":2}}"#,
            "[",
            "7",
            r#"{"ts":7,"op":"R","sector":8,"bytes":512"#,
            r#"{"ts":7,"op":"R","sector":8,"bytes":512} {}"#,
            r#"{"ts":7,"op":"R","sector":8}"#,
            r#"{"op":"R","sector":8,"bytes":512}"#,
            r#"{"ts":7,"op":"Q","sector":8,"bytes":512}"#,
            r#"{"ts":7,"op":"R","sector":8,"bytes":512,"size":513}"#,
            r#"{"ts":7,"op":"R","rw":"W","sector":8,"bytes":512}"#,
            r#"{"ts":-7,"op":"R","sector":8,"bytes":512}"#,
            r#"{"ts":7,"op":"R","sector":"x","bytes":512}"#,
        ];
        let expected = [
            Cause::OtherEvent,
            Cause::OtherEvent,
            Cause::BadRecord,
            Cause::BadRecord,
            Cause::BadRecord,
            Cause::TooFewColumns,
            Cause::TooFewColumns,
            Cause::UnknownOp,
            Cause::Contradiction,
            Cause::Contradiction,
            Cause::NegativeTime,
            Cause::NotANumber,
        ];
        assert_eq!(causes(Format::JsonLines, &lines), expected);
    }
}
