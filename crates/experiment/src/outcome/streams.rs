//! Latencies and rates of each request stream, where several streams share a drive.

use fowler_units::Span;

/// Latencies and counts of one kind of request in a request stream, as the host sees them.
#[derive(Clone, Debug, PartialEq)]
pub struct Seen {
    /// Name of the request stream, such as that of a job.
    pub stream: String,
    /// The kind of requests: `read`, `write` or `trim`.
    pub kind: &'static str,
    /// Number of requests of this kind in the request stream.
    pub requests: u64,
    /// Number of bytes that the stream's requests of this kind read, write or trim.
    pub bytes: u64,
    /// Length of the simulated time in which the stream ran and its requests were counted, for IOPS
    /// and throughput.
    pub over: Span,
    /// Mean latency of the stream's requests in microseconds, time in the host included.
    pub mean_us: f64,
    /// Latency of the stream's requests, 99th percentile, in microseconds; `None` if latencies are
    /// not recorded.
    pub p99_us: Option<f64>,
    /// Longest latency of the stream's requests, in microseconds.
    pub max_us: f64,
    /// Latencies in ascending order, each with the number of requests that took longer; empty if
    /// they are not recorded.
    pub later_than: Vec<(Span, u64)>,
}

impl Seen {
    /// Returns the requests of this kind per second in the request stream; `None` if the counted
    /// time is zero.
    pub fn iops(&self) -> Option<f64> {
        (self.over > Span::ZERO).then(|| self.requests as f64 / self.over.as_s())
    }

    /// Returns the stream's throughput in megabytes (10^6 bytes) per second; `None` if the time is
    /// zero.
    pub fn mb_per_s(&self) -> Option<f64> {
        (self.over > Span::ZERO).then(|| self.bytes as f64 / 1e6 / self.over.as_s())
    }
}
