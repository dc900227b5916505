//! Generates the operations of requests and the batches in which they arrive. A batch has a single
//! operation.

use super::spec::SynthSpec;
use fowler_units::{HostOp, Rng};

/// Generates the operation of each request.
#[derive(Clone, Debug)]
pub(crate) struct Ops {
    /// Shares of read batches and of trim batches among all batches; the rest are write batches.
    reads: f64,
    trims: f64,
    persistence: f64,
    /// Probability that a batch continues with one more request: of reads, and of writes or trims.
    goes_on: [f64; 2],
    last: Option<HostOp>,
    op_rng: Rng,
    persistence_rng: Rng,
    batch_rng: [Rng; 2],
}

impl Ops {
    /// Returns the operations of a valid workload specification.
    pub fn new(spec: &SynthSpec) -> Ops {
        let stream = |name: &str| Rng::stream(spec.seed, name);
        // For the same number of requests, batches of three occur a third as often as single
        // requests.
        let one_sided = spec.read_share <= 0.0 || spec.read_share >= 1.0;
        let (reads, trims) = if one_sided || spec.reads.batch == spec.writes.batch {
            (spec.read_share, spec.trim_share)
        } else {
            let mean = spec.mean_batch();
            let batches = |share: f64, batch: f64| share / batch * mean;
            let reads = batches(spec.read_share, spec.reads.batch);
            (reads, batches(spec.trim_share, spec.writes.batch))
        };
        Ops {
            reads,
            trims,
            persistence: spec.persistence,
            goes_on: [&spec.reads, &spec.writes].map(|pattern| 1.0 - 1.0 / pattern.batch),
            last: None,
            op_rng: stream("synth/ops"),
            persistence_rng: stream("synth/persistence"),
            batch_rng: ["reads", "writes"].map(|side| stream(&format!("synth/batches/{side}"))),
        }
    }

    /// Returns the operation of the next request if it joins the previous request's batch.
    pub fn same_batch(&mut self) -> Option<HostOp> {
        let op = self.last?;
        let side = usize::from(op != HostOp::Read);
        let goes_on = self.goes_on[side];
        (goes_on > 0.0 && self.batch_rng[side].chance(goes_on)).then_some(op)
    }

    /// Returns the operation of the workload's next batch (requests of one kind that arrive at the
    /// same time).
    pub fn next_batch(&mut self) -> HostOp {
        let persists = self.persistence > 0.0 && self.persistence_rng.chance(self.persistence);
        let op = match self.last {
            Some(last) if persists => last,
            _ => self.draw(),
        };
        self.last = Some(op);
        op
    }

    fn draw(&mut self) -> HostOp {
        let drawn = self.op_rng.unit();
        if drawn < self.reads {
            HostOp::Read
        } else if drawn < self.reads + self.trims {
            HostOp::Trim
        } else {
            HostOp::Write
        }
    }
}
