//! Time series of a run in bounded memory: windows of equal width. When all windows are full,
//! neighbors are merged and the width doubles.
//!
//! A window includes events at its end, not at its start. Counts, sums, extremes and busy times are
//! exact; percentiles are read from logarithmic buckets.

use crate::{ByKind, Kind};
use fowler_device::{BySource, Completion, Counters, Device, Doing, Layer, Ledger, Probe, waf};
use fowler_units::{ChannelId, DieId, Id, Nanos, Span};

/// Largest number of time windows of a run. If a longer run needs more, neighboring windows are
/// merged and their width doubles, so it has more than half of this number.
const WINDOWS: usize = 256;
/// Width of the windows before any are merged. A run shorter than a few of these has no time series
/// worth plotting.
const FIRST_WIDTH: Span = Span::us(100);
/// Number of buckets per doubling of latency: a percentile is at most 1/16 (6 %) too high.
const PER_OCTAVE: usize = 16;
const SHIFT: u32 = PER_OCTAVE.ilog2();
const BUCKETS: usize = PER_OCTAVE * (1 + 64 - SHIFT as usize);

/// Sums over the reads, or over the writes, that completed in one time window of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Served {
    /// Number of reads, or of writes, that completed in the time window.
    pub requests: u64,
    /// Sum of the sizes of the requests that completed in the time window, in bytes.
    pub bytes: u64,
    /// Sum of the latencies of the requests that completed in the time window, in nanoseconds.
    pub latency: u128,
    /// Highest latency of the reads, or of the writes, that completed in the time window.
    pub max: Span,
}

impl Served {
    fn add(&mut self, other: &Served) {
        self.requests += other.requests;
        self.bytes += other.bytes;
        self.latency += other.latency;
        self.max = self.max.max(other.max);
    }

    /// Returns the mean latency of the requests that completed in the time window, in microseconds;
    /// `None` if none did.
    pub fn mean_us(&self) -> Option<f64> {
        (self.requests > 0).then(|| self.latency as f64 / self.requests as f64 / 1e3)
    }
}

/// Measurements of a drive in one window of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Window {
    /// Length of this time window of the run; the last window may be shorter than the others.
    pub length: Span,
    /// Requests of each kind, reads and writes, that completed in this time window of the run.
    pub served: ByKind<Served>,
    /// Time that all dies spent on each activity in this time window of the run, in nanoseconds, in
    /// the order of [`Doing::NAMES`].
    pub activity: [u64; Doing::COUNT],
    /// Number of pages programmed in this time window of the run, by source, such as the host or
    /// GC.
    pub programs: BySource<u64>,
    /// Number of blocks erased in this time window of the run.
    pub erases: u64,
    /// Number of times in this time window of the run that a program or erase was suspended for
    /// reads.
    pub suspensions: u64,
}

impl Window {
    fn add(&mut self, other: &Window) {
        self.length += other.length;
        for kind in Kind::ALL {
            self.served[kind].add(&other.served[kind]);
        }
        add_each(&mut self.activity, &other.activity);
        self.programs += other.programs;
        self.erases += other.erases;
        self.suspensions += other.suspensions;
    }

    /// Returns the write amplification in this time window of the run: pages programmed per page
    /// programmed for the host. `None` if no page was programmed for the host.
    pub fn waf(&self) -> Option<f64> {
        waf(&self.programs)
    }
}

fn add_each(sums: &mut [u64], more: &[u64]) {
    for (sum, more) in sums.iter_mut().zip(more) {
        *sum += more;
    }
}

/// The drive's counters and busy times at the beginning of the time window that is being recorded.
#[derive(Clone, Debug)]
struct Reading {
    at: Nanos,
    counters: Counters,
    dies: Vec<Ledger>,
    channels: Vec<Span>,
}

/// A probe that records a run over time.
#[derive(Clone, Debug)]
pub struct OverTime {
    width: Span,
    /// Time at which the time window that is being recorded ends; never before the first request.
    due: Nanos,
    /// Index of the time window that is being recorded.
    open: usize,
    windows: Box<[Window]>,
    /// Number of requests by window, kind and latency bucket.
    buckets: Box<[u32]>,
    /// Time that each die, and each channel, was busy in each window, in nanoseconds.
    die_busy: Vec<u64>,
    channel_busy: Vec<u64>,
    last: Option<Reading>,
}

impl Default for OverTime {
    fn default() -> Self {
        Self::new()
    }
}

impl OverTime {
    /// Returns a time series without measurements.
    pub fn new() -> Self {
        Self {
            width: FIRST_WIDTH,
            due: Nanos::NEVER,
            open: 0,
            windows: vec![Window::default(); WINDOWS].into_boxed_slice(),
            buckets: vec![0; WINDOWS * Kind::ALL.len() * BUCKETS].into_boxed_slice(),
            die_busy: Vec::new(),
            channel_busy: Vec::new(),
            last: None,
        }
    }

    /// Ends the recording of the run over time, with its last time window. Later events are not
    /// recorded.
    pub fn end<L: Layer>(&mut self, device: &Device<L>) {
        if self.last.as_ref().is_some_and(|last| device.now() > last.at) {
            self.close(device, device.now());
            self.open += 1;
        }
        self.due = Nanos::NEVER;
        self.last = None;
    }

    /// Returns the time series of a finished run at half the resolution: half as many windows of
    /// twice the width.
    #[must_use]
    pub fn coarser(&self) -> Self {
        let mut coarser = self.clone();
        coarser.merge();
        coarser
    }

    /// Returns the length of the time windows of the run; only the last one may be shorter.
    pub fn width(&self) -> Span {
        self.width
    }

    /// Returns the windows of a finished run, in order; the first begins with the first request.
    pub fn windows(&self) -> &[Window] {
        &self.windows[..self.open]
    }

    /// Returns a quantile of the latencies of the reads or writes that completed in a time window,
    /// rounded up by at most 6 %; `share` is the quantile, 0 to 1. `None` if no such request
    /// completed.
    pub fn quantile(&self, window: usize, kind: Kind, share: f64) -> Option<Span> {
        let served = &self.windows[window].served[kind];
        let wanted = (share * served.requests as f64).ceil().max(1.0) as u64;
        let mut seen = 0;
        let bucket = self.buckets_of(window, kind).iter().position(|&count| {
            seen += u64::from(count);
            seen >= wanted
        })?;
        Some(Span(upper_bound(bucket)).min(served.max))
    }

    /// Returns the latencies of the reads or writes that completed in a time window, ascending.
    /// Each is rounded up by at most 6 % and comes with its number of requests.
    pub fn latencies(
        &self,
        window: usize,
        kind: Kind,
    ) -> impl Iterator<Item = (Span, u32)> + use<'_> {
        let max = self.windows[window].served[kind].max;
        let buckets = self.buckets_of(window, kind).iter().enumerate();
        let counted = buckets.filter(|(_, count)| **count > 0);
        counted.map(move |(bucket, &count)| (Span(upper_bound(bucket)).min(max), count))
    }

    /// Returns the time that each die was busy in a window, in nanoseconds.
    pub fn die_busy(&self, window: usize) -> &[u64] {
        row(&self.die_busy, window)
    }

    /// Returns the time that each channel transferred data in a window, in nanoseconds.
    pub fn channel_busy(&self, window: usize) -> &[u64] {
        row(&self.channel_busy, window)
    }

    fn buckets_of(&self, window: usize, kind: Kind) -> &[u32] {
        &self.buckets[(window * Kind::ALL.len() + kind as usize) * BUCKETS..][..BUCKETS]
    }

    /// Ends the time window that is being recorded at the time `at`, and stores what the drive's
    /// counters counted since the window began.
    fn close<L: Layer>(&mut self, device: &Device<L>, at: Nanos) {
        let Some(last) = &mut self.last else { return };
        let window = &mut self.windows[self.open];
        window.length = at - last.at;
        let (dies, channels) = (last.dies.len(), last.channels.len());
        let busy = &mut self.die_busy[self.open * dies..][..dies];
        for (index, (then, busy)) in last.dies.iter_mut().zip(busy).enumerate() {
            let now = device.die_times(DieId::new(index), at);
            let since = now.since(then);
            *busy = since.busy().0;
            add_each(&mut window.activity, since.by_activity());
            *then = now;
        }
        let busy = &mut self.channel_busy[self.open * channels..][..channels];
        for (index, (then, busy)) in last.channels.iter_mut().zip(busy).enumerate() {
            let now = device.channel_time(ChannelId::new(index), at);
            *busy = (now - *then).0;
            *then = now;
        }
        let counters = device.counters();
        let (now, then) = (&counters.programs, &last.counters.programs);
        window.programs = BySource::from_fn(|source| now[source] - then[source]);
        window.erases = counters.erases.sum() - last.counters.erases.sum();
        window.suspensions = counters.suspensions - last.counters.suspensions;
        last.at = at;
        last.counters = counters;
    }

    /// Merges each pair of neighboring time windows of the series into one, which frees the second
    /// half of a full table of windows.
    fn merge(&mut self) {
        for window in 0..WINDOWS {
            let (into, first) = (window / 2, window % 2 == 0);
            let whole = self.windows[window];
            if first {
                self.windows[into] = Window::default();
            }
            self.windows[into].add(&whole);
        }
        self.windows[WINDOWS / 2..].fill(Window::default());
        merge_rows(&mut self.buckets);
        merge_rows(&mut self.die_busy);
        merge_rows(&mut self.channel_busy);
        self.open = self.open.div_ceil(2);
        self.width = self.width * 2;
    }
}

/// Returns the values of one time window from a table with a row for each window of the time
/// series.
fn row(columns: &[u64], window: usize) -> &[u64] {
    let width = columns.len() / WINDOWS;
    &columns[window * width..][..width]
}

/// Merges each pair of neighboring rows in a table with a row for each time window of the series,
/// which leaves its second half zero.
fn merge_rows<T: Copy + Default + std::ops::AddAssign>(table: &mut [T]) {
    let width = table.len() / WINDOWS;
    for window in 0..WINDOWS {
        for column in 0..width {
            let value = std::mem::take(&mut table[window * width + column]);
            table[window / 2 * width + column] += value;
        }
    }
}

#[inline]
fn bucket_of(Span(latency): Span) -> usize {
    if latency < PER_OCTAVE as u64 {
        return latency as usize;
    }
    let octave = latency.ilog2() - SHIFT;
    PER_OCTAVE * octave as usize + (latency >> octave) as usize
}

/// Returns the largest latency of a bucket, in nanoseconds.
fn upper_bound(bucket: usize) -> u64 {
    match bucket.checked_sub(PER_OCTAVE) {
        None => bucket as u64,
        Some(above) => {
            let octave = above / PER_OCTAVE;
            let first = ((PER_OCTAVE + above % PER_OCTAVE) as u64) << octave;
            first + ((1 << octave) - 1)
        }
    }
}

impl<L: Layer> Probe<L> for OverTime {
    #[inline]
    fn completed(&mut self, completion: &Completion) {
        let Some(kind) = Kind::of(completion.io.op) else { return };
        let latency = completion.latency();
        let served = &mut self.windows[self.open].served[kind];
        served.requests += 1;
        served.bytes += u64::from(completion.io.size);
        served.latency += u128::from(latency.0);
        served.max = served.max.max(latency);
        let row = (self.open * Kind::ALL.len() + kind as usize) * BUCKETS;
        self.buckets[row + bucket_of(latency)] += 1;
    }

    fn begun(&mut self, device: &Device<L>) {
        let geometry = &device.layout().geometry;
        let (dies, channels) = (geometry.dies() as usize, geometry.channels as usize);
        let now = device.now();
        self.die_busy = vec![0; WINDOWS * dies];
        self.channel_busy = vec![0; WINDOWS * channels];
        self.last = Some(Reading {
            at: now,
            counters: device.counters(),
            dies: (0..dies).map(|die| device.die_times(DieId::new(die), now)).collect(),
            channels: (0..channels)
                .map(|channel| device.channel_time(ChannelId::new(channel), now))
                .collect(),
        });
        self.due = now + self.width;
    }

    #[inline]
    fn due(&self) -> Nanos {
        self.due
    }

    fn sampled(&mut self, device: &Device<L>) {
        self.close(device, self.due);
        self.open += 1;
        if self.open == WINDOWS {
            self.merge();
        }
        self.due = self.due + self.width;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_holds_what_falls_into_it_and_is_narrow() {
        assert_eq!(bucket_of(Span(u64::MAX)), BUCKETS - 1);
        for bucket in 0..BUCKETS {
            let last = upper_bound(bucket);
            assert_eq!(bucket_of(Span(last)), bucket);
            let next = last.checked_add(1);
            assert!(next.is_none_or(|next| bucket_of(Span(next)) == bucket + 1), "{bucket}");
        }
        for exponent in 4..63 {
            let first = 1u64 << exponent;
            assert!(upper_bound(bucket_of(Span(first))) - first <= first / PER_OCTAVE as u64);
        }
    }
}
