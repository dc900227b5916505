//! Traces as Parquet and Arrow files: they yield the same requests as batches, and every problem of
//! a file is reported, however the file is damaged.

use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray, UInt32Array, UInt64Array};
use arrow_ipc::writer::FileWriter;
use fowler_columns::trace_file::{Kind, TraceFile};
use fowler_experiment::trace::{self, Anonymous};
use fowler_experiment::workload::RequestSource;
use fowler_experiment::{HostIo, HostOp, Nanos};
use fowler_units::Rng;
use parquet::arrow::ArrowWriter;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A folder that is removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let folder = std::env::temp_dir().join(format!("fowler-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        Folder(folder)
    }

    fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _left = std::fs::remove_dir_all(&self.0);
    }
}

fn batch(first: i64, names: [&str; 4]) -> RecordBatch {
    let columns: [ArrayRef; 4] = [
        Arc::new(Int64Array::from(vec![first, first + 5_000, first + 5_000])),
        Arc::new(StringArray::from(vec!["read", "write", "flush"])),
        Arc::new(UInt64Array::from(vec![0, 4096, 0])),
        Arc::new(UInt32Array::from(vec![4096, 512, 0])),
    ];
    RecordBatch::try_from_iter(names.into_iter().zip(columns)).unwrap()
}

const NAMES: [&str; 4] = ["at_ns", "op", "offset", "size"];

fn parquet(batches: &[RecordBatch]) -> Vec<u8> {
    let mut writer = ArrowWriter::try_new(Vec::new(), batches[0].schema(), None).unwrap();
    batches.iter().for_each(|batch| writer.write(batch).unwrap());
    writer.into_inner().unwrap()
}

fn arrow(batches: &[RecordBatch]) -> Vec<u8> {
    let mut writer = FileWriter::try_new(Vec::new(), &batches[0].schema()).unwrap();
    batches.iter().for_each(|batch| writer.write(batch).unwrap());
    writer.into_inner().unwrap()
}

/// The requests before the error, and the error.
fn read(path: &Path) -> (Vec<HostIo>, Option<String>) {
    let file = TraceFile::of(path).expect("a file of columns");
    let requests = match file.requests() {
        Ok(requests) => requests,
        Err(diagnostics) => return (Vec::new(), Some(diagnostics.to_string())),
    };
    let (mut read, mut error) = (Vec::new(), None);
    for request in requests {
        assert!(error.is_none(), "an error comes last");
        match request {
            Ok(request) => read.push(request),
            Err(it) => error = Some(it.to_string()),
        }
    }
    (read, error)
}

#[test]
fn both_kinds_hold_the_same_requests() {
    let folder = Folder::new("columns");
    let batches = [batch(0, NAMES), batch(1_000_000, NAMES)];
    let io = |at, op, offset, size| HostIo::new(op, Nanos(at), offset, size);
    let expected = [
        io(0, HostOp::Read, 0, 4096),
        io(5_000, HostOp::Write, 4096, 512),
        io(5_000, HostOp::Flush, 0, 0),
        io(1_000_000, HostOp::Read, 0, 4096),
        io(1_005_000, HostOp::Write, 4096, 512),
        io(1_005_000, HostOp::Flush, 0, 0),
    ];
    for (kind, bytes) in [(Kind::Parquet, parquet(&batches)), (Kind::Arrow, arrow(&batches))] {
        let path = folder.file(kind.name(), &bytes);
        assert_eq!(TraceFile::of(&path).unwrap().kind(), kind);
        assert_eq!(read(&path), (expected.to_vec(), None));
        assert_eq!(read(&path).0.len(), 6, "it can be read again");
    }
    assert!(TraceFile::of(&folder.file("text", b"at_ns,op,offset,size\n")).is_none());
    assert!(TraceFile::of(&folder.0).is_none() && TraceFile::of(Path::new("absent")).is_none());
}

#[test]
fn wrong_columns_and_rows_are_named() {
    let folder = Folder::new("wrong-columns");
    for bytes in [parquet, arrow] {
        let path = folder.file("names", &bytes(&[batch(0, ["ts", "op", "offset", "size"])]));
        let (_, error) = read(&path);
        let error = error.unwrap();
        assert!(error.contains("unknown column `ts`") && error.contains("names"), "{error}");
        let path = folder.file("order", &bytes(&[batch(9_000_000, NAMES), batch(0, NAMES)]));
        let (requests, error) = read(&path);
        let error = error.unwrap();
        assert!(
            requests.len() <= 3 && error.contains("the time of the request in the row above"),
            "{error}"
        );
    }
}

/// Whatever the damage: requests in order, at most one error, no panic, and no allocation of a size
/// that a file merely claims.
// Slow: 6,000 damaged files.
#[test]
fn no_damage_makes_a_reader_panic() {
    let folder = Folder::new("damaged-columns");
    let batches = [batch(0, NAMES), batch(1_000_000, NAMES)];
    let mut rng = Rng::stream(2026, "columns/mutations");
    let (mut whole, mut refused) = (0, 0);
    for (name, bytes) in [("parquet", parquet(&batches)), ("arrow", arrow(&batches))] {
        for _ in 0..3_000 {
            let mut bytes = bytes.clone();
            for _ in 0..=rng.below(3) {
                let at = rng.below(bytes.len() as u64) as usize;
                match rng.below(4) {
                    0 => bytes[at] ^= 1 << rng.below(8),
                    1 => bytes[at] = rng.bits() as u8,
                    2 => bytes.truncate(at.max(16)),
                    _ => drop(bytes.drain(at..(at + 4).min(bytes.len()))),
                }
            }
            let path = folder.file(name, &bytes);
            if TraceFile::of(&path).is_none() {
                continue;
            }
            let (requests, error) = read(&path);
            assert!(requests.is_sorted_by_key(|request| request.at));
            whole += u32::from(error.is_none());
            refused += u32::from(error.is_some());
        }
    }
    assert!(whole > 100 && refused > 1_000, "{whole} read, {refused} refused");
}

#[test]
fn columns_are_anonymized_as_text_is() {
    let folder = Folder::new("anonymous-columns");
    let columns = folder.file("t.parquet", &parquet(&[batch(0, NAMES), batch(9_000_000, NAMES)]));
    let (mut text, mut moved, mut again) = (Vec::new(), Vec::new(), Vec::new());
    let source = TraceFile::of(&columns).expect("a file of columns");
    trace::convert_columns(&source, None, &mut text).unwrap();
    let text = folder.file("t.csv", &text);
    let how = Anonymous { seed: 3, extent: 4096, limit: Some(5) };
    let (count, anonymizer) = trace::anonymize_columns(&source, how, &mut moved).unwrap();
    trace::anonymize(&text, &Default::default(), how, &mut again).unwrap();
    assert_eq!((count, anonymizer.extents(), anonymizer.pieces()), (5, 2, 2));
    assert!(moved == again && moved.len() > 30);
}
