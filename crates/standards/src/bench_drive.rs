//! The drive on the test bench: page-mapped, or with superblocks.

use fowler_device::{Config, Counters, Device, Layer, Layout, Ledger, Pacing, Superblocks};
use fowler_experiment::diagnostic::Diagnostics;
use fowler_experiment::outcome::write_amplification::EraseUnit;
use fowler_experiment::progress::Control;
use fowler_experiment::run::{DriveKind, Watcher};
use fowler_units::{DieId, HostIo, Nanos};

/// A drive under test: its clock, and its counters so far.
pub(super) trait Measured {
    /// Returns the counters of the drive so far.
    fn counters(&self) -> Counters;
    /// Returns the simulated time on the drive's clock.
    fn now(&self) -> Nanos;
    /// Returns the layout of the drive: its sizes in pages and bytes.
    fn layout(&self) -> &Layout;
    /// Returns the time that a die has spent on each activity up to `at`.
    fn die_times(&self, die: DieId, at: Nanos) -> Ledger;

    /// Returns the number of dies of the drive.
    fn dies(&self) -> u32 {
        self.layout().geometry.dies()
    }

    /// Returns the unit in which the drive erases: a block or a superblock.
    fn erase_unit(&self) -> EraseUnit {
        EraseUnit::of(self.layout())
    }
}

impl<L: Layer> Measured for Device<L> {
    fn counters(&self) -> Counters {
        self.counters()
    }

    fn now(&self) -> Nanos {
        self.now()
    }

    fn layout(&self) -> &Layout {
        self.layout()
    }

    fn die_times(&self, die: DieId, at: Nanos) -> Ledger {
        self.die_times(die, at)
    }
}

/// A drive under test of either kind: page-mapped or with superblocks.
#[derive(Clone)]
pub(super) enum BenchDrive {
    Pages(Box<Device>),
    Superblocks(Box<Device<Superblocks>>),
}

/// Evaluates an expression on the drive under test; code for page-mapped drives and for drives with
/// superblocks is generated from one expression.
macro_rules! either {
    ($drive:expr, $device:ident => $does:expr) => {
        match $drive {
            BenchDrive::Pages($device) => $does,
            BenchDrive::Superblocks($device) => $does,
        }
    };
}

impl BenchDrive {
    /// Returns the preconditioned drive of `config`; `name` identifies it in messages.
    ///
    /// # Errors
    /// Everything that is wrong with the drive, or that preconditioning was stopped.
    pub fn new(
        name: &str,
        config: &Config,
        control: Control<'_>,
    ) -> Result<BenchDrive, Diagnostics> {
        Ok(if config.ftl.has_superblocks() {
            BenchDrive::Superblocks(Box::new(DriveKind::drive(name, config, None, control)?))
        } else {
            BenchDrive::Pages(Box::new(DriveKind::drive(name, config, None, control)?))
        })
    }

    /// Serves requests on the drive until they end.
    pub fn run(
        &mut self,
        requests: impl IntoIterator<Item = HostIo>,
        pacing: Pacing,
        probe: &mut impl Watcher,
    ) {
        either!(self, device => device.run(requests, pacing, probe));
    }

    /// Leaves the drive without requests until `at`, so that it may do background work.
    pub fn rest_until(&mut self, at: Nanos) {
        either!(self, device => device.rest_until(at, &mut ()));
    }

    /// Returns the number of erases of each block, or superblock.
    pub fn erase_counts(&self) -> &[u32] {
        either!(self, device => DriveKind::erase_counts(device))
    }
}

impl Measured for BenchDrive {
    fn counters(&self) -> Counters {
        either!(self, device => device.counters())
    }

    fn now(&self) -> Nanos {
        either!(self, device => device.now())
    }

    fn layout(&self) -> &Layout {
        either!(self, device => device.layout())
    }

    fn die_times(&self, die: DieId, at: Nanos) -> Ledger {
        either!(self, device => device.die_times(die, at))
    }
}
