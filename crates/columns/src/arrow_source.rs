//! Requests from Arrow batches with the columns `at_ns`, `op`, `offset` and `size`.
//!
//! The type of a column is checked once per batch; its values are then read as a plain slice.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, DurationMicrosecondType, DurationMillisecondType, DurationNanosecondType,
    DurationSecondType, Int8Type, Int16Type, Int32Type, Int64Type, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{Array, RecordBatch};
use arrow_schema::{DataType, Schema, TimeUnit};
use fowler_experiment::diagnostic::{Diagnostic, Diagnostics, printable};
use fowler_experiment::{HostIo, HostOp, Nanos, Span};
use serde_json::Value;
use std::fmt::Display;

/// Columns of requests in an Arrow batch, and the types that each accepts.
const COLUMNS: [(&str, &str); 4] = [
    ("at_ns", "whole numbers of nanoseconds, timestamps or durations, ascending"),
    ("op", "the words read, write, trim and flush, or their codes 0 to 3"),
    ("offset", "whole numbers of bytes"),
    ("size", "whole numbers of bytes, below 4 GiB"),
];
/// Latest arrival time of a request: 292 years, in nanoseconds.
const LATEST: u64 = i64::MAX as u64;
/// Largest number of invalid values, for each column of an Arrow table of requests, that are
/// reported one by one; further ones are only counted.
const SHOWN: usize = 5;

/// A stream of batches that form one workload: rows are numbered across batches, and must be in
/// order of time.
#[derive(Clone, Debug, Default)]
pub struct ArrowSource {
    rows: u64,
    last: u64,
    /// Earliest arrival time, in nanoseconds since 1970, that becomes time zero of the requests if
    /// the arrival times in the first Arrow batch are timestamps; otherwise 0. `None` before that
    /// batch.
    origin: Option<u64>,
}

impl ArrowSource {
    /// Returns a reader of requests from Arrow batches that has not read any batch yet.
    pub fn new() -> ArrowSource {
        ArrowSource::default()
    }

    /// Returns the number of requests, one per row, in all Arrow batches read so far.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Returns the requests of the next Arrow batch. Arrival times that are timestamps (dates)
    /// count from the first one; whole numbers and durations are taken as nanoseconds from zero.
    ///
    /// # Errors
    /// Every problem of the batch. Rows are numbered from 0, across all batches.
    pub fn requests(&mut self, batch: &RecordBatch) -> Result<Vec<HostIo>, Diagnostics> {
        let mut requests = convert(batch, self.rows, self.last)?;
        self.rows += batch.num_rows() as u64;
        let Some((first, last)) = requests.first().zip(requests.last()) else {
            return Ok(requests);
        };
        self.last = last.at.0;
        let first = first.at.0;
        let origin = *self.origin.get_or_insert_with(|| if has_dates(batch) { first } else { 0 });
        if origin > 0 {
            requests.iter_mut().for_each(|request| request.at.0 -= origin);
        }
        Ok(requests)
    }
}

/// Returns true if the arrival times in a record batch of the caller's request table are timestamps
/// (dates), not numbers.
fn has_dates(batch: &RecordBatch) -> bool {
    let at = batch.column_by_name(COLUMNS[0].0);
    at.is_some_and(|at| matches!(at.data_type(), DataType::Timestamp(..)))
}

/// Converts one record batch of the request table to requests; `first_row` is the number of the
/// batch's first row. Arrival times are not shifted. None may precede `after`, the time of the last
/// request of the batch before.
fn convert(batch: &RecordBatch, first_row: u64, after: u64) -> Result<Vec<HostIo>, Diagnostics> {
    let [at, op, offset, size] = columns(batch)?;
    let mut diagnostics = Diagnostics::default();
    let at = diagnostics.take(typed(0, at, numbers(at)));
    let op = diagnostics.take(typed(1, op, operations(op)));
    let offset = diagnostics.take(typed(2, offset, numbers(offset)));
    let size = diagnostics.take(typed(3, size, numbers(size)));
    diagnostics.or(())?;
    let (Some(at), Some(op), Some(offset), Some(size)) = (at, op, offset, size) else {
        return Ok(Vec::new());
    };
    let mut sound = [&at, &offset, &size].iter().all(|it| it.sound) && op.sound;
    let mut requests = Vec::with_capacity(batch.num_rows());
    let mut last = after;
    let columns = at.values.iter().zip(&op.values).zip(&offset.values).zip(&size.values);
    for (((&at, &op), &offset), &size) in columns {
        sound &= fits(Nanos(at), op, offset, size) & (at >= last);
        last = at;
        // A flush has no range.
        let ranged = if op == HostOp::Flush { 0 } else { u64::MAX };
        let size = (size & ranged) as u32;
        requests.push(HostIo::new(op, Nanos(at), offset & ranged, size));
    }
    if sound {
        return Ok(requests);
    }
    let rows = Rows { batch, first_row, after, at, op, offset, size };
    Err(rows.diagnostics())
}

/// Returns true if the values of a row of a table form a valid request: a size from 1 byte to 4 GiB
/// less one and an end below 2^64 bytes, unless it is a flush, and an arrival within 292 years.
#[inline]
fn fits(at: Nanos, op: HostOp, offset: u64, size: u64) -> bool {
    let flush = op == HostOp::Flush;
    let range = (size >= 1) & (size <= u64::from(u32::MAX)) & offset.checked_add(size).is_some();
    (at.0 <= LATEST) & (flush | range)
}

/// Returns the four columns of a batch (`at_ns`, `op`, `offset`, `size`), in this order.
fn columns(batch: &RecordBatch) -> Result<[&dyn Array; 4], Diagnostics> {
    let schema = batch.schema_ref();
    let mut diagnostics = Diagnostics::default();
    for field in schema.fields() {
        let known = COLUMNS.iter().any(|(name, _)| name == field.name());
        if !known && !is_index(schema, field.name()) {
            let what = format!("unknown column `{}`", printable(field.name()));
            let diagnostic =
                Diagnostic::new("requests", what).expected("at_ns, op, offset and size");
            diagnostics.push(
                diagnostic.hint(
                    "remove the column from the request table: unknown columns are not ignored \
                     silently"
                        .to_string(),
                ),
            );
        }
    }
    let column = |(name, expected): (&str, &str)| {
        let named = schema.fields().iter().filter(|field| field.name() == name).count();
        match named {
            1 => Ok(batch.column_by_name(name).map(AsRef::as_ref)),
            0 => Err(Diagnostic::new("requests", format!("the column `{name}` is missing"))),
            _ => Err(Diagnostic::new("requests", format!("{named} columns are named `{name}`"))),
        }
        .map_err(|diagnostic| Diagnostics::from(diagnostic.expected(expected)))
    };
    let found = COLUMNS.map(|it| diagnostics.take(column(it)).flatten());
    diagnostics.or(())?;
    match found {
        [Some(at), Some(op), Some(offset), Some(size)] => Ok([at, op, offset, size]),
        _ => Err(Diagnostic::new("requests", "a column is missing").into()),
    }
}

/// Returns true if a column is the row index of a pandas frame, which pandas exports beside the
/// real columns.
fn is_index(schema: &Schema, name: &str) -> bool {
    let facts = schema.metadata().get("pandas");
    let facts: Option<Value> = facts.and_then(|facts| serde_json::from_str(facts).ok());
    let index = facts.as_ref().and_then(|facts| facts.get("index_columns")?.as_array());
    index.is_some_and(|index| index.iter().any(|it| it.as_str() == Some(name)))
}

/// Returns a column of a batch if it has an accepted type, or else an error about its type.
fn typed<V>(column: usize, array: &dyn Array, values: Option<V>) -> Result<V, Diagnostics> {
    let (name, expected) = COLUMNS[column];
    values.ok_or_else(|| {
        let data_type = printable(array.data_type().to_string());
        let what = format!("the column `{name}` is of type {data_type}, which is not supported");
        Diagnostic::new("requests", what).expected(expected).into()
    })
}

/// Values of one column of an Arrow batch of requests. An invalid value is replaced by a
/// placeholder, and `sound` is then false.
struct Values<V> {
    values: Vec<V>,
    sound: bool,
}

/// Reads a column of whole numbers as nanoseconds or bytes.
fn numbers(array: &dyn Array) -> Option<Values<u64>> {
    const S: Span = Span::ms(1_000);
    const MS: Span = Span::ms(1);
    const US: Span = Span::us(1);
    Some(match array.data_type() {
        DataType::Int8 => scaled::<Int8Type>(array, 1),
        DataType::Int16 => scaled::<Int16Type>(array, 1),
        DataType::Int32 => scaled::<Int32Type>(array, 1),
        DataType::Int64 => scaled::<Int64Type>(array, 1),
        DataType::UInt8 => scaled::<UInt8Type>(array, 1),
        DataType::UInt16 => scaled::<UInt16Type>(array, 1),
        DataType::UInt32 => scaled::<UInt32Type>(array, 1),
        DataType::UInt64 => scaled::<UInt64Type>(array, 1),
        DataType::Timestamp(TimeUnit::Second, _) => scaled::<TimestampSecondType>(array, S.0),
        DataType::Timestamp(TimeUnit::Millisecond, _) => {
            scaled::<TimestampMillisecondType>(array, MS.0)
        }
        DataType::Timestamp(TimeUnit::Microsecond, _) => {
            scaled::<TimestampMicrosecondType>(array, US.0)
        }
        DataType::Timestamp(TimeUnit::Nanosecond, _) => scaled::<TimestampNanosecondType>(array, 1),
        DataType::Duration(TimeUnit::Second) => scaled::<DurationSecondType>(array, S.0),
        DataType::Duration(TimeUnit::Millisecond) => scaled::<DurationMillisecondType>(array, MS.0),
        DataType::Duration(TimeUnit::Microsecond) => scaled::<DurationMicrosecondType>(array, US.0),
        DataType::Duration(TimeUnit::Nanosecond) => scaled::<DurationNanosecondType>(array, 1),
        _ => return None,
    })
}

fn scaled<T: ArrowPrimitiveType>(array: &dyn Array, scale: u64) -> Values<u64>
where
    T::Native: TryInto<u64>,
{
    let mut sound = array.null_count() == 0;
    let number = |value: &T::Native| {
        let value: Option<u64> = (*value).try_into().ok();
        let value = value.and_then(|value| value.checked_mul(scale));
        sound &= value.is_some();
        value.unwrap_or(0)
    };
    let values = array.as_primitive::<T>().values().iter().map(number).collect();
    Values { values, sound }
}

/// Reads a column of operations, by word or by code.
fn operations(array: &dyn Array) -> Option<Values<HostOp>> {
    match array.data_type() {
        DataType::Utf8 => Some(words(array.as_string::<i32>().iter())),
        DataType::LargeUtf8 => Some(words(array.as_string::<i64>().iter())),
        DataType::Utf8View => Some(words(array.as_string_view().iter())),
        DataType::Dictionary(_, _) => {
            let dictionary = array.as_any_dictionary();
            // Each word of the dictionary is parsed once, whatever the number of rows.
            let meanings = meanings(dictionary.values().as_ref())?;
            let nulls = array.null_count() > 0;
            if meanings.is_empty() {
                return Some(Values { values: vec![HostOp::Read; array.len()], sound: !nulls });
            }
            let mut sound = !nulls;
            let op = |key: usize| {
                let op = meanings[key];
                sound &= op.is_some();
                op.unwrap_or(HostOp::Read)
            };
            let values = dictionary.normalized_keys().into_iter().map(op).collect();
            Some(Values { values, sound })
        }
        DataType::Timestamp(..) | DataType::Duration(_) => None,
        _ => {
            let Values { values: codes, mut sound } = numbers(array)?;
            let op = |code: u64| {
                let op = HostOp::ALL.get(code as usize).copied();
                sound &= op.is_some();
                op.unwrap_or(HostOp::Read)
            };
            let values = codes.into_iter().map(op).collect();
            Some(Values { values, sound })
        }
    }
}

fn words<'a>(words: impl Iterator<Item = Option<&'a str>>) -> Values<HostOp> {
    let mut sound = true;
    let op = |word: Option<&str>| {
        let op = word.and_then(operation);
        sound &= op.is_some();
        op.unwrap_or(HostOp::Read)
    };
    let values = words.map(op).collect();
    Values { values, sound }
}

/// Parses the words of a dictionary as operations; `None` for a word that is none.
fn meanings(words: &dyn Array) -> Option<Vec<Option<HostOp>>> {
    let meaning = |word: Option<&str>| word.and_then(operation);
    Some(match words.data_type() {
        DataType::Utf8 => words.as_string::<i32>().iter().map(meaning).collect(),
        DataType::LargeUtf8 => words.as_string::<i64>().iter().map(meaning).collect(),
        DataType::Utf8View => words.as_string_view().iter().map(meaning).collect(),
        _ => return None,
    })
}

#[inline]
fn operation(word: &str) -> Option<HostOp> {
    HostOp::ALL.into_iter().find(|op| word.eq_ignore_ascii_case(op.word()))
}

/// A record batch of a request table in which some rows are invalid, with the decoded columns from
/// which the errors are reported.
struct Rows<'a> {
    batch: &'a RecordBatch,
    first_row: u64,
    after: u64,
    at: Values<u64>,
    op: Values<HostOp>,
    offset: Values<u64>,
    size: Values<u64>,
}

impl Rows<'_> {
    /// Returns every invalid value in an Arrow batch of requests, by column and row.
    fn diagnostics(&self) -> Diagnostics {
        let mut diagnostics = Diagnostics::default();
        for (name, expected) in COLUMNS {
            let Some(array) = self.batch.column_by_name(name) else { continue };
            let mut wrong = (0..array.len())
                .filter_map(|row| Some((row, self.wrong(name, array.as_ref(), row)?)));
            for (row, what) in wrong.by_ref().take(SHOWN) {
                let row = format!("requests, row {}", self.first_row + row as u64);
                diagnostics
                    .push(Diagnostic::new(row, format!("`{name}`: {what}")).expected(expected));
            }
            let more = wrong.count();
            if more > 0 {
                let what = format!("`{name}`: {more} more rows of this record batch are wrong");
                diagnostics.push(Diagnostic::new("requests", what));
            }
        }
        diagnostics
    }

    /// Returns the reason why the value of a column in a row of an Arrow batch of requests is
    /// invalid; `None` if it is valid.
    fn wrong(&self, name: &str, array: &dyn Array, row: usize) -> Option<String> {
        if is_null(array, row) {
            return Some("the value is missing".into());
        }
        let op = self.op.values[row];
        match name {
            "op" => {
                let text = said(array, row)?;
                // Among words, a code is not an operation.
                let known = if array.data_type().is_integer() {
                    text.parse::<usize>().is_ok_and(|code| code < HostOp::ALL.len())
                } else {
                    operation(&text).is_some()
                };
                (!known).then(|| format!("`{}` is not an operation", printable(text)))
            }
            "at_ns" => {
                let at = self.at.values[row];
                let before = row.checked_sub(1).map_or(self.after, |row| self.at.values[row]);
                out_of_reach(array, row, at, LATEST, "292 years").or_else(|| {
                    (at < before).then(|| {
                        format!(
                            "the time {at} ns is earlier than {before} ns, the time of the request \
                             in the row above"
                        )
                    })
                })
            }
            // A flush has no range, but its columns still hold numbers.
            _ if op == HostOp::Flush => {
                let column = if name == "offset" { &self.offset } else { &self.size };
                out_of_reach(array, row, column.values[row], u64::MAX, "2^64")
            }
            "offset" => {
                let (offset, size) = (self.offset.values[row], self.size.values[row]);
                out_of_reach(array, row, offset, u64::MAX, "2^64").or_else(|| {
                    let beyond = offset.checked_add(size).is_none();
                    beyond.then(|| format!("{offset} plus the size {size} exceeds 2^64"))
                })
            }
            _ => {
                let size = self.size.values[row];
                out_of_reach(array, row, size, u64::from(u32::MAX), "4 GiB")
                    .or_else(|| (size == 0).then(|| format!("a {} of 0 bytes", op.word())))
            }
        }
    }
}

/// Returns true if the value of a column in a row of an Arrow batch is null: in the column itself,
/// or in the dictionary to which a dictionary-encoded column refers.
fn is_null(array: &dyn Array, row: usize) -> bool {
    array.is_null(row)
        || matches!(array.data_type(), DataType::Dictionary(_, _)) && said(array, row).is_none()
}

/// Returns the error for a number in a column that is negative or too large.
fn out_of_reach(
    array: &dyn Array,
    row: usize,
    value: u64,
    most: u64,
    limit: &str,
) -> Option<String> {
    let text = said(array, row)?;
    if text.starts_with('-') {
        return Some(format!("{text} is negative"));
    }
    // Values that overflow in the conversion to nanoseconds are set to zero.
    let overflowed = value == 0 && text != "0";
    (value > most || overflowed).then(|| format!("{text} exceeds {limit}"))
}

/// Returns the value of a column in a row of an Arrow batch of requests, in its original unit, as
/// text for messages.
fn said(array: &dyn Array, row: usize) -> Option<String> {
    fn number<T: ArrowPrimitiveType>(array: &dyn Array, row: usize) -> String
    where
        T::Native: Display,
    {
        array.as_primitive::<T>().value(row).to_string()
    }
    Some(match array.data_type() {
        DataType::Int8 => number::<Int8Type>(array, row),
        DataType::Int16 => number::<Int16Type>(array, row),
        DataType::Int32 => number::<Int32Type>(array, row),
        DataType::Int64 => number::<Int64Type>(array, row),
        DataType::UInt8 => number::<UInt8Type>(array, row),
        DataType::UInt16 => number::<UInt16Type>(array, row),
        DataType::UInt32 => number::<UInt32Type>(array, row),
        DataType::UInt64 => number::<UInt64Type>(array, row),
        DataType::Timestamp(unit, _) => match unit {
            TimeUnit::Second => number::<TimestampSecondType>(array, row),
            TimeUnit::Millisecond => number::<TimestampMillisecondType>(array, row),
            TimeUnit::Microsecond => number::<TimestampMicrosecondType>(array, row),
            TimeUnit::Nanosecond => number::<TimestampNanosecondType>(array, row),
        },
        DataType::Duration(unit) => match unit {
            TimeUnit::Second => number::<DurationSecondType>(array, row),
            TimeUnit::Millisecond => number::<DurationMillisecondType>(array, row),
            TimeUnit::Microsecond => number::<DurationMicrosecondType>(array, row),
            TimeUnit::Nanosecond => number::<DurationNanosecondType>(array, row),
        },
        DataType::Utf8 => array.as_string::<i32>().value(row).into(),
        DataType::LargeUtf8 => array.as_string::<i64>().value(row).into(),
        DataType::Utf8View => array.as_string_view().value(row).into(),
        DataType::Dictionary(_, _) => {
            let dictionary = array.as_any_dictionary();
            let values = dictionary.values();
            let key: usize = said(dictionary.keys(), row)?.parse().ok()?;
            let there = key < values.len() && !values.is_null(key);
            return there.then(|| said(values.as_ref(), key)).flatten();
        }
        _ => return None,
    })
}
