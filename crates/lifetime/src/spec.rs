//! The specification of a lifetime, and where its checkpoint is saved.

use fowler_experiment::device_spec::DeviceSpec;
use fowler_experiment::workload::WorkloadSpec;
use fowler_units::Span;
use std::path::{Path, PathBuf};

/// Specification of a simulated lifetime: a drive, a scheme, a workload, and the dilation (real
/// repetitions of the workload that one simulated repetition stands for).
#[derive(Clone, Debug)]
pub struct LifetimeSpec {
    /// The drive whose life is simulated; its configuration keys include the target lifetime.
    pub device: DeviceSpec,
    /// Scheme of the drive; `None` leaves the drive as described.
    pub scheme: Option<String>,
    /// The workload that the life repeats.
    pub workload: WorkloadSpec,
    /// The most requests of a repetition, from the start of the workload; `None` for all.
    pub limit: Option<u64>,
    /// Number of real repetitions of the workload that one simulated repetition stands for in a
    /// drive's life; `None` chooses the lowest number at which the simulation takes a minute or
    /// two.
    pub dilation: Option<u32>,
    /// True to simulate a second lifetime at twice the dilation (real repetitions per simulated
    /// one), which shows the error that dilation causes.
    pub check: bool,
    /// Start and length of the close-up, a recording second by second. The start counts from the
    /// beginning of the workload's second repetition, without the time for which the throttle
    /// blocked the host.
    pub close_up: Option<(Span, Span)>,
    /// Location of the lifetime's checkpoint, from which it can resume.
    pub checkpoint: SaveTo,
    /// Number of host pages that are written between two saves of the checkpoint.
    pub checkpoint_every: u64,
}

/// Location of a lifetime's checkpoint.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum SaveTo {
    /// No checkpoint of the simulated life is saved.
    #[default]
    Nowhere,
    /// The checkpoint is saved in this file. That of the second life, in which each simulated
    /// repetition of the workload stands for twice as many real ones, is saved in a file beside it.
    /// The lifetime fails if a file cannot be written.
    File(PathBuf),
    /// The checkpoint is saved in a cache folder, under the name of the lifetime's identity. If it
    /// cannot be saved there, a note says so, and the lifetime runs on.
    Cache(PathBuf),
}

impl SaveTo {
    /// Returns true if the simulation saves checkpoints of the drive's life, in a file or in the
    /// cache folder.
    pub fn is_anywhere(&self) -> bool {
        *self != SaveTo::Nowhere
    }

    /// Returns true if the checkpoint file exists, whatever run it belongs to.
    pub(super) fn is_there(&self) -> bool {
        match self {
            SaveTo::File(path) => [1, 2].into_iter().any(|life| of_life(path, life).exists()),
            SaveTo::Nowhere | SaveTo::Cache(_) => false,
        }
    }
}

/// Returns the path of the checkpoint file of the life with the number `life` in a lifetime study:
/// `path` itself for numbers 0 and 1, and `path` with the number appended for others.
pub fn of_life(path: &Path, life: usize) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    if life > 1 {
        name.push(life.to_string());
    }
    PathBuf::from(name)
}
