//! Generated workloads: arrivals, addresses, sizes and operations. Each uses a random stream of its
//! own, so that changing one leaves the others unchanged.

mod addresses;
mod arrivals;
mod ops;
mod spec;
mod zipf;

pub use spec::{Addresses, Arrivals, Length, Pattern, Popular, Runs, SizeShare, SynthSpec};
pub use zipf::Zipf;

use crate::TraceError;
use addresses::Ranges;
use arrivals::Moments;
use fowler_units::{HostIo, HostOp, Nanos};
use ops::Ops;

/// A generator: an iterator of host requests in order of arrival.
#[derive(Clone, Debug)]
pub struct Synth {
    moments: Moments,
    reads: Option<Ranges>,
    writes: Option<Ranges>,
    ops: Ops,
    /// Arrival time of the last request generated.
    at: Nanos,
    /// Number of requests still to generate.
    left: u64,
    /// Time before which the workload's requests must arrive.
    until: Nanos,
}

impl Synth {
    /// Returns a generator of the workload's requests, from its specification.
    ///
    /// # Errors
    /// All errors in the spec, one diagnostic each.
    pub fn new(spec: &SynthSpec) -> Result<Synth, TraceError> {
        let diagnostics = spec.check();
        if !diagnostics.is_empty() {
            return Err(TraceError {
                file: "generator".into(),
                diagnostics,
                ..TraceError::default()
            });
        }
        let (left, until) = match spec.length {
            Length::Requests(count) => (count, Nanos::NEVER),
            Length::Duration(span) => (u64::MAX, Nanos::ZERO + span),
        };
        let reads = (spec.read_share > 0.0).then(|| Ranges::new(spec, &spec.reads, "reads"));
        let writes = (spec.read_share < 1.0).then(|| Ranges::new(spec, &spec.writes, "writes"));
        Ok(Synth {
            moments: Moments::new(spec.arrivals, spec.mean_batch(), spec.tick, spec.seed),
            reads,
            writes,
            ops: Ops::new(spec),
            at: Nanos::ZERO,
            left,
            until,
        })
    }
}

impl Iterator for Synth {
    type Item = HostIo;

    fn next(&mut self) -> Option<HostIo> {
        if self.left == 0 {
            return None;
        }
        let op = match self.ops.same_batch() {
            Some(op) => op,
            None => {
                let at = self.moments.next().filter(|&at| at < self.until);
                let Some(at) = at else {
                    self.left = 0;
                    return None;
                };
                self.at = at;
                self.ops.next_batch()
            }
        };
        self.left -= 1;
        let ranges = if op == HostOp::Read { &mut self.reads } else { &mut self.writes };
        let (offset, size) = ranges.as_mut()?.next();
        Some(HostIo::new(op, self.at, offset, size))
    }
}
