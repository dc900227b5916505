//! The drive that is measured, and what is asked of it.

use crate::requests::Uniform;
use fowler_device::policy::die_order;
use fowler_device::policy::suspension::SuspensionKind;
use fowler_device::*;
use fowler_metrics::Recorder;
use fowler_nand::{PerPageType, Timing};
use fowler_units::{Bytes, Geometry, HostIo, Span};
use std::time::Instant;

/// What is asked of the drive.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Workload {
    /// 4 KiB random reads, 32 at a time.
    RandomRead,
    /// 4 KiB random writes on a drive in steady state, greedy collection, 28 % spare.
    RandomWrite,
    /// 70 % reads, 30 % writes on a drive in steady state, under intra-phase cancellation.
    Mixed,
}

/// What one run came to.
pub struct Measured {
    /// Requests served.
    pub requests: u64,
    /// Flash events without which the requests cannot be served: the ends of sensings, transfers,
    /// programs and erases, and two for each suspension (cells free; the end after resuming).
    pub events: u64,
    /// Pages moved by collection for each request.
    pub moves_per_request: f64,
    /// Erases for each request.
    pub erases_per_request: f64,
    /// Suspensions for each request.
    pub suspensions_per_request: f64,
    /// Write amplification; 1 without writes.
    pub waf: f64,
    /// Wall time in seconds.
    pub seconds: f64,
}

impl Measured {
    /// Wall time for each request.
    pub fn ns_per_request(&self) -> f64 {
        self.seconds * 1e9 / self.requests as f64
    }
}

/// 8 channels of 8 dies, 128 GiB of 4 KiB pages.
pub fn geometry() -> Geometry {
    Geometry {
        channels: 8,
        chips_per_channel: 8,
        dies_per_chip: 1,
        planes_per_die: 1,
        blocks_per_plane: 2048,
        pages_per_block: 256,
        page_size: Bytes(4096),
    }
}

fn config(workload: Workload) -> Config {
    let pattern = match workload {
        Workload::RandomRead => Pattern::Sequential,
        _ => Pattern::Steady,
    };
    let timing = Timing {
        bus_transfer: Span::us(4),
        read: PerPageType::uniform(Span::us(50)),
        program_phase: Span::us(20),
        verify_phase: Span::us(24),
        program_iterations: PerPageType::uniform(15),
        erase_pulse: Span::us(3300),
        erase_verify: Span::us(24),
        voltage_reset: Span::us(4),
        buffer_load: Span::us(3),
    };
    let mut config = Config {
        over_provisioning: 0.28,
        over_provisioning_base: OpBase::Logical,
        buffer: BufferConfig { size: Bytes(64 << 20), ack: Ack::OnProgram, evict_ahead: 64 },
        gc: GcConfig {
            foreground_below: 4,
            background_below: 4,
            idle_after: Span::ms(1),
            frontier: GcFrontier::Own,
        },
        precondition: PreconditionConfig { fill: 1.0, pattern },
        die_order: die_order::Params { name: die_order::DieOrderKind::ReadFirst },
        ..Config::new(geometry(), timing)
    };
    if workload == Workload::Mixed {
        config.suspension.name = SuspensionKind::Ipc;
    }
    config
}

impl Workload {
    /// Every workload, in the order of the table.
    pub const ALL: [Workload; 3] = [Workload::RandomRead, Workload::RandomWrite, Workload::Mixed];

    /// Its name in the table.
    pub fn name(self) -> &'static str {
        match self {
            Workload::RandomRead => "4 KiB random read, QD 32",
            Workload::RandomWrite => "4 KiB random write, steady state, QD 64",
            Workload::Mixed => "70/30 mix, steady state, IPC, QD 32",
        }
    }

    /// Share of reads among the requests.
    pub fn read_share(self) -> f64 {
        match self {
            Workload::RandomRead => 1.0,
            Workload::RandomWrite => 0.0,
            Workload::Mixed => 0.7,
        }
    }

    /// Requests outstanding at once.
    pub fn depth(self) -> u32 {
        if self == Workload::RandomWrite { 64 } else { 32 }
    }

    /// Requests in one round.
    pub fn requests(self) -> u64 {
        match self {
            Workload::RandomRead => 4_000_000,
            Workload::RandomWrite => 2_000_000,
            Workload::Mixed => 3_000_000,
        }
    }

    /// The drive, preconditioned.
    pub fn drive(self) -> Device {
        Device::new(&config(self)).unwrap_or_else(|refusals| panic!("{refusals:?}"))
    }

    /// One round on a copy of the drive, so that every round meets the same state.
    pub fn run(self, fresh: &Device) -> Measured {
        self.serve(&mut fresh.clone())
    }

    /// One round on a drive.
    pub fn serve(self, device: &mut Device) -> Measured {
        let pages = device.layout().logical_pages;
        let requests = Uniform::new(self.requests(), pages, self.read_share());
        let mut recorder = Recorder::new();
        let start = Instant::now();
        device.run(requests, Pacing::Closed { depth: self.depth() }, &mut recorder);
        let seconds = start.elapsed().as_secs_f64();
        measured(device, &recorder, seconds)
    }
}

/// The requests of a trace, at their own times, on a copy of the drive.
pub fn serve_trace(fresh: &Device, requests: &[HostIo]) -> Measured {
    let mut device = fresh.clone();
    let mut recorder = Recorder::new();
    let start = Instant::now();
    device.run(requests.iter().copied(), Pacing::Open, &mut recorder);
    let seconds = start.elapsed().as_secs_f64();
    measured(&device, &recorder, seconds)
}

fn measured(device: &Device, recorder: &Recorder, seconds: f64) -> Measured {
    let c = device.counters();
    let requests = recorder.requests();
    let (reads, programs): (u64, u64) = (c.reads.iter().sum(), c.programs.iter().sum());
    let erases: u64 = c.erases.iter().sum();
    Measured {
        requests,
        events: 2 * reads + 2 * programs + erases + 2 * c.suspensions,
        moves_per_request: c.programs[1] as f64 / requests as f64,
        erases_per_request: erases as f64 / requests as f64,
        suspensions_per_request: c.suspensions as f64 / requests as f64,
        waf: c.waf().unwrap_or(1.0),
        seconds,
    }
}
