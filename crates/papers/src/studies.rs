//! Helpers for studies that consist of many runs: drives and requests without a whole run. For a
//! single run see [`fowler_experiment::run`].

pub(crate) use fowler_experiment::fan_out;
pub(crate) use fowler_experiment::image_cache::ImageCache;
pub(crate) use fowler_experiment::outcome::program_wear::worn;
pub(crate) use fowler_experiment::sample::interval;

use fowler_device::{Config, Device};
use fowler_experiment::device_spec::Resolved;
use fowler_experiment::diagnostic::Diagnostics;
use fowler_experiment::run::preconditioned;
use fowler_experiment::workload::{Control, Workload, WorkloadSpec};
use fowler_units::HostIo;

/// Returns the preconditioned drive of a configuration; `name` identifies it in messages.
///
/// # Errors
/// Everything that is wrong with the drive, or that preconditioning was stopped.
pub(crate) fn drive(
    name: &str,
    config: &Config,
    control: Control<'_>,
) -> Result<Device, Diagnostics> {
    preconditioned(name, config, None, control)
}

/// Passes to `take` the first `limit` requests of a workload, with addresses mapped to the capacity
/// of `drive` and with their recorded times.
///
/// # Errors
/// If the workload is invalid.
pub(crate) fn requests(
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
