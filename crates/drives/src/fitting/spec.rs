//! The specification of a fit.

use crate::measurements::Filter;
use crate::protocol::Effort;
use fowler_experiment::device_spec::DeviceSpec;
use std::path::PathBuf;

/// The specification of a fit: the drive, the rows, and the effort.
#[derive(Clone, Debug)]
pub struct FitSpec {
    /// The drive, which declares its parameters.
    pub drive: DeviceSpec,
    /// The scheme on the drive; `None` leaves the drive as described.
    pub scheme: Option<String>,
    /// The measured files.
    pub files: Vec<PathBuf>,
    /// The rows, each wanted by at least one filter.
    pub filters: Vec<Filter>,
    /// The numbers of the rows that are fitted; those that tell most of each protocol if empty.
    pub metrics: Vec<String>,
    /// Amount of simulation for each row.
    pub effort: Effort,
    /// The most drives that are tried.
    pub tries: usize,
    /// Seed of the points at which the search begins besides the drive's own values; results hardly
    /// depend on it.
    pub seed: u64,
}
