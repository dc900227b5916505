//! Requests and results as columns: Arrow in memory, Parquet in files. Only this crate depends on
//! either; a build without it supports neither.
//!
//! [`requests`] logs every request of a run, [`arrow_source`] reads requests from Arrow batches,
//! [`trace_file`] reads them from files, [`summary`] turns the points of a sweep into rows,
//! [`table`] turns tables into bytes and back, [`fleet_table`] has the drives of a fleet, one row
//! each, [`store`] is the folder of a sweep, and [`shards`] are parts of one in folders of their
//! own.

pub mod arrow_source;
mod file;
mod findings;
pub mod fleet_table;
mod panic_guard;
mod point_files;
pub mod requests;
pub mod shards;
pub mod store;
pub mod summary;
pub mod table;
pub mod trace_file;

pub use arrow_array::RecordBatch;

/// Reads the rows of a Parquet file and returns them as the bytes of a new file. For tests of
/// damaged files, which a checksum otherwise keeps away from the reader.
///
/// # Errors
/// The reason why the rows cannot be read.
#[doc(hidden)]
pub fn reread(file: Vec<u8>) -> Result<Vec<u8>, String> {
    let rows = summary::rows_of(&file::all(file)?);
    Ok(file::bytes(&summary::table(&rows)))
}
