//! Exact means under suspension of programs (FAST'12; S3 to S15). Derived here, because the paper
//! gives only equation (1).
//!
//! A write is a chain of stretches: the transfer, then N times a program and a verify phase. Reads
//! that arrive during a stretch are served at its end (inter-phase), or after a voltage reset
//! (intra-phase), back to back with those that arrive meanwhile (S6). This is a busy period, which
//! lasts `D = R / (1 - rho_r)` on average for each read that begins it. Then the page buffer is
//! loaded again for `T`. A read that arrives meanwhile restarts the loading (S11), which therefore
//! takes the classical restart time `E = (e^(lambda T) - 1) (1 / lambda + D)`.
//!
//! - During a stretch of length L that reads cannot cut, `lambda L` reads arrive on average, and at
//!   least one with probability `1 - e^(-lambda L)`. They add
//!   `lambda L D + (1 - e^(-lambda L)) E`.
//! - A phase that can be cancelled in its first `L - r` is not cancelled with probability
//!   `q = e^(-lambda (L - r))`. An attempt lasts `(1 - q) / lambda + r` on average. A cancelled one
//!   adds `(1 + lambda r) D + E`, a completed one as much as a stretch of length r.
//! - A program takes `1 / q` attempts, and each failed attempt one successful check-verify (S7), so
//!   that as many verifies complete as programs are attempted.
//! - The last stretch ends the write, and nothing resumes after it (S15).
//!
//! Reads never wait for each other's resumption, so their mean is that of an M/G/1 queue with a
//! delayed start: `W0 / (1 - rho_r) + R`, where `W0` is the mean residual time of what occupies the
//! die at an arrival: a read, a stretch, or the reset after a cancellation.

use super::{DieTimes, Load};

/// The way in which reads interrupt programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Suspension {
    /// Reads interrupt a program at the end of the running phase (IPS).
    InterPhase,
    /// Reads interrupt a program at once, by cancelling the phase unless its reset has begun (IPC).
    /// A cancelled program phase is verified and repeated in full.
    IntraPhase,
}

/// Mean times of reads and writes at a die whose programs reads suspend.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Suspended {
    /// Mean time from the arrival of a read to its end, in microseconds.
    pub read: f64,
    /// Mean time from the start of a write to its end, including reads served meanwhile, in
    /// microseconds.
    pub completion: f64,
    /// Mean number of suspensions of a write by reads (S10, S14). If a read interrupts the loading
    /// of the page buffer on resumption, that does not count as a suspension.
    pub suspensions: f64,
}

/// Mean times of one write that reads suspend; they do not depend on the rate of writes.
struct Write {
    completion: f64,
    suspensions: f64,
    /// Mean residual time that writes cause for an arriving read, divided by the rate of writes, in
    /// square microseconds: half the sum of the squared times in which reads cannot interrupt a
    /// write, plus the voltage resets for which a read that cancels a phase waits.
    residual: f64,
    /// Length of the last part of a write, in which reads cannot interrupt it but wait for its end,
    /// in microseconds.
    last: f64,
}

/// Returns the mean time to the first arrival at `rate`, or to `span` if that is sooner, in
/// microseconds.
fn until_arrival(rate: f64, span: f64) -> f64 {
    if rate > 0.0 { arrives(rate, span) / rate } else { span }
}

/// Returns the probability that at least one read arrives within `span` microseconds, if reads
/// arrive at random (Poisson) at a mean of `rate` per microsecond.
fn arrives(rate: f64, span: f64) -> f64 {
    -libm::expm1(-rate * span)
}

/// Time that reads add to a write that they suspend: the service of the reads and the reloading of
/// the page buffer.
struct Reads {
    rate: f64,
    /// Mean length of the busy period that one read begins, in microseconds.
    busy: f64,
    /// Mean time to load the page buffer again after a suspension, in microseconds; loading
    /// restarts after each read that arrives meanwhile.
    reload: f64,
}

impl Reads {
    /// Returns the mean times, in microseconds, by which reads that arrive at `rate` (per
    /// microsecond) prolong a write that they suspend; `None` if reads alone keep the die busy all
    /// the time.
    fn new(times: &DieTimes, rate: f64) -> Option<Reads> {
        let load = rate * times.read;
        let busy = times.read / (1.0 - load);
        // (e^(lambda T) - 1) / lambda, which is T without reads.
        let attempts = libm::expm1(rate * times.buffer_load);
        let loading = if rate > 0.0 { attempts / rate } else { times.buffer_load };
        (load < 1.0).then_some(Reads { rate, busy, reload: loading + attempts * busy })
    }

    /// Returns the mean time in microseconds by which reads lengthen a write if they arrive during
    /// `stretch`, a time in which they cannot interrupt it, and are served before it continues.
    fn after(&self, stretch: f64) -> f64 {
        self.rate * stretch * self.busy + arrives(self.rate, stretch) * self.reload
    }
}

/// One kind of phase of a program that reads may cancel.
struct Phase {
    /// Mean number of times that the program or verify phase is started until it completes without
    /// being cancelled by a read.
    attempts: f64,
    /// Mean time, in microseconds, from a start of this program or verify phase until a read
    /// cancels it or its uncancellable last part begins.
    open: f64,
    /// Time at the end of a program or verify phase in which a read cannot cancel the phase, in
    /// microseconds.
    reset: f64,
}

impl Phase {
    fn new(length: f64, times: &DieTimes, rate: f64) -> Phase {
        let reset = times.voltage_reset.min(length);
        let open = length - reset;
        Phase { attempts: libm::exp(rate * open), open: until_arrival(rate, open), reset }
    }
}

impl Write {
    fn inter_phase(times: &DieTimes, reads: &Reads) -> Write {
        let (program, verify) = (times.program_phase, times.verify_phase);
        let count = f64::from(times.iterations);
        let kinds = [(times.transfer, 1.0), (program, count), (verify, count)];
        let each = |f: &dyn Fn(f64) -> f64| kinds.iter().map(|&(at, n)| n * f(at)).sum::<f64>();
        Write {
            completion: times.write() + each(&|stretch| reads.after(stretch)) - reads.after(verify),
            suspensions: each(&|stretch| arrives(reads.rate, stretch))
                - arrives(reads.rate, verify),
            residual: each(&|stretch| stretch * stretch / 2.0),
            last: verify,
        }
    }

    fn intra_phase(times: &DieTimes, reads: &Reads) -> Write {
        let program = Phase::new(times.program_phase, times, reads.rate);
        let verify = Phase::new(times.verify_phase, times, reads.rate);
        let programs = f64::from(times.iterations);
        // A successful verify follows every program phase, cancelled or not.
        let verifies = programs * program.attempts;
        let mut write = Write {
            completion: times.transfer + reads.after(times.transfer) - reads.after(verify.reset),
            suspensions: arrives(reads.rate, times.transfer) - arrives(reads.rate, verify.reset),
            residual: times.transfer * times.transfer / 2.0,
            last: verify.reset,
        };
        for (phase, completed) in [(&program, programs), (&verify, verifies)] {
            let attempts = completed * phase.attempts;
            let cancelled = attempts - completed;
            let (open, reset) = (attempts * phase.open, phase.reset);
            write.completion += open
                + attempts * reset
                + completed * reads.after(reset)
                + cancelled * ((1.0 + reads.rate * reset) * reads.busy + reads.reload);
            write.suspensions += cancelled + completed * arrives(reads.rate, reset);
            write.residual += attempts * reset * reset / 2.0 + open * reset;
        }
        write
    }
}

impl Suspension {
    fn write(self, times: &DieTimes, reads: &Reads) -> Write {
        match self {
            Suspension::InterPhase => Write::inter_phase(times, reads),
            Suspension::IntraPhase => Write::intra_phase(times, reads),
        }
    }

    /// Returns the exact mean times of reads and writes on a die whose programs are suspended for
    /// reads. `None` if reads alone keep the die busy, or if writes arrive at
    /// [`Suspension::write_capacity`] or faster.
    pub fn means(self, times: &DieTimes, load: &Load) -> Option<Suspended> {
        if load.writes >= self.write_capacity(times, load.reads)? {
            return None;
        }
        let reads = Reads::new(times, load.reads)?;
        let write = self.write(times, &reads);
        let found = load.reads * times.read * times.read / 2.0 + load.writes * write.residual;
        Some(Suspended {
            read: found / (1.0 - load.reads * times.read) + times.read,
            completion: write.completion,
            suspensions: write.suspensions,
        })
    }

    /// Returns the writes per microsecond that a die can serve beside `reads` per microsecond: back
    /// to back, each followed by the reads that arrived near its end, too late to interrupt it.
    /// `None` if reads alone keep the die busy.
    pub fn write_capacity(self, times: &DieTimes, reads: f64) -> Option<f64> {
        let reads = Reads::new(times, reads)?;
        let write = self.write(times, &reads);
        Some(1.0 / (write.completion + reads.rate * write.last * reads.busy))
    }

    /// Returns the mean extra wait of a read that arrives at a uniformly random moment of a
    /// program, in microseconds (equation (1) in section 4.2 of the FAST'12 paper on program
    /// suspension).
    ///
    /// The wait is `(Tp^2 + Tv^2) / (2 (Tp + Tv))` for inter-phase suspension. For intra-phase
    /// suspension a read waits for one reset or the rest of it, `r - r^2 / (Tp + Tv)` if no phase
    /// is shorter than a reset.
    pub fn mean_extra_wait(self, times: &DieTimes) -> f64 {
        let phases = [times.program_phase, times.verify_phase];
        let waited = phases.map(|length| match self {
            Suspension::InterPhase => length * length / 2.0,
            Suspension::IntraPhase => {
                let reset = times.voltage_reset.min(length);
                (length - reset) * reset + reset * reset / 2.0
            }
        });
        (waited[0] + waited[1]) / (phases[0] + phases[1])
    }
}
