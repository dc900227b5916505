//! One element of a test: a drive under one stimulus for a time, and the measurements.

use super::bench_drive::Measured;
use super::stimulus::Over;
use fowler_device::blame::Part;
use fowler_device::{Completion, Counters, Doing, Layer, Probe, Source};
use fowler_experiment::Percentile;
use fowler_experiment::outcome::write_amplification::{EraseUnit, Withheld};
use fowler_metrics::Latencies;
use fowler_units::{DieId, HostOp, Id, Nanos, Span};

/// Measurements of an element: a load that a test keeps on the drive for a time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Element {
    /// Number of requests that completed under this load of the test.
    pub requests: u64,
    /// Number of bytes of the requests that completed under this load of the test.
    pub bytes: u64,
    /// Number of bytes of the writes that completed under this load of the test.
    pub written: u64,
    /// Mean response time of reads and writes together while this element (one load) of the test
    /// ran, in microseconds; `None` without requests.
    pub seconds: f64,
    /// Mean response time of reads and writes together, in microseconds; `None` without requests.
    pub mean_us: Option<f64>,
    /// Response time of reads and writes together, 99th percentile, in microseconds; `None` if
    /// unknown.
    pub p99_us: Option<f64>,
    /// Response time of reads and writes together, 99.999th percentile, in microseconds; `None` for
    /// fewer than 100,000 requests.
    pub p99999_us: Option<f64>,
    /// Longest response time of reads and writes together, in microseconds; `None` if unknown.
    pub max_us: Option<f64>,
    /// Number of pages programmed under this load of the test, in total and for the host.
    pub programs: [u64; 2],
    /// Number of blocks, or superblocks, erased under this load of the test.
    pub erases: u64,
    /// Number of pages that the write buffer answered or absorbed under this load of the test, and
    /// number of all pages that requests touched.
    pub erase_unit: EraseUnit,
    /// Number of pages that the write buffer answered or absorbed, and number of all pages that
    /// requests touched.
    pub buffer: [u64; 2],
    /// Time that requests spent on each cause of latency, such as waiting for garbage collection,
    /// in ns summed over all requests, in the order of [`Part::ALL`].
    pub blame: Vec<u64>,
    /// Times that dies spent on each activity, in nanoseconds summed over all dies, in the order of
    /// [`Doing::NAMES`].
    pub activity: Vec<u64>,
}

impl Element {
    /// Returns the requests completed per second under this load of the test.
    pub fn iops(&self) -> f64 {
        per(self.requests as f64, self.seconds)
    }

    /// Returns the throughput under this load of the test, in megabytes (10^6 bytes) per second.
    pub fn mb_s(&self) -> f64 {
        per(self.bytes as f64 / 1e6, self.seconds)
    }

    /// Returns the write amplification under one load of a test of the drive: pages programmed per
    /// page programmed for the host; `None` if none was programmed for the host.
    pub fn waf(&self) -> Option<f64> {
        let [all, host] = self.programs;
        (host > 0).then(|| all as f64 / host as f64)
    }

    /// Returns the reason why the write amplification under this load says little about steady use,
    /// such as too few erased blocks; `None` if there is none.
    pub fn withheld(&self) -> Option<Withheld> {
        let [all, host] = self.programs;
        (host > 0).then(|| Withheld::of(all, false, self.erases, self.erase_unit)).flatten()
    }

    /// Returns write amplification under this load of the test; `None` if the drive erased too
    /// little for it to be that of steady use, or if nothing was programmed for the host.
    pub fn steady_waf(&self) -> Option<f64> {
        self.waf().filter(|_| self.withheld().is_none())
    }

    /// Returns the share of the requests' pages that the write buffer answered or absorbed; `None`
    /// if requests touched no page.
    pub fn buffer_share(&self) -> Option<f64> {
        let [hits, pages] = self.buffer;
        (pages > 0).then(|| hits as f64 / pages as f64)
    }

    /// Returns the share of all response times under this load of the test that requests spent on a
    /// cause of latency, 0 to 1.
    pub fn share(&self, part: Part) -> f64 {
        let all: u64 = self.blame.iter().sum();
        let own = self.blame.get(part as usize).copied().unwrap_or(0);
        if all == 0 { 0.0 } else { own as f64 / all as f64 }
    }

    /// Returns the share of the time of all dies that they spent on an activity under this load of
    /// the test, 0 to 1.
    pub fn die_share(&self, doing: usize) -> f64 {
        let all: u64 = self.activity.iter().sum();
        let own = self.activity.get(doing).copied().unwrap_or(0);
        if all == 0 { 0.0 } else { own as f64 / all as f64 }
    }

    /// Returns the share of the time of all dies that they spent on garbage collection under this
    /// load of the test, 0 to 1.
    pub fn gc_share(&self) -> f64 {
        let names = Doing::NAMES.iter().enumerate();
        let own = names.filter(|(_, name)| name.starts_with("GC ")).map(|(place, _)| place);
        own.map(|place| self.die_share(place)).sum()
    }

    /// Returns the parts of response time that requests spent time on, with their shares, the
    /// largest first.
    pub fn causes(&self) -> Vec<(Part, f64)> {
        let mut parts: Vec<(Part, f64)> =
            Part::ALL.into_iter().map(|part| (part, self.share(part))).collect();
        parts.retain(|(_, share)| *share > 0.0);
        // The sort is stable: equal shares stay in the order of the parts.
        parts.sort_by(|(_, one), (_, other)| other.total_cmp(one));
        parts
    }
}

fn per(amount: f64, seconds: f64) -> f64 {
    if seconds > 0.0 { amount / seconds } else { 0.0 }
}

/// Sums over the requests of an element, one load that a test keeps on the drive for a time, while
/// it runs.
#[derive(Clone, Debug)]
pub(super) struct Tally {
    pub latencies: Latencies,
    blame: [u64; Part::COUNT],
    bytes: u64,
    written: u64,
    before: Counters,
    activity: [u64; Doing::COUNT],
    from: Nanos,
}

/// Returns the time of all dies by activity, in nanoseconds, up to `at`.
fn activity(device: &impl Measured, at: Nanos) -> [u64; Doing::COUNT] {
    let mut sums = [0; Doing::COUNT];
    for die in 0..device.dies() {
        let times = device.die_times(DieId::new(die as usize), at);
        for (sum, own) in sums.iter_mut().zip(times.by_activity()) {
            *sum += own;
        }
    }
    sums
}

impl Tally {
    /// Returns an empty tally of requests for a load of a test that begins at the drive's present
    /// simulated time.
    pub fn new(device: &impl Measured) -> Tally {
        Tally::begun(device, device.now())
    }

    /// Returns an empty tally of the requests under a load of a test that began at `from`. The
    /// drive's present counters are those before the load.
    pub fn begun(device: &impl Measured, from: Nanos) -> Tally {
        let (latencies, before) = (Latencies::new(), device.counters());
        let activity = activity(device, from);
        Tally { latencies, blame: [0; Part::COUNT], bytes: 0, written: 0, before, activity, from }
    }

    /// Adds a completed request. In debug builds, the parts of its latency must sum to its latency.
    #[inline]
    pub fn add(&mut self, completion: &Completion) {
        let latency = completion.latency();
        debug_assert_eq!(completion.blame.total(), latency, "{completion:?}");
        self.latencies.record(latency);
        for (sum, part) in self.blame.iter_mut().zip(completion.blame.parts()) {
            *sum += part.0;
        }
        if matches!(completion.io.op, HostOp::Read | HostOp::Write) {
            let size = u64::from(completion.io.size);
            self.bytes += size;
            self.written += if completion.io.op == HostOp::Write { size } else { 0 };
        }
    }

    /// Returns the measurements of a test's load from its start up to the drive's present simulated
    /// time.
    pub fn element(&self, device: &impl Measured) -> Element {
        self.element_until(device, device.now())
    }

    /// Returns the measurements of the load from its start until `now`.
    pub fn element_until(&self, device: &impl Measured, now: Nanos) -> Element {
        let counted = device.counters().since(&self.before);
        let us = |percentile| self.latencies.percentile(percentile).map(Span::as_us);
        let hits = counted.buffer_read_hits + counted.buffer_write_hits;
        let activity = activity(device, now);
        let activity = activity.iter().zip(self.activity).map(|(now, then)| now - then);
        Element {
            requests: self.latencies.count(),
            bytes: self.bytes,
            written: self.written,
            seconds: (now - self.from).as_s(),
            mean_us: self.latencies.mean_us(),
            p99_us: us(Percentile::P99),
            p99999_us: us(Percentile::P99999),
            max_us: self.latencies.max().map(Span::as_us),
            programs: [counted.programs.sum(), counted.programs[Source::Host]],
            erases: counted.erases.sum(),
            erase_unit: device.erase_unit(),
            buffer: [hits, counted.pages_read + counted.pages_written],
            blame: self.blame.to_vec(),
            activity: activity.collect(),
        }
    }
}

/// A probe that tallies the requests under one load of a test and ends the load after a set time.
pub(super) struct Watch<'a> {
    pub tally: Tally,
    pub until: Nanos,
    pub over: &'a Over<'a>,
}

impl<L: Layer> Probe<L> for Watch<'_> {
    #[inline]
    fn completed(&mut self, completion: &Completion) {
        self.tally.add(completion);
        if completion.done >= self.until {
            self.over.set();
        }
    }
}
