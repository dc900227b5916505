//! The probe of every run: latencies and blame of reads and writes, and the bytes transferred.

use crate::bin::Bin;
use crate::{BlameBands, Latencies};
use fowler_device::{Completion, Layer, Probe};
use fowler_units::HostOp;

/// Kind of request whose latency is reported: reads or writes of the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The host's read requests.
    Read,
    /// The host's write requests.
    Write,
}

impl Kind {
    /// The two kinds of requests that move data: reads, then writes.
    pub const ALL: [Kind; 2] = [Kind::Read, Kind::Write];

    /// Returns the kind, read or write, of a host command; `None` for trims and flushes, which move
    /// no data.
    #[inline]
    pub fn of(op: HostOp) -> Option<Kind> {
        match op {
            HostOp::Read => Some(Kind::Read),
            HostOp::Write => Some(Kind::Write),
            HostOp::Trim | HostOp::Flush => None,
        }
    }

    /// Returns the name of the kind of request in JSON and tables: `read` or `write`.
    pub fn name(self) -> &'static str {
        ["read", "write"][self as usize]
    }
}

fowler_units::enumerated! {
    Kind:
    /// Pair of values: one for the host's reads and one for the host's writes.
    pub ByKind
}

/// Latencies, blame (latency by cause) and transferred bytes of all reads or of all writes of a
/// run.
#[derive(Clone, Debug, Default)]
struct Measured {
    latencies: Latencies,
    blame: BlameBands,
    bytes: u64,
}

/// Records the latencies, their causes and the bytes of all completed requests of a run, as counts
/// and sums in tables of fixed size.
#[derive(Clone, Debug, Default)]
pub struct Recorder {
    measured: ByKind<Measured>,
    trims: u64,
    flushes: u64,
    /// One more than the highest placement handle named by a write; 0 if no write names one.
    handles: u16,
    /// Sum of the latencies of trims and flushes, in nanoseconds.
    others: u128,
    assert_sums: bool,
}

impl Recorder {
    /// Returns a recorder of latencies that has not counted any request of a run yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes the recorder assert, for every request, that the times by cause (its blame) sum to its
    /// latency. For tests; results are unaffected.
    pub fn assert_sums(mut self) -> Self {
        self.assert_sums = true;
        self
    }

    /// Returns the number of completed requests of every kind.
    pub fn requests(&self) -> u64 {
        let measured: u64 = Kind::ALL.iter().map(|&kind| self.latencies(kind).count()).sum();
        measured + self.trims + self.flushes
    }

    /// Returns the sum of the latencies of all completed requests, trims and flushes included, in
    /// nanoseconds.
    pub fn total_latency(&self) -> u128 {
        Kind::ALL.iter().map(|&kind| self.latencies(kind).sum()).sum::<u128>() + self.others
    }

    /// Returns the latencies of the completed requests of one kind.
    pub fn latencies(&self, kind: Kind) -> &Latencies {
        &self.measured[kind].latencies
    }

    /// Returns the parts of the latency of one kind of request, by latency band.
    pub fn blame(&self, kind: Kind) -> &BlameBands {
        &self.measured[kind].blame
    }

    /// Returns the number of bytes that the requests of one kind read or wrote.
    pub fn bytes(&self, kind: Kind) -> u64 {
        self.measured[kind].bytes
    }

    /// Returns the number of completed trims.
    pub fn trims(&self) -> u64 {
        self.trims
    }

    /// Returns the highest placement handle that a write named; `None` if no write named one.
    pub fn highest_handle(&self) -> Option<u8> {
        self.handles.checked_sub(1).map(|highest| highest as u8)
    }

    /// Records a completed request.
    ///
    /// # Panics
    ///
    /// If assertions are on and the parts of the request's blame do not sum to its latency.
    #[inline]
    pub fn add(&mut self, completion: &Completion) {
        let latency = completion.latency();
        if self.assert_sums {
            let sum = completion.blame.total();
            assert_eq!(sum, latency, "the blame of {completion:?} does not sum to its latency");
        }
        let kind = match completion.io.op {
            HostOp::Read => Kind::Read,
            HostOp::Write => {
                // Wraps to 0 where no handle is named.
                let handle = completion.io.placement.0.wrapping_add(1);
                self.handles = self.handles.max(handle.into());
                Kind::Write
            }
            HostOp::Trim | HostOp::Flush => {
                let trim = completion.io.op == HostOp::Trim;
                self.trims += u64::from(trim);
                self.flushes += u64::from(!trim);
                self.others += u128::from(latency.0);
                return;
            }
        };
        let bin = Bin::of(latency);
        let measured = &mut self.measured[kind];
        measured.latencies.record_in(bin, latency);
        measured.blame.record_in(bin, latency, &completion.blame);
        measured.bytes += u64::from(completion.io.size);
    }

    /// Returns the number of completed flushes.
    pub fn flushes(&self) -> u64 {
        self.flushes
    }
}

impl<L: Layer> Probe<L> for Recorder {
    #[inline]
    fn completed(&mut self, completion: &Completion) {
        self.add(completion);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fowler_device::blame::{Blame, Part};
    use fowler_units::{HostIo, Nanos, ReqId, Span};

    fn completion(op: HostOp, latency: u64, blamed: u64) -> Completion {
        let mut blame = Blame::default();
        blame[Part::Sense] = Span(blamed);
        let io = HostIo::new(op, Nanos(10), 0, 4096);
        Completion { io, id: ReqId(0), done: Nanos(10 + latency), blame }
    }

    #[test]
    fn kinds_are_kept_apart() {
        let mut recorder = Recorder::new().assert_sums();
        recorder.add(&completion(HostOp::Read, 100, 100));
        recorder.add(&completion(HostOp::Write, 300, 300));
        recorder.add(&completion(HostOp::Trim, 5, 5));
        recorder.add(&completion(HostOp::Flush, 7, 7));
        assert_eq!(recorder.requests(), 4);
        assert_eq!(recorder.latencies(Kind::Read).max(), Some(Span(100)));
        assert_eq!(recorder.latencies(Kind::Write).max(), Some(Span(300)));
        assert_eq!((recorder.trims(), recorder.flushes()), (1, 1));
        assert_eq!(recorder.bytes(Kind::Write), 4096);
        assert_eq!(recorder.total_latency(), 412);
        assert_eq!(recorder.blame(Kind::Read).slowest(1.0).total(), 100);
    }

    #[test]
    #[should_panic(expected = "does not sum to its latency")]
    fn a_wrong_blame_is_caught() {
        Recorder::new().assert_sums().add(&completion(HostOp::Read, 100, 99));
    }
}
