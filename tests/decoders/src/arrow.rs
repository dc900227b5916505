//! Requests from Arrow batches, as Python passes them.
//!
//! The input encodes the columns and their values: see [`Bytes`].

use crate::refused_in_words;
use arrow_array::types::{
    ArrowPrimitiveType, DurationMicrosecondType, DurationMillisecondType, DurationNanosecondType,
    DurationSecondType, Int8Type, Int16Type, Int32Type, Int64Type, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{
    ArrayRef, DictionaryArray, Float64Array, LargeStringArray, NullArray, PrimitiveArray,
    RecordBatch, StringArray, StringViewArray, TimestampMicrosecondArray, UInt64Array,
};
use fowler_columns::arrow_source::ArrowSource;
use fowler_experiment::diagnostic::Diagnostics;
use fowler_experiment::{HostIo, HostOp};
use std::sync::Arc;

const NAMES: [&str; 4] = ["at_ns", "op", "offset", "size"];
const WORDS: [&str; 8] = ["read", "WRITE", "Trim", "flush", "", "\x1b[31m", "peek", "2"];
/// The most rows of a batch.
const ROWS: usize = 40;

/// Remaining input; reads zeros beyond the end.
struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        first
    }

    /// A number: usually a small one, else any.
    fn number(&mut self) -> i64 {
        match self.byte() {
            byte @ 0..200 => i64::from(byte),
            byte @ 200..240 => i64::from(byte) << 12,
            _ => i64::from_le_bytes(std::array::from_fn(|_| self.byte())),
        }
    }

    fn word(&mut self) -> &'static str {
        WORDS[usize::from(self.byte()) % WORDS.len()]
    }

    /// The values of a column; one in sixteen is missing if any is.
    fn rows<T>(&mut self, rows: usize, value: impl Fn(&mut Self) -> T) -> Vec<Option<T>> {
        let nulls = self.byte() % 4 == 3;
        let row = |_| (!nulls || self.byte() % 16 != 15).then(|| value(self));
        (0..rows).map(row).collect()
    }

    fn numbers<T: ArrowPrimitiveType>(&mut self, rows: usize) -> ArrayRef
    where
        T::Native: TryFrom<i64>,
    {
        let native = |it: i64| T::Native::try_from(it).unwrap_or_default();
        let values = self.rows(rows, |it| native(it.number()));
        Arc::new(values.into_iter().collect::<PrimitiveArray<T>>())
    }

    /// A dictionary: its words, some of which may be missing, and the keys.
    fn dictionary(&mut self, rows: usize) -> ArrayRef {
        let length = usize::from(self.byte() % 6);
        let words: StringArray = self.rows(length, Self::word).into_iter().collect();
        let keys = self.rows(rows, |it| i32::from(it.byte()));
        let key = |key: Option<i32>| key.and_then(|it| it.checked_rem(length as i32));
        let keys: PrimitiveArray<Int32Type> = keys.into_iter().map(key).collect();
        Arc::new(DictionaryArray::new(keys, Arc::new(words)))
    }

    fn column(&mut self, rows: usize) -> ArrayRef {
        match self.byte() % 24 {
            0 => self.numbers::<UInt64Type>(rows),
            1 => self.numbers::<Int64Type>(rows),
            2 => self.numbers::<UInt32Type>(rows),
            3 => Arc::new(self.rows(rows, Self::word).into_iter().collect::<StringArray>()),
            4 => self.dictionary(rows),
            5 => self.numbers::<Int8Type>(rows),
            6 => self.numbers::<Int16Type>(rows),
            7 => self.numbers::<Int32Type>(rows),
            8 => self.numbers::<UInt8Type>(rows),
            9 => self.numbers::<UInt16Type>(rows),
            10 => self.numbers::<TimestampSecondType>(rows),
            11 => self.numbers::<TimestampMillisecondType>(rows),
            12 => self.numbers::<TimestampMicrosecondType>(rows),
            13 => self.numbers::<TimestampNanosecondType>(rows),
            14 => self.numbers::<DurationSecondType>(rows),
            15 => self.numbers::<DurationMillisecondType>(rows),
            16 => self.numbers::<DurationMicrosecondType>(rows),
            17 => self.numbers::<DurationNanosecondType>(rows),
            18 => Arc::new(self.rows(rows, Self::word).into_iter().collect::<LargeStringArray>()),
            19 => Arc::new(self.rows(rows, Self::word).into_iter().collect::<StringViewArray>()),
            20 => Arc::new(NullArray::new(rows)),
            21 => Arc::new(Float64Array::from(vec![f64::from(self.byte()); rows])),
            22 => {
                // In order of time, as most requests come.
                let mut sum = 0u64;
                let values = (0..rows).map(|_| {
                    sum = sum.saturating_add(u64::from(self.byte()));
                    sum
                });
                Arc::new(values.collect::<UInt64Array>())
            }
            _ => {
                let values = self.rows(rows, Self::number);
                let times: TimestampMicrosecondArray = values.into_iter().collect();
                Arc::new(times.with_timezone(self.word()))
            }
        }
    }

    /// Builds a batch, and the row at which it is cut in two.
    fn batch(&mut self) -> Option<(RecordBatch, usize)> {
        let (rows, before, odd) = (self.byte(), self.byte(), self.byte());
        let rows = usize::from(rows) % ROWS;
        let before = usize::from(before) % (rows + 1);
        let mut columns: Vec<_> =
            NAMES.iter().map(|name| ((*name).to_string(), self.column(rows))).collect();
        match odd {
            255 => drop(columns.remove(usize::from(self.byte() % 4))),
            254 => columns.push((self.word().into(), self.column(rows))),
            253 => columns.push((NAMES[usize::from(self.byte() % 4)].into(), self.column(rows))),
            252 => columns.rotate_left(usize::from(self.byte() % 4)),
            _ => {}
        }
        let columns = columns.into_iter().map(|(name, array)| (name, array, true));
        let batch = RecordBatch::try_from_iter_with_nullable(columns).ok()?;
        let cut = usize::from(self.byte()) % (rows - before + 1);
        Some((batch.slice(before, rows - before), cut))
    }
}

/// Returns the requests as the plainest batch that holds them.
fn plain(requests: &[HostIo]) -> RecordBatch {
    let numbers = |number: fn(&HostIo) -> u64| -> ArrayRef {
        Arc::new(requests.iter().map(number).collect::<UInt64Array>())
    };
    let op: StringArray = requests.iter().map(|io| Some(io.op.word())).collect();
    let size = |io: &HostIo| u64::from(io.size);
    let columns: [ArrayRef; 4] =
        [numbers(|io| io.at.0), Arc::new(op), numbers(|io| io.offset), numbers(size)];
    RecordBatch::try_from_iter(NAMES.into_iter().zip(columns)).expect("columns of one length")
}

/// Returns the requests of batches in a row.
fn requests<'a>(
    batches: impl IntoIterator<Item = &'a RecordBatch>,
) -> Result<Vec<HostIo>, Diagnostics> {
    let mut source = ArrowSource::new();
    let mut all = Vec::new();
    for batch in batches {
        let rows = source.rows();
        all.extend(source.requests(batch)?);
        assert_eq!(source.rows(), rows + batch.num_rows() as u64);
    }
    Ok(all)
}

/// Accepted requests come in order, one from each row, and are the same if the batch comes in two
/// parts and if its columns are plain.
pub fn check(input: &[u8]) -> bool {
    let Some((batch, cut)) = Bytes(input).batch() else { return false };
    let parts = [batch.slice(0, cut), batch.slice(cut, batch.num_rows() - cut)];
    match requests([&batch]) {
        Err(diagnostics) => {
            refused_in_words(&diagnostics);
            assert!(requests(&parts).is_err(), "its parts are accepted");
            false
        }
        Ok(all) => {
            assert_eq!(all.len(), batch.num_rows());
            assert!(all.iter().map(|io| io.at).is_sorted());
            for io in &all {
                assert_eq!(io.size == 0, io.op == HostOp::Flush, "{io:?}");
                assert!(io.offset.checked_add(u64::from(io.size)).is_some(), "{io:?}");
            }
            assert_eq!(requests(&parts), Ok(all.clone()));
            assert_eq!(requests([&plain(&all)]), Ok(all));
            true
        }
    }
}

/// Batches of four rows: the bytes of each column by its name in [`Bytes::column`].
pub fn seeds() -> Vec<Vec<u8>> {
    let sums: &[u8] = &[22, 0, 1, 2, 3];
    let numbers = |kind: u8| [kind, 0, 1, 2, 3, 3];
    let words = |kind: u8| [kind, 0, 0, 1, 2, 3];
    let dictionary: &[u8] = &[4, 4, 0, 0, 1, 2, 3, 0, 3, 2, 1, 0];
    let wrong: &[u8] = &[3, 0, 5, 6, 4, 0];
    let zoned: &[u8] = &[23, 0, 0, 1, 2, 3, 5];
    let batches: [[&[u8]; 4]; 8] = [
        [sums, zoned, sums, sums],
        [sums, &words(3), sums, &numbers(2)],
        [&numbers(12), dictionary, &numbers(1), &numbers(9)],
        [&numbers(0), &words(18), &numbers(8), &numbers(5)],
        [&numbers(16), &words(19), &numbers(7), &numbers(6)],
        [&numbers(13), &numbers(8), sums, &numbers(0)],
        [&numbers(14), wrong, sums, &numbers(1)],
        [&[21], &[20], &numbers(10), &words(3)],
    ];
    batches.map(|columns| [&[4, 0, 0], &*columns.concat(), &[2]].concat()).to_vec()
}
