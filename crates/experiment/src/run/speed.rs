//! Determines the speed of a run.
//!
//! 1. A workload without arrival times cannot be scaled, which is an error if a speed is asked for.
//! 2. A given speed is taken as it is.
//! 3. If a share of idle time is asked for, test runs of the same preconditioned drive under the
//!    same workload search for the speed at which the drive is idle for that share.

use super::Ready;
use super::drive_kind::DriveKind;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::image_cache::ImageCache;
use crate::replay_speed::{Found, ReplaySpeed, check, search};
use crate::with_drive_kind;
use crate::workload::{Control, share};
use fowler_device::Device;

/// Returns the factor by which a replay divides the times of requests; searches for it if a target
/// share of idle time is given.
pub(crate) fn find(
    replay_speed: ReplaySpeed,
    ready: &Ready,
    images: Option<&ImageCache>,
    control: Control<'_>,
) -> Result<Found, Diagnostics> {
    check(replay_speed)?;
    let scales = matches!(replay_speed, ReplaySpeed::Speed(_) | ReplaySpeed::Idle(_));
    if let (true, Some(depth)) = (scales, ready.workload.depth()) {
        let what = format!(
            "this workload has no arrival times to scale: it keeps {depth} requests outstanding"
        );
        return Err(Diagnostic::new("--speed, --idle", what).into());
    }
    match replay_speed {
        ReplaySpeed::AsRecorded | ReplaySpeed::Closed(_) => Ok(Found { factor: 1.0, search: None }),
        ReplaySpeed::Speed(factor) => Ok(Found { factor, search: None }),
        ReplaySpeed::Idle(target) => with_drive_kind!(ready.drive.config, Kind => {
            by_idle::<Kind>((replay_speed, target), ready, images, control)
        }),
    }
}

/// Searches for the replay speed at which the drive is idle for a share of the time.
fn by_idle<L: DriveKind>(
    (replay_speed, target): (ReplaySpeed, f64),
    ready: &Ready,
    images: Option<&ImageCache>,
    control: Control<'_>,
) -> Result<Found, Diagnostics> {
    let clean: Device<L> = ready.device(images, control)?;
    search(target, 1.0, 1, control, |factor, control| {
        let pacing = replay_speed.pacing(ready.workload.depth());
        let replayed = ready.replay(clean.clone(), pacing, factor, control, &mut ())?;
        if let Some(diagnostics) = replayed.failed {
            return Err(diagnostics);
        }
        let device = &replayed.device;
        let simulated = device.now() - device.began();
        Ok(share(replayed.counters().idle, simulated).unwrap_or(0.0))
    })
}
