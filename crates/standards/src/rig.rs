//! The drive on the test bench: purged, preconditioned, and put under one stimulus after the other.
//! The state of the drive carries over from each stimulus to the next.

use super::bench_drive::{BenchDrive, Measured};
use super::element::{Element, Tally, Watch};
use super::records::Records;
use super::stimulus::{ActiveRange, Addresses, Over, Requests, Stimulus};
use fowler_device::policy::redundancy::RedundancyKind;
use fowler_device::policy::scrub::ScrubKind;
use fowler_device::policy::throttle::ThrottleKind;
use fowler_device::reliability::ModelKind;
use fowler_device::{Ack, Config, Pacing};
use fowler_experiment::diagnostic::Diagnostics;
use fowler_experiment::outcome::write_amplification::Withheld;
use fowler_experiment::progress::Control;
use fowler_units::{Nanos, Span};

/// A drive under test, with the rules by which it is tested.
#[derive(Clone)]
pub(super) struct Rig<'a> {
    pub device: BenchDrive,
    pub range: ActiveRange,
    /// Simulated length of what a PTS test counts as a minute: 60 s unless the user shortens it.
    pub minute: Span,
    /// Seed of the tests; each load of each round draws its requests from a random stream of its
    /// own.
    pub seed: u64,
    /// Condition under which a test may measure reads on a copy of the drive, so that they run in
    /// parallel with later loads.
    pub reads_apart: ReadsApart,
    pub control: Control<'a>,
}

/// Record of workload-independent preconditioning, which writes the drive in sequence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Preconditioned {
    /// Size of a preconditioning write in bytes.
    pub size: u32,
    /// Number of bytes that preconditioning wrote.
    pub bytes: u64,
    /// Simulated time that the preconditioning of the drive under test took.
    pub simulated: Span,
    /// Pages programmed in preconditioning for each page programmed for the host; `None` if hardly
    /// anything was erased.
    pub waf: Option<f64>,
}

/// Largest number of outstanding requests in a closed loop, which is the limit of the workload
/// keys.
pub(super) const OUTSTANDING_MOST: u32 = 65_536;

/// Condition under which the reads of a test are measured on a copy of the drive, simulated in
/// parallel with the test's later loads on the drive itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReadsApart {
    /// Reads of a test never run on a copy of the drive, because reads or elapsed time change the
    /// drive's state.
    Never,
    /// Reads of a test always run on a copy of the drive, since they do not change its state and an
    /// idle drive does no work. The drive itself is idle for as long.
    Resting,
    /// Reads of a test run on a copy of the drive only if so many are outstanding that no die is
    /// idle for long; with fewer, GC would run in the idle time and change the drive's state.
    Crowded,
}

/// Number of outstanding requests per die above which dies are idle too rarely for background work.
const CROWD: u32 = 8;

/// Returns the condition under which the reads of a test may run on a copy of the drive. That needs
/// reads that do not change the drive's state: they neither disturb nor age cells, cause no caching
/// or moving of data, and no SLC cache is emptied in idle time.
fn reads_apart(config: &Config) -> ReadsApart {
    let cells = matches!(config.reliability.model, ModelKind::Off | ModelKind::ByVoltage)
        && config.reliability.uber == 0.0;
    let reads = !config.buffer.cache_reads && config.hotness.detectors == 0;
    let aged = config.aging.is_on() || config.slc.is_on();
    let parity = match config.redundancy.name {
        RedundancyKind::Unprotected => true,
        // Parity by position is programmed with its data, and reads do not concern it.
        RedundancyKind::Raid5 => config.ftl.has_superblocks(),
        _ => false,
    };
    let time =
        config.scrub.name == ScrubKind::Off && parity && config.throttle.name == ThrottleKind::Off;
    if !(cells && reads && time && !aged) || config.policies.labels().next().is_some() {
        ReadsApart::Never
    } else if config.gc.background_below <= config.gc.foreground_below {
        ReadsApart::Resting
    } else if config.buffer.ack == Ack::OnProgram {
        ReadsApart::Crowded
    } else {
        ReadsApart::Never
    }
}

impl<'a> Rig<'a> {
    /// Returns a purged drive: every page is unwritten. `None` if it was stopped.
    ///
    /// # Errors
    /// Everything that is wrong with the drive.
    pub fn purged(
        name: &str,
        config: &Config,
        (range, minute): (ActiveRange, Span),
        control: Control<'a>,
    ) -> Result<Option<Rig<'a>>, Diagnostics> {
        let device = match BenchDrive::new(name, config, control) {
            Err(_) if control.stopped() => return Ok(None),
            other => other?,
        };
        let (seed, reads_apart) = (config.seed, reads_apart(config));
        Ok(Some(Rig { device, range, minute, seed, reads_apart, control }))
    }

    /// Workload-independent preconditioning (WIPC): writes `bytes` in sequential requests of
    /// `size`, one after the other. `None` if it was stopped.
    pub fn write_sequentially(&mut self, size: u32, bytes: u64) -> Option<Preconditioned> {
        let stimulus = Stimulus::of(Addresses::Sequential, 0.0, size);
        let over = Over::unless(self.control.stop);
        let requests =
            Requests::new(&stimulus, self.range, (self.seed, "pts/wipc"), &over).take_bytes(bytes);
        let (from, before) = (self.device.now(), self.device.counters());
        self.device.run(requests, Pacing::Closed { depth: 1 }, &mut ());
        let simulated = self.device.now() - from;
        let counted = self.device.counters().since(&before);
        let known = Withheld::of_counters(&counted, self.device.erase_unit()).is_none();
        let waf = counted.waf().filter(|_| known);
        self.unless_stopped(Preconditioned { size, bytes, simulated, waf })
    }

    /// Keeps `depth` requests outstanding on the drive for a time, and then waits until all are
    /// answered. `None` if stopped.
    pub fn element(
        &mut self,
        stimulus: &Stimulus,
        depth: u32,
        length: Span,
        name: &str,
    ) -> Option<Element> {
        self.measure(stimulus, depth, length, name).map(|tally| tally.element(&self.device))
    }

    /// Keeps `depth` requests outstanding on the drive for a time, then waits until all are done.
    /// Returns counts, times and the distribution of response times of these requests; `None` if
    /// stopped.
    pub fn measure(
        &mut self,
        stimulus: &Stimulus,
        depth: u32,
        length: Span,
        name: &str,
    ) -> Option<Tally> {
        let over = Over::unless(self.control.stop);
        let requests = Requests::new(stimulus, self.range, (self.seed, name), &over);
        let until = self.device.now() + length;
        let mut watch = Watch { tally: Tally::new(&self.device), until, over: &over };
        let pacing = Pacing::Closed { depth: depth.clamp(1, OUTSTANDING_MOST) };
        self.device.run(requests, pacing, &mut watch);
        let tally = watch.tally;
        self.unless_stopped(tally)
    }

    /// Keeps `depth` requests outstanding on the drive without a pause, and measures each minute.
    /// The load ends when `ends`, called after every minute with all minutes so far, returns true.
    /// `None` if stopped.
    pub fn minutes(
        &mut self,
        stimulus: &Stimulus,
        depth: u32,
        name: &str,
        ends: &mut dyn FnMut(&[Element]) -> bool,
    ) -> Option<Vec<Element>> {
        let over = Over::unless(self.control.stop);
        let requests = Requests::new(stimulus, self.range, (self.seed, name), &over);
        let mut records = Records::new(&self.device, self.minute, &over, ends);
        let pacing = Pacing::Closed { depth: depth.clamp(1, OUTSTANDING_MOST) };
        self.device.run(requests, pacing, &mut records);
        let minutes = records.all;
        self.unless_stopped(minutes)
    }

    /// Returns a copy of the drive on which a test measures reads with at least `fewest`
    /// outstanding; `None` if they must run on the drive itself. If reads never change the drive's
    /// state, the drive itself then idles for the `minutes` that they take.
    pub fn reader(&mut self, fewest: u32, minutes: u64) -> Option<Rig<'a>> {
        let crowd = self.device.layout().geometry.dies().saturating_mul(CROWD);
        match self.reads_apart {
            ReadsApart::Never => None,
            ReadsApart::Crowded if fewest < crowd => None,
            ReadsApart::Crowded => Some(self.clone()),
            ReadsApart::Resting => {
                let reader = self.clone();
                self.rest(self.of_minutes(minutes));
                Some(reader)
            }
        }
    }

    /// Leaves the drive idle for a time, in which it may do background work.
    pub fn rest(&mut self, length: Span) {
        let until = self.device.now() + length;
        self.device.rest_until(until);
    }

    /// Returns the simulated time that stands for `minutes` minutes of a test: 60 s each, or less
    /// in tests that the user has shortened.
    pub fn of_minutes(&self, minutes: u64) -> Span {
        self.minute * minutes
    }

    /// Returns the simulated time for `seconds` seconds of a test. It is shorter than `seconds` if
    /// the user let a minute of the test last less than 60 s (`--minute`).
    pub fn of_seconds(&self, seconds: u64) -> Span {
        Span(
            u64::try_from(u128::from(self.minute.0) * u128::from(seconds) / 60).unwrap_or(u64::MAX),
        )
    }

    /// Returns the drive's simulated time so far.
    pub fn simulated(&self) -> Span {
        self.device.now() - Nanos::ZERO
    }

    fn unless_stopped<T>(&self, value: T) -> Option<T> {
        (!self.control.stopped()).then_some(value)
    }
}
