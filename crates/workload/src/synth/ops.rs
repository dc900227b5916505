//! What requests ask, and how many come together: a batch is of one operation.

use super::spec::SynthSpec;
use fowler_units::{HostOp, Rng};

/// The operations, one request after the other.
#[derive(Clone, Debug)]
pub(crate) struct Ops {
    /// The shares of read batches and of trim batches; the others are of writes.
    reads: f64,
    trims: f64,
    persistence: f64,
    /// The probability that a batch of reads continues, and one of writes or trims.
    goes_on: [f64; 2],
    last: Option<HostOp>,
    op_rng: Rng,
    persistence_rng: Rng,
    batch_rng: [Rng; 2],
}

impl Ops {
    /// The operations of a sound spec.
    pub fn new(spec: &SynthSpec) -> Ops {
        let stream = |name: &str| Rng::stream(spec.seed, name);
        // Of batches of three there are a third as many as of requests that come alone.
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

    /// What the next request asks if it belongs to the batch of the one before.
    pub fn same_batch(&mut self) -> Option<HostOp> {
        let op = self.last?;
        let side = usize::from(op != HostOp::Read);
        let goes_on = self.goes_on[side];
        (goes_on > 0.0 && self.batch_rng[side].chance(goes_on)).then_some(op)
    }

    /// What the next batch asks.
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
