//! Traces as Parquet or Arrow files, with the columns of [`ArrowSource`]: `at_ns`, `op`, `offset`
//! and `size`. The files are read batch by batch, however large they are.
//!
//! The libraries trust the lengths and places in a file: some damage makes them panic. The lengths
//! and places in an Arrow file are checked before the library sees them, so that the library
//! allocates no more than the file has; a panic that is left becomes an error.

use crate::arrow_source::ArrowSource;
use crate::file::plain;
use crate::panic_guard::guarded;
use arrow_array::RecordBatch;
use arrow_ipc::reader::{FileReader, read_footer_length};
use arrow_ipc::{Block, Footer, root_as_footer, root_as_message};
use arrow_schema::ArrowError;
use fowler_experiment::HostIo;
use fowler_experiment::diagnostic::{Diagnostic, Diagnostics};
use fowler_experiment::workload::{
    CustomRequests, RequestSource, TraceError, custom_error, trace_name,
};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::errors::ParquetError;
use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// Number of rows of a trace file that are read at once.
const ROWS: usize = 8192;
/// Largest length of the footer of an Arrow file, and of the description of a batch, in bytes.
const LONGEST_FOOTER: usize = 64 << 20;
const LONGEST_MESSAGE: u64 = 16 << 20;
/// Size in bytes of the trailer of an Arrow file: the length of its footer and a magic number.
const TRAILER: u64 = 10;

/// Columnar file format of a trace: Parquet or Arrow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The file is in the format Apache Parquet.
    Parquet,
    /// The file is in Arrow's IPC file format, also called Feather, version 2.
    Arrow,
}

impl Kind {
    /// Returns the name of the columnar file format: `parquet` or `arrow`.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Parquet => "parquet",
            Kind::Arrow => "arrow",
        }
    }

    /// Returns the columnar format, Parquet or Arrow, that the first bytes of a file show; `None`
    /// for any other file, and for a file that cannot be read.
    pub fn of(path: &Path) -> Option<Kind> {
        let mut head = [0; 6];
        // A pipe has no end that could be read first, and would lose its first bytes here.
        let file = std::fs::metadata(path).is_ok_and(|facts| facts.is_file());
        let mut file = file.then(|| File::open(path).ok()).flatten()?;
        file.read_exact(&mut head).ok()?;
        match &head {
            b"ARROW1" => Some(Kind::Arrow),
            [b'P', b'A', b'R', b'1', ..] => Some(Kind::Parquet),
            _ => None,
        }
    }
}

/// A trace as a Parquet or Arrow file.
#[derive(Clone, Debug)]
pub struct TraceFile {
    path: PathBuf,
    kind: Kind,
}

impl TraceFile {
    /// Returns the trace at `path`, if that is a Parquet or Arrow file.
    pub fn of(path: &Path) -> Option<TraceFile> {
        Some(TraceFile { path: path.to_path_buf(), kind: Kind::of(path)? })
    }

    /// Returns the columnar format of the trace file: Parquet or Arrow.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    fn wrong(&self, what: impl std::fmt::Display) -> Diagnostics {
        let kind = self.kind.name();
        let hint = "the file may be truncated: compare its size or checksum with the original";
        let what = format!("this {kind} trace file cannot be read: {what}");
        Diagnostic::new(self.name(), what).hint(hint.to_string()).into()
    }

    fn batches(&self) -> Result<Batches, Diagnostics> {
        let file = File::open(&self.path).map_err(|error| self.wrong(error))?;
        match self.kind {
            Kind::Parquet => {
                let open = || {
                    let builder = ParquetRecordBatchReaderBuilder::try_new(file)?;
                    let facts = builder.schema().metadata().clone();
                    Ok((builder.with_batch_size(ROWS).build()?, facts))
                };
                let open = || open().map_err(|error: ParquetError| plain(&error));
                let (reader, facts) = guarded(open).flatten().map_err(|what| self.wrong(what))?;
                // The library drops the metadata, which says which column is the index of a frame.
                let with_facts = move |mut batch: RecordBatch| {
                    batch.schema_metadata_mut().clone_from(&facts);
                    batch
                };
                let batch = move |batch: Result<RecordBatch, ArrowError>| {
                    batch.map(&with_facts).map_err(|error| error.to_string())
                };
                Ok(Box::new(reader.map(batch)))
            }
            Kind::Arrow => {
                let mut file = BufReader::new(file);
                check_arrow(&mut file).map_err(|what| self.wrong(what))?;
                let open = || FileReader::try_new(file, None).map_err(|error| error.to_string());
                let reader = guarded(open).flatten().map_err(|what| self.wrong(what))?;
                Ok(Box::new(reader.map(|batch| batch.map_err(|error| error.to_string()))))
            }
        }
    }
}

type Batches = Box<dyn Iterator<Item = Result<RecordBatch, String>> + Send>;

impl RequestSource for TraceFile {
    fn name(&self) -> String {
        trace_name(&self.path)
    }

    fn requests(&self) -> Result<CustomRequests<'_>, Diagnostics> {
        let batches = self.batches()?;
        let converter = ArrowSource::new();
        let now = Vec::new().into_iter();
        Ok(Box::new(Requests { file: self, batches: Some(batches), converter, now }))
    }
}

/// Iterator over the requests of a trace file. An error comes last.
struct Requests<'a> {
    file: &'a TraceFile,
    /// Record batches of the trace file (Parquet or Arrow IPC) that are still to be read; `None`
    /// after an error.
    batches: Option<Batches>,
    converter: ArrowSource,
    now: std::vec::IntoIter<HostIo>,
}

impl Requests<'_> {
    #[cold]
    fn refill(&mut self) -> Option<Result<HostIo, TraceError>> {
        loop {
            let batches = self.batches.as_mut()?;
            let batch = guarded(|| batches.next()).transpose()?.flatten();
            let requests = batch
                .map_err(|error| self.file.wrong(error))
                .and_then(|batch| self.converter.requests(&batch));
            match requests {
                Ok(requests) => {
                    self.now = requests.into_iter();
                    if let Some(first) = self.now.next() {
                        return Some(Ok(first));
                    }
                }
                Err(diagnostics) => {
                    self.batches = None;
                    return Some(Err(custom_error(&self.file.name(), diagnostics)));
                }
            }
        }
    }
}

impl Iterator for Requests<'_> {
    type Item = Result<HostIo, TraceError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        match self.now.next() {
            Some(request) => Some(Ok(request)),
            None => self.refill(),
        }
    }
}

/// Checks that all lengths and places in an Arrow file are inside the file, and leaves the file at
/// its beginning.
fn check_arrow(file: &mut (impl Read + Seek)) -> Result<(), String> {
    let said = |error: std::io::Error| error.to_string();
    let length = file.seek(SeekFrom::End(0)).map_err(said)?;
    let trailer_at = length.checked_sub(TRAILER).ok_or("the file is shorter than its footer")?;
    let mut trailer = [0; TRAILER as usize];
    file.seek(SeekFrom::Start(trailer_at)).map_err(said)?;
    file.read_exact(&mut trailer).map_err(said)?;
    let footer = read_footer_length(trailer).map_err(|error| error.to_string())?;
    if footer > LONGEST_FOOTER || footer as u64 > trailer_at {
        return Err(format!("its footer has {footer} bytes"));
    }
    let mut bytes = vec![0; footer];
    file.seek(SeekFrom::Start(trailer_at - footer as u64)).map_err(said)?;
    file.read_exact(&mut bytes).map_err(said)?;
    let footer = root_as_footer(&bytes).map_err(|error| error.to_string())?;
    if footer.schema().is_none() {
        return Err("it has no schema".to_string());
    }
    for block in blocks(&footer) {
        check_block(file, &block, trailer_at)?;
    }
    file.seek(SeekFrom::Start(0)).map_err(said).map(drop)
}

/// Returns the positions of the batches and dictionaries in an Arrow file.
fn blocks(footer: &Footer<'_>) -> Vec<Block> {
    let all = [footer.recordBatches(), footer.dictionaries()];
    all.into_iter().flatten().flat_map(|blocks| blocks.iter().copied()).collect()
}

/// Checks that a batch is inside an Arrow file, and that its buffers are inside the batch.
fn check_block(file: &mut (impl Read + Seek), block: &Block, end: u64) -> Result<(), String> {
    let number = |number: i64| {
        u64::try_from(number).map_err(|_| "a position in the file is negative".to_string())
    };
    let (at, body) = (number(block.offset())?, number(block.bodyLength())?);
    let message = number(block.metaDataLength().into())?;
    let inside = at.checked_add(message).and_then(|it| it.checked_add(body));
    if inside.is_none_or(|block_end| block_end > end) || !(8..=LONGEST_MESSAGE).contains(&message) {
        return Err(format!(
            "the record batch at byte {at} reaches beyond the end of the trace file"
        ));
    }
    let mut bytes = vec![0; message as usize];
    let read = file.seek(SeekFrom::Start(at)).and_then(|_| file.read_exact(&mut bytes));
    read.map_err(|error| error.to_string())?;
    let head = if bytes[..4] == [0xff; 4] { 8 } else { 4 };
    let message = root_as_message(&bytes[head..]).map_err(|error| error.to_string())?;
    let batch = message.header_as_record_batch();
    let batch = batch.or_else(|| message.header_as_dictionary_batch().and_then(|it| it.data()));
    let batch =
        batch.ok_or_else(|| format!("there is no record batch at byte {at} of the trace file"))?;
    let rows = number(batch.length())?;
    let nodes = batch.nodes().into_iter().flatten();
    let sound = nodes.map(|node| (number(node.length()), number(node.null_count())));
    for (length, nulls) in sound {
        // Buffers of a byte for eight rows, or of none where all are missing, bound both.
        if length? > rows.max(body.saturating_mul(8)) || nulls? > rows {
            return Err(format!(
                "the record batch at byte {at} of the trace file has columns longer than the batch"
            ));
        }
    }
    for buffer in batch.buffers().into_iter().flatten() {
        let buffer_end = number(buffer.offset())?.checked_add(number(buffer.length())?);
        if buffer_end.is_none_or(|buffer_end| buffer_end > body) {
            return Err(format!(
                "the record batch at byte {at} of the trace file has a buffer that ends beyond the \
                 batch"
            ));
        }
    }
    Ok(())
}
