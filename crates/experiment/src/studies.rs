//! The entry point for studies: what a crate above needs to make one study of many runs, beyond
//! specifications and outcomes. One run alone wants [`crate::run`].

pub use crate::fan_out;
pub use crate::image_cache::ImageCache;
pub use crate::outcome::wearing::worn;

use crate::device::{self, Resolved};
use crate::diagnostic::Diagnostics;
use crate::workload::{Control, Workload, WorkloadSpec};
use fowler_device::{Config, Device};
use fowler_units::HostIo;
use std::collections::BTreeMap;

/// A drive, preconditioned; `name` is what messages call it.
///
/// # Errors
/// Every reason why there is no such drive.
pub fn drive(name: &str, config: &Config) -> Result<Device, Diagnostics> {
    Device::new(config).map_err(|refusals| device::refused(name, &BTreeMap::new(), refusals))
}

/// Hands `take` the requests of a workload as `drive` would get them, at most `limit` of them, at
/// the times recorded.
///
/// # Errors
/// What is wrong with the workload.
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
