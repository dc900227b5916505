//! Kinds of drives: how each is built, serves requests under faults, and reports its state at the
//! end. A run calls a kind in this order:
//!
//! 1. [`DriveKind::drive`] preconditions the drive, or takes its image from the cache.
//! 2. [`DriveKind::note_faults`], if effects of faults are to be reported; then
//!    [`DriveKind::serve`], during which faults strike.
//! 3. [`DriveKind::write_out`], if the configuration says so.
//! 4. [`DriveKind::closing`] collects the results that only some kinds have.
//!
//! Exception: a run with a warm-up has no faults; after the warm-up
//! [`DriveKind::count_failures_anew`] resets the counts.

use crate::device_spec;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::faults::{self, Scripted};
use crate::image_cache::ImageCache;
use crate::image_store;
use crate::outcome::Fate;
use crate::progress::Progress;
use crate::workload::Control;
use fowler_device::{
    BadBlockCounts, Census, Config, Controller, Device, FailedDieCounts, Faulty, LossLedger,
    Pacing, PowerOffs, PreconditionWatch, Preconditioned, PreconditionedImage, Probe, Protection,
    ScrubProgress, Superblocks,
};
use fowler_units::HostIo;
use std::collections::BTreeMap;

/// An observer of runs on drives of every kind, page-mapped or with superblocks.
pub trait Watcher: Probe<Controller> + Probe<Superblocks> {}
impl<P: Probe<Controller> + Probe<Superblocks>> Watcher for P {}

/// Results at the end of a run that only some kinds of drives can report.
#[derive(Debug, Default)]
pub struct Closing {
    pub protection: Option<Protection>,
    pub losses: Option<LossLedger>,
    pub census: Option<Census>,
    pub scrub: Option<ScrubProgress>,
    pub bad_blocks: Option<BadBlockCounts>,
    pub failed_dies: Option<FailedDieCounts>,
    pub power_offs: PowerOffs,
    pub faults: Vec<Fate>,
}

/// A kind of drive: page-mapped or with superblocks.
pub trait DriveKind: Faulty + Clone {
    /// Returns the preconditioned drive of `config`, from the cache if there is one; `name`
    /// identifies it in messages.
    ///
    /// # Errors
    /// Everything that is wrong with the drive, or that preconditioning was stopped.
    fn drive(
        name: &str,
        config: &Config,
        images: Option<&ImageCache>,
        control: Control<'_>,
    ) -> Result<Device<Self>, Diagnostics>;

    /// Returns the record of how a drive was preconditioned before its first request.
    fn history(device: &Device<Self>) -> &Preconditioned;

    /// Returns the number of erases of each block, or superblock.
    fn erase_counts(device: &Device<Self>) -> &[u32];

    /// Serves the requests of a run, while `faults` strike the drive.
    fn serve<P: Probe<Self>>(
        device: &mut Device<Self>,
        requests: &mut dyn Iterator<Item = HostIo>,
        pacing: Pacing,
        probe: &mut P,
        faults: &[Scripted],
    ) {
        faults::run(device, requests, pacing, probe, faults);
    }

    /// Makes the drive record the effects of faults from now on.
    fn note_faults(device: &mut Device<Self>) {
        device.note_faults();
    }

    /// Resets the counts of failed blocks and dies after a warm-up.
    fn count_failures_anew(device: &mut Device<Self>);

    /// Writes the data in the drive's write buffer to flash at the end of a run.
    fn write_out<P: Probe<Self>>(device: &mut Device<Self>, probe: &mut P);

    /// Returns the results that the drive reports at the end of a run. With `counts_errors`, it
    /// counts every page that cannot be read now.
    fn closing(device: &Device<Self>, faults: &[Scripted], counts_errors: bool) -> Closing;
}

/// Evaluates an expression that is generic over the kind of drive. In the expression, `$Kind` names
/// the type of the drive of `$config`: page-mapped, or mapped by superblocks.
#[macro_export]
macro_rules! with_drive_kind {
    ($config:expr, $Kind:ident => $body:expr) => {
        match $config.ftl.reclaim_unit {
            fowler_device::ReclaimUnit::Block => {
                type $Kind = fowler_device::Controller;
                $body
            }
            fowler_device::ReclaimUnit::Superblock => {
                type $Kind = fowler_device::Superblocks;
                $body
            }
        }
    };
}

/// Returns the preconditioned drive of `config`, from the cache if there is one; `name` identifies
/// it in messages.
///
/// # Errors
/// Everything that is wrong with the drive, or that preconditioning was stopped.
pub fn preconditioned(
    name: &str,
    config: &Config,
    images: Option<&ImageCache>,
    control: Control<'_>,
) -> Result<Device, Diagnostics> {
    let watch = PreconditionWatch {
        stop: control.stop,
        progress: &|share| (control.progress)(Progress::Preconditioning(share)),
    };
    let device = match images {
        None => image_store::image::<PreconditionedImage>(config, watch)
            .map(|image| image.and_then(|image| image.into_device(watch))),
        Some(images) => images.device(config, watch),
    };
    let refused = |refusals| device_spec::refused(name, &BTreeMap::new(), refusals);
    device
        .map_err(refused)?
        .ok_or_else(|| Diagnostic::new(name, "stopped while the drive was preconditioned").into())
}

impl DriveKind for Controller {
    fn drive(
        name: &str,
        config: &Config,
        images: Option<&ImageCache>,
        control: Control<'_>,
    ) -> Result<Device, Diagnostics> {
        preconditioned(name, config, images, control)
    }

    fn history(device: &Device) -> &Preconditioned {
        device.preconditioned()
    }

    fn erase_counts(device: &Device) -> &[u32] {
        device.erase_counts()
    }

    fn count_failures_anew(device: &mut Device) {
        device.count_failures_anew();
    }

    fn write_out<P: Probe>(device: &mut Device, probe: &mut P) {
        device.write_out(probe);
    }

    fn closing(device: &Device, faults: &[Scripted], counts_errors: bool) -> Closing {
        Closing {
            protection: device.protection(),
            losses: device.losses(),
            census: counts_errors.then(|| device.census()),
            scrub: device.scrub(),
            bad_blocks: device.bad_blocks(),
            failed_dies: device.failed_dies(),
            power_offs: *device.power_offs(),
            faults: Fate::of_all(faults, device),
        }
    }
}

impl DriveKind for Superblocks {
    fn drive(
        name: &str,
        config: &Config,
        images: Option<&ImageCache>,
        control: Control<'_>,
    ) -> Result<Device<Superblocks>, Diagnostics> {
        let watch = PreconditionWatch {
            stop: control.stop,
            progress: &|share| (control.progress)(Progress::Preconditioning(share)),
        };
        let made = match images {
            None => image_store::image(config, watch),
            Some(images) => images.superblocks(config, watch),
        };
        let refused = |refusals| device_spec::refused(name, &BTreeMap::new(), refusals);
        let layer = made
            .map_err(refused)?
            .ok_or_else(|| Diagnostic::new(name, "stopped while the drive was preconditioned"))?;
        Ok(Device::over(config, layer))
    }

    fn history(device: &Device<Superblocks>) -> &Preconditioned {
        device.superblocks().preconditioned()
    }

    fn erase_counts(device: &Device<Superblocks>) -> &[u32] {
        device.superblocks().erase_counts()
    }

    fn count_failures_anew(device: &mut Device<Superblocks>) {
        device.count_failures_anew();
    }

    fn write_out<P: Probe<Superblocks>>(device: &mut Device<Superblocks>, probe: &mut P) {
        device.write_out(probe);
    }

    fn closing(device: &Device<Superblocks>, faults: &[Scripted], counts_errors: bool) -> Closing {
        Closing {
            protection: device.protection(),
            losses: device.losses(),
            census: counts_errors.then(|| device.census()),
            scrub: device.scrub(),
            bad_blocks: device.bad_blocks(),
            failed_dies: device.failed_dies(),
            power_offs: *device.power_offs(),
            faults: Fate::of_all(faults, device),
        }
    }
}
