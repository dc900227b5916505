//! Writes and reads the Parquet files of Fowler.

use crate::panic_guard::guarded;
use arrow_array::cast::AsArray;
use arrow_array::{Array, RecordBatch, RecordBatchReader};
use arrow_schema::Schema;
use bytes::Bytes;
use fowler_experiment::diagnostic::{Diagnostic, Diagnostics, escaped};
use fowler_experiment::disk;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::arrow::{ArrowWriter, ProjectionMask};
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::RowGroupMetaData;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesBuilder};
use parquet::schema::types::{ColumnPath, SchemaDescriptor};
use std::io;
use std::path::Path;

/// Returns the settings with which all Parquet files are written. Nothing in a file depends on the
/// machine or the time.
pub(crate) fn properties() -> WriterPropertiesBuilder {
    WriterProperties::builder()
        .set_created_by("fowler".into())
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_statistics_enabled(EnabledStatistics::Chunk)
}

/// Smallest size of a column that is compressed, in bytes. Smaller columns hardly shrink, or grow
/// by the overhead of compression, and every reader has to set up a decoder for each column.
const COMPRESSED: usize = 256;

/// Returns a small table as the bytes of a Parquet file.
pub(crate) fn bytes(batch: &RecordBatch) -> Vec<u8> {
    // Statistics and indexes only add to the size of a small file.
    let mut properties = properties()
        .set_statistics_enabled(EnabledStatistics::None)
        .set_offset_index_disabled(true)
        .set_dictionary_enabled(false);
    for (field, column) in batch.schema().fields().iter().zip(batch.columns()) {
        let length = match column.as_string_opt::<i32>() {
            Some(texts) => texts.value_data().len(),
            None => column.len() * size_of::<u64>(),
        };
        if length < COMPRESSED {
            let path = ColumnPath::new(vec![field.name().clone()]);
            properties = properties.set_column_compression(path, Compression::UNCOMPRESSED);
        }
    }
    let properties = properties.build();
    let options =
        ArrowWriterOptions::new().with_properties(properties).with_skip_arrow_metadata(true);
    let written = ArrowWriter::try_new_with_options(Vec::new(), batch.schema(), options).and_then(
        |mut writer| {
            writer.write(batch)?;
            writer.into_inner()
        },
    );
    written.expect("writing to memory does not fail")
}

/// Reads all tables of a Parquet file in order.
pub(crate) fn read(path: &Path) -> Result<Vec<RecordBatch>, Diagnostics> {
    let bytes = disk::read(path).map_err(|error| unreadable(path, &error))?;
    all(bytes).map_err(|error| unreadable(path, &error))
}

/// Reads all tables, in order, from the bytes of a Parquet file.
pub(crate) fn all(bytes: Vec<u8>) -> Result<Vec<RecordBatch>, String> {
    tables(bytes, |_| ProjectionMask::all())
}

/// Reads only the columns called `names` from the tables of a Parquet file. Returns `None` unless
/// the file exists and has a valid footer: after a crash of the machine, a file may lack its
/// contents.
pub(crate) fn read_columns(
    path: &Path,
    names: &[&str],
) -> Result<Option<Vec<RecordBatch>>, Diagnostics> {
    let chosen = |schema: &SchemaDescriptor| ProjectionMask::columns(schema, names.iter().copied());
    // A file that cannot be read may still be intact.
    let bytes = disk::if_present(disk::read(path)).map_err(|error| unreadable(path, &error))?;
    Ok(bytes.and_then(|bytes| tables(bytes, chosen).ok()))
}

fn tables(
    bytes: Vec<u8>,
    chosen: impl FnOnce(&SchemaDescriptor) -> ProjectionMask,
) -> Result<Vec<RecordBatch>, String> {
    guarded(|| {
        let length = bytes.len();
        let builder = ParquetRecordBatchReaderBuilder::try_new(Bytes::from(bytes))
            .map_err(|error| plain(&error))?;
        bounded(builder.metadata().row_groups(), length)?;
        let columns = chosen(builder.parquet_schema());
        let reader = builder.with_projection(columns).build().map_err(|error| plain(&error))?;
        distinct(&reader.schema())?;
        reader.collect::<Result<_, _>>().map_err(|error| escaped(&error.to_string()).into_owned())
    })
    .flatten()
}

/// Largest plausible number of table rows for each byte of a Parquet file. Even ascending numbers,
/// the data of a sweep that compress best, need far more bytes.
const ROWS: u64 = 64;

/// Refuses a Parquet file that claims more rows than its bytes can hold. Rows without columns take
/// no space in a file, but they do in memory, so a forged file could exhaust memory.
fn bounded(groups: &[RowGroupMetaData], length: usize) -> Result<(), String> {
    let rows = groups.iter().map(|group| u64::try_from(group.num_rows()).unwrap_or(u64::MAX));
    let rows = rows.fold(0, u64::saturating_add);
    if rows > ROWS * length as u64 {
        return Err(format!("the Parquet metadata claims {rows} rows in a file of {length} bytes"));
    }
    Ok(())
}

/// Checks that column names are distinct. Columns are found by name, so two of one name would hide
/// each other.
fn distinct(schema: &Schema) -> Result<(), String> {
    let mut names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
    names.sort_unstable();
    match names.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(format!("two columns are called \"{}\"", escaped(pair[0]))),
        None => Ok(()),
    }
}

fn unreadable(path: &Path, error: &dyn std::fmt::Display) -> Diagnostics {
    let diagnostic =
        Diagnostic::new(path.display().to_string(), format!("cannot be read: {error}"));
    diagnostic
        .hint("remove this result file; running the same sweep again recreates it".to_string())
        .into()
}

/// Returns the I/O error inside an error of the Parquet library, or a new one with the text of that
/// error.
pub(crate) fn cause(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(cause) => match cause.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(other) => io::Error::other(other.to_string()),
        },
        other => io::Error::other(plain(&other)),
    }
}

/// Returns an error of the Parquet library on one line, without the name of the library in front.
/// The error may quote the file.
pub(crate) fn plain(error: &ParquetError) -> String {
    let what = match error {
        ParquetError::External(cause) => cause.to_string(),
        ParquetError::General(what) | ParquetError::EOF(what) => what.clone(),
        other => other.to_string(),
    };
    escaped(&what).into_owned()
}
