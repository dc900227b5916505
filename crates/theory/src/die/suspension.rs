//! Exact means under suspension of programs (FAST'12; S3 to S15). Derived here, since the paper
//! gives equation (1) only.
//!
//! A write is a chain of stretches: the transfer, then N times a program and a verify phase. Reads
//! that come during a stretch are served at its end (inter-phase), or once its voltage is reset
//! (intra-phase), back to back with those that come meanwhile (S6): a busy period, on average `D =
//! R / (1 - rho_r)` for each read that begins it. Then the page buffer is loaded again for `T`; a
//! read that comes meanwhile starts that over (S11), so that loading takes the classical restart
//! time `E = (e^(lambda T) - 1) (1 / lambda + D)`.
//!
//! - A stretch of length L that no read can cut: `lambda L` reads come, and with `1 - e^(-lambda
//!   L)` at least one does, which adds `lambda L D + (1 - e^(-lambda L)) E`.
//! - A phase that can be cancelled in its first `L - r` is not, with `q = e^(-lambda (L - r))`; an
//!   attempt lasts `(1 - q) / lambda + r` either way. A cancelled one adds `(1 + lambda r) D + E`;
//!   a completed one what a stretch of length r does.
//! - A program takes `1 / q` attempts, and each that failed one successful check-verify besides
//!   (S7), so that there are as many verifies completed as programs attempted.
//! - The last stretch ends the write: nothing is resumed after it (S15).
//!
//! Reads never wait for each other's resumption, so that their mean is that of M/G/1 whose server
//! starts late: `W0 / (1 - rho_r) + R`, where `W0` is the mean residual of what holds the die at an
//! arrival: a read, a stretch, or the reset after a cancellation.

use super::{DieTimes, Load};

/// How reads interrupt programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Suspension {
    /// At the end of the running phase (IPS).
    InterPhase,
    /// At once, the phase being cancelled, unless its reset has begun (IPC); a cancelled program
    /// phase is verified and redone in full.
    IntraPhase,
}

/// Means under suspension.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Suspended {
    /// Response of a read, in microseconds.
    pub read: f64,
    /// From the start of a write to its end, reads served inside included, in microseconds.
    pub completion: f64,
    /// Suspensions of a write (S10, S14; reloads that are begun again are none).
    pub suspensions: f64,
}

/// What happens in a write on average, whatever the rate of writes.
struct Write {
    completion: f64,
    suspensions: f64,
    /// Sum over the stretches of a write that no read can cut of length squared, halved, and of
    /// reset time ahead of each read that comes while a phase can be cancelled: times the rate of
    /// writes, the mean residual that a read finds.
    residual: f64,
    /// The last stretch, in which reads wait for the end of the write.
    last: f64,
}

/// How long until the first of the arrivals at `rate`, or `span` if that is sooner.
fn until_arrival(rate: f64, span: f64) -> f64 {
    if rate > 0.0 { arrives(rate, span) / rate } else { span }
}

/// The chance that one comes within `span`.
fn arrives(rate: f64, span: f64) -> f64 {
    -libm::expm1(-rate * span)
}

/// What reads add to a write.
struct Reads {
    rate: f64,
    /// Mean busy period that one read begins.
    busy: f64,
    /// Mean time to load the page buffer, begun again after each read that comes meanwhile.
    reload: f64,
}

impl Reads {
    /// `None` if reads alone keep the die busy for good.
    fn new(times: &DieTimes, rate: f64) -> Option<Reads> {
        let load = rate * times.read;
        let busy = times.read / (1.0 - load);
        // (e^(lambda T) - 1) / lambda, which is T without reads.
        let attempts = libm::expm1(rate * times.buffer_load);
        let loading = if rate > 0.0 { attempts / rate } else { times.buffer_load };
        (load < 1.0).then_some(Reads { rate, busy, reload: loading + attempts * busy })
    }

    /// What the reads of a stretch that cannot be cut add, if the write continues afterwards.
    fn after(&self, stretch: f64) -> f64 {
        self.rate * stretch * self.busy + arrives(self.rate, stretch) * self.reload
    }
}

/// One kind of phase under cancellation.
struct Phase {
    /// Attempts for each completion.
    attempts: f64,
    /// Mean time of an attempt in which it could be cancelled.
    open: f64,
    /// Its last part, in which it cannot be.
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
        // A program phase that was cancelled is followed by a verify that succeeds, as is one that
        // was not.
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

    /// The exact means. `None` if reads alone keep the die busy, or writes come at
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

    /// Writes per microsecond that a die can serve beside `reads` per microsecond: one after the
    /// other, each followed by the reads that came during its last stretch. `None` if reads alone
    /// keep it busy.
    pub fn write_capacity(self, times: &DieTimes, reads: f64) -> Option<f64> {
        let reads = Reads::new(times, reads)?;
        let write = self.write(times, &reads);
        Some(1.0 / (write.completion + reads.rate * write.last * reads.busy))
    }

    /// Equation (1) of the paper, section 4.2: how much longer a read that finds a program on the
    /// cells waits on average than if the die were idle, in microseconds, if it comes at a
    /// uniformly random moment of it: `(Tp^2 + Tv^2) / (2 (Tp + Tv))` between phases. Within them a
    /// read waits for one reset, or for what is left of it: `r - r^2 / (Tp + Tv)`, if no phase is
    /// shorter than a reset.
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
