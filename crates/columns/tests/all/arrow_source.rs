//! Requests from columns: every type that columns may have, every problem that they may have, and
//! the speed of the conversion.

use arrow_array::types::Int32Type;
use arrow_array::{
    Array, ArrayRef, DictionaryArray, DurationMillisecondArray, Float64Array, Int8Array,
    Int32Array, Int64Array, LargeStringArray, RecordBatch, StringArray, StringViewArray,
    TimestampMicrosecondArray, UInt16Array, UInt32Array, UInt64Array,
};
use fowler_columns::arrow_source::ArrowSource;
use fowler_experiment::diagnostic::Diagnostics;
use fowler_experiment::{HostIo, HostOp, Nanos};
use std::sync::Arc;

fn batch(columns: [ArrayRef; 4]) -> RecordBatch {
    let names = ["at_ns", "op", "offset", "size"];
    RecordBatch::try_from_iter(names.into_iter().zip(columns)).unwrap()
}

fn column(array: impl Array + 'static) -> ArrayRef {
    Arc::new(array)
}

fn plain() -> [ArrayRef; 4] {
    [
        column(Int64Array::from(vec![0, 5_000, 5_000, 2_000_000])),
        column(StringArray::from(vec!["read", "WRITE", "Trim", "flush"])),
        column(UInt64Array::from(vec![0, 4096, 8192, 7])),
        column(UInt32Array::from(vec![4096, 512, 1, 0])),
    ]
}

/// Returns `rows` reads at time zero.
fn at_once(rows: usize) -> RecordBatch {
    batch([
        column(UInt64Array::from(vec![0; rows])),
        column(Int8Array::from(vec![0; rows])),
        column(UInt64Array::from(vec![0; rows])),
        column(UInt32Array::from(vec![1; rows])),
    ])
}

fn expected() -> Vec<HostIo> {
    let io = |at, op, offset, size| HostIo::new(op, Nanos(at), offset, size);
    vec![
        io(0, HostOp::Read, 0, 4096),
        io(5_000, HostOp::Write, 4096, 512),
        io(5_000, HostOp::Trim, 8192, 1),
        // A flush carries no range.
        io(2_000_000, HostOp::Flush, 0, 0),
    ]
}

fn requests_of(batch: &RecordBatch) -> Result<Vec<HostIo>, Diagnostics> {
    ArrowSource::new().requests(batch)
}

#[test]
fn every_type_of_column_is_the_same_requests() {
    let words = ["read", "WRITE", "Trim", "flush"];
    let dictionary: DictionaryArray<Int32Type> = words.into_iter().collect();
    let nanos = vec![0, 5_000, 5_000, 2_000_000];
    let micros = TimestampMicrosecondArray::from(vec![0, 5, 5, 2_000]);
    let changes: Vec<(usize, ArrayRef)> = vec![
        (0, column(UInt64Array::from(nanos.clone()))),
        (0, column(Int32Array::from(vec![0, 5_000, 5_000, 2_000_000]))),
        (0, column(micros.clone())),
        (0, column(micros.with_timezone("Europe/Berlin"))),
        (1, column(LargeStringArray::from(words.to_vec()))),
        (1, column(StringViewArray::from(words.to_vec()))),
        (1, column(dictionary)),
        (1, column(Int8Array::from(vec![0, 1, 2, 3]))),
        (1, column(UInt64Array::from(vec![0, 1, 2, 3]))),
        (2, column(UInt16Array::from(vec![0, 4096, 8192, 7]))),
        (3, column(Int64Array::from(vec![4096, 512, 1, 0]))),
    ];
    assert_eq!(requests_of(&batch(plain())).unwrap(), expected());
    for (place, array) in changes {
        let mut columns = plain();
        columns[place] = array;
        let data_type = columns[place].data_type().clone();
        assert_eq!(requests_of(&batch(columns)).unwrap(), expected(), "{data_type}");
    }
    let mut columns = plain();
    columns[0] = column(DurationMillisecondArray::from(vec![0, 0, 1, 2]));
    let times: Vec<u64> = requests_of(&batch(columns)).unwrap().iter().map(|io| io.at.0).collect();
    assert_eq!(times, [0, 0, 1_000_000, 2_000_000]);
}

#[test]
fn a_slice_of_a_batch_is_its_rows() {
    let all = batch(plain());
    assert_eq!(requests_of(&all.slice(1, 2)).unwrap(), expected()[1..3]);
    assert_eq!(requests_of(&all.slice(4, 0)).unwrap(), []);
}

#[test]
fn columns_that_cannot_be_are_told_at_once() {
    let columns = RecordBatch::try_from_iter([
        ("at_ns", column(Float64Array::from(vec![0.0]))),
        ("operation", column(StringArray::from(vec!["read"]))),
        ("offset", column(Int64Array::from(vec![0]))),
    ]);
    let reported = requests_of(&columns.unwrap()).unwrap_err().to_string();
    for part in ["unknown column `operation`", "column `op` is missing", "column `size` is missing"]
    {
        assert!(reported.contains(part), "{part}: {reported}");
    }
    let mut types = plain();
    types[0] = column(Float64Array::from(vec![0.0, 1.0, 2.0, 3.0]));
    types[1] = column(Float64Array::from(vec![0.0; 4]));
    let reported = requests_of(&batch(types)).unwrap_err();
    assert_eq!(reported.0.len(), 2, "{reported}");
    assert!(reported.to_string().contains("`at_ns` is of type Float64"), "{reported}");
}

/// pandas exports the index of a frame as a column and marks it; nobody else may add a column.
#[test]
fn the_index_of_a_frame_is_no_column() {
    let said = |metadata: &str, name: &str| {
        let names = ["at_ns", "op", "offset", "size", name];
        let index = column(Int64Array::from(vec![9, 8, 7, 6]));
        let columns = names.into_iter().zip(plain().into_iter().chain([index]));
        let mut batch = RecordBatch::try_from_iter(columns).unwrap();
        batch.schema_metadata_mut().insert("pandas".into(), metadata.into());
        requests_of(&batch)
    };
    let index = r#"{"index_columns": [{"kind": "range"}, "__index_level_0__"]}"#;
    assert_eq!(said(index, "__index_level_0__").unwrap(), expected());
    for (metadata, name) in [
        (index, "more"),
        ("{}", "__index_level_0__"),
        (r#"{"index_columns": "__index_level_0__"}"#, "__index_level_0__"),
        ("no JSON", "__index_level_0__"),
    ] {
        let reported = said(metadata, name).unwrap_err().to_string();
        assert!(reported.contains(&format!("unknown column `{name}`")), "{reported}");
    }
}

#[test]
fn rows_that_cannot_be_are_told_with_their_numbers() {
    let wrong = batch([
        column(Int64Array::from(vec![Some(-1), Some(9), Some(3), None, Some(10)])),
        column(StringArray::from(vec![
            Some("peek"),
            Some("read"),
            None,
            Some("read"),
            Some("write"),
        ])),
        column(UInt64Array::from(vec![0, u64::MAX, 0, 0, 0])),
        column(Int64Array::from(vec![1, 1, -5, 1 << 32, 0])),
    ]);
    let mut source = ArrowSource::new();
    source.requests(&at_once(1_000)).unwrap();
    let reported = source.requests(&wrong).unwrap_err().to_string();
    for part in [
        "requests, row 1000: `at_ns`: -1 is negative",
        "requests, row 1002: `at_ns`: the time 3 ns is earlier than 9 ns, the time of the request in the row above",
        "requests, row 1003: `at_ns`: the value is missing",
        "requests, row 1000: `op`: `peek` is not an operation",
        "requests, row 1002: `op`: the value is missing",
        "requests, row 1001: `offset`: 18446744073709551615 plus the size 1 exceeds 2^64",
        "requests, row 1002: `size`: -5 is negative",
        "requests, row 1003: `size`: 4294967296 exceeds 4 GiB",
        "requests, row 1004: `size`: a write of 0 bytes",
    ] {
        assert!(reported.contains(part), "{part}: {reported}");
    }
    let mut dictionary = plain();
    let words: DictionaryArray<Int32Type> =
        [Some("read"), None, Some("peek"), Some("read")].into_iter().collect();
    dictionary[1] = column(words);
    let reported = requests_of(&batch(dictionary)).unwrap_err().to_string();
    assert!(
        reported.contains("row 1: `op`: the value is missing")
            && reported.contains("row 2: `op`: `peek`"),
        "{reported}"
    );
    let mut codes = plain();
    codes[1] = column(Int8Array::from(vec![0, 4, -1, 1]));
    let reported = requests_of(&batch(codes)).unwrap_err().to_string();
    assert!(
        reported.contains("`4` is not an operation")
            && reported.contains("`-1` is not an operation"),
        "{reported}"
    );
    let mut late = plain();
    late[0] = column(TimestampMicrosecondArray::from(vec![0, 1, 2, i64::MAX]));
    let reported = requests_of(&batch(late)).unwrap_err().to_string();
    assert!(
        reported.contains("row 3: `at_ns`: 9223372036854775807 exceeds 292 years"),
        "{reported}"
    );
}

#[test]
fn many_wrong_rows_are_counted() {
    let rows = 200_000;
    let wrong = batch([
        column(Int64Array::from_iter_values(0..rows)),
        column(Int8Array::from(vec![0; rows as usize])),
        column(Int64Array::from(vec![-1; rows as usize])),
        column(Int64Array::from(vec![4096; rows as usize])),
    ]);
    let reported = requests_of(&wrong).unwrap_err();
    assert_eq!(reported.0.len(), 6, "{reported}");
    assert!(
        reported.to_string().contains("199995 more rows of this record batch are wrong"),
        "{reported}"
    );
}

#[test]
fn order_and_rows_go_on_from_batch_to_batch() {
    let mut source = ArrowSource::new();
    assert_eq!(source.requests(&batch(plain())).unwrap(), expected());
    assert_eq!(source.rows(), 4);
    let reported = source.requests(&batch(plain())).unwrap_err().to_string();
    assert!(
        reported.contains(
            "row 4: `at_ns`: the time 0 ns is earlier than 2000000 ns, the time of the request in the row above"
        ),
        "{reported}"
    );
}

/// A measurement, printed by `cargo test --release -p fowler-columns --test all -- --ignored
/// --nocapture arrow_source::speed`.
#[test]
#[ignore = "a measurement, which cannot fail"]
#[allow(clippy::disallowed_methods, reason = "the machine's clock is what is measured")]
fn speed() {
    const ROWS: i64 = 1_000_000;
    let words = ["read", "write", "write", "read", "trim"];
    let op = || (0..ROWS as usize).map(|row| words[row % words.len()]);
    let dictionary: DictionaryArray<Int32Type> = op().collect();
    for (name, op) in [
        ("words", column(StringArray::from_iter_values(op()))),
        ("views", column(StringViewArray::from_iter_values(op()))),
        ("dictionary", column(dictionary)),
        ("codes", column(Int8Array::from_iter_values((0..ROWS).map(|row| (row % 3) as i8)))),
    ] {
        let all = batch([
            column(Int64Array::from_iter_values((0..ROWS).map(|row| row * 1000))),
            op,
            column(Int64Array::from_iter_values((0..ROWS).map(|row| row % 1000 * 4096))),
            column(Int64Array::from(vec![4096; ROWS as usize])),
        ]);
        let (mut rows, started) = (0, std::time::Instant::now());
        for _ in 0..20 {
            rows += requests_of(&all).unwrap().len();
        }
        let rate = rows as f64 / started.elapsed().as_secs_f64() / 1e6;
        println!("op as {name}: {rate:.1} million rows a second");
        assert_eq!(rows, 20 * ROWS as usize);
    }
}
