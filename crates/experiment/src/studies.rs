//! The entry point for studies of many runs: what higher crates need beyond specifications and
//! outcomes. For a single run see [`crate::run`].

pub use crate::fan_out;
pub use crate::image_cache::ImageCache;
pub use crate::outcome::wearing::worn;
pub use crate::sample::{Interval, interval};

use crate::device::Resolved;
use crate::diagnostic::Diagnostics;
use crate::run::preconditioned;
use crate::workload::{Control, Workload, WorkloadSpec};
use fowler_device::{Config, Device};
use fowler_units::HostIo;

/// Returns a preconditioned drive; `name` identifies it in messages.
///
/// # Errors
/// Everything that is wrong with the drive, or that preconditioning was stopped.
pub fn drive(name: &str, config: &Config, control: Control<'_>) -> Result<Device, Diagnostics> {
    preconditioned(name, config, None, control)
}

/// Passes to `take` at most `limit` requests of a workload, fitted to `drive` and at their recorded
/// times.
///
/// # Errors
/// If the workload is invalid.
pub fn requests(
    spec: &WorkloadSpec,
    drive: &Resolved,
    limit: Option<u64>,
    control: Control<'_>,
    take: impl FnOnce(&mut dyn Iterator<Item = HostIo>),
) -> Result<(), Diagnostics> {
    let workload = Workload::prepare(spec, drive, limit, control)?;
    let (_, failed) = workload.replay(1.0, limit, control, take)?;
    failed.map_or(Ok(()), Err)
}
