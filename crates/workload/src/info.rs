//! Exact summary statistics of a workload, gathered in one pass.

use crate::extents::Extents;
use crate::{DeviceChoice, Format, TraceError, TraceReader};
use fowler_units::{ByOp, Bytes, HostIo, HostOp, Nanos, Span};
use std::collections::BTreeMap;

/// Page size for counting the footprint of a workload, in bytes.
const PAGE: u64 = 4096;
/// One second in nanoseconds, the window for the peak rate.
const SECOND: u64 = 1_000_000_000;
/// Assumed service times of a device for which the idle share is reported.
const SERVICE_TIMES: [Span; 3] = [Span::us(100), Span::ms(1), Span::ms(10)];
/// Number of request sizes that a summary lists, the most common first.
const COMMON_SIZES: usize = 8;
/// Number of requests that a summary shows, from the first of the workload.
const FIRST: usize = 3;

/// Share of time that a device serving one request at a time would be idle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IdleShare {
    /// Service time that every request is assumed to take, from which the idle time is computed.
    pub service: Span,
    /// Share of time from the first arrival to the last completion in which the device is idle, 0
    /// to 1.
    pub share: f64,
}

/// A request size and how common it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SizeUse {
    /// Size of a request, in bytes.
    pub size: u32,
    /// Number of reads, writes and trims of this size.
    pub requests: u64,
    /// Share of the requests of this size among all reads, writes and trims, from 0 to 1.
    pub share: f64,
}

/// Summary statistics of a workload.
#[derive(Clone, Debug, PartialEq)]
pub struct TraceInfo {
    /// Format of the trace; `None` for a generated workload.
    pub format: Option<Format>,
    /// Arrival of the first request, before times are shifted to start at 0.
    pub first: Nanos,
    /// Time from the first arrival of the workload to the last.
    pub span: Span,
    /// Number of requests in the workload, by operation.
    pub requests: ByOp<u64>,
    /// Bytes that the workload's requests cover, by operation.
    pub bytes: ByOp<u64>,
    /// Mean requests per second over the whole span of the workload; zero if the span is zero.
    pub mean_rate: f64,
    /// Largest number of requests in any one-second window; windows are counted from the first
    /// request.
    pub peak_rate: u64,
    /// Most common request sizes, the most common first.
    pub sizes: Vec<SizeUse>,
    /// Number of different request sizes in the workload.
    pub different_sizes: usize,
    /// Footprint of the workload: bytes in the distinct 4 KiB pages that its requests touch.
    pub footprint: Bytes,
    /// End of the request that reaches the highest address, in bytes.
    pub highest_byte: u64,
    /// Share of requests that begin where the previous request ended, 0 to 1.
    pub sequential_share: f64,
    /// Mean time between two arrivals in a row, in nanoseconds.
    pub interarrival_mean_ns: f64,
    /// The coefficient of variation of the time between arrivals: 0 for fixed intervals, 1 for
    /// Poisson arrivals, more for bursts.
    pub interarrival_cv: f64,
    /// Share of time that a device would be idle, for three assumed service times.
    pub idle: [IdleShare; 3],
    /// The first requests of the workload, at most three.
    pub first_requests: Vec<HostIo>,
}

impl TraceInfo {
    /// Reads a trace to its end and summarizes it.
    ///
    /// # Errors
    /// Any error of the reader.
    pub fn of(reader: &mut TraceReader) -> Result<TraceInfo, TraceError> {
        let format = reader.format();
        TraceInfo::gather(Some(format), reader)
    }

    /// Reads a trace of several devices to its end, opened with [`DeviceChoice::Each`]. Returns the
    /// summary of each device by its number, and of all devices together. Footprints add up; a
    /// request counts as sequential only after a request of the same device.
    ///
    /// # Errors
    ///
    /// Any error of the reader.
    pub fn of_each(
        reader: &mut TraceReader,
    ) -> Result<(BTreeMap<u64, TraceInfo>, TraceInfo), TraceError> {
        debug_assert_eq!(reader.options().device, DeviceChoice::Each);
        let format = Some(reader.format());
        let (mut each, mut all) = (BTreeMap::new(), Gathering::new());
        while let Some(request) = reader.next() {
            let request = request?;
            each.entry(reader.device()).or_insert_with(Gathering::new).add(&request);
            all.add_but_place(&request);
        }
        let mut devices = BTreeMap::new();
        let mut touched = Bytes(0);
        for (device, gathering) in each {
            all.sequential += gathering.sequential;
            let info = gathering.finish(format)?;
            touched = Bytes(touched.0.saturating_add(info.footprint.0));
            devices.insert(device, info);
        }
        let all = TraceInfo { footprint: touched, ..all.finish(format)? };
        Ok((devices, all))
    }

    /// Summarizes any source of requests.
    ///
    /// # Errors
    /// Any error of the source, or an error if it has no requests.
    pub fn gather(
        format: Option<Format>,
        source: impl IntoIterator<Item = Result<HostIo, TraceError>>,
    ) -> Result<TraceInfo, TraceError> {
        let mut gathering = Gathering::new();
        for request in source {
            gathering.add(&request?);
        }
        gathering.finish(format)
    }

    /// Returns the number of requests of the workload, over all operations.
    pub fn total_requests(&self) -> u64 {
        self.requests.sum()
    }

    /// Returns the share of reads among reads and writes, 0 to 1; zero if there are none.
    pub fn read_share(&self) -> f64 {
        let [reads, writes, ..] = self.requests.into_array();
        ratio(reads as f64, (reads + writes) as f64)
    }

    /// Returns the mean size of an operation's requests, in bytes; `None` if there are none.
    pub fn mean_size(&self, op: HostOp) -> Option<f64> {
        let count = self.requests[op];
        (count > 0).then(|| self.bytes[op] as f64 / count as f64)
    }

    /// Describes the units and read/write codes of the trace's format.
    pub fn units(&self) -> &'static str {
        self.format.map_or("generated", Format::about)
    }
}

/// Returns a quotient, or zero if the divisor is zero.
fn ratio(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

/// Running counts of a workload from which its summary is computed.
struct Gathering {
    first: Nanos,
    last: Nanos,
    requests: ByOp<u64>,
    bytes: ByOp<u64>,
    second: u64,
    in_second: u64,
    peak: u64,
    sizes: BTreeMap<u32, u64>,
    extents: Extents,
    highest: u64,
    previous_end: Option<u64>,
    sequential: u64,
    /// Mean and sum of squared deviations of the gaps between arrivals in nanoseconds, by Welford's
    /// recurrence: numerically stable over a week of nanoseconds, where a plain sum of squares is
    /// not.
    gap_mean: f64,
    gap_squares: f64,
    /// For each assumed service time: when the device becomes free, and how long it was busy.
    free_at: [Span; 3],
    worked: [Span; 3],
    shown: Vec<HostIo>,
}

impl Gathering {
    fn new() -> Gathering {
        Gathering {
            first: Nanos::ZERO,
            last: Nanos::ZERO,
            requests: ByOp::default(),
            bytes: ByOp::default(),
            second: 0,
            in_second: 0,
            peak: 0,
            sizes: BTreeMap::new(),
            extents: Extents::new(PAGE),
            highest: 0,
            previous_end: None,
            sequential: 0,
            gap_mean: 0.0,
            gap_squares: 0.0,
            free_at: [Span::ZERO; 3],
            worked: [Span::ZERO; 3],
            shown: Vec::new(),
        }
    }

    fn total(&self) -> u64 {
        self.requests.sum()
    }

    fn add(&mut self, request: &HostIo) {
        self.add_but_place(request);
        if request.op == HostOp::Flush {
            return;
        }
        let end = request.offset + u64::from(request.size);
        self.sequential += u64::from(self.previous_end == Some(request.offset));
        self.previous_end = Some(end);
        self.extents.add(request);
    }

    /// Counts a request's time, operation and size, without its address.
    fn add_but_place(&mut self, request: &HostIo) {
        self.add_time(request.at);
        if self.shown.len() < FIRST {
            self.shown.push(*request);
        }
        self.requests[request.op] += 1;
        self.bytes[request.op] += u64::from(request.size);
        if request.op == HostOp::Flush {
            return;
        }
        *self.sizes.entry(request.size).or_default() += 1;
        self.highest = self.highest.max(request.offset + u64::from(request.size));
    }

    fn add_time(&mut self, at: Nanos) {
        let before = self.total();
        if before == 0 {
            self.first = at;
        } else {
            let gap = (at - self.last).0 as f64;
            let deviation = gap - self.gap_mean;
            self.gap_mean += deviation / before as f64;
            self.gap_squares += deviation * (gap - self.gap_mean);
        }
        self.last = at;
        let since_first = at - self.first;
        if since_first.0 / SECOND != self.second {
            self.second = since_first.0 / SECOND;
            self.in_second = 0;
        }
        self.in_second += 1;
        self.peak = self.peak.max(self.in_second);
        for (index, service) in SERVICE_TIMES.into_iter().enumerate() {
            let start = self.free_at[index].max(since_first);
            let served = |from: Span| Span(from.0.saturating_add(service.0));
            self.free_at[index] = served(start);
            self.worked[index] = served(self.worked[index]);
        }
    }

    fn finish(self, format: Option<Format>) -> Result<TraceInfo, TraceError> {
        let total = self.total();
        if total == 0 {
            return Err(TraceError::one(
                "trace",
                fowler_units::Diagnostic::of("the workload has no requests"),
            ));
        }
        let span = self.last - self.first;
        let with_size: u64 = self.sizes.values().sum();
        let mut sizes: Vec<SizeUse> = self
            .sizes
            .iter()
            .map(|(&size, &requests)| {
                let share = ratio(requests as f64, with_size as f64);
                SizeUse { size, requests, share }
            })
            .collect();
        let different_sizes = sizes.len();
        sizes.sort_by_key(|size| std::cmp::Reverse(size.requests));
        sizes.truncate(COMMON_SIZES);
        let idle = std::array::from_fn(|index| IdleShare {
            service: SERVICE_TIMES[index],
            share: 1.0 - ratio(self.worked[index].0 as f64, self.free_at[index].0 as f64),
        });
        let variance = ratio(self.gap_squares, (total - 1) as f64);
        Ok(TraceInfo {
            format,
            first: self.first,
            span,
            requests: self.requests,
            bytes: self.bytes,
            mean_rate: ratio(total as f64, span.as_s()),
            peak_rate: self.peak,
            sizes,
            different_sizes,
            footprint: Bytes(self.extents.into_dense().pages().saturating_mul(PAGE)),
            highest_byte: self.highest,
            sequential_share: ratio(self.sequential as f64, with_size as f64),
            interarrival_mean_ns: self.gap_mean,
            interarrival_cv: ratio(variance.sqrt(), self.gap_mean),
            idle,
            first_requests: self.shown,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info(requests: &[(u64, u64, u32, HostOp)]) -> TraceInfo {
        let source = requests
            .iter()
            .map(|&(at, offset, size, op)| Ok(HostIo::new(op, Nanos(at), offset, size)));
        TraceInfo::gather(None, source).unwrap()
    }

    #[test]
    fn counts_are_exact() {
        use HostOp::{Flush, Read, Trim, Write};
        let info = info(&[
            (SECOND, 0, 4096, Read),
            (SECOND + 5, 4096, 4096, Write),
            (2 * SECOND, 0, 0, Flush),
            (2 * SECOND, 8192, 512, Write),
            (3 * SECOND, 100, 1, Trim),
        ]);
        assert_eq!(info.requests, [1, 2, 1, 1].into());
        assert_eq!(info.bytes, [4096, 4608, 1, 0].into());
        assert_eq!((info.first, info.span), (Nanos(SECOND), Span(2 * SECOND)));
        assert_eq!((info.footprint, info.highest_byte), (Bytes(12_288), 8704));
        assert_eq!((info.peak_rate, info.mean_rate), (2, 2.5));
        assert_eq!((info.sizes[0].size, info.sizes[0].requests), (4096, 2));
        assert_eq!((info.sequential_share, info.different_sizes), (0.5, 3));
        assert_eq!(info.read_share(), 1.0 / 3.0);
        assert_eq!((info.mean_size(Write), info.mean_size(Trim)), (Some(2304.0), Some(1.0)));
        assert_eq!(info.first_requests.len(), 3);
    }

    #[test]
    fn a_clock_has_no_variation_and_a_burst_has_much() {
        let clock: Vec<_> = (0..1000).map(|n| (n * 1_000_000, 0, 1, HostOp::Read)).collect();
        let clock = info(&clock);
        assert_eq!((clock.interarrival_mean_ns, clock.interarrival_cv), (1e6, 0.0));
        assert!((clock.idle[0].share - 0.9).abs() < 1e-3 && clock.idle[1].share == 0.0);
        let burst: Vec<_> = (0..1000).map(|n| (n / 100 * SECOND, 0, 1, HostOp::Read)).collect();
        assert!(info(&burst).interarrival_cv > 9.0);
    }

    #[test]
    fn one_request_and_no_time_divide_nothing_by_zero() {
        let info = info(&[(7, 0, 1, HostOp::Read)]);
        assert_eq!((info.span, info.mean_rate, info.interarrival_cv), (Span::ZERO, 0.0, 0.0));
        assert!(info.idle.iter().all(|idle| idle.share == 0.0));
        assert!(TraceInfo::gather(None, []).is_err());
    }
}
