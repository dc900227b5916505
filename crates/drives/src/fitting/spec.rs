//! What is fitted to what.

use crate::measured::Filter;
use crate::protocol::Effort;
use fowler_experiment::device_spec::DeviceSpec;
use std::path::PathBuf;

/// What is fitted to what.
#[derive(Clone, Debug)]
pub struct FitSpec {
    /// The drive, which declares its parameters.
    pub drive: DeviceSpec,
    /// The scheme on it.
    pub scheme: Option<String>,
    /// The measured files.
    pub files: Vec<PathBuf>,
    /// The rows, each wanted by at least one filter.
    pub filters: Vec<Filter>,
    /// The numbers of the rows that are fitted; those that tell most of each protocol if empty.
    pub metrics: Vec<String>,
    /// How much is simulated for each row.
    pub effort: Effort,
    /// The most drives that are tried.
    pub tries: usize,
    /// Where the search begins besides at the drive's own values; results hardly depend on it.
    pub seed: u64,
}
