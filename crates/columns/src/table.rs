//! Tables of any columns as the bytes of a Parquet file, for results that are saved whole.

use crate::file::{plain, properties};
use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use bytes::Bytes;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

/// Returns the batches of a table as the bytes of a Parquet file. Columns keep their types.
///
/// # Errors
/// If a column has a type that Parquet lacks.
pub fn bytes(schema: &SchemaRef, batches: &[RecordBatch]) -> Result<Vec<u8>, String> {
    let writer = ArrowWriter::try_new(Vec::new(), schema.clone(), Some(properties().build()));
    let written = writer.and_then(|mut writer| {
        batches.iter().try_for_each(|batch| writer.write(batch))?;
        writer.into_inner()
    });
    written.map_err(|error| plain(&error))
}

/// Returns the schema and the record batches of a table from the bytes of a Parquet file.
///
/// # Errors
/// If `bytes` is something else.
pub fn read(bytes: Vec<u8>) -> Result<(SchemaRef, Vec<RecordBatch>), String> {
    let opened = ParquetRecordBatchReaderBuilder::try_new(Bytes::from(bytes));
    let opened = opened.map_err(|error| plain(&error))?;
    let schema = opened.schema().clone();
    let reader = opened.build().map_err(|error| plain(&error))?;
    let batches = reader.collect::<Result<_, _>>().map_err(|error| error.to_string())?;
    Ok((schema, batches))
}
