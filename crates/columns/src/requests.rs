//! Logs every request of a run, one row each: in memory as Arrow batches, or in a Parquet file.

use crate::file::{cause, properties};
use arrow_array::types::Int8Type;
use arrow_array::{
    ArrayRef, DictionaryArray, Int8Array, RecordBatch, StringArray, UInt32Array, UInt64Array,
};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use fowler_experiment::atomic_file::{AtomicFile, unwritable};
use fowler_experiment::diagnostic::{Diagnostic, Diagnostics};
use fowler_experiment::requests::{RequestSink, RequestsFile};
use fowler_experiment::{Completion, HostOp, Layer, Part, Probe};
use parquet::arrow::ArrowWriter;
use parquet::basic::Encoding;
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::schema::types::ColumnPath;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

/// Number of requests in a record batch of the request log (Parquet or CSV).
pub const CHUNK: usize = 65_536;
/// Number of requests in a row group of a Parquet file; a group is buffered in memory until it is
/// full.
const GROUP: usize = 4 * CHUNK;

/// Returns the Arrow schema of the request log: the columns of the CSV log, in its order. `op` is a
/// dictionary of words; all others are whole numbers, in bytes or, where the name ends in `_ns`,
/// nanoseconds. There are no nulls.
pub fn schema() -> SchemaRef {
    Arc::clone(&SCHEMA)
}

static SCHEMA: LazyLock<SchemaRef> = LazyLock::new(|| {
    let number = |name: &str| Field::new(name, DataType::UInt64, false);
    let word = DataType::Dictionary(Box::new(DataType::Int8), Box::new(DataType::Utf8));
    let mut fields = vec![
        number("id"),
        Field::new("op", word, false),
        number("offset"),
        Field::new("size", DataType::UInt32, false),
        number("at_ns"),
        number("done_ns"),
        number("latency_ns"),
    ];
    fields.extend(Part::ALL.iter().map(|part| number(&format!("{}_ns", part.name()))));
    Arc::new(Schema::new(fields))
});

/// Dictionary of the column `op` (operation) in the request log, such as `read`; all Arrow batches
/// of the log share it.
static WORDS: LazyLock<ArrayRef> =
    LazyLock::new(|| Arc::new(StringArray::from_iter_values(HostOp::ALL.map(HostOp::word))));

/// Collects rows of the request log, column by column, until they fill an Arrow batch.
#[derive(Debug)]
struct Chunk {
    /// Number of the first request in this batch of the request log, counted from 0 over the whole
    /// run.
    first: u64,
    op: Vec<i8>,
    offset: Vec<u64>,
    size: Vec<u32>,
    at: Vec<u64>,
    done: Vec<u64>,
    latency: Vec<u64>,
    parts: Vec<Vec<u64>>,
}

impl Chunk {
    fn new(first: u64) -> Chunk {
        let column = || Vec::with_capacity(CHUNK);
        Chunk {
            first,
            op: Vec::with_capacity(CHUNK),
            offset: column(),
            size: Vec::with_capacity(CHUNK),
            at: column(),
            done: column(),
            latency: column(),
            parts: Part::ALL.iter().map(|_| column()).collect(),
        }
    }

    fn is_full(&self) -> bool {
        self.op.len() == CHUNK
    }

    fn push(&mut self, completion: &Completion) {
        let io = &completion.io;
        self.op.push(io.op as i8);
        self.offset.push(io.offset);
        self.size.push(io.size);
        self.at.push(io.at.0);
        self.done.push(completion.done.0);
        self.latency.push(completion.latency().0);
        for (column, part) in self.parts.iter_mut().zip(completion.blame.parts()) {
            column.push(part.0);
        }
    }

    /// Returns the collected rows of the request log as a record batch, without copying, and starts
    /// the next batch.
    fn take(&mut self) -> RecordBatch {
        let rows = self.op.len() as u64;
        let full = std::mem::replace(self, Chunk::new(self.first + rows));
        let number = |column: Vec<u64>| Arc::new(UInt64Array::from(column)) as ArrayRef;
        let keys = Int8Array::from(full.op);
        let words = DictionaryArray::<Int8Type>::try_new(keys, Arc::clone(&WORDS));
        let mut columns = vec![
            number((full.first..full.first + rows).collect()),
            Arc::new(words.expect("every operation has its word")) as ArrayRef,
            number(full.offset),
            Arc::new(UInt32Array::from(full.size)) as ArrayRef,
            number(full.at),
            number(full.done),
            number(full.latency),
        ];
        columns.extend(full.parts.into_iter().map(number));
        RecordBatch::try_new(schema(), columns)
            .expect("columns of one length, in the order of the schema")
    }
}

/// Collects every request of a run in memory, in order of completion, with about 250 bytes for
/// each.
#[derive(Debug)]
pub struct RequestColumns {
    batches: Vec<RecordBatch>,
    chunk: Chunk,
}

impl Default for RequestColumns {
    fn default() -> RequestColumns {
        RequestColumns::new()
    }
}

impl RequestColumns {
    /// Returns an empty log of requests.
    pub fn new() -> RequestColumns {
        RequestColumns { batches: Vec::new(), chunk: Chunk::new(0) }
    }

    /// Adds a completed request as a row of the request log.
    pub fn add(&mut self, completion: &Completion) {
        self.chunk.push(completion);
        if self.chunk.is_full() {
            let full = self.chunk.take();
            self.batches.push(full);
        }
    }

    /// Returns all rows of the request log as Arrow batches of [`CHUNK`] rows; the last batch may
    /// have fewer.
    pub fn finish(mut self) -> Vec<RecordBatch> {
        if !self.chunk.op.is_empty() {
            self.batches.push(self.chunk.take());
        }
        self.batches
    }
}

impl<L: Layer> Probe<L> for RequestColumns {
    fn completed(&mut self, completion: &Completion) {
        self.add(completion);
    }
}

/// Returns the log of all requests at `path`, in the format of its extension: `.parquet` or `.csv`.
///
/// # Errors
/// If the extension is another.
pub fn file(path: &Path) -> Result<RequestsFile, Diagnostics> {
    let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
    match ending.as_deref() {
        Some("csv") => Ok(RequestsFile::csv(path)),
        Some("parquet") => Ok(parquet(path)),
        _ => {
            let what = format!("`{}` has an unknown file extension", path.display());
            let hint = "name it requests.parquet, or requests.csv for text".to_string();
            let diagnostic = Diagnostic::new("--requests", what).hint(hint);
            Err(diagnostic
                .expected("a request log whose file name ends in .parquet or .csv")
                .into())
        }
    }
}

/// Returns a log of all requests as a Parquet file at `path`.
pub fn parquet(path: impl Into<PathBuf>) -> RequestsFile {
    RequestsFile { path: path.into(), open }
}

fn open(path: &Path) -> Result<Box<dyn RequestSink>, Diagnostics> {
    let sink = ParquetSink::new(AtomicFile::create(path)?);
    let sink = sink.map_err(|error| unwritable(path, &cause(error)))?;
    Ok(Box::new(InFile { sink, path: path.to_path_buf() }))
}

/// Writes batches of requests to a Parquet file. Remembers the first error and stops writing.
#[derive(Debug)]
struct ParquetSink<W: Write + Send> {
    writer: ArrowWriter<W>,
    chunk: Chunk,
    error: Option<ParquetError>,
}

impl<W: Write + Send> ParquetSink<W> {
    fn new(writer: W) -> Result<ParquetSink<W>, ParquetError> {
        let writer = ArrowWriter::try_new(writer, schema(), Some(layout()))?;
        Ok(ParquetSink { writer, chunk: Chunk::new(0), error: None })
    }

    fn completed(&mut self, completion: &Completion) {
        if self.error.is_some() {
            return;
        }
        self.chunk.push(completion);
        if self.chunk.is_full() {
            self.error = self.writer.write(&self.chunk.take()).err();
        }
    }

    fn finish(mut self, facts: Vec<KeyValue>) -> Result<W, ParquetError> {
        if let Some(error) = self.error {
            return Err(error);
        }
        facts.into_iter().for_each(|fact| self.writer.append_key_value_metadata(fact));
        if !self.chunk.op.is_empty() {
            self.writer.write(&self.chunk.take())?;
        }
        self.writer.into_inner()
    }
}

/// Returns the encodings of the request log's columns in Parquet: increasing numbers are stored as
/// differences; most other columns have few distinct values and are stored in dictionaries.
fn layout() -> WriterProperties {
    let mut properties = properties().set_max_row_group_row_count(Some(GROUP));
    for name in ["id", "at_ns", "done_ns"] {
        properties = properties
            .set_column_dictionary_enabled(ColumnPath::from(name), false)
            .set_column_encoding(ColumnPath::from(name), Encoding::DELTA_BINARY_PACKED);
    }
    properties.build()
}

/// Format number of the log of requests; a change of the columns needs the next number.
const FORMAT: &str = "1";

/// Returns the metadata of a log file about its run: the keys are `fowler.` and the name of a
/// metric.
fn facts(run: &[(&str, String)]) -> Vec<KeyValue> {
    let format = KeyValue::new("fowler.requests".to_string(), FORMAT.to_string());
    let fact =
        |(name, value): &(&str, String)| KeyValue::new(format!("fowler.{name}"), value.clone());
    std::iter::once(format).chain(run.iter().map(fact)).collect()
}

struct InFile {
    sink: ParquetSink<AtomicFile>,
    path: PathBuf,
}

impl RequestSink for InFile {
    fn completed(&mut self, completion: &Completion) {
        self.sink.completed(completion);
    }

    fn finish(self: Box<Self>, run: &[(&str, String)]) -> Result<(), Diagnostics> {
        let InFile { sink, path } = *self;
        let written = sink.finish(facts(run));
        written.map_err(|error| unwritable(&path, &cause(error)))?.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::read;
    use arrow_array::cast::AsArray;
    use arrow_array::types::UInt64Type;
    use fowler_experiment::{Blame, HostIo, Nanos, ReqId, Span};
    use std::io;

    fn completion(number: u64) -> Completion {
        let op = HostOp::ALL[(number % 4) as usize];
        let io = HostIo::new(op, Nanos(number * 100), number << 12, 4096);
        let mut blame = Blame::default();
        blame[Part::Sense] = Span(25_000 + number % 7);
        blame[Part::Transfer] = Span(40_000);
        let done = io.at + blame.total();
        Completion { io, id: ReqId(0), done, blame }
    }

    fn column(batch: &RecordBatch, name: &str) -> Vec<u64> {
        let column = batch.column_by_name(name).expect("a column");
        column.as_primitive::<UInt64Type>().values().to_vec()
    }

    #[test]
    fn batches_are_what_was_completed() {
        let mut gathered = RequestColumns::new();
        let rows = CHUNK as u64 + 10;
        (0..rows).for_each(|number| gathered.add(&completion(number)));
        let batches = gathered.finish();
        let lengths: Vec<usize> = batches.iter().map(RecordBatch::num_rows).collect();
        assert_eq!(lengths, [CHUNK, 10]);
        assert_eq!(column(&batches[1], "id"), (CHUNK as u64..rows).collect::<Vec<_>>());
        let words = batches[1].column_by_name("op").unwrap().as_dictionary::<Int8Type>();
        let words = words.downcast_dict::<StringArray>().unwrap();
        let all: Vec<_> = words.into_iter().flatten().collect();
        assert_eq!(all[..5], ["read", "write", "trim", "flush", "read"]);
        for (batch, first) in batches.iter().zip([0, CHUNK as u64]) {
            for (row, number) in (first..first + batch.num_rows() as u64).enumerate() {
                let expected = completion(number);
                assert_eq!(column(batch, "latency_ns")[row], expected.latency().0);
                if row > 50 {
                    break;
                }
                for part in Part::ALL {
                    let name = format!("{}_ns", part.name());
                    assert_eq!(column(batch, &name)[row], expected.blame[part].0, "{name}");
                }
            }
        }
        assert!(RequestColumns::new().finish().is_empty());
    }

    #[test]
    fn a_file_reads_back_as_the_batches_and_its_bytes_repeat() {
        let folder = std::env::temp_dir().join(format!("fowler-columns-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let rows = 2 * CHUNK as u64 + 3;
        let written = |name: &str| {
            let path = folder.join(name);
            let mut sink = ParquetSink::new(AtomicFile::create(&path).unwrap()).unwrap();
            (0..rows).for_each(|number| sink.completed(&completion(number)));
            assert!(!path.exists(), "it appears when it is complete");
            sink.finish(Vec::new()).unwrap().finish().unwrap();
            path
        };
        let (one, two) = (written("one.parquet"), written("two.parquet"));
        assert_eq!(std::fs::read(&one).unwrap(), std::fs::read(&two).unwrap());
        let batches = read(&one).unwrap();
        assert_eq!(batches[0].schema(), schema());
        let ids: Vec<u64> = batches.iter().flat_map(|batch| column(batch, "id")).collect();
        assert_eq!(ids, (0..rows).collect::<Vec<_>>());
        let late: Vec<u64> = batches.iter().flat_map(|batch| column(batch, "sense_ns")).collect();
        assert!(late.iter().zip(0..).all(|(&ns, number)| ns == 25_000 + number % 7));
        let text = fowler_metrics::RequestLog::new(Vec::new()).unwrap().finish().unwrap();
        let text = String::from_utf8(text).unwrap();
        let names: Vec<String> = schema().fields().iter().map(|it| it.name().clone()).collect();
        assert_eq!(text.lines().next().unwrap(), names.join(","), "the columns of the text format");
        std::fs::remove_dir_all(&folder).unwrap();
    }

    /// A disk that is full after two writes.
    struct Full(u32);

    impl Write for Full {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += 1;
            if self.0 > 2 { Err(io::ErrorKind::StorageFull.into()) } else { Ok(bytes.len()) }
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_full_disk_is_reported_at_the_end() {
        let mut sink = ParquetSink::new(Full(0)).unwrap();
        (0..3 * GROUP as u64).for_each(|number| sink.completed(&completion(number)));
        assert!(sink.finish(Vec::new()).is_err());
    }
}
