//! The synthetic workloads: the state of the drive, the requests, and the queue depth.

use crate::drive::{self, State};
use crate::requests::{RUN, Random, Requests, Sequential};
use fowler_device::policy::die_order::DieOrderKind;
use fowler_device::policy::suspension::SuspensionKind;
use fowler_device::{Config, Device, Pacing};
use fowler_metrics::Recorder;
use fowler_units::{Geometry, HostOp};

/// Requests of a workload and their pacing.
#[derive(Clone, Copy)]
pub enum Asked {
    /// Requests of single pages, uniform over the drive, a share `read_share` of them reads, with
    /// `depth` outstanding.
    Random { read_share: f64, depth: u32 },
    /// Reads of single random pages, in a Poisson process that keeps each die busy for this share
    /// of the time.
    Poisson { utilisation: f64 },
    /// Sequential requests of [`RUN`] pages, with `depth` outstanding.
    Sequential { op: HostOp, depth: u32 },
}

/// A synthetic workload: a row of the table of results.
#[derive(Clone, Copy)]
pub struct Workload {
    /// Name of the workload in the table of results.
    pub name: &'static str,
    /// State of the drive at the start of the workload.
    pub state: State,
    /// Requests of the workload.
    pub asked: Asked,
    /// Number of requests in one round.
    pub requests: u64,
}

/// Random reads of one page at a fixed queue depth.
pub const RANDOM_READ: Workload = Workload {
    name: "4 KiB random read, QD 32",
    state: State::Sequential,
    asked: Asked::Random { read_share: 1.0, depth: 32 },
    requests: 4_000_000,
};

/// Random reads of one page with Poisson arrivals.
pub const POISSON_READ: Workload = Workload {
    name: "4 KiB random read, Poisson at 60 %",
    state: State::Sequential,
    asked: Asked::Poisson { utilisation: 0.6 },
    requests: 4_000_000,
};

/// Random writes of one page on a drive in steady state.
pub const RANDOM_WRITE: Workload = Workload {
    name: "4 KiB random write, steady state, QD 64",
    state: State::Steady(DieOrderKind::ReadFirst, SuspensionKind::Never),
    asked: Asked::Random { read_share: 0.0, depth: 64 },
    requests: 2_000_000,
};

/// Random reads and writes on a drive whose reads suspend programs by intra-phase cancellation.
pub const MIXED_IPC: Workload = Workload {
    name: "70/30 mix, steady state, IPC, QD 32",
    state: State::Steady(DieOrderKind::ReadFirst, SuspensionKind::Ipc),
    asked: Asked::Random { read_share: 0.7, depth: 32 },
    requests: 3_000_000,
};

/// Random reads and writes on a drive that serves them first come, first served.
pub const MIXED_FIFO: Workload = Workload {
    name: "70/30 mix, steady state, FIFO, QD 32",
    state: State::Steady(DieOrderKind::Fifo, SuspensionKind::Never),
    ..MIXED_IPC
};

/// Sequential reads of 128 KiB.
pub const SEQUENTIAL_READ: Workload = Workload {
    name: "sequential 128 KiB read, QD 8",
    state: State::Sequential,
    asked: Asked::Sequential { op: HostOp::Read, depth: 8 },
    requests: 300_000,
};

/// Sequential writes of 128 KiB.
pub const SEQUENTIAL_WRITE: Workload = Workload {
    name: "sequential 128 KiB write, QD 8",
    state: State::Sequential,
    asked: Asked::Sequential { op: HostOp::Write, depth: 8 },
    requests: 300_000,
};

/// The synthetic workloads of the table, in its order.
pub const WORKLOADS: [Workload; 6] =
    [RANDOM_READ, POISSON_READ, RANDOM_WRITE, MIXED_IPC, SEQUENTIAL_READ, SEQUENTIAL_WRITE];

impl Workload {
    /// Builds the workload's drive, preconditioned.
    pub fn drive(&self, geometry: Geometry) -> Device {
        self.drive_set(geometry, |_| ())
    }

    /// Builds the workload's drive, after `set` has changed the configuration.
    pub fn drive_set(&self, geometry: Geometry, set: fn(&mut Config)) -> Device {
        let mut config = drive::config(geometry, self.state);
        set(&mut config);
        let mut device = drive::build(&config);
        if let Asked::Sequential { op: HostOp::Write, .. } = self.asked {
            // Write the spare capacity first, and a little more. From then on every block must be
            // erased before it is written, and victims have no valid pages.
            let runs = spare_runs(&device);
            let first = Sequential::new(HostOp::Write, 0, runs, device.layout().logical_pages);
            device.run(Requests::Sequential(first), self.pacing(), &mut Recorder::new());
        }
        device
    }

    /// Returns the pacing of the workload's requests: by arrival time or by queue depth.
    pub fn pacing(&self) -> Pacing {
        match self.asked {
            Asked::Random { depth, .. } | Asked::Sequential { depth, .. } => {
                Pacing::Closed { depth }
            }
            Asked::Poisson { .. } => Pacing::Open,
        }
    }

    /// Returns `count` requests of this workload to `device`.
    pub fn requests(&self, device: &Device, count: u64) -> Requests {
        let pages = device.layout().logical_pages;
        match self.asked {
            Asked::Random { read_share, .. } => {
                Requests::Random(Random::new(count, pages, read_share))
            }
            Asked::Poisson { utilisation } => {
                // A read occupies a die for sensing and transfer.
                let service = drive::timing().bus_transfer + drive::SENSE;
                let dies = f64::from(device.layout().geometry.dies());
                let gap = service.0 as f64 / (utilisation * dies);
                Requests::Random(Random::new(count, pages, 1.0).poisson(gap))
            }
            Asked::Sequential { op, .. } => {
                let first = if op == HostOp::Write { spare_runs(device) } else { 0 };
                Requests::Sequential(Sequential::new(op, first, count, pages))
            }
        }
    }
}

/// Returns the number of sequential runs that fill the drive's spare capacity one and a quarter
/// times.
fn spare_runs(device: &Device) -> u64 {
    let layout = device.layout();
    let spare = u64::from(layout.geometry.pages() - layout.logical_pages);
    spare * 5 / 4 / RUN
}
