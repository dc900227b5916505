//! One die under Poisson reads and one-page writes. Times are in microseconds, rates per
//! microsecond. Means are means of the response time, from arrival to the end of the operation.
//!
//! Sources: Pollaczek-Khinchine and Cobham ("Priority assignment in waiting line problems",
//! Operations Research 2, 1954) as in Kleinrock, "Queueing Systems" vol. 1 and 2; the operations of
//! a die and their suspension as in Wu and He, FAST'12.

mod suspension;

pub use suspension::{Suspended, Suspension};

/// Operating times of a die, in microseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DieTimes {
    /// Time for which a read holds the die, in microseconds: sensing and the transfer out (S1).
    pub read: f64,
    /// Time of the transfer of a write into the page buffer (S2), in microseconds.
    pub transfer: f64,
    /// Time of one program phase, including its voltage reset (S3), in microseconds.
    pub program_phase: f64,
    /// Time of one verify phase, including its voltage reset (S3), in microseconds.
    pub verify_phase: f64,
    /// Number of ISPP iterations of a program; at least one.
    pub iterations: u32,
    /// Time to cancel a phase, in microseconds; this is also the last part of a phase, in which it
    /// can no longer be cancelled (S5).
    pub voltage_reset: f64,
    /// Time to load the page buffer from the shadow buffer when a program resumes (S7), in
    /// microseconds.
    pub buffer_load: f64,
}

impl DieTimes {
    /// Returns the time of an undisturbed write, including its transfer, in microseconds.
    pub fn write(&self) -> f64 {
        let iteration = self.program_phase + self.verify_phase;
        self.transfer + f64::from(self.iterations) * iteration
    }
}

/// Arrival rates of reads and writes at a die, per microsecond.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Load {
    /// Number of reads that arrive per microsecond.
    pub reads: f64,
    /// Number of one-page writes that arrive per microsecond.
    pub writes: f64,
}

impl Load {
    /// Returns the arrival rates of reads and writes that keep a die, without suspensions, busy for
    /// the share `utilisation` (0 or more) of the time; the share `read_share` (0 to 1) of the
    /// arrivals are reads.
    pub fn offered(times: &DieTimes, utilisation: f64, read_share: f64) -> Load {
        let service = read_share * times.read + (1.0 - read_share) * times.write();
        let all = utilisation / service;
        Load { reads: all * read_share, writes: all * (1.0 - read_share) }
    }

    /// Returns two shares of the time of a die without suspensions, 0 or more: that in which it
    /// serves reads, and that in which it serves reads or writes.
    fn utilisation(&self, times: &DieTimes) -> (f64, f64) {
        let reads = self.reads * times.read;
        (reads, reads + self.writes * times.write())
    }

    /// Returns the mean remaining work of the operation that an arrival finds in service: half the
    /// second moment of the service time, times the rate. In microseconds.
    fn residual(&self, times: &DieTimes) -> f64 {
        let write = times.write();
        (self.reads * times.read * times.read + self.writes * write * write) / 2.0
    }
}

/// Mean response times of reads and writes at a die, in microseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Means {
    /// Mean time from the arrival of a read to its end, in microseconds.
    pub read: f64,
    /// Mean time from the arrival of a write to its end, in microseconds.
    pub write: f64,
}

/// Returns the mean response of an M/D/1 queue with `rate` arrivals per microsecond and a service
/// time of `service` microseconds. `None` for a load of one or more.
pub fn md1(service: f64, rate: f64) -> Option<f64> {
    let load = rate * service;
    (load < 1.0).then(|| service + load * service / (2.0 * (1.0 - load)))
}

/// Returns the mean response times of reads and writes at a die that serves them in order of
/// arrival (Pollaczek-Khinchine). `None` if both together need all of the die's time or more.
pub fn fifo(times: &DieTimes, load: &Load) -> Option<Means> {
    let (_, both) = load.utilisation(times);
    let wait = load.residual(times) / (1.0 - both);
    (both < 1.0).then(|| Means { read: wait + times.read, write: wait + times.write() })
}

/// Returns the mean response times of reads and writes at a die that serves waiting reads first,
/// but never interrupts a write (Cobham). `None` if both together need all of the die's time or
/// more.
pub fn read_first(times: &DieTimes, load: &Load) -> Option<Means> {
    let (reads, both) = load.utilisation(times);
    let wait = load.residual(times) / (1.0 - reads);
    (both < 1.0)
        .then(|| Means { read: wait + times.read, write: wait / (1.0 - both) + times.write() })
}

/// Returns the mean response times under preemptive resume: reads interrupt writes at once and at
/// no cost, which bounds any form of suspension. `None` for a load of one or more.
pub fn preemptive_resume(times: &DieTimes, load: &Load) -> Option<Means> {
    let (reads, both) = load.utilisation(times);
    let alone = load.reads * times.read * times.read / 2.0;
    (both < 1.0).then(|| Means {
        read: alone / (1.0 - reads) + times.read,
        write: (times.write() + load.residual(times) / (1.0 - both)) / (1.0 - reads),
    })
}
