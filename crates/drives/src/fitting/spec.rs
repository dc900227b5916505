//! The specification of a fit.

use crate::measurements::Filter;
use crate::protocol::Effort;
use fowler_experiment::device_spec::DeviceSpec;
use std::path::PathBuf;

/// The specification of a fit: the drive, the measured rows, and the effort.
#[derive(Clone, Debug)]
pub struct FitSpec {
    /// The drive to fit; its file declares the parameters.
    pub drive: DeviceSpec,
    /// Name of the scheme on the drive; `None` leaves the drive as described.
    pub scheme: Option<String>,
    /// Paths of the files of measurements.
    pub files: Vec<PathBuf>,
    /// Filters for the rows to fit; a row is fitted if at least one filter wants it.
    pub filters: Vec<Filter>,
    /// Keys of the numbers to fit; if empty, those that tell most about a drive under the protocol
    /// of each file.
    pub metrics: Vec<String>,
    /// Amount of simulation spent on each measured row.
    pub effort: Effort,
    /// Largest number of drives that the fit simulates for each option of a choice: at least one,
    /// and two for each parameter.
    pub tries: usize,
    /// Seed of the random parameter values that the fit tries first, besides the drive's own
    /// values; results hardly depend on it.
    pub seed: u64,
}
