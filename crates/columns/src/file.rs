//! How every Parquet file of ours is written and read.

use arrow_array::RecordBatch;
use fowler_experiment::diagnostic::{Diagnostic, Diagnostics};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::arrow::{ArrowWriter, ProjectionMask};
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesBuilder};
use parquet::schema::types::SchemaDescriptor;
use std::fs::File;
use std::io::ErrorKind;
use std::path::Path;

/// What all files have in common. Nothing in them depends on the machine or the moment.
pub(crate) fn properties() -> WriterPropertiesBuilder {
    WriterProperties::builder()
        .set_created_by("fowler".into())
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_statistics_enabled(EnabledStatistics::Chunk)
}

/// A small table as the bytes of a file.
pub(crate) fn bytes(batch: &RecordBatch) -> Vec<u8> {
    // What would help to find a row among many only adds to the size here.
    let properties = properties()
        .set_statistics_enabled(EnabledStatistics::None)
        .set_offset_index_disabled(true)
        .set_dictionary_enabled(false)
        .build();
    let options =
        ArrowWriterOptions::new().with_properties(properties).with_skip_arrow_metadata(true);
    let written = ArrowWriter::try_new_with_options(Vec::new(), batch.schema(), options).and_then(
        |mut writer| {
            writer.write(batch)?;
            writer.into_inner()
        },
    );
    written.expect("memory takes every table of numbers and words")
}

/// The tables of a file, one after the other.
pub(crate) fn read(path: &Path) -> Result<Vec<RecordBatch>, Diagnostics> {
    let file = File::open(path).map_err(|error| unreadable(path, &error))?;
    tables(file, |_| ProjectionMask::all()).map_err(|error| unreadable(path, &error))
}

/// The same with some columns only, if the file is there and has its end, where it says what it
/// holds: a machine that goes down may leave a file its name and not its bytes.
pub(crate) fn read_columns(
    path: &Path,
    names: &[&str],
) -> Result<Option<Vec<RecordBatch>>, Diagnostics> {
    let chosen = |schema: &SchemaDescriptor| ProjectionMask::columns(schema, names.iter().copied());
    match File::open(path) {
        Ok(file) => Ok(tables(file, chosen).ok()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        // What cannot be opened may well be whole.
        Err(error) => Err(unreadable(path, &error)),
    }
}

fn tables(
    file: File,
    chosen: impl FnOnce(&SchemaDescriptor) -> ProjectionMask,
) -> Result<Vec<RecordBatch>, String> {
    let reader = ParquetRecordBatchReaderBuilder::try_new(file)
        .and_then(|builder| {
            let columns = chosen(builder.parquet_schema());
            builder.with_projection(columns).build()
        })
        .map_err(|error| plain(&error))?;
    reader.collect::<Result<_, _>>().map_err(|error| error.to_string())
}

fn unreadable(path: &Path, error: &dyn std::fmt::Display) -> Diagnostics {
    let diagnostic =
        Diagnostic::new(path.display().to_string(), format!("cannot be read: {error}"));
    diagnostic.hint("remove it, and the same sweep makes it anew".to_string()).into()
}

/// An error without the name of the library around it.
pub(crate) fn plain(error: &ParquetError) -> String {
    match error {
        ParquetError::External(cause) => cause.to_string(),
        ParquetError::General(what) | ParquetError::EOF(what) => what.clone(),
        other => other.to_string(),
    }
}
