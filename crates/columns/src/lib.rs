//! Requests and results as columns: Arrow in memory, Parquet in files. The one crate that knows
//! either; a build that leaves it out has neither.
//!
//! [`requests`] is every request of a run, [`arrow_source`] requests that come as columns from
//! elsewhere, [`summary`] the points of a sweep as rows, and [`store`] the folder that a sweep is
//! saved in.

pub mod arrow_source;
mod file;
pub mod requests;
pub mod store;
pub mod summary;

pub use arrow_array::RecordBatch;
