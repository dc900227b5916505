//! One die under Poisson reads and one-page writes. All times are in microseconds, all rates per
//! microsecond; every mean is of a response: from arrival to the end of the operation.
//!
//! Sources: Pollaczek-Khinchine and Cobham ("Priority assignment in waiting line problems",
//! Operations Research 2, 1954) as in Kleinrock, "Queueing Systems" vol. 1 and 2; the operations of
//! a die and their suspension as in Wu and He, FAST'12.

mod suspension;

pub use suspension::{Suspended, Suspension};

/// Operating times of a die, in microseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DieTimes {
    /// How long a read holds the die: sensing and the transfer out (S1).
    pub read: f64,
    /// The transfer of a write into the page buffer (S2).
    pub transfer: f64,
    /// One program phase, its reset included (S3).
    pub program_phase: f64,
    /// One verify phase, its reset included (S3).
    pub verify_phase: f64,
    /// ISPP iterations of a program; at least one.
    pub iterations: u32,
    /// The last part of a phase, in which it cannot be cancelled; the time that cancelling takes
    /// (S5).
    pub voltage_reset: f64,
    /// Loading the page buffer from the shadow buffer when a program resumes (S7).
    pub buffer_load: f64,
}

impl DieTimes {
    /// An undisturbed write, its transfer included.
    pub fn write(&self) -> f64 {
        let iteration = self.program_phase + self.verify_phase;
        self.transfer + f64::from(self.iterations) * iteration
    }
}

/// Arrivals, per microsecond.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Load {
    /// Reads.
    pub reads: f64,
    /// One-page writes.
    pub writes: f64,
}

impl Load {
    /// The arrivals of which a share `read_share` (0 to 1) are reads and that keep an undisturbed
    /// die busy for a share `utilisation` (0 and more) of the time.
    pub fn offered(times: &DieTimes, utilisation: f64, read_share: f64) -> Load {
        let service = read_share * times.read + (1.0 - read_share) * times.write();
        let all = utilisation / service;
        Load { reads: all * read_share, writes: all * (1.0 - read_share) }
    }

    /// The shares of time that reads, and reads and writes together, keep an undisturbed die busy
    /// for.
    fn utilisation(&self, times: &DieTimes) -> (f64, f64) {
        let reads = self.reads * times.read;
        (reads, reads + self.writes * times.write())
    }

    /// The mean work left of what an arrival finds in service: half the second moment of the
    /// service time, times the rate.
    fn residual(&self, times: &DieTimes) -> f64 {
        let write = times.write();
        (self.reads * times.read * times.read + self.writes * write * write) / 2.0
    }
}

/// Mean responses, in microseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Means {
    /// Of reads.
    pub read: f64,
    /// Of writes.
    pub write: f64,
}

/// The mean response of a queue with Poisson arrivals (`rate` per microsecond), one server, and a
/// service of `service` microseconds: M/D/1. `None` from a load of one on.
pub fn md1(service: f64, rate: f64) -> Option<f64> {
    let load = rate * service;
    (load < 1.0).then(|| service + load * service / (2.0 * (1.0 - load)))
}

/// First come, first served: Pollaczek-Khinchine. `None` from a load of one on.
pub fn fifo(times: &DieTimes, load: &Load) -> Option<Means> {
    let (_, both) = load.utilisation(times);
    let wait = load.residual(times) / (1.0 - both);
    (both < 1.0).then(|| Means { read: wait + times.read, write: wait + times.write() })
}

/// Reads before writes, but not into a running one: Cobham. `None` from a load of one on.
pub fn read_first(times: &DieTimes, load: &Load) -> Option<Means> {
    let (reads, both) = load.utilisation(times);
    let wait = load.residual(times) / (1.0 - reads);
    (both < 1.0)
        .then(|| Means { read: wait + times.read, write: wait / (1.0 - both) + times.write() })
}

/// Reads interrupt writes at once and at no cost: preemptive resume, the bound of all suspension.
/// `None` from a load of one on.
pub fn preemptive_resume(times: &DieTimes, load: &Load) -> Option<Means> {
    let (reads, both) = load.utilisation(times);
    let alone = load.reads * times.read * times.read / 2.0;
    (both < 1.0).then(|| Means {
        read: alone / (1.0 - reads) + times.read,
        write: (times.write() + load.residual(times) / (1.0 - both)) / (1.0 - reads),
    })
}
