//! The result of a lifetime.

use super::end_of_life::EndOfLife;
use super::fleet::Fleet;
use fowler_experiment::atomic_file::{self, unwritable};
use fowler_experiment::device_spec::Resolved;
use fowler_experiment::diagnostic::Diagnostics;
use fowler_experiment::disk;
use fowler_experiment::life_estimate::Survey;
use fowler_experiment::workload::WorkloadReport;
use fowler_units::Span;
use std::path::PathBuf;

/// The result of a simulated lifetime, of one drive or a fleet.
#[derive(Clone, Debug)]
pub struct Lifetime {
    /// The drive that was simulated.
    pub drive: Resolved,
    /// Description of the drive's state at the start of the simulated life.
    pub precondition: String,
    /// Report on the requests of the workload.
    pub workload: WorkloadReport,
    /// Statistics of the requests in one repetition of the workload that the drive repeats for its
    /// life.
    pub survey: Survey,
    /// The parts of the drive that a lifetime does not simulate.
    pub left_out: Vec<String>,
    /// Ends of the drive's life at the chosen dilation (real repetitions of the workload per
    /// simulated one) and, if requested, at twice that dilation.
    pub lived: Vec<EndOfLife>,
    /// Drives like the simulated one, if there is a fleet.
    pub fleet: Option<Fleet>,
    pub(crate) checkpoints: Vec<PathBuf>,
}

/// The end of a lifetime simulation: complete or stopped.
#[derive(Clone, Debug)]
pub enum Ended {
    /// The life was simulated to its end.
    Lived(Box<Lifetime>),
    /// The simulation of the drive's life was stopped before the life ended.
    Stopped {
        /// True if a checkpoint was saved from which the simulation of the drive's life can resume.
        saved: bool,
    },
}

impl Lifetime {
    /// Returns the target lifetime of the drive.
    pub fn target(&self) -> Span {
        self.drive.config.life.target
    }

    /// Returns the size of a page in bytes; of a mapping unit on a drive with superblocks.
    pub fn page(&self) -> f64 {
        self.drive.layout.page_size.0 as f64
    }

    /// Removes the checkpoints, if this run saved any. Call it once the results are safe: until
    /// then a life that took days can be resumed.
    ///
    /// # Errors
    /// If a file cannot be removed.
    pub fn remove_checkpoint(&self) -> Result<(), Diagnostics> {
        let mut diagnostics = Diagnostics::default();
        for path in &self.checkpoints {
            let there = diagnostics.take(disk::facts(path)).flatten().is_some();
            if there {
                let removed = atomic_file::remove(path);
                diagnostics.take(removed.map_err(|error| unwritable(path, &error)));
            }
        }
        diagnostics.or(())
    }
}
